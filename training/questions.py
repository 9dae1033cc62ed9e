"""What a type asks of a record: names, descriptions, nesting, choices, optional fields; and the answer to it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.kind import Event, Field, Kind, Rows
from training.names import cause, errand, fault, product, work
from training.quantities import score
from training.scene import STRING, Fact, Scene, Schema
from training.splits import part
from training.words import SHORT

_NAMINGS = {"snake": 66, "camel": 20, "joined": 3, "pascal": 4, "upper": 3, "spaced": 3, "dashed": 1}
_USELESS = (
    "a",
    "b",
    "x",
    "y",
    "f1",
    "f2",
    "f3",
    "field_1",
    "field_2",
    "value",
    "col_a",
    "q1",
    "data",
    "attr_3",
    "k",
    "entry",
)
UNITS = {
    written: name
    for name, all_written in {
        "kg": "kg kilograms", "meters": "m metres", "cm": "cm centimetres", "mm": "mm millimetres", "hours": "hours",
        "minutes": "minutes min", "days": "days", "months": "months", "years": "years", "km": "km kilometres",
        "liters": "litres l",
        "watts": "w watts", "gb": "gb", "percent": "% percent", "seconds": "seconds",
    }.items()
    for written in all_written.split()
}  # fmt: skip
_NO_CHOICES = (fault, errand, cause, product, work, score)
"""Makers of texts that no type would list."""

_SLOT_NAMES = {
    "by": ("by", "person", "who", "name"), "on": ("date", "on", "day", "when"),
    "at": ("when", "date", "start"), "in": ("place", "where", "city", "location"), "site": ("place", "where"),
}  # fmt: skip


_STYLES: tuple[Callable[[str], str], ...] = (
    str, str, str.upper, lambda text: text.replace("_", " "), lambda text: text.replace("_", " ").capitalize()
)  # fmt: skip


_SPELLINGS: tuple[Callable[[str], str], ...] = (
    str, str.upper, str.lower, lambda text: text.replace(" ", "_").lower()
)  # fmt: skip


@dataclass(slots=True)
class Naming:
    """How the fields of one type are named."""

    scene: Scene
    style: str

    def name(self, words: str) -> str:
        """Return words as a field name: "due date" → `due_date`, `dueDate`, `DueDate`, "Due date"."""
        parts = [
            part
            for part in re.sub(r" in(?= )", "", words.replace("-", " ").replace("'s", "").replace("/", " ")).split()
            if part not in ("of", "the")
        ]
        parts = parts or [words]
        if self.scene.chance(0.1):
            parts = [SHORT.get(part, part) for part in parts]
        match self.style:
            case "camel":
                return parts[0].lower() + "".join(part[:1].upper() + part[1:] for part in parts[1:])
            case "joined":
                return "".join(parts).lower()
            case "pascal":
                return "".join(part[:1].upper() + part[1:] for part in parts)
            case "upper":
                return "_".join(parts).upper()
            case "spaced":
                return words[:1].upper() + words[1:]
            case "dashed":
                return "-".join(parts).lower()
            case _:
                return "_".join(parts).lower()


def new_naming(scene: Scene) -> Naming:
    """Return a way to name the fields of one type."""
    return Naming(scene, scene.weighted(_NAMINGS))


def ask(scene: Scene, kind: Kind, asked: Sequence[Field], facts: Mapping[str, Fact]) -> tuple[Schema, Any]:
    """Return the schema that asks for some fields, and its answer; what `facts` lacks is null."""
    naming = new_naming(scene)
    nested = event_nest(scene, kind, asked)
    inner_name, inner, short = nested or other_nest(scene, asked)
    properties: dict[str, Schema] = {}
    answer: dict[str, Any] = {}
    inside: dict[str, Schema] = {}
    inner_answer: dict[str, Any] = {}
    for one in asked:
        taken, given = (inside, inner_answer) if one.key in inner else (properties, answer)
        if inside is taken and not inside:
            inner_key = free_name(naming, inner_name, properties)
            properties[inner_key] = {}
            answer[inner_key] = inner_answer
        add(scene, naming, kind, one, facts.get(one.key), taken, given, short=short.get(one.key, ""), others=asked)
    if inside:
        properties[inner_key] = object_schema(inside)
    schema = object_schema(properties)
    if scene.chance(0.1):
        noun = scene.pick(kind.nouns)
        schema["description"] = scene.pick(
            (f"One {noun}.", f"Data of a {noun}.", f"The {noun} in the text.", f"{noun.title()} record")
        )
    return schema, answer


def add(
    scene: Scene, naming: Naming, kind: Kind, one: Field, fact: Fact | None, properties: dict[str, Schema],
    answer: dict[str, Any], *, short: str = "", others: Sequence[Field] = (), plain: bool = False,
) -> None:  # fmt: skip
    """Enter one field and its answer."""
    words = short or scene.pick(one.names(scene))
    if one.sort == "flag" and words in one.words.entries and len(words.split()) == 1 and scene.chance(0.3):
        words = f"is {words}"
    if not short and scene.chance(0.05):
        words = f"{scene.pick(kind.nouns)} {words}"
    useless = scene.chance(0.03)
    name = scene.pick(_USELESS) if useless else free_name(naming, words, properties)
    while name in properties:
        name += "_2"
    drawn = fact if fact is not None else one.make(scene)
    if drawn.schema.get("type") == "object" and not plain and scene.seldom(0.45):
        add_parts(scene, naming, words, drawn.schema, fact, properties, answer)
        return
    schema, value, hint = reading(scene, naming, one, drawn, plain=plain)
    if fact is None:
        value = [] if schema.get("type") == "array" and scene.chance(0.5) else None
    unit = UNITS.get(drawn.text.rpartition(" ")[2].lower(), "") if schema.get("type") in ("number", "integer") else ""
    if unit and not useless and scene.chance(0.15) and unit not in words:
        name = free_name(naming, f"{words} {unit}", properties)
    elif unit and scene.chance(0.06):
        hint = f"in {unit}"
    schema = optional(scene, schema, value)
    text = described(scene, one, words, hint, others, useless=useless) if useless or hint or scene.chance(0.3) else ""
    if text:
        schema["description"] = text
    if scene.chance(0.03) and one.sort in ("text", "agent", "code", "place") and schema.get("type") == "string":
        schema["examples"] = [one.make(scene).text]
    properties[name], answer[name] = schema, value


def add_parts(
    scene: Scene, naming: Naming, words: str, schema: Schema, fact: Fact | None, properties: dict[str, Schema],
    answer: dict[str, Any],
) -> None:  # fmt: skip
    """Enter the parts of a value as fields side by side: `salary_min` and `salary_max`."""
    for part_name, inner in schema["properties"].items():
        name = free_name(naming, f"{words} {part_name}".replace("_", " "), properties)
        answer[name] = fact and fact.value[part_name]
        properties[name] = optional(scene, inner, answer[name])


def optional(scene: Scene, schema: Schema, value: Any) -> Schema:
    """Return a schema that may be null where the value is, and now and then elsewhere; or one with a bound."""
    if schema.get("type") == "integer" and scene.chance(0.06) and (value is None or value > 0):
        schema = {**schema, "minimum": int(scene.chance(0.5))}
    if value is not None and not scene.chance(0.1 if schema.get("type") == "array" else 0.3):
        return schema
    either = nullable(schema)
    if scene.chance(0.7):
        either["default"] = None
    return either


def nullable(schema: Schema) -> Schema:
    """Return a schema that allows null as well; what is said of the field stays outside."""
    if "anyOf" in schema:
        null: Schema = {"type": "null"}
        return schema if null in schema["anyOf"] else {**schema, "anyOf": [*schema["anyOf"], null]}
    said: Schema = {key: schema[key] for key in ("description", "examples") if key in schema}
    return {"anyOf": [{key: value for key, value in schema.items() if key not in said}, {"type": "null"}], **said}


def reading(scene: Scene, naming: Naming, one: Field, fact: Fact, *, plain: bool = False) -> tuple[Schema, Any, str]:
    """Return one way to ask for a fact: its schema, its answer and what the description has to add."""
    if fact.sort == "rows":
        return inner_records(scene, naming, fact)
    if fact.sort == "choice":
        return choices(scene, fact)
    if plain:
        return dict(fact.schema), fact.value, ""
    if (
        fact.sort == "text"
        and fact.text.islower()
        and fact.schema == STRING
        and one.make not in _NO_CHOICES
        and len(fact.text) < 24
        and scene.chance(0.08)
    ):
        return spelled_choice(scene, one, fact)
    likely = {"date": 0.12, "time": 0.45, "agent": 0.06, "money": 0.3, "number": 0.25}.get(fact.sort, 0)
    if fact.others and scene.chance(likely):
        schema, value, hint = scene.pick(fact.others)
        return dict(schema), value, hint if hint.startswith(("as HH", "as YYYY")) or scene.chance(0.5) else ""
    return dict(fact.schema), fact.value, ""


def choices(scene: Scene, fact: Fact) -> tuple[Schema, Any, str]:
    """Return a choice in the spelling of the type, sometimes with options that nothing states."""
    listed = list(fact.schema["enum"])
    scene.rng.shuffle(listed)
    if scene.chance(0.15):
        listed.append(scene.pick(("other", "unknown", "none", "n_a")))
    style = scene.pick(_STYLES)
    return {"enum": [style(one) for one in listed], "type": "string"}, style(fact.value), ""


def spelled_choice(scene: Scene, one: Field, fact: Fact) -> tuple[Schema, Any, str]:
    """Return a choice among values of a text field, in a spelling of its own: "stainless steel" → `STAINLESS_STEEL`."""
    others = [one.make(scene).text for _ in range(scene.rng.randint(2, 5))]
    listed = list(dict.fromkeys([fact.text, *(text for text in others if len(text) < 24)]))
    style = scene.pick(_SPELLINGS)
    options = list(dict.fromkeys(style(text) for text in listed))
    scene.rng.shuffle(options)
    if len(options) < 2:
        return dict(fact.schema), fact.value, ""
    return {"enum": options, "type": "string"}, style(fact.text), ""


def inner_records(scene: Scene, naming: Naming, fact: Fact) -> tuple[Schema, Any, str]:
    """Return inner records as a list of objects, or as the list of what they are called."""
    if scene.chance(0.12):
        return (
            {"items": STRING, "type": "array"},
            [row[0].value for row in fact.rows],
            f"only the {inner_fields(fact)[0].key}",
        )
    properties: dict[str, Schema] = {}
    names = []
    for inner, first in zip(inner_fields(fact), fact.rows[0], strict=True):
        name = free_name(naming, scene.pick(inner.names(scene)), properties)
        properties[name] = dict(first.schema)
        if scene.chance(0.08):
            properties[name] = {"anyOf": [properties[name], {"type": "null"}], "default": None}
        names.append(name)
    answer = [{name: inner.value for name, inner in zip(names, row, strict=True)} for row in fact.rows]
    return {"items": object_schema(properties), "type": "array"}, answer, ""


def inner_fields(fact: Fact) -> Sequence[Field]:
    """Return the fields of inner records."""
    inner: Rows = fact.value
    return inner.fields


def described(scene: Scene, one: Field, words: str, hint: str, others: Sequence[Field], *, useless: bool) -> str:
    """Return a description that tells the field apart, in other words than its name where there are others."""
    labels = [label for label in (*one.words.some(scene.split), *one.words.entries) if label != words or useless]
    texts = [f"the {label}" for label in labels[:2] if one.sort != "flag"]
    if one.gloss:
        texts += [one.gloss, one.gloss]
    if not texts and not hint:
        return ""
    text = scene.pick(texts) if texts else f"the {words}"
    rivals = [rival for rival in others if rival.sort == one.sort and rival.key != one.key and rival.words.entries]
    if rivals and scene.chance(0.3):
        text = f"{text}, not the {scene.pick(rivals).words.entries[0]}"
    if hint:
        text = f"{text}, {hint}" if scene.chance(0.7) else f"{text} ({hint})"
    return scene.pick((text, text[:1].upper() + text[1:], f"{text[:1].upper()}{text[1:]}."))


def event_nest(scene: Scene, kind: Kind, asked: Sequence[Field]) -> tuple[str, frozenset[str], dict[str, str]] | None:
    """Return an inner object for one event: its name, the keys inside, and their short names."""
    groups: dict[str, list[Field]] = {}
    for one in asked:
        if one.event:
            groups.setdefault(one.event, []).append(one)
    events: Mapping[str, Event] = kind.events or {}
    fitting = [name for name, inside in groups.items() if len(inside) > 1]
    if not fitting or not scene.chance(0.5):
        return None
    name = scene.pick(fitting)
    short = {
        one.key: scene.pick(part(_SLOT_NAMES[one.slot], scene.split) or _SLOT_NAMES[one.slot]) for one in groups[name]
    }
    return events[name].noun, frozenset(short), short


def other_nest(scene: Scene, asked: Sequence[Field]) -> tuple[str, frozenset[str], dict[str, str]]:
    """Return an inner object for some fields, or an empty one."""
    if len(asked) < 4 or not scene.chance(0.1):
        return "", frozenset(), {}
    inside = scene.rng.sample([one.key for one in asked], scene.rng.randint(2, len(asked) - 2))
    return scene.pick(("details", "info", "data", "record", "meta", "particulars", "facts")), frozenset(inside), {}


def free_name(naming: Naming, words: str, taken: Mapping[str, Any]) -> str:
    """Return a name that no other field has."""
    name = naming.name(words)
    while name in taken:
        name += "2"
    return name


def object_schema(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object with these properties, all of them required."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name, one in properties.items() if "default" not in one],
        "additionalProperties": False,
    }
