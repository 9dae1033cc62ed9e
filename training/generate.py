"""Samples: a schema, a document and the answer that fills the schema from the document, by a seed and a split.

The facts are drawn first, then written, then asked for: an answer can only be wrong where a predicate is. Rejected:
having a large model label found texts, whose errors a small model would learn.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.filler import lengthened
from training.finishing import finished
from training.inflection import is_plural
from training.invented import augmented, invented_kind
from training.kind import Field, Kind, Record
from training.kinds import KINDS, UNSEEN
from training.layouts import layout_for, prose
from training.messages import message
from training.names import family_first
from training.quantities import currency_schema
from training.questions import Naming, add, ask, free_name, new_naming, nullable, object_schema
from training.scene import Fact, Scene, Schema, new_scene
from training.splits import Split, part
from training.story import Story
from training.tables import each_as_a_form, each_in_a_line, each_in_prose, table

MAX_CHARACTERS = 2_600
"""Of a document; with its type and its answer it then stays below 2,048 tokens."""

INVENTED_SHARE = 0.36
LONG_SHARE = 0.13
AUGMENTED_SHARE = 0.35
"""Of the known kinds: those with fields that they do not list."""

_KNOWN = tuple(KINDS.values())
_NOUNS = tuple(noun for kind in _KNOWN for noun in kind.nouns)
INSTRUCTIONS = (
    "Extract the fields.", "Extract the data from the text.", "Read the text and fill in the form.", "Return JSON.",
    "Find the values in the text.", "Fill in what the text states; use null for what it does not.", "Parse this.",
    "Answer with JSON only.", "Pull the details out of this message.", "Convert the text to the type below.",
    "Copy values exactly as they are written.", "Get the {kind} from the text.", "Extract the {kind}.",
    "Which {kind} is described here?", "Do not guess.", "Use only what is in the text.", "Dates must be ISO dates.",
    "Structure the following {kind}.", "You extract data for a database.", "Be precise.", "Read the {kind} below.",
)  # fmt: skip
QUESTIONS = (
    "What is {gloss}?", "Find {gloss}.", "Extract {gloss}.", "Return the {name}.", "Which {name} is mentioned?",
    "Give me the {name} only.", "Answer with {gloss}.", "Get the {name} from the text.", "{name}?",
    "I need the {name}.", "Look for {gloss}.", "Tell me {gloss}.",
)  # fmt: skip
ONLY = (
    "Only the {what}.", "Extract only the {what}.", "The {what} is wanted.", "Give me the {what}.",
    "Ignore all but the {what}.", "The record of the {what}.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sample:
    """One document with what is asked of it and the right answer."""

    kind: str
    schema: Schema
    document: str
    answer: Any
    instructions: str | None


_STYLES: tuple[Callable[[str], str], ...] = (str, str.upper, str.title, lambda text: text.replace(" ", "_"))


def samples(seed: int, split: Split, difficulty: float = 1.0) -> Iterator[Sample]:
    """Return an endless stream of samples; the same seed gives the same samples.

    A `difficulty` of 1 gives all there is. Less of it gives fewer fields, lists, long texts, slips, corrections and
    values of others; at 0 there are at most three fields of one record, and nothing beside the point.
    """
    rng = random.Random(f"{seed} {split}")
    while True:
        yield sample(rng, split, difficulty)


def sample(rng: random.Random, split: Split, difficulty: float = 1.0) -> Sample:
    """Return one sample of a split."""
    while True:
        made = _sample(new_scene(rng, split, difficulty))
        if len(made.document) <= MAX_CHARACTERS:
            return made


def _sample(scene: Scene) -> Sample:
    roll = scene.rng.random()
    if roll < 0.08 * scene.difficulty and scene.split != "kinds":
        return classified(scene)
    kind = choose_kind(scene)
    if not scene.seldom(1):
        return record(scene, kind)
    if roll < 0.07:
        return kind_of_document(scene, kind)
    if roll < 0.14:
        return single_value(scene, kind)
    if roll < 0.26:
        return several_records(scene, kind)
    if roll < 0.31:
        return one_of_several(scene, kind)
    return record(scene, kind)


def choose_kind(scene: Scene) -> Kind:
    """Return a kind of the split, made up at random in more than a third of the cases."""
    if scene.split == "kinds":
        return scene.pick(tuple(UNSEEN.values()))
    if scene.chance(INVENTED_SHARE):
        return invented_kind(scene)
    kind = scene.pick(_KNOWN)
    return augmented(scene, kind) if scene.chance(AUGMENTED_SHARE) else kind


# One record


def record(scene: Scene, kind: Kind) -> Sample:
    """Return a document about one record and a schema that asks for some of its fields."""
    count = scene.rng.choices(range(1, 10), (6, 12, 18, 19, 16, 12, 8, 5, 4))[0]
    story, asked = draw_story(scene, kind, min(count, 3 + round(6 * scene.difficulty)))
    document = write(scene, story)
    facts = {one.key: fact for one, fact in story.facts}
    schema, answer = ask(scene, kind, asked, facts)
    if scene.seldom(0.07):
        document = beside(scene, story, document, asked)
        schema["description"] = f"The {kind.nouns[0]} only."
    add_currency(scene, asked, facts, schema, answer)
    add_noun(scene, kind, document, schema, answer)
    return Sample(kind.name, schema, document, answer, instruct(scene, kind))


def write(scene: Scene, story: Story) -> str:
    """Return the document of a story, in some layout."""
    return finished(scene, among_others(story, layout_for(scene)(story)))


def among_others(story: Story, document: str) -> str:
    """Return a document, in one of eight cases as a few lines in a much longer text."""
    if not story.scene.seldom(LONG_SHARE):
        return document
    return lengthened(story, document, story.scene.rng.randint(120, 330))


def beside(scene: Scene, story: Story, document: str, asked: Sequence[Field]) -> str:
    """Return a document with a few facts of another kind before or after it, none of which an asked field may mean."""
    other = choose_kind(scene)
    taken = {word for one in asked for label in one.labels.entries for word in label.split()}
    sorts = {one.sort for one in story.absent}
    free = [
        one.key
        for one in other.fields.values()
        if one.sort not in sorts | {"rows"}
        and not taken & {word for label in one.labels.entries for word in label.split()}
    ]
    if other.name == story.kind.name or len(free) < 2:
        return document
    facts = draw_facts(scene, other, scene.rng.sample(free, min(len(free), scene.rng.randint(2, 3))))
    lead = next((pair for pair in facts if pair[0].key == other.lead), None)
    text = finished(scene, prose(Story(other, scene, facts, lead, story.absent)))
    return f"{document}\n\n{text}" if scene.chance(0.6) else f"{text}\n\n{document}"


def draw_story(scene: Scene, kind: Kind, count: int) -> tuple[Story, list[Field]]:
    """Return what a document tells, and the fields that are asked for, of which some may be absent."""
    rng = scene.rng
    keys = list(kind.fields)
    asked_keys = rng.sample(keys, min(len(keys), count))
    if kind.lead and kind.lead not in asked_keys and scene.chance(0.35):
        asked_keys[0] = kind.lead
    absent = [key for key in asked_keys if scene.chance(0.05 if key == kind.lead else 0.12)]
    told = [key for key in asked_keys if key not in absent]
    extra = round(rng.choices((0, 1, 2, 3, 4, 6, 9), (14, 21, 24, 18, 12, 7, 4))[0] * max(0.3, scene.difficulty))
    others = [key for key in keys if key not in asked_keys]
    told += rng.sample(others, min(len(others), max(extra, 2 - len(told))))
    if kind.lead and kind.lead not in told and kind.lead not in absent and scene.chance(0.5):
        told.append(kind.lead)
    if not told:
        told, absent = absent[:1], absent[1:]
    rng.shuffle(told)
    if kind.lead in told and scene.chance(0.7):
        told.remove(kind.lead)
        told.insert(0, kind.lead)
    facts = draw_facts(scene, kind, told)
    lead = next((pair for pair in facts if pair[0].key == kind.lead), None)
    asked = [kind.fields[key] for key in asked_keys]
    return Story(kind, scene, facts, lead, [kind.fields[key] for key in absent]), asked


def draw_facts(scene: Scene, kind: Kind, keys: Sequence[str]) -> Record:
    """Return facts for some fields; no two have the same text or one that holds another."""
    facts: Record = []
    register = scene.chance(0.02)
    for key in keys:
        one = kind.fields[key]
        fact = one.make(scene)
        for _ in range(5):
            if one.sort in ("flag", "choice") or all(other.text != fact.text for _, other in facts):
                break
            fact = one.make(scene)
        facts.append((one, family_first(scene, fact) if register and fact.others and fact.sort == "agent" else fact))
    return facts


def add_currency(scene: Scene, asked: Sequence[Field], facts: Mapping[str, Fact], schema: Schema, answer: Any) -> None:
    """Ask for the currency as well now and then, where an amount tells it."""
    tells = len(asked) < 3 + 6 * scene.difficulty and any(one.sort == "money" and one.key in facts for one in asked)
    if not tells or scene.money_style == "bare" or not scene.chance(0.12):
        return
    name = free_name(Naming(scene, "snake"), scene.pick(("currency", "currency code")), schema["properties"])
    schema["properties"][name] = currency_schema(scene)
    schema["required"] = [*schema["required"], name]
    answer[name] = scene.currency


def add_noun(scene: Scene, kind: Kind, document: str, schema: Schema, answer: Any) -> None:
    """Ask now and then what sort of thing the record is, if the document calls it so: flat, house or studio."""
    lowered = document.lower()
    said = [noun for noun in kind.nouns if re.search(rf"\b{re.escape(noun)}\b", lowered)]
    others = [noun for noun in scene.rng.sample(_NOUNS, 4) if noun not in lowered and noun not in kind.nouns]
    name = scene.pick(("kind", "type", "category", "object_type", "record_type", "what", "sort", "documentType"))
    if len(said) != 1 or not others or name in schema["properties"] or not scene.seldom(0.06):
        return
    listed = [said[0], *others]
    scene.rng.shuffle(listed)
    style = scene.pick(_STYLES)
    schema["properties"][name] = {"enum": [style(one) for one in listed], "type": "string"}
    schema["required"] = [*schema["required"], name]
    answer[name] = style(said[0])


def instruct(scene: Scene, kind: Kind) -> str | None:
    """Return a line of instructions for one sample in seven."""
    if not scene.chance(0.15):
        return None
    return scene.pick(part(INSTRUCTIONS, scene.split)).replace("{kind}", scene.pick(kind.nouns))


# Several records


def draw_records(scene: Scene, kind: Kind, low: int, high: int) -> tuple[list[Record], list[Field]]:
    """Return two or more records of a kind with the same fields, some of which a record may lack."""
    rng = scene.rng
    plain = [one for one in kind.fields.values() if one.sort != "rows" and one.key != kind.lead]
    chosen = rng.sample(plain, min(len(plain), rng.choices((1, 2, 3, 4), (20, 38, 28, 14))[0]))
    lead = kind.fields.get(kind.lead)
    fields = [lead, *chosen] if lead else chosen
    maybe = {one.key for one in chosen[1:] if scene.chance(0.25)}
    records: list[Record] = []
    for _ in range(rng.randint(low, high)):
        keys = [one.key for one in fields if one.key not in maybe or scene.chance(0.7)]
        facts = draw_facts(scene, kind, keys)
        if all(facts[0][1].text != other[0][1].text for other in records):
            records.append(facts)
    return records, fields


def write_records(scene: Scene, kind: Kind, records: list[Record], fields: Sequence[Field]) -> str:
    """Return a document about several records."""
    absent = [one for one in fields if any(one.key not in {other.key for other, _ in record} for record in records)]
    story = Story(kind, scene, [], None, absent)
    roll = scene.rng.random()
    has_lead = bool(kind.lead)
    if roll < 0.3 or not has_lead:
        text = table(story, records, fields)
        if scene.chance(0.15):
            text = f"{scene.pick(kind.plurals).title()}\n\n{text}"
    elif roll < 0.62:
        text = each_in_prose(story, records)
    elif roll < 0.85:
        text = each_in_a_line(story, records)
    else:
        text = each_as_a_form(story, records)
    return finished(scene, among_others(story, text))


def several_records(scene: Scene, kind: Kind) -> Sample:
    """Return a document about one to five records, all of which are asked for."""
    records, fields = draw_records(scene, kind, 1, 5)
    document = write_records(scene, kind, records, fields)
    asked = scene.rng.sample(fields, max(1, len(fields) - (1 if scene.chance(0.25) else 0)))
    if (chosen := filtered(scene, kind, records)) and scene.chance(0.5):
        kept, asking = chosen
        schema, answer = all_of(scene, kind, asked, kept)
        return Sample(kind.name, schema, document, answer, asking)
    instructions: str | None
    if len(asked) == 1 and asked[0].sort not in ("flag", "choice", "list") and scene.chance(0.4):
        schema, answer, instructions = one_column(scene, asked[0], records)
    else:
        schema, answer = all_of(scene, kind, asked, records)
        instructions = instruct(scene, kind)
    if scene.chance(0.5) or "properties" in schema:
        return Sample(kind.name, schema, document, answer, instructions)
    name = new_naming(scene).name(scene.pick(kind.plurals))
    return Sample(kind.name, object_schema({name: schema}), document, {name: answer}, instructions)


def filtered(scene: Scene, kind: Kind, records: list[Record]) -> tuple[list[Record], str] | None:
    """Return the records for which a flag or a choice has one value, and the words that ask for them."""
    flags = [{one.key: (one, fact) for one, fact in record if one.sort in ("flag", "choice")} for record in records]
    shared = [key for key in flags[0] if all(key in one for one in flags)]
    if not shared:
        return None
    key = scene.pick(shared)
    one, wanted = scene.pick(flags)[key]
    chosen = [record for record, has in zip(records, flags, strict=True) if has[key][1].value == wanted.value]
    plural = scene.pick(kind.plurals)
    if one.sort == "choice":
        what = f"{plural} whose {one.label(scene)} is {wanted.value.replace('_', ' ')}"
    else:
        what = f"{plural} for which this is {'true' if wanted.value else 'false'}: {one.label(scene)}"
    return chosen, scene.pick((f"Only the {what}.", f"List the {what}.", f"Leave out all but the {what}."))


def one_column(scene: Scene, one: Field, records: Sequence[Record]) -> tuple[Schema, Any, str]:
    """Return the question for one field of all records as a plain list."""
    facts = [fact for facts in records for field, fact in facts if field.key == one.key]
    label = scene.pick((one.words if one.words.entries else one.labels).some(scene.split))
    asking = scene.pick(
        (f"List every {label}.", f"All values of {label}.", f"The {label} of each.", f"Collect the {label} of all.")
    )
    item = facts[0].schema if facts else one.make(scene).schema
    return {"items": item, "type": "array"}, [fact.value for fact in facts], asking


def all_of(scene: Scene, kind: Kind, asked: Sequence[Field], records: Sequence[Record]) -> tuple[Schema, Any]:
    """Return the question for some fields of every record; what a record lacks is null."""
    naming = new_naming(scene)
    properties: dict[str, Schema] = {}
    names: dict[str, str] = {}
    for one in asked:
        facts = [fact for record_ in records for field, fact in record_ if field.key == one.key]
        add(scene, naming, kind, one, facts[0] if facts else one.make(scene), properties, {}, others=asked, plain=True)
        name = names[one.key] = next(reversed(properties))
        if len(facts) < len(records):
            properties[name] = nullable(properties[name])
    answer = []
    for record_ in records:
        facts_of = {one.key: fact for one, fact in record_}
        answer.append({name: _spelled(properties[name], facts_of.get(key)) for key, name in names.items()})
    return {"items": object_schema(properties), "type": "array"}, answer


def _spelled(schema: Schema, fact: Fact | None) -> Any:
    """Return the answer for one field, with a choice in the spelling of its schema."""
    if fact is None or fact.sort != "choice":
        return fact and fact.value
    listed = next((one for one in schema.get("anyOf", (schema,)) if "enum" in one), schema)["enum"]
    return next(one for one in listed if one.lower().replace(" ", "_") == fact.value)


def one_of_several(scene: Scene, kind: Kind) -> Sample:
    """Return a document about several records and a question about one, which the type or the instructions name."""
    records, fields = draw_records(scene, kind, 2, 4)
    if len(records) < 2 or len(fields) < 2:
        return record(scene, kind)
    document = write_records(scene, kind, records, fields)
    at = scene.rng.randrange(len(records))
    facts = {one.key: fact for one, fact in records[at]}
    noun = scene.pick(kind.nouns)
    named = next((one for one in fields if one.key in facts and one.sort in ("agent", "code", "text", "place")), None)
    if named and scene.chance(0.75):
        what = (
            f"{noun} {facts[named.key].text}"
            if named.key == kind.lead
            else f"{noun} whose {named.label(scene)} is {facts[named.key].text}"
        )
        unique = sum(any(fact.text == facts[named.key].text for _, fact in other) for other in records) == 1
        if not unique:
            return several_records(scene, kind)
    else:
        ordinal = ("first", "second", "third", "fourth")[at]
        named, what = None, f"{ordinal if at < len(records) - 1 or scene.chance(0.4) else 'last'} {noun}"
    asked = [one for one in fields if named is None or one.key != named.key]
    asked = scene.rng.sample(asked, scene.rng.randint(1, len(asked)))
    schema, answer = ask(scene, kind, asked, facts)
    asking = scene.pick(part(ONLY, scene.split)).format(what=what)
    if scene.chance(0.4):
        schema["description"] = asking
        return Sample(kind.name, schema, document, answer, instruct(scene, kind))
    return Sample(kind.name, schema, document, answer, asking)


# Single values and classes


def single_value(scene: Scene, kind: Kind) -> Sample:
    """Return a document and an instruction that asks for one value of it, which alone is the answer."""
    fitting = [one for one in kind.fields.values() if one.sort not in ("rows", "flag", "choice")]
    one = scene.pick(fitting)
    story, _ = draw_story(scene, kind, scene.rng.randint(1, 5))
    if one.key not in {other.key for other, _ in story.facts}:
        story.facts.insert(scene.rng.randint(0, len(story.facts)), draw_facts(scene, kind, [one.key])[0])
        story.absent = [other for other in story.absent if other.key != one.key]
        story.lead = next((pair for pair in story.facts if pair[0].key == kind.lead), None)
    fact = next(fact for other, fact in story.facts if other.key == one.key)
    name = scene.pick((one.words if one.words.entries else one.labels).some(scene.split))
    gloss = one.gloss if one.gloss.startswith("the ") else f"the {name}"
    document = write(scene, story)
    asking = scene.pick(part(QUESTIONS, scene.split)).format(gloss=gloss, name=name)
    asking = asking.replace(" is ", " are ") if is_plural(name) else asking
    return Sample(kind.name, fact.schema, document, fact.value, asking[:1].upper() + asking[1:])


def kind_of_document(scene: Scene, kind: Kind) -> Sample:
    """Return a document and a choice of what it is about."""
    story, _ = draw_story(scene, kind, 3)
    if kind.name not in KINDS and kind.name not in UNSEEN:
        kind = scene.pick(tuple(KINDS.values()))
        story, _ = draw_story(scene, kind, 3)
    others = [one for one in (*KINDS, *UNSEEN) if (one in KINDS) == (kind.name in KINDS) and one != kind.name]
    options = [kind.name, *scene.rng.sample(others, scene.rng.randint(1, 5))]
    scene.rng.shuffle(options)
    style = scene.pick(_STYLES)
    schema: Schema = {"enum": [style(one) for one in options], "type": "string"}
    asking = scene.pick(
        (
            "What is this about?",
            "Which kind of document is it?",
            "Classify the document.",
            "What does the text describe?",
        )
    )
    document = write(scene, story)
    return Sample("classification", schema, document, style(kind.name), asking if scene.chance(0.6) else None)


def classified(scene: Scene) -> Sample:
    """Return a short message and the question to which class it belongs, alone or as the field of an object."""
    asked = message(scene)
    schema: Schema = {"type": "boolean"}
    answer = asked.answer
    if isinstance(answer, str):
        style = scene.rng.choices((str, str.lower, str.upper, str.capitalize), (55, 20, 15, 10))[0]
        schema = {"enum": [style(one) for one in asked.options], "type": "string"}
        answer = style(answer)
    if scene.chance(0.5):
        return Sample("classification", schema, asked.text, answer, asked.question)
    instructions = asked.question if scene.chance(0.3) else None
    return Sample("classification", object_schema({asked.name: schema}), asked.text, {asked.name: answer}, instructions)
