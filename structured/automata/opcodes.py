"""The operations and columns of a program, which `program.py` writes, and the columns of frames, which loops make."""

TEXT, ARCS, WORDS, UNLIKE, SCAN, QUOTATION, ITEM = range(7)
SEQUENCE, CHOICE, REPEAT, MEMBERS, PERMUTATION, DISTINCT, UNION = range(7, 14)
"""The operations of nodes. TEXT reads fixed bytes, ARCS a byte of some ranges, WORDS one of many words, UNLIKE a string
except some words, SCAN a text of an automaton, QUOTATION a quotation of a document, and ITEM an item that must differ:
these read a byte themselves. SEQUENCE reads parts in order, CHOICE one option, REPEAT an item again and again, MEMBERS
and PERMUTATION members (in any order), DISTINCT items that must all differ; UNION joins several stacks."""

UNION_NODE = 0
"""The row of UNION in `Program.nodes`; no pattern contains it."""

OPERATION, A, B, C, SHORTEST, OPEN = range(6)
"""The columns of `Program.nodes`. `SHORTEST` is the bytes of the shortest match. `OPEN` is 1 if every plain character
is a match, of the item in case of REPEAT; a character is plain if a JSON string writes it without an escape. `A`, `B`
and `C` depend on the operation; a "start" is a place in `operands` unless `text` is named:

TEXT: start of the bytes in `text`, number of bytes.
ARCS: start of the arcs, number of arcs; an arc is `low, high, node of the next byte or -1`.
WORDS: start of the words, number of words. The words are sorted. First come their starts in `text` and the end of the
    last, then for each word the number of bytes that it shares with the word before.
UNLIKE: start of the words, number of words, as in WORDS; start of `node of one character, node of any number of them`.
SCAN: start of the states, number of states, the most characters or UNLIMITED. A state is `start of its sets, number of
    sets, 1 if the text may end, fewest characters to the end, bytes of these, 1 if any number of plain characters may
    follow`; a set is `node of one character, state after it`.
QUOTATION: start of its numbers, which are named below.
ITEM: start of the numbers of the items, which are named below.
SEQUENCE: start of the parts, number of parts; a part is `node, bytes of the shortest rest from here`.
CHOICE: start of the options, number of options; an option is a node.
REPEAT: node of the item, least count, greatest count or UNLIMITED.
MEMBERS: start of the members, number of members; a member is `node, 1 if required, bytes of the shortest rest from here
    if nothing was written before, the same if a member was`. Start of `node of the separator, node of other members or
    -1, bytes of the shortest rest after the members if nothing was written`.
PERMUTATION: start of the members, number of members; a member is `node, 1 if required, its bytes with a separator if
    required, unused`. Start of `node of the separator, node of other members or -1, bytes of all required members with
    separators, bytes of the shortest match`.
DISTINCT: as ITEM, and the node of an item.
"""

QUOTED_TEXT, SUFFIXES, SUFFIX_COUNT, COUNTS, BORDERS, NEAREST = range(6)
PLACES, KINDS, MOVES, KIND_COUNT, FEWEST, MOST = range(6, 12)
"""The numbers of QUOTATION: start of the document in `text`; start and number of the places where quotations may begin,
sorted by the bytes from there on; start of the character of each byte, of the first byte of each character, and of the
bytes to the nearest end, `PLACES` for each state of the rule; start of the kinds of characters, -1 without a rule,
and of the successors by them, `KIND_COUNT` for each state; the fewest characters, and the most or UNLIMITED."""

UNIQUE_ITEM, SEPARATOR, LEAST, MOST_ITEMS, ARE_MANY, ITEM_LENGTHS = range(6)
"""The numbers of DISTINCT: node of any item, node of the separator; the fewest items, and the most or UNLIMITED; 1 if
there are more different items than a text can hold; the bytes of the shortest items, as many as the fewest. Then follow
the bytes still needed, with separators, after no item, after one item, and so on."""

NODE, FIRST, SECOND, TAIL, LENGTH, LEAVES, COUNT, MARK = range(8)
"""The columns of a frame: its node; the place reached in it, as two numbers; the frame below; the bytes of the shortest
completion; the start of its leaves in `leaves` (-1 if not known) and their number; the last round that met it. In the
frame of a sequence, `SECOND` is the part before which it is cut off, 0 for none."""

FRAMES_USED, LEAVES_USED, STATES_USED, MEMBERS_USED, ARCS_USED, ROUND = range(6)
WANTED, MARKED, MARKED_WITH, BYTE_WANTED = range(6, 10)
"""The entries of `sizes`: used rows of arrays; the state that is needed, or `-1 - i` for the state before an item `i`;
the frame of the items marked as written, and their mark; the byte of the needed state's row, -1 for all."""

BEGUN, CHOOSING = -1, -2
"""Values of FIRST in a frame of members in any order that are not a member; see `closure.py`."""

FINISHED = 0
"""The frame under all others: nothing is left to read."""

COLUMNS = 6
UNLIMITED = -1
FAR = 1 << 30
"""The greatest length; longer ones count as this."""
BARRIER = 0xFF
"""A byte that UTF-8 does not have: it marks places of a document that no quotation may cross."""
