"""The packaged model in NumPy computes what transformers computes with the same files."""

import copy
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from structured import extract, load_model
from structured.errors import ModelError
from structured.models import PACKAGED_MODEL, LanguageModel, load
from structured.models.lfm2 import MAX_PREFIX_BYTES, PackagedModel
from structured.models.protocol import DecodingBatch

CLOSE = 1e-4
"""Logits are up to 20; a float32 has seven digits."""


@pytest.fixture(scope="module")
def ours() -> LanguageModel:
    return load_model(PACKAGED_MODEL)


@pytest.fixture(scope="module")
def theirs() -> LanguageModel:
    return load_model(PACKAGED_MODEL, dtype="float32")


def assert_same_next(batches: tuple[DecodingBatch, DecodingBatch], texts: list[list[int]]) -> None:
    """Compare the logits after one more token of each text."""
    new = [[7 + row] for row in range(len(texts))]
    left, right = (np.asarray(batch.forward(new)) for batch in batches)
    assert np.abs(left - right).max() < CLOSE
    for row, added in enumerate(new):
        texts[row] += added


def some_prompts(rng: random.Random, width: int, count: int) -> Iterator[list[int]]:
    shared = [rng.randrange(width) for _ in range(40)]
    for _ in range(count):
        yield shared + [rng.randrange(width) for _ in range(rng.randint(1, 30))]


@pytest.mark.parametrize("shared", [0, 40])
@pytest.mark.parametrize("seed", range(3))
def test_logits_are_those_of_transformers(ours: LanguageModel, theirs: LanguageModel, shared: int, seed: int) -> None:
    """Of prompts of any lengths, with and without a kept beginning, of texts that leave, come twice and join."""
    rng = random.Random(seed)
    prompts = list(some_prompts(rng, ours.vocabulary.size, 4))
    texts = [list(prompt) for prompt in prompts]
    begun = [model.prefill(prompts, shared=shared) for model in (ours, theirs)]
    assert np.abs(np.asarray(begun[0][1]) - np.asarray(begun[1][1])).max() < CLOSE
    batches = begun[0][0], begun[1][0]
    assert_same_next(batches, texts)
    rows = [rng.randrange(4) for _ in range(3)]
    for batch in batches:
        batch.select(rows)
    texts = [list(texts[row]) for row in rows]
    assert_same_next(batches, texts)
    others = list(some_prompts(rng, ours.vocabulary.size, 2))
    for model, batch in zip((ours, theirs), batches, strict=True):
        batch.join(model.prefill(others)[0])
    texts += others
    assert_same_next(batches, texts)


@pytest.mark.parametrize("seed", range(3))
def test_a_pass_over_many_tokens_is_as_many_passes(ours: LanguageModel, seed: int) -> None:
    """Each text is given another number of them, some are forgotten, and the window shows the logits in between."""
    rng = random.Random(seed)
    prompts = list(some_prompts(rng, ours.vocabulary.size, 3))
    new = [[rng.randrange(ours.vocabulary.size) for _ in range(rng.randint(4, 9))] for _ in prompts]
    kept = [rng.randint(1, 4) for _ in prompts]
    batch, _ = ours.prefill(prompts)
    seen = np.asarray(batch.forward(new, window=3))
    batch.rollback([4 - count for count in kept])
    for row, (prompt, added) in enumerate(zip(prompts, new, strict=True)):
        for back in range(4):
            _, last = ours.prefill([prompt + added[: len(added) - back]])
            assert np.abs(np.asarray(last)[0] - seen[row, 3 - back]).max() < CLOSE
    after = np.asarray(batch.forward([[5]] * len(prompts)))
    for row, (prompt, added) in enumerate(zip(prompts, new, strict=True)):
        _, last = ours.prefill([[*prompt, *added[: len(added) - (4 - kept[row])], 5]])
        assert np.abs(np.asarray(last)[0] - after[row]).max() < CLOSE


