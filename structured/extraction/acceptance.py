"""Acceptance and repair: which answers count, what is written again of the others, and the result that is made of one.

An answer is written again where it was rejected, and kept elsewhere. What is kept is known, so that it
costs no pass of the model. Only where nobody can tell what is wrong, such as after a rule for several fields, the whole
answer is written again.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from structured.automata.byte_automaton import accepts_text
from structured.decoding.requests import Generation
from structured.decoding.strategy import Beams, Search
from structured.errors import Attempt, BudgetError, PatternError, PromptError, SchemaError
from structured.errors.values import message
from structured.extraction.documents.document import id_of
from structured.extraction.guided_task import GuidedItem, Start
from structured.extraction.long_documents import LongDocument
from structured.extraction.options import Options, Repairs
from structured.extraction.task import Answer, Item
from structured.index.index import Index
from structured.output_types.json_output import rewriting_automaton
from structured.output_types.missing_values import ParsedAnswer
from structured.output_types.paths import Steps, has_member, steps_to_path
from structured.results.attribution import KeptAnswer, attribute, leaf_confidences, without_copies
from structured.results.evidence import Evidence, on_pages, without_unsupported
from structured.results.json_text import value_spans
from structured.results.merging import Conflicts
from structured.results.result import Result, ResultInputs, read_answer


def rejected_places(rejected: Attempt) -> list[tuple[Steps, str]]:
    """Return where Pydantic says that an answer is wrong, and why; nothing if it does not say."""
    if not isinstance(rejected.error, ValidationError):
        return []
    try:
        data = json.loads(rejected.text)
    except ValueError:  # as nobody sees to with a server
        data = None
    errors = rejected.error.errors(include_url=False, include_context=False)
    return [(_followed(one["loc"], data), one["msg"]) for one in errors]


def _followed(location: Collection[str | int], data: Any) -> Steps:
    """Return the steps of a location; it names branches of unions and functions as well."""
    steps: Steps = ()
    for step in location:
        if has_member(data, step):
            steps, data = (*steps, step), data[step]
    return steps


def explanation(rejected: Attempt) -> str:
    """Return the part of a prompt that says why an answer was rejected."""
    faults = [f"{steps_to_path(steps)}: {fault}".removeprefix(": ") for steps, fault in rejected_places(rejected)]
    return f"The answer {rejected.text} was rejected. {'; '.join(faults or [message(rejected.error)])}. Correct it."


def accepted(item: Item, candidates: Sequence[Generation], search: Search, repairs: Repairs) -> Answer | None:
    """Return the answer among candidates; if there is none, the item keeps what the next attempt needs."""
    answer = _answer_among(item, candidates, search)
    if answer is None and isinstance(item, GuidedItem):
        item.start = _next_start(item, candidates[0], repairs)
    elif answer is None and repairs == "told":
        item.feedback = explanation(item.attempts[-1])
    return answer


def result_of(
    item: Item | LongDocument, answer: Answer, options: Options, conflicts: Conflicts = MappingProxyType({})
) -> Result[Any]:
    """Return the result for a document."""
    task, given, value = item.task, item.given, answer.value
    stated = value if isinstance(value, ParsedAnswer) else None
    calibration: Any = options.get("calibration")  # loaded where the options were checked
    calibrate = None if calibration is None else calibration.apply
    pages, layout = given.document.pages, given.document.layout

    def placed(other: Evidence) -> Evidence:
        other = other if calibrate is None else other.calibrated(calibrate)
        return on_pages({"": other}, pages, layout)[""]

    return Result(
        id_of(given.source, given.position),
        given.position,
        item.document,
        given.document.metadata,
        answer.text,
        missing=() if stated is None else stated.missing,
        attempts=tuple(item.attempts),
        generations=tuple(answer.generations),
        usage=item.usage,
        seconds=item.seconds,
        conflicts={path: [(value, placed(one)) for value, one in others] for path, others in conflicts.items()},
        _instance=value if stated is None else stated.value,
        source="" if layout is None else layout.source,
        _missing_error=None if stated is None else stated.error,
        _inputs=ResultInputs(
            task.output_type,
            answer.candidates,
            answer.kept,
            pages,
            layout,
            calibrate,
            answer.evidence,
            stated,
            lambda: task.provenance,
        ),
    )


def _answer_among(item: Item, candidates: Sequence[Generation], search: Search) -> Answer | None:
    """Return the answer that candidates give; None if validators reject all of them."""
    wanted = item.task.output_type
    valid: list[tuple[Generation, Any]] = []
    rejected: set[str] = set()
    for generation in candidates:
        if generation.text in rejected:  # particles are often copies
            continue
        fault = item.fault(generation)
        answer = Attempt(generation.text, ValueError(fault)) if fault else read_answer(wanted, generation.text)
        if isinstance(answer, Attempt):
            item.attempts.append(answer)
            rejected.add(generation.text)
        else:
            valid.append((generation, answer))
        if valid and not search.method.vote:
            break
    if not valid:
        return None
    text, value = valid[0][0].text, valid[0][1]
    try:
        if len(valid) > 1:
            text, value = item.task.read_vote(valid)
    except Exception as error:  # noqa: BLE001  what is voted on is made by the user's own code
        item.attempts += [Attempt(generation.text, error) for generation, _ in valid]
        return None
    text = wanted.settled(text)
    generations = [generation for generation, _ in valid]
    sampled = generations if isinstance(search.method, Beams) else candidates  # beams differ, and agree on nothing
    answer = Answer(text, value, generations, sampled, item.kept)
    if item.part is None and not wanted.removes_unsupported:
        return answer
    evidence = attribute(wanted, item.document, text, sampled, item.kept)
    if wanted.removes_unsupported:
        return _supported(item, answer, evidence)
    return answer._replace(evidence=evidence)


def _supported(item: Item, answer: Answer, evidence: Mapping[str, Evidence]) -> Answer | None:
    """Return an answer without what its document does not have, or not as often; None if validators reject that."""
    output_type, value = item.task.output_type, answer.value

    def is_accepted(shorter: str) -> bool:
        nonlocal value
        other = read_answer(output_type, shorter)
        value = value if isinstance(other, Attempt) else other
        return value is other

    text, evidence = without_unsupported(output_type, answer.text, evidence)
    if text != answer.text:
        value = read_answer(output_type, text)
    if isinstance(value, Attempt):
        item.attempts.append(value)
        return None
    text, evidence = without_copies(output_type, item.document, text, evidence, is_accepted)
    return answer._replace(text=text, value=value, evidence=evidence)


def _next_start(item: GuidedItem, generation: Generation, repairs: Repairs) -> Start:
    """Return the start of the next attempt: what was not rejected is kept, where that is known."""
    task, wanted, text = item.task, item.task.output_type, generation.text
    rejected = next((one for one in reversed(item.attempts) if one.text == text), None)
    if repairs == "whole" or rejected is None or wanted.root is None:
        return item.first
    places = {steps for steps, _ in rejected_places(rejected)}
    if not places or () in places or not accepts_text(item.index.automaton, text):
        return item.first
    outermost = {one for one in places if not any(one[:depth] in places for depth in range(len(one)))}
    found = {steps: (start, end) for steps, start, end in value_spans(text) if steps in outermost}
    try:
        automaton = rewriting_automaton(wanted, text, found, item.document)
        if automaton is None:
            return item.first
        index = Index(automaton, task.model.vocabulary, table=item.index.table, name=wanted.name)  # with its masks
        healed = item.first.healed
        if repairs == "told":
            healed = task.with_instructions(explanation(rejected)).healed(item.given.conversation, index)
        kept = KeptAnswer(leaf_confidences(wanted, generation, item.kept), frozenset(found))
        return task.start(index, healed, item.max_tokens, kept)
    except (SchemaError, PatternError, PromptError, BudgetError):
        return item.first
