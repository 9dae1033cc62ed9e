r"""A divisor enters; the language of the texts of its multiples, or of all other numbers, leaves.

The divisor is `factor * 10 ** power`, a decimal: 0.75 is 75 hundredths. Reading a number from the left, a remainder by
the factor is all that has to be known of its digits, and how many of them stand behind the point: as many states as
that. The values are those of the decimals, not of the doubles nearest to them: 19.99 is a multiple of 0.01. What a
language says holds of any text that is a number; that a text is one is for another language to say.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import gcd, inf, lcm
from typing import Any

from structured.pattern import Pattern, Scan
from structured.pattern.languages import Arc, Language, PatternLanguage, Together, explore, joined
from structured.schema.numbers.ranges import decimal_places, exponents
from structured.schema.numbers.scientific import GREATEST_EXPONENT, LEAST_EXPONENT, MANTISSA_PLACES

SURE_DIGITS = 15
"""No two decimals of so many digits are rounded to the same double."""

MOST_SCIENTIFIC = 30
"""The greatest factor for which numbers in scientific notation are told apart: there are 17 states for each of it."""

_MINUS, _POINT, _ZERO = ord("-"), ord("."), ord("0")
_EXPONENT_MARKS = (ord("E"), ord("e"))
_START = "start"
_ANY = "any"


def common_multiple(left: Fraction, right: Fraction) -> Fraction:
    """Return the least number that is a multiple of both: 2.5 and 1 → 5."""
    scale = lcm(left.denominator, right.denominator)
    return Fraction(lcm(int(left * scale), int(right * scale)), scale)


def is_multiple(value: float, divisor: float) -> bool:
    """Tell whether one decimal is a multiple of another, each being what Python writes of it: 19.99 and 0.01."""
    return abs(value) < inf and Fraction(str(value)) % Fraction(str(divisor)) == 0


def factor_and_power(divisor: Fraction) -> tuple[int, int]:
    """Return a decimal as an integer that does not end in 0, and a power of ten: 1200 → (12, 2)."""
    places = decimal_places(divisor)
    factor, power = int(divisor * 10**places), -places
    while factor % 10 == 0:
        factor, power = factor // 10, power + 1
    return factor, power


def _digit_arcs(states: Sequence[Any]) -> list[Arc]:
    """Return the arcs of the ten digits, or of the first of them, given the states that they lead to."""
    return joined((_ZERO + digit, _ZERO + digit, state) for digit, state in enumerate(states) if state is not None)


class Multiples:
    """The plain decimals that are multiples of a divisor.

    Before the point, a state is the remainder of the digits without the last zeros, and how many zeros that are, where
    the divisor ends in some; after the point, it is how many digits there were, and the remainder.
    """

    def __init__(self, divisor: Fraction) -> None:
        self.factor, power = factor_and_power(divisor)
        self.places, self.zeros = max(0, -power), max(0, power)
        self.start: Hashable = _START
        # The digits still to come after the point are factors of ten, so remainders by these say no more than by those.
        self._moduli = [self.factor // gcd(self.factor, 10 ** (self.places - done)) for done in range(self.places + 1)]

    def arcs(self, state: Any) -> list[Arc]:
        """Return where the sign, the digits and the point lead."""
        if state == _START:
            return [(_MINUS, _MINUS, (None, 0, self.zeros)), *self.arcs((None, 0, self.zeros))]
        done, remainder, zeros = state
        if done is not None:
            return self._after_point(done, remainder)
        digits = _digit_arcs([self._before_point(remainder, zeros, digit) for digit in range(10)])
        if self.places or self.accepts(state):
            return [(_POINT, _POINT, (0, remainder, 0)), *digits]
        return digits

    def _before_point(self, remainder: int, zeros: int, digit: int) -> tuple[None, int, int]:
        modulus = self._moduli[0]
        if digit:
            return None, (remainder * 10 ** (zeros + 1) + digit) % modulus, 0
        return (None, remainder, zeros + 1) if zeros < self.zeros else (None, remainder * 10 % modulus, zeros)

    def _after_point(self, done: int, remainder: int) -> list[Arc]:
        if done == self.places:
            return [(_ZERO, _ZERO, (done, 0, 0))] if remainder == 0 else []
        modulus = self._moduli[done + 1]
        return _digit_arcs([(done + 1, (10 * remainder + digit) % modulus, 0) for digit in range(10)])

    def accepts(self, state: Any) -> bool:
        """Tell whether a multiple has been read."""
        if state == _START:
            return False
        done, remainder, zeros = state
        return bool(remainder == 0 and (done is not None or zeros == self.zeros))


class OtherNumbers:
    """The plain decimals, other than 0, that are no multiples of a divisor, and whose doubles are none either.

    Up to `SURE_DIGITS` significant digits tell what a number is. More may follow them if neither the number that was
    cut off there nor the next one is a multiple, as the nearest double is no farther. A state is how many digits there
    were after the point, the remainder, and how many of all are significant.
    """

    def __init__(self, divisor: Fraction) -> None:
        factor, power = factor_and_power(divisor)
        self.places = max(0, -power)
        self.start: Hashable = _START
        modulus = factor * 10 ** max(0, power)
        self._moduli = [modulus // gcd(modulus, 10 ** (self.places - done)) for done in range(self.places + 1)]

    def arcs(self, state: Any) -> list[Arc]:
        """Return where the sign, the digits and the point lead."""
        if state == _ANY:
            return [(_ZERO, _ZERO + 9, _ANY)]
        if state == _START:
            return [(_MINUS, _MINUS, (None, 0, 0)), *self.arcs((None, 0, 0))]
        done, rest, count = state
        point = [(_POINT, _POINT, (0, rest, count))] if done is None else []
        if count == SURE_DIGITS:
            is_sure = done is not None and done >= self.places and not any(self._nearness(done, rest))
            return [(_ZERO, _ZERO + 9, _ANY)] if is_sure else point
        counts = [count + 1 if count or digit else 0 for digit in range(10)]
        return point + _digit_arcs([self._after(done, rest, digit, counts[digit]) for digit in range(10)])

    def _after(self, done: int | None, rest: Any, digit: int, count: int) -> tuple[int | None, Any, int]:
        """Return the state after one more digit; beyond the places, `rest` is whether a multiple is near, and where."""
        if done is None:
            return None, (10 * rest + digit) % self._moduli[0], count
        if done < self.places:
            return done + 1, (10 * rest + digit) % self._moduli[done + 1], count
        is_multiple, is_before_one = self._nearness(done, rest)
        return self.places + 1, (is_multiple and digit == 0, is_before_one and digit == 9), count

    def _nearness(self, done: int, rest: Any) -> tuple[bool, bool]:
        """Return whether what was read is a multiple, and whether one more in the last place would be."""
        if done > self.places:
            return rest  # type: ignore[no-any-return]
        return rest == 0, (rest + 1) % self._moduli[done] == 0

    def accepts(self, state: Any) -> bool:
        """Tell whether no multiple has been read."""
        if state in (_START, _ANY):
            return bool(state == _ANY)
        done, rest, _ = state
        return not self._nearness(done or 0, rest)[0]


class ScientificMultiples:
    """The numbers in scientific notation that are multiples of a divisor, or those that are not.

    The mantissa has up to `places` digits after the point, the last of them not 0. After it, the exponent has to be at
    least some number, or less than that. A state is how many digits there were after the point (None before it), the
    remainder, and whether the last digit is 0.
    """

    def __init__(self, divisor: Fraction, *, negated: bool = False) -> None:
        self._factor, self._power = factor_and_power(divisor)
        self._negated = negated
        self._places = SURE_DIGITS - 1 if negated else MANTISSA_PLACES
        self._exponents: dict[int | None, PatternLanguage | None] = {}
        self.start: Hashable = _START

    def arcs(self, state: Any) -> list[Arc]:
        """Return where the sign, the digits, the point and the exponent lead."""
        if state == _START:
            return [(_MINUS, _MINUS, "first"), *self.arcs("first")]
        if state == "first":
            return _digit_arcs([None, *((None, digit % self._factor, False) for digit in range(1, 10))])
        if isinstance(state[0], PatternLanguage):
            language, inner = state
            return [(low, high, (language, after)) for low, high, after in language.arcs(inner)]
        done, remainder, ends_in_zero = state
        found: list[Arc] = []
        if done is None:
            found.append((_POINT, _POINT, (0, remainder, True)))
        elif done < self._places:
            digits = range(10)
            found += _digit_arcs([(done + 1, (10 * remainder + digit) % self._factor, digit == 0) for digit in digits])
        language = None if ends_in_zero else self._language(done or 0, remainder)
        if language is not None:
            found += [(low, high, (language, after)) for low, high, after in language.arcs(language.start)]
        return found

    def _language(self, done: int, remainder: int) -> PatternLanguage | None:
        """Return the language of the exponents that may follow a mantissa; None if there are none."""
        least = next(
            (count for count in range(MOST_SCIENTIFIC.bit_length()) if remainder * 10**count % self._factor == 0), None
        )
        threshold = None if least is None else done + self._power + least
        if threshold not in self._exponents:
            first, last = LEAST_EXPONENT, GREATEST_EXPONENT
            if self._negated:
                last = last if threshold is None else min(last, threshold - 1)
            else:
                first = last + 1 if threshold is None else max(first, threshold)
            self._exponents[threshold] = PatternLanguage(exponents(first, last)) if first <= last else None
        return self._exponents[threshold]

    def accepts(self, state: Any) -> bool:
        """Tell whether the exponent may end here."""
        return isinstance(state[0], PatternLanguage) and state[0].accepts(state[1])


def scan(
    pattern: Pattern, included: Sequence[Language], *, excluded: Sequence[Language] = (), most: int | None = None
) -> Pattern | None:
    """Return the texts of a pattern that are in all of some languages and in none of others; None if there are none.

    They are no longer than `most`. Raises `PatternError` if that takes too many states.
    """
    automaton = explore(Together((PatternLanguage(pattern), *included), tuple(excluded)))
    return None if automaton is None else Scan(automaton.arcs, automaton.accepting, most)
