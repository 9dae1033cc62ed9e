"""The call that evaluates: an extractor on documents with right answers, or answers that are there already."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Any

from structured.errors.values import counted, message, shown
from structured.extraction.extractor import Extractor
from structured.extraction.records import differences
from structured.jobs.evaluation import IGNORED, Evaluation
from structured.jobs.figures import DocumentScore, compared_values
from structured.jobs.gold import Gold, GoldLike, answer_data, is_plain, read_gold
from structured.jobs.review_page import annotation_of, document_id
from structured.output_types.keys import key_fields
from structured.output_types.output_type import OutputType
from structured.output_types.resolve import resolve_type
from structured.results.comparison import Compare, Comparison, can_be_key
from structured.results.result import Provenance, Result, instance_of, made_of


def evaluate(  # noqa: PLR0913  the answers, the gold and the rules
    answers: Extractor[Any] | Iterable[Any],
    gold: GoldLike,
    *,
    compare: Compare = "exact",
    keys: Sequence[str] | None = None,
    output_type: object = None,
    samples: int = 1000,
    seed: int = 0,
    progress: bool | None = None,
) -> Evaluation:
    """Compare answers with the right ones, value by value.

        evaluation = evaluate(Extractor(Invoice), "gold.jsonl")
        print(evaluation)
        evaluation.figures["f1"].value

    A value is `right`, `wrong`, `missing` (one was expected, none given), `invented` (the other way round), or `absent`
    (neither). Null, an empty list and an empty object say nothing. A document that fails has an error; all values
    expected of it are missing, and what it rightly leaves out does not count.

    Numbers are compared by value, dates, times and decimals too where the type has them, and texts by a rule. Items of
    lists are matched whatever their order, so that as many values as possible are right; those with no value in common
    are not. Those of tuples are compared in order.

    Parameters:
        answers: An extractor; or what it returned: results, or instances, data and errors in the order of the gold.
        gold: Documents with their right answers: pairs, whose second part is an instance, plain data or a `Result`; or
            the path of a file of JSON lines, as the review page exports it:
            `{"document": …, "value": …}`, with an `"id"`, and with `"spans"` as `{"name": [0, 5]}` if they are known.
            Of a line with `"reviewed"` only the fields count whose every value a person saw.
        compare: The rule for texts: `"exact"`, after Unicode normalisation (NFC) and without the white space around
            them, or `"folded"`, but for case, white space and kinds of dashes and quotes. Or the rules of some fields
            by their paths: `{"lines[].item": "folded"}`.
        keys: The fields that items of lists are matched by, such as `"lines[].number"`, in place of the above; by
            default those that the type marks with `Key`.
        output_type: The type of the answers; by default that of the extractor, or the class of the answers.
        samples: The draws that the intervals of figures are made of.
        seed: The seed of these draws.
        progress: As for `extract_batch`.

    Raises:
        ValueError: A line or a value of the gold is not of the type, a rule or a field is unknown, or there are not as
            many answers as documents.
        PromptError: The file of the gold cannot be read.
        ModelError: The extractor's model failed.
    """
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
        raise ValueError(f"samples is {shown(samples)}; it must be a whole number of at least 1.")
    extractor = answers if isinstance(answers, Extractor) else None
    if isinstance(answers, str | bytes | Mapping) or not isinstance(answers, Extractor | Iterable):
        raise TypeError(f"answers is {shown(answers)}. Pass an Extractor, or a list of its results.")
    listed_answers = [] if isinstance(answers, Extractor) else list(answers)
    resolved_type = _answer_type(extractor, listed_answers, gold, output_type)
    golds = list(read_gold(gold, resolved_type))
    if not golds:
        raise ValueError("The gold has no documents. Pass at least one.")
    root = None if resolved_type is None else resolved_type.root
    if keys is None:
        keys = [] if resolved_type is None else list(filter(can_be_key, key_fields(resolved_type)))
    comparison = Comparison(root, compare, keys)
    started = perf_counter()
    ids: dict[str, int] = {}
    anchors = [document_id(one.text, ids) for one in golds]
    unmatched = 0
    if extractor is not None:
        results = extractor.results([one.original for one in golds], progress=progress)
        placed_answers: Iterable[tuple[int | None, Any]] = ((result.position, result) for result in results)
    else:
        placed_answers = _placed(listed_answers, golds, anchors)
    scores: dict[int, DocumentScore] = {}
    provenances: list[Provenance | None] = []
    no_result = LookupError("there is no result of this document")
    without_result = ((place, no_result) for place in range(len(golds)) if place not in scores)  # after all others
    for place, given in chain(placed_answers, without_result):
        if place is None:
            unmatched += 1
            continue
        score = partial(_score, golds[place], anchors[place], comparison, resolved_type)
        answer, scores[place] = made_of(given, score) if isinstance(given, Result) else (given, score(given))
        if _error_of(answer) is None:
            provenances.append(answer.provenance if isinstance(answer, Result) else None)
    return Evaluation(
        "" if resolved_type is None else resolved_type.name,
        "" if extractor is None else extractor.model.name,
        tuple(scores[place] for place in range(len(golds))),
        compare if isinstance(compare, str) else dict(compare),
        tuple(keys),
        samples,
        seed,
        None if extractor is None else perf_counter() - started,
        unmatched,
        _common_provenance(provenances),
    )


def _error_of(answer: object) -> BaseException | None:
    return answer if isinstance(answer, BaseException) else answer.error if isinstance(answer, Result) else None


def _common_provenance(provenances: Sequence[Provenance | None]) -> Provenance | None:
    """Return the provenance of all answers; None if one has none, or if they differ in what matters."""
    first = provenances[0] if provenances else None
    if first is None or any(one is None or differences(asdict(first), one, ignored=IGNORED) for one in provenances):
        return None
    return first


def _answer_type(
    extractor: Extractor[Any] | None, answers: Sequence[Any], gold: GoldLike, output_type: object
) -> OutputType[Any] | None:
    if output_type is not None:
        return resolve_type(output_type)
    if extractor is not None:
        return extractor.output_type
    gold_values = [pair[1] for pair in gold if isinstance(pair, tuple)] if isinstance(gold, list | tuple) else []
    values = [instance_of(one) if isinstance(one, Result) else one for one in [*answers, *gold_values]]
    instances = [value for value in values if not isinstance(value, BaseException) and not is_plain(value)]
    return resolve_type(annotation_of(instances)) if instances else None


def _placed(answers: Sequence[Any], gold: Sequence[Gold], anchors: Sequence[str]) -> list[tuple[int | None, Any]]:
    """Return answers with the places of their documents in the gold; None for a document that is not there."""
    if not answers or not all(isinstance(one, Result) for one in answers):
        if len(answers) != len(gold):
            raise ValueError(
                f"Got {counted(len(answers), 'answer')} for {counted(len(gold), 'document')} of the gold. Pass one "
                "for each, in their order, or results."
            )
        return list(enumerate(answers))
    places_by_name: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(gold):
        for name in {one.document.id, anchors[place].partition("-")[0]} - {""}:  # the digest alone
            places_by_name[name].append(place)
    places: dict[int, int] = {}
    taken: set[int] = set()
    for key in (lambda result: result.id, lambda result: document_id(result.document, {}) if result.document else ""):
        for number, result in enumerate(answers):
            free = [place for place in places_by_name.get(key(result), ()) if place not in taken]
            if re.fullmatch("0|[1-9][0-9]{0,9}", result.id) and result.document:  # it may be a place in some list
                free = [place for place in free if result.document.strip() == gold[place].text.strip()]
            if number not in places and free:
                taken.add(free[0])
                places[number] = free[0]
    if not places:
        raise ValueError("No result is of a document of the gold, by its id or its text.")
    return [(places.get(number), result) for number, result in enumerate(answers)]


def _score(
    gold: Gold, anchor: str, comparison: Comparison, output_type: OutputType[Any] | None, answer: Any
) -> DocumentScore:
    """Return the score of a document; an answer that the type does not write is an error, too."""
    result, error = answer if isinstance(answer, Result) else None, _error_of(answer)
    data = None
    if error is None:
        try:
            data = answer_data(answer, output_type)
        except Exception as wrong:  # noqa: BLE001  a validator of the type's author
            error = wrong
    values = compared_values(
        comparison.pairs(gold.data, data),
        gold.spans,
        {} if result is None else result.evidence,
        set() if result is None else {flag.path for flag in result.flags if flag.error is None},
    )
    answered = result if error is None else None
    costs = (None,) * 3 if answered is None else (answered.seconds, answered.usage, answered.confidence)
    return DocumentScore(
        gold.document.id or anchor,
        anchor,
        (gold.text[:2000].lstrip().splitlines() or [""])[0][:120],
        tuple(one for one in values if gold.counts(one.field) and not (error is not None and one.outcome == "absent")),
        None if error is None else f"{type(error).__name__}: {message(error)}",
        *costs,
    )
