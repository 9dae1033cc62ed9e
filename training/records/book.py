"""Books."""

from training.records.compound import flag
from training.records.kind import Field, kind
from training.values import code, company, day, decimal, from_pool, integer, money, other_person, title_phrase, year

BOOK = kind(
    "book",
    (
        Field(
            "title",
            title_phrase,
            "title, book, book title, name, work",
            "the title of the book",
            "Title, Book",
            weight=3,
        ),
        Field(
            "author",
            other_person,
            "author, written by, writer, author name, by",
            "who wrote it",
            "Author, Written by, By",
            weight=2.8,
        ),
        Field(
            "year",
            year(1900, 2025),
            "year, publication year, published in, year published",
            "the year it came out",
            "Year, Published in, Publication year",
            weight=2,
        ),
        Field(
            "publisher",
            company,
            "publisher, publishing house, published by, press",
            "who published it",
            "Publisher, Published by",
            weight=1.7,
        ),
        Field(
            "pages",
            integer(60, 1200, words=0.0),
            "pages, page count, number of pages, length",
            "how many pages it has",
            "Pages, Page count",
            weight=1.7,
        ),
        Field(
            "isbn",
            code("978-#-##-######-#, 978##########, 979-##-####-###-#, #-###-#####-#"),
            "isbn, isbn number, isbn13",
            "the ISBN",
            "ISBN",
            weight=1.5,
        ),
        Field("genre", from_pool("genres"), "genre, category, type, kind", "the genre", "Genre, Category", weight=1.4),
        Field(
            "language",
            from_pool("languages"),
            "language, written in, edition language",
            "the language it is written in",
            "Language",
            weight=1,
        ),
        Field(
            "translator",
            other_person,
            "translator, translated by, translation",
            "who translated it",
            "Translator, Translated by",
            weight=0.8,
        ),
        Field(
            "price",
            money(4, 90),
            "price, cost, retail price, list price",
            "what it costs",
            "Price, List price",
            weight=1.2,
        ),
        Field(
            "rating",
            decimal(1.0, 5.0),
            "rating, stars, average rating, score",
            "how readers rate it",
            "Rating, Stars",
            weight=1,
        ),
        Field(
            "borrowed",
            other_person,
            "borrower, borrowed by, lent to, reader",
            "who has borrowed it",
            "Borrowed by, Lent to",
            weight=0.5,
        ),
        Field(
            "due",
            day(5, 60),
            "due date, return by, due back, due",
            "when it has to be returned",
            "Due back, Return by",
            weight=0.7,
        ),
        Field(
            "hardcover",
            flag(),
            "hardcover, is hardcover, hardback",
            "whether it is bound in hard covers",
            "Hardcover, Hardback",
            wordings={
                "true": """
                    It is a hardcover.
                    It is bound in hard covers.
                    The edition is hardback.
                    It comes as a hardback.
                    Hardcover edition.
                    """,
                "false": """
                    It is a paperback.
                    It is not a hardcover.
                    The edition is softcover.
                    It comes as a paperback.
                    Paperback edition.
                    """,
            },
            plain=False,
            weight=0.7,
        ),
    ),
    plural="books, titles, library, reading list",
    nests={"publication, edition": "publisher, year, isbn, pages", "people": "author, translator"},
    titles="Book review, Library card, New in the library, Catalogue entry, Reading tip, Book of the month",
    sentences="""
    I have read {title}.
    The book is called "{title}".
    Have you read {title}?
    The title is {title}.
    My reading tip: {title}
    "{title}" is on my desk.
    I borrowed {title} from the library.
    {title} is a wonderful book.
    Title: {title}
    Our book of the month is {title}.
    She gave me {title} as a present.
    We are reading {title} in the book club.
    It was written by {author}.
    The author is {author}.
    {author} wrote it.
    A book by {author}.
    By {author}.
    It is the first book of {author}.
    The writer is {author}.
    It comes from the pen of {author}.
    It was published in {year}.
    It came out in {year}.
    Year: {year}.
    The first edition is from {year}.
    It appeared in {year}.
    It dates from {year}.
    It was published by {publisher}.
    The publisher is {publisher}.
    {publisher} brought it out.
    Publisher: {publisher}.
    It appeared with {publisher}.
    {publisher} is the publisher.
    It has {pages} pages.
    The book is {pages} pages long.
    Pages: {pages}.
    {pages} pages are quickly read.
    I read all {pages} pages.
    The number of pages is {pages}.
    The ISBN is {isbn}.
    ISBN {isbn}.
    ISBN: {isbn}
    You can order it under {isbn}.
    Look for ISBN {isbn}.
    The bookshop needs the ISBN, {isbn}.
    The genre is {genre}.
    It is filed under {genre}.
    Genre: {genre}.
    It belongs to {genre}.
    You find it under {genre}.
    On the shelf for {genre}.
    It is written in {language}.
    The language is {language}.
    Language: {language}.
    It is in {language}.
    I read it in {language}.
    This edition is in {language}.
    It was translated by {translator}.
    The translator is {translator}.
    Translation: {translator}.
    {translator} translated it.
    Translated by {translator}.
    The translation is by {translator}.
    It costs {price}.
    The price is {price}.
    Price: {price}.
    You get it for {price}.
    I paid {price} for it.
    In shops it sells for {price}.
    It has {rating} stars.
    Readers rate it {rating} of 5.
    The rating is {rating}.
    Rating: {rating}.
    It is rated {rating}.
    Readers gave it {rating} stars.
    It was borrowed by {borrowed}.
    {borrowed} has borrowed it.
    It is lent to {borrowed}.
    Borrower: {borrowed}.
    Right now {borrowed} has it.
    The copy is with {borrowed}.
    It has to be back by {due}.
    Please return it by {due}.
    Due back on {due}.
    It is due on {due}.
    The loan ends on {due}.
    Return date: {due}.
    {title} was written by {author}.
    {title} by {author}
    {title} by {author} was published in {year}.
    {title} by {author} has {pages} pages.
    {author}: {title}
    {author}, {title}, {publisher}, {year}
    {author} ({year}): {title}
    {author} published {title} in {year}.
    {author}'s {title} was published by {publisher}.
    {title} ({author}, {year})
    {title}, ISBN {isbn}
    {title} ({pages} pages, {price})
    {title} was published by {publisher} in {year}.
    It was published by {publisher} in {year}.
    It was written by {author} and translated by {translator}.
    It has {pages} pages and costs {price}.
    {publisher}, {year}, {pages} pages
    {publisher} published it in {year} (ISBN {isbn}).
    {borrowed} borrowed {title}.
    {borrowed} has to return {title} by {due}.
    {pages} pages, {language}
    {translator} translated {title} into {language}.
    {title} costs {price}.
    {title} is rated {rating}.
    """,
    asides="""
    {any_person} recommended it to me.
    I bought it in {any_city}.
    The cover was designed by {any_person}.
    I read it in {any_int} days.
    The reading starts at {any_time}.
    The shelf mark is {any_code}.
    The next volume comes on {any_date}.
    The print is rather small.
    The library closes early on Fridays.
    {any_company} sells it too.
    """,
)
