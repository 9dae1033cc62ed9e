"""Sentences on music, films and books, composed around real names out of three repositories that lie side by side.

Songs and artists are those of fivethirtyeight/data (CC BY 4.0). Of its list of films only the titles are taken, which
that repository has from bechdeltest.com. Genres, instruments, books and series are those of dariusk/corpora (CC0);
without that repository there are no samples. Titles of albums stand in the tables of ppasupat/WikiTableQuestions
(CC BY-SA 4.0); without it no sentence has an album, and none is asked for. What a sentence says is true of nobody: a
song is mostly joined with its own artist, and all else is drawn. Each asks for names of many kinds, most of which it
does not have.
"""

import csv
import html
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.names import full_name
from training.scene import new_scene
from training.sources.names import Labels, kinds, sample
from training.sources.tables import read
from training.words import by_comma

_SOLOISTS = frozenset(
    by_comma("""
Alanis Morissette, Alannah Myles, Aldo Nova, Alice Cooper, Ann Wilson, Arlo Guthrie, Beck, Bill Haley, Bill Withers,
Billy Idol, Billy Joel, Billy Rankin, Billy Squier, Billy Thorpe, Bob Dylan, Bob Marley, Bob Seger, Bob Welch, Boz
Scaggs, Bruce Springsteen, Bryan Adams, Carole King, Cat Stevens, Chuck Berry, Commander Cody, Dave Edmunds, Dave Mason,
David Bowie, David Essex, David Gilmour, David Johansen, David Lee Roth, Dick Siegel, Dobie Gray, Don Felder, Don
Henley, Don McLean, Donnie Iris, Donovan, Dr. John, Eddie Money, Edwin Starr, Elton John, Elvin Bishop, Elvis Costello,
Eric Clapton, Eric Johnson, Everlast, Frank Zappa, Gary Numan, Gary Wright, George Harrison, George Thorogood, Gerry
Rafferty, Glenn Frey, Gordon Lightfoot, Gregg Allman, Harold Faltermeyer, Harry Chapin, Harry Nilsson, Iggy Pop, Jackson
Browne, Janis Joplin, Jay Ferguson, Jeff Beck, Jim Croce, Jimi Hendrix, Jimmy Buffett, Joan Jett, Joe Cocker, Joe
Jackson, Joe Satriani, Joe Walsh, John Cafferty, John Fogerty, John Lennon, John Mellencamp, John Prine, Johnny Nash,
Johnny Van Zant, Jonathan Edwards, Jonathan Richman, Kenny Loggins, Kenny Wayne Shepherd, Kid Rock, Lee Michaels, Lenny
Kravitz, Leon Russell, Lita Ford, Lou Gramm, Lou Reed, Meat Loaf, Melissa Etheridge, Michael Nesmith, Michael Stanley,
Mitch Ryder, Neil Young, Norman Greenbaum, Otis Redding, Ozzy Osbourne, Pat Benatar, Pat Travers, Paul Simon, Pete
Townshend, Peter Frampton, Peter Gabriel, Phil Collins, Rick Derringer, Rick Springfield, Ringo Starr, Robert Palmer,
Robert Plant, Robert Tepper, Robin Trower, Rocky Burnette, Rod Stewart, Roger Hodgson, Rory Gallagher, Russ Ballard,
Sammy Hagar, Southside Johnny, Stephen Stills, Steve Earle, Steve Perry, Steve Winwood, Steven Stills, Stevie Nicks,
Stevie Ray Vaughan, Stevie Wonder, Sting, Stu Nunnery, Ted Nugent, Todd Rundgren, Tom Cochrane, Van Morrison, Warren
Zevon
""")
)
_NO_BANDS = frozenset({"JAMES TAYLOR", "Roger Daltry", "Artful Dodger", "Gold Star Ballroom Orchestra", "Why Not"})
"""Artists of the list that are written wrong, or of whom it is not clear what they are."""

