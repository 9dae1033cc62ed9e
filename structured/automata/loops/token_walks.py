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
from structured.machine_code.growing_arrays import array_bytes, grown, viewed, zeros
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
    set_numbers: Numbering
    walk_numbers: Numbering
    mask: Words
    tokens_below: Ints
    walks: "list[TokenWalk]"
    tokens: "list[WalkToken]"
    targets: "list[WalkTarget]"
    ends: "list[WalkEnd]"
    subwalks: "list[Subwalk]"
    inner_walks: "list[InnerWalk]"
    words: "list[Word]"
    node_sets: "list[NodeSet]"
    nodes: "list[int]"
    meetings: "list[Meeting]"
    groups: "list[Group]"
    grouped: Ints
    token_marks: "Structs[Mark]"
    state_marks: "Structs[Mark]"
    results: "Structs[TokenResult]"
    word_places: Ints
    pending: "list[PendingWalk]"
    branches: "list[Branch]"

    def __init__(self, trie: TrieArrays, trie_size: int, mask_words: int, max_walks: int) -> None:
        self.trie = trie
        self.mask_words = mask_words
        self.max_walks = max_walks
        self.max_distance = self.round = self.mask_number = 0
        self.set_numbers = Numbering()
        self.walk_numbers = Numbering()
        self.mask = viewed(np.zeros(mask_words, dtype=np.uint32))
        self.tokens_below = zeros(trie_size)
        self.walks = []
        self.tokens = []
        self.targets = []
        self.ends = []
        self.subwalks = []
        self.inner_walks = []
        self.words = []
        self.node_sets = []
        self.nodes = []
        self.meetings = []
        self.groups = []
        self.grouped = zeros(256)
        self.token_marks = Mark.rows(64)
        self.state_marks = Mark.rows(64)
        self.results = TokenResult.rows(64)
        self.word_places = zeros(mask_words)
        self.pending = []
        self.branches = []
        count_tokens_below(self)

    def nbytes(self) -> int:
        """Return the memory of the arrays."""
        return array_bytes(self) + array_bytes(self.set_numbers) + array_bytes(self.walk_numbers)


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
    walks.branches.append(Branch(current, walks.trie.first[node], walks.trie.first[node + 1]))


@loop
def next_node(walks: TokenWalks) -> int:
    """Return the next node of the last branch; -1, and drop the branch, if it has none."""
    top = len(walks.branches) - 1
    node = walks.branches[top].next
    if node == walks.branches[top].end:
        del walks.branches[top:]
        return -1
    walks.branches[top].next = node + 1
    return node


@loop
def meet_tokens(lexer: LexerTables, walks: TokenWalks, start: int, node_set: int) -> None:
    """Walk the trie below some nodes along the lexer, and note where tokens may end; add the inner walks.

    These are the nodes where a token of the vocabulary ends within one of the grammar, or one of the grammar may end.
    """
    del walks.meetings[0:]
    lowest = len(walks.branches)
    first = walks.node_sets[node_set].first
    for place in range(first, first + walks.node_sets[node_set].count):
        add_branch(walks, start, walks.nodes[place])
    while len(walks.branches) > lowest:
        state = walks.branches[len(walks.branches) - 1].current
        node = next_node(walks)
        if node < 0:
            continue
        arrival = lexer_arrival(lexer, state, walks.trie.byte[node])
        target = lexer.arrivals[arrival].state
        if lexer.arrivals[arrival].token_count > 0 or (target != DEAD and is_token_end(walks.trie, node)):
            walks.meetings.append(Meeting(node, arrival))
        if target != DEAD and child_count(walks.trie, node) > 0:
            if walks.tokens_below[node] < MANY_TOKENS:
                add_branch(walks, target, node)
            else:
                walks.inner_walks.append(InnerWalk(target, set_of_node(walks, node)))


@loop
def add_group(walks: TokenWalks, is_token: int, key: int) -> int:
    """Return a new group without nodes."""
    walks.groups.append(Group(is_token, key, 0, 0))
    return len(walks.groups) - 1


@loop
def group_of_token(walks: TokenWalks, token: int) -> int:
    """Return the group of a token of the grammar."""
    if walks.token_marks[token].round != walks.round:
        walks.token_marks[token].place = add_group(walks, 1, token)
        walks.token_marks[token].round = walks.round
    return walks.token_marks[token].place


@loop
def group_of_state(walks: TokenWalks, state: int) -> int:
    """Return the group of a state of the lexer."""
    if walks.state_marks[state].round != walks.round:
        walks.state_marks[state].place = add_group(walks, 0, state)
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
    for meeting in range(len(walks.meetings)):
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
    del walks.groups[0:]
    sort_meetings(lexer, walks, False)
    total = 0
    for group in range(len(walks.groups)):
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
    if place < first or place >= len(walks.words) or walks.words[place].place != word:
        place = len(walks.words)
        walks.words.append(Word(word, 0))
        walks.word_places[word] = place
    walks.words[place].bits |= 1 << (token_id & 31)


@loop
def add_words(walks: TokenWalks, group: int) -> None:
    """Write the words of the vocabulary's tokens at the nodes of a group."""
    first_word, first = len(walks.words), walks.groups[group].first
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
    number = known_number(walks.set_numbers, code, other_code, count, 0)
    while number >= 0 and not is_node_set(walks, number, first, count):
        attempt += 1
        number = known_number(walks.set_numbers, code, other_code, count, attempt)
    return number if number >= 0 else add_node_set(walks, first, count, code, other_code, attempt)


