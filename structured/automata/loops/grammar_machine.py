"""The machine of a grammar's automaton: the tables of its parser, and its stacks, configurations and states so far.

The tables of the parser are complete. The rows of the lexer are made when a loop needs them, by a call of Python, which
becomes rarer as a text goes on.
"""

from typing import Any

from structured.automata.byte_automaton import UNKNOWN
from structured.automata.loops.lexer_tables import LexerTables, lexer_token
from structured.automata.loops.numbering import Numbering, make_slots, number_of
from structured.automata.loops.state_table import StateTable, fill_state_slots
from structured.machine_code.growing_arrays import filled, grown, viewed, zeros
from structured.machine_code.loop_errors import LimitError
from structured.machine_code.notation import Ints, Row, Rows, Structs, compiled_class, entry, loop, rare_loop


class LrState(Row):
    """An LR state: a context of the lexer, and the start and number of the items that have begun."""

    context: int
    first_item: int
    item_count: int


class ParserRule(Row):
    """A rule: the symbol that it makes, and the number of symbols that it makes it of."""

    origin: int
    size: int


class ParserItem(Row):
    """A rule that has begun: its symbol, -1 for that of the whole text, and the symbols that have been read.

    The other symbols close `blocks_closed` of the open blocks.
    """

    origin: int
    symbols_read: int
    blocks_closed: int


class Stack(Row):
    """A stack: the LR state on top, and the stack under it, -1 for none."""

    lr_state: int
    tail: int


class Block(Row):
    """A block of indented lines: their column, and the block around it, -1 for none."""

    column: int
    outer: int


class ParserState(Row):
    """A state of the parser: its stack, the number of open brackets, and the innermost block.

    `lower_bound` is that of the bytes to the end without brackets, UNKNOWN until it is computed.
    """

    stack: int
    brackets: int
    block: int
    lower_bound: int


class Configuration(Row):
    """A state of the lexer and one of the parser.

    `distance` are the bytes of the shortest completion, `lower_bound` and `upper_bound` bounds of these, each UNKNOWN
    until computed. Of the last search that met it: the bytes read, the configuration before, and the search.
    """

    lexer_state: int
    parser_state: int
    distance: int
    lower_bound: int
    upper_bound: int
    bytes_read: int
    predecessor: int
    search: int


class HeapEntry(Row):
    """A configuration that a search will visit: the bytes of a whole text through it, and the bytes read."""

    total: int
    bytes_read: int
    configuration: int


class FrontierState(Row):
    """An LR state that a search has reached: the bytes to it, and whether it has been visited."""

    lr_state: int
    cost: int
    is_visited: int


class TokenEnd(Row):
    """A way to end a token within a state of the lexer: the number of the token, and the bytes to its end."""

    token: int
    width: int


class TokenEnds(Row):
    """The token ends of a state of the lexer: whether they are known, their start and their number.

    If they `are_complete`, there are no others; `last` is the one taken last, counted from the start.
    """

    are_known: int
    first: int
    count: int
    are_complete: int
    last: int


class ParserFacts(Row):
    """The symbol after the text, and the LR state there; the terminals of indentation, DEAD if there is none.

    `blank_width` are the most columns of a blank.
    """

    end_symbol: int
    end_state: int
    line_end: int
    indent: int
    dedent: int
    line_ends: int
    blank_width: int


