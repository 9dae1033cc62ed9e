"""The machine of a regular automaton: its program, and the frames and states made so far.

A frame is a node of the program, the progress in it, and the frame under it, its tail. So a frame is a whole stack:
what is left to read of a text. Frames are interned, so that equal stacks are one number.
"""

from typing import Any

from structured.automata.loops.numbering import Numbering, known_number, number_of
from structured.automata.loops.state_table import StateTable
from structured.automata.opcodes import FINISHED, QUOTATION
from structured.machine_code.growing_arrays import array_bytes, grown, viewed, zeros
from structured.machine_code.loop_errors import LimitError, StateNeeded
from structured.machine_code.notation import Bytes, Ints, Row, Structs, compiled_class, loop, rare_loop


class Node(Row):
    """A node of the program; see `OPERATION` in `opcodes.py`."""

    operation: int
    a: int
    b: int
    c: int
    shortest: int
    any_unescaped_character: int


class Frame(Row):
    """A frame: its node; two numbers for the progress in the node; the frame under it; and what is known of it.

    `distance` are the bytes of the shortest completion, the frames under it included; `first_leaf` is the start of its
    leaves in `leaves`, -1 until they are found, and `leaf_count` their number. Frames of items that must differ have
    three more: `kept_state`, `measured_round` and `written_round`, see `distinct_items.py`.

    `first` and `second` depend on the operation of the node; see `FIRST` in `opcodes.py`.
    """

    node: int
    first: int
    second: int
    tail: int
    distance: int
    first_leaf: int
    leaf_count: int
    kept_state: int
    measured_round: int
    written_round: int


class Arc(Row):
    """A transition of a state: a range of bytes, and the frame after it."""

    low: int
    high: int
    target: int


class Level(Row):
    """The progress of a walk at a level of the trie: the state, the next child of the node, the end of its children.

    Inside a quotation, where `state` is `-frame` of the quotation: the interval of the suffix array, the depth, the
    state of the rule; the first rank not passed by the children so far; the state after the quotation; and an upper
    bound of the bytes to the end. See `quoting.py`.

    Inside an item that must differ, or after it, where `state` is `-frame` of the item: the state of any item, and the
    text read of this one, DEAD if no written item begins with it. After it: `-1 - s` for the state `s` after the item,
    and the level at which the item ended. See `distinct_items.py`.
    """

    state: int
    next: int
    end: int
    first_rank: int
    end_rank: int
    depth: int
    rule: int
    cursor: int
    outer_state: int
    upper_bound: int
    item_state: int
    item_text: int
    end_level: int


@compiled_class
class Machine:
    """The program of an automaton, and its frames and states so far.

    `frames` are rows by their number, and the leaves of each are a slice of `leaves`; the arcs of a state are a slice
    of `arcs`. `scratch` is the stack of the loop that runs: frames that it has yet to handle. `levels` are the path
    of a walk. `requested_state` is the state that a loop needs, or `-1 - i` for the state before an item `i`, and
    `requested_byte` the byte of its row, -1 for all bytes; `marked_items` is the top frame of the written items that
    are marked, and `marking_round` the round of these marks.
    """

    states: StateTable
    frame_numbers: Numbering
    max_bytes: int
    requested_state: int
    requested_byte: int
    level: int
    max_distance: int
    has_quotations: bool
    nodes: "Structs[Node]"
    operands: Ints
    text: Bytes
    frames: "list[Frame]"
    leaves: "list[int]"
    leaves_used: int
    arcs: "list[Arc]"
    arcs_used: int
    scratch: Ints
    marked_items: int
    marking_round: int
    levels: "Structs[Level]"

    def __init__(self, nodes: Any, operands: Any, text: Any, max_states: int, max_bytes: int) -> None:
        self.states = StateTable(max_states)
        self.frame_numbers = Numbering()
        self.max_bytes = max_bytes
        self.requested_state = self.requested_byte = -1
        self.level = self.max_distance = 0
        self.has_quotations = bool((nodes[:, 0] == QUOTATION).any())
        self.nodes = Node.of(nodes)
        self.operands = viewed(operands)
        self.text = viewed(text)
        self.frames = []
        self.leaves = []
        self.arcs = []
        self.arcs_used = 0
        self.scratch = zeros(1 << 8)
        self.levels = Level.rows(64)
        self.marked_items = -1
        self.marking_round = 0
        number_of(self.frame_numbers, -1, -1, -1, -1)  # FINISHED, which is its own leaf
        self.frames.append(Frame(0, 0, 0, 0, 0, 0, 1, -1, 0, 0))
        self.states.rounds.append(0)
        self.leaves.append(FINISHED)
        self.leaves_used = 1

    def nbytes(self) -> int:
        """Return the memory of the arrays that grow."""
        table = 1024 * self.states.room()
        return array_bytes(self) + array_bytes(self.frame_numbers) + self.states.nbytes() + table

    def check_growth(self, growth: int) -> None:
        """Raise LimitError if so many bytes more are too many."""
        if self.nbytes() + growth > self.max_bytes:
            raise LimitError(f"more than {self.max_bytes:,} bytes")

    def operations_of(self, state: int) -> list[int]:
        """Return the operations of the frames of a state, except of FINISHED."""
        leaves = [leaf for leaf in self.states.elements_of(state) if leaf != FINISHED]
        return [self.nodes[self.frames[leaf].node].operation for leaf in leaves]


@loop
def find_frame(machine: Machine, node: int, first: int, second: int, tail: int) -> int:
    """Return the frame with these fields, -1 if it has not been made."""
    return known_number(machine.frame_numbers, node, first, second, tail)


@loop
def new_frame(machine: Machine, node: int, first: int, second: int, tail: int, distance: int) -> int:
    """Return the frame with these fields, which has not been made."""
    count = machine.frame_numbers.count
    del machine.frames[count:]  # after an error, there may be one without a number
    del machine.states.rounds[count:]
    machine.frames.append(Frame(node, first, second, tail, distance, -1, 0, -1, 0, 0))
    machine.states.rounds.append(0)
    return number_of(machine.frame_numbers, node, first, second, tail)


@rare_loop
def check_states(machine: Machine) -> None:
    """Raise LimitError if twice as many states take too many bytes."""
    machine.check_growth(1024 * machine.states.room())


@rare_loop
def grow_scratch(machine: Machine, count: int) -> None:
    """Make room for so many numbers in `scratch`, and as many again."""
    machine.check_growth(8 * count)
    machine.scratch = grown(machine.scratch, 2 * count)


@rare_loop
def grow_levels(machine: Machine, count: int) -> None:
    """Make room for so many levels of a walk."""
    machine.levels = grown(machine.levels, count)


@rare_loop
def request_state(machine: Machine, state: int, byte: int) -> int:
    """Raise StateNeeded for the successor of a state on a byte, or for its whole row for -1."""
    machine.requested_state, machine.requested_byte = state, byte
    raise StateNeeded
