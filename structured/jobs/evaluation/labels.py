"""Labels: how figures, fields and problems are written for people, in tables and on pages."""

import re
from collections.abc import Mapping

from structured.errors.values import counted
from structured.jobs.evaluation.figures import Figure
from structured.jobs.evaluation.scores import DocumentScore
from structured.jobs.evaluation.totals import Scores

NAMES: Mapping[str, str] = {
    "exact": "values right",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "wrong_values": "given values wrong",
    "documents": "documents all right",
    "wrong_but_valid": "documents wrong but valid",
    "spans_equal": "spans equal",
    "spans_overlap": "spans overlapping",
    "calibration_error": "calibration error",
    "seconds": "seconds a document",
    "prompt_tokens": "prompt tokens a document",
    "sampled_tokens": "sampled tokens a document",
    "forced_tokens": "forced tokens a document",
}
"""Figures, for people."""

SHARES = frozenset({*NAMES} - {"seconds", "prompt_tokens", "sampled_tokens", "forced_tokens"})
"""Those of them that are shown as percentages."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")


def summary(evaluation: Scores) -> str:
    """Return in one line what was evaluated: `Person by packaged: 24 documents, 1 failed`."""
    of = " by ".join(filter(None, (evaluation.type, evaluation.model))) or "Answers"
    facts = [counted(len(evaluation.documents), "document")]
    if evaluation.failed:
        facts.append(f"{len(evaluation.failed):,} failed")
    if evaluation.unmatched:
        facts.append(f"{counted(evaluation.unmatched, 'result')} without gold left out")
    if evaluation.seconds is not None:
        facts.append(f"{evaluation.seconds:.1f} s")
    return f"{of}: {', '.join(facts)}"


def one_line(text: str, most: int = 60) -> str:
    """Return text of anybody as one line, shortened, without what a terminal would obey."""
    line = _CONTROL.sub(" ", text.encode(errors="replace").decode())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def shown_figure(name: str, value: float | None) -> str:
    """Return a figure as text: a share as a percentage."""
    if value is None:
        return "–"
    return f"{value:.1%}" if name in SHARES else f"{value:,.2f}" if name == "seconds" else f"{value:,.1f}"


def shown_interval(name: str, figure: Figure) -> str:
    """Return the interval of a figure as text; nothing if it has none."""
    if figure.low is None or figure.high is None:
        return ""
    return f"{shown_figure(name, figure.low)} to {shown_figure(name, figure.high)}"


def named(field: str) -> str:
    """Return the path of a field, or what stands in place of that of the answer itself."""
    return one_line(field) or "(answer)"


def problems(document: DocumentScore) -> str:
    """Return what is wrong with a document, in a few words: `name wrong, age missing`."""
    if document.error is not None:
        return document.error
    found: dict[str, list[str]] = {}
    for one in document.values:
        if not one.is_right:
            found.setdefault(one.outcome, []).append(named(one.field))
    return "; ".join(f"{outcome}: {', '.join(dict.fromkeys(fields))}" for outcome, fields in found.items())
