"""The review page: results as one file of HTML that a person reviews in a browser.

The page fetches nothing. Documents, values and paths are data: JSON in an element that no browser runs, with every `<`
escaped. The page shows them as text, and its content security policy allows its own script alone.

A value is JSON text in the page, so that what is exported has every digit that the model wrote: JavaScript has no whole
numbers above 2^53, and writes `1.0` as `1`. The type of a place says what a person may write there, and the numbers and
dates that the document states are read here: the page reads none.

A result from a file has no type, but it has instances, whose classes Pydantic describes. So the type of a place is
inferred from the values of all results: the items of one document tell the type of another's empty list. Plain values
outside of models may also be null, and numbers any. A place without values may be anything; an empty list cannot grow.
"""

import base64
import hashlib
import json
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from itertools import chain
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any, Union

from typing_extensions import TypedDict

from structured.errors import SchemaError
from structured.errors.values import shown
from structured.extraction.documents.files import page_images
from structured.extraction.task import short_digest
from structured.jobs.evaluation import Thresholds
from structured.json_schema.document.location import Identity, Subschema
from structured.json_schema.nullable import types_of
from structured.output_types.html import html, write_page
from structured.output_types.paths import Steps, end_values, member_path, path_to_steps, steps_to_field, steps_to_path
from structured.output_types.python_type import python_type
from structured.output_types.schema_parts import flattened, parts_at, parts_at_step
from structured.output_types.stated_dates import stated_dates, stated_datetimes, stated_times
from structured.output_types.stated_numbers import Statement, stated_numbers
from structured.results.evidence import BANDS, MATCH_WORDS, Evidence
from structured.results.result import Result, instance_of

_LISTS = frozenset({list, tuple, set, frozenset, deque})
_INFERRED_TYPES = {bool: bool, int: float, float: float, str: str}
"""The types of plain JSON values, and their inferred types: 5 may be of the type `number`."""

_FORMATS = frozenset({"date", "date-time", "time", "decimal"})
_ANYTHING = {"type": ["string", "number", "boolean", "null"]}
_COMBINING = frozenset({"$ref", "allOf", "anyOf", "oneOf"})


class TypeTable:
    """Types, each listed once, by the numbers that the page knows them by.

    A type may have these keys:

    - `kinds`: what can be written freely: `text`, `number`, `integer`, `decimal`, `date`, `date-time`, `time`.
    - `choices`: what can be chosen, as JSON texts: the values of an enum, true and false, null.
    - `members`: of a record, for each member its name, that in a path, and the number of its type.
    - `items`: of a list, the number of the type of the items that can be added.
    """

    def __init__(self) -> None:
        self.types: list[dict[str, Any]] = []
        self._numbers: dict[frozenset[Identity], int] = {}
        self._kept_parts: list[Subschema] = []  # an identity is that of an object as long as there is one

    def number(self, parts: Iterable[Subschema]) -> int:
        """Return the number of the type that some parts of a schema make together."""
        simple_parts = [part for part in flattened(list(parts)) if not _COMBINING & part.schema.keys()]
        key = frozenset(part.identity for part in simple_parts)
        if key not in self._numbers:
            self._numbers[key] = len(self.types)
            self._kept_parts += simple_parts
            described: dict[str, Any] = {}
            self.types.append(described)  # first, since it may be inside itself
            described |= self._description(simple_parts)
        return self._numbers[key]

    def _description(self, simple_parts: list[Subschema]) -> dict[str, Any]:
        schemas = [part.schema for part in simple_parts] or [_ANYTHING]
        kinds, choices = (
            [*dict.fromkeys(chain(*each))] for each in zip(*map(_kinds_and_choices, schemas), strict=True)
        )
        described: dict[str, Any] = {"kinds": kinds, "choices": choices}
        records = [part for part in simple_parts if "object" in types_of(part.schema)]
        if len(records) == 1:  # of several, it is unknown which to add
            described["members"] = [
                [name, f".{member_path('', name)}", self.number(parts_at_step(records[0], name))]
                for name in records[0].schema.get("properties", {})
            ]
        lists = [part for part in simple_parts if "array" in types_of(part.schema)]
        items = [inner for part in lists if "prefixItems" not in part.schema for inner in parts_at_step(part, 0)]
        if items:
            described["items"] = self.number(items)
        return described


class PlaceTypes:
    """The types at the places of the extractions that one type made."""

    def __init__(self, values: Iterable[Any], table: TypeTable) -> None:
        try:
            self._root = [python_type(annotation_of(values)).root]
        except SchemaError:  # such as a value of a class that Pydantic does not describe
            self._root = []
        self._table = table
        self._known: dict[Steps, int] = {}

    def at(self, steps: Steps) -> int:
        """Return the number of the type at a place."""
        if steps not in self._known:
            self._known[steps] = self._table.number(chain(*(parts_at(root, steps) for root in self._root)))
        return self._known[steps]

    def items(self, steps: Steps) -> int | None:
        """Return the number of the type of new items of the list at a place."""
        number: int | None = self._table.types[self.at(steps)].get("items")
        return number