_MADE = {
    "genre": """rock, pop, jazz, blues, hip hop, R&B, country music, soul, reggae, folk music, punk rock, heavy metal,
gospel, funk, bluegrass, opera, chamber music, electronic music, salsa, samba, fado, dancehall, grunge, indie pop""",
    "award": """Grammy Award for Best New Artist, Grammy Award, Brit Awards, Brit Award for British Group, Mercury
Prize, Juno Award, Latin Grammy Award, Academy Award for Best Original Song, MTV Video Music Award, Polaris Music
Prize, ARIA Award for Album of the Year, Ivor Novello Award, Pulitzer Prize for Music, Polar Music Prize, American
Music Award, Golden Globe Award for Best Original Score, Country Music Association Award, Tony Award for Best
Musical, Echo Award""",
    "event": """Glastonbury Festival, Live Aid, Reading Festival, Eurovision Song Contest 1974, Montreux Jazz Festival,
Coachella, Woodstock, Newport Folk Festival, Roskilde Festival, Lollapalooza, Rock in Rio, Isle of Wight Festival, Super
Bowl XXXIX halftime show, Monterey Pop Festival, Vans Warped Tour, Donaueschingen Festival, Salzburg Festival, Ozzfest,
South by Southwest, Sanremo Music Festival, Cambridge Folk Festival, World Expo 1970, Edinburgh Festival""",
    "organization": """Capitol Records, Atlantic Records, EMI, Columbia Records, Sub Pop, Island Records, Motown,
Rolling Stone, NME, BBC Radio 1, Royal Academy of Music, London Symphony Orchestra, MTV, Warner Music Group, Epic
Records, RCA Records, Blue Note Records, Melody Maker, Berklee College of Music, Factory Records, Billboard, Rough
Trade, Verve Records, The New York Times, Juilliard School, Deutsche Grammophon, Geffen Records, Recording
Academy, Def Jam""",
    "country": """England, Sweden, Japan, Brazil, Canada, Germany, France, Australia, Ireland, United States, Norway,
Italy, Jamaica, Spain, Nigeria, India, Mexico, South Korea, New Zealand, Finland, Netherlands, Argentina, Iceland,
Scotland, South Africa, Poland, Portugal, Cuba, Senegal, Denmark""",
    "place": """London, Los Angeles, Nashville, Berlin, Manchester, Detroit, Tokyo, Paris, Stockholm, Seattle, Kingston,
Chicago, Hammersmith Odeon, Madison Square Garden, Abbey Road Studios, Royal Albert Hall, Sydney, Birmingham, Toronto,
Austin, Texas, Reykjavik, Hollywood Bowl, Dublin, Memphis, Glasgow, Lagos, Vienna, Carnegie Hall, Brixton Academy,
New Orleans, Bristol, Rio de Janeiro, Ohio, Fillmore East, Osaka, Munich, Liverpool""",
    "studio": """Paramount Pictures, Miramax, Warner Bros., Universal Pictures, Pixar, Penguin Books, HBO, BBC, Netflix,
Random House, Columbia Pictures, A24, Faber and Faber, Gaumont, Toho, Lionsgate, Bloomsbury, Canal+, Studio Ghibli""",
    "prize": """Academy Award for Best Picture, Palme d'Or, Booker Prize, BAFTA Award for Best Film, Hugo Award, Emmy
Award, Golden Bear, Pulitzer Prize for Fiction, Nobel Prize in Literature, Nebula Award, César Award, Golden Globe
Award, Prix Goncourt, Costa Book Award, Academy Award for Best Director, Edgar Award, Critics' Choice Award""",
    "festival": """Cannes Film Festival, Sundance Film Festival, Berlin International Film Festival, Frankfurt Book
Fair, Toronto International Film Festival, Venice Film Festival, Hay Festival, Tribeca Festival, Comic-Con,
Locarno Festival""",
    "kind_of_story": """comedy, thriller, drama, science fiction, horror, documentary, fantasy, crime fiction, western,
romantic comedy, historical novel, film noir, satire, biography, adventure, mystery, musical""",
}
_MUSIC = kinds(
    song="songs tracks song_titles; titles of songs",
    album="albums records; titles of albums",
    band="bands groups; names of bands",
    artist="musicians singers musical_artists; musicians by their names, no bands",
    genre="genres styles music_genres; kinds of music",
    instrument="instruments musical_instruments; musical instruments",
    award="awards prizes; named awards",
    event="events festivals concerts; named festivals, contests and concerts",
    organization="organisations companies labels_and_companies; record labels, magazines, schools and the like",
    country="countries; names of countries",
    place="places locations cities_and_venues; cities, venues and other places that are no countries",
    person="people other_people; people who are no musicians",
)
_STORIES = kinds(
    film="films movies; titles of films",
    series="tv_series shows; titles of television series",
    book="books novels; titles of books",
    author="authors writers; people who write books",
    person="people directors_and_actors; other people, such as directors and actors",
    kind_of_story="genres genre; kinds of film or fiction",
    prize="awards prizes; named awards",
    festival="events festivals; named festivals and fairs",
    studio="companies organizations; studios, publishers and channels",
    country="countries; names of countries",
    place="places locations; cities and other places that are no countries",
)

