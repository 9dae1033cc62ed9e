"""Tables: records as rows, one for each document, with one column for each value that holds no others.

The columns are known when all records are: an object that is null in one document has fields in another, and lists have
any length. So the records are read twice, and none is kept.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO

from structured.cli.records import Record
from structured.output_types.paths import Steps, leaves, steps_to_path

EVIDENCE = ("quote", "start", "end", "match", "confidence")
"""What is known of a value, each in a column behind its own: `age:quote`."""


def write_csv(records: Callable[[], Iterable[Record]], file: TextIO) -> None:
    """Write records as CSV with a header; null, and what a document does not have, is an empty cell without quotes.

    `_id` is what a document is called. `_error` says why it has no value. `_metadata` is what went along with it.
    """
    tree: _Tree = {}
    has_evidence = False
    for record in records():
        has_evidence |= "extraction" in record
        for steps, value in _values(record):
            _insert(tree, steps, is_value=value is not None)
    columns = list(_columns(tree))
    asked = EVIDENCE if has_evidence else ()
    header = [name for steps in columns for name in _names(steps, () if _is_about_document(steps) else asked)]
    file.write(",".join(map(_cell, header)) + "\n")
    for record in records():
        row = dict(_values(record))
        cells: list[Any] = []
        for steps in columns:
            cells.append(row.get(steps))
            if not _is_about_document(steps):
                cells += _evidence(record, steps, asked)
        file.write(",".join(map(_cell, cells)) + "\n")


_Tree = dict[str | int | None, Any]
"""Steps below a place; None if a value stands at it."""


def _values(record: Record) -> Iterator[tuple[Steps, Any]]:
    """Yield the cells of a record and what leads to them; the names of those about the document begin with `_`."""
    about = {f"_{name}": record[name] for name in ("id", "metadata") if name in record}
    failed = record.get("error")
    yield from leaves({**about, "_error": f"{failed['kind']}: {failed['message']}" if failed else None})
    if failed is None:
        value = _without_empty(record["value"])
        yield from leaves(value if isinstance(value, dict) else {"value": value})


def _without_empty(value: Any) -> Any:
    """Return a value with null in place of empty lists and objects, so that they have a column."""
    match value:
        case dict() if value:
            return {name: _without_empty(inside) for name, inside in value.items()}
        case list() if value:
            return [_without_empty(inside) for inside in value]
        case dict() | list():
            return None
    return value


def _is_about_document(steps: Steps) -> bool:
    return steps[0] in {"_id", "_metadata", "_error"}


def _insert(tree: _Tree, steps: Steps, *, is_value: bool) -> None:
    for step in steps:
        tree = tree.setdefault(step, {})
    tree[None] = tree.get(None, False) or is_value


def _columns(tree: _Tree, steps: Steps = ()) -> Iterator[Steps]:
    """Yield the places of values, in the order of their records and lists.

    A place that is null wherever it holds no others is none.
    """
    names = [step for step in tree if isinstance(step, str)]
    positions = sorted(step for step in tree if isinstance(step, int))
    inside: list[str | int] = [*names, *positions]
    if tree.get(None) or (None in tree and not inside):
        yield steps
    for step in inside:
        yield from _columns(tree[step], (*steps, step))


def _names(steps: Steps, asked: Iterable[str]) -> Iterator[str]:
    path = steps_to_path(steps)
    yield path
    yield from (f"{path}:{fact}" for fact in asked)


def _evidence(record: Record, steps: Steps, asked: Iterable[str]) -> Iterator[Any]:
    """Yield what is known of the value at a place."""
    extraction = record.get("extraction", {"evidence": {}})
    inside = steps if isinstance(record.get("value"), dict) else steps[1:]
    known = extraction["evidence"].get(steps_to_path(inside))
    if known is None:
        yield from (None for _ in asked)
        return
    start, end = known["span"] or (None, None)
    quote = None if start is None else extraction["document"][start:end]
    facts = {**known, "quote": quote, "start": start, "end": end}
    yield from (facts[fact] for fact in asked)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return json.dumps(value)
    needs_quotes = not value or value != value.strip() or any(character in value for character in ',"\r\n')
    return '"' + value.replace('"', '""') + '"' if needs_quotes else value
