"""Prompts as token ids: control tokens come from the chat template alone, and all other text stays text.

A tokenizer takes the spelling of a control token for the token anywhere in a text, so that a document with `<|im_end|>`
in it would end its own turn. Here a prompt is encoded as usual first. Where that gives other control tokens than those
of the template, it is encoded by a copy of the tokenizer with secret spellings of control tokens, which only the
template gets. Rejected: encoding template and contents apart, which changes tokens at every seam; escaping the
spellings, which changes the text.
"""

import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain, zip_longest
from typing import Any, cast

from structured.errors import ModelError, PromptError, StructuredError
from structured.models.protocol import Messages
from structured.vocabulary import TransformersTokenizer, Vocabulary

_NEUTRAL = "a"
"""A content without control tokens in any context."""


class PromptEncoder:
    """Encodes prompts for a fast tokenizer of `transformers`."""

    def __init__(self, tokenizer: TransformersTokenizer, vocabulary: Vocabulary | None = None) -> None:
        self._tokenizer: Any = tokenizer
        self._vocabulary = vocabulary
        self._backend: Any = self._tokenizer.backend_tokenizer
        added = self._backend.get_added_tokens_decoder()
        self.control_tokens: dict[int, str] = {
            i: token.content for i, token in added.items() if token.special or is_markup(token.content)
        }
        """The spellings of tokens that must not come from text."""

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a text, or of messages through the chat template.

        Raises PromptError if some of the text would become a control token, or the chat template does not take these
        messages; ModelError if it fails or leaves out a message.
        """
        if isinstance(prompt, str):
            return self._encode(["", ""], [prompt], add_special_tokens=True)
        return self._encode(*rendered(prompt, self._render, type(self._tokenizer).__name__), add_special_tokens=False)

    def _render(self, turns: Messages) -> str:
        text: str = self._tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        return text

    def _encode(self, template: Sequence[str], contents: Sequence[str], *, add_special_tokens: bool) -> list[int]:
        if self._vocabulary is not None and self._vocabulary.absent_bytes:
            encode = cast("Callable[[str], list[int]]", self._vocabulary.encode)
            contents = [with_replacements(content, self._vocabulary, encode) for content in contents]

        def plainly(contents: Sequence[str]) -> list[int]:
            text = _interleaved(template, contents)
            encoding = self._tokenizer(text, add_special_tokens=add_special_tokens, verbose=False)
            return list(encoding["input_ids"])

        token_ids, own = plainly(contents), self._control_ids(plainly([_NEUTRAL] * len(contents)))
        if self._control_ids(token_ids) == own:
            return token_ids
        token_ids = self._respelled.encode(_interleaved(map(self._respelled.respell, template), contents))
        if add_special_tokens:
            token_ids = self._surrounded(token_ids)
        if self._control_ids(token_ids) != own:
            spelled = [repr(token) for token in self.control_tokens.values() if any(token in text for text in contents)]
            raise PromptError(
                f"The text spells control tokens of the model{': ' * bool(spelled)}{', '.join(spelled[:5])}. "
                f"{type(self._tokenizer).__name__} cannot encode them as text. Take them out of the text."
            )
        return token_ids

    def _control_ids(self, token_ids: Iterable[int]) -> list[int]:
        return [token_id for token_id in token_ids if token_id in self.control_tokens]

    def _surrounded(self, token_ids: list[int]) -> list[int]:
        """Return token ids with those that the tokenizer itself adds before and after a text."""
        encoding = self._backend.encode(_NEUTRAL, add_special_tokens=True)
        texts = [at for at, is_special in enumerate(encoding.special_tokens_mask) if not is_special]
        return [*encoding.ids[: texts[0]], *token_ids, *encoding.ids[texts[-1] + 1 :]]

    @cached_property
    def _respelled(self) -> "_RespelledTokenizer":
        return _RespelledTokenizer(json.loads(self._backend.to_str()), self.control_tokens)


class _RespelledTokenizer:
    """A copy of a tokenizer whose control tokens have spellings that no text contains."""

    def __init__(self, definition: dict[str, Any], control_tokens: Mapping[int, str]) -> None:
        from tokenizers import Tokenizer

        secret = secrets.token_hex(8)
        self._spellings = {text: f"\ue000{secret}.{token_id}\ue001" for token_id, text in control_tokens.items()}
        longest_first = sorted(control_tokens.values(), key=len, reverse=True)  # as tokenizers looks for them
        self._any_control = re.compile("|".join(map(re.escape, longest_first)))
        for token in definition["added_tokens"]:
            if token["content"] in self._spellings:
                token |= {"content": self._spellings[token["content"]], "normalized": False, "single_word": False}
        self._respell_model(definition["model"])
        definition |= {"post_processor": None, "truncation": None, "padding": None}  # of prompts, not of text
        self._tokenizer = Tokenizer.from_str(json.dumps(definition))
        own_ids = {self._tokenizer.token_to_id(self._spellings[text]): i for i, text in control_tokens.items()}
        self._moved = {here: there for here, there in own_ids.items() if here != there}
        """The ids of tokens outside the vocabulary of the inner model, which the copy numbers anew."""

    def respell(self, template: str) -> str:
        """Return a piece of a template with secret spellings of its control tokens."""
        return self._any_control.sub(lambda match: self._spellings[match[0]], template)

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text, in which only secret spellings mean control tokens."""
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        return [self._moved.get(token_id, token_id) for token_id in ids]

    def _respell_model(self, model: dict[str, Any]) -> None:
        """Respell control tokens in the vocabulary of the inner model, so that no text is merged into one."""

        def respelled(piece: str) -> str:
            return self._spellings.get(piece, piece)

        vocabulary = model["vocab"]
        if isinstance(vocabulary, list):  # of a Unigram model, with scores
            model["vocab"] = [[respelled(piece), score] for piece, score in vocabulary]
        elif not self._spellings.keys().isdisjoint(vocabulary):
            model["vocab"] = {respelled(piece): token_id for piece, token_id in vocabulary.items()}
            model["merges"] = [pair for pair in model.get("merges", []) if self._is_of_text(pair)]
        if isinstance(model.get("unk_token"), str):
            model["unk_token"] = respelled(model["unk_token"])

    def _is_of_text(self, pair: str | Sequence[str]) -> bool:
        left, right = pair.split(" ", 1) if isinstance(pair, str) else pair
        return self._spellings.keys().isdisjoint((left, right, left + right))


