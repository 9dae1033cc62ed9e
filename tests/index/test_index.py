"""The index: masks against brute force over the vocabulary, and the arithmetic of shortest completions."""

import random

import numpy as np
import pytest
from brute_force import brute_mask, brute_successors
from hypothesis import given
from hypothesis import strategies as st
from languages import PERSON
from random_patterns import patterns, patterns_with_texts, randoms, sample
from walks import forced_run, read, states_on_walks

from structured.automata import DEAD, Automaton, RegularAutomaton
from structured.index import index as index_module
from structured.index.index import Index
from structured.index.masks import NO_ROW, Mask, MaskTable, unpack
from structured.regex import Pattern, alternation, char_set, chars, concat, literal, repeat
from structured.vocabulary import Vocabulary


@pytest.mark.thorough
@given(patterns(), randoms())
def test_masks_equal_brute_force(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random) -> None:
    """At every state that random tokens reach, exactly those tokens are allowed that the automaton survives."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    for state in states_on_walks(index, rng):
        successors = brute_successors(index, state)
        assert index._walks.successors(state) == sorted(set(successors.tolist()) - {DEAD})
        mask = unpack(index.mask(state), vocabulary.size)
        assert (mask == brute_mask(index, state, successors != DEAD)).all()


def test_masks_of_real_vocabularies_equal_brute_force(real: Vocabulary) -> None:
    """The same on published vocabularies, at the states along objects with strings, numbers and choices."""
    index = Index(RegularAutomaton(PERSON), real)
    rng = random.Random(0)
    read_states = {read(index.automaton, sample(PERSON, rng).encode()[:length]) for length in (0, 4, 9, 13, 22, 31)}
    whole = read(index.automaton, b'{"name": "", "age": 0, "mood": "glad", "tags": []}')
    for state in sorted({*read_states, *states_on_walks(index, rng, walks=1), whole}):
        successors = brute_successors(index, state)
        mask = unpack(index.mask(state), real.size)
        assert (mask == brute_mask(index, state, successors != DEAD)).all()


@pytest.mark.parametrize(("least", "most"), [(0, None), (0, 3), (2, 40), (0, 200), (150, 200), (200, None)])
def test_masks_inside_strings_equal_brute_force(real: Vocabulary, least: int, most: int | None) -> None:
    """Also where only some more characters may follow, and tokens differ in how many they have."""
    any_character = char_set((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), negated=True)
    escape = concat(literal("\\"), chars('"\\/bfnrt'))
    string = concat(literal('"'), repeat(alternation(any_character, escape), least, most), literal('"'))
    index = Index(RegularAutomaton(string), real)
    texts = ('"', '"aé', '"日', '"\\', '"' + 39 * "x", '"' + 190 * "x", '"' + 199 * "é")
    for state in {read(index.automaton, text.encode()) for text in texts} - {DEAD}:
        mask = unpack(index.mask(state), real.size)
        assert (mask == brute_mask(index, state, brute_successors(index, state) != DEAD)).all(), state


@pytest.mark.parametrize("excluded", ["\\", '"', "\n"])
def test_masks_inside_text_that_is_no_json_equal_brute_force(vocabulary: Vocabulary, excluded: str) -> None:
    """Up to a quote, a text may hold control characters, which no JSON string does."""
    character = char_set((ord(excluded), ord(excluded)), negated=True)
    index = Index(RegularAutomaton(concat(repeat(character, 0, None), literal('"'))), vocabulary)
    start = index.automaton.start
    mask = unpack(index.mask(start), vocabulary.size)
    assert (mask == brute_mask(index, start, brute_successors(index, start) != DEAD)).all()


@pytest.mark.thorough
@given(patterns(), randoms())
def test_step_reads_the_bytes_of_a_token(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random) -> None:
    """Stepping over one token is stepping over its bytes; end tokens and empty ones lead nowhere."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    for state in states_on_walks(index, rng, walks=1, tokens=2):
        stepped = [index.step(state, token_id) for token_id in range(vocabulary.size)]
        assert stepped == brute_successors(index, state).tolist()


