"""The running batch: many callers write as they would alone, none waits for another's queue, and none is forgotten."""

import gc
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from doubles import ByteTokenizer, random_logits
from hypothesis import given, settings
from hypothesis import strategies as st
from languages import TYPES
from numpy.typing import NDArray
from pydantic import BaseModel

from structured import Beams, Extractor, Regex, Samples
from structured.automata import RegularAutomaton
from structured.decoding.generate import as_completed, generate, stream
from structured.decoding.requests import Generation, Request
from structured.decoding.running_batch import Caller, RunningBatch
from structured.decoding.sampling import Sampler
from structured.decoding.scheduler import Scheduler
from structured.decoding.text_in_progress import TextInProgress
from structured.errors import GenerationError, ModelError, OutOfMemoryError, PatternError, StructuredError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import FunctionModel, LanguageModel
from structured.models.function import FunctionBatch
from structured.models.load import PACKAGED_MODEL, load_model
from structured.regex import Pattern, chars, repeat
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()
LETTERS = repeat(chars("ab"), 10, 10)


class Person(BaseModel):
    name: str
    age: int


class Invoice(BaseModel):
    invoice_number: str
    vendor: str
    total: float


def request(model: LanguageModel, pattern: Pattern, number: int, sampler: Sampler, *, tokens: int = 25) -> Request:
    guide = Guide(Index(RegularAutomaton(pattern), model.vocabulary), max_tokens=tokens)
    return Request(model.encode(f"prompt {number}"), guide, sampler.generator(number, 0))


@contextmanager
def running(model: LanguageModel, size: int = 4) -> Iterator[RunningBatch]:
    """A running batch; at the end its thread ends, and nothing is left in it."""
    with RunningBatch(model, size) as batch:
        yield batch
    wait_until(lambda: not any(thread.name.startswith("running batch") for thread in threading.enumerate()))
    assert batch.live == batch.waiting == 0


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.002)


@given(st.lists(st.tuples(st.integers(0, len(TYPES) - 1), st.sampled_from([0.0, 0.7, 1.5])), min_size=1, max_size=12))
@settings(max_examples=25, deadline=None)
def test_each_caller_gets_what_it_would_alone(asked: list[tuple[int, float]]) -> None:
    """Callers with other types and other temperatures, at the same time: to the last digit."""
    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)

    def write(model: LanguageModel, number: int) -> Generation:
        place, temperature = asked[number]
        sampler = Sampler(temperature, seed=3)
        (text,) = generate(model, [request(model, TYPES[place], number, sampler)], sampler)
        return text

    with running(model) as batch, ThreadPoolExecutor(len(asked)) as pool:
        together = list(pool.map(lambda number: write(batch, number), range(len(asked))))
    assert together == [write(model, number) for number in range(len(asked))]


def test_callers_of_several_types_share_a_batch_of_the_packaged_model() -> None:
    """Their prompts begin differently, and what the model keeps of one beginning is not taken for another."""
    model = load_model(PACKAGED_MODEL)
    asked: list[tuple[type[BaseModel], str]] = []
    for number in range(6):
        asked.append((Person, f"Jason is {number + 20} years old."))
        asked.append((Invoice, f"Invoice INV-{number} from Northwind Paper comes to ${number + 3}.50."))
    with running(model, 12) as batch, ThreadPoolExecutor(len(asked)) as pool:
        together = list(pool.map(lambda one: Extractor(one[0], model=batch)(one[1]), asked))
    assert together == [Extractor(type_, model=model)(text) for type_, text in asked]


@pytest.mark.parametrize("count", [1, 7])
def test_a_text_joins_between_tokens_of_others(count: int) -> None:
    """Long texts are being written; a short one that comes later is finished first, also in the last free row."""
    model = Held(FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER))
    sampler = Sampler()
    with running(model, 8) as batch, ThreadPoolExecutor(2) as pool:
        asked = [request(batch, repeat(chars("ab"), 300, 300), 0, sampler, tokens=400) for _ in range(count)]
        long = pool.submit(generate, batch, asked, sampler)
        wait_until(lambda: batch.live == count)
        short = pool.submit(generate, batch, [request(batch, LETTERS, 1, sampler)], sampler)
        wait_until(lambda: batch.waiting == 1)
        model.passes.release(60)  # enough for ten letters, and too few for three hundred
        assert len(short.result()[0].text) == 10
        assert not long.done()
        model.open()
        assert [len(one.text) for one in long.result()] == [300] * count


