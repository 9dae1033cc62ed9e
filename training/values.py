"""A scene enters; facts leave: a value as the answer gives it and as the document spells it.

A maker is a function from the scene to a fact. What one record must agree on (the person, the currency, the style of
its dates and of its field names) is kept in the scene, so that makers stay independent of each other.
"""

import random
from calendar import day_name, month_name
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from training.words import CODAS, COMPANY_ENDINGS, POOLS, STREET_KINDS, VOWELS, Pools, Split, by_comma

Json = Any
Schema = dict[str, Any]

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
CURRENCIES = {
    "USD": ("$", "dollars"),
    "EUR": ("€", "euros"),
    "GBP": ("£", "pounds"),
    "JPY": ("¥", "yen"),
    "INR": ("₹", "rupees"),
    "CHF": ("CHF", "francs"),
    "SEK": ("SEK", "kronor"),
    "CAD": ("CAD", "Canadian dollars"),
    "PLN": ("PLN", "zloty"),
}
_CURRENCY_WEIGHTS = (30, 25, 15, 4, 4, 8, 5, 5, 4)
_MAIL_HOSTS = (
    "gmail.com outlook.com example.com example.org posteo.de mail.com proton.me yahoo.com fastmail.com web.de".split()
)
_DOMAIN_ENDINGS = "com org net io co.uk de fr es it eu nl shop".split()
_UNACCENTED = str.maketrans(
    "áàâäãåéèêëíìîïóòôöõøúùûüñçýžšśćčńłğışęąźżěřůďťÁÀÂÄÃÅÉÈÊËÍÓÖØÚÜÑÇŽŠŚĆČŁİŞ",
    "aaaaaaeeeeiiiioooooouuuuncyzssccnlgiseazzerudtAAAAAAEEEEIOOOUUNCZSSCCLIS",
)
_NAMINGS = ("snake", "camel", "joined", "pascal", "upper")
_NAMING_WEIGHTS = (68, 20, 5, 4, 3)
_ENDINGS = by_comma(COMPANY_ENDINGS)
_STREET_KINDS = by_comma(STREET_KINDS)
_VOWELS, _CODAS = VOWELS.split(), CODAS.split()


@dataclass(frozen=True, slots=True)
class Fact:
    """A value (for the answer), its text (for the document) and its schema.

    `member` names the wording that a choice or flag is to be stated by; `rows` are the lines of a list of objects.
    """

    text: str
    value: Json
    schema: Schema
    member: str = ""
    rows: tuple[str, ...] = ()

    def __format__(self, spec: str) -> str:
        """Spell the fact in a template: `{job:a}` → "an actor", `{start:on}` → "at 14:30 on 3 March 2024"."""
        if spec == "a":
            return f"{'an' if self.text[0] in 'aeiouAEIO' else 'a'} {self.text}"
        if spec == "on":
            return f"{'at' if ':' in self.text[:3] else 'on'} {self.text}"
        return self.text


@dataclass(slots=True)
class Scene:
    """What the facts of one record share. The one mutable thing here: makers fill it in as they are called."""

    rng: random.Random
    pools: Pools
    split: Split = "train"
    naming: str = "snake"
    currency: str = "USD"
    money_style: str = "sign"
    date_style: int = 0
    today: date = date(2024, 1, 1)
    female: bool = False
    given: str = ""
    family: str = ""

    def pick(self, entries: Sequence[str]) -> str:
        """Return one entry of a pool."""
        return entries[int(self.rng.random() * len(entries))]

    def chance(self, probability: float) -> bool:
        """Return true with the probability given."""
        return self.rng.random() < probability

    def field_name(self, words: str) -> str:
        """Return the words as an identifier in the naming style of the scene: "due date" → `due_date`."""
        return words_to_identifier(words, self.naming)


Maker = Callable[[Scene], Fact]


