"""Printed tables with their rows as records: the tables of ppasupat/WikiTableQuestions, from Wikipedia, CC BY-SA 4.0.

Each is printed in one of several ways, with some of its columns and rows. What is asked for: all rows, one row by the
value that it is known by, one column, or a single row that is printed alone. The tables that the repository keeps for
tests of unseen ones are not read.
"""

import csv
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import Habits, Slot

EACH = 6
"""How many samples a table gives."""

LONGEST_CELL, MOST_COLUMNS, MOST_ROWS = 60, 7, 9

_EMPTY = frozenset({"", "-", "–", "—", "n/a", "N/A", "?", "..", "...", "−", "--", "TBA", "TBD"})
_NOTE = re.compile(r"\s*\[[^\]]*\]|[†‡*^]+$")
_WHOLE = re.compile(r"(?:0|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*)")
_FULL = {
    "pts": "points", "pos": "position", "no": "number", "pop": "population", "div": "division", "wt": "weight",
    "ht": "height", "nat": "nationality", "ref": "reference", "qty": "quantity", "yr": "year", "att": "attendance",
    "gp": "games played", "est": "established", "rec": "record", "dob": "date of birth", "apps": "appearances",
}  # fmt: skip
"""What short heads of columns stand for; a field may have the one name or the other."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its heads, and rows of as many cells."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def part(self, columns: Sequence[int], rows: Sequence[tuple[str, ...]]) -> "Table":
        """Return some columns of some rows."""
        return Table(
            tuple(self.heads[place] for place in columns),
            tuple(tuple(row[place] for place in columns) for row in rows),
        )

    def column(self, place: int) -> list[str]:
        """Return the cells of a column."""
        return [row[place] for row in self.rows]


Ask = Callable[[random.Random, Table], tuple[dict[str, Any], dict[str, Any]]]
"""What asks for something of a table: its schema with the answer."""


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield some samples of each table."""
    held = _held(repository / "data/pristine-unseen-tables.tsv")
    tables = [
        table
        for path in sorted(repository.glob("csv/*/*.csv"))
        if path.relative_to(repository).as_posix() not in held and (table := read(path))
    ]
    heads = sorted({head for table in tables for head in table.heads})
    for table in tables:
        for _ in range(EACH):
            yield _sample(rng, table, heads)


def _held(path: Path) -> set[str]:
    """Return the tables that are named in a file of questions."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return {cell for line in lines for cell in line.split("\t") if cell.startswith("csv/")}


def read(path: Path) -> Table | None:
    """Return the columns of a table that can be asked for; None if there are fewer than three, or than two rows."""
    with path.open(encoding="utf-8", newline="") as lines:
        heads, *rows = [[_clean(cell) for cell in row] for row in csv.reader(lines, escapechar="\\", doublequote=False)]
    rows = [row for row in rows if len(row) == len(heads) and len(set(row)) > 1]
    names = [_name(head) for head in heads]
    fit = [
        place
        for place, head in enumerate(heads)
        if names[place]
        and names.count(names[place]) == 1
        and len(head) < 30
        and all(len(row[place]) <= LONGEST_CELL for row in rows)
        and sum(row[place] in _EMPTY for row in rows) * 2 <= len(rows)
    ]
    if len(fit) < 3 or len(rows) < 2:
        return None
    return Table(tuple(heads), tuple(map(tuple, rows))).part(fit, [tuple(row) for row in rows])


def _clean(cell: str) -> str:
    """Return a cell in one line, without notes and without signs of quotation around all of it."""
    plain = " ".join(_NOTE.sub("", " ".join(cell.replace("\ufeff", "").split())).replace("|", "/").split())
    quoted = re.fullmatch(r'"([^"]+)"', plain)
    return quoted[1] if quoted else plain


def _name(head: str) -> str:
    """Return the name of a field for a column: its words without signs and units; "" where it has none."""
    words = re.findall(r"[A-Za-z]+", re.sub(r"\([^)]*\)|'s\b", " ", head))
    is_plain = head.isascii() and 0 < len(words) <= 4 and len("".join(words)) > 1
    return "_".join(words).lower() if is_plain else ""


def _sample(rng: random.Random, table: Table, heads: Sequence[str]) -> Sample:
    while True:
        columns = sorted(rng.sample(range(len(table.heads)), min(len(table.heads), rng.randint(3, MOST_COLUMNS))))
        count = 1 if rng.random() < 0.25 else rng.randint(2, MOST_ROWS)
        start = rng.randrange(max(1, len(table.rows) - count + 1))
        shown = table.part(columns, table.rows[start : start + count])
        if len(set(shown.rows)) == len(shown.rows):
            break
        count = 1
    ways: list[Ask] = [partial(_one, heads=heads)]
    if len(shown.rows) > 1:
        ways = [_all, _all, _all, _column]
        ways += [_known] * 2 if len(set(shown.column(0))) == len(shown.rows) and not _EMPTY & {*shown.column(0)} else []
    schema, answer = rng.choice(ways)(rng, shown)
    return Sample("tables", schema, printed(rng, shown), answer, None)


@dataclass(frozen=True, slots=True)
class _Field:
    """What is asked for of a column: its name, its schema, and how its cells are read."""

    name: str
    schema: dict[str, Any]
    is_whole: bool = False

    def value(self, cell: str) -> Any:
        if cell in _EMPTY:
            return None
        return int(cell.replace(",", "")) if self.is_whole else cell


def _fields(rng: random.Random, table: Table) -> dict[int, _Field]:
    """Return what is asked for of each column, by its place; it may be null where a cell is empty, or anywhere."""
    habits, are_numbers = Habits.drawn(rng), rng.random() < 0.6
    can_be_null = rng.random() < 0.5
    found: dict[int, _Field] = {}
    for place, head in enumerate(table.heads):
        name = _name(head)
        cells = table.column(place)
        slot = Slot(name, other_names=(_FULL.get(name, name),))
        is_whole = are_numbers and all(cell in _EMPTY or _WHOLE.fullmatch(cell) for cell in cells)
        kind: dict[str, Any] = {"type": "integer" if is_whole else "string"}
        if can_be_null or any(cell in _EMPTY for cell in cells):
            kind = {"anyOf": [kind, {"type": "null"}]}
        if habits.is_described:
            kind["description"] = rng.choice((f"column {head}", head, f"{head}, as printed" if not is_whole else head))
        if habits.name(rng, slot) not in {field.name for field in found.values()}:
            found[place] = _Field(habits.name(rng, slot), kind, is_whole)
    return found


def _object(fields: Sequence[_Field]) -> dict[str, Any]:
    properties = {field.name: field.schema for field in fields}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _drawn(rng: random.Random, fields: dict[int, _Field]) -> dict[int, _Field]:
    """Return some of the fields, or all, in any order or their own."""
    places = list(fields)
    if rng.random() < 0.6:
        places = rng.sample(places, rng.randint(1, len(places)))
        places = places if rng.random() < 0.4 else sorted(places)
    return {place: fields[place] for place in places}


def _all(rng: random.Random, table: Table) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask for all rows."""
    fields = _drawn(rng, _fields(rng, table))
    array: dict[str, Any] = {"type": "array", "items": _object([*fields.values()])}
    if rng.random() < 0.5:
        array["description"] = rng.choice(("all rows, in order", "one for each row", "the rows of the table"))
    name = rng.choice(("rows", "items", "entries", "records", "table", "lines"))
    answer = [{field.name: field.value(row[place]) for place, field in fields.items()} for row in table.rows]
    return {"type": "object", "properties": {name: array}, "required": [name]}, {name: answer}


