"""Inside vLLM: whatever its schedulers do with requests, each answer is whole, and the one that it would be alone."""

import logging
import random
from functools import partial
from typing import Any, Literal

import numpy as np
import pytest
from doubles import json_hating_logits, random_logits, save, spell, widened
from engines import (
    CONTEXT,
    HAS_VLLM,
    EngineRequest,
    EngineTokenizer,
    RowEngine,
    SlotEngine,
    engine_config,
    sampling_params,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter import run
from pydantic import BaseModel

from structured import Choice, Grammar, JsonSchema, Regex
from structured.decoding.generate import compile_type, generate
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.errors import ModelError
from structured.index.guide import Guide
from structured.integrations.vllm import GuideProcessor, constraint, read
from structured.models import FunctionModel
from structured.output_types.resolve import resolve_type


class Person(BaseModel):
    name: str
    age: int


class Node(BaseModel):
    label: Literal["a", "b"]
    children: "list[Node]"


TYPES: tuple[Any, ...] = (
    *(Person, Node, list[int], Literal["true", "tree", "é€"], dict[str, bool]),
    *(Regex(r"\d{4}-\d\d"), Choice(["yes", "no"]), JsonSchema({"type": "array", "maxItems": 3})),
    Grammar.from_gbnf('root ::= "(" root ")" | "x"'),
)


TOKENIZER = EngineTokenizer()
ENDS = TOKENIZER.end_token_ids
WIDTH = engine_config().model_config.get_vocab_size()

_PROSE = widened(json_hating_logits(TOKENIZER.tokens), WIDTH - len(TOKENIZER.tokens))
MODELS = {
    "peaked": FunctionModel(random_logits(WIDTH, scale=20.0), TOKENIZER),
    "flat": FunctionModel(random_logits(WIDTH, seed=1), TOKENIZER),
    "hates JSON": FunctionModel(_PROSE, TOKENIZER),
}

ENGINES = {
    "first runner": RowEngine,
    "second runner": partial(SlotEngine, proposals=0),
    "second runner, three tokens proposed": partial(SlotEngine, proposals=3),
}


def request(output_type: Any, prompt: list[int], max_tokens: int, parts: int = 0) -> EngineRequest:
    """Return a request to vLLM; nothing constrains one without a type."""
    extra_args = None if output_type is None else constraint(output_type)
    params = sampling_params(extra_args=extra_args, max_tokens=max_tokens, temperature=0.0)
    return EngineRequest(params, prompt, parts=parts)


def alone(output_type: Any, model: FunctionModel, prompt: list[int], max_tokens: int) -> Generation:
    """Return what this library writes with the same model, one text by itself."""
    index = compile_type(resolve_type(output_type), model.vocabulary)
    guide = Guide(index, max_tokens=min(max_tokens, CONTEXT - len(prompt)))
    [written] = generate(model, [Request(prompt, guide, np.random.default_rng(0))], Sampler(), jump_forward=False)
    return written


def text_of(one: EngineRequest) -> str:
    return spell(TOKENIZER.tokens, [token_id for token_id in one.written if token_id not in ENDS]).decode()


requests = st.lists(
    st.tuples(
        st.sampled_from([*TYPES, None]),
        st.lists(st.integers(3, 200), min_size=1, max_size=60),
        st.integers(20, 50),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ENGINES)
@given(asked=requests, model=st.sampled_from(sorted(MODELS)), rows=st.integers(1, 4), seed=st.integers(0, 2**32))
@settings(max_examples=30)
def test_each_answer_is_the_one_that_it_would_be_alone(
    engine: str, asked: list[Any], model: str, rows: int, seed: int
) -> None:
    """Requests join, leave, wait, come back and change places: each is valid, in time, and untouched by the others."""
    given_requests = [request(*one) for one in asked]
    ENGINES[engine](GuideProcessor, MODELS[model].function, random.Random(seed), rows=rows).run(given_requests, ENDS)
    for (output_type, prompt, max_tokens, _), one in zip(asked, given_requests, strict=True):
        if output_type is not None:
            assert text_of(one) == alone(output_type, MODELS[model], prompt, max_tokens).text
            read(output_type, text_of(one))
        assert len(one.written) <= max_tokens


@pytest.mark.parametrize("engine", ENGINES)
def test_where_no_answer_is_short_enough_there_is_none(engine: str, caplog: pytest.LogCaptureFixture) -> None:
    """A processor that raised would end the engine: the answer ends at once, the log says why, and `read` raises."""
    [short, other] = asked = [request(Person, [3], 5), request(Person, [3], 30)]
    with caplog.at_level(logging.ERROR, "structured"):
        ENGINES[engine](GuideProcessor, MODELS["flat"].function, random.Random(0), rows=2).run(asked, ENDS)
    assert text_of(short) == ""
    assert "The shortest answer of this type takes 9 tokens, and only 5 are allowed." in caplog.text
    with pytest.raises(ModelError, match=r"The engine wrote '', which is no answer\. "):
        read(Person, text_of(short))
    read(Person, text_of(other))


def test_a_token_that_was_masked_out_ends_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    """Where something behind the processor forces a token, the answer ends with it, and the engine goes on."""
    import torch
    from vllm.v1.sample.logits_processor import BatchUpdate

    processor = GuideProcessor(engine_config(), torch.device("cpu"), False)
    one = request(Person, [3], 30)
    processor.update_state(BatchUpdate(1, [], [(0, one.params, one.prompt, one.written)], []))
    one.written += TOKENIZER.encode("oh")[-2:]
    with caplog.at_level(logging.ERROR, "structured"):
        after = processor.apply(torch.zeros(1, WIDTH))
    assert set(after.isfinite().nonzero()[:, 1].tolist()) == ENDS
    assert "An answer cannot go on, and ends without being of the type: Token" in caplog.text
    one.written.clear()  # vLLM takes tokens back whose cache was lost
    assert set(processor.apply(torch.zeros(1, WIDTH)).isfinite().nonzero()[:, 1].tolist()).isdisjoint(ENDS)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no JSON": ({"extra_args": {"structured": "{"}}, "The constraint is not JSON: "),
    "no text": ({"extra_args": {"structured": {"regex": "a"}}}, "The constraint is {'regex': 'a'}. "),
    "no regular expression": ({"extra_args": {"structured": '{"regex": "("}'}}, "Missing ), unterminated subpattern"),
    "no values": ({"extra_args": {"structured": '{"json": false}'}}, "Unsatisfiable"),
    "stop": ({"extra_args": constraint(Person), "stop": ["}"]}, "stop and a constraint exclude each other"),
    "least tokens": ({"extra_args": constraint(Person), "min_tokens": 2}, "min_tokens and a constraint exclude"),
    "no end": ({"extra_args": constraint(Person), "ignore_eos": True}, "ignore_eos and a constraint exclude"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_requests_are_refused_where_they_come_in(case: str) -> None:
    """vLLM answers a ValueError of `validate_params` with the message."""
    given_params, message = REFUSED[case]
    with pytest.raises(ValueError, match=f"^{message.replace('(', '[(]').replace(')', '[)]').replace('{', '[{]')}"):
        GuideProcessor.validate_params(sampling_params(**given_params))


def test_what_asks_for_nothing_is_taken() -> None:
    """Requests without a constraint may ask for anything."""
    GuideProcessor.validate_params(sampling_params(stop=["}"], min_tokens=2))
    GuideProcessor.validate_params(sampling_params(extra_args={"another": 1}, stop=["}"]))


def test_clients_need_no_engine() -> None:
    """What makes requests and reads answers imports neither vLLM nor torch."""
    code = (
        "import sys; from structured.integrations.vllm import constraint, read; constraint(int); read(int, '3'); "
        "print(sorted({'vllm', 'torch', 'transformers'} & set(sys.modules)))"
    )
    assert run(code).strip() == "[]"


@pytest.mark.slow
@pytest.mark.skipif(not HAS_VLLM, reason="vLLM is not installed.")
def test_inside_vllm_itself(tmp_path: Any) -> None:
    """More requests than rows, of several types and of none: vLLM loads the processor by name, and each is whole."""
    from doubles import in_memory, tiny
    from vllm import LLM, SamplingParams
    from vllm.exceptions import VLLMValidationError

    save(in_memory(lambda width: tiny("llama", width, hidden_size=128, num_key_value_heads=2)), tmp_path)
    named: Any = ["structured.integrations.vllm:GuideProcessor"]
    options: Any = {"dtype": "float32", "enforce_eager": True, "max_model_len": 128, "max_num_seqs": 3}
    llm = LLM(str(tmp_path), logits_processors=named, **options)
    asked = [*TYPES, None] * 3
    params = [
        SamplingParams(max_tokens=20 + place, temperature=place % 3, seed=place, extra_args=one and constraint(one))
        for place, one in enumerate(asked)
    ]
    outputs = llm.generate([f"Write {place}." for place in range(len(asked))], params)
    for output_type, output in zip(asked, outputs, strict=True):
        if output_type is not None:
            read(output_type, output.outputs[0].text)
    with pytest.raises(VLLMValidationError, match="stop and a constraint exclude each other"):
        llm.generate("a", SamplingParams(stop="a", extra_args=constraint(int)))
