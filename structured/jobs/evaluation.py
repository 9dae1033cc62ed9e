"""An evaluation: figures and outcomes, how they differ from those of another run, and how they are kept and shown."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import TypeAdapter, ValidationError

from structured.errors.values import counted, message
from structured.jobs.figures import (
    DocumentScore,
    FieldScore,
    Figure,
    Measure,
    Scores,
    counts_by_name,
    difference,
    figures,
    of_counts,
    of_documents,
)
from structured.output_types.paths import steps_to_path

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Evaluation(Scores):
    """Answers beside the right ones; `evaluate` makes it.

    Attributes:
        type: The name of the type; empty if it is not known.
        model: The name of the model, likewise.
        documents: The score of each document, in the order of the gold.
        rules: The rule for texts, or those of fields: `compare` of `evaluate`.
        keys: The fields that items of lists are matched by.
        samples: The draws that intervals are made of.
        seed: The seed of the draws.
        seconds: How long all documents took together; None if the answers were there before.
        unmatched: The results that no gold belongs to, and that are left out.
    """

    def compare(self, other: "Evaluation") -> "Difference":
        """Return how this differs from the evaluation of another run on the same gold.

        Raises ValueError if that has other documents, or was compared by other rules.
        """
        if (self.rules, self.keys) != (other.rules, other.keys):
            raise ValueError("The evaluations were made with different rules. Pass the same compare and keys to both.")
        mine, theirs = ({one.anchor: one for one in two.documents} for two in (self, other))
        if mine.keys() != theirs.keys():
            odd = next(iter(mine.keys() ^ theirs.keys()))
            raise ValueError(
                f"The evaluations are of different documents: {(mine.get(odd) or theirs[odd]).id!r} is in one of them "
                "alone. Evaluate both on the same gold."
            )
        return Difference(self, other)

    def to_json(self) -> str:
        """Return the evaluation as one JSON object: its figures for readers, and the scores behind them."""
        written = {
            "type": self.type,
            "model": self.model,
            "figures": {name: asdict(one) for name, one in self.figures.items()},
            "fields": {name: _record(one) for name, one in self.fields.items()},
            "lists": {name: _record(one) for name, one in self.lists.items()},
            "documents": [asdict(document) for document in self.documents],
            "rules": self.rules if isinstance(self.rules, str) else dict(self.rules),
            "keys": self.keys,
            "samples": self.samples,
            "seed": self.seed,
            "seconds": self.seconds,
            "unmatched": self.unmatched,
        }
        return json.dumps(written, ensure_ascii=False)

    @classmethod
    def from_json(cls, written: str) -> Self:
        """Return the evaluation that `to_json` wrote. Raises ValueError if it is none."""
        try:
            record = json.loads(written)
            for name in ("figures", "fields", "lists"):
                del record[name]
            documents = TypeAdapter(tuple[DocumentScore, ...]).validate_python(record.pop("documents"))
            return cls(documents=documents, keys=tuple(record.pop("keys")), **record)
        except ValidationError as error:
            fault = error.errors()[0]
            place = steps_to_path(("documents", *fault["loc"]))
            raise ValueError(f"This is no evaluation as to_json writes it: {place}: {fault['msg']}.") from error
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
            raise ValueError(f"This is no evaluation as to_json writes it: {message(error)}.") from error

    def to_html(
        self, path: str | PathLike[str], *, title: str = "Evaluation", review: str | PathLike[str] | None = None
    ) -> Path:
        """Write a page with the figures and the worst documents, and return its path.

        The page is one file, without scripts, and fetches nothing. For each document it shows what was expected and
        what was given, the difference highlighted.

        Parameters:
            path: The file to write. One that exists is replaced.
            title: The heading of the page.
            review: The page that `report` wrote of the same extractions; each document then has a link to it.
        """
        from structured.jobs.evaluation_views import to_page

        page = Path(path)
        page.write_text(to_page(self, title, page, None if review is None else Path(review)), encoding="utf-8")
        return page

    def __repr__(self) -> str:
        return f"Evaluation({self.type or 'of results'}, {counted(len(self.documents), 'document')})"

    def __str__(self) -> str:
        from structured.jobs.evaluation_views import as_text

        return as_text(self.__rich__())

    def __rich__(self) -> "RenderableType":
        from structured.jobs.evaluation_views import evaluation_tables

        return evaluation_tables(self)


@dataclass(frozen=True)
class Difference:
    """How an evaluation differs from another one on the same gold: this − other.

    Intervals are those of the differences, with the same documents drawn in both. Where one does not contain 0, the
    difference is hardly one of chance.

    Attributes:
        this: The evaluation that was asked.
        other: The other.
    """

    this: Evaluation
    other: Evaluation

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The difference of each figure that both have."""
        return self._figures(of_documents(self.this.documents), of_documents(self._others))

    def figure(self, name: str) -> Figure:
        """Return the difference of one figure, without computing those of the others."""
        ours, theirs = (of_documents(documents) for documents in (self.this.documents, self._others))
        return self._figures({name: ours[name]}, {name: theirs[name]})[name]

    @cached_property
    def fields(self) -> Mapping[str, Figure]:
        """The difference in the share of exact values, of each field that both have."""
        ours, theirs = (
            counts_by_name([[(one.field, one.outcome) for one in two.values] for two in documents])
            for documents in (self.this.documents, self._others)
        )
        names = [name for name in ours if name in theirs]
        return self._figures(
            {name: of_counts(ours[name])["exact"] for name in names},
            {name: of_counts(theirs[name])["exact"] for name in names},
        )

    @cached_property
    def better(self) -> list[tuple[DocumentScore, DocumentScore]]:
        """The documents on which this has a higher score, as it is here and as it is in the other; the most first."""
        return self._changed(1)

    @cached_property
    def worse(self) -> list[tuple[DocumentScore, DocumentScore]]:
        """The documents on which this has a lower score, likewise."""
        return self._changed(-1)

    @cached_property
    def _others(self) -> list[DocumentScore]:
        by_anchor = {one.anchor: one for one in self.other.documents}
        return [by_anchor[one.anchor] for one in self.this.documents]

    def _changed(self, sign: int) -> list[tuple[DocumentScore, DocumentScore]]:
        pairs = zip(self.this.documents, self._others, strict=True)
        changed = [(ours, theirs) for ours, theirs in pairs if sign * (ours.score - theirs.score) > 0]
        return sorted(changed, key=lambda pair: -abs(pair[0].score - pair[1].score))

    def _figures(self, ours: Mapping[str, Measure], theirs: Mapping[str, Measure]) -> dict[str, Figure]:
        this = self.this
        return figures(difference(ours, theirs), len(this.documents), samples=this.samples, seed=this.seed)

    def __repr__(self) -> str:
        return f"Difference({len(self.better)} better, {len(self.worse)} worse)"

    def __str__(self) -> str:
        from structured.jobs.evaluation_views import as_text

        return as_text(self.__rich__())

    def __rich__(self) -> "RenderableType":
        from structured.jobs.evaluation_views import difference_tables

        changed = {"better": self.better, "worse": self.worse}
        return difference_tables(self.this, self.other, self.figures, self.fields, changed)


def _record(score: FieldScore) -> dict[str, Any]:
    return {**asdict(score), "counts": score.counts._asdict()}