def rendered(messages: Messages, render: Callable[[Messages], str], name: str) -> tuple[list[str], list[str]]:
    """Return the pieces of a chat template and the contents between them; `render` renders messages.

    The template sees marks in place of the contents, so it cannot trim, cut or interpret them. It may put a system
    message anywhere. Where it takes none, like Gemma's, the system message begins the first turn of the user.

    Raises PromptError if the template of the tokenizer `name` takes other messages but not these, such as two turns of
    the user in a row. Raises ModelError if it fails or leaves out a message.
    """
    another = "Set another as tokenizer.chat_template, or None for plain prompts."
    problem: StructuredError = ModelError(f"There is no message for the chat template of {name}.")
    for turns in _versions_of(messages):
        try:
            if (marked := _marked(turns, render)) is not None:
                return marked
            problem = ModelError(
                f"The chat template of {name} does not write each of {len(messages)} messages once and in order. "
                f"{another}"
            )
        except Exception as error:  # noqa: BLE001  a template is code, and may raise anything
            problem = ModelError(f"The chat template of {name} failed: {error}. {another}")
            with suppress(Exception):
                render([{"role": "user", "content": _NEUTRAL}])
                problem = PromptError(f"The chat template of {name} does not take these messages: {error}.")
            problem.__cause__ = error
    raise problem


def _marked(messages: Messages, render: Callable[[Messages], str]) -> tuple[list[str], list[str]] | None:
    """Return the template around the contents of messages, and the contents; None unless it writes each in order."""
    secret = secrets.token_hex(8)
    contents = {f"content{secret}n{number}n": turn["content"] for number, turn in enumerate(messages)}
    text = render([{**turn, "content": mark} for turn, mark in zip(messages, contents, strict=True)])
    pieces = re.split(f"({'|'.join(contents)})", text)
    template, marks = pieces[::2], pieces[1::2]
    first_turn = int(messages[0]["role"] == "system")
    system, turns = list(contents)[:first_turn], list(contents)[first_turn:]
    if sorted(marks) != sorted(contents) or [mark for mark in marks if mark not in system] != turns:
        return None
    return template, [contents[mark] for mark in marks]


def _versions_of(messages: Messages) -> Iterator[Messages]:
    """Yield messages unchanged, and then with the system message in the first turn of the user."""
    if messages:
        yield messages
    roles = [turn["role"] for turn in messages]
    if roles[:1] == ["system"] and "user" in roles:
        turns = [dict(turn) for turn in messages[1:]]
        first = turns[roles.index("user") - 1]
        first["content"] = "\n\n".join(filter(None, (messages[0]["content"], first["content"])))
        yield turns


def with_replacements(text: str, vocabulary: Vocabulary, encode: Callable[[str], Sequence[int]]) -> str:
    """Replace each character that a tokenizer would drop, or spell in part, by U+FFFD (Unicode §23.8)."""
    # Only a character with a byte that is in no token can be lost.
    data = text.encode()
    if len(data.translate(None, bytes(vocabulary.absent_bytes))) == len(data):
        return text

    def is_lost(character: str) -> bool:
        spelled = b"".join(vocabulary.tokens[token_id] or b"" for token_id in encode(character))
        return not spelled.decode(errors="ignore")

    suspects = {char for char in set(text) if not vocabulary.absent_bytes.isdisjoint(char.encode())}
    return text.translate({ord(char): "\ufffd" for char in suspects if is_lost(char)})


def is_markup(token: str) -> bool:
    """Tell whether an added token is markup, like `<think>`, and not plain text: a word or a run of spaces."""
    return not all(character.isalnum() or character in " ▁\t\n\r" for character in token)


def _interleaved(template: Iterable[str], contents: Iterable[str]) -> str:
    return "".join(chain.from_iterable(zip_longest(template, contents, fillvalue="")))
