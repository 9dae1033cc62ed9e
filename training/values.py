"""Values of every role: what an answer gives, and how a document spells it.

A maker is a function from the scene to a fact. What one record must agree on (the currency, the marks in numbers, the
style of dates) is kept in the scene, so that makers stay independent of each other.
"""

import random
import unicodedata
from calendar import day_name, month_name
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import accumulate
from typing import Any

from training.splits import Entry, Split, part
from training.words import CODAS, COMPANY_ENDINGS, POOLS, STREET_KINDS, VOWELS, Pools, by_comma

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
_CURRENCY_CODES = tuple(CURRENCIES)
_CURRENCY_WEIGHTS = tuple(accumulate((30, 26, 15, 3, 4, 8, 5, 5, 4)))
_MONEY_STYLES = {"sign": 46, "before": 14, "after": 15, "word": 9, "bare": 6, "spaced sign": 5, "sign after": 6}
_MARKS = {"english": 58, "plain": 16, "german": 13, "french": 8, "swiss": 5}
_MAIL_HOSTS = "gmail.com outlook.com example.com example.org posteo.de mail.com proton.me yahoo.com web.de".split()
_DOMAIN_ENDINGS = "com org net io co.uk de fr es it eu nl shop".split()
_UNACCENTED = str.maketrans({"ø": "o", "ł": "l", "ı": "i", "đ": "d", "ß": "ss"})
_ENDINGS = by_comma(COMPANY_ENDINGS)
_STREET_KINDS = by_comma(STREET_KINDS)
_VOWELS, _CODAS = VOWELS.split(), CODAS.split()

OPEN, CLOSE, JOINED = "\x02", "\x03", "\x01"
"""Marks around a value in a document while it is written, and in place of its spaces; nothing changes it inside."""


def kept(text: str) -> str:
    """Return a value with marks around it, so that neither typos nor line breaks nor a change of case touch it."""
    return f"{OPEN}{text.replace(' ', JOINED)}{CLOSE}"


def unmarked(text: str) -> str:
    """Return a document without the marks."""
    return text.replace(OPEN, "").replace(CLOSE, "").replace(JOINED, " ")


@dataclass(frozen=True, slots=True)
class Fact:
    """A value (for the answer), its text (for the document) and its schema.

    `sort` says in which sentences it may stand; `others` are further ways in which a type may ask for it; `items` are
    the texts of a list; `wordings` are predicates that state it without naming it; `rows` are inner records.
    """

    text: str
    value: Json
    schema: Schema
    sort: str
    others: tuple[tuple[Schema, Json, str], ...] = ()
    items: tuple[str, ...] = ()
    wordings: tuple[str, ...] = ()
    rows: tuple[tuple["Fact", ...], ...] = ()

    @property
    def shown(self) -> str:
        """The text with marks around it."""
        return self.text if self.items or self.rows else kept(self.text)


@dataclass(slots=True)
class Scene:
    """What the facts of one document share."""

    rng: random.Random
    split: Split
    pools: Pools
    currency: str
    money_style: str
    marks: str
    date_style: int
    today: date
    difficulty: float = 1.0  # 0 is easy, 1 is hard

    def pick(self, entries: Sequence[Entry]) -> Entry:
        """Return one entry."""
        return entries[int(self.rng.random() * len(entries))]

    def chance(self, probability: float) -> bool:
        """Return true with the probability given."""
        return self.rng.random() < probability

    def seldom(self, probability: float) -> bool:
        """Return true with the probability given, and less often where the scene is easy."""
        return self.rng.random() < probability * self.difficulty

    def weighted(self, table: Mapping[Entry, float]) -> Entry:
        """Return a key of a table, drawn by its weight."""
        return self.rng.choices(tuple(table), tuple(table.values()))[0]


Maker = Callable[[Scene], Fact]
STRING: Schema = {"type": "string"}


def new_scene(rng: random.Random, split: Split, difficulty: float = 1.0) -> Scene:
    """Return a scene with its styles chosen."""
    return Scene(
        rng=rng,
        split=split,
        pools=POOLS[split],
        currency=rng.choices(_CURRENCY_CODES, cum_weights=_CURRENCY_WEIGHTS)[0],
        money_style=rng.choices(tuple(_MONEY_STYLES), tuple(_MONEY_STYLES.values()))[0],
        marks=rng.choices(tuple(_MARKS), tuple(_MARKS.values()))[0],
        date_style=rng.randrange(len(_DATE_STYLES[split])),
        today=date(2012, 1, 1) + timedelta(days=rng.randrange(6000)),
        difficulty=difficulty,
    )