_MUSIC_FIRST = (
    '"{song}" is a song by {act} from the album {album}.',
    '"{song}" by {act} was released as a single in {country}.',
    "{act} recorded {album} in {place} with the producer {person}.",
    "{act} formed in {place}, and signed with {organization} a year later.",
    "The sound of {act} mixes {genre} with {genre}, as on {album}.",
    "{act} performed at {event} and at {event}, together with {act} and {act}.",
    'Their version of "{song}" was first sung by {act}.',
    "In {year}, {act} won the {award} for {album}.",
    'Among those who covered "{song}" are {act}, {act} and {act}.',
    "{act} toured {country}, {country} and {country} in {year}.",
    "{artist} plays the {instrument} and the {instrument}.",
    "{artist} left {band} in {year} and was replaced by {artist}.",
    "The roots of {genre} lie in {country}, where {genre} met {genre} in the clubs of {place}.",
    "{organization} gave {album} by {act} four of five stars.",
    'Set list: "{song}", "{song}", "{song}", "{song}".',
    "{album}, the third album by {act}, was recorded at {place} in {year}.",
    "The {instrument} is often heard in {genre} and {genre}.",
    "He has worked with artists such as {artist}, {band}, {artist} and {band}.",
    '{person} directed the video for "{song}", which was filmed in {place}, {country}.',
    "It reached number {number} in {country} and number {number} in {country}.",
)
_MUSIC_NEXT = (
    "{artist} sang and played {instrument}.",
    "It was nominated for the {award} and for the {award}.",
    "A cover by {act} appeared on {album} in {year}.",
    "It has been called a landmark of {genre}.",
    'The B-side, "{song}", was never played live.',
    "They played it for the first time at {event}.",
    "{person} of {organization} wrote that it was the best record of {year}.",
    "Critics heard the influence of {act} and {act}.",
    "Nobody in the studio had expected much of it.",
    "It sold two million copies within a year.",
    "{organization} released it again in {year}.",
    "The band broke up soon after the concert in {place}.",
    "On stage they were joined by {artist} on {instrument} and {artist} on {instrument}.",
    'Later singles included "{song}" and "{song}".',
    "The tour ended in {place}.",
)
_STORY_FIRST = (
    "{film} is a {kind_of_story} directed by {person} and starring {person} and {person}.",
    "{book} by {author} was published by {studio} in {year}.",
    "{person} is best known for {film}, {film} and {film}.",
    "{author} wrote {book} while living in {place}.",
    "{film} opened at the {festival} in {year} and won the {prize}.",
    "{series} is a {kind_of_story} that was made by {studio} and filmed in {country}.",
    "She appeared in {series} and {series} before she was cast in {film}.",
    "A film of {book} was planned by {studio}, with {person} as director.",
    "The {prize} went to {person} for {film}.",
    "His favourite books are {book}, {book} and {book}.",
    "{person} played the lead in {film}, which was shot in {place}, {country}.",
    "Tonight on {studio}: {series} at eight, and {film} at nine.",
    "{author}'s {book} has been translated in {country}, {country} and {country}.",
)
_STORY_NEXT = (
    "It won the {prize}.",
    "{person} wrote the screenplay.",
    "The story is set in {place}.",
    "Critics compared it to {film} and {film}.",
    "It is neither a {kind_of_story} nor a {kind_of_story}.",
    "It was first shown at the {festival}.",
    "He had read {book} as a child.",
    "The reviews were mixed.",
    "{studio} paid twelve million dollars for it.",
    "In {year} it was followed by {series}.",
)
_PLAIN = re.compile(r"[\w’'&.,!? -]{2,45}")
"""Names that are used."""

