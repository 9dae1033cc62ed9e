"""Documents of labels and values: forms, lists, logs, settings, receipts."""

from collections.abc import Callable
from dataclasses import replace

from training.asides import aside
from training.dates import drawn_date
from training.inflection import sentence_case
from training.names import organisation
from training.scene import Fact, Scene
from training.sentences import narrated
from training.splits import by_split, part
from training.statements import stated
from training.story import Story, subject_of
from training.words import SHORT


def heading(story: Story) -> str:
    """Return a line above a text: what kind of record it is."""
    scene, noun = story.scene, story.scene.pick(story.kind.nouns)
    texts = (
        noun.title(),
        noun.upper(),
        f"# {noun.title()}",
        f"New {noun}",
        f"{noun.title()} details",
        f"*** {noun} ***",
    )
    kept_texts = (f"== {noun} ==", f"[{noun}]", f"Re {noun}", f"{noun.title()} sheet")
    return scene.pick(by_split(texts, kept_texts, scene.split))


MARKS = (
    ": ",
    ": ",
    ": ",
    ":",
    " = ",
    " - ",
    ":\t",
    "\t",
    " | ",
    " .... ",
    ": ",
    " > ",
    " :: ",
    "=",
    " -> ",
    " – ",
    ":  ",
)
BULLETS = ("- ", "* ", "• ", "+ ", "> ", "o ", "· ", "▪ ", "~ ", "– ")
MISSING = (
    "-",
    "n/a",
    "",
    "unknown",
    "—",
    "none given",
    "N/A",
    "?",
    "not stated",
    "(blank)",
    "tbd",
    "k. A.",
    "not known",
)
CASES: tuple[Callable[[str], str], ...] = (
    sentence_case,
    sentence_case,
    str.title,
    str.upper,
    str.lower,
    lambda text: text.replace(" ", "_"),
)


def shown_value(scene: Scene, fact: Fact) -> str:
    """Return a value as a form has it."""
    if fact.sort == "flag":
        return fact.text
    if fact.rows:
        return (
            "".join(f"\n  {scene.pick(('- ', '* ', ''))}{item}" for item in fact.items)
            if scene.chance(0.5)
            else fact.text
        )
    if fact.items:
        return scene.pick((", ", "; ", " / ", ", ")).join(fact.items) if scene.chance(0.8) else fact.text
    return fact.shown


def row_table(scene: Scene, fact: Fact) -> str:
    """Return inner records as a small table with a head."""
    case, mark = scene.pick(CASES), scene.pick(by_split((" | ", "\t", ", ", "; "), ("  ", " / "), scene.split))
    head = [case(one.label(scene, form=True)) for one in fact.value.fields]
    rows = [head, *([cell.shown for cell in row] for row in fact.rows)]
    if "," in mark and any("," in cell.text for row in fact.rows for cell in row):
        mark = " | "
    edge = scene.pick(("| ", "", "")) if "|" in mark else ""
    return "".join(f"\n{edge}{mark.join(row)}{edge[::-1]}" for row in rows)


def pairs(story: Story, *, tables: bool = False) -> list[tuple[str, str]]:
    """Return the labels and values of a form; some absent fields have a line that says so."""
    scene = story.scene
    lines = [
        (
            one.label(scene, form=True),
            row_table(scene, fact) if tables and fact.rows and scene.chance(0.5) else shown_value(scene, fact),
        )
        for one, fact in story.facts
    ]
    for one in story.absent:
        if scene.chance(0.35):
            position = scene.rng.randint(0, len(lines))
            lines.insert(position, (one.label(scene, form=True), scene.pick(part(MISSING, scene.split))))
    if scene.seldom(0.08):
        dot = scene.pick((".", ""))
        short = {word: f"{text}{dot}" for word, text in SHORT.items()}
        lines = [(" ".join(short.get(word, word) for word in label.split()), value) for label, value in lines]
    case = scene.pick(CASES)
    return [(case(label), value) for label, value in lines]


def form(story: Story) -> str:
    """Labels and values, one pair a line."""
    scene = story.scene
    mark = scene.pick(part(MARKS, scene.split))
    bold = scene.chance(0.08)
    lines = [
        f"**{label}**{mark}{value}" if bold else f"{label}{mark}{value}" for label, value in pairs(story, tables=True)
    ]
    if scene.chance(0.08):
        lines = [f"{label}\n{value}\n" for label, value in pairs(story)]
    text = "\n".join(lines).strip("\n")
    text = f"{heading(story)}\n{scene.pick(('', '-' * 20 + chr(10), chr(10)))}{text}" if scene.chance(0.4) else text
    return f"{text}\n\n{scene.pick(('Notes', 'Remarks', 'Comment'))}: {aside(story)}" if scene.seldom(0.15) else text