def text_fact(text: str, sort: str = "text") -> Fact:
    """Return a fact whose value is its own text."""
    return Fact(text, text, STRING, sort)


# Words and names


def invented_word(scene: Scene) -> str:
    """Return a word of two or three syllables that no dictionary has, capitalised."""
    count = 2 if scene.chance(0.7) else 3
    syllables = [scene.pick(scene.pools.onsets) + scene.pick(_VOWELS) for _ in range(count)]
    return "".join([*syllables, scene.pick(_CODAS) if scene.chance(0.6) else ""]).capitalize()


def full_name(scene: Scene) -> tuple[str, str]:
    """Return a given and a family name, each invented now and then."""
    given = scene.pick(scene.pools.given) if scene.chance(0.8) else invented_word(scene)
    family = scene.pick(scene.pools.family) if scene.chance(0.8) else invented_word(scene)
    if scene.chance(0.04):
        family = f"{family}-{scene.pick(scene.pools.family)}"
    if scene.chance(0.03):
        family = f"{scene.pick(('de', 'van', 'von', 'da', 'van der', 'del', 'Mac', 'St.'))} {family}"
    if scene.chance(0.06):
        given = f"{given} {scene.pick('ABCDEFGHJKLMNPRSTW')}."
    return given, family


def person(scene: Scene) -> Fact:
    """Return the name of a person; a title before it is no part of it unless the type asks for it."""
    given, family = full_name(scene)
    name, roll = f"{given} {family}", scene.rng.random()
    if roll < 0.06:
        titled = f"{scene.pick(_TITLES)} {name}"
        return Fact(titled, name, STRING, "agent", ((STRING, titled, "with the title"),))
    if roll < 0.08:
        name = f"{given[0]}. {family}"
    parts = {"type": "object", "additionalProperties": False, "required": ["first", "last"]}
    parts |= {"properties": {"first": STRING, "last": STRING}}
    return Fact(name, name, STRING, "agent", ((parts, {"first": given, "last": family}, ""),) if roll >= 0.08 else ())


_TITLES = "Dr. Dr Prof. Professor Captain Judge Sister Mr Mrs Ms Mr. Ms. Sir Pastor Councillor Nurse Frau Herr".split()


def family_first(scene: Scene, fact: Fact) -> Fact:
    """Return a person as registers write the name: "Costa, Ana" or "COSTA Ana"."""
    given, _, family = fact.text.partition(" ")
    if not family or "." in fact.text or fact.text != fact.value:
        return fact
    text = f"{family}, {given}" if scene.chance(0.7) else f"{family.upper()} {given}"
    return replace(fact, text=text, value=text, others=())


def organisation(scene: Scene) -> Fact:
    """Return the name of an organisation: "Halcyon Robotics", "Weber & Sons", "Cobalt Ridge Paper GmbH"."""
    roll, pools = scene.rng.random(), scene.pools
    if roll < 0.4:
        name = f"{scene.pick(pools.company_words)} {scene.pick(pools.trades)}"
    elif roll < 0.5:
        name = invented_word(scene)
    elif roll < 0.65:
        name = f"{invented_word(scene)} {scene.pick(pools.trades)}"
    elif roll < 0.75:
        name = f"{scene.pick(pools.company_words)} {scene.pick(pools.company_words)}"
    elif roll < 0.85:
        name = f"{scene.pick(pools.family)} {scene.pick(pools.trades)}"
    else:
        name = f"{scene.pick(pools.family)} & {scene.pick((scene.pick(pools.family), 'Sons', 'Partners', 'Daughters'))}"
    return text_fact(f"{name} {scene.pick(_ENDINGS)}" if "&" not in name and scene.chance(0.2) else name, "agent")


def place(scene: Scene) -> Fact:
    """Return a city, real or invented."""
    if scene.chance(0.25):
        ending = scene.pick(("", "", "ville", "ton", "burg", "field", "stad", " Bay", " Falls", "ham"))
        return text_fact(invented_word(scene) + ending, "place")
    return text_fact(scene.pick(scene.pools.cities), "place")


def street(scene: Scene) -> Fact:
    """Return a street with a number: "14 Mill Lane", "Lindenallee 7a"."""
    number = str(scene.rng.randrange(1, 250)) + (scene.pick("abcBC") if scene.chance(0.08) else "")
    if scene.chance(0.7):
        return text_fact(f"{number} {scene.pick(scene.pools.streets)} {scene.pick(_STREET_KINDS)}", "place")
    name = scene.pick(scene.pools.streets_abroad)
    text = f"{number} {name}" if name.startswith(("Rue", "Avenue", "Boulevard")) else f"{name} {number}"
    return text_fact(text, "place")


