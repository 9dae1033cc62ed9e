"""Walks of a vocabulary: the effect of its tokens in a state of the lexer, found once for all states of the parser.

A token of the vocabulary stays within one token of the grammar, or goes past its end at a byte. Which of them do so
depends on the state of the lexer alone: that is a *walk*. The rest of a token after the end is a *subwalk*, below some
nodes of the trie, in the state of the lexer that the parser puts it in. A walk leaves what is below a node with many
tokens to an *inner walk*, because other walks reach the same state of the lexer there: most tokens of a vocabulary are
words, and after a few letters of a word all that counts is that it is one.

The bytes to a token end and those of a shortest text after it are enough for the text to end. So all states within a
token share a few token ends; the masks do not depend on which: where none leads on, the text is searched for.
"""

import numpy as np

from structured.automata.byte_automaton import DEAD
from structured.automata.loops.configurations import after_token, arrival_of, successor_of, upper_bound, way_count
from structured.automata.loops.grammar_machine import GrammarMachine, configuration_of, has_token_ends, make_token_ends
from structured.automata.loops.lexer_tables import LexerTables, lexer_arrival
from structured.automata.loops.numbering import Numbering, known_number, mix, number_of
from structured.automata.loops.state_table import check_state
from structured.automata.opcodes import FAR
from structured.machine_code.growing_arrays import grown, viewed, zeros
from structured.machine_code.notation import (
    Ints,
    Row,
    Structs,
    Words,
    compiled_class,
    entry,
    loop,
    rare_loop,
    walk_entry,
)
from structured.vocabulary.trie import TrieArrays, check_mask

FEW_CHILDREN = 16
"""Nodes of a trie with fewer children, taken together, are walked by `walk_branches` each time."""


MANY_TOKENS = 1024
"""Below a node with so many tokens of the vocabulary, a walk is left to an inner walk."""


class TokenWalk(Row):
    """A walk: the start and number of its tokens, targets, subwalks and inner walks."""

    first_token: int
    token_count: int
    first_target: int
    target_count: int
    first_subwalk: int
    subwalk_count: int
    first_inner_walk: int
    inner_walk_count: int


class WalkToken(Row):
    """A token of the grammar that may end in a walk; the words of the vocabulary's tokens that end with it.

    In the state of the parser at hand: the configuration after it, DEAD if it cannot follow, and the bytes to the end.
    """

    token: int
    first_word: int
    word_count: int
    configuration: int
    distance: int


class WalkTarget(Row):
    """A state of the lexer in which tokens of the vocabulary end within one of the grammar, and their words.

    Its ends are `WalkEnd`; if they `are_complete`, there are no others.
    """

    lexer_state: int
    first_word: int
    word_count: int
    first_end: int
    end_count: int
    are_complete: int


class WalkEnd(Row):
    """A way to end the token of the grammar: the place among the tokens of the walk, and the bytes to its end."""

    place: int
    width: int


class Subwalk(Row):
    """The nodes below which tokens of the vocabulary go on after a token, which has a place among those of the walk."""

    place: int
    node_set: int
    has_few_children: int


class InnerWalk(Row):
    """A state of the lexer within the token of the grammar, and the nodes below which an inner walk begins."""

    lexer_state: int
    node_set: int


class NodeSet(Row):
    """A set of nodes: the start and number of its nodes."""

    first: int
    count: int


class Word(Row):
    """A word of a mask, and its bits, which are those of an unsigned integer."""

    place: int
    bits: int


class Meeting(Row):
    """A node of the trie where a token may end, of the vocabulary or of the grammar; and the arrival of the lexer."""

    node: int
    arrival: int


class Group(Row):
    """Nodes of a walk at which a token of the grammar may end, or which lie in a state within one, which is its key.

    The start of the nodes and their number.
    """

    is_token: int
    key: int
    first: int
    count: int


class Mark(Row):
    """A note about a token or state of the lexer: the round in which it was made, and the place of its group.

    When a token has been written, that is its place among the tokens of the walk.
    """

    round: int
    place: int


class TokenResult(Row):
    """The configuration after a token of the grammar, DEAD if it cannot follow; an upper bound of the bytes to the end.

    They are those in the state of the parser in which the token was applied last, for a mask.
    """

    mask: int
    parser_state: int
    configuration: int
    distance: int