def new_scene(rng: random.Random, split: Split) -> Scene:
    """Return a scene with its styles chosen and no person in it yet."""
    return Scene(
        rng=rng,
        pools=POOLS[split],
        split=split,
        naming=rng.choices(_NAMINGS, _NAMING_WEIGHTS)[0],
        currency=rng.choices(tuple(CURRENCIES), _CURRENCY_WEIGHTS)[0],
        money_style=rng.choices(("sign", "before", "after", "word", "bare"), (50, 14, 14, 8, 14))[0],
        date_style=rng.randrange(len(DATE_STYLES)),
        today=date(2015, 1, 1) + timedelta(days=rng.randrange(5000)),
        female=rng.random() < 0.5,
    )


def words_to_identifier(words: str, naming: str) -> str:
    """Return words as a field name: "due date" → `due_date`, `dueDate`, `duedate`, `DueDate` or `DUE_DATE`."""
    if naming == "camel":
        head, *tail = words.split()
        return head + "".join(word.capitalize() for word in tail)
    if naming == "joined":
        return words.replace(" ", "")
    if naming == "pascal":
        return "".join(word.capitalize() for word in words.split())
    snake = words.replace(" ", "_")
    return snake.upper() if naming == "upper" else snake


def text_fact(text: str) -> Fact:
    """Return a fact whose value is its own text."""
    return Fact(text, text, {"type": "string"})


# Words and names


def invented_word(scene: Scene) -> str:
    """Return a word of two or three syllables that no dictionary has, capitalised."""
    rng = scene.rng
    syllables: list[str] = []
    count = 2 if rng.random() < 0.7 else 3
    syllables.extend(scene.pick(scene.pools.onsets) + scene.pick(_VOWELS) for _ in range(count))
    if rng.random() < 0.6:
        syllables.append(scene.pick(_CODAS))
    return "".join(syllables).capitalize()


def full_name(scene: Scene) -> tuple[str, str]:
    """Return a given and a family name, each invented now and then."""
    given = scene.pick(scene.pools.given) if scene.chance(0.72) else invented_word(scene)
    family = scene.pick(scene.pools.family) if scene.chance(0.72) else invented_word(scene)
    if scene.chance(0.04):
        family = f"{family}-{scene.pick(scene.pools.family)}"
    if scene.chance(0.05):
        given = f"{given} {scene.pick('ABCDEFGHJKLMNPRSTW')}."
    return given, family


def main_person(scene: Scene) -> Fact:
    """Return the name of the person the record is about, who has one given and one family name."""
    _meet(scene)
    return text_fact(f"{scene.given} {scene.family}")


def main_given(scene: Scene) -> Fact:
    """Return the given name of the person the record is about."""
    _meet(scene)
    return text_fact(scene.given)


def main_family(scene: Scene) -> Fact:
    """Return the family name of the person the record is about."""
    _meet(scene)
    return text_fact(scene.family)


def _meet(scene: Scene) -> None:
    if not scene.given:
        scene.given, scene.family = full_name(scene)


def other_person(scene: Scene) -> Fact:
    """Return the name of anybody else."""
    return text_fact(" ".join(full_name(scene)) if scene.chance(0.85) else full_name(scene)[0])


def doctor(scene: Scene) -> Fact:
    """Return the name of a doctor, with the title."""
    given, family = full_name(scene)
    return text_fact(f"Dr. {given} {family}" if scene.chance(0.5) else f"Dr. {family}")


def company(scene: Scene) -> Fact:
    """Return the name of a company: "Halcyon Robotics", "Weber & Sons", "Trulo", "Cobalt Ridge Paper GmbH"."""
    roll = scene.rng.random()
    pools = scene.pools
    if roll < 0.4:
        name = f"{scene.pick(pools.company_words)} {scene.pick(pools.trades)}"
    elif roll < 0.55:
        name = invented_word(scene)
    elif roll < 0.7:
        name = f"{invented_word(scene)} {scene.pick(pools.trades)}"
    elif roll < 0.8:
        name = f"{scene.pick(pools.company_words)} {scene.pick(pools.company_words)}"
    elif roll < 0.9:
        name = f"{scene.pick(pools.family)} {scene.pick(pools.trades)}"
    else:
        name = f"{scene.pick(pools.family)} & {scene.pick(pools.family)}"
    return text_fact(f"{name} {scene.pick(_ENDINGS)}" if scene.chance(0.25) else name)


