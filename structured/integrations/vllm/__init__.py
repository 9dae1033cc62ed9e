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

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from structured.errors import Attempt, GenerationError, ModelError, StructuredError
from structured.errors.values import shown
from structured.output_types.described_types import REMEDY, text_to_type, type_to_text
from structured.output_types.json_output import JsonLayout
from structured.output_types.json_schema import JsonSchemaType
from structured.output_types.output_type import OutputType
from structured.output_types.remote_constraints import AnswerCheck
from structured.output_types.resolve import resolve_type
from structured.results.result import read_answer

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
    """Return the check of a type's texts, which tells a text that is none from one that a validator rejects.

    A JSON Schema has no validators, and rejects by itself.
    """
    return AnswerCheck(output_type, left_to_parse=(JsonSchemaType,))


def fault_of(text: object) -> str | None:
    """Return why a text is no constraint; None if it is one."""
    if not isinstance(text, str):
        return f"The constraint is {shown(text)}. {REMEDY}"
    try:
        text_to_type(text)
    except StructuredError as error:
        return str(error)
    return None


def __getattr__(name: str) -> Any:
    if name != "GuideProcessor":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from structured.integrations.vllm.processor import GuideProcessor

    return GuideProcessor
