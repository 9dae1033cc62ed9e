"""Walks of a vocabulary: the effect of its tokens in a state of the lexer, found once for all stacks of the parser.

A token either stays within one token of the grammar, or it goes past its end, and then the rest of it has to be read
from there: below a node of the trie, in the state of the lexer that the parser puts it in; that is found once as well.
The bytes to a token end and those of a shortest text after it are enough for the text to end. So all states within a
token share a few token ends; the masks do not depend on which: where none leads on, the text is searched for.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structured.automata.byte_automaton import DEAD
from structured.automata.grammar.lexer import IGNORED, Arrival, Lexer, Token
from structured.automata.loops.grammar_machine import with_rows
from structured.automata.loops.machine import TrieArrays
from structured.automata.loops.token_walks import FEW_CHILDREN, WalkArrays, sort_by_group
from structured.vocabulary.trie import Trie

_MAX_LINE_END_COLUMNS = 40
"""The most blanks behind a line feed after which token ends of a line end are looked for."""

_MAX_STATES_AHEAD = 30
"""The most states within a token that are visited to find all its ends."""

_MAX_ARRIVALS_EACH = 6
"""The most distinct arrivals, on average, of the bytes after each of them."""


class TokenEnd(NamedTuple):
    """The end of a token: its terminal, the number of the `LookaroundState` after it, and the bytes up to it."""

    terminal: int
    lookaround: int
    width: int


class TokenEnds:
    """The token ends of the states of a lexer by bytes that are not `absent`. Who calls it holds the lexer's lock."""

    def __init__(self, lexer: Lexer, absent: frozenset[int]) -> None:
        self.lexer = lexer
        self._present = [byte for byte in range(0xFF) if byte not in absent]
        self._nearest_ends: dict[tuple[int, int], TokenEnd | None] = {}
        self._arrivals_of = cache(self._new_arrivals)
        self.of = cache(self._new_ends)

    def _new_ends(self, state: int) -> tuple[list[TokenEnd], bool]:
        """Return token ends of a state, and whether there are no others.

        The nearest come first, and those of tokens that the parser does not see last.
        """
        all_ends = self._all_ends(state)
        ends = self._end_of_each_terminal(state) if all_ends is None else all_ends
        return sorted(ends, key=lambda end: (end.terminal == IGNORED, end.width)), all_ends is not None

    def _end_of_each_terminal(self, state: int) -> list[TokenEnd]:
        """Return a token end for each terminal, or for each column of a line end."""
        ends: list[TokenEnd] = []
        indentation = self.lexer.indentation
        for terminal, _ in self.lexer.expected[state]:
            if indentation is not None and terminal == indentation.line_end:
                ends += self._line_ends(state, terminal)
            else:
                ends += filter(None, [self._nearest_end(state, terminal)])
        return ends

    def _nearest_end(self, state: int, terminal: int) -> TokenEnd | None:
        """Return the nearest token end of a terminal, as far as each byte brings it nearer."""
        path: list[int] = []
        while (state, terminal) not in self._nearest_ends:
            token = self._token(state, terminal)
            if token is not None:
                self._nearest_ends[state, terminal] = TokenEnd(*token, 1)
                break
            path.append(state)
            nearer = self._nearer(state, terminal)
            if nearer == DEAD:
                break
            state = nearer
        end = self._nearest_ends.get((state, terminal))
        for before in reversed(path):
            end = None if end is None else end._replace(width=end.width + 1)
            self._nearest_ends[before, terminal] = end
        return end

    def _token(self, state: int, terminal: int) -> Token | None:
        """Return the token of a terminal that ends after the next byte and obliges to least; None if there is none."""

        def burden(token: Token) -> tuple[int, int]:
            obligations = self.lexer.lookarounds[token.lookaround].obligations
            return sum(len(obligation.threads) for obligation in obligations), token.lookaround

        arrivals = [self.lexer.arrivals[number] for number in self._arrivals_of(state)]
        tokens = (token for arrival in arrivals for token in arrival.tokens if token.terminal == terminal)
        return min(tokens, key=burden, default=None)

    def _all_ends(self, state: int) -> list[TokenEnd] | None:
        """Return all token ends of a state, each by the nearest way; None where that is not seen at once."""
        ends: dict[Token, TokenEnd] = {}
        met, level, width = {state}, [state], 1
        while level:
            arrivals = [arrival for each in level for arrival in self._arrivals_of(each)]
            if len(met) > _MAX_STATES_AHEAD or len(arrivals) > _MAX_ARRIVALS_EACH * len(level):
                return None
            level, width = [], width + 1
            for arrival in arrivals:
                after, tokens = self.lexer.arrivals[arrival]
                for token in tokens:
                    ends.setdefault(token, TokenEnd(*token, width - 1))
                if after != DEAD and after not in met:
                    met.add(after)
                    level.append(after)
        return list(ends.values())

    def _nearer(self, state: int, terminal: int) -> int:
        """Return the state after a byte in which the terminal takes the fewest bytes; DEAD if not fewer than here."""
        best, nearest = DEAD, dict(self.lexer.expected[state])[terminal]
        for arrival in self._arrivals_of(state):
            after = self.lexer.arrivals[arrival].state
            width = nearest if after == DEAD else dict(self.lexer.expected[after]).get(terminal, nearest)
            if width < nearest:
                best, nearest = after, width
        return best

    def _line_ends(self, state: int, terminal: int) -> list[TokenEnd]:
        """Return the token ends of a line end, one for each column of the next line."""
        indentation, width = self.lexer.indentation, 1
        assert indentation is not None
        ends: dict[int, TokenEnd] = {}
        while state != DEAD and width <= _MAX_LINE_END_COLUMNS:
            for arrival in self._arrivals_of(state):
                for token in self.lexer.arrivals[arrival].tokens:
                    if token.terminal >= indentation.line_ends:
                        ends.setdefault(token.terminal, TokenEnd(*token, width))
            if self.lexer.states[state].column >= 0:
                state = self._after(state, 0x20)
            else:
                state = self._after(state, 0x0A) if ends else self._nearer(state, terminal)
            width += 1
        return list(ends.values())

    def _after(self, state: int, byte: int) -> int:
        return self.lexer.arrivals[self.lexer.row(state)[byte]].state if byte in self._present else DEAD

    def _new_arrivals(self, state: int) -> tuple[int, ...]:
        """Return the arrivals of the next byte, each once."""
        row = self.lexer.row(state)
        return tuple(dict.fromkeys(row[byte] for byte in self._present))