@compiled_class
class GrammarMachine:
    """The tables of a grammar, and its configurations and states so far.

    `actions[LR state, symbol]` is one more than the LR state to shift to, or minus one more than the rule that ends, or
    0. `remainders[column, item]` are the bytes of what is left of an item where lines begin at a column, UNKNOWN in all
    before they are asked for. `brackets[terminal]` is 1 for those that open one, -1 for those that close one.
    `is_absent[byte]` tells which bytes no text may have. Stacks, parser states, blocks and configurations are numbered.
    """

    lexer: LexerTables
    states: StateTable
    stack_numbers: Numbering
    parser_state_numbers: Numbering
    block_numbers: Numbering
    configuration_numbers: Numbering
    max_bytes: int
    max_searched: int
    search: int
    heap_size: int
    token_end_count: int
    facts: "Structs[ParserFacts]"
    actions: Rows
    rules: "Structs[ParserRule]"
    items: "Structs[ParserItem]"
    lr_states: "Structs[LrState]"
    remainders: Rows
    brackets: Ints
    is_absent: Ints
    stacks: "Structs[Stack]"
    parser_states: "Structs[ParserState]"
    blocks: "Structs[Block]"
    configurations: "Structs[Configuration]"
    heap: "Structs[HeapEntry]"
    frontier: "Structs[FrontierState]"
    kept_stacks: Ints
    token_ends: "Structs[TokenEnd]"
    token_ends_of: "Structs[TokenEnds]"

    def __init__(self, lexer: LexerTables, tables: Any, max_states: int, max_bytes: int, max_searched: int) -> None:
        self.lexer = lexer
        self.facts = ParserFacts.of(tables.facts)
        self.actions = viewed(tables.actions)
        self.rules = ParserRule.of(tables.rules)
        self.items = ParserItem.of(tables.items)
        self.lr_states = LrState.of(tables.lr_states)
        self.brackets = viewed(tables.brackets)
        self.is_absent = viewed(tables.is_absent)
        self.remainders = grown(zeros(0, len(tables.items)), 1, UNKNOWN)
        self.max_bytes = max_bytes
        self.max_searched = max_searched
        self.states = StateTable(max_states)
        self.search = self.heap_size = self.token_end_count = 0
        self.block_numbers = Numbering()
        self.blocks = Block.rows(16)
        self.heap = HeapEntry.rows(256)
        self.kept_stacks = zeros(0)
        self.frontier = FrontierState.rows(len(tables.lr_states) + 1)
        self.token_ends = TokenEnd.rows(64)
        self.token_ends_of = TokenEnds.rows(64)
        make_room(self, 256, 256, 1024)

    def nbytes(self) -> int:
        """Return the memory of the arrays, of which the limits are."""
        numbered = self.stack_numbers.slot_count() + self.parser_state_numbers.slot_count()
        numbered += self.block_numbers.slot_count() + self.configuration_numbers.slot_count()
        rows = 8 * (len(self.stacks) + len(self.blocks)) + 16 * len(self.parser_states) + 32 * len(self.configurations)
        rows += 12 * (len(self.heap) + len(self.frontier)) + 8 * len(self.token_ends) + 20 * len(self.token_ends_of)
        rows += 4 * len(self.kept_stacks)
        tables = 4 * self.actions.shape[0] * self.actions.shape[1]
        tables += 4 * self.remainders.shape[0] * self.remainders.shape[1]
        return rows + tables + 20 * numbered + self.states.nbytes() + 1024 * self.states.room()


@rare_loop
def make_room(machine: GrammarMachine, stack_room: int, parser_state_room: int, configuration_room: int) -> None:
    """Forget all configurations, parser states and stacks, and make room for so many."""
    stack_numbers, parser_state_numbers, configuration_numbers = Numbering(), Numbering(), Numbering()
    make_slots(stack_numbers, stack_room)
    make_slots(parser_state_numbers, parser_state_room)
    make_slots(configuration_numbers, configuration_room)
    stacks: Structs[Stack] = Stack.rows(stack_room)
    parser_states: Structs[ParserState] = ParserState.rows(parser_state_room)
    configurations: Structs[Configuration] = Configuration.rows(configuration_room)
    machine.stack_numbers = stack_numbers
    machine.parser_state_numbers = parser_state_numbers
    machine.configuration_numbers = configuration_numbers
    machine.stacks, machine.parser_states, machine.configurations = stacks, parser_states, configurations


@rare_loop
def check_growth(machine: GrammarMachine, growth: int) -> None:
    """Raise LimitError if so many bytes more are too many, or the error of the source if the time is up."""
    machine.lexer.source.check_time()
    if machine.nbytes() + growth > machine.max_bytes:
        raise LimitError(f"more than {machine.max_bytes:,} bytes")


@rare_loop
def grow_stacks(machine: GrammarMachine) -> None:
    """Make room for twice as many stacks."""
    check_growth(machine, 8 * len(machine.stacks))
    machine.stacks = grown(machine.stacks, 2 * len(machine.stacks))