class Branch(Row):
    """The progress below a node: a configuration, or a state of the lexer; the next child, the end of the children."""

    current: int
    next: int
    end: int


class PendingWalk(Row):
    """The states of the lexer and the parser in which a walk is to be applied, and the nodes below which it begins."""

    lexer_state: int
    parser_state: int
    node_set: int


@compiled_class
class TokenWalks:
    """The walks of a vocabulary that have been found, and the mask that is being made.

    Walks are numbered by the state of the lexer and the set of nodes. `tokens_below` counts the vocabulary's tokens at
    each node and below it. `meetings`, `groups`, `grouped` and the marks are those of the walk that is being found:
    `token_marks` and `state_marks` tell the groups of tokens and states of the lexer, `word_places` the place where a
    word of the mask was written last.
    """

    trie: TrieArrays
    mask_words: int
    max_walks: int
    max_distance: int
    round: int
    mask_number: int
    inner_walk_count: int
    token_count: int
    target_count: int
    end_count: int
    subwalk_count: int
    word_count: int
    node_count: int
    meeting_count: int
    group_count: int
    pending_count: int
    branch_count: int
    set_numbers: Numbering
    walk_numbers: Numbering
    mask: Words
    tokens_below: Ints
    walks: "Structs[TokenWalk]"
    tokens: "Structs[WalkToken]"
    targets: "Structs[WalkTarget]"
    ends: "Structs[WalkEnd]"
    subwalks: "Structs[Subwalk]"
    inner_walks: "Structs[InnerWalk]"
    words: "Structs[Word]"
    node_sets: "Structs[NodeSet]"
    nodes: Ints
    meetings: "Structs[Meeting]"
    groups: "Structs[Group]"
    grouped: Ints
    token_marks: "Structs[Mark]"
    state_marks: "Structs[Mark]"
    results: "Structs[TokenResult]"
    word_places: Ints
    pending: "Structs[PendingWalk]"
    branches: "Structs[Branch]"

    def __init__(self, trie: TrieArrays, trie_size: int, mask_words: int, max_walks: int) -> None:
        self.trie = trie
        self.mask_words = mask_words
        self.max_walks = max_walks
        self.inner_walk_count = self.token_count = self.target_count = self.end_count = self.subwalk_count = 0
        self.word_count = self.node_count = self.meeting_count = self.group_count = 0
        self.pending_count = self.branch_count = self.max_distance = self.round = self.mask_number = 0
        self.set_numbers = Numbering()
        self.walk_numbers = Numbering()
        self.mask = viewed(np.zeros(mask_words, dtype=np.uint32))
        self.tokens_below = zeros(trie_size)
        self.walks = TokenWalk.rows(64)
        self.tokens = WalkToken.rows(64)
        self.targets = WalkTarget.rows(64)
        self.ends = WalkEnd.rows(64)
        self.subwalks = Subwalk.rows(64)
        self.inner_walks = InnerWalk.rows(64)
        self.words = Word.rows(256)
        self.node_sets = NodeSet.rows(64)
        self.nodes = zeros(256)
        self.meetings = Meeting.rows(256)
        self.groups = Group.rows(64)
        self.grouped = zeros(256)
        self.token_marks = Mark.rows(64)
        self.state_marks = Mark.rows(64)
        self.results = TokenResult.rows(64)
        self.word_places = zeros(mask_words)
        self.pending = PendingWalk.rows(64)
        self.branches = Branch.rows(64)
        count_tokens_below(self)

    def nbytes(self) -> int:
        """Return the memory of the arrays."""
        walks = 32 * len(self.walks) + 20 * len(self.tokens) + 24 * len(self.targets)
        walks += 8 * (len(self.inner_walks) + len(self.ends))
        sets = 8 * (len(self.words) + len(self.node_sets)) + 12 * len(self.subwalks) + 4 * len(self.nodes)
        scratch = 8 * (len(self.meetings) + len(self.token_marks) + len(self.state_marks) + len(self.pending))
        scratch += 4 * len(self.grouped) + 16 * (len(self.groups) + len(self.results)) + 12 * len(self.branches)
        scratch += 4 * len(self.tokens_below) + 8 * len(self.mask) + 4 * len(self.pending)
        return walks + sets + scratch + 20 * (self.set_numbers.slot_count() + self.walk_numbers.slot_count())


