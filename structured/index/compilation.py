"""The compilation of a language over a vocabulary into an index, and what indexes share and keep.

Indexes over one vocabulary share a table of masks. What an index learns about its states is kept on disk for other
processes.
"""

import logging
import re
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from typing_extensions import get_protocol_members

from structured.automata import Automaton, RegularAutomaton
from structured.automata.dfa.assertion_removal import matched_texts
from structured.errors.values import described
from structured.index.cache import default_cache, load_index, save_index
from structured.index.index import Index
from structured.index.masks import MaskTable
from structured.json_schema.document.location import Compilation, Reading
from structured.json_schema.schema_compiler import compiled, foundation
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, WhitespaceName, check_whitespace, read_whitespace
from structured.regex.character_classes import PYTHON
from structured.regex.class_parser import Flags
from structured.regex.regex_parser import whole_regex_to_pattern
from structured.vocabulary import Vocabulary

_LOGGER = logging.getLogger(__name__)

MIN_NEW_MASKS = 8
"""New masks that are worth writing to disk, beside a quarter of those saved before."""


def compile(  # noqa: A001  as in `re`
    language: Mapping[str, Any] | str | re.Pattern[str] | Automaton,
    vocabulary: Vocabulary,
    *,
    whitespace: WhitespaceName = DEFAULT_WHITESPACE,
) -> Index:
    r"""Return the index of a language over a vocabulary: the tokens that may follow in each state of a text.

    A mask is computed when a `Guide` first needs it, and kept for all later texts of the index.

    >>> from structured.index import Guide, Vocabulary, compile
    >>> vocabulary = Vocabulary((b"0", b"1", b"10", None), end_token_ids=frozenset({3}))
    >>> Guide(compile("10?", vocabulary), max_tokens=5).allowed(4)
    array([False,  True,  True, False])

    Parameters:
        language: A JSON Schema, a regular expression of Python or an automaton. Of a JSON Schema, a mapping, the
            language is the valid JSON texts, with properties in any order. A regular expression matches the whole text.
        vocabulary: The vocabulary of the model.
        whitespace: The whitespace between the tokens of JSON, as for `extract`.

    Raises:
        TypeError: The language is of another kind.
        SchemaError: A keyword of the schema cannot be enforced exactly, or no value is valid.
        PatternError: The regular expression is unsupported, or no text matches it.
        VocabularyError: The tokens of the vocabulary cannot spell any text of the language.
        ValueError: There is no whitespace of this name.
    """
    check_whitespace("whitespace", whitespace)
    return Index(_automaton_of(language, whitespace), vocabulary, table=_mask_table(vocabulary))


def _automaton_of(language: Any, whitespace: WhitespaceName) -> Automaton:
    if isinstance(language, Mapping):
        compilation = Compilation(language, read_whitespace(whitespace), Reading.SPECIFICATION, key_order="any")
        return RegularAutomaton(compiled(compilation), foundation=foundation())
    if isinstance(language, str):
        return _regex_to_automaton(language)
    if isinstance(language, re.Pattern) and isinstance(language.pattern, str):
        return _regex_to_automaton(language.pattern, language.flags)
    if all(hasattr(language, name) for name in get_protocol_members(Automaton)):
        automaton: Automaton = language
        return automaton
    raise TypeError(
        f"language is {described(language)}. Pass a JSON Schema as a mapping, a regular expression or an automaton."
    )


def _regex_to_automaton(source: str, flags: int = 0) -> RegularAutomaton:
    is_set = (bool(flags & flag) for flag in (re.IGNORECASE, re.MULTILINE, re.DOTALL, re.VERBOSE, re.ASCII))
    return RegularAutomaton(matched_texts(whole_regex_to_pattern(source, PYTHON, Flags(*is_set)), source))


class RenewedIndex:
    """The index of an automaton over a vocabulary: another one for the next text once the automaton is exhausted."""

    def __init__(self, automaton: Automaton, make: Callable[[Automaton], Index]) -> None:
        self._make = make
        self._index = make(automaton)
        self._lock = Lock()

    def index(self) -> Index:
        """Return the index for another text."""
        with self._lock:
            if self._index.is_exhausted:
                self._index = self._make(self._index.automaton.reset())
            return self._index

    @property
    def memory(self) -> int:
        """The bytes that its index holds, roughly."""
        return self._index.memory


def new_index(automaton: Automaton, vocabulary: Vocabulary, name: str, *, is_cached: bool) -> Index:
    """Return the index of an automaton; with `is_cached`, its masks are kept on disk for other processes."""
    index = Index(automaton, vocabulary, table=_mask_table(vocabulary), name=name)
    if is_cached:
        _load(index)
    return index


def related_index(index: Index, automaton: Automaton) -> Index:
    """Return the index of another automaton over the same vocabulary, with the same table.

    It starts with what other processes have learned, too, if the given one did.
    """
    related = Index(automaton, index.vocabulary, table=index.table)
    if index in _SAVED_COUNTS:
        _load(related)
    return related


def _load(index: Index) -> None:
    """Start an index with the masks that others have saved, if there is a cache now, and let its own be saved."""
    disk = default_cache()
    if disk is not None:
        load_index(disk, index)
        _LOGGER.debug("%d states were read from the cache", index.states_known)
    _SAVED_COUNTS[index] = index.states_known


def save_learned(index: Index) -> None:
    """Save what an index has learned for later processes, if that is notably more than what was saved before.

    Nothing is saved of an index that was compiled without a cache, or for a document.
    """
    if index not in _SAVED_COUNTS:
        return
    saved = _SAVED_COUNTS[index]
    if index.states_known < saved + saved // 4 + MIN_NEW_MASKS:
        return
    disk = default_cache()
    if disk is not None:
        _SAVED_COUNTS[index] = index.states_known
        save_index(disk, index)
        _LOGGER.debug("%d states were saved to the cache", index.states_known)


_SAVED_COUNTS: WeakKeyDictionary[Index, int] = WeakKeyDictionary()
"""For each index that is kept on disk, the states whose masks were saved or read there."""

_MASK_TABLES: WeakKeyDictionary[Vocabulary, MaskTable] = WeakKeyDictionary()


def _mask_table(vocabulary: Vocabulary) -> MaskTable:
    """Return the table that new indexes over a vocabulary share: a new one when the last is full.

    A full table goes when the last of its indexes does.
    """
    table = _MASK_TABLES.get(vocabulary)
    if table is None or table.is_full:
        table = _MASK_TABLES[vocabulary] = MaskTable(vocabulary.size)
    return table