def test_padding_of_a_mask_is_never_allowed(vocabulary: Vocabulary) -> None:
    """Bits past the last token, and logits past the last bit, are False: no padded logit can be drawn."""
    index = Index(RegularAutomaton(repeat(char_set(negated=True), 0, None)), vocabulary)
    mask = index.mask(index.automaton.start)
    assert vocabulary.size % 32, "the test needs a vocabulary that does not fill its last word"
    assert len(mask) == -(-vocabulary.size // 32)
    assert not unpack(mask, vocabulary.size + 100)[vocabulary.size :].any()
    assert (unpack(mask, vocabulary.size + 100)[: vocabulary.size] == unpack(mask, vocabulary.size)).all()


@pytest.mark.thorough
@given(patterns(), randoms(), st.integers(0, 12))
def test_mask_within_a_budget(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random, max_tokens: int) -> None:
    """With a budget exactly those tokens are left whose shortest completion still fits after them."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    for state in states_on_walks(index, rng, walks=1, tokens=3):
        fits = [
            successor != DEAD and 1 + index.shortest_completion(successor) <= max_tokens
            for successor in map(int, brute_successors(index, state))
        ]
        mask = unpack(index.mask_for_budget(state, max_tokens), vocabulary.size)
        assert (mask == brute_mask(index, state, np.array(fits))).all()
        assert mask.any() or index.shortest_completion(state) > max_tokens


@pytest.mark.thorough
@given(patterns(), randoms())
def test_equal_masks_are_one_row(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random) -> None:
    """Masks with the same tokens are the same row of the table, which nobody can write to."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    states = states_on_walks(index, rng)
    masks = [index.mask(state) for state in states]
    assert len({mask.tobytes() for mask in masks}) == len({id(mask) for mask in masks}) == len(index.table)
    assert all(index.table[index.table.row_of(mask)] is mask for state, mask in zip(states, masks, strict=True))
    assert not any(mask.flags.writeable for mask in masks)


@pytest.mark.thorough
@given(patterns(), randoms(), st.integers(0, 12))
def test_reduced_masks_take_no_rows(
    vocabulary: Vocabulary, pattern: Pattern, rng: random.Random, max_tokens: int
) -> None:
    """A budget adds nothing to the table; where it takes nothing away, the mask is the very one of the state."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    for state in states_on_walks(index, rng, walks=1, tokens=3):
        mask = index.mask(state)
        rows = len(index.table)
        reduced = index.mask_for_budget(state, max_tokens)
        assert len(index.table) == rows
        assert (reduced is mask) == np.array_equal(reduced, mask)
        assert index.mask_for_budget(state, max_tokens) is reduced


@pytest.mark.thorough
@given(patterns(), randoms())
def test_masks_are_right_when_the_table_is_full(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random) -> None:
    """Past its limit the table takes no rows, those that it has stay, and every mask is what it would have been."""
    ample = Index(RegularAutomaton(pattern), vocabulary)
    table = MaskTable(vocabulary.size, max_bytes=2 * 4 * -(-vocabulary.size // 32))
    scarce = Index(ample.automaton, vocabulary, table=table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_module, "MAX_TRANSIENT_MASKS", 2)
        for state in states_on_walks(ample, rng) * 2:
            assert np.array_equal(scarce.mask(state), ample.mask(state))
            assert np.array_equal(scarce.mask_for_budget(state, 3), ample.mask_for_budget(state, 3))
            row = table.row_of(scarce.mask(state))
            assert row == NO_ROW or scarce.mask(state) is table[row]
    assert len(table) <= 2


def test_states_of_one_mask_share_it(vocabulary: Vocabulary) -> None:
    """The thousand places inside a long string have one mask until the end is near."""
    index = Index(RegularAutomaton(concat(repeat(chars("xyz"), 0, 1000), literal("."))), vocabulary)
    states = [read(index.automaton, b"x" * length) for length in range(1, 100)]
    assert len(set(states)) == len(states)
    assert len({id(index.mask(state)) for state in states}) == 1


def forced(automaton: Automaton, state: int) -> tuple[bytes, int]:
    """Return the bytes that are each the only way on, by trying all 256 at each place."""
    run = b""
    while not automaton.accepts(state):
        ways = [byte for byte in range(256) if automaton.step(state, byte) != DEAD]
        if len(ways) > 1:
            break
        run += bytes(ways)
        state = automaton.step(state, ways[0])
    return run, state


@pytest.mark.thorough
@given(patterns_with_texts(), st.booleans())
def test_forced_runs_equal_the_obvious_loop(
    vocabulary: Vocabulary, drawn: tuple[Pattern, list[str]], walked: bool
) -> None:
    """From every state along a text, the run has exactly the bytes that have no alternative, walked before or not."""
    pattern, texts = drawn
    index = Index(RegularAutomaton(pattern), vocabulary)
    for text in texts:
        state = index.automaton.start
        for byte in text.encode():
            if walked:
                assert forced_run(index, state) == forced(index.automaton, state)
            state = index.automaton.step(state, byte)
            if state == DEAD:
                break
        else:
            assert forced_run(index, state) == forced_run(index, state) == forced(index.automaton, state)


def test_forced_runs_go_up_to_the_first_choice(vocabulary: Vocabulary) -> None:
    """Keys and punctuation are forced, and so is the rest of a value that has begun like no other."""
    index = Index(RegularAutomaton(PERSON), vocabulary)
    for text, run in (
        ("", '{"name": "'),
        ('{"name": "x"', ', "age": '),
        ('{"name": "x", "age": 0', ', "mood": "'),
        ('{"name": "x", "age": 0, "mood": "gla', 'd", "tags": ['),
        ('{"name": "x", "age": 0, "mood": "glad", "tags": []', "}"),
        ('{"name": "x", "age": 0, "mood": "glad", "tags": []}', ""),
    ):
        state = read(index.automaton, text.encode())
        assert forced_run(index, state) == (run.encode(), read(index.automaton, (text + run).encode()))


@pytest.mark.thorough
@given(patterns_with_texts())
def test_final_states_have_no_way_on(vocabulary: Vocabulary, drawn: tuple[Pattern, list[str]]) -> None:
    """A state is final if its text is whole and no token may follow; its mask then holds end tokens alone."""
    pattern, texts = drawn
    index = Index(RegularAutomaton(pattern), vocabulary)
    for text in texts:
        state = read(index.automaton, text.encode())
        if state != DEAD:
            ends_only = set(np.flatnonzero(unpack(index.mask(state), vocabulary.size))) == set(vocabulary.end_token_ids)
            assert index.is_final(state) == ends_only


def test_a_dead_state_has_no_mask(vocabulary: Vocabulary) -> None:
    """The compiled loops would read beyond their arrays."""
    index = Index(RegularAutomaton(literal("ab")), vocabulary)
    with pytest.raises(ValueError, match="The state is DEAD"):
        index.mask(DEAD)


def test_a_canonical_mask_that_is_kept_nowhere_is_that_of_the_state() -> None:
    """Where the table is full, and another thread has dropped the masks meanwhile, equal masks are not one object."""

    class Forgetful(Index):
        def canonical_mask(self, state: int) -> Mask:
            mask = super().canonical_mask(state)
            self._transient_masks.clear()
            return mask

    vocabulary = Vocabulary([b"a", b"b", b"ab", None], end_token_ids=[3])
    index = Forgetful(RegularAutomaton(repeat(chars("ab"), 0, None)), vocabulary, table=MaskTable(4, max_bytes=0))
    mask = index.canonical_mask_for_budget(index.automaton.start, 9)
    assert mask.tolist() == index.mask(index.automaton.start).tolist()
