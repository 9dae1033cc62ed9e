"""Repair: an answer is written again where it was rejected or uncertain, and kept elsewhere.

What is kept is known, so that it costs no pass of the model. Only where nobody can tell what is wrong, such as after a
rule for several fields, the whole answer is written again.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import ValidationError

from structured.automata.byte_automaton import accepts_text
from structured.errors import Attempt, BudgetError, PatternError, PromptError, SchemaError
from structured.errors.values import message
from structured.extraction.guided_task import GuidedItem, Repair
from structured.output_types.json_output import rewriting
from structured.output_types.paths import Steps, steps_to_path
from structured.results.attribution import Before, Kept
from structured.results.json_text import spans


def repair(item: GuidedItem, text: str, places: Collection[Steps], before: Before, told: str = "") -> Repair | None:
    """Return how the answer to an item is repaired at some places; None if it cannot be.

    `before` is how sure the model was of each value of the answer. It is `told` what was wrong, if anything.
    """
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
        inside = data.get(step, _NOTHING) if isinstance(data, Mapping) else _item(data, step)
        if inside is not _NOTHING:
            steps, data = (*steps, step), inside
    return steps


_NOTHING = object()


def _item(data: Any, step: str | int) -> Any:
    return data[step] if isinstance(data, list) and isinstance(step, int) and step < len(data) else _NOTHING


def explanation(rejected: Attempt) -> str:
    """Return what a model is told of an answer that was rejected."""
    faults = [message(rejected.error)]
    if isinstance(rejected.error, ValidationError):
        data, errors = _data(rejected.text), rejected.error.errors(include_url=False)
        faults = [f"{steps_to_path(_followed(one['loc'], data))}: {one['msg']}".removeprefix(": ") for one in errors]
    return f"The answer {rejected.text} was rejected. {'; '.join(faults)}. Correct it."
