"""A seed and a split enter; samples leave: a schema, a document and the answer that fills the schema from the document.

The facts are drawn first, then written, then asked for: an answer can only be wrong where a template is. Rejected:
having a large model label found texts, whose errors a small model would learn.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from training.records import HELD_OUT_KINDS, KINDS, WEIGHTS
from training.records.compound import object_schema
from training.records.invented import invented_kind
from training.records.kind import Kind
from training.records.labelled import CLASSIFICATIONS, SPAM
from training.records.layouts import FORMS, LAYOUTS, Layout, Slots, Story
from training.records.lists import Several, relatives, several_records
from training.values import Fact, Scene, Schema, new_scene
from training.words import Split, part

INSTRUCTIONS = (
    "Extract the fields.", "Extract the data from the text.", "Read the text and fill in the form.", "Return JSON.",
    "Find the values in the text.", "Fill in what the text states; use null for what it does not.", "Parse this.",
    "Answer with JSON only.", "Pull the details out of this message.", "Convert the text to the type below.",
    "Copy values exactly as they are written.", "Get the {kind} from the text.", "Extract the {kind}.",
    "Which {kind} is described here?", "Do not guess.", "Use only what is in the text.", "Dates must be ISO dates.",
    "Structure the following {kind}.", "You extract data for a database.", "Be precise.", "Read the {kind} below.",
)  # fmt: skip
INVENTED_SHARE = 0.2
_KINDS = tuple(KINDS.values())
_KIND_WEIGHTS = tuple(WEIGHTS.get(name, 1.4) for name in KINDS)
QUESTIONS = (
    "What is {gloss}?", "Find {gloss}.", "Extract {gloss}.", "Return the {name}.", "Which {name} is mentioned?",
    "Give me the {name} only.", "Answer with {gloss}.", "Get the {name} from the text.", "{name}?",
    "I need the {name}.", "Look for {gloss}.", "Tell me {gloss}.",
)  # fmt: skip
QUESTIONS_BY_NAME = (
    "Return the {name}.", "Which {name} is mentioned?", "Give me the {name} only.", "Get the {name} from the text.",
    "{name}?", "I need the {name}.", "{gloss}?", "Find the {name}.", "Find out {gloss}.", "Extract the {name}.",
    "Tell me {gloss}.", "The {name} is wanted.",
)  # fmt: skip
_OBSCURE = (
    "a",
    "b",
    "c",
    "x",
    "y",
    "z",
    "f1",
    "f2",
    "f3",
    "f4",
    "field_1",
    "field_2",
    "field_3",
    "col1",
    "col2",
    "value",
    "v1",
    "v2",
    "q1",
    "q2",
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One document with what is asked of it and the right answer."""

    kind: str
    schema: Schema
    document: str
    answer: Any
    instructions: str | None


@dataclass(frozen=True, slots=True)
class Question:
    """What a schema asks about a record: the fields in order, the name and the fragment of each."""

    names: Mapping[str, str]
    fragments: Mapping[str, Schema]


def samples(seed: int, split: Split) -> Iterator[Sample]:
    """Return an endless stream of samples; the same seed gives the same samples."""
    rng = random.Random(f"{seed} {split}")
    while True:
        yield sample(rng, split)


def sample(rng: random.Random, split: Split) -> Sample:
    """Return one sample of a split."""
    if split == "kinds":
        return record_sample(new_scene(rng, split), rng.choice(tuple(HELD_OUT_KINDS.values())))
    roll = rng.random()
    if roll < 0.03:
        return classified_sample(new_scene(rng, split))
    if roll < 0.055:
        return bare_sample(new_scene(rng, split), choose_kind(rng))
    if roll < 0.075:
        return relatives_sample(new_scene(rng, split))
    if roll < 0.12:
        scene = new_scene(rng, split)
        return list_sample(scene, invented_kind(scene) if rng.random() < INVENTED_SHARE else choose_kind(rng))
    if rng.random() < INVENTED_SHARE:
        scene = new_scene(rng, split)
        return record_sample(scene, invented_kind(scene))
    return record_sample(new_scene(rng, split), choose_kind(rng))


