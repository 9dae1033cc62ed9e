"""The operations and columns of a program, which `program.py` writes, and the columns of frames, which loops make."""

TEXT, ARCS, WORDS, UNLIKE, SCAN, QUOTATION, ITEM = range(7)
SEQUENCE, CHOICE, REPEAT, MEMBERS, PERMUTATION, DISTINCT, UNION = range(7, 14)
"""The operations of nodes. TEXT reads fixed bytes, ARCS a byte of some ranges, WORDS one of many words, UNLIKE a string
except some words, SCAN a text of an automaton, QUOTATION a quotation of a document, and ITEM an item that must differ:
these read a byte themselves. SEQUENCE reads parts in order, CHOICE one option, REPEAT an item again and again, MEMBERS
and PERMUTATION members (in any order), DISTINCT items that must all differ; UNION joins several stacks."""

UNION_NODE = 0
"""The row of UNION in `Program.nodes`; no pattern contains it."""

OPERATION, A, B, C, SHORTEST, ANY_UNESCAPED_CHARACTER = range(6)
"""The columns of `Program.nodes`. `SHORTEST` is the bytes of the shortest match. `ANY_UNESCAPED_CHARACTER` is 1 if each
unescaped character is a match, of the item in case of REPEAT; a character is unescaped if a JSON string writes it
without an escape. `A`, `B` and `C` depend on the operation; a "start" is an index of `operands` unless `text` is named:

TEXT: start of the bytes in `text`, number of bytes.
ARCS: start of the arcs, number of arcs; an arc is `low, high, node of the next byte or -1`.
WORDS: start of the words, number of words. The words are sorted. First come their starts in `text` and the end of the
    last, then for each word the number of bytes that it shares with the word before.
UNLIKE: start of the words, number of words, as in WORDS; start of `node of one character, node of any number of them`.
SCAN: start of the states, number of states, the most characters or UNLIMITED. A state is `start of its sets, number of
    sets, 1 if the text may end, fewest characters to the end, bytes of these, 1 if any number of unescaped characters
    may follow`; a set is `node of one character, state after it`.
QUOTATION: start of its numbers, which are named below.
ITEM: start of the numbers of the items, which are named below.
SEQUENCE: start of the parts, number of parts; a part is `node, bytes of the shortest text from this part on`.
CHOICE: start of the options, number of options; an option is a node.
REPEAT: node of the item, least count, greatest count or UNLIMITED.
MEMBERS: start of the members, number of members; a member is `node, 1 if required, bytes of the shortest text from this
    member on if no member was written before, the same if one was`. Start of `node of the separator, node of other
    members or -1, bytes of the shortest text after the listed members if none was written`.
PERMUTATION: start of the members, number of members; a member is `node, 1 if required, its bytes with a separator if
    required, unused`. Start of `node of the separator, node of other members or -1, bytes of all required members with
    separators, bytes of the shortest match`.
DISTINCT: as ITEM, and the node of an item.
"""

QUOTED_TEXT, SUFFIXES, SUFFIX_COUNT, CHARACTER_OF_BYTE, CHARACTER_STARTS, END_DISTANCES = range(6)
PLACE_COUNT, CHARACTER_CLASSES, TRANSITIONS, CLASS_COUNT, MIN_CHARACTERS, MAX_CHARACTERS = range(6, 12)
"""The numbers of QUOTATION, which hold the arrays of `Quotations`: start of the document in `text`; start and number of
the suffixes; starts of the index of each byte's character, of the first byte of each character, and of the bytes to the
nearest end, `PLACE_COUNT` for each state of the rule; start of the class of each character, -1 without a rule, and of
the transitions, `CLASS_COUNT` for each state; the fewest characters, and the most or UNLIMITED."""

UNIQUE_ITEM, SEPARATOR, MIN_ITEMS, MAX_ITEMS, IS_INEXHAUSTIBLE, ITEM_LENGTHS = range(6)
"""The numbers of DISTINCT: node of any item, node of the separator; the fewest items, and the most or UNLIMITED; 1 if
there are more different items than a text can hold; the bytes of the shortest items, as many as the fewest. Then follow
the bytes still needed, with separators, after no item, after one item, and so on."""

NODE, FIRST, SECOND, TAIL, DISTANCE, FIRST_LEAF, LEAF_COUNT, LAST_ROUND = range(8)
"""The columns of a frame: its node; two numbers for the progress in the node; the frame under it; the bytes of the
shortest completion, the frames under it included; the start of its leaves in `leaves` (-1 if not known) and their
number; the last round (see `ROUND`) that met it. `FIRST` and `SECOND` depend on the operation of the node:

TEXT: bytes read, unused.
WORDS, UNLIKE: a word, the number of its first bytes that are read.
SCAN: state, the characters left or UNLIMITED.
QUOTATION: an interval of the suffix array; in the frame under it `-1 - depth`, state of the rule; see `quoting.py`.
ITEM, DISTINCT: see `distinct_items.py`.
SEQUENCE: the part that comes next, the part before which the sequence is cut off or 0.
REPEAT: items still required, items still allowed or UNLIMITED.
MEMBERS: the member that comes next, 1 if a member was written.
PERMUTATION: see `OBJECT_START`.
UNION: the top frame of one stack, unused; the frame under it stands for the other stacks.
ARCS, CHOICE: 0, 0; they have no progress.
"""

OBJECT_START, NEXT_MEMBER = -1, -2
"""Values of `FIRST` in frames of PERMUTATION; others are members, by their index. `OBJECT_START, 0` is the frame before
an object. `OBJECT_START, 1` lies under the written members `m, n`, where n counts the frames from there on: the members
are sorted, so that those written in any order are one stack. `m, 0` is put under the member m while that is read.
`NEXT_MEMBER, bytes` is put above the written members after a separator, since a member has to follow; it adds so many
bytes to the distance of the written members, negative ones if a required member is missing."""

FRAMES_USED, LEAVES_USED, STATES_USED, ELEMENTS_USED, ARCS_USED, ROUND = range(6)
REQUESTED_STATE, MARKED_ITEMS, MARKING_ROUND, REQUESTED_BYTE = range(6, 10)
"""The `registers` of a machine, numbers that loops keep: the used rows of five arrays; the number of the last round, a
pass over frames that handles each only once and to this end writes its number into `LAST_ROUND`; the state that a loop
needs, or `-1 - i` for the state before an item `i`; the top frame of the written items that are marked, and the round
of these marks; the byte of the needed state's row, -1 for all bytes."""

FINISHED = 0
"""The frame under all others: nothing is left to read."""

NODE_COLUMNS = 6
REFERENCE = 14
"""What stands for a reference while a program is assembled, in which it becomes a CHOICE of its target."""
UNKNOWN_ROW = -1
"""What stands for the row of a node whose parts have to be added first."""
UNLIMITED = -1
FAR = 1 << 30
"""The greatest length in bytes; longer ones, and that of what never ends, count as this."""
BARRIER = 0xFF
"""A byte that UTF-8 does not have: it marks places of a document that no quotation may cross."""