@rare_loop
def grow_full(walks: TokenWalks) -> None:  # noqa: C901  one line for each array
    """Make room for twice as many rows in each array that is full."""
    if walks.walk_numbers.count == len(walks.walks):
        walks.walks = grown(walks.walks, 2 * len(walks.walks))
    if walks.token_count == len(walks.tokens):
        walks.tokens = grown(walks.tokens, 2 * len(walks.tokens))
    if walks.target_count == len(walks.targets):
        walks.targets = grown(walks.targets, 2 * len(walks.targets))
    if walks.end_count == len(walks.ends):
        walks.ends = grown(walks.ends, 2 * len(walks.ends))
    if walks.subwalk_count == len(walks.subwalks):
        walks.subwalks = grown(walks.subwalks, 2 * len(walks.subwalks))
    if walks.inner_walk_count == len(walks.inner_walks):
        walks.inner_walks = grown(walks.inner_walks, 2 * len(walks.inner_walks))
    if walks.word_count == len(walks.words):
        walks.words = grown(walks.words, 2 * len(walks.words))
    if walks.set_numbers.count == len(walks.node_sets):
        walks.node_sets = grown(walks.node_sets, 2 * len(walks.node_sets))
    if walks.meeting_count == len(walks.meetings):
        walks.meetings = grown(walks.meetings, 2 * len(walks.meetings))
    if walks.group_count == len(walks.groups):
        walks.groups = grown(walks.groups, 2 * len(walks.groups))
    if walks.pending_count == len(walks.pending):
        walks.pending = grown(walks.pending, 2 * len(walks.pending))
    if walks.branch_count == len(walks.branches):
        walks.branches = grown(walks.branches, 2 * len(walks.branches))


@rare_loop
def grow_nodes(walks: TokenWalks, count: int) -> None:
    """Make room for so many more nodes of sets."""
    walks.nodes = grown(walks.nodes, 2 * (walks.node_count + count))


@rare_loop
def grow_grouped(walks: TokenWalks, count: int) -> None:
    """Make room for so many nodes in groups."""
    walks.grouped = grown(walks.grouped, count)


@rare_loop
def grow_token_marks(walks: TokenWalks, count: int) -> None:
    """Make room for the marks and results of so many tokens."""
    results: Structs[TokenResult] = grown(walks.results, 2 * count)
    walks.token_marks = grown(walks.token_marks, 2 * count)
    walks.results = results


@rare_loop
def grow_state_marks(walks: TokenWalks, count: int) -> None:
    """Make room for the marks of so many states of the lexer."""
    walks.state_marks = grown(walks.state_marks, 2 * count)


@loop
def is_token_end(trie: TrieArrays, node: int) -> bool:
    """Tell whether a token of the vocabulary ends at a node."""
    return trie.token_start[node] < trie.token_start[node + 1]


@loop
def child_count(trie: TrieArrays, node: int) -> int:
    """Return the number of children of a node."""
    return trie.first[node + 1] - trie.first[node]


@entry
def count_tokens_below(walks: TokenWalks) -> None:
    """Count the tokens of the vocabulary at each node of the trie and below it."""
    for node in range(len(walks.tokens_below) - 1, -1, -1):
        walks.tokens_below[node] = walks.trie.token_start[node + 1] - walks.trie.token_start[node]
        for child in range(walks.trie.first[node], walks.trie.first[node + 1]):
            walks.tokens_below[node] += walks.tokens_below[child]


@loop
def add_branch(walks: TokenWalks, current: int, node: int) -> None:
    """Let a walk go on below a node."""
    place = walks.branch_count
    if place == len(walks.branches):
        grow_full(walks)
    walks.branches[place].current = current
    walks.branches[place].next = walks.trie.first[node]
    walks.branches[place].end = walks.trie.first[node + 1]
    walks.branch_count += 1


@loop
def next_node(walks: TokenWalks) -> int:
    """Return the next node of the last branch; -1, and drop the branch, if it has none."""
    top = walks.branch_count - 1
    node = walks.branches[top].next
    if node == walks.branches[top].end:
        walks.branch_count = top
        return -1
    walks.branches[top].next = node + 1
    return node