def test_callers_take_turns() -> None:
    """One asks for forty texts, then another for one: it waits for the batch that is being written, and for no more."""
    model = Held(FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER))
    sampler = Sampler()
    ended: list[str] = []

    def write(name: str, count: int) -> None:
        requests = [request(model, LETTERS, number, sampler) for number in range(count)]
        ended.extend(name for _ in as_completed(batch, requests, sampler))

    with running(model, 2) as batch, ThreadPoolExecutor(2) as pool:
        many = pool.submit(write, "many", 40)
        wait_until(lambda: batch.waiting == 38)
        one = pool.submit(write, "one", 1)
        wait_until(lambda: batch.waiting == 39)
        model.passes.release(40)  # enough for the first two and those that are next, and too few for five more
        one.result()
        model.open()
        many.result()
    assert ended.index("one") < 10
    assert len(ended) == 41


def test_a_caller_that_leaves_frees_its_rows() -> None:
    """As soon as nobody reads what is written, it is written no more."""
    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    endless = repeat(chars("ab"), 100_000, 100_000)
    sampler = Sampler()
    with running(Slow(model), 2) as batch:
        pieces = stream(batch, request(batch, endless, 0, sampler, tokens=200_000), sampler)
        assert next(pieces) + next(pieces) + next(pieces)
        pieces.close()
        wait_until(lambda: batch.live == 0)
        asked = as_completed(batch, [request(batch, LETTERS, one, sampler) for one in range(3)], sampler)
        next(asked)
        del asked
        gc.collect()
        (text,) = generate(batch, [request(batch, LETTERS, 2, sampler)], sampler)
        assert len(text.text) == 10


def test_one_caller_leaves_from_another_thread_and_the_others_stay() -> None:
    """As a server does when a client hangs up: whoever waits for the text is told, and its row is free at once."""
    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    sampler = Sampler()

    def write(caller: Caller, number: int, letters: int) -> Generation:
        with caller:
            asked = request(batch, repeat(chars("ab"), letters, letters), number, sampler, tokens=2 * letters)
            return generate(batch, [asked], sampler)[0]

    one, other = Caller(), Caller()
    with running(Slow(model), 2) as batch, ThreadPoolExecutor(2) as pool:
        hung_up, stays = pool.submit(write, one, 0, 100_000), pool.submit(write, other, 1, 99)
        wait_until(lambda: batch.live == 2)
        one.leave()
        with pytest.raises(ModelError, match="has left"):
            hung_up.result()
        assert len(stays.result().text) == 99
        one.leave(TimeoutError("later, for another reason"))
        with pytest.raises(ModelError, match="has left"):
            write(one, 2, 10)
        late = Caller()
        late.leave(TimeoutError("too late"))
        for _ in range(2):
            with pytest.raises(TimeoutError, match="too late"):
                write(late, 2, 10)
        assert len(write(Caller(), 2, 10).text) == 10


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("turn", range(1, 9))
def test_nothing_is_held_of_a_text_whose_caller_leaves(monkeypatch: pytest.MonkeyPatch, turn: int, moment: str) -> None:
    """Whichever turn is about to be taken, or has just been: when the batch has nothing to do, it is forgotten."""
    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    sampler, caller, turns = Sampler(), Caller(), itertools.count(1)
    requests = [request(model, LETTERS, number, sampler) for number in range(3)]

    def write() -> None:
        with caller, pytest.raises(ModelError, match="has left"):
            generate(batch, requests, sampler)

    def leave() -> None:
        caller.leave()
        writing.result()

    def taken(scheduler: Scheduler) -> list[TextInProgress]:
        is_due = next(turns) == turn
        if is_due and moment == "before":
            leave()
        ended = plain(scheduler)
        if is_due and moment == "after":
            leave()
        return ended

    plain = Scheduler.turn
    monkeypatch.setattr(Scheduler, "turn", taken)
    with ThreadPoolExecutor(1) as pool, running(model, 2) as batch:
        may_begin = threading.Event()
        writing = pool.submit(lambda: may_begin.wait() and write())
        may_begin.set()
        writing.result()
        wait_until(lambda: batch.live == batch.waiting == 0)
        wait_until(lambda: not texts_of(requests))