def _known(rng: random.Random, table: Table) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask for the one row with a value in its first column, which no other row has."""
    row = rng.choice(table.rows)
    fields = _fields(rng, table)
    fields = _drawn(rng, {place: field for place, field in fields.items() if place} or fields)
    schema = _object([*fields.values()])
    said = ("The row where {} is {}.", "Only of the row whose {} is {}.", "What the table says of {} {}.")
    schema["description"] = rng.choice(said).format(table.heads[0], row[0])
    return schema, {field.name: field.value(row[place]) for place, field in fields.items()}


def _column(rng: random.Random, table: Table) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask for one or two columns as lists, without empty cells."""
    fields = _fields(rng, table)
    properties, answer = dict[str, Any](), dict[str, Any]()
    for place in rng.sample(sorted(fields), min(len(fields), rng.randint(1, 2))):
        name, kind = fields[place].name, {"type": "integer" if fields[place].is_whole else "string"}
        about = f"each {table.heads[place]} once, in order" if rng.random() < 0.5 else ""
        about = about or f"column {table.heads[place]} without empty cells, each value once"
        properties[name] = {"type": "array", "items": kind, "description": about}
        values = [fields[place].value(cell) for cell in table.column(place) if cell not in _EMPTY]
        answer[name] = list(dict.fromkeys(values))
    return {"type": "object", "properties": properties, "required": list(properties)}, answer


def _one(rng: random.Random, table: Table, heads: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask for what a single row says, and for columns of other tables, which it does not say."""
    fields = _drawn(rng, _fields(rng, table))
    answer = {field.name: field.value(table.rows[0][place]) for place, field in fields.items()}
    schema = _object([*fields.values()])
    known = {word for head in table.heads for word in (*_name(head).split("_"), _FULL.get(_name(head), ""))}
    for head in rng.sample(heads, min(len(heads), rng.choice((0, 1, 1, 2)))):
        if not known & {*_name(head).split("_"), _FULL.get(_name(head), "no")}:
            schema["properties"][_name(head)] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
            answer[_name(head)] = None
    schema["required"] = list(schema["properties"])
    return schema, {name: answer[name] for name in schema["properties"]}


def printed(rng: random.Random, table: Table) -> str:
    """Return a table as a text: of lines with a mark between cells, in columns, of HTML, or of heads with cells."""
    lines = [table.heads, *table.rows]
    if len(table.rows) == 1 or rng.random() < 0.15:
        mark, between = rng.choice((": ", ": ", " : ", " - ", ":\n", "\t")), rng.choice(("\n", "\n", "\n", "; "))
        between = "\n" if mark == ":\n" else between
        blocks = [between.join(f"{h}{mark}{c}" for h, c in zip(table.heads, row, strict=True)) for row in table.rows]
        return "\n\n".join(blocks)
    signs = {sign for line in lines for cell in line for sign in cell}
    match rng.randrange(5 if signs & {*"<>&"} else 6):
        case 2 if '"' not in signs:
            return "\n".join(",".join(f'"{cell}"' if "," in cell else cell for cell in line) for line in lines)
        case 0 | 2:
            return "\n".join(" | ".join(line) for line in lines)
        case 1:
            rule = "|".join("---" for _ in table.heads)
            return "\n".join(f"|{row}|" for row in ("|".join(table.heads), rule, *map("|".join, table.rows)))
        case 3:
            mark = rng.choice(("\t",) if ";" in signs else ("\t", "; "))
            return "\n".join(mark.join(line) for line in lines)
        case 4:
            widths = [max(map(len, cells)) + 2 for cells in zip(*lines, strict=True)]
            return "\n".join("".join(map(str.ljust, line, widths)).rstrip() for line in lines)
    rows = ("".join(f"<td>{cell}</td>" for cell in line) for line in lines)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"
