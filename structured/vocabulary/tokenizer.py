"""Tokenizers: the interfaces of a model's tokenizer, and the validated reading of the user's own."""

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
    """The tokenizer of a model that is not from transformers.

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
    """The members of a fast `transformers` tokenizer that are read here."""

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

    Every method raises VocabularyError, with the tokenizer, the value and the requirement.
    """

    tokenizer: Any

    @property
    def name(self) -> str:
        """The name of the tokenizer in messages."""
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
            raise VocabularyError(
                f"The tokenizer {self.name} {lacks} `{attribute}`. {_REQUIREMENTS[attribute]}"
            ) from error

    def tokens(self) -> tuple[bytes | None, ...]:
        """Return the bytes of each token id."""
        tokens: list[bytes | None] = []
        for token in self._items("tokens", self.read("tokens")):
            if token is not None and not isinstance(token, bytes):
                raise self._wrong("tokens", f"has {described(token)} as token {len(tokens)}")
            tokens.append(None if token is None else bytes(token))
        return tuple(tokens)

    def end_token_ids(self, size: int) -> frozenset[int]:
        """Return the tokens that end an answer, from any iterable, even an endless one."""
        ends = self.read("end_token_ids")
        if not isinstance(ends, Sized):
            try:
                ends = list(itertools.islice(ends, size + 1))
            except Exception as error:
                raise self._wrong("end_token_ids", f"is {described(ends)}") from error
        return frozenset(self._ids("end_token_ids", list(ends) if isinstance(ends, AbstractSet) else ends))

    def encode(self, size: int, text: str) -> list[int]:
        """Return the token ids of a text, for a vocabulary of that size."""
        encode = self.read("encode")
        try:
            encoded = encode(text)
        except StructuredError:
            raise
        except Exception as error:
            raise self._wrong("encode", f"raises {type(error).__name__} for {described(text)}: {error}") from error
        ids = self._ids("encode", encoded)
        if ids and max(ids) >= size:
            raise self._wrong("encode", f"returns {max(ids)} for {described(text)}, and there are {size} tokens")
        return ids

    def _ids(self, attribute: str, value: object) -> list[int]:
        """Return token ids, from any container of integers."""
        ids: list[int] = []
        for token_id in self._items(attribute, value):
            try:
                ids.append(index(token_id))
            except Exception as error:
                raise self._wrong(attribute, f"has {described(token_id)} as a token id") from error
            if isinstance(token_id, bool | np.bool_) or not 0 <= ids[-1] <= sys.maxsize:
                raise self._wrong(attribute, f"has {described(token_id)} as a token id")
        return ids

    def _items(self, attribute: str, value: Any) -> Iterator[Any]:
        """Yield the items of a list, a tuple, an array or a tensor."""
        problem = f"{'returns' if attribute == 'encode' else 'is'} {described(value)}"
        is_list = isinstance(value, Sized) and not isinstance(value, _NO_LISTS)
        if not is_list:
            raise self._wrong(attribute, problem)
        try:
            yield from itertools.islice(value.tolist() if hasattr(value, "tolist") else value, len(value))
        except Exception as error:
            raise self._wrong(attribute, f"{problem}, which cannot be read") from error

    def _wrong(self, attribute: str, what: str) -> VocabularyError:
        return VocabularyError(f"`{attribute}` of the tokenizer {self.name} {what}. {_REQUIREMENTS[attribute]}")


_NO_LISTS = (str, bytes, bytearray, memoryview, Mapping, AbstractSet)

_REQUIREMENTS = {
    "tokens": "It must be a list that has, for each token id, its bytes, or None where it may not be in an answer.",
    "end_token_ids": "It must be a list of the ids of the tokens that end an answer, such as [2].",
    "encode": "It must be a method that returns the token ids of a text, as a list of int.",
}
