"""Partial prefill: what is written stays the same, and no pass reads more of a prompt than a part."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from doubles import ByteTokenizer, random_logits
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import BaseModel

from structured.automata import RegularAutomaton
from structured.decoding.requests import Request
from structured.decoding.running_batch import RunningBatch
from structured.decoding.sampling import Sampler
from structured.decoding.scheduler import Scheduler
from structured.decoding.text_in_progress import TextInProgress
from structured.errors import ModelError, OutOfMemoryError
from structured.extraction.extractor import Extractor
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import FunctionModel
from structured.models.function import FunctionBatch
from structured.models.load import PACKAGED_MODEL, load_model
from structured.regex import chars, repeat

TOKENIZER = ByteTokenizer()


class Person(BaseModel):
    name: str
    age: int


class Counted(FunctionModel):
    """A model that notes how many tokens each pass reads of the text of which it reads most."""

    can_read_on = True

    def __init__(self, *, can_roll_back: bool = False) -> None:
        super().__init__(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
        self.read: list[int] = []
        self.is_ragged = True
        self.can_roll_back = can_roll_back
        self.fails_at = 10**9

    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> tuple[FunctionBatch, NDArray[np.float32]]:
        self.note(prompts)
        batch, logits = super().prefill(prompts, shared=shared, window=window)
        plain = batch.forward

        def forward(token_ids: Sequence[Sequence[int]], *, window: int = 0) -> NDArray[np.float32]:
            self.note(token_ids)
            return plain(token_ids, window=window)

        batch.forward, batch.is_ragged = forward, self.is_ragged  # type: ignore[method-assign]
        return batch, logits

    def note(self, token_ids: Sequence[Sequence[int]]) -> None:
        self.read.append(max(map(len, token_ids)))
        if len(self.read) >= self.fails_at:
            self.fails_at = 10**9
            raise OutOfMemoryError("too little memory")


def text(model: Counted, length: int, number: int, *, shared: int = 0) -> TextInProgress:
    letters = RegularAutomaton(repeat(chars("ab"), 9, 9))
    alphabet = range(97, 99 if model.can_roll_back else 123)  # of which guesses can be made
    prompt = [97] * shared + random.Random(number).choices(alphabet, k=length)
    guide, sampler = Guide(Index(letters, model.vocabulary), max_tokens=12), Sampler(1.0, seed=1)
    return TextInProgress(Request(prompt, guide, sampler.generator(number, 0), shared=shared), sampler, True)


def written(model: Counted, lengths: list[int], *, size: int, part: int | None, shared: int = 0) -> list[bytes]:
    texts = [text(model, length, number, shared=shared) for number, length in enumerate(lengths)]
    scheduler = Scheduler(model, size, part_tokens=part)
    ended = [one for now in scheduler.turns(texts) for one in now]
    assert sorted(map(id, ended)) == sorted(map(id, texts))
    assert not scheduler.started
    return [bytes(one.written) for one in texts]


lengths = st.lists(st.integers(1, 60), min_size=1, max_size=7)


@given(lengths, st.integers(1, 4), st.integers(1, 20), st.integers(0, 8), st.integers(1, 40), st.booleans())
@settings(max_examples=120, deadline=None)
def test_what_is_written_is_the_same(  # noqa: PLR0917  as Hypothesis passes them
    lengths: list[int], size: int, part: int, shared: int, fails_at: int, guesses: bool
) -> None:
    """Also where one of the passes is too much for the device, and all is tried again in smaller batches."""
    model = Counted(can_roll_back=guesses)
    whole = written(model, lengths, size=size, part=None, shared=shared)
    model.read.clear()
    model.fails_at = fails_at if size > 1 else 10**9
    assert written(model, lengths, size=size, part=part, shared=shared) == whole
    assert guesses or max(model.read) <= max(part, shared + 1)


@pytest.mark.parametrize("fails_at", range(1, 40))
def test_guesses_of_a_pass_that_failed_are_forgotten(fails_at: int) -> None:
    """They were rolled back once more after the prompt had been read again, in parts."""

    def alternating(token_ids: Sequence[int]) -> NDArray[np.float32]:
        logits = np.zeros(len(TOKENIZER.tokens), dtype=np.float32)
        turns = sum(token_ids) % 5 > 0  # mostly, so that guesses are often right
        logits[97 if (token_ids[-1] == 98) == turns else 98] = 9
        return logits

    def answers(part: int | None, fails_at: int) -> list[bytes]:
        model = Counted(can_roll_back=True)
        model.function, model.fails_at = alternating, fails_at
        return written(model, [40, 40], size=2, part=part)

    assert answers(16, fails_at) == answers(None, 10**9)


def test_others_go_on_between_the_parts() -> None:
    """A short text that comes with a long one is finished long before the long prompt is read."""
    model = Counted()
    scheduler = Scheduler(model, 4, part_tokens=10)
    long, short = text(model, 1000, 0), text(model, 5, 1)
    ended = [(one, len(model.read)) for now in scheduler.turns([long, short]) for one in now]
    assert [one for one, _ in ended] == [short, long]
    assert ended[0][1] <= 25  # nine letters, a part of the long prompt after each
    assert ended[1][1] >= 100


def test_a_model_that_reads_on_token_by_token_reads_prompts_whole() -> None:
    model = Counted()
    model.is_ragged = False
    lengths = [30, 50]
    for size in (1, 4):
        whole = written(model, lengths, size=size, part=None)
        model.read.clear()
        assert written(model, lengths, size=size, part=10) == whole
        assert sorted(model.read)[-2:] == lengths


def test_who_leaves_in_the_middle_of_its_prompt_is_forgotten() -> None:
    model = Counted()
    scheduler = Scheduler(model, 4, part_tokens=10)
    gone, stays = text(model, 100, 0), text(model, 100, 1)
    turns = scheduler.turns([gone, stays])
    next(turns)
    scheduler.drop([gone], ModelError("gone"))
    assert scheduler.started == [stays]
    assert [one for now in turns for one in now] == [stays]


@pytest.mark.parametrize("part", [16, 100])
def test_the_packaged_model_reads_a_document_in_parts(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structured.decoding.running_batch.PART_TOKENS", part)
    model = load_model(PACKAGED_MODEL)
    document = "The meeting went on for an hour. " * 12 + "Ana Brandt, 31, took the minutes."
    with RunningBatch(model, 4) as batch:
        assert Extractor(Person, model=batch)(document) == Extractor(Person, model=model)(document)