def texts_of(requests: Sequence[Request]) -> list[TextInProgress]:
    """The texts that are in memory for some requests."""
    gc.collect()
    asked = set(map(id, requests))
    return [one for one in gc.get_objects() if type(one) is TextInProgress and id(one.request) in asked]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_stream_is_the_text(temperature: float) -> None:
    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    sampler = Sampler(temperature, seed=2)
    (expected,) = generate(model, [request(model, LETTERS, 0, sampler)], sampler)
    with running(Slow(model)) as batch:
        pieces = list(stream(batch, request(batch, LETTERS, 0, sampler), sampler))
    assert "".join(pieces) == expected.text
    assert len(pieces) > 1


def test_what_the_model_raises_reaches_everybody_in_the_batch_and_nobody_later() -> None:
    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    failing = Slow(model)
    sampler = Sampler()

    def write(number: int) -> str | ModelError:
        try:
            (text,) = generate(batch, [request(batch, LETTERS, number, sampler)], sampler)
        except ModelError as error:
            error.add_note(str(number))
            return error
        return text.text

    with running(failing, 8) as batch, ThreadPoolExecutor(4) as pool:
        failing.failure = RuntimeError("the cable is out")
        texts = list(pool.map(write, range(4)))
        failing.failure = None
        after = write(5)
    errors = [one for one in texts if isinstance(one, ModelError)]
    assert len(errors) == 4
    assert all("the cable is out" in str(error) and len(error.__notes__) == 1 for error in errors)
    assert isinstance(after, str)


@pytest.mark.parametrize("fault", ["raises", "no numbers"])
@pytest.mark.parametrize("number", range(5))
def test_a_text_that_the_model_fails_for_costs_itself_alone(fault: str, number: int) -> None:
    """In the middle of its text; the others are written as they would be alone, those that wait as well."""
    logits = random_logits(len(TOKENIZER.tokens))
    mark, sampler = model_prompt(number), Sampler(1.0, seed=1)

    def scores(token_ids: Sequence[int]) -> NDArray[np.float32]:
        if list(token_ids[: len(mark)]) == mark and len(token_ids) > len(mark):
            if fault == "raises":
                raise RuntimeError("the cable is out")
            return logits(token_ids) * np.float32("nan")
        return logits(token_ids)

    failing, sound = FunctionModel(scores, TOKENIZER), FunctionModel(logits, TOKENIZER)
    with running(failing, 3) as batch:
        found = dict(as_completed(batch, [request(batch, LETTERS, one, sampler) for one in range(5)], sampler))
        expected = generate(sound, [request(sound, LETTERS, one, sampler) for one in range(5)], sampler)
        error = found.pop(number)
        assert isinstance(error, ModelError)
        assert ("cable is out" if fault == "raises" else "NaN") in str(error)
        assert found == {place: text for place, text in enumerate(expected) if place != number}


def model_prompt(number: int) -> list[int]:
    """The tokens of the prompt that `request` makes."""
    return TOKENIZER.encode(f"prompt {number}")


def test_an_automaton_that_is_too_much_costs_its_own_text_alone() -> None:
    """The others are written; whoever asked for it gets its error."""

    class TooMuch(RegularAutomaton):
        def walk(self, *given: object) -> int:  # noqa: ARG002
            raise PatternError("too much", pattern="", remedy="Ask for less.")

    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    sampler = Sampler()
    bad = Request([1], Guide(Index(TooMuch(LETTERS), model.vocabulary), max_tokens=20), sampler.generator(0, 0))
    with running(model) as batch:
        found = dict(as_completed(batch, [bad, request(batch, LETTERS, 1, sampler)], sampler))
    assert isinstance(found[0], StructuredError)
    assert isinstance(found[1], Generation)


def test_too_little_memory_makes_the_batch_smaller_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structured.decoding.running_batch.CALM_TURNS", 4)
    model = Small(FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER), most=2)
    sampler = Sampler()
    with running(model, 8) as batch, ThreadPoolExecutor(8) as pool:

        def write(number: int) -> str:
            (text,) = generate(batch, [request(batch, LETTERS, number, sampler)], sampler)
            return text.text

        texts = list(pool.map(write, range(30)))
    assert [len(text) for text in texts] == [10] * 30
    assert model.refused > 1  # it was tried again with more


