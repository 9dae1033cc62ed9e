"""A model that thinks first: whatever it writes before the marker, its answer is one of the type."""

import re

import pytest
from doubles import ByteTokenizer, json_hating_logits, random_logits, text_logits
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from structured import Extractor, Thinking
from structured.automata import DEAD, RegularAutomaton
from structured.decoding.generate import generate
from structured.decoding.requests import Request, ending_with, thinking_index
from structured.decoding.sampling import Sampler
from structured.errors import PromptError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import FunctionModel

pytestmark = pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")

TOKENIZER = ByteTokenizer()
MODELS = {
    "uniform": FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER),
    "hates JSON": FunctionModel(json_hating_logits(TOKENIZER.tokens), TOKENIZER),
    "text": FunctionModel(text_logits(TOKENIZER.tokens), TOKENIZER),
}


@given(st.text("ab<", min_size=1, max_size=5), st.text("ab<é\n", max_size=12))
def test_a_text_ends_at_the_first_marker(marker: str, text: str) -> None:
    """Accepted is what ends with the marker and has it nowhere else; nothing may follow it."""
    automaton = RegularAutomaton(ending_with(marker))
    for whole in (text, text + marker, marker + text):
        state = automaton.start
        for byte in whole.encode():
            state = automaton.step(state, byte)
        accepted = state != DEAD and automaton.accepts(state)
        assert accepted == (whole.find(marker) == len(whole) - len(marker) >= 0)


@pytest.mark.thorough
@given(st.sampled_from(sorted(MODELS)), st.integers(3, 30), st.sampled_from([0.0, 1.0]), st.integers(0, 99))
@settings(max_examples=examples(40))
def test_it_stops_thinking_in_time(name: str, max_tokens: int, temperature: float, seed: int) -> None:
    """The marker comes before the budget of the thinking ends, once, and the answer has a budget of its own."""
    model, sampler = MODELS[name], Sampler(temperature, seed)
    index = Index(RegularAutomaton(ending_with("]")), model.vocabulary)
    thinking = Guide(thinking_index("END", model.vocabulary), max_tokens=max_tokens)
    request = Request(TOKENIZER.encode("a"), Guide(index, max_tokens=9), sampler.generator(0, 0), thinking=thinking)
    (generation,) = generate(model, [request], sampler)
    assert re.fullmatch(r"(?s:(?!.*END.*END).*END)", generation.thinking)
    assert re.fullmatch(r"[^\]]*\]", generation.text)
    assert len(generation.token_ids) <= max_tokens + 9


def test_thinking_is_an_option_of_a_call() -> None:
    """The answer is what comes after the marker; the budget of the context counts both."""
    extractor = Extractor(list[int], model=MODELS["uniform"], thinking=Thinking("</think>", 20), max_tokens=30)
    assert isinstance(extractor("x"), list)
    small = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER, context_length=100)
    with pytest.raises(PromptError, match="thinking up to 80, and the context"):
        Extractor(list[int], model=small, thinking=Thinking(max_tokens=80))("x" * 30)


def test_wrong_options_are_refused() -> None:
    """By name."""
    with pytest.raises(ValueError, match="marker is empty"):
        Thinking("")
    with pytest.raises(ValueError, match="max_tokens is 0"):
        Thinking(max_tokens=0)