@loop
def add_node_set(walks: TokenWalks, first: int, count: int, code: int, other_code: int, attempt: int) -> int:
    """Return a new set of the nodes `grouped[first:first + count]`."""
    new, start = walks.set_numbers.count, 0
    if new > 0:
        start = walks.node_sets[new - 1].first + walks.node_sets[new - 1].count
    del walks.node_sets[new:]  # after an error, there may be one without a number
    del walks.nodes[start:]
    for place in range(first, first + count):
        walks.nodes.append(walks.grouped[place])
    walks.node_sets.append(NodeSet(start, count))
    return number_of(walks.set_numbers, code, other_code, count, attempt)


@loop
def set_of_node(walks: TokenWalks, node: int) -> int:
    """Return the number of the set of one node."""
    walks.grouped[0] = node
    return set_of_nodes(walks, 0, 1)


@loop
def add_walk_token(walks: TokenWalks, token: int, first_word: int) -> int:
    """Add a token to those of the walk that is being found, with the words from the first on; return its place."""
    walks.tokens.append(WalkToken(token, first_word, len(walks.words) - first_word, DEAD, FAR))
    return len(walks.tokens) - 1


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
    if count > 0:
        walks.subwalks.append(Subwalk(place, set_of_nodes(walks, first, count), children < FEW_CHILDREN))


@loop
def add_groups(walks: TokenWalks, first_token: int) -> None:
    """Add the groups to the walk that is being found, as tokens and targets; the first token of the walk is given."""
    for group in range(len(walks.groups)):
        first_word, key = len(walks.words), walks.groups[group].key
        add_words(walks, group)
        if walks.groups[group].is_token:
            place = add_walk_token(walks, key, first_word) - first_token
            walks.token_marks[key].place = place
            add_subwalk(walks, group, place)
        else:
            walks.targets.append(WalkTarget(key, first_word, len(walks.words) - first_word, 0, 0, 0))


@loop
def place_in_walk(walks: TokenWalks, token: int, first_token: int) -> int:
    """Return the place of a token among those of the walk that is being found, which it is added to if need be."""
    if walks.token_marks[token].round != walks.round:
        walks.token_marks[token].place = add_walk_token(walks, token, len(walks.words)) - first_token
        walks.token_marks[token].round = walks.round
    return walks.token_marks[token].place


@loop
def add_target_ends(machine: GrammarMachine, walks: TokenWalks, target: int, first_token: int) -> None:
    """Add the ways to end the token of the grammar in a target."""
    state = walks.targets[target].lexer_state
    first, count = machine.token_ends_of[state].first, machine.token_ends_of[state].count
    walks.targets[target].first_end = len(walks.ends)
    walks.targets[target].end_count = count
    walks.targets[target].are_complete = machine.token_ends_of[state].are_complete
    for token_end in range(first, first + count):
        place = place_in_walk(walks, machine.token_ends[token_end].token, first_token)
        walks.ends.append(WalkEnd(place, machine.token_ends[token_end].width))


@loop
def add_ends(machine: GrammarMachine, walks: TokenWalks, first_target: int, first_token: int) -> None:
    """Add the ways to end the token of the grammar in the targets of the walk that is being found."""
    for target in range(first_target, len(walks.targets)):
        state = walks.targets[target].lexer_state
        if not has_token_ends(machine, state):
            make_token_ends(machine, state)
    make_marks(machine.lexer, walks)
    for target in range(first_target, len(walks.targets)):
        add_target_ends(machine, walks, target, first_token)


@loop
def find_walk(machine: GrammarMachine, walks: TokenWalks, lexer_state: int, node_set: int) -> int:
    """Return a new walk, from a state of the lexer below a set of nodes."""
    first_token, first_target, first_subwalk = len(walks.tokens), len(walks.targets), len(walks.subwalks)
    first_inner_walk = len(walks.inner_walks)
    meet_tokens(machine.lexer, walks, lexer_state, node_set)
    group_meetings(machine.lexer, walks)
    add_groups(walks, first_token)
    add_ends(machine, walks, first_target, first_token)
    del walks.walks[walks.walk_numbers.count :]  # after an error, there may be one without a number
    token_count, target_count = len(walks.tokens) - first_token, len(walks.targets) - first_target
    subwalk_count, inner_count = len(walks.subwalks) - first_subwalk, len(walks.inner_walks) - first_inner_walk
    walks.walks.append(
        TokenWalk(
            first_token,
            token_count,
            first_target,
            target_count,
            first_subwalk,
            subwalk_count,
            first_inner_walk,
            inner_count,
        )
    )
    return number_of(walks.walk_numbers, lexer_state, node_set, 0, 0)


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
    walks.pending.append(PendingWalk(lexer_state, parser_state, node_set))


@loop
def apply_pending(machine: GrammarMachine, walks: TokenWalks) -> None:
    """Apply the pending walks, and those that they lead to; those that must not be kept are left to branches."""
    while len(walks.pending) > 0:
        top = len(walks.pending) - 1
        lexer_state, parser_state = walks.pending[top].lexer_state, walks.pending[top].parser_state
        node_set = walks.pending[top].node_set
        del walks.pending[top:]
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
    while len(walks.branches) > 0:
        current = walks.branches[len(walks.branches) - 1].current
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
    walks.max_distance = 0
    del walks.pending[0:]
    del walks.branches[0:]
    walks.mask_number += 1
    for place in range(len(walks.mask)):
        walks.mask[place] = 0
    begin_walks(machine, walks, state)
    apply_pending(machine, walks)
    walk_branches(machine, walks)
    for place in range(len(walks.mask)):
        mask[place] |= walks.mask[place]
    return walks.max_distance
