"""A scripted model and a byte tokenizer for tests, without anything to load.

The model writes a script, token by token, through the same masks, batches and validators as any other model.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError
from structured.errors.arguments import or_none, whole
from structured.errors.values import described, message, shown
from structured.models.protocol import DecodingBatch, LanguageModel, Messages
from structured.vocabulary import Tokenizer, Vocabulary

BYTE_TOKENS: tuple[bytes | None, ...] = (None, None, *(bytes([byte]) for byte in range(256)))
"""A token that begins each prompt, a token that ends each answer, and a token for each byte."""

SCORE = 100.0
"""The logit of the next byte of a script; all other tokens have 0."""

WHITESPACE = b" \t\n\r"

LOOSE_BYTES = WHITESPACE + b'{}[],:"'
"""Bytes that may have whitespace beside them."""

ANSWER_HEADING = b"\n\nassistant:"
"""The text between a prompt and its answer, which no JSON contains."""


@dataclass(frozen=True)
class ByteTokenizer:
    """A tokenizer with a token for each byte, and further tokens on request; its first token begins each prompt.

    Raises TypeError for tokens that are not bytes or None, and ValueError if the first of them has bytes.

    >>> ByteTokenizer().encode("ab")
    [0, 99, 100]
    >>> ByteTokenizer((*BYTE_TOKENS, b"ab")).encode("abc")
    [0, 258, 101]
    """

    tokens: tuple[bytes | None, ...] = BYTE_TOKENS
    end_token_ids: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        tokens: object = self.tokens
        if not isinstance(tokens, tuple) or not all(isinstance(token, bytes | None) for token in tokens):
            raise TypeError(f"tokens is {shown(tokens)}; it must be a tuple of bytes and None, as BYTE_TOKENS is.")
        if not tokens or tokens[0]:
            problem = "The first of the tokens begins each prompt, and must be None"
            raise ValueError(f"{problem}. Put None before the others.")

    def encode(self, text: str) -> list[int]:
        """Return the first token, and then repeatedly the longest that fits. Raises ValueError where none fits."""
        data, token_ids, place = text.encode(), [0], 0
        while place < len(data):
            for length in self._lengths.get(data[place], ()):
                token_id = self._ids.get(data[place : place + length])
                if token_id is not None:
                    break
            else:
                raise ValueError(f"No token begins {data[place : place + 20]!r}.")
            token_ids.append(token_id)
            place += length
        return token_ids

    @cached_property
    def _ids(self) -> dict[bytes, int]:
        return {token: token_id for token_id, token in enumerate(self.tokens) if token}

    @cached_property
    def _lengths(self) -> dict[int, list[int]]:
        """The lengths of the tokens that begin with a byte, the longest first."""
        lengths: dict[int, set[int]] = {}
        for token in self._ids:
            lengths.setdefault(token[0], set()).add(len(token))
        return {byte: sorted(sizes, reverse=True) for byte, sizes in lengths.items()}


class ScriptedModel(LanguageModel):
    """A model that writes scripted answers, to test code that extracts.

    >>> from structured import extract
    >>> extract(list[int], "one and two", model=ScriptedModel("[1, 2]"))
    [1, 2]

    Parameters:
        script: The answer to every prompt, or a function from the text of a prompt to the answer. It is called once for
            each answer that is begun, also for each retry and each sample, in any order of documents.
        tokenizer: A `Tokenizer`; by default one with a token for each byte.
        context_length: The maximum of tokens in prompt and answer together.

    Whitespace between the values of a script may differ from that of the type. Where the type or its budget prevents
    any other part of the script, or more is written, a ModelError is raised, at the end of the text at the latest. A
    type with a single answer, such as `Literal["a"]`, calls no model, and so not this one.

    Raises TypeError or ValueError for arguments of the wrong kind, and VocabularyError for the tokenizer.
    """

    has_chat_template = True

    def __init__(
        self,
        script: str | Callable[[str], str],
        tokenizer: Tokenizer | None = None,
        *,
        context_length: int | None = None,
    ) -> None:
        self.name = "scripted"
        if not isinstance(script, str) and not callable(script):
            raise TypeError(f"script is {shown(script)}; it must be an answer, or a function from prompts to answers.")
        self.script = script
        self.vocabulary = Vocabulary.from_tokenizer(ByteTokenizer() if tokenizer is None else tokenizer)
        self.context_length = or_none(whole(1))("context_length", context_length)

    def __repr__(self) -> str:
        return f"ScriptedModel({self.script!r})"

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt; of messages, a paragraph for each."""
        if not isinstance(prompt, str):
            prompt = "\n\n".join(f"{message['role']}: {message['content']}" for message in prompt)
        return super().encode(prompt + ANSWER_HEADING.decode())

    def prefill(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        shared: int = 0,  # noqa: ARG002  nothing is cached
        window: int = 0,  # noqa: ARG002  it cannot roll back
    ) -> "tuple[ScriptedBatch, NDArray[np.float32]]":
        """Find the answer to each prompt; its beginning may be in the prompt already."""
        batch = ScriptedBatch(self.vocabulary, [])
        for token_ids in prompts:
            prompt, _, answer = _spell(self.vocabulary, token_ids).rpartition(ANSWER_HEADING)
            batch.scripts.append(_ScriptProgress(self._answer(prompt.decode())))
            batch.scripts[-1].follow(answer)
        return batch, batch.scores()

    def _answer(self, prompt: str) -> bytes:
        """Return the script of an answer. Raises ModelError unless it is text."""
        script: object = self.script if isinstance(self.script, str) else self.script(prompt)
        if not isinstance(script, str):
            raise ModelError(f"The script is {described(script)}. Let the function return the text of an answer.")
        try:
            return script.encode()
        except UnicodeEncodeError as error:
            raise ModelError(f"The script {described(script)} has half of a character: {message(error)}.") from error


