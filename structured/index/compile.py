"""A type and a vocabulary enter; an index leaves. The one place where the front half of the road is put together."""

from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from structured.automata import RegularAutomaton
from structured.index.cache import DiskCache, default_cache, load_index, load_layout, save_index
from structured.index.index import Index
from structured.index.masks import MaskTable
from structured.json_schema.compile import compiled, foundation
from structured.json_schema.document.place import Optionals
from structured.output_types.optional_fields import Absent
from structured.output_types.output_type import OutputType, read_type
from structured.regex import Pattern
from structured.vocabulary import Vocabulary

KEPT_INDEXES = 64
"""Indexes kept in memory, the least recently used dropped first."""

WORTH_SAVING = 8
"""New masks, and a quarter of those saved before: so many more are written to disk."""


def resolve_type(output_type: object, absent: Absent | None = None) -> OutputType[Any]:
    """Return what is known of a type; the same object every time, if the type can be told from others by its hash.

    With `absent`, its schema lets the fields be null that a text may not state.
    """
    paths = absent if absent is None or absent is True or isinstance(absent, str) else tuple(absent)
    try:
        hash(output_type)
    except Exception:  # noqa: BLE001  the value's own code may raise anything
        return _read(output_type, paths)
    return _read_once(output_type, paths)


def _read(output_type: object, absent: Absent | None) -> OutputType[Any]:
    known = read_type(output_type)
    return known if absent is None else known.with_absence(absent)


_read_once = lru_cache(maxsize=KEPT_INDEXES)(_read)


@lru_cache(maxsize=KEPT_INDEXES)
def type_to_pattern(output_type: OutputType[Any], *, whitespace: str, optional: Optionals = "written") -> Pattern:
    """Return the pattern of a type. Raises SchemaError where it cannot be honoured; that needs no model."""
    return compiled(output_type.compilation(whitespace, optional))


@lru_cache(maxsize=KEPT_INDEXES)
def compile_type(
    output_type: OutputType[Any],
    vocabulary: Vocabulary,
    *,
    whitespace: str,
    optional: Optionals = "written",
    cache: bool = False,
) -> Index:
    """Return the index of a type over a vocabulary; what it learns while texts are written serves the next call.

    With `cache`, it also starts with what other processes have learned.
    """
    automaton = RegularAutomaton(
        type_to_pattern(output_type, whitespace=whitespace, optional=optional), foundation=foundation()
    )
    index = Index(automaton, vocabulary, table=_mask_table(vocabulary))
    disk = default_cache() if cache else None
    if disk is not None:
        load_layout(disk, vocabulary)
        _load(disk, index)
    return index


def related_index(index: Index, pattern: Pattern) -> Index:
    """Return the index of another pattern over the same vocabulary, with the same table.

    It starts with what other processes have learned, too, if the given one did.
    """
    related = Index(RegularAutomaton(pattern, foundation=foundation()), index.vocabulary, table=index.table)
    disk = default_cache() if index in _STATES_SAVED else None
    if disk is not None:
        _load(disk, related)
    return related


def _load(disk: DiskCache, index: Index) -> None:
    load_index(disk, index)
    _STATES_SAVED[index] = 0  # what it has learned from the disk, it counts itself


def keep(index: Index) -> None:
    """Save what an index has learned for later processes, if that is notably more than what was saved before."""
    disk = default_cache()
    saved = max(_STATES_SAVED.get(index, 0), index.states_learned)
    if disk is not None and index.states_known >= saved + saved // 4 + WORTH_SAVING:
        _STATES_SAVED[index] = index.states_known
        save_index(disk, index)


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
