"""Tokenizers: what a model brings along, and the validated reading of one that is the user's own."""

import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from operator import index
from typing import Any, Protocol

import numpy as np

from structured.errors import StructuredError, VocabularyError
from structured.errors.values import described


class Tokenizer(Protocol):
    """What a model that is not from transformers brings along.

    `tokens` holds the bytes of each token id (None: never allowed inside an answer, as for special tokens);
    `end_token_ids` are the tokens that end an answer.
    """

    @property
    def tokens(self) -> Sequence[bytes | None]:
        """The bytes of each token id."""
        ...

    @property
    def end_token_ids(self) -> Iterable[int]:
        """The tokens that end an answer."""
        ...

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a prompt, with a beginning-of-text token where the model wants one."""
        ...


class TransformersTokenizer(Protocol):
    """The part of a fast `transformers` tokenizer that is read here."""

    @property
    def backend_tokenizer(self) -> Any:
        """The `tokenizers.Tokenizer` inside."""
        ...

    @property
    def all_special_ids(self) -> list[int]:
        """Ids of the special tokens."""
        ...

    @property
    def eos_token_id(self) -> int | None:
        """The end-of-text token."""
        ...


@dataclass(frozen=True, slots=True)
class TokenizerReader:
    """A tokenizer's attributes, validated.

    Every method raises VocabularyError, which names the tokenizer, what came and what is wanted.
    """

    tokenizer: Any

    @property
    def name(self) -> str:
        """What to call the tokenizer in messages."""
        return type(self.tokenizer).__name__

    def read(self, attribute: str) -> Any:
        """Return an attribute."""
        if isinstance(self.tokenizer, type):
            name = self.tokenizer.__name__
            raise VocabularyError(f"The tokenizer is the class {name}. Pass an instance of it: {name}(…).")
        try:
            return getattr(self.tokenizer, attribute)
        except Exception as error:
            lacks = "lacks" if isinstance(error, AttributeError) else f"raises {type(error).__name__} for"
            raise VocabularyError(f"The tokenizer {self.name} {lacks} `{attribute}`. {_WANTED[attribute]}") from error

    def tokens(self) -> tuple[bytes | None, ...]:
        """Return the bytes of each token id."""
        given = self.read("tokens")
        found: list[bytes | None] = []
        for token in self._items("tokens", given):
            if token is not None and not isinstance(token, bytes):
                raise self._wrong("tokens", f"has {described(token)} as token {len(found)}")
            found.append(None if token is None else bytes(token))
        return tuple(found)

    def end_token_ids(self, size: int) -> frozenset[int]:
        """Return the tokens that end an answer; of more than there are tokens, not all, as they may have no end."""
        given = self.read("end_token_ids")
        if not isinstance(given, Sized):  # anything to iterate over will do
            try:
                given = list(itertools.islice(given, size + 1))
            except Exception as error:
                raise self._wrong("end_token_ids", f"is {described(given)}") from error
        return frozenset(self._ids("end_token_ids", list(given) if isinstance(given, AbstractSet) else given))

    def encode(self, size: int, text: str) -> list[int]:
        """Return the token ids of a text, for a vocabulary of that size."""
        encode = self.read("encode")
        try:
            found = encode(text)
        except StructuredError:
            raise
        except Exception as error:
            raise self._wrong("encode", f"raises {type(error).__name__} for {described(text)}: {error}") from error
        ids = self._ids("encode", found)
        if ids and max(ids) >= size:
            raise self._wrong("encode", f"returns {max(ids)} for {described(text)}, and there are {size} tokens")
        return ids

    def _ids(self, attribute: str, given: object) -> list[int]:
        """Return token ids, from whatever holds integers."""
        found: list[int] = []
        for token_id in self._items(attribute, given):
            try:
                found.append(index(token_id))
            except Exception as error:
                raise self._wrong(attribute, f"has {described(token_id)} as a token id") from error
            if isinstance(token_id, bool | np.bool_) or not 0 <= found[-1] <= sys.maxsize:
                raise self._wrong(attribute, f"has {described(token_id)} as a token id")
        return found

    def _items(self, attribute: str, given: Any) -> Iterator[Any]:
        """Yield what is in a list, a tuple, an array or a tensor, and nothing from what is of another kind."""
        is_list = isinstance(given, Sized) and not isinstance(given, _NO_LISTS)
        if not is_list:
            raise self._wrong(attribute, f"{_VERBS.get(attribute, 'is')} {described(given)}")
        try:
            yield from itertools.islice(given.tolist() if hasattr(given, "tolist") else given, len(given))
        except Exception as error:
            what = f"{_VERBS.get(attribute, 'is')} {described(given)}, which cannot be read"
            raise self._wrong(attribute, what) from error

    def _wrong(self, attribute: str, what: str) -> VocabularyError:
        return VocabularyError(f"`{attribute}` of the tokenizer {self.name} {what}. {_WANTED[attribute]}")


_VERBS = {"encode": "returns"}
"""What is said of a method and what it has for a result; of others, that they are something."""

_NO_LISTS = (str, bytes, bytearray, memoryview, Mapping, AbstractSet)

_WANTED = {
    "tokens": "It must be a list that has, for each token id, its bytes, or None where it may not be in an answer.",
    "end_token_ids": "It must be a list of the ids of the tokens that end an answer, such as [2].",
    "encode": "It must be a method that returns the token ids of a text, as a list of int.",
}