@dataclass(slots=True)
class _ScriptProgress:
    """A script, and the part of it that has been written."""

    script: bytes
    written: bytes = b""
    place: int = 0
    in_string: bool = False
    is_escaped: bool = False

    def follow(self, data: bytes, *, to_end: bool = False) -> None:
        """Advance by the text that was written. Raises ModelError if the script differs, or goes on after the end."""
        taken = self.take(data)
        self.written += data[taken:]
        if taken < len(data) or (to_end and not self.is_finished):
            raise ModelError(
                f"The script says {self.script[self.place :][:40]!r}, and {self.written[-40:]!r} was written. The "
                "type, or max_tokens, does not allow the script; or it repeats itself, and stop_repetition ended that."
            )

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left of the script."""
        return not self.in_string and not self.script[self.place :].strip(WHITESPACE)

    @property
    def next_bytes(self) -> bytes:
        """The next byte of the script, and the next after whitespace."""
        left = self.script[self.place :]
        return left[:1] if self.in_string else left[:1] + left.lstrip(WHITESPACE)[:1]

    def take(self, data: bytes) -> int:
        """Advance by the text that was written as far as the script agrees, and return how far."""
        for taken, byte in enumerate(data):
            if not self._take(bytes([byte])):
                return taken
        return len(data)

    def _take(self, byte: bytes) -> bool:
        left = self.script[self.place :]
        gap = 0 if self.in_string else len(left) - len(left.lstrip(WHITESPACE))
        is_free = self.in_string or self.written[-1:] in LOOSE_BYTES or left[gap : gap + 1] in LOOSE_BYTES
        if not is_free and (byte in WHITESPACE) != bool(gap):
            return False
        if self.in_string or byte not in WHITESPACE:
            if left[gap : gap + 1] != byte:
                return False
            if byte == b'"' and not self.is_escaped:
                self.in_string = not self.in_string
            self.is_escaped = self.in_string and byte == b"\\" and not self.is_escaped
            gap += 1
        self.place += gap
        self.written += byte
        return True


class ScriptedBatch(DecodingBatch):
    """Texts of a `ScriptedModel`."""

    is_ragged = True
    can_join = True

    def __init__(self, vocabulary: Vocabulary, scripts: list[_ScriptProgress]) -> None:
        self.vocabulary = vocabulary
        self.scripts = scripts

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> NDArray[np.float32]:  # noqa: ARG002
        """Advance in each script."""
        for progress, new in zip(self.scripts, token_ids, strict=True):
            progress.follow(_spell(self.vocabulary, new))
        return self.scores()

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts."""
        self.scripts = [copy(self.scripts[row]) for row in rows]

    def join(self, other: Self) -> None:
        """Append the texts of another batch."""
        self.scripts += other.scripts

    def finish(self, row: int, token_ids: Sequence[int]) -> None:
        """Compare a finished text with its script. Raises ModelError if they differ."""
        self.scripts[row].follow(_spell(self.vocabulary, token_ids), to_end=True)

    def pause(self, row: int, token_ids: Sequence[int]) -> None:
        """Compare unread tokens with the script, which may go on. Raises ModelError if they differ."""
        copy(self.scripts[row]).follow(_spell(self.vocabulary, token_ids))

    def scores(self) -> NDArray[np.float32]:
        """Return the scores of the next token of each text, shape (texts, size of the vocabulary).

        Tokens that leave the script get -inf. Whitespace that the script does not have is the last choice where it is
        allowed.
        """
        scores = np.full((len(self.scripts), self.vocabulary.size), -np.inf, dtype=np.float32)
        for row, progress in zip(scores, self.scripts, strict=True):
            if progress.is_finished:
                row[list(self.vocabulary.end_token_ids)] = SCORE
            next_bytes = progress.next_bytes
            for token_id in self._following(progress):
                token = self.vocabulary.tokens[token_id] or b""
                row[token_id] = SCORE * len(token) if token[0] in next_bytes else len(token.strip(WHITESPACE))
        return scores

    def _following(self, progress: _ScriptProgress) -> Iterator[int]:
        """Yield the tokens that continue a script."""
        trie = self.vocabulary.trie
        waiting = [(0, progress)]
        while waiting:
            node, before = waiting.pop()
            for byte in {*before.next_bytes, *(b"" if before.in_string else WHITESPACE)}:
                child, after = trie.child(node, byte), copy(before)
                if child >= 0 and after.take(bytes([byte])):
                    yield from trie.tokens_at(child)
                    waiting.append((child, after))


def _spell(vocabulary: Vocabulary, token_ids: Iterable[int]) -> bytes:
    return b"".join(vocabulary.tokens[token_id] or b"" for token_id in token_ids)
