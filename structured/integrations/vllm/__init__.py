"""A logits processor for vLLM: attention, batching and parallelism are vLLM's, the constraint is this library's.

    llm = LLM(model, logits_processors=["structured.integrations.vllm:GuideProcessor"])
    [output] = llm.generate([prompt], SamplingParams(max_tokens=200, extra_args=constraint(Person)))
    read(Person, output.outputs[0].text)

vLLM has two model runners, each with an interface of its own for logits processors (`vllm.v1.sample.logits_processor`,
and `vllm.v1.worker.gpu.sample.logits_processor` for the second, which it takes where it can). One name stands for both
here. Its structured outputs (`SamplingParams.structured_outputs`) take their backend from a closed list, which nothing
outside of vLLM can add to, so that a logits processor is the only way in.

It is written against vLLM 0.33.0, whose interfaces are those of 0.32.0. The processor of the first runner was run
inside vLLM 0.32.0 on a CPU, with a real model: offline, served over HTTP, with requests that come and go. The processor
of the second was run in a scheduler of the tests alone, which calls it as vLLM's source does: that runner needs Triton.

What clients need, `constraint` and `read`, needs no vLLM.
"""

import logging
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from structured.decoding.generate import compile_type
from structured.errors import Attempt, GenerationError, ModelError, StructuredError
from structured.errors.values import shown
from structured.index.compilation import save_learned
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import Mask, mask_of
from structured.output_types.choice import Choice
from structured.output_types.described_types import REMEDY, text_to_type, type_to_text
from structured.output_types.json_output import JsonLayout
from structured.output_types.json_schema import JsonSchemaType
from structured.output_types.output_type import OutputType
from structured.output_types.remote_constraints import AnswerCheck
from structured.output_types.resolve import resolve_type
from structured.results.result import read_answer
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    from structured.integrations.vllm.processor import GuideProcessor

__all__ = ["KEY", "GuideProcessor", "constraint", "read"]

MAX_SHOWN = 200
"""Characters of a text that an error shows."""

KEY = "structured"
"""The name under which a request holds its constraint."""


def constraint(output_type: object, *, layout: JsonLayout | None = None) -> dict[str, str]:
    """Return the constraint of a request to vLLM: the `extra_args` of `SamplingParams`.

    Over HTTP they are the request's `vllm_xargs`: plain text, which any client can send. The budget is the request's
    `max_tokens`: each answer is whole within it. vLLM's own default for it is 16.

    Parameters:
        output_type: A type, a `JsonSchema`, a `Regex`, a `Choice` or a `Grammar`.
        layout: As for `extract`.

    Raises:
        SchemaError: A part of the type cannot be enforced exactly, or depends on the document.
    """
    return {KEY: type_to_text(output_type, layout)}


def read(output_type: object, text: str) -> Any:
    """Return the value of an answer.

    Parameters:
        output_type: The type that the constraint was made of.
        text: What the engine wrote, without the prompt.

    Raises:
        GenerationError: A validator of the type rejects it.
        ModelError: It is no text of the type, which the engine was not told, or could not keep to.
    """
    resolved = resolve_type(output_type)
    fault = _check(resolved).fault(text)
    if fault is not None:
        raise ModelError(
            f"The engine wrote {text[:MAX_SHOWN]!r}, which is no answer. {fault} See that the request has the "
            "constraint of this type, and in the engine's log whether it had to end the answer: max_tokens may be too "
            "small."
        )
    value = read_answer(resolved, text)
    if isinstance(value, Attempt):
        raise GenerationError([value])
    return value


@lru_cache(maxsize=64)
def _check(output_type: OutputType[Any]) -> AnswerCheck:
    """Return what tells a text that is none of a type from one that a validator rejects; a JSON Schema has none."""
    return AnswerCheck(output_type, parse_only_types=(JsonSchemaType,))


def check_constraint(text: object) -> None:
    """Raise ValueError for what is no constraint, as `constraint` writes it."""
    if not isinstance(text, str):
        raise ValueError(f"The constraint is {shown(text)}. {REMEDY}")  # noqa: TRY004  which vLLM answers
    try:
        text_to_type(text)
    except StructuredError as error:
        raise ValueError(str(error)) from error


