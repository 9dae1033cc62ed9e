"""An automaton and a vocabulary enter; for each state the tokens that may follow leave, as a bit mask.

This is the index of Willard & Louf ("Efficient Guided Generation for Large Language Models", 2023, section 3),
made lazily: a state's mask is one walk of the vocabulary's trie along the automaton when the state is first reached,
and a look-up ever after. Which state follows a token is not stored for every pair, as it is in the paper: stepping over
the token's few bytes costs less than keeping 128,256 numbers for each state.
"""

import numpy as np
from numpy.typing import NDArray

from structured.automata import DEAD, Automaton
from structured.kernels import compiled
from structured.vocabulary import Vocabulary

Mask = NDArray[np.int32]
"""One bit for each token, 32 to a word: token `t` is bit `t % 32` of word `t // 32`; shape (ceil(size / 32),)."""


class Index:
    """Masks, successors and shortest completions of the states of one automaton over one vocabulary."""

    def __init__(self, automaton: Automaton, vocabulary: Vocabulary) -> None:
        self.automaton = automaton
        self.vocabulary = vocabulary
        self._masks: dict[int, Mask] = {}
        self._farthest: dict[int, int] = {}
        self._distinct: dict[bytes, Mask] = {}
        self._tokens_left: dict[int, int] = {}

    def __repr__(self) -> str:
        return f"Index({self.automaton!r}, {self.vocabulary!r}, states={len(self._masks)}, masks={len(self._distinct)})"

    def mask(self, state: int) -> Mask:
        """Return the tokens that may follow a state; the end tokens are among them where the text may end."""
        mask = self._masks.get(state)
        if mask is None:
            successors = self.successors(state)
            self._farthest[state] = max((self.automaton.distance(s) for s in self._reached(successors)), default=0)
            mask = self._masks[state] = self._packed(state, successors != DEAD)
        return mask

    def mask_within(self, state: int, max_tokens: int) -> Mask:
        """Return the tokens that may follow a state when at most `max_tokens` are left, the next one among them.

        A token is allowed only if the shortest completion after it still fits.
        """
        mask = self.mask(state)
        if self._farthest[state] < max_tokens:  # even if every byte took a token
            return mask
        successors = self.successors(state)
        fits = np.zeros(len(self.automaton.table) + 1, dtype=np.bool_)  # the last entry is that of DEAD
        for successor in self._reached(successors):
            fits[successor] = self.shortest_completion(successor) < max_tokens
        return self._packed(state, fits[successors])

    def successors(self, state: int) -> NDArray[np.int32]:
        """Return the state after each token, DEAD where it is not allowed; shape (vocabulary.size,)."""
        successors = np.full(self.vocabulary.size, DEAD, dtype=np.int32)
        trie = self.vocabulary.trie
        walk = compiled().walk
        states = np.empty(int(trie.depth.max()) + 2, dtype=np.int32)
        states[0] = state
        node = 0
        while (node := walk(trie, self.automaton.table, states, node, successors)) < len(trie.byte):
            self.automaton.expand(int(states[trie.depth[node]]))
        return successors

    def step(self, state: int, token_id: int) -> int:
        """Return the state after a token, or DEAD; end tokens lead nowhere."""
        for byte in self.vocabulary.tokens[token_id] or ():
            state = self.automaton.step(state, byte)
            if state == DEAD:
                return DEAD
        return state if self.vocabulary.tokens[token_id] else DEAD

    def is_final(self, state: int) -> bool:
        """Tell whether the text must end here."""
        return self.automaton.accepts(state) and not any(
            self.automaton.step(state, byte) != DEAD for byte in range(256)
        )

    def shortest_completion(self, state: int) -> int:
        """Return how many tokens the shortest completion takes, end token not counted.

        The shortest completion is the one of fewest bytes (of several, the first in byte order), spelled in as few
        tokens as can be. Following it, each token leads to a state whose shortest completion is one token shorter;
        hence a text that is steered by this number always ends in time.
        """
        tokens_left = self._tokens_left.get(state)
        if tokens_left is None:
            path, text = self._shortest_text(state)
            counts = compiled().fewest_tokens(self.vocabulary.trie, np.frombuffer(text, dtype=np.uint8))
            self._tokens_left.update(zip(path, counts.tolist(), strict=True))
            tokens_left = self._tokens_left[state]
        return tokens_left

    def _shortest_text(self, state: int) -> tuple[list[int], bytes]:
        """Return the states along the shortest completion, and its bytes."""
        path, text = [state], bytearray()
        while distance := self.automaton.distance(path[-1]):
            for byte in range(256):
                successor = self.automaton.step(path[-1], byte)
                if successor != DEAD and self.automaton.distance(successor) == distance - 1:
                    path.append(successor)
                    text.append(byte)
                    break
        return path, bytes(text)

    def _reached(self, successors: NDArray[np.int32]) -> list[int]:
        """Return the distinct states among the successors."""
        reached = np.zeros(len(self.automaton.table) + 1, dtype=np.bool_)
        reached[successors] = True
        return [int(state) for state in np.flatnonzero(reached[:-1])]

    def _packed(self, state: int, allowed: NDArray[np.bool_]) -> Mask:
        """Pack a mask, with the end tokens where the state accepts; equal masks are one array."""
        if self.automaton.accepts(state):
            allowed[list(self.vocabulary.end_token_ids)] = True
        padded = np.zeros(-(-len(allowed) // 32) * 32, dtype=np.bool_)
        padded[: len(allowed)] = allowed
        mask = np.packbits(padded, bitorder="little").view(np.int32)
        mask.flags.writeable = False
        return self._distinct.setdefault(mask.tobytes(), mask)


def unpack(mask: Mask, size: int) -> NDArray[np.bool_]:
    """Return a mask as booleans, cut or padded with False to `size` tokens; shape (size,)."""
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little")[:size].astype(np.bool_)
    return np.pad(bits, (0, size - len(bits)))