@rare_loop
def grow_parser_states(machine: GrammarMachine) -> None:
    """Make room for twice as many states of the parser."""
    check_growth(machine, 16 * len(machine.parser_states))
    machine.parser_states = grown(machine.parser_states, 2 * len(machine.parser_states))


@rare_loop
def grow_blocks(machine: GrammarMachine) -> None:
    """Make room for twice as many blocks."""
    check_growth(machine, 8 * len(machine.blocks))
    machine.blocks = grown(machine.blocks, 2 * len(machine.blocks))


@rare_loop
def grow_configurations(machine: GrammarMachine) -> None:
    """Make room for twice as many configurations."""
    room = 2 * len(machine.configurations)
    check_growth(machine, 20 * room)
    machine.configurations = grown(machine.configurations, room)


@rare_loop
def grow_heap(machine: GrammarMachine) -> None:
    """Make room for twice as many entries of the heap."""
    check_growth(machine, 12 * len(machine.heap))
    machine.heap = grown(machine.heap, 2 * len(machine.heap))


@rare_loop
def make_remainders(machine: GrammarMachine, column: int) -> None:
    """Ask for the bytes of what is left of each item where lines begin at a column."""
    check_growth(machine, 0)
    row: Ints = viewed(machine.lexer.source.remainders(column))
    if column >= len(machine.remainders):
        machine.remainders = grown(machine.remainders, 2 * column, UNKNOWN)
    for item in range(len(row)):
        machine.remainders[column, item] = row[item]


@rare_loop
def make_token_ends(machine: GrammarMachine, lexer_state: int) -> None:
    """Ask for token ends of a state of the lexer."""
    check_growth(machine, 0)
    ends, are_complete = machine.lexer.source.token_ends(lexer_state)
    if lexer_state >= len(machine.token_ends_of):
        machine.token_ends_of = grown(machine.token_ends_of, 2 * lexer_state)
    if machine.token_end_count + len(ends) > len(machine.token_ends):
        machine.token_ends = grown(machine.token_ends, 2 * (machine.token_end_count + len(ends)))
    first = end = machine.token_end_count
    for terminal, lookaround, width in ends:
        machine.token_ends[end].token = lexer_token(machine.lexer, terminal, lookaround)
        machine.token_ends[end].width = width
        end += 1
    machine.token_end_count = end
    machine.token_ends_of[lexer_state].first = first
    machine.token_ends_of[lexer_state].count = end - first
    machine.token_ends_of[lexer_state].are_complete = are_complete
    machine.token_ends_of[lexer_state].are_known = 1


@rare_loop
def refuse_search(machine: GrammarMachine) -> None:
    """Raise the error of the source, because a search has visited too many configurations."""
    machine.lexer.source.refuse_search()


@loop
def has_token_ends(machine: GrammarMachine, lexer_state: int) -> bool:
    """Tell whether token ends of a state of the lexer are known."""
    return lexer_state < len(machine.token_ends_of) and machine.token_ends_of[lexer_state].are_known != 0


@loop
def push_state(machine: GrammarMachine, lr_state: int, tail: int) -> int:
    """Return the stack of an LR state on another stack."""
    new = machine.stack_numbers.count
    if new == len(machine.stacks):
        grow_stacks(machine)
    stack = number_of(machine.stack_numbers, lr_state, tail, 0, 0)
    if stack == new:
        machine.stacks[new].lr_state = lr_state
        machine.stacks[new].tail = tail
    return stack


@loop
def block_of(machine: GrammarMachine, column: int, outer: int) -> int:
    """Return the block that begins at a column inside another."""
    new = machine.block_numbers.count
    if new == len(machine.blocks):
        grow_blocks(machine)
    block = number_of(machine.block_numbers, column, outer, 0, 0)
    if block == new:
        machine.blocks[new].column = column
        machine.blocks[new].outer = outer
    return block


