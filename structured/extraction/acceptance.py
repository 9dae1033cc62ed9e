"""Acceptance and repair: which answers count, what is written again of the others, and the result that is made of one.

An answer is written again where it was rejected, and kept elsewhere. What is kept is known, so that it
costs no pass of the model. Only where nobody can tell what is wrong, such as after a rule for several fields, the whole
answer is written again.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self, cast

from pydantic import ValidationError

from structured.automata.byte_automaton import accepts_text
from structured.decoding.requests import Generation
from structured.decoding.strategy import Search
from structured.errors import Attempt, BudgetError, PatternError, PromptError, SchemaError
from structured.errors.values import message
from structured.extraction.guided_task import GuidedItem, Repair
from structured.extraction.long_documents import LongDocument
from structured.extraction.options import RETRIES, Options, Repairs
from structured.extraction.task import Answer, Item
from structured.output_types.json_output import rewriting
from structured.output_types.missing_values import ParsedAnswer
from structured.output_types.paths import Steps, has, steps_to_path
from structured.results.attribution import Before, Kept, attribute, sureness, without_copies
from structured.results.evidence import Calibration, Evidence, without_unsupported
from structured.results.json_text import spans
from structured.results.merging import Conflicts
from structured.results.result import Reading, Result, read_answer


def repair(item: GuidedItem, text: str, places: Collection[Steps], before: Before, told: str = "") -> Repair | None:
    """Return the repair of some places of an answer, told what was wrong with them; None if there is none."""
    task, wanted = item.task, item.task.output_type
    if not places or () in places or wanted.root is None or not accepts_text(item.index.automaton, text):
        return None
    outermost = {one for one in places if not any(one[:depth] in places for depth in range(len(one)))}
    found = {steps: (start, end) for steps, start, end in spans(text) if steps in outermost}
    try:
        automaton = rewriting(wanted, text, found, item.document)
        if automaton is None:
            return None
        index = task.index_of(automaton, item)
        healed = item.healed
        if told:
            healed = task.with_instructions(told).healed(item.conversation, index)
        return Repair(Kept(before, frozenset(found)), healed, task.guide(index, healed, item.max_tokens))
    except (SchemaError, PatternError, PromptError, BudgetError):
        return None


def rejected_places(error: Exception, text: str) -> set[Steps]:
    """Return where Pydantic says that an answer is wrong; nothing if it does not say, or means all of it."""
    if not isinstance(error, ValidationError):
        return set()
    data = _data(text)
    return {_followed(one["loc"], data) for one in error.errors(include_url=False, include_context=False)}


def _data(text: str) -> Any:
    """Return the JSON value of an answer; None if it is no JSON, as nobody sees to with a server."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _followed(location: Collection[str | int], data: Any) -> Steps:
    """Return the steps of a location; it names branches of unions and functions as well."""
    steps: Steps = ()
    for step in location:
        if has(data, step):
            steps, data = (*steps, step), data[step]
    return steps


