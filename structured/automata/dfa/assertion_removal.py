r"""The removal of assertions: boundaries and lookarounds are replaced by patterns of the same texts.

Compiled loops need patterns whose nodes all read characters. At the ends of a whole text, `^`, `$` and `(?!x)` hold or
fail whatever the text is. If other assertions are left, the automaton of the texts is built and becomes a right-linear
pattern.
"""

from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.language import explore
from structured.automata.dfa.products import automaton_to_pattern
from structured.errors import PatternError
from structured.errors.recursion import deep
from structured.regex.syntax import (
    Alternation,
    Assertion,
    Boundary,
    CharSet,
    Concat,
    Iteration,
    Literal,
    Lookahead,
    Lookbehind,
    Pattern,
    Words,
    alternation,
    concat,
)
from structured.regex.traversal import nodes_of


def matched_texts(whole: Pattern, source: str) -> Pattern:
    """Return the pattern of the texts that a regular expression matches, without boundaries and lookarounds.

    Raises PatternError, which shows the `source`, where there is no such text, or its automaton is too large.
    """
    try:
        pattern = without_assertions(whole)
    except PatternError as error:
        raise PatternError(error.problem, pattern=source, remedy=error.remedy) from error
    if pattern is None:
        raise PatternError("No text matches", pattern=source, remedy="Correct the pattern.")
    return pattern


def without_assertions(pattern: Pattern) -> Pattern | None:
    """Return a pattern of the same texts without boundaries and lookarounds; None if no text matches.

    Raises PatternError where the automaton that this takes is too large.
    """
    trimmed = _trimmed(pattern)
    if not any(isinstance(node, Assertion) for node in nodes_of(trimmed)):
        return trimmed
    automaton = explore(PatternLanguage(trimmed))
    return None if automaton is None else automaton_to_pattern(automaton)


@deep
def _trimmed(pattern: Pattern) -> Pattern:
    """Return a pattern of whole texts without the assertions that surely hold at their ends."""
    if isinstance(pattern, Alternation):
        return alternation(*map(_trimmed, pattern.options))
    parts: list[Pattern] = list(pattern.parts) if isinstance(pattern, Concat) else [pattern]
    while parts and _holds(parts[0], is_end=False):
        parts.pop(0)
    while parts and _holds(parts[-1], is_end=True):
        parts.pop()
    return concat(*parts)


def _holds(part: Pattern, *, is_end: bool) -> bool:
    return isinstance(part, Assertion) and _empty_at(part, is_end=is_end) is True


@deep
def _empty_at(pattern: Pattern, *, is_end: bool) -> bool | None:
    """Tell whether a pattern matches the empty text at the end of every text (or at its start); None if not at all."""
    match pattern:
        case Literal(text):
            return not text
        case Words(texts):
            return "" in texts
        case CharSet():
            return False
        case Boundary(kind):
            return True if kind == ("end" if is_end else "start") else None
        case Lookahead(inside, negated):
            held = _empty_at(inside, is_end=True) if is_end else None
            return None if held is None else held != negated
        case Lookbehind(inside, negated):
            held = None if is_end else _empty_at(inside, is_end=False)
            return None if held is None else held != negated
        case Iteration(item, minimum):
            return True if minimum == 0 else _empty_at(item, is_end=is_end)
        case Concat(parts):
            found = [_empty_at(part, is_end=is_end) for part in parts]
            return False if False in found else None if None in found else True
        case Alternation(options):
            found = [_empty_at(option, is_end=is_end) for option in options]
            return True if True in found else None if None in found else False
    return None
