"""The opcodes and columns of a program, which the compiler writes and the loops read."""

TEXT, ARCS, WORDS, UNLIKE, SCAN, QUOTATION, ITEM, SEQUENCE, CHOICE, REPEAT, MEMBERS, PERMUTATION, DISTINCT, UNION = (
    range(14)
)
"""What a node reads: fixed bytes, one byte of some ranges, one of many words, a string that is none of some words, one
that an automaton accepts, one that a document contains, one item unlike those before it, its parts in order, one of its
options, its item again, some of its members, the same in any order, items that all differ, what several stacks go on
with. The first seven read a byte themselves."""

UNION_NODE = 0
"""The row of `Program.nodes` that UNION is; it is in no pattern."""

OPERATION, A, B, C, SHORTEST, OPEN = range(6)
"""The columns of `Program.nodes`. `SHORTEST` is the number of bytes in the shortest match. `OPEN` is 1 where every
plain character is a match, or one of the item of REPEAT; plain are those that a JSON string holds as themselves. `A`,
`B` and `C` are

TEXT: where its bytes start in `text`, how many there are.
ARCS: where its arcs start in `operands`, how many there are; each is `low, high, node that goes on or -1`.
WORDS: where its words start in `operands`, how many there are. They are sorted; each is given by where it starts in
    `text`, where the last one ends follows, and then for each how many bytes it has in common with the one before.
UNLIKE: where its words start in `operands`, how many there are, as in WORDS; where in `operands` the node of one
    character and that of any number of them stand.
SCAN: where the states of its automaton start in `operands`, how many there are; the most characters, or UNLIMITED. Each
    state is `where its sets start in operands, how many there are, 1 if the text may end, fewest characters to its end,
    bytes of as few, 1 if any plain characters may follow, however many`; each set is `node of one character, state
    after it`.
QUOTATION: where its numbers start in `operands`; they are named below.
ITEM: where the numbers of the items that differ start in `operands`; they are named below.
SEQUENCE: where its parts start in `operands`, how many there are; each is `node, bytes of the shortest rest from here`.
CHOICE: where its options start in `operands`, how many there are; each is a node.
REPEAT: the node of its item, the least and the greatest count, the latter UNLIMITED if there is none.
MEMBERS: where its members start in `operands`, how many there are; each is `node, 1 if it is required, bytes of the
    shortest rest from here if nothing was written before, the same if something was`. Where in `operands` follow the
    node of the separator, that of the rest or -1, and the bytes of the shortest rest after the members if nothing was
    written.
PERMUTATION: where its members start in `operands`, how many there are; each is `node, 1 if it is required, bytes that
    it takes with a separator if it is required`. Where in `operands` follow the node of the separator, that of the rest
    or -1, the bytes that all required members take with separators, and those of the shortest match.
DISTINCT: as ITEM, and the node of one of its items.
"""

(
    QUOTED_TEXT,
    SUFFIXES,
    SUFFIX_COUNT,
    COUNTS,
    BORDERS,
    NEAREST,
    PLACES,
    KINDS,
    MOVES,
    KIND_COUNT,
    FEWEST,
    MOST,
) = range(12)
"""The numbers of QUOTATION: where the bytes of the document start in `text`; where in `operands` the places at which a
quotation may begin start, sorted by what follows, and how many there are; where the character that each byte belongs to
stands, and where each character begins; where the bytes to the nearest end stand, for each state of its rule so many
as there are `PLACES`; where the kinds of characters stand, -1 if they do not matter, and the states after them, for
each state so many as there are kinds; the fewest characters and the most, the latter UNLIMITED if there is no such."""

UNIQUE_ITEM, SEPARATOR, LEAST, MOST_ITEMS, ARE_MANY, ITEM_LENGTHS = range(6)
"""The numbers of DISTINCT: the node that any item is read by, that of the separator; the fewest items and the most, the
latter UNLIMITED if there is no such; 1 if there are more of them than a text can hold; the bytes of so many of the
shortest items as there must be. Then follow the bytes that are still needed when none has been written, one, and so on,
each of the items with a separator."""

COLUMNS = 6
UNLIMITED = -1
FAR = 1 << 30
"""Lengths are counted up to here."""
BARRIER = 0xFF
"""A byte that UTF-8 does not have: it marks the bytes of a document at which no quotation may continue."""
