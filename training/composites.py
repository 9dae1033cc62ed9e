"""Values of several parts: a party with its town, whom to call, an address, a period, a range, dimensions.

A type asks for them as an inner object or as fields side by side; the parts have the names that the scene has, so that
all records of one document agree.
"""

from collections.abc import Sequence
from typing import Any

from training.dates import clock, drawn_date
from training.names import email, fill_pattern, organisation, person, phone, place, street
from training.quantities import digits, drawn_number, spell_money
from training.scene import STRING, Fact, Scene, Schema
from training.splits import by_split


def composite(scene: Scene, sort: str, names: Sequence[str], facts: Sequence[Fact], frames: Sequence[str]) -> Fact:
    """Return a fact of several parts: `names` are alternatives such as "name city", of which the scene has one."""
    keys = names[scene.today.day % len(names)].split()
    text = scene.pick(frames).format(*(fact.text for fact in facts))
    value: dict[str, Any] = {key: fact.value for key, fact in zip(keys, facts, strict=True)}
    properties = {key: dict(fact.schema) for key, fact in zip(keys, facts, strict=True)}
    schema: Schema = {
        "type": "object", "properties": properties, "required": keys, "additionalProperties": False,
    }  # fmt: skip
    return Fact(text, value, schema, sort)


def party(scene: Scene) -> Fact:
    """Return somebody and the town: "Weber & Sons, Leeds", "Ana Costa in Lisbon"."""
    name = person(scene) if scene.chance(0.5) else organisation(scene)
    frames = by_split(("{}, {}", "{} in {}", "{} ({})", "{}, {}", "{} from {}"), ("{} of {}", "{} / {}"), scene.split)
    names = ("name city", "name town", "full_name place", "company city", "name location")
    return composite(scene, "agent", names, (name, place(scene)), frames)


def contact(scene: Scene) -> Fact:
    """Return somebody with a number or an address: "Dan Weber on 555-0134"."""
    by_phone = scene.today.day % 3 > 0
    frames = (
        ("{} on {}", "{}, {}", "{} ({})", "{}: {}", "{}, tel. {}") if by_phone else ("{}, {}", "{} <{}>", "{} at {}")
    )
    kept_frames = ("{} – {}", "{} via {}")
    names = ("name phone", "person number", "full_name tel") if by_phone else ("name email", "person mail")
    reached = phone(scene) if by_phone else email(scene)
    return composite(scene, "agent", names, (person(scene), reached), by_split(frames, kept_frames, scene.split))


def postal(scene: Scene) -> Fact:
    """Return a street, a code and a town in one line: "14 Mill Lane, Leeds LS1 4AB"."""
    pattern = scene.pick(("#####", "####", "@@# #@@", "@%% %@@", "#### @@"))
    number = fill_pattern(scene, pattern)
    frames = by_split(
        ("{0}, {1} {2}", "{0}, {2} {1}", "{0}, {2}, {1}"), ("{0} / {1} {2}", "{0} – {2} {1}"), scene.split
    )
    names = ("street postcode city", "street zip city", "line postal_code town")
    return composite(scene, "place", names, (street(scene), Fact(number, number, STRING, "code"), place(scene)), frames)


def period(scene: Scene) -> Fact:
    """Return two days, the earlier first: "3 May 2024 to 9 May 2024"."""
    start, first = drawn_date(scene, -300, 100)
    end, last = drawn_date(scene, 101, 400)
    schema: Schema = {"format": "date", "type": "string"}
    facts = (Fact(first, start.isoformat(), schema, "date"), Fact(last, end.isoformat(), schema, "date"))
    known = ("{} to {}", "from {} to {}", "{} until {}", "from {} until {}", "between {} and {}", "{} - {}")
    names = ("start end", "from to", "first_day last_day", "begins ends", "since until")
    return composite(scene, "text", names, facts, by_split(known, ("{} through {}", "{} – {}"), scene.split))


def hours(scene: Scene) -> Fact:
    """Return two times of one day: "9:00 to 17:30"."""
    schema: Schema = {"format": "time", "type": "string"}
    exact = scene.today.day % 2 > 0
    drawn = (scene.rng.randint(6, 11), scene.rng.randint(14, 22))
    facts = []
    for hour in drawn:
        minute = scene.rng.choice((0, 0, 30, 15, 45))
        text = clock(scene, hour, minute)
        facts.append(Fact(text, f"{hour:02}:{minute:02}:00" if exact else text, schema if exact else STRING, "time"))
    known = ("{} to {}", "from {} to {}", "{} until {}", "{} - {}", "open from {} to {}")
    names = ("opens closes", "start end", "from to", "opening closing")
    return composite(scene, "text", names, facts, by_split(known, ("{} till {}", "between {} and {}"), scene.split))


def amounts(scene: Scene) -> Fact:
    """Return two amounts of money, the lower first: "32,000 to 38,000 GBP"."""
    low = float(round(drawn_number(scene, 20, 80_000), -1))
    high = low + float(round(scene.rng.uniform(0.05, 0.8) * low, -1)) + 10
    bare = scene.chance(0.4) and low < 1_000_000
    kinds: Schema = {"type": "integer"} if scene.today.day % 2 else {"type": "number"}
    values = [int(value) if kinds["type"] == "integer" else value for value in (low, high)]
    texts = (digits(scene, low) if bare else spell_money(scene, low), spell_money(scene, high))
    known = ("{} to {}", "between {} and {}", "{} - {}", "from {} to {}")
    names = ("min max", "from to", "low high", "minimum maximum", "lowest highest")
    facts = [Fact(text, value, kinds, "money") for text, value in zip(texts, values, strict=True)]
    return composite(scene, "text", names, facts, by_split(known, ("{} up to {}", "{}–{}"), scene.split))


def dimensions(scene: Scene) -> Fact:
    """Return two or three lengths: "120 x 60 x 75 cm"."""
    flat = scene.today.day % 2 == 0
    unit = scene.pick(("cm", "mm", "m", "inches", ""))
    lengths = [scene.rng.randrange(2, 300) for _ in range(2 if flat else 3)]
    facts = [Fact(str(one), one, {"type": "integer"}, "number") for one in lengths]
    mark = scene.pick(by_split((" x ", " × ", "x"), (" by ", " * "), scene.split))
    names = ("length width height", "width depth height", "l w h") if not flat else ("width height", "length width")
    return composite(scene, "text", names, facts, (f"{mark.join(['{}'] * len(facts))} {unit}".strip(),))


COMPOSITES = {
    "party": (party, "agent"), "contact": (contact, "agent"), "postal": (postal, "place"), "period": (period, "text"),
    "hours": (hours, "text"), "amounts": (amounts, "text"), "dimensions": (dimensions, "text"),
}  # fmt: skip
"""The roles of values of several parts, each with the sort of its facts."""
