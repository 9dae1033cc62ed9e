"""Products of languages: intersection, complement, and the texts of one language sorted by the others."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

from structured.automata.dfa.alphabet import DEAD, ranges_by_state, refinement
from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.character_automaton import CharacterAutomaton, Table
from structured.automata.dfa.language import Language, add_work, smallest_automaton, table_of
from structured.automata.dfa.minimisation import minimised
from structured.regex.syntax import (
    ANY_TEXT,
    Alternation,
    CharSet,
    Concat,
    Iteration,
    Literal,
    Pattern,
    Reference,
    Words,
)
from structured.regex.traversal import nodes_of, right_linear

_ENTRIES = 4
"""Entries of rows that are combined in one step of work."""

_StateChange = Callable[[Any], Any] | None
"""A function from a state of one language to the state in the product, None where no text is in the product."""


class LanguageProduct:
    """Some languages over the one alphabet that is finer than theirs. A state is one of each."""

    def __init__(self, languages: Iterable[tuple[Language, _StateChange]]) -> None:
        self._languages = tuple(languages)
        self.alphabet, parts_of = refinement(tuple([language.alphabet for language, _ in self._languages]))
        self.start: tuple[Hashable, ...] = tuple([language.start for language, _ in self._languages])
        self._parts = [itemgetter(*parts) if len(parts) > 1 else tuple for parts in parts_of]
        self._places = range(len(self._languages))
        self._rows: list[dict[Any, Sequence[Any]]] = [{DEAD: [DEAD] * len(self.alphabet)} for _ in self._places]

    def row(self, state: Sequence[Any]) -> list[Any]:
        """Return the states that each class leads to; None where no text is in the product."""
        add_work(len(self._places) * len(self.alphabet) // _ENTRIES)
        rows = map(self._row, self._places, state)
        return [None if None in states else states for states in zip(*rows, strict=True)]

    def _row(self, place: int, state: Any) -> Sequence[Any]:
        """Return the state that each class leads to in the language at a place."""
        row = self._rows[place].get(state)
        if row is None:
            language, change = self._languages[place]
            own = language.row(state)
            row = self._rows[place][state] = self._parts[place](own if change is None else list(map(change, own)))
        return row


def _dead_if_lost(state: Any) -> Any:
    """Return the state of a language that may be lost: DEAD if it is, and the product goes on without it."""
    return DEAD if state is None else state


def _lost_if_certain(language: Language, state: Any) -> Any:
    """Return the state of an excluded language: None, so that the product is lost, if whatever follows is in it."""
    if state is None:
        return DEAD
    return None if isinstance(language, PatternLanguage) and language.accepts_all(state) else state


class Intersection(LanguageProduct):
    """The texts that are in all of `included` and in none of `excluded`, by the product of all."""

    def __init__(self, included: Sequence[Language], excluded: Sequence[Language] = ()) -> None:
        self.included = tuple(included) or (PatternLanguage(ANY_TEXT),)
        self.excluded = tuple(excluded)
        sides: list[tuple[Language, _StateChange]] = [(language, None) for language in self.included]
        super().__init__([*sides, *((language, partial(_lost_if_certain, language)) for language in self.excluded)])

    def accepts(self, state: Any) -> bool:
        """Tell whether all of the included and none of the excluded accept."""
        included = zip(self.included, state, strict=False)
        excluded = zip(self.excluded, state[len(self.included) :], strict=True)
        return all(language.accepts(part) for language, part in included) and not any(
            part != DEAD and language.accepts(part) for language, part in excluded
        )


class TrackedLanguage(LanguageProduct):
    """The texts of one language, the base; a state says also which of some other languages a text is in."""

    def __init__(self, base: Language, others: Sequence[Language]) -> None:
        self.base = base
        super().__init__([(base, None), *((language, _dead_if_lost) for language in others)])

    def accepts(self, state: Any) -> bool:
        """Tell whether the base accepts."""
        return self.base.accepts(state[0])


_OF_CHARACTERS = Literal | Words | CharSet | Concat | Alternation | Iteration | Reference


def automaton_to_pattern(automaton: CharacterAutomaton) -> Pattern:
    """Return the pattern of the texts of an automaton: a right-linear one."""
    arcs = [[(CharSet(ranges), target) for target, ranges in ranges_by_state(row).items()] for row in automaton.arcs]
    pattern = right_linear(0, arcs.__getitem__, automaton.accepting.__contains__)
    assert pattern is not None, "from every state a text can end"
    return pattern


def is_of_characters(pattern: Pattern) -> bool:
    """Tell whether a pattern reads characters as they are, and not as JSON spells them."""
    return all(isinstance(node, _OF_CHARACTERS) for node in nodes_of(pattern))


def intersection(included: Sequence[Pattern], excluded: Sequence[Pattern] = ()) -> Pattern | None:
    """Return the texts of all of some patterns of characters, and of none of others; None if there are none.

    Raises PatternError where the automaton that this takes is too large.
    """
    automaton = smallest_automaton(Intersection([*map(PatternLanguage, included)], [*map(PatternLanguage, excluded)]))
    return None if automaton is None else automaton_to_pattern(automaton)


@dataclass(frozen=True, slots=True)
class LanguagePartition:
    """The texts of a language, sorted by which of some others they are in: for each kind, the states where it ends."""

    table: Table
    kinds: dict[frozenset[int], set[int]]

    def automaton(self, kinds: Iterable[frozenset[int]]) -> CharacterAutomaton:
        """Return the automaton of the texts of some kinds."""
        automaton = minimised(self.table, {state for kind in kinds for state in self.kinds[kind]})
        if automaton is None:
            raise ValueError("no text is of such a kind")
        return automaton


def partition(base: Language, languages: Sequence[Language]) -> LanguagePartition:
    """Return the texts of a language, sorted by which of the others they are in."""
    table, states = table_of(TrackedLanguage(base, languages))
    kinds: dict[frozenset[int], set[int]] = {}
    for number, (state, *others) in enumerate(states):
        if base.accepts(state):
            numbered = enumerate(zip(languages, others, strict=True))
            kind = frozenset(place for place, (language, at) in numbered if at != DEAD and language.accepts(at))
            kinds.setdefault(kind, set()).add(number)
    return LanguagePartition(table, kinds)
