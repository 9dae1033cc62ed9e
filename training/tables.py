"""Documents about several records: tables, lists, forms one below the other, sentences for each."""

from collections.abc import Sequence
from dataclasses import replace

from training.asides import aside
from training.forms import BULLETS, CASES, MARKS, shown_value, unlisted
from training.inflection import sentence_case
from training.kind import Field, Record
from training.layouts import introduced, opened
from training.sentences import narrated
from training.splits import by_split, part
from training.statements import stated
from training.story import Story, subject_of


def table(story: Story, records: Sequence[Record], keys: Sequence[Field]) -> str:
    """Records as rows: comma-separated, Markdown, tabs or bars; what a record lacks is blank."""
    scene, case = story.scene, story.scene.pick(CASES)
    style = scene.pick(by_split(("markdown", ",", "\t", " | ", ";"), ("boxed", "  ", "|"), scene.split))
    missing = scene.pick(("", "-", "n/a")) if style != "  " else "-"
    rows = [[case(one.label(scene, form=True)) for one in keys]]
    for record in records:
        facts = {one.key: fact for one, fact in record}
        rows.append(
            [
                unlisted(facts[one.key])
                if one.key in facts and facts[one.key].sort != "flag"
                else facts[one.key].text
                if one.key in facts
                else missing
                for one in keys
            ]
        )
    if style in (",", ";", "|", "\t"):
        rows = [[f'"{cell}"' if style.strip() and style in cell else cell for cell in row] for row in rows]
    if style == "markdown":
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([lines[0], "|---" * len(keys) + "|", *lines[1:]])
    if style == "boxed":
        return "\n".join(f"+ {' + '.join(row)} +" for row in rows)
    return "\n".join(style.join(row) for row in rows)


def each_in_prose(story: Story, records: Sequence[Record]) -> str:
    """Each record in sentences of its own."""
    scene = story.scene
    texts: list[str] = []
    for record in records:
        lead = next((pair for pair in record if pair[0].key == story.kind.lead), None)
        one = replace(story, facts=list(record), lead=lead)
        facts = [pair for pair in record if pair is not lead] or list(record)
        opening, facts = opened(one, facts)
        subject = subject_of(one)
        if texts and story.kind.subject == "person" and lead and scene.chance(0.3) and not opening:
            relative = scene.pick(
                ("brother", "uncle", "colleague", "son")
                if subject.pronoun == "he"
                else ("sister", "aunt", "colleague", "daughter")
            )
            subject = replace(subject, full=f"{scene.pick(('his', 'her'))} {relative} {subject.full}")
        sentences = narrated(scene, subject, stated(scene, story.kind, facts, absent=story.absent), fragments=0.03)
        sentences = [opening, *sentences] if opening else sentences
        sentences = [*introduced(one, sentences), *sentences]
        if lead:  # whose name comes first, or one could not tell where a record begins
            first = [text for text in sentences if lead[1].shown in text]
            sentences = [*first, *(text for text in sentences if text not in first)]
        texts.append(" ".join(sentences))
    if scene.chance(0.25) and texts and not story.sensitive:
        texts.append(aside(story))
    return scene.pick((" ", "\n", "\n\n")).join(texts)


def each_in_a_line(story: Story, records: Sequence[Record]) -> str:
    """Each record as a point of a list."""
    scene = story.scene
    bullet, mark = (
        scene.pick(part(BULLETS, scene.split)),
        scene.pick(by_split((": ", " – ", ", ", " (", ": "), ("; ", " / "), scene.split)),
    )
    numbered, labelled = scene.chance(0.3), scene.chance(0.7)
    lines = []
    for position, record in enumerate(records):
        first, *rest = [(one, fact) for one, fact in record]
        pieces = []
        for one, fact in rest:
            text = (
                unlisted(fact) if fact.sort not in ("flag", "choice") else f"{one.label(scene, form=True)}: {fact.text}"
            )
            alone = sum(other.sort == one.sort for other, _ in record) == 1
            named = labelled or not alone or one.sort in ("number", "code", "year", "list", "rows")
            pieces.append(
                f"{one.label(scene, form=True)} {text}" if named and fact.sort not in ("flag", "choice") else text
            )
        head = f"{position + 1}. " if numbered else bullet
        lines.append(
            f"{head}{first[1].shown}{mark if pieces else ''}{', '.join(pieces)}{')' if mark == ' (' and pieces else ''}"
        )
    return "\n".join([f"{sentence_case(scene.pick(story.kind.plurals))}:", *lines] if scene.chance(0.5) else lines)


def each_as_a_form(story: Story, records: Sequence[Record]) -> str:
    """Each record as a form of its own."""
    scene = story.scene
    mark, case, noun = scene.pick(part(MARKS, scene.split)), scene.pick(CASES), scene.pick(story.kind.nouns)
    blocks = []
    for position, record in enumerate(records):
        lines = [
            f"{case(one.label(scene, form=True))}{mark}{' '.join(shown_value(scene, fact).split())}"
            for one, fact in record
        ]
        blocks.append("\n".join([f"{noun.title()} {position + 1}", *lines] if scene.chance(0.5) else lines))
    return scene.pick(("\n\n", "\n---\n", "\n\n")).join(blocks)
