"""A scene enters; a document about several records leaves, with what each record says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from training.records.compound import join_words
from training.records.kind import Kind, lines
from training.records.layouts import Story, label, sentences, write_table
from training.values import Fact, Scene, city, from_pool, full_name, integer, text_fact
from training.words import part


@dataclass(frozen=True, slots=True)
class Several:
    """A document about several records: the facts of each, where a key may be missing."""

    document: str
    rows: tuple[Mapping[str, Fact], ...]


RELATIONS = {
    "age": (
        lines(
            """
                {name} is {value}
                {name} ({value})
                {name} is {value} years old
                {name}, {value}
                {name} turned {value}
                {name} is now {value}
                """
        ),
        lines(
            """
                {link} {name} {value}
                {link} {name} is {value}
                {link} {name} ({value})
                {link} {name}, {value}
                {link} {name} turned {value}
                {link} {name} is just {value}
                """
        ),
    ),
    "city": (
        lines(
            """
                {name} lives in {value}
                {name} is from {value}
                {name} ({value})
                {name} moved to {value}
                {name}, {value}
                {name} stays in {value}
                """
        ),
        lines(
            """
                {link} {name} in {value}
                {link} {name} is from {value}
                {link} {name} ({value})
                {link} {name} lives in {value}
                {link} {name}, {value}
                {link} {name} stays in {value}
                """
        ),
    ),
    "job": (
        lines(
            """
                {name} is {value:a}
                {name} works as {value:a}
                {name} ({value})
                {name} earns a living as {value:a}
                {name}, {value}
                {name} became {value:a}
                """
        ),
        lines(
            """
                {link} {name} {value:a}
                {link} {name} is {value:a}
                {link} {name} ({value})
                {link} {name} works as {value:a}
                {link} {name}, {value}
                {link} {name} became {value:a}
                """
        ),
    ),
}
"""What a sentence may tell of a first person, and how it goes on with the others."""

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


def relatives(scene: Scene, key: str) -> Several:
    """Return a sentence about a few people: "Jason is 25, his sister Ana 31 and their cousin Mei 40."."""
    first, others = RELATIONS[key]
    opening, following = scene.pick(part(first, scene.split)), scene.pick(part(others, scene.split))
    links = part(LINKS, scene.split)
    rows, clauses = [], []
    for position in range(scene.rng.randint(1, 4)):
        given, family = full_name(scene)
        name = text_fact(given if scene.chance(0.6) else f"{given} {family}")
        value = _MAKERS[key](scene)
        rows.append({"name": name, key: value})
        template = following if position else opening
        clauses.append(
            template.format(name=name, value=value, link=scene.pick(links) if scene.chance(0.8) else "").strip()
        )
    return Several(join_words(scene, clauses) + ".", tuple(rows))


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
    rows = [[story.facts[key].text if key in story.facts else "-" for key in keys] for story in stories]
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