@loop
def add_meeting(walks: TokenWalks, node: int, arrival: int) -> None:
    """Note a node where a token may end."""
    if walks.meeting_count == len(walks.meetings):
        grow_full(walks)
    walks.meetings[walks.meeting_count].node = node
    walks.meetings[walks.meeting_count].arrival = arrival
    walks.meeting_count += 1


@loop
def add_inner_walk(walks: TokenWalks, lexer_state: int, node_set: int) -> None:
    """Add an inner walk to those of the walk that is being found."""
    if walks.inner_walk_count == len(walks.inner_walks):
        grow_full(walks)
    walks.inner_walks[walks.inner_walk_count].lexer_state = lexer_state
    walks.inner_walks[walks.inner_walk_count].node_set = node_set
    walks.inner_walk_count += 1


@loop
def meet_tokens(lexer: LexerTables, walks: TokenWalks, start: int, node_set: int) -> None:
    """Walk the trie below some nodes along the lexer, and note where tokens may end; add the inner walks.

    These are the nodes where a token of the vocabulary ends within one of the grammar, or one of the grammar may end.
    """
    walks.meeting_count = 0
    lowest = walks.branch_count
    first = walks.node_sets[node_set].first
    for place in range(first, first + walks.node_sets[node_set].count):
        add_branch(walks, start, walks.nodes[place])
    while walks.branch_count > lowest:
        state = walks.branches[walks.branch_count - 1].current
        node = next_node(walks)
        if node < 0:
            continue
        arrival = lexer_arrival(lexer, state, walks.trie.byte[node])
        target = lexer.arrivals[arrival].state
        if lexer.arrivals[arrival].token_count > 0 or (target != DEAD and is_token_end(walks.trie, node)):
            add_meeting(walks, node, arrival)
        if target != DEAD and child_count(walks.trie, node) > 0:
            if walks.tokens_below[node] < MANY_TOKENS:
                add_branch(walks, target, node)
            else:
                add_inner_walk(walks, target, set_of_node(walks, node))


@loop
def add_group(walks: TokenWalks, is_token: bool, key: int) -> int:
    """Return a new group without nodes."""
    new = walks.group_count
    if new == len(walks.groups):
        grow_full(walks)
    walks.groups[new].is_token = is_token
    walks.groups[new].key = key
    walks.groups[new].count = 0
    walks.group_count += 1
    return new


@loop
def group_of_token(walks: TokenWalks, token: int) -> int:
    """Return the group of a token of the grammar."""
    if walks.token_marks[token].round != walks.round:
        walks.token_marks[token].place = add_group(walks, True, token)
        walks.token_marks[token].round = walks.round
    return walks.token_marks[token].place


@loop
def group_of_state(walks: TokenWalks, state: int) -> int:
    """Return the group of a state of the lexer."""
    if walks.state_marks[state].round != walks.round:
        walks.state_marks[state].place = add_group(walks, False, state)
        walks.state_marks[state].round = walks.round
    return walks.state_marks[state].place


@loop
def count_in_group(walks: TokenWalks, group: int) -> None:
    """Count a node of a group."""
    walks.groups[group].count += 1


@loop
def write_to_group(walks: TokenWalks, group: int, node: int) -> None:
    """Write a node behind the others of a group."""
    walks.grouped[walks.groups[group].first + walks.groups[group].count] = node
    walks.groups[group].count += 1


@loop
def sort_meetings(lexer: LexerTables, walks: TokenWalks, is_written: bool) -> None:
    """Count the nodes of each group, or write them to their groups."""
    for meeting in range(walks.meeting_count):
        node, arrival = walks.meetings[meeting].node, walks.meetings[meeting].arrival
        first, target = lexer.arrivals[arrival].first_token, lexer.arrivals[arrival].state
        for place in range(first, first + lexer.arrivals[arrival].token_count):
            group = group_of_token(walks, lexer.ending[place])
            if is_written:
                write_to_group(walks, group, node)
            else:
                count_in_group(walks, group)
        if target != DEAD and is_token_end(walks.trie, node):
            group = group_of_state(walks, target)
            if is_written:
                write_to_group(walks, group, node)
            else:
                count_in_group(walks, group)