_QUOTES = (('"', '"'), ('"', '"'), ("“", "”"), ("'", "'"), ("", ""), ("", ""))


def samples(rng: random.Random, repository: Path, count: int = 4_000) -> Iterator[Sample]:
    """Yield so many samples, two in three of them on music; none where dariusk/corpora is missing, which is printed."""
    corpora = next((path for path in repository.parent.iterdir() if path.name.rpartition("+")[2] == "corpora"), None)
    if corpora is None:
        print("dariusk/corpora: not there, so no texts on music, films and books")
        return
    pools, songs = _pools(repository, corpora)
    slots = {kind: slot for kind, slot in _MUSIC.items() if pools.get(kind, True)}
    music = Labels("songs", slots, "Names in a text on music.")
    stories = Labels("songs", _STORIES, "Names in a text on films and books.")
    music_first, music_next = _sayable(_MUSIC_FIRST, pools), _sayable(_MUSIC_NEXT, pools)
    for _ in range(count):
        is_music = rng.random() < 0.67
        labels = music if is_music else stories
        first, then = (music_first, music_next) if is_music else (_STORY_FIRST, _STORY_NEXT)
        said = [rng.choice(first), *rng.sample(then, rng.choice((0, 0, 1, 1, 2, 3)))]
        document, found = _filled(rng, said, pools, songs)
        yield sample(rng, document, [(kind, name) for kind, name in found if kind in labels.slots], labels)