def site(scene: Scene) -> Fact:
    """Return a place inside a town: "Town Hall", "Hall 9", "the Orchid Room", "Kestrel Gallery"."""
    pools = scene.pools
    name = scene.pick((scene.pick(pools.venues), scene.pick(pools.rooms)))
    return text_fact(
        f"{scene.pick(pools.company_words)} {scene.pick(pools.venues)}" if scene.chance(0.5) else name, "place"
    )


def ascii_letters(name: str) -> str:
    """Return a name in small letters without accents: "Čapek" → "capek"."""
    plain = unicodedata.normalize("NFKD", name.lower().translate(_UNACCENTED))
    return "".join(sign for sign in plain if "a" <= sign <= "z")


def email(scene: Scene) -> Fact:
    """Return an address of a person or of a department."""
    first, last = (ascii_letters(name.split()[-1]) or "x" for name in full_name(scene))
    users = (f"{first}.{last}", f"{first[0]}.{last}", f"{first}_{last}", f"{first}{last}", last, first)
    offices = ("info", "office", "support", "sales", "jobs", "hello", "contact", "team", "bookings")
    user = scene.pick(offices) if scene.chance(0.2) else scene.pick(users)
    number = str(scene.rng.randrange(100)) if scene.chance(0.2) else ""
    own = f"{scene.pick(scene.pools.company_words).lower()}.{scene.pick(_DOMAIN_ENDINGS)}"
    return text_fact(f"{user}{number}@{own if scene.chance(0.6) else scene.pick(_MAIL_HOSTS)}", "code")


def url(scene: Scene) -> Fact:
    """Return the address of a web page."""
    host = f"{scene.pick(scene.pools.company_words).lower()}{scene.pick(('', '-' + scene.pick(scene.pools.nouns)))}"
    path = f"/{scene.pick(scene.pools.nouns)}" + (f"/{scene.rng.randrange(9999)}" if scene.chance(0.4) else "")
    scheme = scene.pick(("https://", "https://www.", "www.", "http://"))
    return text_fact(f"{scheme}{host}.{scene.pick(_DOMAIN_ENDINGS)}{path if scene.chance(0.6) else ''}", "code")


_PHONES = by_comma("""
+1 ### ### ####, +1-###-###-####, (###) ###-####, ###-###-####, +44 20 #### ####, +44 7### ######, +49 30 #######,
+49 1## ########, +33 6 ## ## ## ##, 0# ## ## ## ##, +34 6## ### ###, +39 3## ### ####, +46 70 ### ## ##, ### ### ###,
+91 ##### #####, +81 90 #### ####, 555-####, 0### ######
""")


def phone(scene: Scene) -> Fact:
    """Return a telephone number."""
    return text_fact(fill_pattern(scene, scene.pick(_PHONES)), "code")


def fill_pattern(scene: Scene, pattern: str) -> str:
    """Return a pattern with its placeholders drawn: # is a digit, @ a capital, & either, % a digit but zero."""
    drawn = {"#": "0123456789", "%": "123456789", "@": "ABCDEFGHJKLMNPQRSTUVWXYZ", "&": "ABCDEFGHKLMNPRSTVWXYZ23456789"}
    return "".join(scene.pick(drawn[sign]) if sign in drawn else sign for sign in pattern)


def code(patterns: Sequence[str]) -> Maker:
    """Return a maker of codes after patterns: `INV-####` → "INV-2041"."""
    return lambda scene: text_fact(fill_pattern(scene, scene.pick(patterns)), "code")


def product(scene: Scene) -> Fact:
    """Return the name of a product: "oak desk", "Trulo 300", "foldable step stool"."""
    pools, roll = scene.pools, scene.rng.random()
    if roll < 0.4:
        return text_fact(scene.pick(pools.things))
    if roll < 0.65:
        return text_fact(f"{scene.pick(pools.thing_adjectives)} {scene.pick(pools.things)}")
    if roll < 0.85:
        number = scene.pick(
            ("", f" {scene.rng.randrange(1, 9)}00", f" {scene.pick('XSTVZ')}{scene.rng.randrange(1, 99)}")
        )
        return text_fact(f"{invented_word(scene)}{number}")
    return text_fact(f"{invented_word(scene)} {scene.pick(pools.things).title()}")


def plural(noun: str) -> str:
    """Return the plural of a regular noun: "box" → "boxes", "city" → "cities"."""
    if noun.endswith("y") and noun[-2:-1] not in "aeou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh", "z")) else f"{noun}s"