@loop
def make_marks(lexer: LexerTables, walks: TokenWalks) -> None:
    """Make room for the marks of all tokens and states of the lexer."""
    if lexer.token_numbers.count > len(walks.token_marks):
        grow_token_marks(walks, lexer.token_numbers.count)
    if lexer.state_count > len(walks.state_marks):
        grow_state_marks(walks, lexer.state_count)


@loop
def group_meetings(lexer: LexerTables, walks: TokenWalks) -> None:
    """Sort the nodes by the tokens of the grammar that may end there, and by the states that lie within one."""
    make_marks(lexer, walks)
    walks.round += 1
    walks.group_count = 0
    sort_meetings(lexer, walks, False)
    total = 0
    for group in range(walks.group_count):
        walks.groups[group].first = total
        total += walks.groups[group].count
        walks.groups[group].count = 0
    if total > len(walks.grouped):
        grow_grouped(walks, total)
    sort_meetings(lexer, walks, True)


@loop
def add_word(walks: TokenWalks, first: int, token_id: int) -> None:
    """Set the bit of a token in the words from `first` on, after which a new one is added if need be."""
    word = token_id >> 5
    place = walks.word_places[word]
    if place < first or place >= walks.word_count or walks.words[place].place != word:
        place = walks.word_count
        if place == len(walks.words):
            grow_full(walks)
        walks.word_places[word] = place
        walks.words[place].place = word
        walks.words[place].bits = 0
        walks.word_count += 1
    walks.words[place].bits |= 1 << (token_id & 31)


@loop
def add_words(walks: TokenWalks, group: int) -> None:
    """Write the words of the vocabulary's tokens at the nodes of a group."""
    first_word, first = walks.word_count, walks.groups[group].first
    for place in range(first, first + walks.groups[group].count):
        node = walks.grouped[place]
        for token in range(walks.trie.token_start[node], walks.trie.token_start[node + 1]):
            add_word(walks, first_word, walks.trie.token_ids[token])


@loop
def is_node_set(walks: TokenWalks, node_set: int, first: int, count: int) -> bool:
    """Tell whether a set has the nodes `grouped[first:first + count]`."""
    start = walks.node_sets[node_set].first
    if walks.node_sets[node_set].count != count:
        return False
    place = 0
    while place < count and walks.nodes[start + place] == walks.grouped[first + place]:
        place += 1
    return place == count


@loop
def set_of_nodes(walks: TokenWalks, first: int, count: int) -> int:
    """Return the number of the set of the nodes `grouped[first:first + count]`."""
    code, other_code, attempt = 0, 1, 0
    for place in range(first, first + count):
        code, other_code = mix(code, walks.grouped[place]), mix(other_code, walks.grouped[place] + place - first)
    while True:
        new = walks.set_numbers.count
        if new == len(walks.node_sets):
            grow_full(walks)
        if walks.node_count + count > len(walks.nodes):
            grow_nodes(walks, count)
        number = number_of(walks.set_numbers, code, other_code, count, attempt)
        if number == new:
            break
        if is_node_set(walks, number, first, count):
            return number
        attempt += 1
    walks.node_sets[new].first = walks.node_count
    walks.node_sets[new].count = count
    for place in range(count):
        walks.nodes[walks.node_count + place] = walks.grouped[first + place]
    walks.node_count += count
    return new


@loop
def set_of_node(walks: TokenWalks, node: int) -> int:
    """Return the number of the set of one node."""
    walks.grouped[0] = node
    return set_of_nodes(walks, 0, 1)


@loop
def add_walk_token(walks: TokenWalks, token: int, first_word: int) -> int:
    """Add a token to those of the walk that is being found, with the words from the first on; return its place."""
    new = walks.token_count
    if new == len(walks.tokens):
        grow_full(walks)
    walks.tokens[new].token = token
    walks.tokens[new].first_word = first_word
    walks.tokens[new].word_count = walks.word_count - first_word
    walks.token_count += 1
    return new


@loop
def add_subwalk(walks: TokenWalks, group: int, place: int) -> None:
    """Let tokens of the vocabulary go on below the nodes of a group, after the token at a place."""
    first, count, children = walks.groups[group].first, 0, 0
    for position in range(first, first + walks.groups[group].count):
        node = walks.grouped[position]
        if child_count(walks.trie, node) > 0:
            walks.grouped[first + count] = node
            count += 1
            children += child_count(walks.trie, node)
    if count == 0:
        return
    if walks.subwalk_count == len(walks.subwalks):
        grow_full(walks)
    walks.subwalks[walks.subwalk_count].place = place
    walks.subwalks[walks.subwalk_count].node_set = set_of_nodes(walks, first, count)
    walks.subwalks[walks.subwalk_count].has_few_children = children < FEW_CHILDREN
    walks.subwalk_count += 1


