"""A regular expression and a text enter; whether the one is found in the other leaves."""

from functools import lru_cache

from structured.pattern.languages import PatternLanguage
from structured.pattern.regex import Dialect, regex_to_pattern


@lru_cache(maxsize=1024)
def language_of(regex: str, dialect: Dialect) -> PatternLanguage:
    """Return the language of the texts in which a regular expression is found; the same each time."""
    return PatternLanguage(regex_to_pattern(regex, dialect))


def finds(regex: str, dialect: Dialect, text: str) -> bool:
    """Tell whether a regular expression is found in a text."""
    return language_of(regex, dialect).contains(text)