def city(scene: Scene) -> Fact:
    """Return a city, real or invented."""
    if scene.chance(0.75):
        return text_fact(scene.pick(scene.pools.cities))
    ending = scene.pick(("", "", "ville", "ton", "burg", "field", "stad", " Bay", " Falls", "ham"))
    return text_fact(invented_word(scene) + ending)


def email(scene: Scene) -> Fact:
    """Return an address that is usually made from the name of the person the record is about."""
    _meet(scene)
    return text_fact(_mail_address(scene, scene.given, scene.family))


def other_email(scene: Scene) -> Fact:
    """Return the address of anybody else, or of a department."""
    given, family = full_name(scene)
    if scene.chance(0.3):
        host = f"{invented_word(scene).lower()}.{scene.pick(_DOMAIN_ENDINGS)}"
        return text_fact(
            f"{scene.pick(('info', 'office', 'support', 'sales', 'jobs', 'hello', 'contact', 'team'))}@{host}"
        )
    return text_fact(_mail_address(scene, given, family))


def _mail_address(scene: Scene, given: str, family: str) -> str:
    first, last = (name.translate(_UNACCENTED).lower().split()[0].replace("'", "") for name in (given, family))
    user = scene.pick((f"{first}.{last}", f"{first[0]}.{last}", f"{first}_{last}", f"{first}{last}", f"{last}", first))
    number = str(scene.rng.randrange(100)) if scene.chance(0.25) else ""
    host = scene.pick(_MAIL_HOSTS)
    if scene.chance(0.5):
        host = f"{scene.pick(scene.pools.company_words).lower()}.{scene.pick(_DOMAIN_ENDINGS)}"
    return f"{user}{number}@{host}"


def url(scene: Scene) -> Fact:
    """Return the address of a web page."""
    host = f"{scene.pick(scene.pools.company_words).lower()}{scene.pick(('', '-' + scene.pick(scene.pools.nouns)))}"
    path = f"/{scene.pick(scene.pools.nouns)}" + (f"/{scene.rng.randrange(9999)}" if scene.chance(0.4) else "")
    scheme = scene.pick(("https://", "https://www.", "www.", "http://"))
    return text_fact(f"{scheme}{host}.{scene.pick(_DOMAIN_ENDINGS)}{path if scene.chance(0.6) else ''}")


_PHONES = """
+1 ### ### ####, +1-###-###-####, (###) ###-####, ###-###-####, +44 20 #### ####, +44 7### ######, +49 30 #######,
+49 1## ########, +33 6 ## ## ## ##, 0# ## ## ## ##, +34 6## ### ###, +39 3## ### ####, +46 70 ### ## ##, ### ### ###,
+91 ##### #####, +81 90 #### ####, 555-####, 0### ######
"""


def street(scene: Scene) -> Fact:
    """Return a street with a number: "14 Mill Lane", "Lindenallee 7a"."""
    number = str(scene.rng.randrange(1, 250)) + (scene.pick("abcBC") if scene.chance(0.08) else "")
    if scene.chance(0.7):
        return text_fact(f"{number} {scene.pick(scene.pools.streets)} {scene.pick(_STREET_KINDS)}")
    name = scene.pick(scene.pools.streets_abroad)
    return text_fact(f"{number} {name}" if name.startswith(("Rue", "Avenue", "Boulevard")) else f"{name} {number}")