@loop
def add_target(walks: TokenWalks, lexer_state: int, first_word: int) -> None:
    """Add a target to those of the walk that is being found, with the words from the first on."""
    new = walks.target_count
    if new == len(walks.targets):
        grow_full(walks)
    walks.targets[new].lexer_state = lexer_state
    walks.targets[new].first_word = first_word
    walks.targets[new].word_count = walks.word_count - first_word
    walks.target_count += 1


@loop
def add_groups(walks: TokenWalks, first_token: int) -> None:
    """Add the groups to the walk that is being found, as tokens and targets; the first token of the walk is given."""
    for group in range(walks.group_count):
        first_word, key = walks.word_count, walks.groups[group].key
        add_words(walks, group)
        if walks.groups[group].is_token:
            place = add_walk_token(walks, key, first_word) - first_token
            walks.token_marks[key].place = place
            add_subwalk(walks, group, place)
        else:
            add_target(walks, key, first_word)


@loop
def place_in_walk(walks: TokenWalks, token: int, first_token: int) -> int:
    """Return the place of a token among those of the walk that is being found, which it is added to if need be."""
    if walks.token_marks[token].round != walks.round:
        walks.token_marks[token].place = add_walk_token(walks, token, walks.word_count) - first_token
        walks.token_marks[token].round = walks.round
    return walks.token_marks[token].place


@loop
def add_target_ends(machine: GrammarMachine, walks: TokenWalks, target: int, first_token: int) -> None:
    """Add the ways to end the token of the grammar in a target."""
    state = walks.targets[target].lexer_state
    first, count = machine.token_ends_of[state].first, machine.token_ends_of[state].count
    walks.targets[target].first_end = walks.end_count
    walks.targets[target].end_count = count
    walks.targets[target].are_complete = machine.token_ends_of[state].are_complete
    for token_end in range(first, first + count):
        if walks.end_count == len(walks.ends):
            grow_full(walks)
        place = place_in_walk(walks, machine.token_ends[token_end].token, first_token)
        walks.ends[walks.end_count].place = place
        walks.ends[walks.end_count].width = machine.token_ends[token_end].width
        walks.end_count += 1


@loop
def add_ends(machine: GrammarMachine, walks: TokenWalks, first_target: int, first_token: int) -> None:
    """Add the ways to end the token of the grammar in the targets of the walk that is being found."""
    for target in range(first_target, walks.target_count):
        state = walks.targets[target].lexer_state
        if not has_token_ends(machine, state):
            make_token_ends(machine, state)
    make_marks(machine.lexer, walks)
    for target in range(first_target, walks.target_count):
        add_target_ends(machine, walks, target, first_token)


@loop
def find_walk(machine: GrammarMachine, walks: TokenWalks, lexer_state: int, node_set: int) -> int:
    """Return a new walk, from a state of the lexer below a set of nodes."""
    first_token, first_target, first_subwalk = walks.token_count, walks.target_count, walks.subwalk_count
    first_inner_walk = walks.inner_walk_count
    meet_tokens(machine.lexer, walks, lexer_state, node_set)
    group_meetings(machine.lexer, walks)
    add_groups(walks, first_token)
    add_ends(machine, walks, first_target, first_token)
    if walks.walk_numbers.count == len(walks.walks):
        grow_full(walks)
    new = number_of(walks.walk_numbers, lexer_state, node_set, 0, 0)
    walks.walks[new].first_token, walks.walks[new].token_count = first_token, walks.token_count - first_token
    walks.walks[new].first_target, walks.walks[new].target_count = first_target, walks.target_count - first_target
    walks.walks[new].first_subwalk, walks.walks[new].subwalk_count = first_subwalk, walks.subwalk_count - first_subwalk
    walks.walks[new].first_inner_walk = first_inner_walk
    walks.walks[new].inner_walk_count = walks.inner_walk_count - first_inner_walk
    return new