def work(scene: Scene) -> Fact:
    """Return the title of a work: "The Silent Harbor", "Lantern and Salt", "A Winter in Oslo"."""
    pools = scene.pools
    noun, other = scene.pick(pools.nouns).capitalize(), scene.pick(pools.company_words)
    adjective = scene.pick(pools.adjectives).capitalize()
    titles = (
        f"The {adjective} {noun}", f"{other} and {noun}", f"A {noun} in {scene.pick(pools.cities)}",
        f"{adjective} {plural(noun)}", f"The {noun} of {other}", f"{scene.pick(pools.given)}'s {noun}",
        f"The Last {noun}", f"No {noun} for {other}", f"{other} {noun}",
        f"Beyond the {adjective} {noun}", f"The {noun} Keeper",
    )  # fmt: skip
    return text_fact(scene.pick(titles))


_FAULTS = by_comma("""
stays black, came off, crashes on start, makes no sound, drains overnight, jams, does not close, is rejected,
loads twice, smells burnt, shows the wrong name, leaks, will not turn on, is too loose, rattles, has a dent,
overheats after an hour, was never delivered, is missing a screw, blinks red, freezes, is out of date, lost its
colour, arrived broken, is stuck, does not fit, prints blank pages, asks for a password, hums all night,
disconnects every few minutes, is scratched, looks different from the picture, cannot be opened, is much too
small, stopped working yesterday, needs a new battery
""")
_ERRANDS = by_comma("""
order, repair, clean, check, update, replace, count, paint, move, send back, print, label, review, cancel, pick
up, test, sell, measure, sort, scan, renew, return, insure, photograph, wrap, translate, book, archive, polish,
weigh, hand over, draw up, back up, sign, install, inspect, file, unpack, reserve, pay for, look for, write
about
""")
_CAUSES = by_comma("""
failed, expired, full, broken, wrong, cut, burst, stolen, missing, overloaded, forgotten, frozen, loose, late,
noisy, rude, torn, double, cold, flooded, blocked, faulty, damaged, leaking, outdated, unsigned
""")
_BY_SPLIT: dict[Split, tuple[Sequence[str], ...]] = {
    split: tuple(part(one, split) for one in (_FAULTS, _ERRANDS, _CAUSES)) for split in POOLS
}


def thing(scene: Scene) -> str:
    """Return what a phrase is about: "desk lamp", "spare valve"."""
    pools = scene.pools
    if scene.chance(0.5):
        return scene.pick(pools.things)
    return f"{scene.pick(pools.adjectives)} {scene.pick(pools.nouns)}" if scene.chance(0.4) else scene.pick(pools.nouns)


def fault(scene: Scene) -> Fact:
    """Return a clause of free text: "the spare valve leaks", "the desk lamp blinks red and hums all night"."""
    faults = _BY_SPLIT[scene.split][0]
    text = f"{scene.pick(('the', 'the', 'my', 'our', 'one'))} {thing(scene)} {scene.pick(faults)}"
    return text_fact(f"{text} and {scene.pick(faults)}" if scene.chance(0.2) else text)


def errand(scene: Scene) -> Fact:
    """Return something to be done: "repair the desk lamp", "count the left wheels"."""
    text = f"{scene.pick(_BY_SPLIT[scene.split][1])} {scene.pick(('the', 'the', 'a new', 'every'))} {thing(scene)}"
    return text_fact(f"{text} for {scene.pick(scene.pools.departments)}" if scene.chance(0.12) else text)


def cause(scene: Scene) -> Fact:
    """Return what brings something about: "a burst pipe", "an expired card"."""
    adjective = scene.pick(_BY_SPLIT[scene.split][2])
    return text_fact(f"{'an' if adjective[0] in 'aeiou' else 'a'} {adjective} {scene.pick(scene.pools.nouns)}")


def pooled(name: str) -> Maker:
    """Return a maker of the entries of a pool of words."""
    return lambda scene: text_fact(scene.pick(getattr(scene.pools, name)))


def one_of(entries: str) -> Maker:
    """Return a maker of listed entries; a sixth of them never occurs in training."""
    listed = by_comma(entries)
    parts: dict[Split, Sequence[str]] = {split: part(listed, split) or listed for split in POOLS}
    return lambda scene: text_fact(scene.pick(parts[scene.split]))


# Numbers


