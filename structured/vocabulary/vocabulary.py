"""Vocabularies: the tokenizers they are read from, the exact bytes of each token, and facts that follow from them."""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice, pairwise
from operator import index
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from structured.errors import StructuredError, VocabularyError
from structured.errors.values import described
from structured.vocabulary.trie import StringTries, TokenBytes, Trie, unescaped_lengths


class Tokenizer(Protocol):
    """The tokenizer of a model that is not from transformers.

    `tokens` holds the bytes of each token id (None: never allowed inside an answer, as for special tokens);
    `end_token_ids` are the tokens that end an answer.
    """

    @property
    def tokens(self) -> Sequence[bytes | None]:
        """The bytes of each token id."""

    @property
    def end_token_ids(self) -> Collection[int]:
        """The tokens that end an answer."""

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a prompt, with a beginning-of-text token where the model wants one."""


class TransformersTokenizer(Protocol):
    """The members of a fast `transformers` tokenizer that are read here."""

    @property
    def backend_tokenizer(self) -> Any:
        """The `tokenizers.Tokenizer` inside."""

    @property
    def all_special_ids(self) -> list[int]:
        """Ids of the special tokens."""

    @property
    def eos_token_id(self) -> int | None:
        """The end-of-text token."""


class TokenizerReader:
    """A tokenizer's attributes, validated: VocabularyError has the tokenizer, the value and the requirement."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.name = type(tokenizer).__name__

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
        tokens = list(self._items("tokens", self.read("tokens")))
        for token_id, token in enumerate(tokens):
            if not isinstance(token, bytes | None):
                raise self._wrong("tokens", f"has {described(token)} as token {token_id}")
        return tuple(tokens)

    def end_token_ids(self) -> frozenset[int]:
        """Return the tokens that end an answer, also from a set."""
        ends = self.read("end_token_ids")
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
                number = -1 if isinstance(token_id, bool) else index(token_id)
            except Exception:  # noqa: BLE001  the value's own code may raise anything
                number = -1
            if not 0 <= number <= sys.maxsize:
                raise self._wrong(attribute, f"has {described(token_id)} as a token id")
            ids.append(number)
        return ids

    def _items(self, attribute: str, value: Any) -> Iterator[Any]:
        """Yield the items of a list, a tuple, an array or a tensor."""
        problem = f"{'returns' if attribute == 'encode' else 'is'} {described(value)}"
        if not isinstance(value, Sized) or isinstance(value, _NO_LISTS):
            raise self._wrong(attribute, problem)
        try:
            items: Any = value.tolist() if hasattr(value, "tolist") else value
            yield from islice(items, len(value))
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


UTF8_BYTES = frozenset((*range(0xC0), *range(0xC2, 0xF5)))
"""Every byte that occurs in UTF-8 text (RFC 3629)."""

_NEXT_ITEM = re.compile(rb"[]}][ \t\n\r]*,")
"""The end of a JSON array or object, and the comma before the next item."""

LENGTH_BOUNDS = (8, 16, 32)
"""Bounds of the lengths of tokens, in bytes, with tries of their own for counting: nearly none exceed 32."""


