"""Quantities: numbers with and without units, and amounts of money, as people write them."""

from training.scene import CURRENCIES, STRING, Fact, Json, Maker, Scene, Schema, text_fact

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


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
