"""Lists of values, in one line."""

from collections.abc import Sequence

from training.scene import Fact, Maker, Scene, Schema, kept


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
