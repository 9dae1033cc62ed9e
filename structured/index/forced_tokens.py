"""Forced tokens: those that must follow a state, so that no model has to be asked for them.

Where only one continuation is legal, its bytes, the *forced run*, are spelled as the tokenizer would spell them. The
last of these tokens are held back if a longer token, one that goes on past the run, might take their place: which of
them it is to be, the model decides. So no text becomes likelier than under masks alone, by tokens of the same bytes.
"""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from structured.automata import DEAD
from structured.automata.opcodes import FAR
from structured.index.mask_loops import fewest_tokens, follow_forced
from structured.index.trie_walks import TrieWalks

ANCHORS = ('"', "\n", "")
"""Texts before which a run is spelled, since tokenizers spell the beginning of a text in a way of its own."""


class ForcedTokens:
    """The forced runs of the states of one automaton, as bytes and as tokens; each is computed once."""

    def __init__(self, walks: TrieWalks) -> None:
        self.walks = walks
        self._runs: dict[int, tuple[bytes, list[int]]] = {}
        self._tokens: dict[int, tuple[int, ...]] = {}
        self._run_tokens: dict[int, tuple[int, ...]] = {}

    def tokens(self, state: int) -> tuple[int, ...]:
        """Return the tokens that must follow a state: those of its run that no longer token could replace."""
        token_ids = self._tokens.get(state)
        if token_ids is None:
            token_ids = self._tokens[state] = self._certain_tokens(self.run_tokens(state), self.run(state)[1])
        return token_ids

    def run_tokens(self, state: int) -> tuple[int, ...]:
        """Return the tokens of the whole run of a state; at its end, longer ones might take their place."""
        token_ids = self._run_tokens.get(state)
        if token_ids is None:
            run, _ = self.run(state)
            token_ids = self._run_tokens[state] = self.spelling(run) if run else ()
        return token_ids

    def spelling(self, run: bytes) -> tuple[int, ...]:
        """Return tokens of some bytes: those of the tokenizer or, where these cannot be had alone, the fewest."""
        encode = self.walks.vocabulary.encode
        if encode is not None:
            with suppress(UnicodeDecodeError):
                text = run.decode()
                for anchor in ANCHORS:
                    token_ids = self._last_tokens_of(encode(anchor + text), run)
                    if token_ids is not None:
                        return token_ids
        return self.shortest_spelling(run)

    def shortest_spelling(self, run: bytes) -> tuple[int, ...]:
        """Return the fewest tokens of some bytes; of several ways, the one whose first token is the longest.

        Nothing where no tokens spell them.
        """
        trie = self.walks.vocabulary.trie
        text = np.frombuffer(run, dtype=np.uint8)
        counts = np.full(len(run) + 1, -1, dtype=np.int32)
        fewest_tokens(trie.arrays, text, counts)
        if counts[0] == FAR:
            return ()
        token_ids: list[int] = []
        start = 0
        while start < len(run):
            fitting = [
                (end, trie.tokens_at(node)[0])
                for end, node in enumerate(trie.nodes_along(run[start : start + trie.height]), start)
                if trie.tokens_at(node) and counts[end] == counts[start] - 1
            ]
            start, token_id = fitting[-1]
            token_ids.append(token_id)
        return tuple(token_ids)

    def has_longer_token(self, beginning: bytes, state: int) -> bool:
        """Tell whether a token begins with some bytes and goes on with bytes that a state allows."""
        trie, automaton = self.walks.vocabulary.trie, self.walks.automaton
        path = trie.nodes_along(beginning)
        nodes_and_states = [(path[-1], state)] if len(path) > len(beginning) else []
        while nodes_and_states:
            node, before = nodes_and_states.pop()
            for child in range(int(trie.first[node]), int(trie.first[node + 1])):
                after = automaton.step(before, int(trie.byte[child]))
                if after != DEAD:
                    if trie.token_start[child] < trie.token_start[child + 1]:
                        return True
                    nodes_and_states.append((child, after))
        return False

    def run(self, state: int) -> tuple[bytes, list[int]]:
        """Return the forced run of a state, and the states before, between and after its bytes."""
        entry = self._runs.get(state)
        if entry is None:
            run, path = self.walks.follow(follow_forced, state)
            entry = self._runs[state] = run.tobytes(), path.tolist()
        return entry

    def _last_tokens_of(self, token_ids: Sequence[int], run: bytes) -> tuple[int, ...] | None:
        """Return the last of some tokens, those that spell a run; None if no token begins where it does."""
        tokens = self.walks.vocabulary.tokens
        spelling, place = b"", len(token_ids)
        while len(spelling) < len(run) and place > 0:
            place -= 1
            token = tokens[token_ids[place]] if token_ids[place] < len(tokens) else None
            if token is None:
                return None
            spelling = token + spelling
        return tuple(token_ids[place:]) if spelling == run else None

    def _certain_tokens(self, token_ids: tuple[int, ...], path: list[int]) -> tuple[int, ...]:
        """Return the tokens of a run up to the first that a longer one, which goes on past the run, could replace."""
        tokens = self.walks.vocabulary.tokens
        run = b"".join(tokens[token_id] or b"" for token_id in token_ids)
        start = 0
        for count, token_id in enumerate(token_ids):
            if len(run) - start < self.walks.vocabulary.trie.height and self.has_longer_token(run[start:], path[-1]):
                return token_ids[:count]
            start += len(tokens[token_id] or b"")
        return token_ids
