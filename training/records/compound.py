"""Makers of single values enter; makers of choices, flags, lists and lists of objects leave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from training.values import Fact, Maker, Scene, Schema, text_fact
from training.words import by_comma, part


def choice(members: Mapping[str, str]) -> Maker:
    """Return a maker of one of several members, each given with the words (by commas) that stand for it in a text."""
    spelled = {member: by_comma(words) for member, words in members.items()}

    def make(scene: Scene) -> Fact:
        member = scene.pick(tuple(spelled))
        word = scene.pick(spelled[member])
        if scene.chance(0.15):
            return text_fact(word)
        kept = [other for other in spelled if other == member or scene.chance(0.85)]
        scene.rng.shuffle(kept)
        style = scene.rng.choices((str.lower, str.upper, str.capitalize), (75, 15, 10))[0]
        joint = scene.pick(("_", "_", "-", " "))
        shown = {other: style(other.replace(" ", joint)) for other in kept}
        return Fact(word, shown[member], {"enum": list(shown.values()), "type": "string"}, member)

    return make


def flag(likely: float = 0.5) -> Maker:
    """Return a maker of yes and no."""

    def make(scene: Scene) -> Fact:
        value = scene.chance(likely)
        return Fact(
            scene.pick(("yes", "Yes", "true", "yes", "✓", "Y") if value else ("no", "No", "false", "no", "✗", "N")),
            value,
            {"type": "boolean"},
            "true" if value else "false",
        )

    return make


def join_words(scene: Scene, words: Sequence[str]) -> str:
    """Return words as a list in a sentence: "red, green and blue"."""
    if len(words) < 2:
        return "".join(words)
    last = scene.pick((" and ", " and ", " and ", ", ", ", and ", " & "))
    if len(words) == 2 and last == ", and ":
        last = " and "
    return f"{', '.join(words[:-1])}{last}{words[-1]}"


def several(make_one: Maker, fewest: int = 1, most: int = 4) -> Maker:
    """Return a maker of lists of strings without repetition."""

    def make(scene: Scene) -> Fact:
        facts = {fact.text: fact for fact in (make_one(scene) for _ in range(scene.rng.randint(fewest, most)))}
        values = [fact.value for fact in facts.values()]
        item = next(iter(facts.values())).schema
        return Fact(join_words(scene, list(facts)), values, {"items": item, "type": "array"})

    return make


@dataclass(frozen=True, slots=True)
class Part:
    """One field of the objects in a list: its maker and the names it may have in a schema."""

    make: Maker
    names: tuple[str, ...]


def part_of(make: Maker, names: str) -> Part:
    """Return a field of a listed object; its names are written with commas."""
    return Part(make, by_comma(names))


def records(parts: Mapping[str, Part], templates: Sequence[str], fewest: int = 1, most: int = 3) -> Maker:
    """Return a maker of lists of objects.

    All objects are written by one of the templates, which state all of the parts; the schema asks for some of them, in
    any order.
    """

    def make(scene: Scene) -> Fact:
        rng = scene.rng
        asked = rng.sample(tuple(parts), rng.choices((len(parts), max(1, len(parts) - 1)), (75, 25))[0])
        names = {key: scene.field_name(scene.pick(parts[key].names)) for key in asked}
        listed = part(templates, scene.split)
        template, texts, values = scene.pick(listed), [], []
        facts: dict[str, Fact] = {}
        for _ in range(rng.randint(fewest, most)):
            facts = {key: one.make(scene) for key, one in parts.items()}
            texts.append(template.format_map(facts))
            values.append({names[key]: facts[key].value for key in asked})
        item = object_schema("Item", {names[key]: facts[key].schema for key in asked})
        return Fact(join_words(scene, texts), values, {"items": item, "type": "array"}, rows=tuple(texts))

    return make


def object_schema(title: str, properties: dict[str, Schema]) -> Schema:
    """Return the schema of an object, as Pydantic writes it."""
    return {"properties": properties, "required": list(properties), "title": title, "type": "object"}
