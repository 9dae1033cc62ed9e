"""A model and a tokenizer to test with: the model writes what it was told to, and there is nothing to load.

The model writes a script, token by token, through the same masks, batches and validators as any other. It is one of the
shortest models there can be: a prefill, a forward step, and a choice of rows.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from structured.errors import ModelError
from structured.models.protocol import DecodingBatch, LanguageModel, Messages
from structured.vocabulary import Tokenizer, Vocabulary

BYTE_TOKENS: tuple[bytes | None, ...] = (None, None, *(bytes([byte]) for byte in range(256)))
"""A token that begins each prompt, one that ends each answer, and one for each byte."""

SCORE = 100.0
"""The logit of the next byte of a script; all other tokens have 0."""

WHITESPACE = b" \t\n\r"

ANSWER = b"\n\nassistant:"
"""What stands between a prompt and its answer; no JSON has it."""


@dataclass(frozen=True)
class ByteTokenizer:
    """A tokenizer with a token for each byte, and for whatever else it is given; its first token begins each prompt.

    >>> ByteTokenizer().encode("ab")
    [0, 99, 100]
    >>> ByteTokenizer((*BYTE_TOKENS, b"ab")).encode("abc")
    [0, 258, 101]
    """

    tokens: tuple[bytes | None, ...] = BYTE_TOKENS
    end_token_ids: tuple[int, ...] = (1,)

    def encode(self, text: str) -> list[int]:
        """Return the first token, then again and again the longest token that fits.

        Raises ValueError where none does.
        """
        data, token_ids, place = text.encode(), [0], 0
        while place < len(data):
            pieces = (data[place : place + length] for length in range(self._longest, 0, -1))
            piece = next((piece for piece in pieces if piece in self._ids), None)
            if piece is None:
                raise ValueError(f"No token begins {data[place : place + 20]!r}.")
            token_ids.append(self._ids[piece])
            place += len(piece)
        return token_ids

    @cached_property
    def _ids(self) -> dict[bytes, int]:
        return {token: token_id for token_id, token in enumerate(self.tokens) if token}

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._ids), default=0)


class ScriptedModel(LanguageModel):
    """A model that writes given answers, so that code that extracts can be tested without a model.

    >>> from structured import extract
    >>> extract(list[int], "one and two", model=ScriptedModel("[1, 2]"))
    [1, 2]

    Parameters:
        script: The answer to every prompt, or a function from the text of a prompt to the answer. It is called once for
            each answer that is begun: again for each retry and each sample, and in no given order of documents.
        tokenizer: A `Tokenizer`; a token for each byte if there is none.
        context_length: The most tokens that prompt and answer may have together.

    Whitespace between the values of a script need not be that of the type. Where the type or its budget lets anything
    else of the script not be written, ModelError is raised by the next step. So it is by beam search, which tries texts
    that no script has.
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
        self.script = script
        self.vocabulary = Vocabulary.from_tokenizer(ByteTokenizer() if tokenizer is None else tokenizer)
        self.context_length = context_length

    def __repr__(self) -> str:
        return f"ScriptedModel({self.script!r})"

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a prompt; of messages, a paragraph for each."""
        if not isinstance(prompt, str):
            prompt = "\n\n".join(f"{message['role']}: {message['content']}" for message in prompt)
        return super().encode(prompt + ANSWER.decode())

    def prefill(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        shared: int = 0,  # noqa: ARG002  nothing is cached
        window: int = 0,  # noqa: ARG002  nothing is proposed, since it cannot roll back
    ) -> "tuple[ScriptedBatch, NDArray[np.float32]]":
        """Find the answer to each prompt; what is known of it may stand behind the prompt already."""
        batch = ScriptedBatch(self.vocabulary, [])
        for token_ids in prompts:
            prompt, _, begun = _spell(self.vocabulary, token_ids).rpartition(ANSWER)
            script = self.script if isinstance(self.script, str) else self.script(prompt.decode())
            batch.lines.append(_Line(script.encode()))
            batch.lines[-1].follow(begun)
        return batch, batch.scores()


@dataclass(slots=True)
class _Line:
    """A script, and how much of it has been written."""

    script: bytes
    written: bytes = b""
    place: int = 0
    in_string: bool = False
    is_escaped: bool = False

    def follow(self, data: bytes) -> None:
        """Go on by what was written. Raises ModelError if the script says something else."""
        for byte in data:
            self.written += bytes([byte])
            if not self.in_string:
                self._skip_whitespace()
                if byte in WHITESPACE:
                    continue
            if self.script[self.place : self.place + 1] != bytes([byte]):
                raise ModelError(
                    f"The script says {self.script[self.place :][:40]!r}, and {self.written[-40:]!r} was written. The "
                    "type, or max_tokens, does not allow the script; or beams are searched for, which no script has."
                )
            self.place += 1
            if byte == ord('"') and not self.is_escaped:
                self.in_string = not self.in_string
            self.is_escaped = self.in_string and byte == ord("\\") and not self.is_escaped

    def _skip_whitespace(self) -> None:
        while self.place < len(self.script) and self.script[self.place] in WHITESPACE:
            self.place += 1

    def follows(self) -> tuple[bytes, bytes]:
        """Return what is left of the script, and the same without whitespace that may be left out."""
        left = self.script[self.place :]
        return left, left if self.in_string else left.lstrip(WHITESPACE)


class ScriptedBatch(DecodingBatch):
    """Texts of a `ScriptedModel`."""

    is_ragged = True
    can_join = True

    def __init__(self, vocabulary: Vocabulary, lines: list[_Line]) -> None:
        self.vocabulary = vocabulary
        self.lines = lines

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> NDArray[np.float32]:  # noqa: ARG002
        """Go on in each script."""
        for line, new in zip(self.lines, token_ids, strict=True):
            line.follow(_spell(self.vocabulary, new))
        return self.scores()

    def select(self, rows: Sequence[int]) -> None:
        """Keep some of the texts."""
        self.lines = [copy(self.lines[row]) for row in rows]

    def join(self, other: Self) -> None:
        """Take over the texts of another batch."""
        self.lines += other.lines

    def scores(self) -> NDArray[np.float32]:
        """Return the scores of the next token of each text, shape (texts, size of the vocabulary)."""
        found = np.zeros((len(self.lines), self.vocabulary.size), dtype=np.float32)
        for row, line in zip(found, self.lines, strict=True):
            left = line.follows()
            if not left[-1]:
                row[list(self.vocabulary.end_token_ids)] = SCORE
            for token_id, token in enumerate(self.vocabulary.tokens):
                if token and any(text.startswith(token) for text in left):
                    row[token_id] = SCORE * len(token)
        return found


def _spell(vocabulary: Vocabulary, token_ids: Iterable[int]) -> bytes:
    return b"".join(vocabulary.tokens[token_id] or b"" for token_id in token_ids)
