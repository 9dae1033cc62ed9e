"""The scheduler: rows do not stand free beside texts that wait, and texts that can join together do."""

from doubles import ByteTokenizer, random_logits
from hypothesis import given, settings
from hypothesis import strategies as st

from structured.automata import RegularAutomaton
from structured.decoding.requests import Request
from structured.decoding.sampling import Sampler
from structured.decoding.scheduler import Scheduler
from structured.decoding.sequence import Sequence
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import FunctionModel
from structured.regex import chars, repeat

TOKENIZER = ByteTokenizer()
MODEL = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)


def text(length: int, number: int) -> Sequence:
    guide = Guide(Index(RegularAutomaton(repeat(chars("ab"), length, length)), MODEL.vocabulary), max_tokens=length + 5)
    sampler = Sampler(seed=1)
    return Sequence(Request(MODEL.encode(f"prompt {number}"), guide, sampler.generator(number, 0)), sampler, True)


@given(st.integers(1, 9), st.lists(st.sampled_from([1, 30, 40, 50]), min_size=10, max_size=20), st.integers(0, 20))
@settings(max_examples=40, deadline=None)
def test_no_text_waits_long_beside_a_free_row(size: int, lengths: list[int], elsewhere: int) -> None:
    """Where all that wait have room, none does; otherwise a row stands free for fewer turns than there are rows."""
    scheduler = Scheduler(MODEL, size, elsewhere=elsewhere)
    ended: list[Sequence] = []
    turns = 0
    for now in scheduler.turns([text(length, number) for number, length in enumerate(lengths)]):
        ended += now
        free, waiting = size - len(scheduler.live), len(scheduler.waiting)
        turns = turns + 1 if free and waiting else 0
        assert turns < size
        assert not waiting or waiting + elsewhere > free
    assert sorted(len(one.text) for one in ended) == sorted(lengths)
