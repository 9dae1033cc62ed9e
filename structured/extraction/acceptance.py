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
from structured.extraction.guided_task import AttemptStart, GuidedItem
from structured.extraction.long_documents import LongDocument
from structured.extraction.options import Options, Repair
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


def rejected_values(rejected: Attempt) -> list[tuple[Steps, str]]:
    """Return the steps of the values that Pydantic calls wrong, each with its message; none for other errors."""
    if not isinstance(rejected.error, ValidationError):
        return []
    try:
        data = json.loads(rejected.text)
    except ValueError:  # as nobody sees to with a server
        data = None
    errors = rejected.error.errors(include_url=False, include_context=False)
    return [(_steps_in_data(one["loc"], data), one["msg"]) for one in errors]


def _steps_in_data(location: Collection[str | int], data: Any) -> Steps:
    """Return the steps of a location of Pydantic's in some data, without the names of branches and functions.

    `("pet", "Cat", "age")`, `{"pet": {"age": "x"}}` → `("pet", "age")`
    """
    steps: Steps = ()
    for step in location:
        if has_member(data, step):
            steps, data = (*steps, step), data[step]
    return steps


def explanation(rejected: Attempt) -> str:
    """Return the part of a prompt that says why an answer was rejected."""
    faults = [f"{steps_to_path(steps)}: {fault}".removeprefix(": ") for steps, fault in rejected_values(rejected)]
    return f"The answer {rejected.text} was rejected. {'; '.join(faults or [message(rejected.error)])}. Correct it."


def accept_candidates(item: Item, candidates: Sequence[Generation], search: Search, repair: Repair) -> Answer | None:
    """Return the answer among candidates; if validators reject all, prepare the item for the next attempt."""
    answer = _answer_among(item, candidates, search)
    if answer is None and isinstance(item, GuidedItem):
        item.next_start = _start_after_rejection(item, candidates[0], repair)
    elif answer is None and repair == "told":
        item.feedback = explanation(item.attempts[-1])
    return answer


def result_of(
    item: Item | LongDocument, answer: Answer, options: Options, conflicts: Conflicts = MappingProxyType({})
) -> Result[Any]:
    """Return the result for a document."""
    task, input_document, value = item.task, item.input, answer.value
    parsed = value if isinstance(value, ParsedAnswer) else None
    calibration: Any = options.get("calibration")  # loaded where the options were checked
    calibrate = None if calibration is None else calibration.apply
    pages, layout = input_document.document.pages, input_document.document.layout

    def on_page(evidence: Evidence) -> Evidence:
        evidence = evidence if calibrate is None else evidence.calibrated(calibrate)
        return on_pages({"": evidence}, pages, layout)[""]

    return Result(
        id_of(input_document.original, input_document.position),
        input_document.position,
        item.document,
        input_document.document.metadata,
        answer.text,
        missing=() if parsed is None else parsed.missing,
        attempts=tuple(item.attempts),
        generations=tuple(answer.accepted_generations),
        usage=item.usage,
        seconds=item.seconds,
        conflicts={path: [(value, on_page(one)) for value, one in others] for path, others in conflicts.items()},
        _instance=value if parsed is None else parsed.value,
        source="" if layout is None else layout.source,
        _missing_error=None if parsed is None else parsed.error,
        _inputs=ResultInputs(
            task.output_type,
            answer.confidence_generations,
            answer.kept_answer,
            pages,
            layout,
            calibrate,
            answer.evidence,
            parsed,
            lambda: task.provenance,
        ),
    )


def _answer_among(item: Item, candidates: Sequence[Generation], search: Search) -> Answer | None:
    """Return the answer that candidates give; None if validators reject all of them."""
    output_type = item.task.output_type
    valid: list[tuple[Generation, Any]] = []
    rejected: set[str] = set()
    for generation in candidates:
        if generation.text in rejected:  # particles are often copies
            continue
        fault = item.fault(generation)
        answer = Attempt(generation.text, ValueError(fault)) if fault else read_answer(output_type, generation.text)
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
            text, value = item.task.elect(valid)
    except Exception as error:  # noqa: BLE001  what is voted on is made by the user's own code
        item.attempts += [Attempt(generation.text, error) for generation, _ in valid]
        return None
    text = output_type.settled(text)
    generations = [generation for generation, _ in valid]
    is_beam_search = isinstance(search.method, Beams)  # beams differ, and agree on nothing
    confidence_generations = generations if is_beam_search else candidates
    answer = Answer(text, value, generations, confidence_generations, item.kept_answer)
    if item.chunk is None and not output_type.removes_unsupported:
        return answer
    evidence = attribute(output_type, item.document, text, confidence_generations, item.kept_answer)
    if output_type.removes_unsupported:
        return _without_unsupported_values(item, answer, evidence)
    return answer._replace(evidence=evidence)


def _without_unsupported_values(item: Item, answer: Answer, evidence: Mapping[str, Evidence]) -> Answer | None:
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


def _start_after_rejection(item: GuidedItem, generation: Generation, repair: Repair) -> AttemptStart:
    """Return the start of the next attempt: what was not rejected is kept, where that is known."""
    task, output_type, text = item.task, item.task.output_type, generation.text
    rejected = next((attempt for attempt in reversed(item.attempts) if attempt.text == text), None)
    if repair == "whole" or rejected is None or output_type.root is None:
        return item.whole_start
    wrong = {steps for steps, _ in rejected_values(rejected)}
    if not wrong or () in wrong or not accepts_text(item.index.automaton, text):
        return item.whole_start
    outermost = {steps for steps in wrong if not any(steps[:depth] in wrong for depth in range(len(steps)))}
    spans_to_rewrite = {steps: (start, end) for steps, start, end in value_spans(text) if steps in outermost}
    try:
        automaton = rewriting_automaton(output_type, text, spans_to_rewrite, item.document)
        if automaton is None:
            return item.whole_start
        index = Index(automaton, task.model.vocabulary, table=item.index.table, name=output_type.name)  # with its masks
        healed = item.whole_start.healed
        if repair == "told":
            healed = task.with_instructions(explanation(rejected)).healed(item.input.conversation, index)
        kept = KeptAnswer(leaf_confidences(output_type, generation, item.kept_answer), frozenset(spans_to_rewrite))
        return AttemptStart.of(index, healed, item.max_tokens, kept)
    except (SchemaError, PatternError, PromptError, BudgetError):
        return item.whole_start