def number_to_words(number: int) -> str:
    """Return a number below one thousand in words: 25 → "twenty-five", 110 → "a hundred and ten"."""
    if number >= 100:
        hundreds = "a hundred" if number < 200 else f"{ONES[number // 100]} hundred"
        return f"{hundreds} and {number_to_words(number % 100)}" if number % 100 else hundreds
    if number < 20:
        return ONES[number]
    tens, ones = divmod(number, 10)
    return TENS[tens - 2] + (f"-{ONES[ones]}" if ones else "")


def digits(scene: Scene, value: float, places: int = 0) -> str:
    """Return a number with the marks of the scene: "1,250.50", "1250.50", "1.250,50", "1 250,50" or "1'250.50"."""
    text = f"{value:,.{places}f}"
    match scene.marks:
        case "plain":
            return text.replace(",", "")
        case "german":
            return text.translate({ord(","): ".", ord("."): ","})
        case "french":
            return text.translate({ord(","): " ", ord("."): ","})
        case "swiss":
            return text.replace(",", "'")
        case _:
            return text


def drawn_number(scene: Scene, low: float, high: float) -> float:
    """Return a number between two bounds, small ones more often where the bounds are far apart."""
    if low > 0 and high > 50 * low and scene.chance(0.7):
        return float(low * (high / low) ** scene.rng.random())
    return scene.rng.uniform(low, high)


_DOZENS = {6: "half a dozen", 12: "a dozen", 24: "two dozen", 36: "three dozen", 60: "five dozen"}


def is_sign(unit: str) -> bool:
    """Return whether a unit is a sign rather than a word: "km/h" and "m²", but not "square metres"."""
    return bool(unit) and " " not in unit and (len(unit) < 4 or not unit.isalpha())


def spelled_integer(scene: Scene, value: int, unit: str = "") -> str:
    """Return a whole number as people write it: 12500 → "12,500" or "12.5k", 7 → "seven", 24 → "two dozen"."""
    roll = scene.rng.random()
    if is_sign(unit):  # "seven °C" is nothing that anybody writes
        return digits(scene, value)
    if (0 <= value < 20 and roll < 0.22) or (0 <= value < 100 and roll < 0.08):
        return number_to_words(value)
    if value in _DOZENS and roll < 0.35:
        return _DOZENS[value]
    if 100 <= value < 1000 and (roll < 0.02 or (value % 100 == 0 and roll < 0.1)):
        return number_to_words(value)
    if 2000 < value < 1_000_000 and value % 100 == 0 and scene.marks in ("english", "plain") and roll < 0.12:
        return f"{value / 1000:g}{scene.pick(('k', ' thousand', 'K'))}"
    if value >= 1_000_000 and value % 100_000 == 0 and roll < 0.3:
        return f"{value / 1_000_000:g}{scene.pick((' million', 'm', ' mn'))}"
    return digits(scene, value)


def with_unit(scene: Scene, number: str, value: int, unit: str) -> str:
    """Return a number with its unit: "250g", "12 per cent", "1 month"."""
    if unit == "%":
        return f"{number}{scene.pick(('%', ' %', ' percent', ' per cent', '%', ' pct'))}"
    glued = scene.chance(0.25) and number[-1].isdigit() and is_sign(unit)
    return f"{number}{'' if glued else ' '}{unit[:-1] if value == 1 and unit.endswith('s') else unit}"


def integer(low: int, high: int, units: str = "") -> Maker:
    """Return a maker of whole numbers, with a unit if there are any."""
    listed = tuple(units.split(",")) if units else ("",)

    def make(scene: Scene) -> Fact:
        value = round(drawn_number(scene, low, high))
        if value > 2000 and scene.chance(0.25):
            value = round(value, -2)
        unit = scene.pick(listed)
        text = spelled_integer(scene, value, unit)
        text = with_unit(scene, text, value, unit) if unit else text
        asked: tuple[tuple[Schema, Json, str], ...] = ((STRING, text, "as written"),) if unit else ()
        if unit and text.endswith(unit):
            asked += ((_measure("integer"), {"value": value, "unit": unit}, ""),)
        return Fact(text, value, {"type": "integer"}, "number", asked)

    return make


_DECIMAL: Schema = {"anyOf": [{"type": "number"}, {"type": "string"}]}
"""How a decimal number of Pydantic reads; the answer is a number."""


def _measure(of: str) -> Schema:
    properties = {"value": {"type": of}, "unit": STRING}
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}


