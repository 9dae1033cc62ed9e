"""Rows of CSV (RFC 4180), with the separator that the file has.

The separator is that of comma, semicolon, tab and bar by which the first rows have as many fields as the header. The
sniffer of the standard library was not taken: it guesses from frequencies, and takes letters for separators.
"""

import csv
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from structured.errors import PromptError
from structured.errors.values import counted, message
from structured.extraction.documents.table import Row, Table, lines_of

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

_SAMPLE = 200
"""Lines by which the separator is found out."""


def read_csv(path: Path) -> Table:
    """Return the table in a file of CSV or TSV. Raises PromptError if there is none, OSError if it cannot be read."""
    lines = lines_of(path)
    sample = list(islice(lines, _SAMPLE))
    if not any(line.strip() for line in sample):
        raise PromptError(f"The table {path} is empty. Its first line has to have the names of the columns.")
    separator = "\t" if path.suffix.lower() in {".tsv", ".tab"} else _separator(path, sample)
    records = _records(path, chain(sample, lines), separator)
    _, header = next(records)
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise PromptError(f"The table {path} has several columns {twice[0]!r}. Rename all but one.")
    return Table(path, tuple(header), tuple(header), _rows(path, header, records))


def _separator(path: Path, sample: list[str]) -> str:
    """Return the separator of a file that begins so. Raises PromptError if it may be one or the other."""
    fitting = [separator for separator in SEPARATORS if _fits(sample, separator)]
    if len(fitting) > 1:
        named = " or ".join(SEPARATORS[one] for one in fitting)
        raise PromptError(
            f"The separator of {path} may be {named}. Save it with tabs as a .tsv file, or put every field into quotes."
        )
    if fitting:
        return fitting[0]
    inside = [separator for separator in SEPARATORS if separator in sample[0]]
    return inside[0] if len(inside) == 1 else ","


def _fits(sample: list[str], separator: str) -> bool:
    """Tell whether rows have as many fields as the header, and more than one, if this is the separator."""
    counts = []
    try:
        for record in csv.reader(sample, delimiter=separator, strict=True):
            counts += [len(record)] * bool(record)
    except csv.Error:  # the last record goes on after the sample, or this is not the separator
        if len(sample) < _SAMPLE:
            return False
    return len(counts) > 0 and counts[0] > 1 and set(counts) == {counts[0]}


def _records(path: Path, lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield records with the numbers of their first lines. Raises PromptError where quotes are not balanced."""
    reader = csv.reader(lines, delimiter=separator, strict=True)
    started = 1
    try:
        for record in reader:
            if record:
                yield started, record
            started = reader.line_num + 1
    except csv.Error as error:
        if "field limit" in message(error):
            remedy = (
                "If its quotes are balanced and the text is that long, raise the limit: "
                "csv.field_size_limit(10_000_000)."
            )
        else:
            remedy = "Look for a quote that is not closed, or not doubled within a field."
        raise PromptError(
            f"The row at line {started:,} of {path} cannot be read: {message(error)}. {remedy}"
        ) from error


def _rows(path: Path, header: list[str], records: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, Row]]:
    for number, record in records:
        if len(record) == len(header):
            yield number, dict(zip(header, record, strict=True))
            continue
        yield (
            number,
            PromptError(
                f"{path}:{number}: the row has {counted(len(record), 'field')}, and the header has {len(header)}. Put "
                "fields with separators or line breaks into quotes."
            ),
        )
