"""Numberings: quadruples of integers, numbered in the order in which they first appear; the hash table of all loops."""

from structured.machine_code.notation import Row, Structs, compiled_class, loop, rare_loop

INITIAL_SLOTS = 1 << 12


class Slot(Row):
    """A slot of the hash table: a quadruple, and one more than its number; 0 where the slot is free."""

    first: int
    second: int
    third: int
    fourth: int
    number_plus_one: int


@compiled_class
class Numbering:
    """The quadruples so far; `count` is the next number."""

    count: int
    slots: "Structs[Slot]"

    def __init__(self) -> None:
        self.count = 0
        self.slots = Slot.rows(INITIAL_SLOTS)

    def slot_count(self) -> int:
        """Return the number of slots, which take 20 bytes each."""
        return len(self.slots)


@loop
def mix(code: int, value: int) -> int:
    """Return a hash code with one more value mixed in."""
    code = ((code ^ (value & 0x7FFFFFFF)) * 0x3C6EF373) & 0x7FFFFFFF
    return code ^ (code >> 15)


@loop
def slot_of(numbering: Numbering, first: int, second: int, third: int, fourth: int) -> int:
    """Return the slot of a quadruple, or the free slot for it."""
    mask = len(numbering.slots) - 1
    slot = mix(mix(mix(mix(0, first), second), third), fourth) & mask
    while numbering.slots[slot].number_plus_one > 0:
        if (
            numbering.slots[slot].fourth == fourth
            and numbering.slots[slot].first == first
            and numbering.slots[slot].second == second
            and numbering.slots[slot].third == third
        ):
            break
        slot = (slot + 1) & mask
    return slot


@loop
def known_number(numbering: Numbering, first: int, second: int, third: int, fourth: int) -> int:
    """Return the number of a quadruple, -1 if it has none."""
    return numbering.slots[slot_of(numbering, first, second, third, fourth)].number_plus_one - 1


@loop
def number_of(numbering: Numbering, first: int, second: int, third: int, fourth: int) -> int:
    """Return the number of a quadruple: `count`, which grows by one, if it is new."""
    slot = slot_of(numbering, first, second, third, fourth)
    number = numbering.slots[slot].number_plus_one - 1
    if number >= 0:
        return number
    if 2 * numbering.count >= len(numbering.slots):
        double_slots(numbering)
        slot = slot_of(numbering, first, second, third, fourth)
    fill_slot(numbering, slot, first, second, third, fourth, numbering.count)
    numbering.count += 1
    return numbering.count - 1


@loop
def fill_slot(numbering: Numbering, slot: int, first: int, second: int, third: int, fourth: int, number: int) -> None:
    """Write a quadruple and its number to a free slot."""
    numbering.slots[slot].first = first
    numbering.slots[slot].second = second
    numbering.slots[slot].third = third
    numbering.slots[slot].fourth = fourth
    numbering.slots[slot].number_plus_one = number + 1


@rare_loop
def double_slots(numbering: Numbering) -> None:
    """Give the hash table twice as many slots."""
    old: Structs[Slot] = numbering.slots
    numbering.slots = Slot.rows(2 * len(old))
    for place in range(len(old)):
        if old[place].number_plus_one > 0:
            first, second, third, fourth = old[place].first, old[place].second, old[place].third, old[place].fourth
            slot = slot_of(numbering, first, second, third, fourth)
            fill_slot(numbering, slot, first, second, third, fourth, old[place].number_plus_one - 1)


@rare_loop
def make_slots(numbering: Numbering, count: int) -> None:
    """Make the hash table large enough for so many quadruples."""
    while 2 * count >= len(numbering.slots):
        double_slots(numbering)