def bullets(story: Story) -> str:
    """A list of points."""
    scene = story.scene
    bullet = scene.pick(part(BULLETS, scene.split))
    if scene.chance(0.5):
        mark = scene.pick(part(MARKS[:8], scene.split))
        lines = [f"{label}{mark}{value}" for label, value in pairs(story)]
    else:
        subject = subject_of(replace(story, lead=None))
        lines = [
            text.rstrip(".")
            for text in narrated(
                scene, subject, stated(scene, story.kind, story.facts, absent=story.absent), fragments=0.5
            )
        ]
    text = "\n".join(f"{bullet}{line}" for line in lines)
    return f"{heading(story)}\n\n{text}" if scene.chance(0.5) else text


def run_on(story: Story) -> str:
    """All pairs in one line."""
    scene = story.scene
    known = ((", ", ": "), ("; ", ": "), (" | ", ": "), (", ", "="), (". ", ": "))
    outer, inner = scene.pick(by_split(known, ((" // ", ": "), (" • ", " "), ("; ", "=")), scene.split))
    return outer.join(f"{label}{inner}{' '.join(value.split())}" for label, value in pairs(story))


def log(story: Story) -> str:
    """Lines of a log: time, level, keys and values, others' entries among them."""
    scene = story.scene
    names = [
        (one.label(scene, form=True).replace(" ", scene.pick(("_", "-", "_"))).lower(), fact)
        for one, fact in story.facts
    ]
    joined = " ".join(
        f"{name}={fact.shown if ' ' not in fact.text and not fact.items else chr(34) + unlisted(fact) + chr(34)}"
        for name, fact in names
    )
    verb = scene.pick(("created", "updated", "received", "INFO", "saved", "stored", "new entry"))
    if {"date", "time"} & story.sensitive:
        return f"{verb} {joined}"
    hour, minute, second = (scene.rng.randrange(most) for most in (24, 60, 60))
    stamp = f"{drawn_date(scene, -9, 0)[0].isoformat()} {hour:02}:{minute:02}:{second:02}"
    line = f"{stamp} {scene.pick(('INFO', 'DEBUG', '[info]', 'NOTICE'))} {verb} {joined}"
    others = (
        f"{stamp} INFO service started",
        f"{stamp} WARN cache miss",
        f"{stamp} INFO session opened",
        f"{stamp} INFO 0 errors",
    )
    lines = [line, *scene.rng.sample(others, scene.rng.randrange(3))]
    scene.rng.shuffle(lines)
    return "\n".join(lines)


def unlisted(fact: Fact) -> str:
    """Return a fact in one line."""
    return " ".join((", ".join(fact.items) if fact.items else fact.shown).split())


def data(story: Story) -> str:
    """Data in JSON or YAML, as one program sends it to another; the labels are those of a form."""
    scene = story.scene
    names = [(one.label(scene, form=True).replace(" ", "_").lower(), fact) for one, fact in story.facts]
    if scene.chance(0.5):
        return "\n".join([f"{scene.pick(story.kind.nouns)}:", *(f"  {name}: {unlisted(fact)}" for name, fact in names)])
    inside = ", ".join(f'"{name}": "{unlisted(fact)}"' for name, fact in names)
    return f"{{{inside}}}"


def settings(story: Story) -> str:
    """A configuration file, or data in tags like those of XML."""
    scene = story.scene
    names = [(one.label(scene, form=True).replace(" ", "_").lower(), fact) for one, fact in story.facts]
    if scene.chance(0.5):
        return "\n".join(f"<{name}>{unlisted(fact)}</{name}>" for name, fact in names)
    return f"[{scene.pick(story.kind.nouns)}]\n" + "\n".join(f"{name} = {unlisted(fact)}" for name, fact in names)


def receipt(story: Story) -> str:
    """A slip in capitals with the values at the right."""
    scene = story.scene
    width = scene.pick((26, 30, 34))
    lines = [
        f"{label.upper()}{scene.pick(('.', ' ')) * max(2, width - len(label) - len(value))}{value}"
        for label, value in pairs(story)
    ]
    head = [
        organisation(scene).shown.upper()
        if "agent" not in story.sensitive and scene.chance(0.3)
        else "*** " + scene.pick(story.kind.nouns).upper() + " ***"
    ]
    return "\n".join(
        [*head, *lines, scene.pick(("THANK YOU", "PLEASE KEEP THIS SLIP", "-" * width, "HAVE A NICE DAY"))]
    )