def choose_kind(rng: random.Random) -> Kind:
    """Return a training kind, drawn by weight."""
    return rng.choices(_KINDS, _KIND_WEIGHTS)[0]


# Single records


def record_sample(scene: Scene, kind: Kind) -> Sample:
    """Return a document about one record and a schema that asks for some of its fields."""
    rng = scene.rng
    layout = rng.choices(tuple(LAYOUTS), tuple(LAYOUTS.values()))[0]
    asked = choose_fields(scene, kind)
    absent = {key for key in asked if kind.fields[key].may_miss and rng.random() < (0.05 if key == kind.lead else 0.15)}
    stated = state_fields(scene, kind, layout, asked, absent)
    absent -= stated
    facts = {key: one.make(scene) for key, one in kind.fields.items() if key in stated or key in absent}
    for key in sorted(absent):
        facts[key] = without_value(scene, facts[key])
        if facts[key].value == [] and key in kind.phrasings[scene.split].none and rng.random() < 0.5:
            stated.add(key)
    question = ask(scene, kind, asked, facts)
    told = [key for key in facts if key in stated and not is_implied(scene, kind, key, stated, layout)]
    rng.shuffle(told)
    story = Story(
        kind, scene, {key: facts[key] for key in sorted(stated)}, tuple(sorted(absent - stated)), question.names
    )
    document = layout(story, told)
    schema, answer = assemble(scene, kind, question, facts)
    return Sample(kind.name, schema, document, answer, instruct(scene, kind.name))


def without_value(scene: Scene, fact: Fact) -> Fact:
    """Return a fact that the document does not give: null, or an empty list."""
    if fact.schema.get("type") == "array" and scene.chance(0.7):
        return replace(fact, value=[], text="none", rows=())
    return replace(fact, value=None)


def choose_fields(scene: Scene, kind: Kind, most: int = 8) -> list[str]:
    """Return the keys of the fields that are asked for, in a random order, likelier ones more often."""
    count = scene.rng.choices(range(1, most + 1), (3, 7, 13, 19, 21, 17, 11, 9)[:most])[0]
    return weighted_keys(scene, kind, count)


def weighted_keys(scene: Scene, kind: Kind, count: int, *, without: Sequence[str] = ()) -> list[str]:
    """Return distinct keys of fields, drawn by weight (Efraimidis and Spirakis, 2006)."""
    draw = scene.rng.random
    scored = [(draw() ** (1 / one.weight), key) for key, one in kind.fields.items() if key not in without]
    keys = [key for _, key in sorted(scored, reverse=True)[:count]]
    scene.rng.shuffle(keys)
    return keys


def state_fields(scene: Scene, kind: Kind, layout: Layout, asked: Sequence[str], absent: set[str]) -> set[str]:
    """Return what the document states: the fields asked for and not absent, what implies them, and some others."""
    stated = set(asked) - absent
    extra = scene.rng.choices((0, 1, 2, 3, 4, 5), (14, 20, 24, 20, 13, 9))[0]
    extra = max(3 - len(stated), min(extra, 9 - len(stated)), 0)
    stated.update(weighted_keys(scene, kind, extra, without=asked))
    if not stated:
        stated.add(scene.pick(asked))
    for key in sorted(stated):
        sources = kind.fields[key].implied_by
        if sources and stated.isdisjoint(sources) and not (layout in FORMS or kind.phrasings[scene.split].alone[key]):
            stated.add(sources[0])
    implied = {key for key in asked if not stated.isdisjoint(kind.fields[key].implied_by)}
    return stated | implied


def is_implied(scene: Scene, kind: Kind, key: str, stated: set[str], layout: Layout) -> bool:
    """Return whether a field needs no words of its own."""
    sources = kind.fields[key].implied_by
    if not sources or stated.isdisjoint(sources):
        return False
    return layout in FORMS or not kind.phrasings[scene.split].alone[key] or scene.chance(0.7)


