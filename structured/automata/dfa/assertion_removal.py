r"""The removal of assertions: boundaries and lookarounds are replaced by patterns of the same texts.

Compiled loops need patterns whose nodes all read characters. At the ends of a whole text, `^`, `$` and `(?!x)` hold or
fail whatever the text is. If other assertions are left, the automaton of the texts is built and becomes a right-linear
pattern.
"""

from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.language import smallest_automaton
from structured.automata.dfa.products import automaton_to_pattern
from structured.errors import PatternError
from structured.errors.recursion import deep
from structured.regex.syntax import (
    Alternation,
    Anchor,
    Assertion,
    Concat,
    Lookahead,
    Lookbehind,
    Pattern,
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
    automaton = smallest_automaton(PatternLanguage(trimmed))
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
    """Tell whether a part is an assertion that holds at the end of every text, or at its start."""
    if not isinstance(part, Assertion):
        return False
    looks_out = Lookahead if is_end else Lookbehind
    inside = [node for node in nodes_of(part) if isinstance(node, Assertion)]
    if not all(isinstance(node, looks_out) or node == Anchor("end" if is_end else "start") for node in inside):
        return False
    language = PatternLanguage(part)
    return language.accepts(language.start)
