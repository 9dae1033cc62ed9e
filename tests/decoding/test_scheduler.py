"""The scheduler: rows do not stand free beside texts that wait, and texts that can join together do."""

from doubles import ByteTokenizer, random_logits
from hypothesis import given, settings
from hypothesis import strategies as st

from structured.automata import RegularAutomaton
from structured.decoding.requests import Request
from structured.decoding.sampling import Sampler
from structured.decoding.scheduler import Scheduler
from structured.decoding.text_in_progress import TextInProgress
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import FunctionModel
from structured.regex import chars, repeat

TOKENIZER = ByteTokenizer()
MODEL = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)


def text(length: int, number: int) -> TextInProgress:
    guide = Guide(Index(RegularAutomaton(repeat(chars("ab"), length, length)), MODEL.vocabulary), max_tokens=length + 5)
    sampler = Sampler(seed=1)
    return TextInProgress(Request(MODEL.encode(f"prompt {number}"), guide, sampler.generator(number, 0)), sampler, True)


@given(st.integers(1, 9), st.lists(st.sampled_from([1, 30, 40, 50]), min_size=10, max_size=20), st.integers(0, 20))
@settings(max_examples=40, deadline=None)
def test_no_text_waits_long_beside_a_free_row(size: int, lengths: list[int], waiting_outside: int) -> None:
    """Where all that wait have room, none does; otherwise a row stands free for fewer turns than there are rows."""
    scheduler = Scheduler(MODEL, size, waiting_outside=waiting_outside)
    ended: list[TextInProgress] = []
    turns = 0
    for now in scheduler.turns([text(length, number) for number, length in enumerate(lengths)]):
        ended += now
        free, waiting = size - len(scheduler.live), len(scheduler.waiting)
        turns = turns + 1 if free and waiting else 0
        assert turns < size
        assert not waiting or waiting + waiting_outside > free
    assert sorted(len(one.written) for one in ended) == sorted(lengths)