@loop
def parser_state_of(machine: GrammarMachine, stack: int, brackets: int, block: int) -> int:
    """Return the state of the parser with a stack; DEAD for DEAD."""
    if stack < 0:
        return stack
    new = machine.parser_state_numbers.count
    if new == len(machine.parser_states):
        grow_parser_states(machine)
    parser_state = number_of(machine.parser_state_numbers, stack, brackets, block, 0)
    if parser_state == new:
        machine.parser_states[new].stack = stack
        machine.parser_states[new].brackets = brackets
        machine.parser_states[new].block = block
        machine.parser_states[new].lower_bound = UNKNOWN
    return parser_state


@loop
def configuration_of(machine: GrammarMachine, lexer_state: int, parser_state: int) -> int:
    """Return the configuration of a state of the lexer and one of the parser."""
    new = machine.configuration_numbers.count
    if new == len(machine.configurations):
        grow_configurations(machine)
    if new == len(machine.states.rounds):
        machine.states.rounds.append(0)
    current = number_of(machine.configuration_numbers, lexer_state, parser_state, 0, 0)
    if current == new:
        machine.configurations[new].lexer_state = lexer_state
        machine.configurations[new].parser_state = parser_state
        machine.configurations[new].distance = UNKNOWN
        machine.configurations[new].lower_bound = UNKNOWN
        machine.configurations[new].upper_bound = UNKNOWN
        machine.configurations[new].search = 0
    return current


@loop
def mark_stacks(machine: GrammarMachine) -> int:
    """Mark the stacks that states need in `kept_stacks`; return their number."""
    count = 0
    for place in range(machine.states.elements_used):
        parser_state = machine.configurations[machine.states.elements[place]].parser_state
        machine.kept_stacks[machine.parser_states[parser_state].stack] = 1
    for stack in range(machine.stack_numbers.count - 1, -1, -1):  # it has a higher number than those under it
        if machine.kept_stacks[stack]:
            count += 1
            if machine.stacks[stack].tail >= 0:
                machine.kept_stacks[machine.stacks[stack].tail] = 1
    return count


@entry
def collect_garbage(machine: GrammarMachine) -> None:
    """Forget all configurations, parser states and stacks that no state needs; the others get new numbers.

    Most of them are used once, for tokens of a mask that are not sampled.
    """
    keep_needed(machine)


@rare_loop
def keep_needed(machine: GrammarMachine) -> None:
    """Make the configurations of all states anew, with their parser states and stacks.

    There is room for all of them before the first is made, so that no error leaves half of them.
    """
    stacks: Structs[Stack] = machine.stacks
    parser_states: Structs[ParserState] = machine.parser_states
    configurations: Structs[Configuration] = machine.configurations
    heap: Structs[HeapEntry] = HeapEntry.rows(256)
    slots: Ints = filled(-1, len(machine.states.slots))
    stack_count = machine.stack_numbers.count
    machine.kept_stacks = zeros(stack_count)
    kept_count = mark_stacks(machine)
    element_count = machine.states.elements_used
    make_room(machine, 256 + 2 * kept_count, 256 + 2 * element_count, 1024 + 2 * element_count)
    for stack in range(stack_count):  # from here on, `kept_stacks` has the new numbers
        if machine.kept_stacks[stack]:
            tail = stacks[stack].tail
            below = machine.kept_stacks[tail] if tail >= 0 else -1
            machine.kept_stacks[stack] = push_state(machine, stacks[stack].lr_state, below)
    for place in range(element_count):
        current = machine.states.elements[place]
        old_state = configurations[current].parser_state
        stack, block = machine.kept_stacks[parser_states[old_state].stack], parser_states[old_state].block
        parser_state = parser_state_of(machine, stack, parser_states[old_state].brackets, block)
        machine.parser_states[parser_state].lower_bound = parser_states[old_state].lower_bound
        new = configuration_of(machine, configurations[current].lexer_state, parser_state)
        machine.configurations[new].distance = configurations[current].distance
        machine.configurations[new].lower_bound = configurations[current].lower_bound
        machine.configurations[new].upper_bound = configurations[current].upper_bound
        machine.states.elements[place] = new
    machine.heap = heap
    machine.states.slots = slots
    fill_state_slots(machine.states)