def decimal(low: float, high: float, places: int, units: str = "") -> Maker:
    """Return a maker of numbers with decimal places, with a unit if there are any."""
    listed = tuple(units.split(",")) if units else ("",)

    def make(scene: Scene) -> Fact:
        shown = places if scene.chance(0.75) else scene.rng.randint(0, places)
        value = round(drawn_number(scene, low, high), shown) + 0.0  # never -0.0
        whole = shown == 0 and scene.marks in ("german", "french")
        text = f"{value:.0f}" if whole else digits(scene, value, shown)
        unit = scene.pick(listed)
        tight = is_sign(unit) and scene.chance(0.3)
        words = value % 1 == 0.5 and shown <= 1 and 1 < value < 13 and len(unit) > 3 and unit.isalpha()
        if words and scene.chance(0.5):
            text = f"{number_to_words(int(value))} and a half"
        text = (f"{text}{unit}" if tight and text[-1].isdigit() else f"{text} {unit}") if unit else text
        asked: tuple[tuple[Schema, Json, str], ...] = ((_DECIMAL, value, ""), (_DECIMAL, value, ""))
        if unit:
            asked = ((STRING, text, "with its unit"), (_measure("number"), {"value": value, "unit": unit}, ""), *asked)
        return Fact(text, value, {"type": "number"}, "number", asked)

    return make


def year(low: int, high: int) -> Maker:
    """Return a maker of years, which are never grouped."""

    def make(scene: Scene) -> Fact:
        value = scene.rng.randint(low, high)
        return Fact(str(value), value, {"type": "integer"}, "year")

    return make


def money(low: float, high: float) -> Maker:
    """Return a maker of amounts in the currency and the style of the scene."""

    def make(scene: Scene) -> Fact:
        value = drawn_number(scene, low, high)
        value = float(round(value) if value < 500 else round(value, -1)) if scene.chance(0.35) else round(value, 2)
        if value >= 1_000_000:
            value = float(round(value, -5))
        text = spell_money(scene, value)
        pair = {"type": "object", "additionalProperties": False, "required": ["amount", "currency"]}
        pair |= {"properties": {"amount": {"type": "number"}, "currency": currency_schema(scene)}}
        split = (pair, {"amount": value, "currency": scene.currency}, "")
        others: tuple[tuple[Schema, Json, str], ...]
        others = ((STRING, text, "as written"), (_DECIMAL, value, ""), (_DECIMAL, value, ""))
        others = others if scene.money_style == "bare" else (*others, split)
        if value == int(value) and scene.chance(0.3):
            others = (*others, ({"type": "integer"}, int(value), ""))
        return Fact(text, value, {"type": "number"}, "money", others)

    return make


def currency_schema(scene: Scene) -> Schema:
    """Return the schema of a currency: a choice of codes, the scene's among them."""
    listed = [one for one in CURRENCIES if one == scene.currency or scene.chance(0.4)]
    scene.rng.shuffle(listed)
    return {"enum": listed, "type": "string"}


def spell_money(scene: Scene, value: float) -> str:
    """Return an amount as a document writes it: 1250.5 → "$1,250.50", "1250.50 EUR", "1.250,50 €"."""
    number = _amount(scene, value)
    sign, word = CURRENCIES[scene.currency]
    match scene.money_style:
        case "sign after":
            return f"{number}{sign}" if len(sign) == 1 and number[-1].isdigit() else f"{number} {sign}"
        case "sign" | "spaced sign":
            if len(sign) > 1 or (scene.currency == "EUR" and scene.marks in ("german", "french") and scene.chance(0.8)):
                return f"{number} {sign}"
            return f"{sign}{number}" if scene.money_style == "sign" else f"{sign} {number}"
        case "before":
            return f"{scene.currency}{'' if scene.chance(0.1) else ' '}{number}"
        case "after":
            return f"{number} {scene.currency}"
        case "word":
            return f"{number} {word}"
        case _:
            return number


def _amount(scene: Scene, value: float) -> str:
    whole, marks = value == int(value), scene.marks
    cents = not whole or scene.chance(0.35)
    if value >= 1_000_000 and value == round(value, -5) and scene.chance(0.6):
        number = f"{value / 1_000_000:g}{scene.pick((' million', ' million', 'm', 'M'))}"
        return number.replace(".", ",") if marks in ("german", "french") else number
    if 1000 <= value < 1_000_000 and value % 100 == 0 and marks in ("english", "plain") and scene.chance(0.2):
        return f"{value / 1000:g}k"
    if whole and 1 < value < 100 and scene.money_style == "word" and scene.chance(0.2):
        return number_to_words(int(value))
    if whole and marks == "german" and value < 1000 and scene.chance(0.1):
        return f"{value:.0f},-"
    if not cents and marks in ("german", "french") and value >= 1000:
        return f"{value:.0f}"
    return digits(scene, value, 2 if cents else 0)


