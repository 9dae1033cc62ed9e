r"""Multiples of a number: the language of their texts, and that of all other numbers.

The divisor is `factor * 10 ** power`, a decimal: 0.75 is 75 hundredths. A number is read from the left; a state is the
remainder of its digits by the factor, and how many digits followed the point. Values are those of the decimals, not of
the doubles nearest to them: 19.99 is a multiple of 0.01. These languages assume that a text is a number; they are
intersected with a language that ensures it.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import gcd, inf, lcm
from typing import Any

from structured.automata.dfa.alphabet import Alphabet, alphabet_of
from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.character_automaton import expression
from structured.automata.dfa.language import Language, smallest_automaton
from structured.automata.dfa.products import Intersection
from structured.json_schema.numbers.ranges import decimal_places
from structured.regex import AutomatonPattern, Pattern, literal

SURE_DIGITS = 15
"""No two decimals of at most so many digits round to the same double."""

_DIGITS = "0123456789"
_NUMERALS: Alphabet = alphabet_of(literal(f"-.{_DIGITS}"))
_START = "start"
_SURE = "sure"


def common_multiple(left: Fraction, right: Fraction) -> Fraction:
    """Return the least number that is a multiple of both: 2.5 and 1 → 5."""
    scale = lcm(left.denominator, right.denominator)
    return Fraction(lcm(int(left * scale), int(right * scale)), scale)


def is_multiple(value: float, divisor: float) -> bool:
    """Tell whether one number is a multiple of another, as the decimals that Python writes: 19.99 and 0.01.

    Or as the double itself, which a text may have spelled: Python writes 1061134077190315.75 as 1061134077190315.8.
    """
    unit = Fraction(str(divisor))
    return abs(value) < inf and (Fraction(str(value)) % unit == 0 or Fraction(value) % unit == 0)


def factor_and_power(divisor: Fraction) -> tuple[int, int]:
    """Return a decimal as an integer that does not end in 0, and a power of ten: 1200 → (12, 2)."""
    places = decimal_places(divisor)
    factor, power = int(divisor * 10**places), -places
    while factor % 10 == 0:
        factor, power = factor // 10, power + 1
    return factor, power


def _by_digit(states: Sequence[Any]) -> dict[str, Any]:
    """Return the states that the digits from 0 on lead to, by the digit."""
    return dict(zip(_DIGITS, states, strict=False))


class Multiples:
    """The plain decimals that are multiples of a divisor.

    Before the point, a state is the remainder of the digits without trailing zeros, and the number of these zeros, up
    to that of the divisor; after the point, it is the number of digits there, and the remainder.
    """

    alphabet = _NUMERALS

    def __init__(self, divisor: Fraction) -> None:
        self.factor, power = factor_and_power(divisor)
        self.places, self.zeros = max(0, -power), max(0, power)
        self.start: Hashable = _START
        # The digits still to come after the point contribute factors of ten, so smaller moduli suffice.
        self._moduli = [self.factor // gcd(self.factor, 10**left) for left in range(self.places, -1, -1)]

    def row(self, state: Any) -> list[Any]:
        """Return the successors for the sign, the digits and the point."""
        return self.alphabet.row(self._successors(state))

    def _successors(self, state: Any) -> dict[str, Any]:
        if state == _START:
            unsigned = (None, 0, self.zeros)
            return {"-": unsigned, **self._successors(unsigned)}
        place, remainder, zeros = state
        if place is not None:
            return self._after_point(place, remainder)
        digits = _by_digit([self._before_point(remainder, zeros, digit) for digit in range(10)])
        if self.places or self.accepts(state):
            return {".": (0, remainder, 0), **digits}
        return digits

    def _before_point(self, remainder: int, zeros: int, digit: int) -> tuple[None, int, int]:
        modulus = self._moduli[0]
        if digit:
            return None, (remainder * 10 ** (zeros + 1) + digit) % modulus, 0
        return (None, remainder, zeros + 1) if zeros < self.zeros else (None, remainder * 10 % modulus, zeros)

    def _after_point(self, place: int, remainder: int) -> dict[str, Any]:
        if place == self.places:
            return {"0": (place, 0, 0)} if remainder == 0 else {}
        modulus = self._moduli[place + 1]
        return _by_digit([(place + 1, (10 * remainder + digit) % modulus, 0) for digit in range(10)])

    def accepts(self, state: Any) -> bool:
        """Tell whether a multiple has been read."""
        if state == _START:
            return False
        place, remainder, zeros = state
        return bool(remainder == 0 and (place is not None or zeros == self.zeros))


class NonMultiples:
    """The plain decimals, other than 0, that are not multiples of a divisor, and whose doubles are not either.

    A number of up to `SURE_DIGITS` significant digits is judged by its value. More digits may follow if neither the
    number cut off there nor the next one of that length is a multiple, since the nearest double is between them. A
    state is the number of digits after the point, the remainder, and the number of significant digits.
    """

    alphabet = _NUMERALS

    def __init__(self, divisor: Fraction) -> None:
        factor, power = factor_and_power(divisor)
        self.places = max(0, -power)
        self.start: Hashable = _START
        modulus = factor * 10 ** max(0, power)
        self._moduli = [modulus // gcd(modulus, 10**left) for left in range(self.places, -1, -1)]

    def row(self, state: Any) -> list[Any]:
        """Return the successors for the sign, the digits and the point."""
        return self.alphabet.row(self._successors(state))

    def _successors(self, state: Any) -> dict[str, Any]:
        if state == _SURE:
            return dict.fromkeys(_DIGITS, _SURE)
        if state == _START:
            unsigned = (None, 0, 0)
            return {"-": unsigned, **self._successors(unsigned)}
        place, remainder, digits = state
        point = {".": (0, remainder, digits)} if place is None else {}
        if digits == SURE_DIGITS:
            is_sure = place is not None and place >= self.places and not any(self._nearness(place, remainder))
            return dict.fromkeys(_DIGITS, _SURE) if is_sure else point
        digits_then = [digits + 1 if digits or digit else 0 for digit in range(10)]
        return point | _by_digit([self._next_state(place, remainder, digit, digits_then[digit]) for digit in range(10)])

    def _next_state(self, place: int | None, remainder: Any, digit: int, digits: int) -> tuple[int | None, Any, int]:
        """Return the state after one more digit; beyond the places, `remainder` is the result of `_nearness`."""
        if place is None:
            return None, (10 * remainder + digit) % self._moduli[0], digits
        if place < self.places:
            return place + 1, (10 * remainder + digit) % self._moduli[place + 1], digits
        is_multiple, is_before_one = self._nearness(place, remainder)
        return self.places + 1, (is_multiple and digit == 0, is_before_one and digit == 9), digits

    def _nearness(self, place: int, remainder: Any) -> tuple[bool, bool]:
        """Return whether the number read is a multiple, and whether one more in its last place would be."""
        if place > self.places:
            return remainder  # type: ignore[no-any-return]
        return remainder == 0, (remainder + 1) % self._moduli[place] == 0

    def accepts(self, state: Any) -> bool:
        """Tell whether no multiple has been read."""
        if state in (_START, _SURE):
            return bool(state == _SURE)
        place, remainder, _ = state
        return not self._nearness(place or 0, remainder)[0]


def intersected(
    pattern: Pattern, included: Sequence[Language], *, excluded: Sequence[Language] = (), most: int | None = None
) -> Pattern | None:
    """Return the texts of a pattern that are in all included and no excluded languages; None if there are none.

    Texts have at most `most` characters. Raises `PatternError` if the automaton has too many states.
    """
    automaton = smallest_automaton(Intersection((PatternLanguage(pattern), *included), tuple(excluded)))
    if automaton is None:
        return None
    return AutomatonPattern(automaton.arcs, automaton.accepting, most, eliminate=expression)
