"""The library behind the six methods that a harness for guided generation drives it by, so that anybody's can.

Schemas are read as `JsonSchema(schema, key_order="any")` reads them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.automata import DEAD, RegularAutomaton
from structured.index.index import Index
from structured.index.masks import MaskTable
from structured.json_schema.document.location import Compilation, KeyOrder, Reading
from structured.json_schema.schema_compiler import compiled, foundation
from structured.json_schema.whitespace import read_whitespace
from structured.vocabulary import TransformersTokenizer, Vocabulary

MAX_MASK_BYTES = 1 << 25
"""Of masks kept for all schemas together."""


class Engine:
    """One vocabulary, one schema at a time, one text at a time."""

    key_order: KeyOrder = "any"

    def __init__(self, hf_tokenizer: TransformersTokenizer) -> None:
        self.vocabulary = Vocabulary.from_transformers(hf_tokenizer)
        self.vocabulary.trie  # noqa: B018  belongs to the vocabulary, not to a schema
        self.vocabulary.string_tries  # noqa: B018
        self.vocabulary.tries_by_length  # noqa: B018
        self._table = MaskTable(self.vocabulary.size, max_bytes=MAX_MASK_BYTES)
        self._index: Index | None = None
        self._state = DEAD

    def compile(self, schema: Mapping[str, Any]) -> None:
        """Take a schema. Raises SchemaError or PatternError if it is not supported."""
        if self._table.is_full:
            self._table = MaskTable(self.vocabulary.size, max_bytes=MAX_MASK_BYTES)
        compilation = Compilation(schema, read_whitespace("any"), Reading.SPECIFICATION, key_order=self.key_order)
        automaton = RegularAutomaton(compiled(compilation), foundation=foundation())
        self._index = Index(automaton, self.vocabulary, table=self._table)
        self.reset()

    def reset(self) -> None:
        """Go back to the beginning of a text."""
        self._state = self._compiled.automaton.start

    def compute_mask(self) -> NDArray[np.int32]:
        """Return the tokens that may come next, 32 to a word."""
        return self._compiled.mask(self._state)

    def commit(self, token_id: int) -> bool:
        """Take a token; return False, and stay, if it is not allowed. An end token is, where the text may end."""
        if token_id in self.vocabulary.end_token_ids:
            return self.can_end()
        if not 0 <= token_id < self.vocabulary.size:
            return False
        successor = self._compiled.step(self._state, token_id)
        if successor == DEAD:
            return False
        self._state = successor
        return True

    def can_end(self) -> bool:
        """Tell whether the text may end here."""
        return self._compiled.automaton.accepts(self._state)

    @property
    def _compiled(self) -> Index:
        if self._index is None:
            raise RuntimeError("No schema has been compiled yet. Call compile first.")
        return self._index


class OrderedEngine(Engine):
    """The same with properties in the order of the schema alone."""

    key_order = "schema"