def score(scene: Scene) -> Fact:
    """Return the result of a match, as it is written: "3–1", "2:0"."""
    text = f"{scene.rng.randrange(7)}{scene.pick(('–', '-', ':', ' - ', ' to '))}{scene.rng.randrange(7)}"
    return text_fact(text)


# Dates


def ordinal(day: int) -> str:
    """Return a day with its ending: 3 → "3rd"."""
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _slashed(day: date, *, american: bool = False, short: bool = False) -> str:
    """Return a date in digits if it can be read in one way only, otherwise with the month in letters."""
    if day.day <= 12 and day.day != day.month:
        return f"{day.day} {month_name[day.month]} {day.year}"
    first, second = (day.month, day.day) if american else (day.day, day.month)
    return f"{first}/{second}/{day.year % 100:02}" if short else f"{first:02}/{second:02}/{day.year}"


_ALL_DATE_STYLES: tuple[Callable[[date], str], ...] = (
    lambda day: day.isoformat(),
    lambda day: f"{month_name[day.month]} {day.day}, {day.year}",
    lambda day: f"{day.day} {month_name[day.month]} {day.year}",
    lambda day: f"{month_name[day.month]} {ordinal(day.day)}, {day.year}",
    lambda day: f"{day.day} {month_name[day.month][:3]} {day.year}",
    lambda day: f"{month_name[day.month][:3]} {ordinal(day.day)}, '{day.year % 100:02}",
    lambda day: f"{day.day:02}.{day.month:02}.{day.year}",
    lambda day: f"{ordinal(day.day)} of {month_name[day.month]} {day.year}",
    lambda day: f"{day_name[day.weekday()]}, {month_name[day.month]} {day.day}, {day.year}",
    lambda day: f"{day_name[day.weekday()][:3]} {day.day} {month_name[day.month][:3]} {day.year}",
    lambda day: _slashed(day, american=True),
    lambda day: f"{day.day}. {month_name[day.month]} {day.year}",
    lambda day: f"{month_name[day.month][:3]} {day.day}, {day.year}",
    lambda day: f"{day.day}.{day.month}.{day.year}",
    lambda day: f"{ordinal(day.day)} {month_name[day.month]} {day.year}",
    _slashed,
    lambda day: f"{day_name[day.weekday()]} {day.day} {month_name[day.month]} {day.year}",
    lambda day: f"{day.day:02} {month_name[day.month][:3].upper()} {day.year}",
    lambda day: f"{day.year}/{day.month:02}/{day.day:02}",
    lambda day: f"{day.day:02}-{month_name[day.month][:3]}-{day.year}",
    lambda day: f"{month_name[day.month]} {day.day} {day.year}",
    lambda day: f"the {ordinal(day.day)} of {month_name[day.month]} {day.year}",
    lambda day: f"{day.day}-{month_name[day.month][:3]}-{day.year % 100:02}",
    lambda day: _slashed(day, american=True, short=True),
    lambda day: f"{day.day} {month_name[day.month][:3].lower()} {day.year}",
    lambda day: f"{day_name[day.weekday()]} the {ordinal(day.day)} of {month_name[day.month]}, {day.year}",
    lambda day: (
        f"{day.day:02}.{day.month:02}.{day.year % 100:02}" if day.day > 12 else f"{day.day}. {day.month}. {day.year}"
    ),
    lambda day: f"{day_name[day.weekday()][:3]}, {month_name[day.month][:3]} {day.day}, {day.year}",
    lambda day: f"{day.day} {month_name[day.month].upper()} {day.year}",
    lambda day: f"{day.year}.{day.month:02}.{day.day:02}",
    lambda day: f"{month_name[day.month]} the {ordinal(day.day)}, {day.year}",
)
_DATE_STYLES: dict[Split, Sequence[Callable[[date], str]]] = {
    "train": part(_ALL_DATE_STYLES, "train"), "phrasings": _ALL_DATE_STYLES, "kinds": _ALL_DATE_STYLES
}  # fmt: skip


def drawn_date(scene: Scene, earliest: int, latest: int) -> tuple[date, str]:
    """Return a day so many days from the scene's own, and its spelling."""
    day, styles = scene.today + timedelta(days=scene.rng.randint(earliest, latest)), _DATE_STYLES[scene.split]
    style = scene.date_style if scene.chance(0.85) else scene.rng.randrange(len(styles))
    return day, styles[style](day)