def test_closed_it_takes_nobody() -> None:
    """What is being written is finished; who comes later is told so."""
    model = Held(FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER))
    sampler = Sampler()
    with ThreadPoolExecutor(1) as pool, running(model) as batch:
        one = pool.submit(generate, batch, [request(batch, LETTERS, 0, sampler)], sampler)
        wait_until(lambda: batch.live == 1)
        batch.close()
        model.open()
        assert len(one.result()[0].text) == 10
        with pytest.raises(ModelError, match=r"is closed\. Make a new one in this process"):
            generate(batch, [request(batch, LETTERS, 0, sampler)], sampler)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="This system does not fork.")
def test_a_fork_is_told_that_the_thread_stayed_behind() -> None:
    with running(FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)) as batch:
        child = os.fork()
        if child == 0:
            try:
                generate(batch, [request(batch, LETTERS, 0, Sampler())], Sampler())
            except ModelError as error:
                os._exit(7 if "in another process" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_dropped_it_ends_its_thread() -> None:
    batch = RunningBatch(FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER))
    assert len(generate(batch, [request(batch, LETTERS, 2, Sampler())], Sampler())[0].text) == 10
    del batch
    gc.collect()
    wait_until(lambda: not any(thread.name.startswith("running batch") for thread in threading.enumerate()))


def test_it_stands_where_a_model_stands() -> None:
    """Extractors, retries, streams, votes and beams take it."""
    seen: list[str] = []

    def even(text: str) -> int:
        seen.append(text)
        if int(text) % 2:
            raise ValueError("odd")
        return int(text)

    with running(FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)) as batch:
        number = Regex("[0-9]{4}", even)
        for options in (
            {"retries": 9},
            {"search": Samples(3), "temperature": 1.0, "seed": 1, "retries": 9},
            {"search": Beams(2)},
        ):
            try:
                assert Extractor(number, model=batch, **options)("text") % 2 == 0
            except GenerationError:
                assert options == {"search": Beams(2)}
        assert "".join(Extractor(Regex("[0-9]{4}"), model=batch).stream("text")).isdigit()
    assert len(seen) > 1


class Wrapped(LanguageModel):
    """A model that does as another, with something beside."""

    def __init__(self, model: FunctionModel) -> None:
        self.model = model
        self.name, self.vocabulary = model.name, model.vocabulary

    def encode(self, prompt: str) -> list[int]:  # type: ignore[override]
        return self.model.encode(prompt)

    def prefill(
        self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0
    ) -> tuple[FunctionBatch, NDArray[np.float32]]:
        self.before_pass(len(prompts))
        batch, logits = self.model.prefill(prompts, shared=shared, window=window)
        plain, join = batch.forward, batch.join

        def forward(token_ids: Sequence[Sequence[int]], *, window: int = 0) -> NDArray[np.float32]:
            self.before_pass(len(token_ids))
            return plain(token_ids, window=window)

        def joined(other: FunctionBatch) -> None:
            self.before_pass(len(batch.texts) + len(other.texts))
            join(other)

        batch.forward, batch.join = forward, joined  # type: ignore[method-assign]
        return batch, logits

    def before_pass(self, rows: int) -> None:
        """What comes before each pass over some rows."""


class Slow(Wrapped):
    failure: Exception | None = None

    def before_pass(self, rows: int) -> None:  # noqa: ARG002
        time.sleep(0.002)
        if self.failure is not None:
            raise self.failure


class Held(Wrapped):
    """A model whose passes wait until they are allowed."""

    def __init__(self, model: FunctionModel) -> None:
        super().__init__(model)
        self.passes, self.is_open = threading.Semaphore(0), False

    def before_pass(self, rows: int) -> None:  # noqa: ARG002
        if not self.is_open:
            self.passes.acquire()

    def open(self) -> None:
        """Let all passes go on from now on."""
        self.is_open = True
        self.passes.release(1_000)


class Small(Wrapped):
    def __init__(self, model: FunctionModel, most: int) -> None:
        super().__init__(model)
        self.most, self.refused = most, 0

    def before_pass(self, rows: int) -> None:
        if rows > self.most:
            self.refused += 1
            raise OutOfMemoryError("too little memory")


def test_sizes_are_counts(vocabulary: Vocabulary) -> None:  # noqa: ARG001
    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    with pytest.raises(ValueError, match="size is 0"):
        RunningBatch(model, 0)
    with pytest.raises(ValueError, match="max_tokens is 0"):
        RunningBatch(model, max_tokens=0)
