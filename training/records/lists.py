"""A scene enters; a document about several records leaves, with what each record says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from training.records.compound import join_words
from training.records.kind import Kind, lines, states
from training.records.layouts import Story, label, sentences, write_table
from training.values import Fact, Scene, city, from_pool, full_name, integer, text_fact
from training.words import Split, part


@dataclass(frozen=True, slots=True)
class Several:
    """A document about several records: the facts of each, where a key may be missing."""

    document: str
    rows: tuple[Mapping[str, Fact], ...]


OPENINGS = lines("""
{name} is {age}
{name} ({age})
{name} is {age} years old
{name}, {age}
{name} turned {age}
{name} is now {age}
{name} lives in {city}
{name} is from {city}
{name} ({city})
{name} moved to {city}
{name}, {city}
{name} stays in {city}
{name} is {job:a}
{name} works as {job:a}
{name} ({job})
{name} earns a living as {job:a}
{name}, {job}
{name} became {job:a}
{name} is {age} and lives in {city}
{name}, {age}, is from {city}
{name} ({age}, {city})
{name} from {city} is {age}
{name} is {age}, from {city}
{name} lives in {city} and is {age} years old
{name} is {job:a} in {city}
{name} lives in {city} and works as {job:a}
{name}, {job:a} from {city}
{name} from {city} is {job:a}
{name} ({job}, {city})
{name} works in {city} as {job:a}
{name} is {age} and works as {job:a}
{name}, {age}, is {job:a}
{name} is {job:a} and {age} years old
{name} ({age}), {job:a}
{name} is {age}, {job:a}
{name} is a {age}-year-old {job}
{name} is {age}, {job:a} from {city}
{name}, {age}, works as {job:a} in {city}
{name} is {age}, lives in {city} and works as {job:a}
{name} ({age}) is {job:a} in {city}
{name} is a {age}-year-old {job} from {city}
{name}, {job:a} in {city}, is {age}
""")
"""What a text may tell of a first person."""

FOLLOWING = lines("""
{link} {name} {age}
{link} {name} is {age}
{link} {name} ({age})
{link} {name}, {age}
{link} {name} turned {age}
{link} {name} is just {age}
{link} {name} in {city}
{link} {name} is from {city}
{link} {name} ({city})
{link} {name} lives in {city}
{link} {name}, {city}
{link} {name} stays in {city}
{link} {name} {job:a}
{link} {name} is {job:a}
{link} {name} ({job})
{link} {name} works as {job:a}
{link} {name}, {job}
{link} {name} became {job:a}
{link} {name} is {age} and lives in {city}
{link} {name}, {age}, is from {city}
{link} {name} ({age}, {city})
{link} {name} from {city} is {age}
{link} {name} is {age}, from {city}
{link} {name}, {age}, lives in {city}
{link} {name} is {job:a} in {city}
{link} {name} lives in {city} and works as {job:a}
{link} {name}, {job:a} from {city}
{link} {name} from {city} is {job:a}
{link} {name} ({job}, {city})
{link} {name} works as {job:a} in {city}
{link} {name} is {age} and works as {job:a}
{link} {name}, {age}, is {job:a}
{link} {name} is {job:a} and {age} years old
{link} {name} ({age}), {job:a}
{link} {name} is {age}, {job:a}
{link} {name} is a {age}-year-old {job}
{link} {name} is {age}, {job:a} in {city}
{link} {name}, {age}, works as {job:a} in {city}
{link} {name} is {age}, lives in {city} and works as {job:a}
{link} {name} ({age}) is {job:a} in {city}
{link} {name} is a {age}-year-old {job} in {city}
{link} {name}, {job:a} from {city}, is {age}
""")
"""How it goes on with the others."""

LINKS = lines("""
his sister
her brother
their cousin
his friend
her neighbour
his colleague
their son
their daughter
his wife
her husband
their aunt
their uncle
""")
_MAKERS = {"age": integer(3, 95, words=0.15), "city": city, "job": from_pool("jobs")}


def relatives(scene: Scene, keys: Sequence[str], maybe: frozenset[str]) -> Several:
    """Return a text about a few people: "Jason is 25, his sister Ana 31."; some of `maybe` are missing."""
    links = part(LINKS, scene.split)
    rows, clauses = [], []
    for position in range(scene.rng.randint(1, 4)):
        told = {key for key in keys if key not in maybe or scene.chance(0.6)}
        fitting = _tellings(FOLLOWING if position else OPENINGS, scene.split, frozenset(told))
        given, family = full_name(scene)
        name = text_fact(given if scene.chance(0.6) else f"{given} {family}")
        facts = {key: _MAKERS[key](scene) for key in sorted(told)}
        link = scene.pick(links) if scene.chance(0.8) else ""
        clauses.append(scene.pick(fitting).format(name=name, link=link, **facts).strip())
        rows.append({"name": name, **facts})
    if len(keys) > 1 or scene.chance(0.3):
        joined = " ".join(f"{clause[:1].upper()}{clause[1:]}." for clause in clauses)
    else:
        joined = join_words(scene, clauses) + "."
    return Several(joined, tuple(rows))


@cache
def _tellings(templates: tuple[str, ...], split: Split, told: frozenset[str]) -> tuple[str, ...]:
    """Return the templates of a split that tell just these facts of a person."""
    return part(tuple(text for text in templates if states(text) - {"name", "link"} == told), split)


def several_records(
    scene: Scene, kind: Kind, keys: Sequence[str], names: Mapping[str, str], maybe: frozenset[str]
) -> Several:
    """Return a document about one to four records of a kind that states these fields; some of `maybe` are missing."""
    stories = []
    for _ in range(scene.rng.choices((1, 2, 3, 4), (10, 35, 35, 20))[0]):
        own = replace(scene, given="", family="", female=scene.chance(0.5))
        stated = [key for key in keys if key not in maybe or scene.chance(0.6)]
        stories.append(Story(kind, own, {key: kind.fields[key].make(own) for key in stated}, (), names))
    roll = scene.rng.random()
    if roll < 0.25:
        document = _table(stories, keys)
    elif roll < 0.45:
        document = _blocks(stories)
    else:
        document = _prose(stories)
    return Several(document, tuple(story.facts for story in stories))


def _prose(stories: Sequence[Story]) -> str:
    scene = stories[0].scene
    written = [
        " ".join(_finished(text) for text in sentences(story, list(story.facts), ordered=True)) for story in stories
    ]
    joint = scene.pick((" ", "\n", "\n", "\n\n", "bullets"))
    if joint == "bullets":
        bullet = scene.pick(stories[0].stationery.bullets)
        return "\n".join(f"{bullet}{text}" for text in written)
    return joint.join(written)


def _finished(text: str) -> str:
    return text if text[-1] in ".!?" else f"{text}."


def _table(stories: Sequence[Story], keys: Sequence[str]) -> str:
    scene = stories[0].scene
    headings = [label(stories[0], key) for key in keys]
    absent = scene.pick(stories[0].stationery.absent)
    rows = [[story.facts[key].text if key in story.facts else absent for key in keys] for story in stories]
    return write_table(scene, stories[0].stationery, headings, rows)


def _blocks(stories: Sequence[Story]) -> str:
    scene, paper = stories[0].scene, stories[0].stationery
    separator, inline = scene.pick(paper.separators), scene.chance(0.5)
    joint = scene.pick(paper.log_joints) if inline else "\n"
    labels = {key: label(stories[0], key) for story in stories for key in story.facts}
    numbered = scene.chance(0.4)
    blocks = []
    for number, story in enumerate(stories, start=1):
        text = joint.join(f"{labels[key]}{separator}{fact}" for key, fact in story.facts.items())
        blocks.append(f"{number}. {text}" if numbered else text)
    return ("\n" if inline else "\n\n").join(blocks)
