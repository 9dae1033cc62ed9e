"""The table of masks, and the same rows on a device: one gather for a batch, equal to the plain route."""

from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import numpy as np
import pytest
import torch
from devices import DEVICE
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_patterns import patterns

from structured.automata import RegularAutomaton
from structured.decoding.device_masks import DeviceMasks, apply_masks, draw
from structured.decoding.generate import compile_type
from structured.decoding.sampling import Sampler
from structured.index.index import Index
from structured.index.masks import NO_ROW, Mask, MaskTable, unpack
from structured.output_types.resolve import resolve_type
from structured.regex import Pattern
from structured.vocabulary import Vocabulary


def random_masks(size: int, count: int, seed: int) -> list[Mask]:
    """Return masks of all densities, with no bit set past the last token."""
    rng = np.random.default_rng(seed)
    bits = rng.random((count, size)) < rng.random((count, 1))
    padded = np.pad(bits, ((0, 0), (0, -size % 32)))
    return list(np.packbits(padded, axis=1, bitorder="little").view(np.int32))


sizes = st.integers(1, 200)
seeds = st.integers(0, 2**16)


@given(sizes, st.lists(st.integers(0, 5), max_size=20), seeds)
def test_a_row_for_each_distinct_mask(size: int, choices: list[int], seed: int) -> None:
    """Equal masks get the same row, different ones different rows, and a row keeps its number and its content."""
    table = MaskTable(size)
    masks = random_masks(size, 6, seed)
    for choice in choices:
        kept = table.intern(masks[choice].copy())
        assert np.array_equal(kept, masks[choice])
        assert table[table.row_of(kept)] is kept
        assert table.intern(kept) is kept
    assert len(table) == len(table.rows) == len({masks[choice].tobytes() for choice in choices})
    assert np.array_equal(table.rows, np.reshape([table[row] for row in range(len(table))], table.rows.shape))


def test_an_array_that_is_no_row_has_none() -> None:
    """Not even one that equals a row: its memory may be given to another mask tomorrow."""
    table = MaskTable(40)
    kept = table.intern(np.array([5, 1], dtype=np.int32))
    assert table.row_of(kept) == 0
    assert table.row_of(kept.copy()) == NO_ROW


def test_a_full_table_hands_masks_back() -> None:
    """Rows that are there stay; what is new is returned as it came."""
    table = MaskTable(40, max_bytes=2 * 8)
    masks = [np.array([number, 0], dtype=np.int32) for number in range(3)]
    rows = [table.intern(mask) for mask in masks]
    assert table.is_full
    assert rows[2] is masks[2]
    assert table.row_of(rows[2]) == NO_ROW
    assert table.intern(masks[1].copy()) is rows[1]


def test_threads_agree_on_rows() -> None:
    """However many intern the same masks at once, there is one row for each."""
    masks = random_masks(500, 200, seed=0)
    table = MaskTable(500)
    with ThreadPoolExecutor(8) as pool:
        rounds = list(pool.map(lambda _: [id(table.intern(mask.copy())) for mask in masks], range(8)))
    assert all(kept == rounds[0] for kept in rounds)
    assert len(table) == len({mask.tobytes() for mask in masks})


@pytest.mark.gpu
@given(sizes, st.integers(1, 5), st.integers(-40, 80), st.lists(st.booleans(), min_size=1, max_size=8), seeds)
def test_masks_on_a_device_equal_the_plain_route(
    size: int, count: int, wider: int, interned: list[bool], seed: int
) -> None:
    """Gathered and applied there, masks do what they do here; rows of the table and others, logits wide or narrow."""
    rng = np.random.default_rng(seed)
    table = MaskTable(size)
    masks = random_masks(size, count, seed)
    batch = [masks[rng.integers(count)] for _ in interned]
    batch = [table.intern(mask) if keep else mask for mask, keep in zip(batch, interned, strict=True)]
    logits = rng.normal(size=(len(batch), max(1, size + wider))).astype(np.float32)
    gathered = DeviceMasks(table, DEVICE).gather(batch)
    scores = torch.from_numpy(logits).to(DEVICE)
    masked = apply_masks(scores, gathered)
    plain = [np.where(unpack(mask, logits.shape[1]), row, -np.inf) for mask, row in zip(batch, logits, strict=True)]
    assert np.array_equal(gathered.cpu().numpy(), batch)
    assert np.array_equal(masked.cpu().numpy(), plain)
    wide = apply_masks(scores.double(), gathered)  # as it is done on other devices
    assert np.array_equal(wide.cpu().numpy(), plain)