_LOGGER = logging.getLogger(__name__)

_EMPTY_ANSWER = Choice([""])
"""The type of the empty answer."""


class Cursor:
    """One answer as it is written: what may come next, and the way back to each of its earlier tokens.

    vLLM ends most requests when a call into this library raises, so a cursor never raises once it is made. An answer
    that cannot go on has a `fault`, and may only end: a token came that was masked out, or its automaton has reached a
    limit.
    """

    def __init__(self, index: Index, *, max_tokens: int) -> None:
        """Start an answer. Raises BudgetError if none takes so few tokens."""
        self._history: list[Guide | str | None] = [Guide(index, max_tokens=max_tokens)]
        """The state before the first token and after each: a guide, None after the end, or a fault."""
        self.table = index.table
        """The table of its masks."""
        self._end_mask = index.table.intern(mask_of(index.vocabulary.end_token_ids, index.vocabulary.size))

    def __repr__(self) -> str:
        return f"Cursor({self._history[-1]!r})"

    @property
    def count(self) -> int:
        """The number of tokens taken."""
        return len(self._history) - 1

    @property
    def is_over(self) -> bool:
        """Whether its end token was taken."""
        return self._history[-1] is None

    @property
    def fault(self) -> str | None:
        """Why it can only end, if so."""
        latest = self._history[-1]
        return latest if isinstance(latest, str) else None

    def accept(self, token_id: int) -> bool:
        """Take a token, and tell whether it was allowed. Tokens after the end change nothing."""
        self._history.append(self._after(token_id))
        return self.fault is None

    def _after(self, token_id: int) -> Guide | str | None:
        """Return the state after one more token."""
        latest = self._history[-1]
        if not isinstance(latest, Guide):
            return latest
        index = latest.index
        if token_id in index.vocabulary.end_token_ids and index.automaton.accepts(latest.state):
            save_learned(index)
            return None
        guide = latest.copy()
        try:
            guide.advance(token_id)
        except (ValueError, StructuredError) as error:  # a masked token, a wrong cache, a limit of the automaton
            return str(error)
        return guide

    def advance(self, token_ids: Iterable[int]) -> None:
        """Take tokens; if one was not allowed, the answer may only end."""
        was_faulty = self.fault is not None
        for token_id in token_ids:
            self.accept(token_id)
        if self.fault is not None and not was_faulty:
            self.end(self.fault)

    def rollback(self, count: int) -> None:
        """Take tokens back."""
        if count > 0:
            del self._history[-count:]

    def mask(self) -> Mask:
        """Return the tokens that may come next: the end tokens, where there is nothing else to say."""
        latest = self._history[-1]
        if not isinstance(latest, Guide) or latest.finished:
            return self._end_mask
        try:
            return latest.mask()
        except StructuredError as error:  # a limit of the automaton
            self.end(str(error))
            return self._end_mask

    def end(self, fault: str) -> None:
        """Let the answer only end, and log why."""
        self._history[-1] = fault
        _LOGGER.error("An answer cannot go on, and ends without being of the type: %s", fault)


def start(constraint: str, vocabulary: Vocabulary, max_tokens: int) -> Cursor:
    """Return the cursor of a new answer. Raises StructuredError if there can be none."""
    return Cursor(compile_type(text_to_type(constraint), vocabulary, cache=True), max_tokens=max_tokens)


def start_or_end(constraint: str, vocabulary: Vocabulary, max_tokens: int) -> Cursor:
    """Return the cursor of a new answer; if there can be none, one that ends at once."""
    try:
        return start(constraint, vocabulary, max_tokens)
    except StructuredError as error:
        cursor = Cursor(compile_type(_EMPTY_ANSWER, vocabulary), max_tokens=0)
        cursor.end(str(error))
        return cursor


def __getattr__(name: str) -> Any:
    if name != "GuideProcessor":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from structured.integrations.vllm.processor import GuideProcessor

    return GuideProcessor