def bytes_text(values: Iterable[int]) -> str:
    """Return bytes as messages show them: `0x04, 0xF1`, and `…` after eight."""
    shown = sorted(values)
    return ", ".join(f"0x{byte:02X}" for byte in shown[:8]) + (", …" if len(shown) > 8 else "")


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The bytes of every token of a model.

    `tokens[i]` are the bytes of token `i`, None where it may not occur inside an answer. Usually every byte of UTF-8 is
    a token by itself, so that any text can be spelled; otherwise see `absent_bytes` and `has_byte_tokens`. `encode` is
    the tokenizer's own spelling of a text, without a beginning-of-text token; a first space of its own does no harm.
    """

    tokens: tuple[bytes | None, ...]
    end_token_ids: frozenset[int]
    encode: Callable[[str], Sequence[int]] | None = field(default=None, repr=False)
    _unescaped_masks: dict[int, NDArray[np.uint32]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        kinds = {type(token) for token in self.tokens}
        others = sorted(kind.__name__ for kind in kinds if not issubclass(kind, bytes | type(None)))
        if others:
            raise VocabularyError(f"The tokens of a vocabulary are bytes or None, and some are of {', '.join(others)}.")
        ends = sorted(self.end_token_ids)
        wrong = [i for i in ends if not 0 <= i < len(self.tokens) or self.tokens[i] is not None]
        if wrong or not ends:
            shown = ", ".join(map(str, ends[:8])) + (", …" if len(ends) > 8 else "")
            raise VocabularyError(
                f"The end tokens [{shown}] must be at least one, lie inside the vocabulary of "
                f"{len(self.tokens)} tokens, and have no bytes of their own. Name the model's end-of-text token."
            )

    def __repr__(self) -> str:
        absent = f", without {bytes_text(self.absent_bytes)}" if self.absent_bytes else ""
        return f"Vocabulary({len(self.tokens):,} tokens, end={sorted(self.end_token_ids)}{absent})"

    @property
    def size(self) -> int:
        """The number of token ids."""
        return len(self.tokens)

    @cached_property
    def absent_bytes(self) -> frozenset[int]:
        """The bytes of UTF-8 that are in no token: no text with them can be written."""
        others = UTF8_BYTES - self._single_bytes
        return others.difference(b"".join(token for token in self.tokens if token)) if others else others

    @cached_property
    def has_byte_tokens(self) -> bool:
        """Whether each byte in some token is a token by itself, so that a text takes no more tokens than bytes.

        If not, there are texts without a spelling, although each of their bytes is in a token.
        """
        return UTF8_BYTES - self._single_bytes == self.absent_bytes

    @cached_property
    def is_byte_present(self) -> NDArray[np.bool_]:
        """Whether each byte of UTF-8 is in some token, shape (256,)."""
        flags = np.zeros(256, dtype=np.bool_)
        flags[list(UTF8_BYTES - self.absent_bytes)] = True
        return flags

    @cached_property
    def _single_bytes(self) -> frozenset[int]:
        return frozenset(token[0] for token in self.tokens if token and len(token) == 1)

    @cached_property
    def fingerprint(self) -> bytes:
        """A digest of all tokens and end tokens; vocabularies with the same digest share compiled types."""
        has_bytes = np.fromiter((token is not None for token in self.tokens), dtype=np.bool_, count=self.size)
        lengths = np.where(has_bytes, self._bytes.lengths, np.int32(-1))
        digest = hashlib.sha256(f"{self.size} {sorted(self.end_token_ids)}".encode())
        digest.update(lengths.astype("<i4").tobytes())
        digest.update(self._bytes.text.tobytes())
        return digest.digest()

    @cached_property
    def _bytes(self) -> TokenBytes:
        """The bytes of all tokens side by side."""
        return TokenBytes.of(self.tokens)

    @cached_property
    def trie(self) -> Trie:
        """The tokens as a trie, laid out at first use."""
        return Trie.of(self._bytes)

    @cached_property
    def trie_without_unescaped(self) -> Trie:
        """The tokens that are not unescaped, as a trie, laid out at first use; see `unescaped_lengths`."""
        return Trie.of(self._bytes, self.unescaped_lengths == 0)

    @cached_property
    def string_tries(self) -> StringTries:
        """The tokens of `trie_without_unescaped` that may be in a JSON string or end it, laid out at first use."""
        return StringTries.of(self._bytes, self.unescaped_lengths > 0)

    @cached_property
    def tries_by_length(self) -> tuple[tuple[int, Trie], ...]:
        """Tries of the tokens by their lengths, each after its longest in bytes, laid out at first use."""
        lengths, height = self._bytes.lengths, self.trie.height
        bounds = (0, *(bound for bound in LENGTH_BOUNDS if bound < height), height)
        return tuple(
            (longest, Trie.of(self._bytes, (shorter < lengths) & (lengths <= longest)))
            for shorter, longest in pairwise(bounds)
        )

    @cached_property
    def next_item_tokens(self) -> list[int]:
        """The tokens that may end an array or object of JSON and go on to the next item: `],`, `"]} ,{`."""
        return [token_id for token_id, token in enumerate(self.tokens) if token and _NEXT_ITEM.search(token)]

    @cached_property
    def next_item_tokens_with_quote(self) -> list[int]:
        """The tokens of `next_item_tokens` with a quote: no other can end a string first."""
        return [token_id for token_id in self.next_item_tokens if b'"' in (self.tokens[token_id] or b"")]

    @cached_property
    def unescaped_lengths(self) -> NDArray[np.int32]:
        """The characters of each *unescaped* token, 0 for all others; shape (size,).

        Unescaped tokens may come anywhere in a JSON string: whole characters, none of which needs an escape.
        """
        return unescaped_lengths(self._bytes)

    @cached_property
    def longest_unescaped(self) -> int:
        """The characters of the longest unescaped token."""
        return int(self.unescaped_lengths.max())

    @cached_property
    def distinct_unescaped_lengths(self) -> list[int]:
        """The lengths of unescaped tokens in characters, in order, each once."""
        lengths: list[int] = np.unique(self.unescaped_lengths[self.unescaped_lengths > 0]).tolist()
        return lengths

    def unescaped_mask(self, max_characters: int) -> NDArray[np.uint32]:
        """Return a mask of the unescaped tokens of at most that many characters, 32 tokens to a word."""
        mask = self._unescaped_masks.get(max_characters)
        if mask is None:
            bits = np.zeros(-(-self.size // 32) * 32, dtype=np.bool_)
            bits[: self.size] = (self.unescaped_lengths > 0) & (self.unescaped_lengths <= max_characters)
            mask = self._unescaped_masks[max_characters] = np.packbits(bits, bitorder="little").view(np.uint32)
        return mask

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer) -> "Vocabulary":
        """Take the vocabulary of a tokenizer that has its bytes itself. Raises VocabularyError; so does `encode`."""
        reader = TokenizerReader(tokenizer)
        tokens = reader.tokens()
        ends = reader.end_token_ids()
        reader.read("encode")
        try:
            return cls(tokens, ends, partial(reader.encode, len(tokens)))
        except VocabularyError as error:
            raise VocabularyError(f"The tokenizer {reader.name} cannot be used. {error}") from None

    @classmethod
    def from_transformers(
        cls, tokenizer: TransformersTokenizer, *, end_token_ids: Iterable[int] | None = None
    ) -> "Vocabulary":
        """Read the vocabulary of a fast `transformers` tokenizer.

        `end_token_ids` defaults to the tokenizer's own end-of-text token; chat models often have several.
        """
        backend = getattr(tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise VocabularyError(
                f"{type(tokenizer).__name__} is not a fast tokenizer, so the bytes of its tokens are unknown. "
                "Load the fast one, or pass an object with `tokens`, `end_token_ids` and `encode`."
            )
        # The state of a decoder is its part of tokenizer.json.
        piece_to_bytes = piece_reader({} if backend.decoder is None else json.loads(backend.decoder.__getstate__()))
        added = backend.get_added_tokens_decoder()
        if end_token_ids is None:
            end_token_ids = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
        ends = frozenset(end_token_ids)
        excluded_ids = ends | set(tokenizer.all_special_ids) | {i for i, token in added.items() if token.special}
        pieces: Mapping[str, int] = backend.get_vocab(with_added_tokens=True)
        tokens: list[bytes | None] = [None] * (max(*pieces.values(), *ends) + 1)
        # A token added to byte-level BPE is spelled as its text; one added to SentencePiece ("▁▁" in Gemma) as a piece.
        spelled_as_text = added if piece_to_bytes is byte_level_bytes else {}
        for piece, token_id in pieces.items():
            if token_id not in excluded_ids:
                tokens[token_id] = piece.encode() if token_id in spelled_as_text else piece_to_bytes(piece)
        return cls(tuple(tokens), ends, lambda text: list(backend.encode(text, add_special_tokens=False).ids))


def piece_reader(decoder: Mapping[str, Any]) -> Callable[[str], bytes]:
    """Return the function from a token's spelling in the tokenizer to its bytes, as the definition of its decoder."""
    steps = {step["type"]: step for step in decoder.get("decoders", [decoder]) if step}
    if "ByteLevel" in steps:
        return byte_level_bytes
    if "ByteFallback" in steps or "Metaspace" in steps:
        return _sentencepiece_bytes
    raise VocabularyError(
        f"The bytes of this tokenizer's tokens are unknown: its decoder is {sorted(steps) or 'missing'}, and only "
        "byte-level BPE and SentencePiece with byte fallback are read. Use a model with such a tokenizer, or pass an "
        "object with `tokens`, `end_token_ids` and `encode`."
    )


