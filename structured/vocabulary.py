"""A tokenizer enters; the exact bytes of each of its tokens leave, and a trie of them laid out in depth-first order.

Tokens are never decoded one by one with the tokenizer's own `decode`: that strips spaces and turns half a character
into U+FFFD. The bytes are read from the tokenizer's definition instead: the byte alphabet of byte-level BPE (GPT-2,
Llama 3, Tekken, Qwen …), or SentencePiece pieces with byte fallback (Llama 2, Mistral, Gemma …).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from structured.automata.utf8 import byte_sequences
from structured.errors import VocabularyError
from structured.schema.strings import UNESCAPED

UTF8_BYTES = frozenset((*range(0xC0), *range(0xC2, 0xF5)))
"""Every byte that occurs in UTF-8 text (RFC 3629)."""


def _plain_sequences() -> NDArray[np.int32]:
    sequences = byte_sequences(UNESCAPED.ranges)
    padded = [[*sequence, *[(-1, -1)] * (4 - len(sequence))] for sequence in sequences]
    return np.array(padded, dtype=np.int32)


PLAIN_SEQUENCES = _plain_sequences()
"""The characters that a JSON string may hold unescaped, as ranges of bytes, shape (sequences, 4, 2), padded with -1."""


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


@dataclass(frozen=True, eq=False, slots=True)
class Trie:
    """The tokens as a trie, its nodes (less the root) in depth-first order, children by byte.

    All arrays but `token_ids` have one entry a node. The tokens that end at node `i` are
    `token_ids[token_start[i]:token_start[i + 1]]`; more than one where different ids have the same bytes.
    """

    byte: NDArray[np.uint8]
    depth: NDArray[np.int32]
    """0 for a token's first byte."""
    subtree_end: NDArray[np.int32]
    """The node after the last one of the subtree."""
    token_start: NDArray[np.int32]
    token_ids: NDArray[np.int32]
    height: int
    """The number of bytes of the longest token."""

    @classmethod
    def from_tokens(cls, tokens: Sequence[bytes | None]) -> "Trie":
        """Lay out the tokens that have bytes; the others are left out."""
        order = sorted((token, token_id) for token_id, token in enumerate(tokens) if token)
        byte: list[int] = []
        depth: list[int] = []
        subtree_end: list[int] = []
        token_start: list[int] = []
        path: list[int] = []
        previous = b""
        for position, (token, _) in enumerate(order):
            shared = _common_prefix(previous, token)
            for node in path[shared:]:
                subtree_end[node] = len(byte)
            del path[shared:]
            for level in range(shared, len(token)):
                path.append(len(byte))
                byte.append(token[level])
                depth.append(level)
                subtree_end.append(0)
                token_start.append(position)
            previous = token
        for node in path:
            subtree_end[node] = len(byte)
        return cls(
            np.array(byte, dtype=np.uint8),
            np.array(depth, dtype=np.int32),
            np.array(subtree_end, dtype=np.int32),
            # Nodes and sorted tokens are in the same order, so the tokens of a node reach up to those of the next; an
            # inner node was made for the same token as its first child, and holds none.
            np.array([*token_start, len(order)], dtype=np.int32),
            np.array([token_id for _, token_id in order], dtype=np.int32),
            max(depth, default=-1) + 1,
        )


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """A vocabulary as compiled loops read it.

    Tokens are *plain* that may stand anywhere in a JSON string: whole characters, none of them special. `plain_lengths`
    tells how many characters each token has, 0 if it is not plain, shape (size,); `special_trie` has those of length 0.
    """

    trie: Trie
    special_trie: Trie
    plain_lengths: NDArray[np.int32]

    @classmethod
    def from_tokens(cls, tokens: Sequence[bytes | None]) -> "Layout":
        """Lay out some tokens."""
        lengths = [_plain_length(token) for token in tokens]
        special = [None if length else token for token, length in zip(tokens, lengths, strict=True)]
        return cls(Trie.from_tokens(tokens), Trie.from_tokens(special), np.array(lengths, dtype=np.int32))


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The bytes of every token of a model.

    `tokens[i]` are the bytes of token `i`, None where it may not occur inside an answer. Every byte of UTF-8 must be a
    token by itself, so that whatever text is legal can be spelled.
    """

    tokens: tuple[bytes | None, ...]
    end_token_ids: frozenset[int]

    def __post_init__(self) -> None:
        missing = UTF8_BYTES - {token[0] for token in self.tokens if token and len(token) == 1}
        if missing:
            shown = ", ".join(f"0x{byte:02X}" for byte in sorted(missing)[:8]) + (", …" if len(missing) > 8 else "")
            raise VocabularyError(
                f"The vocabulary has no single-byte token for {len(missing)} of the bytes of UTF-8 ({shown}), so it "
                "cannot spell every text. Use a tokenizer with a byte-level alphabet or with byte fallback."
            )
        wrong = [i for i in sorted(self.end_token_ids) if not 0 <= i < len(self.tokens) or self.tokens[i] is not None]
        if wrong or not self.end_token_ids:
            raise VocabularyError(
                f"The end tokens {sorted(self.end_token_ids)} must be at least one, lie inside the vocabulary of "
                f"{len(self.tokens)} tokens, and have no bytes of their own. Name the model's end-of-text token."
            )

    def __repr__(self) -> str:
        return f"Vocabulary({len(self.tokens):,} tokens, end={sorted(self.end_token_ids)})"

    @property
    def size(self) -> int:
        """The number of token ids."""
        return len(self.tokens)

    @cached_property
    def fingerprint(self) -> bytes:
        """A digest of all tokens and end tokens: what is made of one vocabulary is right for another with the same."""
        lengths = np.array([-1 if token is None else len(token) for token in self.tokens], dtype="<i4")
        digest = hashlib.sha256(f"{self.size} {sorted(self.end_token_ids)}".encode())
        digest.update(lengths.tobytes())
        digest.update(b"".join(token for token in self.tokens if token))
        return digest.digest()

    @cached_property
    def layout(self) -> Layout:
        """The tokens as compiled loops read them, laid out at first use."""
        return Layout.from_tokens(self.tokens)

    def lay_out(self, layout: Layout) -> None:
        """Use a layout that was made of the same tokens before."""
        self.__dict__["layout"] = layout

    @property
    def is_laid_out(self) -> bool:
        """Whether the layout is there already."""
        return "layout" in self.__dict__

    @property
    def trie(self) -> Trie:
        """The tokens as a trie."""
        return self.layout.trie

    @property
    def special_trie(self) -> Trie:
        """Those that are not plain."""
        return self.layout.special_trie

    @property
    def plain_lengths(self) -> NDArray[np.int32]:
        """The characters of each token that is plain, 0 for all others; shape (size,)."""
        return self.layout.plain_lengths

    @cached_property
    def longest_plain(self) -> int:
        """The characters of the longest plain token."""
        return int(self.plain_lengths.max())

    @cached_property
    def plain_counts(self) -> list[int]:
        """The numbers of characters that there are plain tokens of, in order."""
        counts: list[int] = np.unique(self.plain_lengths[self.plain_lengths > 0]).tolist()
        return counts

    def plain(self, characters: int) -> NDArray[np.uint32]:
        """Return a mask of the plain tokens of at most so many characters; a new array each time."""
        known = self._plain_masks.get(characters)
        if known is None:
            bits = np.zeros(-(-self.size // 32) * 32, dtype=np.bool_)
            bits[: self.size] = (self.plain_lengths > 0) & (self.plain_lengths <= characters)
            known = self._plain_masks[characters] = np.packbits(bits, bitorder="little").view(np.uint32)
        return known.copy()

    @cached_property
    def _plain_masks(self) -> dict[int, NDArray[np.uint32]]:
        return {}

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer) -> "Vocabulary":
        """Take the vocabulary of a tokenizer that tells its bytes itself."""
        return cls(tuple(tokenizer.tokens), frozenset(tokenizer.end_token_ids))

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
        definition = json.loads(backend.to_str())
        piece_to_bytes = _piece_reader(definition)
        added = {token["id"]: token for token in definition.get("added_tokens", [])}
        if end_token_ids is None:
            end_token_ids = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
        ends = frozenset(end_token_ids)
        hidden = ends | set(tokenizer.all_special_ids) | {i for i, token in added.items() if token["special"]}
        pieces: Mapping[str, int] = backend.get_vocab(with_added_tokens=True)
        tokens: list[bytes | None] = [None] * (max(*pieces.values(), *ends) + 1)
        # A token added to byte-level BPE is spelled as its text; one added to SentencePiece ("▁▁" in Gemma) as a piece.
        plain = added if piece_to_bytes is _byte_level_bytes else {}
        for piece, token_id in pieces.items():
            if token_id not in hidden:
                tokens[token_id] = piece.encode() if token_id in plain else piece_to_bytes(piece)
        return cls(tuple(tokens), ends)


def _plain_length(token: bytes | None) -> int:
    """Return the characters of a token if a JSON string may hold each of them unescaped (RFC 8259 §7), else 0."""
    if not token or min(token) < 0x20 or b'"' in token or b"\\" in token:
        return 0
    try:
        return len(token.decode())
    except UnicodeDecodeError:
        return 0


class _PieceReader(Protocol):
    def __call__(self, piece: str, /) -> bytes: ...


def _piece_reader(definition: Mapping[str, Any]) -> _PieceReader:
    """Return the function from a token's spelling in the tokenizer to its bytes."""
    decoder = definition.get("decoder") or {}
    steps = {step["type"]: step for step in decoder.get("decoders", [decoder]) if step}
    if "ByteLevel" in steps:
        return _byte_level_bytes
    if "ByteFallback" in steps or "Metaspace" in steps:
        return _sentencepiece_bytes
    raise VocabularyError(
        f"The bytes of this tokenizer's tokens are unknown: its decoder is {sorted(steps) or 'missing'}, and only "
        "byte-level BPE and SentencePiece with byte fallback are read. Use a model with such a tokenizer, or pass an "
        "object with `tokens`, `end_token_ids` and `encode`."
    )


def _byte_alphabet() -> dict[str, int]:
    """Return the printable stand-in of each byte in byte-level BPE (Radford et al., GPT-2, 2019).

    Bytes that are printable in Latin-1 stand for themselves, the others for U+0100 and on, in order.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


_BYTE_ALPHABET = _byte_alphabet()


def _byte_level_bytes(piece: str) -> bytes:
    r"""`Ġhé` spelled as `ĠhÃ©` → `b" h\xc3\xa9"`; a piece outside the byte alphabet stands for its own text."""
    try:
        return bytes(map(_BYTE_ALPHABET.__getitem__, piece))
    except KeyError:
        return piece.encode()


def _sentencepiece_bytes(piece: str) -> bytes:
    r"""`▁the` → `b" the"`, `<0x0A>` → `b"\n"`."""
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        return bytes([int(piece[3:5], 16)])
    return piece.replace("▁", " ").encode()


def _common_prefix(left: bytes, right: bytes) -> int:
    length = min(len(left), len(right))
    for i in range(length):
        if left[i] != right[i]:
            return i
    return length
