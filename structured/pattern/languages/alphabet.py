"""A pattern enters; the characters leave, cut where it tells them apart."""

from collections.abc import Iterable
from typing import Any

from structured.pattern.nodes import MAX_CODE_POINT, CharSet, Literal, Pattern, Range, Scan, Words, nodes_of


class Alphabet:
    """The characters, cut where a pattern tells them apart; a block of the pieces is an integer, one bit for each."""

    def __init__(self, pattern: Pattern) -> None:
        cuts = {0, MAX_CODE_POINT + 1}
        for node in nodes_of(pattern):
            cuts.update(cut for low, high in _ranges_of(node) for cut in (low, high + 1))
        self._starts = sorted(cuts)
        self._pieces = {start: index for index, start in enumerate(self._starts)}
        self._blocks: dict[Any, int] = {}
        self._ranges: dict[int, list[Range]] = {}
        self.everything = (1 << len(self._starts) - 1) - 1

    def block(self, ranges: tuple[Range, ...]) -> int:
        """Return the block of the characters of some ranges, which the pattern has."""
        block = self._blocks.get(ranges)
        if block is None:
            block = 0
            for low, high in ranges:
                block |= (1 << self._pieces[high + 1]) - (1 << self._pieces[low])
            self._blocks[ranges] = block
        return block

    def ranges(self, block: int) -> list[Range]:
        """Return the ranges of the characters of a block."""
        found = self._ranges.get(block)
        if found is None:
            found = []
            piece = 0
            rest = block
            while rest:
                skipped = (rest & -rest).bit_length() - 1
                rest >>= skipped
                taken = (~rest & (rest + 1)).bit_length() - 1
                piece += skipped
                found.append((self._starts[piece], self._starts[piece + taken] - 1))
                piece += taken
                rest >>= taken
            self._ranges[block] = found
        return found


def _ranges_of(node: Pattern) -> Iterable[Range]:
    """Yield the ranges of characters that a node tells from others."""
    match node:
        case Literal(text):
            return [(ord(character), ord(character)) for character in text]
        case Words(texts):
            return [(point, point) for point in {ord(character) for text in texts for character in text}]
        case CharSet(ranges):
            return ranges
        case Scan(arcs):
            return [(low, high) for row in arcs for low, high, _ in row]
    return ()
