"""The kinds of mistakes in answers that `benchmarks.public --out` kept: `python -m benchmarks.mistakes FOLDER ANSWERS`.

Each wrong value is counted once, in the first kind that applies. The table has a column for each model of the file;
`--shown 3` prints that many random mistakes of each kind below it.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from benchmarks.public import Document, read_answers, read_documents, rows
from structured.jobs.figures import ValueScore
from structured.jobs.review_page import document_id
from structured.output_types.stated_dates import stated_dates

KINDS = {
    "unstated": "a value where nothing is stated; in a list, an item too many",
    "date": "the right date, in another form",
    "boundary": "the right place in the text, with another boundary",
    "field": "the value of another field",
    "invented": "text that the document does not have",
    "other": "other text of the document",
}
"""The kinds of mistakes, in the order in which they are tried."""


def folded(value: Any) -> str:
    """Return a value as text without case and runs of white space, as the scores compare it."""
    return " ".join(str(value).casefold().split())


def kind_of(value: ValueScore, document: str, expected: frozenset[str]) -> str:
    """Return the kind of a wrong value; `document` and all values that it states are folded."""
    given, right = folded(value.given), folded(value.expected)
    if value.expected is None:
        return "unstated"
    dates = [{day for statement in stated_dates(text) for day in statement.values} for text in (given, right)]
    if dates[0] & dates[1]:
        return "date"
    if given in document and (given in right or right in given):
        return "boundary"
    if given in expected:
        return "field"
    return "other" if given in document else "invented"


def mistakes(documents: Sequence[Document], answers: Sequence[Any]) -> Iterator[tuple[str, str, ValueScore]]:
    """Yield each wrong value with its kind and the name of its set."""
    texts = {document_id(one.text, {}): folded(one.text) for one in documents}
    for row in rows(documents, answers):
        for document in row.evaluation.documents:
            stated = frozenset(folded(one.expected) for one in document.values if one.expected is not None)
            for value in document.values:
                if value.given is not None and not value.is_right:
                    yield kind_of(value, texts[document.id], stated), row.set, value


def table(counted: Mapping[str, Counter[str]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown: the share of each kind in the wrong values of each model."""
    yield f"| mistake | {' | '.join(counted)} |"
    yield "|---" * (len(counted) + 1) + "|"
    for kind, name in KINDS.items():
        yield f"| {name} | {' | '.join(f'{one[kind] / max(one.total(), 1):.0%}' for one in counted.values())} |"
    yield f"| *of wrong values* | {' | '.join(f'{one.total():,}' for one in counted.values())} |"


def main() -> None:
    """Print the table, and the mistakes that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the documents, as for benchmarks.public")
    parser.add_argument("answers", type=Path, help="a file that --out of benchmarks.public has written")
    parser.add_argument("--shown", type=int, default=0, help="mistakes of each kind to print; default: none")
    arguments = parser.parse_args()
    documents = read_documents(arguments.folder, (), count=10**9)
    found: dict[str, list[tuple[str, str, ValueScore]]] = defaultdict(list)
    of_way = attrgetter("way", "model")
    for (way, model), answers in groupby(sorted(read_answers(arguments.answers), key=of_way), of_way):
        found[model if way == "structured" else f"{model}, {way}"] += mistakes(documents, list(answers))
    print("\n".join(table({name: Counter(kind for kind, _, _ in some) for name, some in found.items()})))
    for name, some in found.items():
        for kind in KINDS if arguments.shown else ():
            of_kind = [one for one in some if one[0] == kind]
            for _, set_name, value in random.Random(0).sample(of_kind, min(arguments.shown, len(of_kind))):
                print(f"{name} | {kind} | {set_name} {value.field}: {value.given!r} → {value.expected!r}")


if __name__ == "__main__":
    main()