@loop
def allow_words(walks: TokenWalks, first: int, count: int, distance: int) -> None:
    """Set the bits of some words, unless no text follows."""
    if distance >= FAR or count == 0:
        return
    walks.max_distance = max(walks.max_distance, distance)
    for place in range(first, first + count):
        walks.mask[walks.words[place].place] |= walks.words[place].bits


@loop
def apply_token(machine: GrammarMachine, walks: TokenWalks, token: int, parser_state: int) -> None:
    """Write the result of a token of the grammar in a state of the parser."""
    successor = after_token(machine, parser_state, token)
    distance = FAR if successor == DEAD else upper_bound(machine, successor)
    walks.results[token].configuration = DEAD if distance >= FAR else successor
    walks.results[token].distance = distance
    walks.results[token].parser_state = parser_state
    walks.results[token].mask = walks.mask_number


@loop
def apply_tokens(machine: GrammarMachine, walks: TokenWalks, walk: int, parser_state: int) -> None:
    """Set the bits of the tokens of the vocabulary with which tokens of the grammar end, in a state of the parser."""
    first = walks.walks[walk].first_token
    for place in range(first, first + walks.walks[walk].token_count):
        token = walks.tokens[place].token
        if walks.results[token].mask != walks.mask_number or walks.results[token].parser_state != parser_state:
            apply_token(machine, walks, token, parser_state)
        distance = walks.results[token].distance
        walks.tokens[place].configuration, walks.tokens[place].distance = walks.results[token].configuration, distance
        allow_words(walks, walks.tokens[place].first_word, walks.tokens[place].word_count, distance)


@loop
def target_distance(machine: GrammarMachine, walks: TokenWalks, walk: int, target: int, parser_state: int) -> int:
    """Return an upper bound of the bytes to the end in a target of a walk whose tokens have been applied."""
    distance = FAR
    first, first_end = walks.walks[walk].first_token, walks.targets[target].first_end
    for token_end in range(first_end, first_end + walks.targets[target].end_count):
        after = walks.tokens[first + walks.ends[token_end].place].distance
        distance = min(distance, after + walks.ends[token_end].width)
    if distance >= FAR and not walks.targets[target].are_complete:
        distance = upper_bound(machine, configuration_of(machine, walks.targets[target].lexer_state, parser_state))
    return distance


@loop
def apply_walk(machine: GrammarMachine, walks: TokenWalks, walk: int, parser_state: int) -> None:
    """Set the bits of the tokens of a walk that may follow in a state of the parser; note where the others go on."""
    apply_tokens(machine, walks, walk, parser_state)
    first = walks.walks[walk].first_target
    for target in range(first, first + walks.walks[walk].target_count):
        distance = target_distance(machine, walks, walk, target, parser_state)
        allow_words(walks, walks.targets[target].first_word, walks.targets[target].word_count, distance)
    first = walks.walks[walk].first_subwalk
    for subwalk in range(first, first + walks.walks[walk].subwalk_count):
        current = walks.tokens[walks.walks[walk].first_token + walks.subwalks[subwalk].place].configuration
        if current == DEAD:
            continue
        if walks.subwalks[subwalk].has_few_children:
            add_branches(walks, current, walks.subwalks[subwalk].node_set)
        else:
            add_pending(machine, walks, current, walks.subwalks[subwalk].node_set)
    first = walks.walks[walk].first_inner_walk
    for inner in range(first, first + walks.walks[walk].inner_walk_count):
        add_walk(walks, walks.inner_walks[inner].lexer_state, parser_state, walks.inner_walks[inner].node_set)


@loop
def add_branches(walks: TokenWalks, current: int, node_set: int) -> None:
    """Let single configurations be walked below some nodes."""
    first = walks.node_sets[node_set].first
    for place in range(first, first + walks.node_sets[node_set].count):
        add_branch(walks, current, walks.nodes[place])


@loop
def add_pending(machine: GrammarMachine, walks: TokenWalks, current: int, node_set: int) -> None:
    """Let a walk be applied to a configuration."""
    lexer_state = machine.configurations[current].lexer_state
    add_walk(walks, lexer_state, machine.configurations[current].parser_state, node_set)