def annotation_of(values: Iterable[Any]) -> Any:
    """Return the narrowest type of some values: `[{"a": Ana}, {}]` → `{"a": Person}`."""
    values = list(values)
    types: dict[Any, None] = {}
    for value in values:
        kind = type(value)
        if kind in _INFERRED_TYPES:
            types |= {_INFERRED_TYPES[kind]: None, None: None}
        elif kind is not dict and kind not in _LISTS and value is not None:
            types[kind] = None
    records = [value for value in values if type(value) is dict]
    if records:
        names = dict.fromkeys(name for one in records for name in one)
        members = {str(name): annotation_of(one[name] for one in records if name in one) for name in names}
        types[TypedDict("Record", members)] = None  # type: ignore[operator]  # of names that are known here alone
    lists = [value for value in values if type(value) in _LISTS]
    if lists:
        items = [*chain(*lists)]
        types[list[annotation_of(items)] if items else tuple[()]] = None  # type: ignore[misc]  # as above
    if not types:
        return Any
    return Union[tuple(types if None not in values else {**types, None: None})]  # noqa: UP007  a union of those found


def _kinds_and_choices(schema: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the kinds of what can be written freely, and the choices."""
    if "enum" in schema or "const" in schema:
        return [], [*map(json.dumps, schema.get("enum", [schema.get("const")]))]
    types = types_of(schema) or types_of(_ANYTHING)
    kinds = [schema["format"] if schema.get("format") in _FORMATS else "text"] if "string" in types else []
    if types & {"number", "integer"}:
        kinds.append("number" if "number" in types else "integer")
    return kinds, [*(("true", "false") if "boolean" in types else ()), *(("null",) if "null" in types else ())]


MISSING_EVIDENCE = Evidence(None, "absent")
"""The evidence of a missing value, and of a list without items."""

SCRIPTS = ("elements", "evidence", "state", "gold", "list", "sheets", "document", "values", "editing", "keys")
"""The parts of the page's script, in order."""


def report(
    results: Iterable[Result[Any]] | Result[Any],
    path: str | PathLike[str],
    *,
    title: str = "Review",
    thresholds: Thresholds | None = None,
) -> Path:
    """Write a page on which a person reviews results, and return its path.

    The page shows each document with its values highlighted, and each value with its confidence, what supports it and
    its flags. A person accepts, corrects or rejects values there, and exports the decisions as JSON lines, one for each
    reviewed document:

        {"id": …, "document": …, "value": …, "reviewed": {"name": "accepted", "lines[2].price": "corrected"}}

    `value` is the data with the corrections and the items that were added, and without the values that were rejected.
    `id` is a digest of the document.

    Parameters:
        results: Those of `extract_results` or `read_results`, say, or one. Of a document that failed, the error shows.
        path: The file to write. One that exists is replaced.
        title: The heading of the page.
        thresholds: Those that an evaluation certified. Results that they do not accept come first, with the reasons.

    Returns:
        The path of the page.

    Raises:
        TypeError: One of the results is something else.
        ValueError: A span is outside of its document, or the results are not those that the thresholds are of.
        OutputError: The file cannot be written.
    """
    if isinstance(results, str | PathLike):
        raise TypeError(f"results is {shown(results)}. Pass read_results({shown(results)}, Type), or results.")
    page = to_page([results] if isinstance(results, Result) else results, title, thresholds)
    return write_page(Path(path), page)


def to_page(results: Iterable[Result[Any]], title: str, thresholds: Thresholds | None = None) -> str:
    """Return the page as HTML."""
    template, style = page_part("review.html"), page_part("base.css") + page_part("review.css")
    script = "\n".join(page_part(f"{name}.js") for name in SCRIPTS)
    return Template(template).substitute(
        title=html(title),
        good=f"{BANDS['good']:.0%}",
        doubtful=f"{BANDS['doubtful']:.0%}",
        style=style,
        style_digest=digest_of_source(style),
        script=script,
        script_digest=digest_of_source(script),
        data=to_inert_json(to_data(results, thresholds)),
    )


def to_inert_json(data: object) -> str:
    r"""Return data as JSON in ASCII that ends no element and opens no comment: `"</script>"` → `"\u003c/script>"`."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def to_data(results: Iterable[Result[Any]], thresholds: Thresholds | None = None) -> dict[str, Any]:
    """Return the data of the page: the documents, their fields and types, and a digest as the key of decisions."""
    results = [_checked_result(position, result) for position, result in enumerate(results)]
    fields: dict[str, int] = {}
    ids: dict[str, int] = {}
    table = TypeTable()
    types = iter(_types_of_results([result for result in results if result.error is None], table))
    documents = [
        _document(result, next(types), f"results[{position}]", fields, ids) if result.error is None else _failed(result)
        for position, result in enumerate(results)
    ]
    kinds = {"number" if kind in {"integer", "decimal"} else kind for one in table.types for kind in one["kinds"]}
    for result, document in zip(results, documents, strict=True):
        if result.error is None:
            document["stated"] = _statements(result.document, kinds)
    lacking = [thresholds.lacking(result) if thresholds else {} for result in results]
    ordered = sorted(zip(results, documents, lacking, strict=True), key=lambda one: not one[2])
    digest = short_digest(json.dumps([[document for _, document, _ in ordered], table.types]))
    for result, document, too_low in ordered:
        document["pages"] = _pages(result)
        document["flags"] += _review_reasons(result, too_low, thresholds)
        document["name"] = result.id
        document["error"] = "" if result.error is None else f"{type(result.error).__name__}: {result.error}"
    return {"digest": digest, "fields": list(fields), "types": table.types, "documents": [one[1] for one in ordered]}


def _review_reasons(result: Result[Any], lacking: Mapping[str, float], thresholds: Thresholds | None) -> list[str]:
    """Return why a person has to look at a result, but for an error, which is shown anyway."""
    if thresholds is None or not lacking or result.error is not None:
        return []
    if (least := thresholds.results.least) is None:
        return [f"no confidence is certified for results with a risk of {thresholds.risk:.1%}"]
    return [f"{path or 'the result'}: {trust:.3g} is below {least:g}" for path, trust in lacking.items()]


def _checked_result(position: int, result: object) -> Result[Any]:
    """Return a result. Raises TypeError for another object, and for a document that is no text."""
    if not isinstance(result, Result):
        raise TypeError(
            f"results[{position}] is {shown(result)}, not a Result. Pass results, such as those of extract_results, "
            "and not their values."
        )
    if not isinstance(result.document, str):
        raise TypeError(f"results[{position}].document is {shown(result.document)}. Pass its text.")
    return result


def _failed(result: Result[Any]) -> dict[str, Any]:
    """Return a document that failed: there is nothing to review."""
    return {"id": short_digest(result.id), "text": "", "values": [], "flags": [], "data": {"members": []}, "stated": {}}


def _types_of_results(results: Sequence[Result[Any]], table: TypeTable) -> list[PlaceTypes]:
    """Return the types at the places of each result; results of one type have theirs together."""
    digests = [
        type(instance_of(result)) if result.provenance is None else result.provenance.type_digest for result in results
    ]
    results_by_type = defaultdict(list)
    for digest, result in zip(digests, results, strict=True):
        results_by_type[digest].append(result)
    types = {}
    for digest, group in results_by_type.items():
        values = [value for value in map(instance_of, group) if value is not None]
        types[digest] = PlaceTypes(values or [result.data for result in group], table)
    return [types[digest] for digest in digests]


def _document(
    result: Result[Any], types: PlaceTypes, name: str, fields: dict[str, int], ids: dict[str, int]
) -> dict[str, Any]:
    """Return one document with its values; new names of fields are numbered, and ids that were given counted."""
    evidence = {**dict.fromkeys(result.missing, MISSING_EVIDENCE), **result.evidence}
    steps_of_path = {path: path_to_steps(path) for path in {**result.evidence, **evidence}}
    inner_steps = {steps[:length] for steps in steps_of_path.values() for length in range(len(steps))}
    data = {
        steps_to_path(steps): (steps, value) for steps, value in end_values(result.data) if steps not in inner_steps
    }
    to_utf16 = utf16_offsets(result.document)
    values: list[dict[str, Any]] = []
    places: list[tuple[Steps, int]] = []
    for path in _in_order(steps_of_path, data):
        steps, value = data[path] if path in data else (steps_of_path[path], None)
        if path not in evidence and value not in ([], {}):
            raise ValueError(f"{name} has no evidence for {path!r}. Pass a result with the evidence that it came with.")
        support = evidence.get(path, MISSING_EVIDENCE)
        if support.span is not None and support.span[1] > len(result.document):
            raise ValueError(
                f"{name}.evidence[{path!r}].span is {support.span}, and the document has {len(result.document):,} "
                "characters. Pass the result with the document that it was made from."
            )
        places.append((steps, len(values)))
        values.append(
            {
                "path": path,
                "field": fields.setdefault(steps_to_field(steps), len(fields)),
                "type": types.at(steps),
                "json": json.dumps(value, allow_nan=False) if path in data else None,
                "span": None if support.span is None else [to_utf16(end) for end in support.span],
                "words": MATCH_WORDS[support.match],
                "match": support.match,
                "confidence": support.confidence,
                "band": support.band,
                **({"boxes": support.boxes} if support.boxes else {}),
                "flags": [flag.reason for flag in result.flags if flag.path == path],
            }
        )
    identity = document_id(result.document, ids)
    empty_lists = {
        number
        for steps, number in places
        if (written := values[number]["json"]) == "[]" or (written in {None, "null"} and types.items(steps) is not None)
    }
    tree = _tree((), places, types, empty_lists)
    paths = {one["path"] for one in values}
    flags = [str(flag) for flag in result.flags if flag.path not in paths]
    return {"id": identity, "text": result.document, "values": values, "flags": flags, "data": tree}


def _pages(result: Result[Any]) -> dict[int, Any]:
    """Return the images of the pages on which evidence has boxes, if the file is there as it was read."""
    if not result.source:
        return {}
    numbers = {box.page for item in result.evidence.values() for box in item.boxes}
    return {number: image._asdict() for number, image in page_images(Path(result.id), result.source, numbers).items()}


def document_id(document: str, ids: dict[str, int]) -> str:
    """Return the id of a document: its digest; `-2` follows with the second that is the same. `ids` counts them."""
    digest = short_digest(document)
    ids[digest] = ids.get(digest, 0) + 1
    return digest if ids[digest] == 1 else f"{digest}-{ids[digest]}"


def _in_order(evidence_paths: Iterable[str], data: Iterable[str]) -> Iterator[str]:
    """Yield the paths of some data, and after each those that are known beside it, such as of fields left out."""
    paths_after: dict[str | None, list[str]] = {None: [], **{path: [] for path in data}}
    last_path = None
    for path in evidence_paths:
        if path in paths_after:
            last_path = path
        else:
            paths_after[last_path].append(path)
    for place, following in paths_after.items():
        yield from following if place is None else (place, *following)


def _tree(steps: Steps, places: Sequence[tuple[Steps, int]], types: PlaceTypes, empty_lists: set[int]) -> Any:
    """Return the tree at a place, with the number of each value.

    A record is its `members`, with their names. A list is its `items`, its `path` and `field`, the type of what can be
    added to it, and the number that it has while it is `empty`, or null.

    `("a", 0)`: 5, `("a", 1)`: 6 → `{"members": [["a", {"items": [5, 6], "path": "a", …}]]}`
    """
    children: dict[str | int, list[tuple[Steps, int]]] = {}
    for place, number in places:
        if len(place) > len(steps):
            children.setdefault(place[len(steps)], []).append((place, number))
    empty_list = places[0][1] if places and not children else None
    if empty_list is not None and empty_list not in empty_lists:
        return empty_list
    parts = [(step, _tree((*steps, step), inner, types, empty_lists)) for step, inner in children.items()]
    if any(isinstance(step, str) for step in children):
        return {"members": parts}
    names = {"path": steps_to_path(steps), "field": steps_to_field(steps)}
    return {"items": [node for _, node in parts], **names, "type": types.items(steps), "empty": empty_list}


def _statements(document: str, kinds: Container[str]) -> dict[str, list[tuple[int, int, list[str]]]]:
    """Return the statements of a document by kind: their spans, in UTF-16, and their values as JSON text."""
    to_utf16 = utf16_offsets(document)
    return {
        kind: [(to_utf16(one.span[0]), to_utf16(one.span[1]), [*map(to_text, one.values)]) for one in read(document)]
        for kind, (read, to_text) in _STATEMENT_READERS.items()
        if kind in kinds
    }


_STATEMENT_READERS: Mapping[str, tuple[Callable[[str], Sequence[Statement[Any]]], Callable[[Any], str]]] = {
    "number": (stated_numbers, "{:f}".format),
    "date": (stated_dates, date.isoformat),
    "date-time": (stated_datetimes, datetime.isoformat),
    "time": (stated_times, time.isoformat),
}
"""How statements of a kind are read, and how their values are spelled."""


def utf16_offsets(text: str) -> Callable[[int], int]:
    """Return a function from offsets in characters (code points) to those in UTF-16, which JavaScript counts in."""
    wide = [] if text.isascii() else [place for place, character in enumerate(text) if character > "\uffff"]
    return lambda offset: offset + bisect_left(wide, offset)  # each wide character before it takes two


def page_part(name: str) -> str:
    """Return a source of the page; `base.css`, `elements.js` and `evidence.js` are those of other pages, too."""
    return (Path(__file__).parent / "page" / name).read_text(encoding="utf-8")


def digest_of_source(source: str) -> str:
    """Return the digest by which a content security policy names a script or a style sheet."""
    return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
