r"""JSON texts inside JSON strings: the pattern of a text, escaped once more.

`{"a": 1}` → `{\"a\": 1}`. What says something of the inside of a string is unfolded first, since a string in a string
is spelled another way: an automaton becomes definitions that refer to each other, one for each state.
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
    Members,
    Pattern,
    Quotation,
    Reference,
    Repeat,
    Scan,
    Unlike,
    alternation,
    concat,
    repeat,
    words,
)

MAX_STATES = 4096
"""States of an automaton that is unfolded, times the characters that it counts."""


def embedded(pattern: Pattern) -> Pattern:
    """Return the pattern of the JSON texts as they stand inside a JSON string.

    Raises PatternError where a text inside counts more characters than can be unfolded.
    """
    return escaped(_unfolded(pattern, {}))


def _unfolded(pattern: Pattern, known: dict[int, tuple[Pattern, Pattern]]) -> Pattern:
    """Return the same pattern of literals, sets, repetitions and references alone."""
    if id(pattern) not in known:
        known[id(pattern)] = pattern, _new_unfolded(pattern, known)
    return known[id(pattern)][1]


@deep
def _new_unfolded(pattern: Pattern, known: dict[int, tuple[Pattern, Pattern]]) -> Pattern:
    match pattern:
        case Concat(parts):
            return concat(*(_unfolded(part, known) for part in parts))
        case Alternation(options):
            return alternation(*(_unfolded(option, known) for option in options))
        case Repeat(item, minimum, maximum):
            return repeat(_unfolded(item, known), minimum, maximum)
        case Members():
            return _unfolded_members(pattern, known)
        case Unlike(texts):
            return _unfolded_names(texts)
        case Scan():
            return _unfolded_scan(pattern)
        case Quotation():
            raise PatternError(
                "A quotation inside JSON that stands in a string is unsupported",
                pattern=str(pattern),
                remedy="Let the JSON inside say it without quoting.",
            )
        case Distinct():
            raise PatternError(
                "Different items inside JSON that stands in a string are unsupported",
                pattern=excerpt(pattern),
                remedy="Let the JSON inside have arrays with any items.",
            )
        case Reference(name):
            return _unfolded_reference(pattern, name, known)
        case _:
            return pattern


def _unfolded_reference(pattern: Reference, name: str, known: dict[int, tuple[Pattern, Pattern]]) -> Pattern:
    target = pattern.target
    if id(target) in known and isinstance(known[id(target)][1], Reference):
        return known[id(target)][1]
    inner: dict[str, Pattern] = {}
    reference = Reference(name, inner)
    known[id(target)] = target, reference  # what is inside refers to it
    inner[name] = _new_unfolded(target, known)
    return reference


def _unfolded_members(pattern: Members, known: dict[int, tuple[Pattern, Pattern]]) -> Pattern:
    """Return members one after the other; from the end, each with or without a separator before it."""
    separator = _unfolded(pattern.separator, known)
    rest = None if pattern.rest is None else _unfolded(pattern.rest, known)
    more = EMPTY if rest is None else repeat(concat(separator, rest), 0, None)
    behind, first = more, None if rest is None else concat(rest, more)
    for member, is_required in reversed(pattern.members):
        one = _unfolded(member, known)
        begun = concat(one, behind)
        following = concat(separator, one, behind)
        first = begun if is_required or first is None else alternation(begun, first)
        behind = following if is_required else alternation(following, behind)
    return EMPTY if first is None else first


def _unfolded_names(texts: tuple[str, ...]) -> Pattern:
    """Return the inside of strings that are none of some, which are spelled as in JSON."""
    import json

    if not texts:
        return repeat(escaped_set(((0, 0xD7FF), (0xE000, 0x10FFFF))), 0, None)
    excluded = words(json.loads(f'"{text}"') for text in texts)
    automaton = explore(Intersection((PatternLanguage(ANY_TEXT),), (PatternLanguage(excluded),)))
    assert automaton is not None
    return _unfolded_scan(Scan(automaton.arcs, automaton.accepting, most_characters(automaton)))


def _unfolded_scan(scan: Scan) -> Pattern:
    """Return the inside of strings that an automaton accepts, by a definition for each state and count."""
    longest = most_characters(scan)
    counted = None if longest is not None and (scan.most is None or longest <= scan.most) else scan.most
    if len(scan.arcs) * (1 if counted is None else counted + 1) > MAX_STATES:
        raise PatternError(
            "A text inside a JSON text inside a string has too many states",
            pattern=excerpt(scan),
            remedy="Make it shorter, or drop the pattern.",
        )

    def arcs(reached: tuple[int, int | None]) -> Iterator[tuple[Pattern, tuple[int, int | None]]]:
        state, left = reached
        if left != 0:
            fewer = None if left is None else left - 1
            for target, ranges in ranges_by_state(scan.arcs[state]).items():
                yield escaped_set(ranges), (target, fewer)

    found = right_linear((0, counted), arcs, lambda reached: reached[0] in scan.accepting)
    assert found is not None
    return found
