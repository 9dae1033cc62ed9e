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

from typing import TYPE_CHECKING, Any

from structured.integrations.vllm.reading import read
from structured.integrations.vllm.request_fields import KEY
from structured.output_types.described_types import type_to_text
from structured.output_types.json_output import DEFAULT_LAYOUT, JsonLayout

if TYPE_CHECKING:
    from structured.integrations.vllm.processor import GuideProcessor

__all__ = ["GuideProcessor", "constraint", "read"]


def constraint(output_type: object, *, layout: JsonLayout = DEFAULT_LAYOUT) -> dict[str, str]:
    """Return what a request to vLLM says of its answer: the `extra_args` of `SamplingParams`.

    Over HTTP they are the request's `vllm_xargs`: plain text, which any client can send. The budget is the request's
    `max_tokens`: each answer is whole within it. vLLM's own default for it is 16.

    Parameters:
        output_type: A type, a `JsonSchema`, a `Regex`, a `Choice` or a `Grammar`.
        layout: As for `extract`.

    Raises:
        SchemaError: A part of the type cannot be enforced exactly, or depends on the document.
    """
    return {KEY: type_to_text(output_type, layout)}


def __getattr__(name: str) -> Any:
    if name != "GuideProcessor":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from structured.integrations.vllm.processor import GuideProcessor

    return GuideProcessor
