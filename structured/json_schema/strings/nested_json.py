r"""JSON texts inside JSON strings: the pattern of a text, escaped once more.

`{"a": 1}` → `{\"a\": 1}`. Nodes that restrict the inside of a string are unfolded first, since a string in a string is
spelled differently: an automaton becomes definitions that refer to each other, one for each state.
"""

from collections.abc import Iterator

from structured.automata.dfa import Intersection, PatternLanguage, explore, most_characters
from structured.automata.dfa.alphabet import ranges_by_state
from structured.errors import PatternError
from structured.errors.recursion import deep
from structured.regex.json_strings import escaped, escaped_set
from structured.regex.printing import excerpt
from structured.regex.right_linear import right_linear
from structured.regex.syntax import (
    ANY_TEXT,
    EMPTY,
    Alternation,
    Concat,
    Distinct,
    Iteration,
    Members,
    Pattern,
    Quotation,
    Reference,
    Scan,
    Unlike,
    alternation,
    concat,
    repeat,
    words,
)

MAX_STATES = 4096
"""The most states of an unfolded automaton, times the characters that it counts."""


def embedded(pattern: Pattern) -> Pattern:
    """Return the pattern of JSON texts as they are written inside a JSON string.

    Raises PatternError for nodes that cannot be unfolded.
    """
    return escaped(_unfolded(pattern, {}))


def _unfolded(pattern: Pattern, unfolded: dict[int, tuple[Pattern, Pattern]]) -> Pattern:
    """Return an equivalent pattern that has only literals, sets, repetitions and references."""
    if id(pattern) not in unfolded:
        unfolded[id(pattern)] = pattern, _new_unfolded(pattern, unfolded)
    return unfolded[id(pattern)][1]


@deep
def _new_unfolded(pattern: Pattern, unfolded: dict[int, tuple[Pattern, Pattern]]) -> Pattern:
    match pattern:
        case Concat(parts):
            return concat(*(_unfolded(part, unfolded) for part in parts))
        case Alternation(options):
            return alternation(*(_unfolded(option, unfolded) for option in options))
        case Iteration(item, minimum, maximum):
            return repeat(_unfolded(item, unfolded), minimum, maximum)
        case Members():
            return _unfolded_members(pattern, unfolded)
        case Unlike(texts):
            return _unfolded_names(texts)
        case Scan():
            return _unfolded_scan(pattern)
        case Quotation():
            raise PatternError(
                "A quotation in JSON inside a string is unsupported",
                pattern=str(pattern),
                remedy="Leave the JSON inside the string without quotations.",
            )
        case Distinct():
            raise PatternError(
                "Arrays of different items in JSON inside a string are unsupported",
                pattern=excerpt(pattern),
                remedy="Allow equal items in the JSON inside the string.",
            )
        case Reference(name):
            return _unfolded_reference(pattern, name, unfolded)
        case _:
            return pattern


def _unfolded_reference(pattern: Reference, name: str, unfolded: dict[int, tuple[Pattern, Pattern]]) -> Pattern:
    target = pattern.target
    if id(target) in unfolded and isinstance(unfolded[id(target)][1], Reference):
        return unfolded[id(target)][1]
    inner: dict[str, Pattern] = {}
    reference = Reference(name, inner)
    unfolded[id(target)] = target, reference  # for references inside the target
    inner[name] = _new_unfolded(target, unfolded)
    return reference


def _unfolded_members(pattern: Members, unfolded: dict[int, tuple[Pattern, Pattern]]) -> Pattern:
    """Return the members in order, built from the last one: each with or without a separator before it."""
    separator = _unfolded(pattern.separator, unfolded)
    rest = None if pattern.rest is None else _unfolded(pattern.rest, unfolded)
    more = EMPTY if rest is None else repeat(concat(separator, rest), 0, None)
    tail, first = more, None if rest is None else concat(rest, more)
    for member, is_required in reversed(pattern.members):
        inner = _unfolded(member, unfolded)
        begun = concat(inner, tail)
        following = concat(separator, inner, tail)
        first = begun if is_required or first is None else alternation(begun, first)
        tail = following if is_required else alternation(following, tail)
    return EMPTY if first is None else first


def _unfolded_names(texts: tuple[str, ...]) -> Pattern:
    """Return the inside of the strings other than some texts, which are spelled as in JSON."""
    import json

    if not texts:
        return repeat(escaped_set(((0, 0xD7FF), (0xE000, 0x10FFFF))), 0, None)
    excluded = words(json.loads(f'"{text}"') for text in texts)
    automaton = explore(Intersection((PatternLanguage(ANY_TEXT),), (PatternLanguage(excluded),)))
    assert automaton is not None
    return _unfolded_scan(Scan(automaton.arcs, automaton.accepting, most_characters(automaton)))


def _unfolded_scan(scan: Scan) -> Pattern:
    """Return the inside of the strings that an automaton accepts, with a definition for each state and count."""
    longest = most_characters(scan)
    counted = None if longest is not None and (scan.most is None or longest <= scan.most) else scan.most
    if len(scan.arcs) * (1 if counted is None else counted + 1) > MAX_STATES:
        raise PatternError(
            "A string in JSON inside a string has too many states",
            pattern=excerpt(scan),
            remedy="Make it shorter, or drop the pattern.",
        )

    def arcs(reached: tuple[int, int | None]) -> Iterator[tuple[Pattern, tuple[int, int | None]]]:
        state, left = reached
        if left != 0:
            fewer = None if left is None else left - 1
            for target, ranges in ranges_by_state(scan.arcs[state]).items():
                yield escaped_set(ranges), (target, fewer)

    pattern = right_linear((0, counted), arcs, lambda reached: reached[0] in scan.accepting)
    assert pattern is not None
    return pattern