@pytest.mark.parametrize("seed", range(3))
def test_texts_that_come_and_go_are_read_as_alone(ours: LanguageModel, seed: int) -> None:
    """They join, leave, are put in another order, copied, and forget tokens: each has the logits that it has alone."""
    rng = random.Random(seed)
    texts = list(some_prompts(rng, ours.vocabulary.size, 2))
    prefix = texts[0][:40]
    batch, _ = ours.prefill(texts, shared=40)
    for _ in range(15):
        if rng.random() < 0.5:
            joining = [prefix + text[40:] for text in some_prompts(rng, ours.vocabulary.size, rng.randint(1, 3))]
            batch.join(ours.prefill(joining, shared=40)[0])
            texts += joining
        if rng.random() < 0.5:
            kept = rng.sample(range(len(texts)), rng.randint(1, len(texts)))
            rows = kept + [rng.choice(kept)] * (rng.random() < 0.2)
            batch.select(rows)
            texts = [list(texts[row]) for row in rows]
        batch.forward([[rng.randrange(3000)] for _ in texts])
        new = [[rng.randrange(3000) for _ in range(rng.randint(1, 4))] for _ in texts]
        batch.rollback([1] * len(texts))
        logits = np.asarray(batch.forward(new))
        texts = [text + added for text, added in zip(texts, new, strict=True)]
        for row in rng.sample(range(len(texts)), min(2, len(texts))):
            assert np.abs(np.asarray(ours.prefill([texts[row]])[1])[0] - logits[row]).max() < CLOSE
    copied, whole = (ours.prefill([[*prefix, 5]], shared=shared)[1] for shared in (40, 0))
    assert np.abs(np.asarray(copied) - np.asarray(whole)).max() < CLOSE, "the copies were changed, and not the prefix"


def test_kept_beginnings_have_a_limit_of_memory() -> None:
    """However long the beginnings of prompts are, and however many; the last ones stay."""
    model = PackagedModel(PACKAGED_MODEL, name="packaged")
    rng = random.Random(0)
    beginnings = [[rng.randrange(model.vocabulary.size) for _ in range(rng.randint(300, 1500))] for _ in range(12)]
    for beginning in beginnings:
        model.prefill([[*beginning, 5]], shared=len(beginning))
    kept = model._prefixes
    assert sum(one.nbytes for one in kept.values()) <= MAX_PREFIX_BYTES
    assert list(kept) == [tuple(beginning) for beginning in beginnings[-len(kept) :]]
    assert 1 < len(kept) < len(beginnings)


def test_text_is_encoded_as_transformers_does(ours: LanguageModel, theirs: LanguageModel) -> None:
    """Control tokens that it spells stay text; a chat it does not know."""
    for text in ("Jason is 25.", "a <|end|> b", "", "é🙂\n\n\t x", "<|start|>"):
        assert ours.encode(text) == theirs.encode(text)
    assert ours.vocabulary.tokens == theirs.vocabulary.tokens
    assert ours.vocabulary.end_token_ids == theirs.vocabulary.end_token_ids
    with pytest.raises(ModelError, match="no chat template"):
        ours.encode([{"role": "user", "content": "Hi"}])


def test_options_of_transformers_load_it_there() -> None:
    """By itself it is run by NumPy."""
    assert isinstance(load_model(PACKAGED_MODEL), PackagedModel)
    assert not isinstance(load_model(PACKAGED_MODEL, dtype="bfloat16"), PackagedModel)


def test_the_first_answer_needs_neither_torch_nor_transformers() -> None:
    """Each takes longer to import than the answer takes."""
    program = (
        "import sys; from structured import extract; print(extract(int, 'Jason is 25 years old.'))\n"
        "print({'torch', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "25\nset()\n"


def test_it_is_copied_and_pickled_by_its_folder(ours: LanguageModel) -> None:
    """As what is handed to other processes has to be."""
    for copied in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):  # noqa: S301  its own
        assert extract(int, "Jason is 25 years old.", model=copied) == 25
        assert copied.name == ours.name


def test_more_than_the_context_is_an_error(ours: LanguageModel) -> None:
    """Which names its length; what comes by `extract` is refused before."""
    assert ours.context_length is not None
    batch, _ = ours.prefill([[5] * ours.context_length])
    with pytest.raises(ValueError, match=rf"longer than the {ours.context_length:,} tokens"):
        batch.forward([[5]])


def test_threads_that_load_it_share_one() -> None:
    """Though all ask at once."""
    load._load_once.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        models = list(pool.map(load_model, [PACKAGED_MODEL] * 16))
    assert len(set(map(id, models))) == 1