def ask(scene: Scene, kind: Kind, asked: Sequence[str], facts: Mapping[str, Fact]) -> Question:
    """Return the names and the schemas of the fields asked for; what is absent may be null."""
    names: dict[str, str] = {}
    fragments: dict[str, Schema] = {}
    for key in asked:
        name = scene.field_name(scene.pick(kind.names[key]))
        described = scene.chance(0.1)
        if scene.chance(0.005):
            name, described = scene.pick(_OBSCURE), True
        while name in names.values():
            name += "2"
        names[key] = name
        fragments[key] = fragment(scene, name, facts[key], kind.fields[key].gloss if described else "")
    return Question(names, fragments)


def fragment(scene: Scene, name: str, fact: Fact, gloss: str) -> Schema:
    """Return the schema of one field."""
    schema: Schema = dict(fact.schema)
    if fact.value is None or (fact.schema.get("type") != "array" and scene.chance(0.35)):
        schema = {"anyOf": [schema, {"type": "null"}]}
        if scene.chance(0.7):
            schema["default"] = None
    if gloss:
        schema["description"] = gloss[:1].upper() + gloss[1:] + "." if scene.chance(0.5) else gloss
    schema["title"] = name.replace("_", " ").title()
    return schema


def assemble(scene: Scene, kind: Kind, question: Question, facts: Mapping[str, Fact]) -> tuple[Schema, Any]:
    """Return the schema and the answer, with a group of fields in an object of their own now and then."""
    properties: dict[str, Schema] = {}
    answer: dict[str, Any] = {}
    inner = choose_nest(scene, kind, question)
    inner_name, inner_keys = inner or ("", frozenset())
    for key, name in question.names.items():
        if key not in inner_keys:
            properties[name], answer[name] = question.fragments[key], facts[key].value
        elif inner_name not in properties:
            nested = [(other, question.names[other]) for other in question.names if other in inner_keys]
            properties[inner_name] = object_schema(
                inner_name.title(), {shown: question.fragments[other] for other, shown in nested}
            )
            answer[inner_name] = {shown: facts[other].value for other, shown in nested}
    return object_schema(scene.field_name(kind.name.replace("_", " ")).title().replace("_", ""), properties), answer


def choose_nest(scene: Scene, kind: Kind, question: Question) -> tuple[str, frozenset[str]] | None:
    """Return the name and the keys of an inner object, or nothing."""
    fitting = []
    for names, keys in kind.nests:
        inside = frozenset(keys) & question.names.keys()
        name = scene.field_name(scene.pick(names))
        if len(inside) > 1 and name not in question.names.values():
            fitting.append((name, inside))
    return scene.rng.choice(fitting) if fitting and scene.chance(0.5) else None


# Several records


def list_sample(scene: Scene, kind: Kind) -> Sample:
    """Return a document about one to four records, all of which are asked for."""
    rng = scene.rng
    plain = [key for key, one in kind.fields.items() if key != kind.lead and one.plain and not one.implied_by]
    if not plain:
        return record_sample(scene, kind)
    others = rng.sample(plain, min(len(plain), rng.choices((1, 2, 3), (30, 45, 25))[0]))
    keys = [kind.lead, *others]
    if not kind.fields[kind.lead].plain:
        keys = others or plain[:1]
    names = {key: scene.field_name(scene.pick(kind.names[key])) for key in keys}
    maybe = frozenset(key for key in others[1:] if scene.chance(0.35))
    several = several_records(scene, kind, keys, names, maybe)
    asked = rng.sample(keys, max(1, len(keys) - (1 if scene.chance(0.2) and len(keys) > 2 else 0)))
    return listed(scene, kind.name, kind.plural, {key: names[key] for key in asked}, several, maybe)


def relatives_sample(scene: Scene) -> Sample:
    """Return a text about several people and a schema for all of them."""
    keys = scene.rng.sample(("age", "city", "job"), scene.rng.choices((1, 2, 3), (50, 30, 20))[0])
    maybe = frozenset(key for key in keys[1:] if scene.chance(0.7))
    person = KINDS["person"]
    names = {key: scene.field_name(scene.pick(person.names[key])) for key in ("name", *keys)}
    if scene.chance(0.3):
        names = dict(reversed(names.items()))
    return listed(scene, "person", person.plural, names, relatives(scene, keys, maybe), maybe)