def day(earliest: int, latest: int) -> Maker:
    """Return a maker of dates so many days from the scene's own."""

    def make(scene: Scene) -> Fact:
        drawn, text = drawn_date(scene, earliest, latest)
        others = ((STRING, text, "as written"), (STRING, drawn.isoformat(), "as YYYY-MM-DD"))
        return Fact(text, drawn.isoformat(), {"format": "date", "type": "string"}, "date", others)

    return make


def clock(scene: Scene, hour: int, minute: int) -> str:
    """Return a time of day: "14:30", "2.30pm", "21h", "half past nine in the morning"."""
    roll = scene.rng.random()
    if roll < 0.5:
        return f"{hour:02}:{minute:02}"
    if roll < 0.6:
        return f"{hour}.{minute:02}" if minute or scene.chance(0.5) else f"{hour:02}:00 h"
    if roll < 0.65:
        return f"{hour}h{minute:02}" if minute else f"{hour}h"
    shown = (hour - 1) % 12 + 1
    if roll < 0.7 and minute % 15 == 0 and hour != 12:
        day = "in the morning" if hour < 12 else "in the afternoon" if hour < 18 else "in the evening"
        words = {0: "{} o'clock", 15: "quarter past {}", 30: "half past {}", 45: "quarter to {}"}[minute]
        if hour != 11 or minute != 45:
            named = shown % 12 + 1 if minute == 45 else shown
            return f"{words.format(number_to_words(named) if scene.chance(0.6) else named)} {day}"
    half = scene.pick((" pm", "pm", " PM", " p.m.", "PM"))
    if hour < 12:
        half = half.replace("p", "a").replace("P", "A")
    mark = scene.pick(":::.")
    return f"{shown}{half}" if minute == 0 and scene.chance(0.4) else f"{shown}{mark}{minute:02}{half}"


def moment(earliest: int, latest: int) -> Maker:
    """Return a maker of dates with a time of day."""

    def make(scene: Scene) -> Fact:
        drawn, text = drawn_date(scene, earliest, latest)
        hour, minute = scene.rng.randint(6, 22), scene.rng.randrange(0, 60, 5)
        time = clock(scene, hour, minute)
        spelled = scene.pick(
            (f"{text} at {time}", f"{text}, {time}", f"{text} {time}", f"{text} ({time})", f"{time} on {text}")
        )
        if text == drawn.isoformat() and scene.chance(0.4):
            spelled = f"{text}{scene.pick('T ')}{hour:02}:{minute:02}{scene.pick(('', ':00'))}"
        value = f"{drawn.isoformat()}T{hour:02}:{minute:02}:00"
        return Fact(spelled, value, {"format": "date-time", "type": "string"}, "date")

    return make


def time_of_day(scene: Scene) -> Fact:
    """Return a time of day, as the string it is written as or by the clock of 24 hours."""
    hour, minute = scene.rng.randint(5, 22), scene.rng.randrange(0, 60, 5)
    text, normal = clock(scene, hour, minute), f"{hour:02}:{minute:02}"
    exact: Schema = {"format": "time", "type": "string"}
    others = ((STRING, normal, "as HH:MM, 24 hours"), (exact, f"{normal}:00", ""), (exact, f"{normal}:00", ""))
    return Fact(text, text, STRING, "time", others)


# Lists


def join_words(scene: Scene, items: Sequence[str]) -> str:
    """Return items in one line: "a, b and c", "a / b / c"."""
    if len(items) < 2:
        return "".join(items)
    match scene.rng.choices(("and", "oxford", "commas", "slashes", "plus"), (45, 15, 25, 6, 9))[0]:
        case "oxford" if len(items) > 2:
            return f"{', '.join(items[:-1])}, and {items[-1]}"
        case "commas":
            return ", ".join(items)
        case "slashes":
            return " / ".join(items)
        case "plus":
            return " + ".join(items) if scene.chance(0.3) else f"{', '.join(items[:-1])} & {items[-1]}"
        case _:
            return f"{', '.join(items[:-1])} and {items[-1]}"


def several(make: Maker, low: int, high: int) -> Maker:
    """Return a maker of lists of different values."""

    def draw(scene: Scene) -> Fact:
        drawn = {str(fact.value): fact for fact in (make(scene) for _ in range(scene.rng.randint(low, high)))}
        facts = tuple(
            fact for fact in drawn.values() if all(mark not in fact.text for mark in (",", " and ", "/", "&"))
        )
        facts = facts or tuple(drawn.values())[:1]
        shown = tuple(kept(fact.text) for fact in facts)
        schema: Schema = {"items": facts[0].schema, "type": "array"}
        return Fact(join_words(scene, shown), [fact.value for fact in facts], schema, "list", items=shown)

    return draw