@loop
def add_walk(walks: TokenWalks, lexer_state: int, parser_state: int, node_set: int) -> None:
    """Let a walk be applied in a state of the lexer and one of the parser."""
    if walks.pending_count == len(walks.pending):
        grow_full(walks)
    walks.pending[walks.pending_count].lexer_state = lexer_state
    walks.pending[walks.pending_count].parser_state = parser_state
    walks.pending[walks.pending_count].node_set = node_set
    walks.pending_count += 1


@loop
def apply_pending(machine: GrammarMachine, walks: TokenWalks) -> None:
    """Apply the pending walks, and those that they lead to; those that must not be kept are left to branches."""
    while walks.pending_count > 0:
        walks.pending_count -= 1
        lexer_state = walks.pending[walks.pending_count].lexer_state
        parser_state = walks.pending[walks.pending_count].parser_state
        node_set = walks.pending[walks.pending_count].node_set
        walk = known_number(walks.walk_numbers, lexer_state, node_set, 0, 0)
        if walk < 0 and walks.walk_numbers.count >= walks.max_walks:
            add_branches(walks, configuration_of(machine, lexer_state, parser_state), node_set)
            continue
        if walk < 0:
            walk = find_walk(machine, walks, lexer_state, node_set)
        apply_walk(machine, walks, walk, parser_state)


@loop
def allow_node(walks: TokenWalks, node: int, distance: int) -> None:
    """Set the bits of the vocabulary's tokens at a node, after which so many bytes may be needed."""
    if is_token_end(walks.trie, node):
        walks.max_distance = max(walks.max_distance, distance)
    for place in range(walks.trie.token_start[node], walks.trie.token_start[node + 1]):
        token_id = walks.trie.token_ids[place]
        walks.mask[token_id >> 5] |= 1 << (token_id & 31)


@loop
def walk_branches(machine: GrammarMachine, walks: TokenWalks) -> None:
    """Walk the trie from configurations, one by one, without making states.

    They get upper bounds only where a token of the vocabulary ends.
    """
    while walks.branch_count > 0:
        current = walks.branches[walks.branch_count - 1].current
        node = next_node(walks)
        if node < 0 or machine.is_absent[walks.trie.byte[node]]:
            continue
        arrival = arrival_of(machine, current, walks.trie.byte[node])
        for way in range(way_count(machine, arrival)):
            successor = successor_of(machine, current, arrival, way)
            if successor == DEAD:
                continue
            if is_token_end(walks.trie, node) and upper_bound(machine, successor) < FAR:
                allow_node(walks, node, upper_bound(machine, successor))
            if machine.configurations[successor].upper_bound < FAR and child_count(walks.trie, node) > 0:
                add_branch(walks, successor, node)


@loop
def child_of(trie: TrieArrays, node: int, byte: int) -> int:
    """Return the child of a node by a byte, 0 if it has none."""
    for child in range(trie.first[node], trie.first[node + 1]):
        if trie.byte[child] == byte:
            return child
    return 0


@loop
def begin_walks(machine: GrammarMachine, walks: TokenWalks, state: int) -> None:
    """Let walks begin at a state; if it lies within the prefix of all texts, where one byte may follow, after that."""
    node = 0
    while machine.states.rows[state].element_count == 0:
        byte = 0
        while machine.states.table[state, byte] == DEAD:
            byte += 1
        state = machine.states.table[state, byte]
        node = child_of(walks.trie, node, byte)
        if node == 0:
            return
        allow_node(walks, node, machine.states.distances[state])
    node_set = set_of_node(walks, node)
    first = machine.states.rows[state].first_element
    for place in range(first, first + machine.states.rows[state].element_count):
        add_pending(machine, walks, machine.states.elements[place], node_set)


@walk_entry
def grammar_walk(machine: GrammarMachine, walks: TokenWalks, state: int, mask: Words) -> int:
    """Set the bits of the tokens that may follow a state; return an upper bound of the bytes to the end after them."""
    check_state(machine.states, state)
    check_mask(walks.trie, len(mask))
    walks.max_distance = walks.pending_count = walks.branch_count = 0
    walks.mask_number += 1
    for place in range(len(walks.mask)):
        walks.mask[place] = 0
    begin_walks(machine, walks, state)
    apply_pending(machine, walks)
    walk_branches(machine, walks)
    for place in range(len(walks.mask)):
        mask[place] |= walks.mask[place]
    return walks.max_distance