def listed(
    scene: Scene, noun: str, plural: Sequence[str], names: Mapping[str, str], several: Several, maybe: frozenset[str]
) -> Sample:
    """Return the sample for several records: a list, or an object with a list in it."""
    fragments: dict[str, Schema] = {}
    for key, name in names.items():
        drawn = next((row[key] for row in several.rows if key in row), None)
        schema: Schema = dict(drawn.schema) if drawn else {"type": "string"}
        schema.pop("minimum", None)
        if key in maybe:
            schema = {"anyOf": [schema, {"type": "null"}]}
        fragments[name] = {**schema, "title": name.replace("_", " ").title()}
    item = object_schema(noun.replace("_", " ").title().replace(" ", ""), fragments)
    answer = [{name: row[key].value if key in row else None for key, name in names.items()} for row in several.rows]
    array: Schema = {"items": item, "type": "array"}
    if scene.chance(0.55):
        return Sample(noun, array, several.document, answer, instruct(scene, noun))
    outer = scene.field_name(scene.pick(plural))
    return Sample(
        noun, object_schema("Result", {outer: array}), several.document, {outer: answer}, instruct(scene, noun)
    )


# Bare values and classes


def bare_sample(scene: Scene, kind: Kind) -> Sample:
    """Return a document and an instruction that asks for one value of it, which alone is the answer."""
    plain = [key for key, one in kind.fields.items() if one.plain and not one.implied_by]
    key = scene.pick(plain)
    layout = scene.rng.choices(tuple(LAYOUTS), tuple(LAYOUTS.values()))[0]
    stated = {key, kind.lead, *weighted_keys(scene, kind, scene.rng.randint(1, 4), without=(key,))}
    facts = {other: one.make(scene) for other, one in kind.fields.items() if other in stated}
    told = [other for other in facts if not is_implied(scene, kind, other, stated, layout) or layout in FORMS]
    scene.rng.shuffle(told)
    document = layout(Story(kind, scene, facts, (), {}), told)
    gloss = kind.fields[key].gloss
    questions = QUESTIONS if gloss.startswith("the ") else QUESTIONS_BY_NAME
    asking = scene.pick(part(questions, scene.split)).format(gloss=gloss, name=scene.pick(kind.names[key]))
    return Sample(kind.name, facts[key].schema, document, facts[key].value, asking)


def classified_sample(scene: Scene) -> Sample:
    """Return a short text and the question to which class it belongs, alone or as the field of an object."""
    asked = scene.rng.choice(CLASSIFICATIONS)
    label = scene.pick(tuple(asked.sentences))
    pool = part(asked.sentences[label], scene.split)
    texts = scene.rng.sample(pool, min(len(pool), scene.rng.randint(1, 3)))
    document = " ".join(text.format_map(Slots({}, scene)) for text in texts)
    if asked is SPAM:
        schema: Schema = {"type": "boolean"}
        answer: Any = label == "true"
    else:
        kept = [other for other in asked.sentences if other == label or scene.chance(0.7)]
        scene.rng.shuffle(kept)
        style = scene.rng.choices((str, str.lower, str.upper, str.capitalize), (55, 20, 15, 10))[0]
        schema, answer = {"enum": [style(other) for other in kept], "type": "string"}, style(label)
    asking = scene.pick(part(asked.instructions, scene.split))
    if scene.chance(0.5):
        return Sample("classification", schema, document, answer, asking)
    name = scene.field_name(scene.pick(asked.names))
    wrapped = object_schema("Label", {name: {**schema, "title": name.title()}})
    return Sample("classification", wrapped, document, {name: answer}, asking if scene.chance(0.3) else None)


def instruct(scene: Scene, noun: str) -> str | None:
    """Return a line of instructions for one sample in seven."""
    if not scene.chance(0.15):
        return None
    return scene.pick(part(INSTRUCTIONS, scene.split)).replace(
        "{kind}", "record" if noun == "generic" else noun.replace("_", " ")
    )