def _sayable(sentences: Sequence[str], pools: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the sentences but for those with a kind of which there are no names."""
    return [said for said in sentences if all(pools.get(kind, True) for kind in re.findall(r"\{(\w+)\}", said))]


def _pools(repository: Path, corpora: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return names by kind, and the songs of each band or artist."""
    pools = {kind: list(by_comma(" ".join(said.split()))) for kind, said in _MADE.items()}
    songs: dict[str, list[str]] = {}
    path = repository / "classic-rock/classic-rock-song-list.csv"
    with path.open(encoding="utf-8", errors="replace", newline="") as lines:
        for row in csv.DictReader(lines):
            artist, song = row["ARTIST CLEAN"].strip(), row["Song Clean"].strip()
            if artist not in _NO_BANDS and not re.search(r"[/(]|w/|\ufffd", artist + song) and _PLAIN.fullmatch(song):
                songs.setdefault(artist, []).append(song)
    pools["artist"] = [artist for artist in songs if artist in _SOLOISTS]
    pools["band"] = [artist for artist in songs if artist not in _SOLOISTS]
    genres = _list(corpora, "music/genres.json", "genres")
    pools["genre"] += [
        genre.lower() for genre in genres if re.search(r" (?:rock|metal|punk|jazz|house|folk|pop)$", genre)
    ]
    pools["instrument"] = [*_list(corpora, "music/instruments.json", "instruments"), "drums", "bass", "keyboards"]
    pools["book"] = [book["title"] for book in _list(corpora, "books/bestsellers.json", "books")]
    pools["author"] = [book["author"] for book in _list(corpora, "books/bestsellers.json", "books")]
    pools["series"] = [name for name in _list(corpora, "film-tv/tv_shows.json", "tv_shows") if "(" not in name]
    with (repository / "bechdel/movies.csv").open(encoding="utf-8", errors="replace", newline="") as lines:
        pools["film"] = [html.unescape(row["title"]) for row in csv.DictReader(lines)]
    pools["album"] = _albums(repository.parent)
    return {
        kind: [name for name in dict.fromkeys(names) if _PLAIN.fullmatch(name)] for kind, names in pools.items()
    }, songs


def _list(corpora: Path, path: str, name: str) -> list[Any]:
    found: list[Any] = json.loads((corpora / "data" / path).read_text(encoding="utf-8"))[name]
    return found


def _albums(folder: Path) -> list[str]:
    """Return titles of albums out of tables; none where the tables are missing."""
    found: list[str] = []
    for path in sorted(folder.glob("*WikiTableQuestions/csv/*/*.csv")):
        if "Album" in path.read_text(encoding="utf-8").splitlines()[0] and (table := read(path)):
            for place, head in enumerate(table.heads):
                found += table.column(place) if head in ("Album", "Album title", "Album Title") else []
    return [
        name
        for name in found
        if re.fullmatch(r"(?:[A-Z][A-Za-z'’]+|the|of|a|and|in|to|for)(?: [A-Za-z'’]+){0,4}", name)
    ]


def _filled(
    rng: random.Random, said: Sequence[str], pools: Mapping[str, Sequence[str]], songs: Mapping[str, Sequence[str]]
) -> tuple[str, list[tuple[str, str]]]:
    """Return sentences with names in their places, and these with their kinds, in order."""
    scene = new_scene(rng, "train")
    acts: list[str] = []
    found: list[tuple[str, str]] = []
    before, after = rng.choice(_QUOTES)

    def name(matched: re.Match[str]) -> str:
        kind = matched[1]
        if kind in ("year", "number"):
            return str(rng.randint(1955, 2019)) if kind == "year" else str(rng.randint(1, 60))
        if kind == "person":
            text = " ".join(full_name(scene))
        elif kind == "act":
            kind = rng.choice(("band", "band", "artist"))
            text = rng.choice(pools[kind])
            acts.append(text)
        elif kind == "song":
            text = rng.choice(songs[acts[-1] if acts and acts[-1] in songs else rng.choice([*songs])])
        else:
            text = rng.choice(pools[kind])
        found.append((kind, text))
        return text

    text = " ".join(said)
    if "{act}" in text and rng.random() < 0.8:  # the first song is of the first act
        acts.append(rng.choice(pools[rng.choice(("band", "artist"))]))
        kind = "artist" if acts[0] in _SOLOISTS else "band"
        at = text.index("{act}")
        lead, rest = text[:at], text[at + len("{act}") :]
        document = re.sub(r"\{(\w+)\}", name, lead)
        found.append((kind, acts[0]))
        document += acts[0] + re.sub(r"\{(\w+)\}", name, rest)
    else:
        document = re.sub(r"\{(\w+)\}", name, text)
    marked = re.sub(r'"([^"]*)"', lambda matched: before + matched[1] + after, document)
    spaced = re.sub(r"([,.”“\"()])", r" \1 ", marked)
    spaced = " ".join(spaced.split())
    if rng.random() < 0.35 and all(text in spaced for _, text in found):
        return spaced, found
    marked = marked[0].upper() + marked[1:]
    return (marked, found) if all(text in marked for _, text in found) else (document, found)