def explanation(rejected: Attempt) -> str:
    """Return the part of a prompt that says why an answer was rejected."""
    faults = [message(rejected.error)]
    if isinstance(rejected.error, ValidationError):
        data, errors = _data(rejected.text), rejected.error.errors(include_url=False)
        faults = [f"{steps_to_path(_followed(one['loc'], data))}: {one['msg']}".removeprefix(": ") for one in errors]
    return f"The answer {rejected.text} was rejected. {'; '.join(faults)}. Correct it."


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Which answers are accepted, and what of others is written again."""

    search: Search
    retries: int
    repairs: Repairs
    calibration: Calibration | None

    @classmethod
    def of(cls, search: Search, options: Options) -> Self:
        """Return what options ask for."""
        return cls(
            search,
            options.get("retries", RETRIES),
            options.get("repair", "field"),
            cast("Calibration | None", options.get("calibration")),
        )

    def accepted(self, item: Item, candidates: Sequence[Generation]) -> Answer | None:
        """Return the answer among candidates; if there is none, the item keeps what the next attempt needs."""
        answer = self._answer_among(item, candidates)
        if answer is None:
            self._prepare_next(item, candidates[0])
        return answer

    def result(
        self, item: Item | LongDocument, answer: Answer, conflicts: Conflicts = MappingProxyType({})
    ) -> Result[Any]:
        """Return the result for a document."""
        task, given, value = item.task, item.given, answer.value
        stated = value if isinstance(value, ParsedAnswer) else None
        calibrate = None if self.calibration is None else self.calibration.apply
        return Result(
            given.id,
            given.position,
            item.document,
            given.document.metadata,
            answer.text,
            missing=() if stated is None else stated.missing,
            attempts=tuple(item.attempts),
            generations=tuple(answer.generations),
            usage=item.usage,
            seconds=item.seconds,
            conflicts={
                path: [(value, self._calibrated(evidence)) for value, evidence in others]
                for path, others in conflicts.items()
            },
            _instance=value if stated is None else stated.value,
            source="" if given.document.layout is None else given.document.layout.source,
            _unmade=None if stated is None else stated.error,
            _reading=Reading(
                task.output_type,
                answer.candidates,
                answer.kept,
                given.document.pages,
                given.document.layout,
                calibrate,
                answer.evidence,
                stated,
                lambda: task.provenance,
            ),
        )

    def _answer_among(self, item: Item, candidates: Sequence[Generation]) -> Answer | None:
        """Return the answer that candidates give; None if validators reject all of them."""
        valid: list[tuple[Generation, Any]] = []
        rejected: set[str] = set()
        for generation in candidates:
            if generation.text in rejected:  # particles are often copies
                continue
            answer = self._read(item, generation)
            if isinstance(answer, Attempt):
                item.attempts.append(answer)
                rejected.add(generation.text)
            else:
                valid.append((generation, answer))
            if valid and not self.search.method.vote:
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
        text = item.task.output_type.settled(text)
        generations = [generation for generation, _ in valid]
        sampled = candidates if self.search.method.is_of_samples else generations  # beams differ, and agree on nothing
        answer = Answer(text, value, generations, sampled, item.kept)
        removes = item.task.output_type.removes_unsupported
        if item.part is None and not removes:
            return answer
        evidence = attribute(item.task.output_type, item.document, text, sampled, item.kept)
        return self._supported(item, answer, evidence) if removes else answer._replace(evidence=evidence)

    @staticmethod
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

    def _calibrated(self, evidence: Evidence) -> Evidence:
        return evidence if self.calibration is None else evidence.calibrated(self.calibration.apply)

    @staticmethod
    def _read(item: Item, generation: Generation) -> Any:
        """Return what an answer says, or why it is rejected."""
        fault = item.fault(generation)
        if fault is not None:
            return Attempt(generation.text, ValueError(fault))
        return read_answer(item.task.output_type, generation.text)

    def _prepare_next(self, item: Item, generation: Generation) -> None:
        """Let an item know what is kept of an answer that was rejected, or what the model is told of it."""
        if isinstance(item, GuidedItem):
            item.repair = self._repair_of_rejected(item, generation)
        elif self.repairs == "told":
            item.note(explanation(item.attempts[-1]))

    def _repair_of_rejected(self, item: GuidedItem, generation: Generation) -> Repair | None:
        """Return what is kept of an answer that validators reject; None if all of it is to be written again."""
        rejected = next((one for one in reversed(item.attempts) if one.text == generation.text), None)
        if self.repairs == "whole" or rejected is None or item.task.output_type.root is None:
            return None
        places = rejected_places(rejected.error, rejected.text)
        told = explanation(rejected) if self.repairs == "told" else ""
        before = sureness(item.task.output_type, generation, item.kept)
        return repair(item, generation.text, places, before, told)