@pytest.mark.gpu
@pytest.mark.thorough
@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), seeds)
def test_rows_on_another_device_follow_the_table(added: list[int], seed: int) -> None:
    """Where memory is not shared, only new rows are copied, and what is there always equals the table."""
    table = MaskTable(70)
    elsewhere = DeviceMasks(table, DEVICE)
    elsewhere._shares_memory = False  # as it is on any other device
    masks = iter(random_masks(70, 500, seed))
    for count in added:
        for _ in range(count):
            table.intern(next(masks))
        assert np.array_equal(elsewhere.rows().cpu().numpy(), table.rows)
        assert len(elsewhere._buffer) <= 2 * len(table)


def test_threads_copy_rows_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one thread has copied is not lost in the memory of another that was growing it meanwhile."""
    table = MaskTable(70)
    elsewhere = DeviceMasks(table, "cpu")
    elsewhere._shares_memory = False
    for mask in random_masks(70, 20, seed=0):
        table.intern(mask)
    other = Thread(target=elsewhere.rows)
    memory = elsewhere._buffer

    class Interrupted:
        def __len__(self) -> int:
            return len(memory)

        def __getitem__(self, place: slice) -> torch.Tensor:
            found = memory[place]
            other.start()
            other.join(0.2)  # by then it would be done if it did not wait
            return found

    monkeypatch.setattr(elsewhere, "_buffer", Interrupted())
    elsewhere.rows()
    other.join()
    assert np.array_equal(elsewhere.rows().numpy(), table.rows)


@pytest.mark.thorough
@given(st.lists(patterns(), min_size=1, max_size=4))
def test_indexes_share_a_table(vocabulary: Vocabulary, several: list[Pattern]) -> None:
    """One table serves indexes of different patterns, so that a batch of different types is one gather."""
    table = MaskTable(vocabulary.size)
    indexes = [Index(RegularAutomaton(pattern), vocabulary, table=table) for pattern in several]
    masks = [index.mask(index.automaton.start) for index in indexes]
    rows = [table.row_of(mask) for mask in masks]
    assert np.array_equal(table.rows[rows], masks)
    assert len(table) == len({mask.tobytes() for mask in masks})


def test_the_compiler_shares_one_table_until_it_is_full(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All types compiled for a vocabulary have their masks in one table; a full one is followed by a new one."""
    own = Vocabulary(vocabulary.tokens, vocabulary.end_token_ids)
    types = [resolve_type(output_type) for output_type in (int, bool, str, float)]
    first, second = (compile_type(output_type, own) for output_type in types[:2])
    assert first.table is second.table
    monkeypatch.setattr(MaskTable, "is_full", True)
    third = compile_type(types[2], own)
    assert third.table is not first.table
    other = compile_type(types[0], vocabulary)
    assert other.table is not first.table


def test_a_new_table_takes_no_memory() -> None:
    """The matrix is as large as it may become, and yet no page of it is given before it is written to."""
    resource = pytest.importorskip("resource", reason="Memory is told by the operating system on Unix alone.")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tables = [MaskTable(128_256) for _ in range(8)]
    tables[0].intern(np.zeros(4008, dtype=np.int32))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
    assert repr(tables[0]) == "MaskTable(1 rows of 4008 words)"


@pytest.mark.gpu
@given(st.integers(0, 2**16), st.sampled_from([0.0, 0.7, 1.0]), st.integers(0, 6), st.sampled_from([1.0, 0.8]))
@settings(max_examples=examples(60))
def test_drawing_on_the_device_is_drawing_on_the_host(seed: int, temperature: float, top_k: int, top_p: float) -> None:
    """Row by row the same token, from the same random numbers, with the same probabilities; infinite scores as well."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=3.0, size=(4, 70)).astype(np.float32)
    logits[rng.random(logits.shape) < 0.05] = -np.inf
    if seed % 5 == 0:
        logits[0] = -np.inf
    table = MaskTable(70)
    allowed = rng.random((4, 96)) < 0.4
    allowed[:, 3], allowed[:, 70:] = True, False
    masks = [np.packbits(row, bitorder="little").view(np.int32) for row in allowed]
    masks[:2] = [table.intern(mask) for mask in masks[:2]]
    sampler = Sampler(temperature, top_k=top_k or None, top_p=top_p)
    generators = [np.random.default_rng([seed, row]) for row in range(4)]
    choices = draw(torch.from_numpy(logits).to(DEVICE), masks, table, generators, sampler)
    for row, choice in enumerate(choices):
        expected = sampler.choose(logits[row], masks[row], np.random.default_rng([seed, row]))
        if not np.isfinite(logits[row, expected.token_id]) and temperature:
            continue  # one random number was used up already
        assert choice.token_id == expected.token_id
        assert choice.log_probability == pytest.approx(expected.log_probability, abs=1e-4)
        assert choice.legal_mass == pytest.approx(expected.legal_mass, abs=1e-4)
