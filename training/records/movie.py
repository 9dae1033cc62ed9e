"""Films."""

from training.records.compound import flag, several
from training.records.kind import Field, kind
from training.values import company, day, decimal, from_pool, integer, money, other_person, title_phrase, year

MOVIE = kind(
    "movie",
    (
        Field(
            "title",
            title_phrase,
            "title, movie, film, movie title, name, film title",
            "the title of the film",
            "Title, Movie, Film",
            weight=3,
        ),
        Field(
            "director",
            other_person,
            "director, directed by, director name, filmmaker",
            "who directed it",
            "Director, Directed by",
            weight=2.3,
        ),
        Field(
            "year",
            year(1935, 2025),
            "year, release year, released, year of release, came out in",
            "the year it came out",
            "Year, Released in, Release year",
            weight=2.2,
        ),
        Field(
            "premiere",
            day(-4000, 300),
            "release date, premiere, premiere date, release, opening date",
            "the day it came out",
            "Release date, Premiere, Opening date",
            weight=0.7,
        ),
        Field(
            "runtime",
            integer(70, 210, words=0.0, units=" minutes| min|min"),
            "runtime, duration, length, runtime minutes, running time, duration minutes",
            "length in minutes",
            "Running time, Length, Runtime",
            weight=1.5,
        ),
        Field(
            "genres",
            several(from_pool("genres"), 1, 3),
            "genres, genre list, categories, tags",
            "the genres",
            "Genres, Genre",
            weight=1.5,
        ),
        Field(
            "actors",
            several(other_person, 1, 4),
            "cast, actors, starring, main cast, stars",
            "who plays in it",
            "Cast, Starring, Actors",
            none="""
                No actors appear in it.
                It has no cast.
                No actors are listed.
                """,
            weight=1.9,
        ),
        Field(
            "rating",
            decimal(1.0, 9.9),
            "rating, score, imdb rating, critics score",
            "how it was rated",
            "Rating, Score",
            weight=1.5,
        ),
        Field(
            "country",
            from_pool("countries"),
            "country, country of origin, produced in, made in",
            "where it was made",
            "Country, Country of origin",
            weight=0.9,
        ),
        Field(
            "language",
            from_pool("languages"),
            "language, original language, spoken language",
            "the language spoken",
            "Language, Original language",
            weight=0.9,
        ),
        Field(
            "studio",
            company,
            "studio, production company, produced by, distributor",
            "who produced it",
            "Studio, Production company",
            weight=0.9,
        ),
        Field(
            "budget",
            money(200000, 90000000, whole=1.0),
            "budget, production budget, cost, costs",
            "what it cost",
            "Budget",
            weight=0.8,
        ),
        Field(
            "writer",
            other_person,
            "writer, screenwriter, written by, screenplay",
            "who wrote the screenplay",
            "Writer, Screenplay, Written by",
            weight=0.9,
        ),
        Field(
            "recommended",
            flag(),
            "recommended, worth watching, would recommend, recommend",
            "whether the reviewer recommends it",
            "Recommended",
            wordings={
                "true": """
                    I can only recommend it.
                    You should watch it.
                    It is well worth watching.
                    Go and see it!
                    I would watch it again at once.
                    """,
                "false": """
                    I cannot recommend it.
                    You can skip it.
                    It is not worth watching.
                    Do not waste your evening on it.
                    I would not watch it again.
                    """,
            },
            plain=False,
            weight=0.8,
        ),
    ),
    plural="movies, films, watchlist, results",
    nests={
        "crew, people, makers": "director, writer, actors",
        "release info, production": "year, country, studio, language",
    },
    titles="Film review, Tonight at the cinema, Movie facts, Film of the week, Review, On screen",
    sentences="""
    I watched {title}.
    The film is called "{title}".
    Have you seen {title}?
    The movie is {title}.
    Tonight: {title}
    "{title}" is a film you will remember.
    We saw "{title}" at the cinema.
    {title} is on tonight.
    Review: {title}
    Now showing: {title}
    It is about the film {title}.
    Title: {title}
    It was directed by {director}.
    The director is {director}.
    {director} directed it.
    A film by {director}.
    Directed by {director}.
    The film was made by {director}.
    {director} sat in the director's chair.
    It is the latest work of the director {director}.
    It came out in {year}.
    It was released in {year}.
    The film is from {year}.
    Year: {year}.
    A classic of {year}.
    It dates from {year}.
    It was made in {year}.
    It reached the cinemas in {year}.
    It premiered on {premiere}.
    The release date was {premiere}.
    It opened on {premiere}.
    In cinemas from {premiere}.
    Release: {premiere}.
    The premiere took place on {premiere}.
    It runs for {runtime}.
    The running time is {runtime}.
    It lasts {runtime}.
    Length: {runtime}.
    It takes {runtime} of your life.
    After {runtime} the credits roll.
    Genres: {genres}.
    It mixes {genres}.
    The genres are {genres}.
    It belongs to {genres}.
    It is filed under {genres}.
    Fans of {genres} will like it.
    It stars {actors}.
    The cast includes {actors}.
    Starring {actors}.
    {actors} play the leading parts.
    With {actors}.
    In the leading roles: {actors}.
    You will see {actors} in it.
    It has a rating of {rating}.
    Critics give it {rating} out of 10.
    The rating is {rating}.
    Score: {rating}.
    It scores {rating} with the viewers.
    Viewers rated it {rating}.
    It was made in {country}.
    The country of origin is {country}.
    It is a production from {country}.
    Country: {country}.
    It comes from {country}.
    It was shot in {country}.
    The language is {language}.
    It is in {language}.
    The original language is {language}.
    The actors speak {language}.
    Language: {language}.
    Everybody in it speaks {language}.
    It was produced by {studio}.
    The studio is {studio}.
    {studio} produced it.
    Studio: {studio}.
    It comes from the studios of {studio}.
    A production of {studio}.
    The budget was {budget}.
    It cost {budget} to make.
    Budget: {budget}.
    They spent {budget} on it.
    It was made with {budget}.
    The producers paid {budget}.
    It was written by {writer}.
    The screenplay is by {writer}.
    {writer} wrote the script.
    Screenplay: {writer}.
    The script comes from {writer}.
    The writer is {writer}.
    {title} ({year}) was directed by {director}.
    {title} by {director} came out in {year}.
    {title} is a film by {director}.
    {title} ({year}), {runtime}
    {title} ({year})
    {title} stars {actors}.
    {title}, directed by {director}, stars {actors}.
    {title} was released in {year} and runs for {runtime}.
    {director}'s {title} has a rating of {rating}.
    {director}'s film {title} premiered on {premiere}.
    In {year}, {director} made {title}.
    In {title}, {actors} play the main parts.
    It was directed by {director} and written by {writer}.
    It was directed by {director} and stars {actors}.
    It came out in {year} and was made in {country}.
    {country}, {year}, {runtime}
    It runs {runtime} and scores {rating}.
    It was produced by {studio} for {budget}.
    {studio} spent {budget} on it.
    A film from {country}, in {language}.
    {writer} wrote it, {director} directed it.
    {genres}, {runtime}
    """,
    asides="""
    {any_person} fell asleep halfway through.
    The ticket cost {any_money}.
    We saw it in {any_city}.
    The music is lovely.
    The second part comes on {any_date}.
    The cinema was full.
    The show began at {any_time}.
    {any_company} sold the popcorn.
    The ending surprised everyone.
    There were {any_int} people in the room.
    """,
)