_Numbers = NDArray[np.int32]


class TokenWalks:
    """The walks of a trie that have been found, behind each other in the arrays that a loop reads."""

    def __init__(self, trie: Trie) -> None:
        self.trie = trie
        widths = {"walks": (10,), "tokens": (2,), "token_ends": (2,), "subwalks": (3,)}
        shapes = {name: (64, *widths.get(name, ())) for name in WalkArrays._fields}
        arrays: dict[str, Any] = {name: np.zeros(shape, dtype=np.int32) for name, shape in shapes.items()}
        arrays |= {"latest_walk": np.full(64, -1, dtype=np.int32), "bits": np.zeros(64, dtype=np.uint32)}
        self.arrays = WalkArrays(**arrays)
        self.count = 0
        self.longest = 1
        """The most tokens of the grammar in one walk."""
        self._used = dict.fromkeys(self.arrays._fields, 0)
        self._used["first_node"] = 1
        self._sets: dict[bytes, int] = {}

    @property
    def nbytes(self) -> int:
        """The memory of the arrays."""
        return sum(int(array.nbytes) for array in self.arrays)

    def set_of(self, nodes: _Numbers) -> int:
        """Return the number of a set of nodes of the trie."""
        number = self._sets.setdefault(nodes.tobytes(), len(self._sets))
        if number == self._used["first_node"] - 1:
            self._append("nodes", nodes)
            self._append("first_node", [self._used["nodes"]])
        return number

    def nodes_of(self, number: int) -> _Numbers:
        """Return the nodes of a set."""
        first, end = self.arrays.first_node[number : number + 2].tolist()
        nodes: _Numbers = self.arrays.nodes[first:end]
        return nodes

    def add(self, state: int, number: int, met: _Numbers, ends: TokenEnds) -> None:
        """Add the walk from a state of the lexer below a set of nodes.

        It met some arrivals of the lexer at some nodes of the trie: the rows `node, arrival` of `met`. There is a group
        of nodes for each token of the grammar that may end there, and behind these one for each state that is reached.
        """
        times = np.bincount(met[:, 1])
        arrivals = [ends.lexer.arrivals[place] if count else Arrival(DEAD, ()) for place, count in enumerate(times)]
        numbers = _numbered(token for _, tokens in arrivals for token in tokens)
        group_of = _numbered([*numbers, *(target for target, _ in arrivals if target != DEAD)])
        groups_of = [tuple(group_of[key] for key in (*tokens, target) if key != DEAD) for target, tokens in arrivals]
        in_groups = _sorted_by_group(self.trie, met, times, groups_of, len(group_of))
        token_count = len(numbers)
        counts = np.diff(in_groups.first_word).tolist()
        token_counts, state_counts = counts[:token_count], counts[token_count:]
        targets = [target for target, count in zip([*group_of][token_count:], state_counts, strict=True) if count]
        token_ends = [ends.of(target) for target in targets]
        numbered_ends = [
            (numbers.setdefault(Token(terminal, lookaround), len(numbers)), width)
            for nearest_ends, _ in token_ends
            for terminal, lookaround, width in nearest_ends
        ]
        word_counts = [*token_counts, *[0] * (len(numbers) - token_count), *filter(None, state_counts)]
        beyond = list(self._beyond(in_groups, token_count))
        used = self._used
        last = int(self.arrays.latest_walk[state]) if state < len(self.arrays.latest_walk) else -1
        row = number, last, used["tokens"], len(numbers), used["targets"], len(targets), used["subwalks"], len(beyond)
        self._append("walks", [(*row, used["first_token_end"], used["first_word"])])
        self._append("first_token_end", used["token_ends"] + _starts([len(nearest) for nearest, _ in token_ends]))
        self._append("first_word", used["words"] + _starts(word_counts))
        self._append("tokens", list(numbers))
        self._append("targets", targets)
        self._append("is_complete", [is_complete for _, is_complete in token_ends])
        self._append("token_ends", numbered_ends)
        self._append("words", in_groups.words)
        self._append("bits", in_groups.bits)
        self._append("subwalks", beyond)
        self.arrays = with_rows(self.arrays, "latest_walk", state + 1)
        self.arrays.latest_walk[state] = self.count
        self.count += 1
        self.longest = max(self.longest, len(numbers))

    def _beyond(self, grouped: "_GroupedNodes", count: int) -> Iterator[tuple[int, int, bool]]:
        """Yield where tokens of the vocabulary go on behind each of the first `count` groups."""
        for token in range(count):
            nodes = grouped.nodes[grouped.starts[token] : grouped.starts[token + 1]]
            children = self.trie.first[nodes + 1] - self.trie.first[nodes]
            going_on = nodes[children > 0]
            if len(going_on):
                yield token, self.set_of(going_on), bool(children.sum() < FEW_CHILDREN)

    def _append(self, name: str, rows: Sequence[object] | _Numbers | NDArray[np.uint32]) -> None:
        """Put rows behind those of an array."""
        first = self._used[name]
        self.arrays = with_rows(self.arrays, name, first + len(rows))
        if len(rows):
            getattr(self.arrays, name)[first : first + len(rows)] = rows
        self._used[name] = first + len(rows)


