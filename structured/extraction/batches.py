"""Batches: many documents of one type, or each of a type of its own."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from structured.errors.values import counted, shown
from structured.extraction.documents.document import Documents, each_document
from structured.extraction.extractor import Extractor, make_extractor
from structured.extraction.idle_options import warn_of_types
from structured.extraction.options import Errors, Options, check_absent, check_batch, checked_options
from structured.extraction.outcomes import Outcome
from structured.extraction.output.batch import BatchSummary, Output
from structured.extraction.output.journal import Resume
from structured.extraction.run import Run
from structured.models import find_model
from structured.output_types.optional_fields import Absent


class Delivery(NamedTuple):
    """How the results of a batch are handed over; see `extract_batch`."""

    errors: Errors
    progress: bool | None
    output: Output | None
    resume: Resume


def batch(  # noqa: PLR0913  what a call was given
    output_type: object,
    documents: Documents,
    absent: Absent | None,
    delivery: Delivery,
    options: Options,
    *,
    evidence: bool,
) -> list[Any] | BatchSummary:
    """Return the results for documents, or what was done where they are written; see `extract_batch`."""
    errors, progress, output, resume = delivery
    check_batch(errors, progress)
    if not isinstance(output_type, list):
        extractor = make_extractor(output_type, absent, options, evidence=evidence)
        if output is None:
            return extractor.batch(documents, errors=errors, progress=progress)
        return extractor.batch(documents, output=output, resume=resume, errors=errors, progress=progress)
    if output is not None:
        raise ValueError(f"output is {shown(output)}, and there are several types. Write those of one type at a time.")
    given = checked_options(options)
    absent = check_absent("absent", absent)
    return outcome_of_each(output_type, documents, absent, given, evidence=evidence, progress=progress).all(errors)


def outcome_of_each(  # noqa: PLR0913  what a call was given
    output_types: Sequence[object],
    documents: Documents,
    absent: Absent | None,
    options: Options,
    *,
    evidence: bool = False,
    progress: bool | None = None,
) -> Outcome:
    """Return what becomes of documents, each asked for an instance of its own type; all go through the model together.

    Raises ValueError if there are more of one than of the other, and for examples and paths, which are of one
    type; everything else as `Extractor.batch`.
    """
    listed = list(each_document(documents))
    if len(output_types) != len(listed):
        raise ValueError(
            f"Pass one type for each document: these are {counted(len(output_types), 'type')} for "
            f"{counted(len(listed), 'document')}."
        )
    for name, given in (
        ("examples", options.get("examples")),
        ("grounded", options.get("grounded")),
        ("absent", absent),
    ):
        if given and given is not True and len(set(map(id, output_types))) > 1:
            raise ValueError(f"{name} is {shown(given)}, and there are several types. Pass it with one type at a time.")
    options = {**options, "model": find_model(options.get("model"))}
    extractors: dict[int, Extractor[Any]] = {}
    for output_type in output_types:
        if id(output_type) not in extractors:
            extractors[id(output_type)] = make_extractor(output_type, absent, options, evidence=evidence)
    tasks = [extractors[id(output_type)].task for output_type in output_types]
    run = Run.of(options)
    warn_of_types(tasks)
    return run.outcome(zip(tasks, listed, strict=True), total=len(listed), progress=progress)
