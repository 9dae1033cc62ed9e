"""The report: extractions as one page that a person reviews in a browser.

The page is one file and fetches nothing. Documents, values and paths are data: JSON in an element that no browser runs,
with every `<` escaped. The page puts them on the screen as text, and its content security policy allows no script but
its own.

A value is JSON text in the page, so that what is exported has every digit that the model wrote: JavaScript has no whole
numbers above 2^53, and writes `1.0` as `1`.
"""

import base64
import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from copy import deepcopy
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from structured.errors.values import shown
from structured.output_types.evidence import BANDS, MATCH_WORDS, Evidence
from structured.output_types.extraction import Extraction
from structured.output_types.html import html
from structured.output_types.paths import Steps, leaves, path_to_steps, steps_to_field, steps_to_path

ABSENT = Evidence(None, "absent")
"""What is known of a value that was left out."""


def report(extractions: Iterable[Extraction[Any]], path: str | PathLike[str], *, title: str = "Review") -> Path:
    """Write a page on which a person reviews extractions, and return its path.

    The page shows each document with its values highlighted, and each value with its confidence and what supports it.
    A person accepts, corrects or rejects values there, and exports the decisions as JSON lines, one for each reviewed
    document:

        {"id": …, "document": …, "value": …, "reviewed": {"name": "accepted", "lines[2].price": "corrected"}}

    `value` is the data with the corrections, and without the values that were rejected. `id` is a digest of the
    document.

    Parameters:
        extractions: The results of calls with `evidence=True`.
        path: The file to write. One that exists is replaced.
        title: The heading of the page.

    Returns:
        The path of the page.

    Raises:
        TypeError: One of the extractions is something else, such as the error of a document that failed.
        ValueError: An extraction has no evidence, or a span that is outside of its document.
    """
    page = Path(path)
    page.write_text(to_page(extractions, title), encoding="utf-8", newline="\n")
    return page


def to_page(extractions: Iterable[Extraction[Any]], title: str) -> str:
    """Return the page as HTML."""
    template, style, script = (_part(f"review.{kind}") for kind in ("html", "css", "js"))
    return Template(template).substitute(
        title=html(title),
        good=f"{BANDS['good']:.0%}",
        doubtful=f"{BANDS['doubtful']:.0%}",
        style=style,
        style_digest=_digest_of_source(style),
        script=script,
        script_digest=_digest_of_source(script),
        data=to_inert_json(to_data(extractions)),
    )


def to_inert_json(data: object) -> str:
    r"""Return data as JSON in ASCII that ends no element and opens no comment: `"</script>"` → `"\u003c/script>"`."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def to_data(extractions: Iterable[Extraction[Any]]) -> dict[str, Any]:
    """Return what the page shows: the documents, the fields that they have, and a digest to keep decisions under."""
    fields: dict[str, int] = {}
    ids: dict[str, int] = {}
    documents = [_document(extraction, position, fields, ids) for position, extraction in enumerate(extractions)]
    digest = _digest(json.dumps(documents))
    return {"digest": digest, "fields": list(fields), "documents": documents}


def _document(
    extraction: Extraction[Any], position: int, fields: dict[str, int], ids: dict[str, int]
) -> dict[str, Any]:
    """Return one document with its values; new names of fields are numbered, and ids that were given counted."""
    if not isinstance(extraction, Extraction):
        raise TypeError(f"extractions[{position}] is {shown(extraction)}, not an Extraction. Leave it out.")
    values = {steps_to_path(steps): json.dumps(value, allow_nan=False) for steps, value in leaves(extraction.data)}
    evidence = {**dict.fromkeys(extraction.missing, ABSENT), **extraction.evidence}
    paths = {**extraction.evidence, **evidence, **values}
    to_utf16 = Utf16Offsets(extraction.document)
    listed, tree = [], deepcopy(extraction.data)
    for number, path in enumerate(paths):
        if path not in evidence:
            raise ValueError(
                f"extractions[{position}] has no evidence for {path!r}. Pass evidence=True to the call that makes it."
            )
        steps, found = path_to_steps(path), evidence[path]
        tree = _replaced(tree, steps, number)
        _check_span(found.span, extraction.document, f"extractions[{position}].evidence[{path!r}]")
        listed.append(
            {
                "path": path,
                "field": fields.setdefault(steps_to_field(steps), len(fields)),
                "json": values.get(path),
                "span": None if found.span is None else [to_utf16(end) for end in found.span],
                "words": MATCH_WORDS[found.match],
                "match": found.match,
                "confidence": found.confidence,
                "band": found.band,
            }
        )
    digest = _digest(extraction.document)
    ids[digest] = ids.get(digest, 0) + 1
    name = digest if ids[digest] == 1 else f"{digest}-{ids[digest]}"
    return {"id": name, "text": extraction.document, "values": listed, "data": tree}


def _replaced(data: Any, steps: Steps, value: object) -> Any:
    """Return data with a value in place of another, or added to it: `{"a": [5]}`, `("a", 0)`, 1 → `{"a": [1]}`."""
    if not steps:
        return value
    inside = data
    for step in steps[:-1]:
        inside = inside[step]
    inside[steps[-1]] = value
    return data


def _check_span(span: tuple[int, int] | None, document: str, name: str) -> None:
    if span is not None and not 0 <= span[0] <= span[1] <= len(document):
        raise ValueError(
            f"{name}.span is {span}, and the document has {len(document):,} characters. Pass the extraction with the "
            "document that it was made from."
        )


class Utf16Offsets:
    """The offsets of a text in UTF-16, which JavaScript counts in, from those in characters (code points)."""

    def __init__(self, text: str) -> None:
        self._wide: Sequence[int] = (
            () if text.isascii() else [place for place, character in enumerate(text) if character > "\uffff"]
        )

    def __call__(self, offset: int) -> int:
        """Return an offset in UTF-16 code units: each character before it that is above U+FFFF takes two."""
        return offset + bisect_left(self._wide, offset)


def _part(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _digest_of_source(source: str) -> str:
    """Return the digest by which a content security policy names a script or a style sheet."""
    return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
