"""The index of an output type over a vocabulary, kept in memory and on disk."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from structured.automata import Automaton
from structured.index.cache import default_cache, load_index, load_layout, load_tables, save_index
from structured.index.index import Index
from structured.index.masks import MaskTable
from structured.output_types.combining.parts import Combination
from structured.output_types.grammar import Grammar
from structured.output_types.interface import automaton_of
from structured.output_types.output_type import OutputType
from structured.vocabulary import Vocabulary

_LOGGER = logging.getLogger(__name__)

KEPT_INDEXES = 64
"""Indexes kept in memory, the least recently used dropped first."""

WORTH_SAVING = 8
"""New masks, and a quarter of those saved before: so many more are written to disk."""


def compile_type(
    output_type: OutputType[Any], vocabulary: Vocabulary, *, document: str | None = None, cache: bool = False
) -> Index:
    """Return the index of a type over a vocabulary; what it learns while texts are written serves the next call.

    `document` is for types that depend on it; nothing of them is kept on disk. With `cache`, the index of any other
    type also starts with what other processes have learned.
    """
    return compiled_type(output_type, vocabulary, document=document, cache=cache).index()


def compiled_type(
    output_type: OutputType[Any], vocabulary: Vocabulary, *, document: str | None = None, cache: bool = False
) -> "CompiledType":
    """Return what has the index of a type, also when that becomes another one; see `compile_type`."""
    return _compiled(_Same(output_type), vocabulary, document, cache)


def load_grammars(output_type: OutputType[Any]) -> None:
    """Let the grammars of a type be read as other processes have, and for others to come, if there is a cache now.

    Raises GrammarError where one is refused.
    """
    disk = default_cache()
    if disk is None:
        return
    if isinstance(output_type, Grammar):
        load_tables(disk, output_type)
    for part in output_type.members if isinstance(output_type, Combination) else ():
        load_grammars(part)


class CompiledType:
    """The index of a type over a vocabulary: a new one for the next text, once the automaton of the last is worn."""

    def __init__(self, automaton: Automaton, make: Callable[[Automaton], Index]) -> None:
        self._make = make
        self._index = make(automaton)
        self._lock = Lock()

    def index(self) -> Index:
        """Return the index for another text."""
        with self._lock:
            if self._index.is_worn:
                self._index = self._make(self._index.automaton.renewed())
            return self._index


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """An output type as itself: what its author calls equal, if anything, may have another automaton."""

    output_type: OutputType[Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.output_type is other.output_type

    def __hash__(self) -> int:
        return id(self.output_type)


@lru_cache(maxsize=KEPT_INDEXES)
def _compiled(same: _Same, vocabulary: Vocabulary, document: str | None, cache: bool) -> CompiledType:
    wanted = same.output_type

    def index_of(automaton: Automaton) -> Index:
        return _new_index(automaton, vocabulary, wanted.name, cache=cache, is_kept=cache and document is None)

    if cache:
        load_grammars(wanted)
    return CompiledType(automaton_of(wanted, document), index_of)


def _new_index(automaton: Automaton, vocabulary: Vocabulary, name: str, *, cache: bool, is_kept: bool) -> Index:
    """Return the index of an automaton; it starts with what is on disk, and is kept there, if `is_kept`."""
    index = Index(automaton, vocabulary, table=_mask_table(vocabulary), name=name)
    disk = default_cache() if cache else None
    if disk is not None:
        load_layout(disk, vocabulary)
    if is_kept:
        _load(index)
    return index


def forget() -> None:
    """Drop the indexes that are kept in memory."""
    _compiled.cache_clear()


def related_index(index: Index, automaton: Automaton) -> Index:
    """Return the index of another automaton over the same vocabulary, with the same table.

    It starts with what other processes have learned, too, if the given one did.
    """
    related = Index(automaton, index.vocabulary, table=index.table)
    if index in _STATES_SAVED:
        _load(related)
    return related


def _load(index: Index) -> None:
    """Let an index be kept on disk, and start with what others have learned, if there is a cache now."""
    disk = default_cache()
    if disk is not None:
        load_index(disk, index)
        _LOGGER.debug("%d states were read from the cache", index.states_learned)
    _STATES_SAVED[index] = 0  # what it has learned from the disk, it counts itself


def save_learned(index: Index) -> None:
    """Save what an index has learned for later processes, if that is notably more than what was saved before.

    Nothing is saved of an index that was compiled without a cache, or for a document.
    """
    if index not in _STATES_SAVED:
        return
    disk = default_cache()
    saved = max(_STATES_SAVED[index], index.states_learned)
    if disk is not None and index.states_known >= saved + saved // 4 + WORTH_SAVING:
        _STATES_SAVED[index] = index.states_known
        save_index(disk, index)
        _LOGGER.debug("%d states were saved to the cache", index.states_known)


_STATES_SAVED: WeakKeyDictionary[Index, int] = WeakKeyDictionary()
_MASK_TABLES: WeakKeyDictionary[Vocabulary, MaskTable] = WeakKeyDictionary()


def _mask_table(vocabulary: Vocabulary) -> MaskTable:
    """Return the table that new indexes over a vocabulary share: a new one when the last is full.

    A full table goes when the last of its indexes does.
    """
    table = _MASK_TABLES.get(vocabulary)
    if table is None or table.is_full:
        table = _MASK_TABLES[vocabulary] = MaskTable(vocabulary.size)
    return table