def product(scene: Scene) -> Fact:
    """Return the name of a product: "oak desk", "Trulo 300", "foldable step stool"."""
    pools, roll = scene.pools, scene.rng.random()
    if roll < 0.4:
        return text_fact(scene.pick(pools.things))
    if roll < 0.7:
        return text_fact(f"{scene.pick(pools.thing_adjectives)} {scene.pick(pools.things)}")
    if roll < 0.85:
        number = scene.pick(
            ("", f" {scene.rng.randrange(1, 9)}00", f" {scene.pick('XSTVZ')}{scene.rng.randrange(1, 99)}")
        )
        return text_fact(f"{invented_word(scene)}{number}")
    return text_fact(f"{invented_word(scene)} {scene.pick(pools.things).title()}")


def title_phrase(scene: Scene) -> Fact:
    """Return the title of a work: "The Silent Harbor", "Lantern and Salt", "A Winter in Oslo"."""
    pools = scene.pools
    noun, other = scene.pick(pools.nouns).capitalize(), scene.pick(pools.company_words)
    adjective = scene.pick(pools.adjectives).capitalize()
    titles = (
        f"The {adjective} {noun}",
        f"{other} and {noun}",
        f"A {noun} in {scene.pick(pools.cities)}",
        f"{adjective} {noun}s",
        f"The {noun} of {other}",
        f"{scene.pick(pools.given)}'s {noun}",
        f"No {noun} for {other}",
        f"{other} {noun}",
        f"The Last {noun}",
        invented_word(scene),
        f"Beyond the {adjective} {noun}",
        f"The {noun} Keeper",
    )
    return text_fact(scene.pick(titles))


def from_pool(name: str, *, capitalised: float = 0.0) -> Maker:
    """Return a maker of entries of one pool, some of them with a capital letter."""

    def make(scene: Scene) -> Fact:
        text = scene.pick(getattr(scene.pools, name))
        return text_fact(text[:1].upper() + text[1:] if capitalised and scene.chance(capitalised) else text)

    return make


def from_list(entries: str) -> Maker:
    """Return a maker of the entries of a list written with commas; every split shares them."""
    listed = by_comma(entries)
    return lambda scene: text_fact(scene.pick(listed))


def code(patterns: str) -> Maker:
    """Return a maker of codes after patterns: # is a digit, @ a capital, & either; `INV-####` → "INV-2041"."""
    listed = by_comma(patterns)
    return lambda scene: text_fact(fill_pattern(scene, scene.pick(listed)))


phone = code(_PHONES)
"""A telephone number."""


def fill_pattern(scene: Scene, pattern: str) -> str:
    """Return a pattern with its placeholders drawn."""
    filled = []
    for character in pattern:
        if character == "#":
            filled.append(scene.pick("0123456789"))
        elif character == "@":
            filled.append(scene.pick("ABCDEFGHJKLMNPQRSTUVWXYZ"))
        elif character == "&":
            filled.append(scene.pick("ABCDEFGHKLMNPQRSTUVWXYZ23456789"))
        else:
            filled.append(character)
    return "".join(filled)


# Numbers


def number_to_words(number: int) -> str:
    """Return a number below one hundred in words: 25 → "twenty-five"."""
    if number < 20:
        return ONES[number]
    tens, ones = divmod(number, 10)
    return TENS[tens - 2] + (f"-{ONES[ones]}" if ones else "")


def grouped(scene: Scene, number: int) -> str:
    """Return digits, in groups of three now and then: 12500 → "12,500"."""
    if number < 1000 or scene.chance(0.4):
        return str(number)
    return f"{number:,}" if scene.chance(0.9) else f"{number:,}".replace(",", " ")