_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]

BYTE_ALPHABET = {chr(byte): byte for byte in _PRINTABLE} | {
    chr(0x100 + i): byte for i, byte in enumerate(sorted({*range(256)} - {*_PRINTABLE}))
}
"""Printable stand-ins of bytes in byte-level BPE (Radford et al., GPT-2, 2019): for those printable in Latin-1 these
themselves, and for the others U+0100 and on, in order."""


def byte_level_bytes(piece: str) -> bytes:
    r"""`Ġhé` spelled as `ĠhÃ©` → `b" h\xc3\xa9"`; a piece outside the byte alphabet stands for its own text."""
    try:
        return bytes(map(BYTE_ALPHABET.__getitem__, piece))
    except KeyError:
        return piece.encode()


_BYTE_PIECE = re.compile("<0x[0-9A-Fa-f+][0-9A-Fa-f]>")
"""A piece that names a byte. The decoder of `tokenizers` reads `+` as a sign."""


def _sentencepiece_bytes(piece: str) -> bytes:
    r"""`▁the` → `b" the"`, `<0x0A>` → `b"\n"`; `<0xZZ>` is its own text, as for the decoder of `tokenizers`."""
    if _BYTE_PIECE.fullmatch(piece):
        return bytes([int(piece[3:5], 16)])
    return piece.replace("▁", " ").encode()
