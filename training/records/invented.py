"""A random source enters; a kind of record that nobody has seen leaves: its fields are named with ordinary words.

These kinds teach what no list of real ones can: to match a label in the text with a field of which only the name is
known, and to take the value beside it, whatever it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from training.records.compound import Part, flag, join_words, records, several
from training.records.kind import Field, Kind, Phrasing, Sentence, lines, states
from training.values import (
    Fact,
    Maker,
    Scene,
    city,
    code,
    company,
    day,
    decimal,
    integer,
    invented_word,
    moment,
    money,
    other_email,
    other_person,
    phone,
    product,
    street,
    text_fact,
    time_of_day,
    title_phrase,
    url,
)
from training.words import POOLS, Split, part

FRAMES = lines("""
The {label} is {value}.
{value} is the {label}.
{value} was given as the {label}.
We noted {value} as the {label}.
As {label}, {value} was chosen.
Its {label} is {value}.
Their {label} is {value}.
The {label} was {value} at the time.
The {label} (last checked this week) is {value}.
Please set the {label} to {value}.
According to the file, the {label} is {value}.
{Label}: {value}.
{Label} {value}.
For the {label} they wrote {value}.
The {label}, {value}, was confirmed twice.
Everybody agreed on {value} as {label}.
Under "{label}" it says {value}.
It has {value} as its {label}.
The {label} turned out to be {value}.
They list the {label} as {value}.
I think the {label} should be {value}.
We found {value} entered as {label}.
What about the {label}? It is {value}.
The {label} remains {value}.
{Label} = {value}
The new {label} reads {value}.
The record shows {value} for the {label}.
Somebody changed the {label} to {value}.
With {value} as {label}, all is set.
It came with the {label} {value}.
{value} serves as the {label}.
You will find {value} under {label}.
Now the {label}: {value}.
The {label} stays at {value}.
{Label} was set to {value} today.
As for the {label}, it is {value}.
They changed the {label}; it is {value} now.
On the {label} line it reads {value}.
The {label} was found to be {value}.
We have {value} down as the {label}.
The {label} equals {value}.
Our {label} would be {value}.
{Label}? {value}.
{value}, that is the {label}.
The value of the {label} is {value}.
Her notes give {value} as the {label}.
The {label} comes out as {value}.
It says {value} where the {label} belongs.
""")
"""Sentences for any field."""

FLAG_FRAMES = {
    "true": lines("""
    The {label} is enabled.
    {Label}: yes.
    The {label} box is ticked.
    The {label} flag is set.
    Yes, {label} applies.
    {Label} is true.
    {Label} is switched on.
    It is marked as {label}.
    """),
    "false": lines("""
    The {label} is disabled.
    {Label}: no.
    The {label} box is not ticked.
    The {label} flag is not set.
    No, {label} does not apply.
    {Label} is false.
    {Label} is switched off.
    It is not marked as {label}.
    """),
}
"""Sentences for yes and no."""

PAIRS = lines("""
The {label} is {value}, and the {other_label} is {other_value}.
{Label} {value}, {other_label} {other_value}.
With {value} as {label} and {other_value} as {other_label}, it is complete.
The {label} is {value} while the {other_label} is {other_value}.
{value} is the {label}; {other_value} is the {other_label}.
It has the {label} {value} and the {other_label} {other_value}.
They wrote {value} for the {label} and {other_value} for the {other_label}.
{Label} ({value}) and {other_label} ({other_value}) were checked.
The {label} and the {other_label} are {value} and {other_value}, respectively.
{value} ({label}), {other_value} ({other_label})
The {label} went from unknown to {value}, the {other_label} to {other_value}.
Not the {other_label}, which is {other_value}, but the {label} is {value}.
""")
"""Sentences for two fields."""

NONE_FRAMES = lines("""
There is no {label}.
No {label} was listed.
The list of {label} is empty.
{Label}: none
Nothing was entered under {label}.
As for {label}, there are none.
""")
"""Sentences for an empty list."""

ASIDES = """
The rest of the file is missing.
{any_person} wrote this down in a hurry.
It was copied from an old note of {any_person}.
The page was printed on {any_date}.
Somebody crossed out a line here.
The archive in {any_city} has the original.
See also file {any_code}.
All other values are standard.
There were {any_int} pages in the folder.
The handwriting is hard to read.
{any_company} ran the system back then.
"""

MODIFIERS = "max min total avg current first last next previous main backup new old local remote net gross".split()
_TAILS: dict[str, tuple[str, ...]] = {
    "integer": ("count", "level", "number", "total", "quantity", "size", "rank", "limit", "points", "capacity"),
    "decimal": ("ratio", "weight", "rate", "score", "width", "height", "value", "length", "temperature"),
    "money": ("price", "cost", "fee", "budget", "amount", "rent", "bonus", "deposit"),
    "date": ("date", "day", "deadline", "start", "end", "expiry"),
    "moment": ("time", "timestamp", "start", "end", "appointment"),
    "code": ("id", "code", "number", "key", "reference", "serial", "tag"),
    "person": ("owner", "keeper", "name", "contact", "author", "lead", "guest", "inspector"),
    "place": ("place", "site", "city", "origin", "location"),
    "word": ("type", "name", "title", "group", "mode", "label", "class", "topic"),
    "flag": ("active", "enabled", "required", "locked", "allowed", "visible", "verified"),
    "choice": ("mode", "state", "type", "level", "class", "grade", "status"),
    "list": ("tags", "names", "items", "parts", "labels", "members", "options"),
    "records": ("entries", "rows", "units", "lots", "members", "steps"),
}
_ABBREVIATIONS = {
    "number": "no.",
    "quantity": "qty",
    "maximum": "max.",
    "reference": "ref.",
    "average": "avg.",
    "temperature": "temp.",
    "department": "dept.",
}


def phrase(scene: Scene) -> Fact:
    """Return one to three ordinary words, sometimes with a made-up one or a number among them."""
    pools, roll = scene.pools, scene.rng.random()
    if roll < 0.3:
        return text_fact(scene.pick(pools.nouns))
    if roll < 0.6:
        text = f"{scene.pick(pools.adjectives)} {scene.pick(pools.nouns)}"
    elif roll < 0.7:
        text = f"{scene.pick(pools.adjectives)} {scene.pick(pools.nouns)} {scene.pick(pools.nouns)}"
    elif roll < 0.8:
        text = f"{invented_word(scene)} {scene.pick(pools.nouns)}"
    elif roll < 0.9:
        text = f"{scene.pick(pools.nouns)} {scene.rng.randrange(1, 99)}"
    else:
        text = scene.pick(pools.colours)
    return text_fact(text.capitalize() if scene.chance(0.2) else text)


def name(scene: Scene) -> Fact:
    """Return a made-up name."""
    return text_fact(invented_word(scene))


def option(scene: Scene) -> Fact:
    """Return one of a few words that the schema lists."""
    words = scene.rng.sample(scene.rng.choice((scene.pools.nouns, scene.pools.adjectives)), scene.rng.randint(2, 5))
    style = scene.rng.choices((str.lower, str.upper, str.capitalize), (70, 20, 10))[0]
    shown = [style(word) for word in words]
    return Fact(words[0], shown[0], {"enum": sorted(shown), "type": "string"})


def numbers(scene: Scene) -> Fact:
    """Return a list of whole numbers."""
    values = [scene.rng.randrange(1, 500) for _ in range(scene.rng.randint(1, 4))]
    return Fact(
        join_words(scene, [str(value) for value in values]), values, {"items": {"type": "integer"}, "type": "array"}
    )


def entries(scene: Scene) -> Fact:
    """Return a list of objects with two or three invented fields."""
    makers: list[Maker] = [phrase, integer(1, 900), code(_CODES), name, other_person, decimal(0, 90), day(-900, 900)]
    chosen = scene.rng.sample(makers, scene.rng.randint(2, 3))
    keys = [scene.pick(scene.pools.nouns) for _ in chosen]
    parts = {
        f"part{position}": Part(make, (key,)) for position, (make, key) in enumerate(zip(chosen, keys, strict=True))
    }
    slots = list(parts)
    if len(set(keys)) < len(keys):
        return several(phrase)(scene)
    labelled = [f"{key} {{{slot}}}" for key, slot in zip(keys, slots, strict=True)]
    first, rest = f"{{{slots[0]}}}", labelled[1:]
    separated = [f"{key}: {{{slot}}}" for key, slot in zip(keys, slots, strict=True)]
    templates = (
        f"{first} ({', '.join(rest)})",
        f"{first} with {' and '.join(rest)}",
        ", ".join(separated),
        " / ".join(labelled),
    )
    template = scene.pick(templates)
    return records(parts, (template, template, template), 1, 3)(scene)


_CODES = (
    "@@-###, #####, ###-###, @###, @@@##, ##/##, @-####-@, &&&&&&, #######, @@#@#, ###.###.##, &&-&&&&-&&, "
    "0x####, v#.#.#"
)
_MAKERS: tuple[tuple[str, Maker, float], ...] = (
    ("word", phrase, 20), ("word", name, 8), ("person", other_person, 9), ("word", company, 4), ("place", city, 5),
    ("integer", integer(0, 99, words=0.3), 8), ("integer", integer(1, 90000), 8), ("decimal", decimal(0, 100), 4),
    ("decimal", decimal(-20, 900, places=2), 3), ("money", money(1, 9000), 5), ("date", day(-4000, 4000), 9),
    ("moment", moment(-900, 900), 4), ("code", code(_CODES), 11), ("flag", flag(), 5), ("choice", option, 6),
    ("list", several(phrase, 1, 4), 5), ("list", numbers, 2), ("list", several(name, 1, 4), 2), ("records", entries, 3),
    ("word", product, 3), ("word", title_phrase, 3), ("place", street, 2), ("code", phone, 2), ("code", url, 1),
    ("person", other_email, 2), ("moment", time_of_day, 2),
)  # fmt: skip
_WEIGHTS = tuple(weight for _, _, weight in _MAKERS)


@dataclass(frozen=True, slots=True)
class Draft:
    """A field before it is part of a kind: what the schema calls it, what the text calls it, and its maker."""

    key: str
    words: str
    labels: tuple[str, ...]
    kind: str
    make: Maker


def field_words(scene: Scene, sort: str) -> str:
    """Return one to three words that name a field, which tell its sort in one case of three."""
    pools = scene.pools
    head = scene.pick(pools.nouns)
    if scene.chance(0.15 if sort in ("word", "records") else 0.38):
        tail = scene.pick(_TAILS[sort])
        return f"{scene.pick(pools.adjectives)} {head} {tail}" if scene.chance(0.15) else f"{head} {tail}"
    roll = scene.rng.random()
    if roll < 0.3:
        return head
    if roll < 0.5:
        return f"{scene.pick(pools.adjectives)} {head}"
    if roll < 0.6:
        return f"{scene.pick(MODIFIERS)} {head}"
    if roll < 0.92:
        return f"{head} {scene.pick(pools.nouns)}"
    return f"{scene.pick(pools.adjectives)} {head} {scene.pick(pools.nouns)}"


def paraphrase(scene: Scene, words: str) -> str:
    """Return what a text calls a field: the same words half of the time, otherwise turned, inflected or abbreviated."""
    listed = words.split()
    roll = scene.rng.random()
    if roll < 0.5:
        return words
    if roll < 0.6:
        return words.title()
    if roll < 0.72 and len(listed) == 2:
        return f"{listed[1]} of the {listed[0]}"
    if roll < 0.8 and listed[-1] in _ABBREVIATIONS:
        return " ".join([*listed[:-1], _ABBREVIATIONS[listed[-1]]])
    if roll < 0.86 and len(listed) == 2:
        return "-".join(listed)
    if roll < 0.93:
        return words if words.endswith("s") else f"{words}s"
    return words.upper() if roll < 0.97 else f"{words} here"


def invented_kind(scene: Scene) -> Kind:
    """Return a kind of four to nine fields with their own labels and sentences."""
    split = scene.split
    drafts: dict[str, Draft] = {}
    for position in range(scene.rng.randint(3, 9)):
        sort, make, _ = scene.rng.choices(_MAKERS, _WEIGHTS)[0]
        words = field_words(scene, sort)
        if all(words != other.words for other in drafts.values()):
            key = f"field{position}"
            labels = tuple(paraphrase(scene, words) for _ in range(2))
            drafts[key] = Draft(key, words, labels, sort, make)
    plain = [one for one in drafts.values() if one.kind not in ("flag", "records", "list")]
    outer = words_for_nest(scene)
    inside = tuple(
        one.key for one in scene.rng.sample(list(drafts.values()), min(len(drafts), scene.rng.randint(2, 3)))
    )
    return Kind(
        name="generic",
        fields={
            key: Field(
                key,
                one.make,
                one.words,
                f"the {one.words}",
                plain=one.kind not in ("choice", "records"),
                weight=scene.rng.uniform(0.5, 2),
            )
            for key, one in drafts.items()
        },
        names={key: (one.words,) for key, one in drafts.items()},
        phrasings={split: _phrasing(scene, drafts, _pairs(scene, plain))},
        nests=(((outer,), inside),) if scene.chance(0.3) else (),
        plural=(f"{scene.pick(scene.pools.nouns)}s", "items", "rows", "entries"),
        signer=None,
    )


def words_for_nest(scene: Scene) -> str:
    """Return the name of an inner object."""
    return scene.pick((scene.pick(scene.pools.nouns), f"{scene.pick(scene.pools.nouns)} info", "details", "meta"))


def _phrasing(scene: Scene, drafts: dict[str, Draft], pairs: tuple[Sentence, ...]) -> Phrasing:
    split = scene.split
    return Phrasing(
        alone={
            key: () if one.kind == "flag" else tuple(_framed(scene, _FRAMES[split], one) for _ in range(2))
            for key, one in drafts.items()
        },
        together=pairs,
        wordings={
            (key, member): (_framed(scene, frames, one),)
            for key, one in drafts.items()
            if one.kind == "flag"
            for member, frames in _FLAG_FRAMES[split].items()
        },
        none={key: (_framed(scene, _NONE_FRAMES[split], one),) for key, one in drafts.items()},
        labels={key: one.labels for key, one in drafts.items()},
        asides=_ASIDES[split],
        titles=(f"{phrase(scene).text.title()} {scene.pick(('report', 'record', 'sheet', 'card', 'file', 'log'))}",),
    )


def _framed(scene: Scene, frames: Sequence[str], one: Draft) -> str:
    label = scene.pick(one.labels)
    return scene.pick(frames).format(label=label, Label=label[:1].upper() + label[1:], value=f"{{{one.key}}}")


def _pairs(scene: Scene, drafts: Sequence[Draft]) -> tuple[Sentence, ...]:
    sentences = []
    for first, second in zip(drafts[::2], drafts[1::2], strict=False):
        label, other = scene.pick(first.labels), scene.pick(second.labels)
        text = scene.pick(_PAIRS[scene.split]).format(
            label=label,
            Label=label[:1].upper() + label[1:],
            value=f"{{{first.key}}}",
            other_label=other,
            other_value=f"{{{second.key}}}",
        )
        sentences.append(Sentence(text, states(text)))
    return tuple(sentences) if scene.chance(0.6) else ()


def _by_split(make: Callable[[Split], tuple[str, ...]]) -> dict[Split, tuple[str, ...]]:
    return {split: make(split) for split in POOLS}


_FRAMES = _by_split(lambda split: part(FRAMES, split))
_PAIRS = _by_split(lambda split: part(PAIRS, split))
_NONE_FRAMES = _by_split(lambda split: part(NONE_FRAMES, split))
_ASIDES = _by_split(lambda split: part(lines(ASIDES), split))
_FLAG_FRAMES: dict[Split, dict[str, tuple[str, ...]]] = {
    split: {member: part(frames, split) for member, frames in FLAG_FRAMES.items()} for split in POOLS
}
