"""Compiled types: the index of an output type over a vocabulary, kept in memory for the next call.

Grammars are read from the disk cache as well, where another process has read them before.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from structured.automata import Automaton
from structured.index.cache import DiskCache, default_cache, key_of
from structured.index.compilation import RenewedIndex, new_index
from structured.index.index import Index
from structured.output_types.combining.parts import Combination
from structured.output_types.grammar import Grammar, learn_tables, sources_of, tables_of
from structured.output_types.output_type import OutputType, automaton_of
from structured.vocabulary import Vocabulary

KEPT_INDEXES = 64
"""Indexes kept in memory; the least recently used is dropped first."""


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
) -> RenewedIndex:
    """Return what has the index of a type, also when that becomes another one; see `compile_type`."""
    return _compiled(_Same(output_type), vocabulary, document, cache)


def load_grammars(output_type: OutputType[Any]) -> None:
    """Let the grammars of a type be read as other processes have, and for others to come, if there is a cache now.

    Raises GrammarError where one is refused.
    """
    if isinstance(output_type, Grammar) and (disk := default_cache()) is not None:
        _load_tables(disk, output_type)
    for part in output_type.members if isinstance(output_type, Combination) else ():
        load_grammars(part)


def _load_tables(cache: DiskCache, grammar: Grammar[Any]) -> None:
    """Let a grammar be read as another process has, or for others to come. Raises GrammarError if it is refused.

    Nothing is kept of one that imports from files, since those may change.
    """
    sources = sources_of(grammar)
    if sources is None:
        return
    key = key_of("grammar", *sources)
    arrays = cache.load(key)
    if arrays is not None:
        with suppress(ValueError, KeyError):
            learn_tables(grammar, arrays["tables"].tobytes())
            return
        cache.reject(key)
    cache.save(key, {"tables": np.frombuffer(tables_of(grammar), dtype=np.uint8)})


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """An output type as itself: what its author calls equal, if anything, may have another automaton."""

    output_type: OutputType[Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.output_type is other.output_type

    def __hash__(self) -> int:
        return id(self.output_type)


@lru_cache(maxsize=KEPT_INDEXES)
def _compiled(same: _Same, vocabulary: Vocabulary, document: str | None, cache: bool) -> RenewedIndex:
    output_type = same.output_type

    def index_of(automaton: Automaton) -> Index:
        return new_index(automaton, vocabulary, output_type.name, cache=cache, is_kept=cache and document is None)

    if cache:
        load_grammars(output_type)
    return RenewedIndex(automaton_of(output_type, document), index_of)


def forget() -> None:
    """Drop the indexes that are kept in memory."""
    _compiled.cache_clear()
