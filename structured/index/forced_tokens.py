"""Forced tokens: those that must follow a state, so that no model has to be asked for them.

Where only one continuation is legal, its bytes are spelled as the tokenizer would spell them. The last of these tokens
are held back if a longer token, one that goes on past what is known, might take their place: which of them it is
to be, the model decides. So no text becomes likelier than under masks alone, whose tokens are the same bytes.
"""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from structured.automata import DEAD
from structured.automata.opcodes import FAR
from structured.index.trie_walks import Walks

ANCHORS = ('"', "\n", "")
"""Texts before which a run is spelled, since tokenizers spell the beginning of a text in a way of its own."""


class ForcedTokens:
    """The forced runs of the states of one automaton, as bytes and as tokens; each is found once."""

    def __init__(self, walks: Walks) -> None:
        self.walks = walks
        self._runs: dict[int, tuple[bytes, list[int]]] = {}
        self._tokens: dict[int, tuple[int, ...]] = {}
        self._likely: dict[int, tuple[int, ...]] = {}

    def tokens(self, state: int) -> tuple[int, ...]:
        """Return the tokens that are known to follow a state."""
        known = self._tokens.get(state)
        if known is None:
            known = self._tokens[state] = self._kept(self.likely(state), self.run(state)[1])
        return known

    def likely(self, state: int) -> tuple[int, ...]:
        """Return the tokens of the whole run; at its end, longer ones might take their place."""
        known = self._likely.get(state)
        if known is None:
            run, _ = self.run(state)
            known = self._likely[state] = self.spelled(run) if run else ()
        return known

    def spelled(self, run: bytes) -> tuple[int, ...]:
        """Return tokens of some bytes: those of the tokenizer or, where it cannot be had by itself, the fewest."""
        encode = self.walks.vocabulary.encode
        if encode is not None:
            with suppress(UnicodeDecodeError):
                text = run.decode()
                for anchor in ANCHORS:
                    found = self._after(encode(anchor + text), run)
                    if found is not None:
                        return found
        return self.fewest(run)

    def fewest(self, run: bytes) -> tuple[int, ...]:
        """Return the fewest tokens of some bytes; of several ways, the one whose first token is the longest.

        None where no tokens spell them.
        """
        from structured.index.mask_loops import fewest_tokens

        trie = self.walks.vocabulary.trie
        text = np.frombuffer(run, dtype=np.uint8)
        counts = np.full(len(run) + 1, -1, dtype=np.int32)
        fewest_tokens(trie.byte, trie.first, trie.token_start, text, counts)
        if counts[0] == FAR:
            return ()
        found: list[int] = []
        start = 0
        while start < len(run):
            fitting = [
                (end, trie.ending_at(node)[0])
                for end, node in enumerate(trie.path(run[start : start + trie.height]), start)
                if trie.ending_at(node) and counts[end] == counts[start] - 1
            ]
            start, token_id = fitting[-1]
            found.append(token_id)
        return tuple(found)

    def goes_on(self, beginning: bytes, state: int) -> bool:
        """Tell whether some token begins with some bytes and goes on with what a state allows."""
        trie, automaton = self.walks.vocabulary.trie, self.walks.automaton
        path = trie.path(beginning)
        open_ends = [(path[-1], state)] if len(path) > len(beginning) else []
        while open_ends:
            node, here = open_ends.pop()
            for child in range(int(trie.first[node]), int(trie.first[node + 1])):
                after = automaton.step(here, int(trie.byte[child]))
                if after != DEAD:
                    if trie.token_start[child] < trie.token_start[child + 1]:
                        return True
                    open_ends.append((child, after))
        return False

    def run(self, state: int) -> tuple[bytes, list[int]]:
        """Return the run of a state and the states along it, one more than it has bytes."""
        known = self._runs.get(state)
        if known is None:
            from structured.index.mask_loops import forced_run

            run, path = self.walks.follow(forced_run, state)
            known = self._runs[state] = run.tobytes(), path.tolist()
        return known

    def _after(self, token_ids: Sequence[int], run: bytes) -> tuple[int, ...] | None:
        """Return the last of some tokens, those that spell a run; None if no token begins where it does."""
        tokens = self.walks.vocabulary.tokens
        spelled, place = b"", len(token_ids)
        while len(spelled) < len(run) and place > 0:
            place -= 1
            token = tokens[token_ids[place]] if token_ids[place] < len(tokens) else None
            if token is None:
                return None
            spelled = token + spelled
        return tuple(token_ids[place:]) if spelled == run else None

    def _kept(self, token_ids: tuple[int, ...], path: list[int]) -> tuple[int, ...]:
        """Return the tokens up to the first that a longer one could replace, one that goes on past the run."""
        tokens = self.walks.vocabulary.tokens
        run = b"".join(tokens[token_id] or b"" for token_id in token_ids)
        start = 0
        for count, token_id in enumerate(token_ids):
            if len(run) - start < self.walks.vocabulary.trie.height and self.goes_on(run[start:], path[-1]):
                return token_ids[:count]
            start += len(tokens[token_id] or b"")
        return token_ids