class _GroupedNodes(NamedTuple):
    """The nodes of each group, and the words of a mask of the tokens there; where those of each begin."""

    nodes: _Numbers
    starts: _Numbers
    words: _Numbers
    bits: NDArray[np.uint32]
    first_word: _Numbers


def _sorted_by_group(
    trie: Trie, met: _Numbers, times: NDArray[np.intp], groups_of: Sequence[tuple[int, ...]], count: int
) -> _GroupedNodes:
    """Return the nodes of some rows `node, arrival` by group.

    `times` says how often each arrival was met, `groups_of` in which groups each is.
    """
    sizes = np.array([len(groups) for groups in groups_of], dtype=np.int64)
    groups = np.array([group for groups in groups_of for group in groups], dtype=np.int32)
    in_group = np.bincount(groups, weights=np.repeat(times, sizes), minlength=count).astype(np.int64)
    tokens = trie.token_start[met[:, 0] + 1] - trie.token_start[met[:, 0]]
    room = int((tokens * sizes[met[:, 1]]).sum())
    result = _GroupedNodes(
        nodes=np.zeros(int(in_group.sum()), dtype=np.int32),
        starts=np.cumsum(np.append(in_group, 0)).astype(np.int32),
        words=np.zeros(room, dtype=np.int32),
        bits=np.zeros(room, dtype=np.uint32),
        first_word=np.zeros(count + 1, dtype=np.int32),
    )
    arrays = TrieArrays(trie.byte, trie.first, trie.token_start, trie.token_ids)
    place_of_word = np.zeros(int(trie.token_ids.max(initial=0) >> 5) + 1, dtype=np.int32)
    sort_by_group(arrays, met, _starts(sizes), groups, *result, place_of_word)
    used = int(result.first_word[count])
    return result._replace(words=result.words[:used], bits=result.bits[:used])


def _numbered(keys: Iterable[Any]) -> dict[Any, int]:
    """Return the numbers of some keys in the order in which they first appear."""
    return {key: number for number, key in enumerate(dict.fromkeys(keys))}


def _starts(counts: Sequence[int] | NDArray[np.int64]) -> _Numbers:
    return np.concatenate([[0], np.cumsum(np.array(counts, dtype=np.int64))]).astype(np.int32)