def integer(low: int, high: int, *, words: float = 0.12, units: str = "", plain: bool = False) -> Maker:
    """Return a maker of whole numbers, below one hundred in words now and then, with a unit if there are any."""
    listed = tuple(units.split("|")) if units else ()
    spread = high > 1000 * max(low, 1)

    def make(scene: Scene) -> Fact:
        value = scene.rng.randint(low, high)
        if spread and scene.chance(0.7):
            value = scene.rng.randint(low, max(low + 1, high // scene.rng.choice((10, 100, 1000))))
        if words and value < 100 and scene.chance(words):
            text = number_to_words(value)
        else:
            text = str(value) if plain else grouped(scene, value)
        schema: Schema = {"type": "integer"}
        if scene.chance(0.08):
            schema["minimum"] = int(low > 0 and scene.chance(0.5))
        return Fact(text + scene.pick(listed) if listed else text, value, schema)

    return make


def decimal(low: float, high: float, *, places: int = 1, units: str = "") -> Maker:
    """Return a maker of numbers with a few decimal places."""
    listed = tuple(units.split("|")) if units else ()

    def make(scene: Scene) -> Fact:
        value = round(scene.rng.uniform(low, high), places)
        text = f"{value:.{places}f}" if scene.chance(0.8) else f"{value:g}"
        return Fact(text + scene.pick(listed) if listed else text, value, {"type": "number"})

    return make


def money(low: float, high: float, *, whole: float = 0.3) -> Maker:
    """Return a maker of amounts in the currency and the style of the scene."""

    def make(scene: Scene) -> Fact:
        value = draw_amount(scene, low, high, whole)
        return Fact(spell_money(scene, value), value, {"type": "number"})

    return make


def draw_amount(scene: Scene, low: float, high: float, whole: float) -> float:
    """Return an amount, more often a small than a large one, with cents or without."""
    amount = low + (high - low) * scene.rng.random() ** 2
    if scene.chance(whole):
        return float(round(amount)) if amount < 500 else float(round(amount / 10) * 10)
    return round(amount, 2)


def spell_money(scene: Scene, value: float) -> str:
    """Return an amount as a document writes it: 1250.5 → "$1,250.50", "1250.50 EUR", "1 250,50 €"."""
    roll = scene.rng.random()
    cents = value != int(value) or scene.chance(0.35)
    digits = f"{value:,.2f}" if cents else f"{int(value):,}"
    if value >= 1000 and roll < 0.3:
        digits = digits.replace(",", "")
    elif roll > 0.96 and cents:
        digits = digits.replace(",", " ").replace(".", ",")
    elif roll > 0.93 and cents and scene.currency == "EUR":
        digits = digits.translate({ord(","): ".", ord("."): ","})
    sign, word = CURRENCIES[scene.currency]
    if scene.money_style == "sign":
        if len(sign) > 1 or (scene.currency == "EUR" and roll > 0.6):
            return f"{digits} {sign}"
        return f"{sign}{digits}"
    if scene.money_style == "before":
        return f"{scene.currency} {digits}"
    if scene.money_style == "after":
        return f"{digits} {scene.currency}"
    return f"{digits} {word}" if scene.money_style == "word" else digits


def currency(scene: Scene) -> Fact:
    """Return the currency; as a string it is spelled out by every amount, as an enum a sign is enough."""
    if scene.money_style == "bare":
        scene.money_style = "after"
    if scene.chance(0.5) or scene.money_style in ("before", "after"):
        scene.money_style = "before" if scene.money_style == "before" else "after"
        if scene.chance(0.6):
            return text_fact(scene.currency)
    listed = [code for code in CURRENCIES if code == scene.currency or scene.chance(0.4)]
    scene.rng.shuffle(listed)
    return Fact(scene.currency, scene.currency, {"enum": listed, "type": "string"})


# Dates


def ordinal(day: int) -> str:
    """Return a day with its ending: 3 → "3rd"."""
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _numeric(day: date, separator: str, *, american: bool = False) -> str:
    """Return a date in digits if it can be read in one way only, otherwise with the month in letters."""
    if day.day <= 12 and day.day != day.month:
        return f"{day.day} {month_name[day.month]} {day.year}"
    first, second = (day.month, day.day) if american else (day.day, day.month)
    return f"{first:02}{separator}{second:02}{separator}{day.year}"


DATE_STYLES: tuple[Callable[[date], str], ...] = (
    lambda day: day.isoformat(),
    lambda day: day.isoformat(),
    lambda day: f"{month_name[day.month]} {day.day}, {day.year}",
    lambda day: f"{month_name[day.month]} {day.day}, {day.year}",
    lambda day: f"{month_name[day.month]} {ordinal(day.day)}, {day.year}",
    lambda day: f"{day.day} {month_name[day.month]} {day.year}",
    lambda day: f"{day.day} {month_name[day.month]} {day.year}",
    lambda day: f"{day.day} {month_name[day.month][:3]} {day.year}",
    lambda day: f"{month_name[day.month][:3]} {day.day}, {day.year}",
    lambda day: f"{ordinal(day.day)} of {month_name[day.month]} {day.year}",
    lambda day: f"{ordinal(day.day)} {month_name[day.month]} {day.year}",
    lambda day: f"{day_name[day.weekday()]}, {month_name[day.month]} {day.day}, {day.year}",
    lambda day: f"{day_name[day.weekday()]}, {day.day} {month_name[day.month]} {day.year}",
    lambda day: f"{day_name[day.weekday()][:3]} {day.day} {month_name[day.month][:3]} {day.year}",
    lambda day: f"{day.year}/{day.month:02}/{day.day:02}",
    lambda day: _numeric(day, "/"),
    lambda day: _numeric(day, "/", american=True),
    lambda day: _numeric(day, "."),
    lambda day: f"{day.day:02}-{month_name[day.month][:3]}-{day.year}",
)
"""The ways to spell a date, likelier ones twice."""


def draw_date(scene: Scene, earliest: int, latest: int) -> tuple[date, str]:
    """Return a day so many days from the scene's own, and its spelling."""
    day = scene.today + timedelta(days=scene.rng.randint(earliest, latest))
    style = scene.date_style if scene.chance(0.75) else scene.rng.randrange(len(DATE_STYLES))
    return day, DATE_STYLES[style](day)


def day(earliest: int, latest: int) -> Maker:
    """Return a maker of dates so many days from the scene's own."""

    def make(scene: Scene) -> Fact:
        drawn, text = draw_date(scene, earliest, latest)
        return Fact(text, drawn.isoformat(), {"format": "date", "type": "string"})

    return make


def clock(scene: Scene, hour: int, minute: int) -> str:
    """Return a time of day: "14:30", "2:30 pm", "2:30PM"."""
    if scene.chance(0.6):
        return f"{hour:02}:{minute:02}"
    half = scene.pick((" pm", "pm", " PM", " p.m.", "PM"))
    if hour < 12:
        half = half.replace("p", "a").replace("P", "A")
    return f"{(hour - 1) % 12 + 1}:{minute:02}{half}"


def moment(earliest: int, latest: int, *, hours: tuple[int, int] = (6, 22)) -> Maker:
    """Return a maker of dates with a time of day."""

    def make(scene: Scene) -> Fact:
        drawn, text = draw_date(scene, earliest, latest)
        hour, minute = scene.rng.randint(*hours), scene.rng.randrange(0, 60, 5)
        if scene.chance(0.15):
            minute = scene.rng.randrange(60)
        time = clock(scene, hour, minute)
        spelled = scene.pick(
            (f"{text} at {time}", f"{text} at {time}", f"{text}, {time}", f"{text} {time}", f"{time} on {text}")
        )
        if text == drawn.isoformat() and scene.chance(0.5):
            seconds = scene.pick(("", ":00"))
            spelled = f"{text}{scene.pick('T ')}{hour:02}:{minute:02}{seconds}"
        value = f"{drawn.isoformat()}T{hour:02}:{minute:02}:00"
        return Fact(spelled, value, {"format": "date-time", "type": "string"})

    return make


def time_of_day(scene: Scene) -> Fact:
    """Return a time of day, as the string it is written as."""
    return text_fact(clock(scene, scene.rng.randint(5, 22), scene.rng.randrange(0, 60, 5)))


def year(earliest: int, latest: int) -> Maker:
    """Return a maker of years, which are never grouped."""
    return integer(earliest, latest, words=0.0, plain=True)
