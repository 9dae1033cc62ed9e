"""The tokenizer of a GGUF file, as llama.cpp reads it: the bytes of its tokens, and prompts as token ids.

Control tokens come from the chat template alone, as in `prompt_encoding`. It is simpler here: llama.cpp can encode text
as text, so that only the control tokens of the template are looked for, and everything between two of them is encoded
in one piece. A tokenizer of transformers splits a text at the same places.
"""

import ctypes
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from importlib import import_module
from typing import Any, Protocol

from structured.errors import ModelError, PromptError, VocabularyError
from structured.models.prompt_encoding import is_markup, rendered, with_replacements
from structured.models.protocol import Messages
from structured.vocabulary import Vocabulary

_UNREAD = b"[UNK_BYTE_0x"
"""The piece in llama.cpp of a token that is not spelled in the alphabet of byte-level BPE."""


class Llama(Protocol):
    """The members of `llama_cpp.Llama` that are read here."""

    model_path: str
    context_params: Any
    model_params: Any

    @property
    def model(self) -> Any:
        """The pointer to the weights; None once they are freed."""


class LlamaTokenizer:
    """The tokenizer of a loaded `llama_cpp.Llama`."""

    def __init__(self, llama: Llama, name: str) -> None:
        self._library: Any = import_module("llama_cpp")
        self._llama = llama  # keeps its weights alive
        self._vocab = self._library.llama_model_get_vocab(llama.model)
        self.name = name
        if self._library.llama_vocab_type(self._vocab) not in {1, 2}:  # SentencePiece, byte-level BPE
            raise VocabularyError(
                f"The bytes of the tokens of {name} are unknown: its tokenizer is "
                f"{metadata(llama, 'tokenizer.ggml.model')!r}, and only byte-level BPE and SentencePiece with byte "
                "fallback are read. Use a model with such a tokenizer."
            )
        size = self._library.llama_vocab_n_tokens(self._vocab)
        ends = frozenset(i for i in range(size) if self._library.llama_vocab_is_eog(self._vocab, i))
        attributes = [self._library.llama_vocab_get_attr(self._vocab, i) for i in range(size)]
        hidden = self._library.LLAMA_TOKEN_ATTR_CONTROL | self._library.LLAMA_TOKEN_ATTR_UNKNOWN
        tokens = [None if a & hidden or i in ends else self._bytes(i) for i, a in enumerate(attributes)]
        self.vocabulary = Vocabulary(tuple(tokens), ends, self.encode_text)
        """The bytes of its tokens, and all tokens that end a generation in llama.cpp."""
        added = hidden | self._library.LLAMA_TOKEN_ATTR_USER_DEFINED
        spelled = {i: self._text(i) for i, a in enumerate(attributes) if a & added}
        self.control_tokens = {i: text for i, text in spelled.items() if attributes[i] & hidden or is_markup(text)}
        """The spellings of tokens that must not come from text."""
        self._ids = {text: token_id for token_id, text in self.control_tokens.items()}
        longest_first = sorted(filter(None, self._ids), key=len, reverse=True)  # as llama.cpp looks for them
        any_control = "|".join(map(re.escape, longest_first)) or "(?!)"  # which matches nothing
        self._any_control = re.compile(f"({any_control})")
        self._render = self._template(metadata(llama, "tokenizer.chat_template"))
        self.has_chat_template = self._render is not None

    def encode(self, prompt: str | Messages) -> list[int]:
        """Return the token ids of a text, or of messages through the chat template; raises as `PromptEncoder`."""
        if isinstance(prompt, str):
            return [*self._own("bos"), *self.encode_text(prompt), *self._own("eos")]
        if self._render is None:
            raise ModelError(f"{self.name} has no chat template. Give it a plain prompt.")
        template, contents = rendered(prompt, self._render, self.name)
        token_ids: list[int] = []
        run = ""
        for piece, content in zip(template, [*contents, ""], strict=True):
            for part in self._any_control.split(piece):
                if part in self._ids:
                    token_ids += [*self.encode_text(run), self._ids[part]]
                    run = ""
                else:
                    run += part
            run += content
        return token_ids + self.encode_text(run)

    def encode_text(self, text: str) -> list[int]:
        """Return the token ids of a text, without control tokens.

        Words like `<think>`, which llama.cpp finds in any text, are split after their first character: then other
        tokens spell them. Raises PromptError where that does not help.
        """
        if self.vocabulary.absent_bytes:
            text = with_replacements(text, self.vocabulary, self._tokenize)
        token_ids = self._tokenize(text)
        if self.control_tokens.keys().isdisjoint(token_ids):
            return token_ids
        spelled_control = "|".join(map(re.escape, filter(None, self._ids)))
        cuts = [match.start() + 1 for match in re.finditer(f"(?={spelled_control})", text)]  # they may overlap
        parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        token_ids = [token_id for part in parts for token_id in self._tokenize(part)]
        spelled = b"".join(self.vocabulary.tokens[token_id] or b"" for token_id in token_ids)
        if spelled.removeprefix(b" ") != text.encode().removeprefix(b" "):
            shown = [repr(token) for token in self._ids if token and token in text]
            raise PromptError(
                f"The text spells control tokens of the model{': ' * bool(shown)}{', '.join(shown[:5])}. "
                f"The tokenizer of {self.name} cannot encode them as text. Take them out of the text."
            )
        return token_ids

    def _tokenize(self, text: str) -> list[int]:
        data = text.encode()
        if not data:
            return []
        room = len(data) + 2
        while True:
            ids = (self._library.llama_token * room)()
            count = self._library.llama_tokenize(self._vocab, data, len(data), ids, room, False, False)
            if count >= 0:
                return list(ids[:count])
            room = -count

    def _own(self, which: str) -> list[int]:
        """Return the token that the tokenizer adds before ("bos") or after ("eos") each text, if any."""
        if not getattr(self._library, f"llama_vocab_get_add_{which}")(self._vocab):
            return []
        return [getattr(self._library, f"llama_vocab_{which}")(self._vocab)]

    def _template(self, source: str | None) -> Callable[[Messages], str] | None:
        if source is None:
            return None
        named = ("bos", "eos", "pad")  # which chat templates use
        ids = {f"{which}_token": getattr(self._library, f"llama_vocab_{which}")(self._vocab) for which in named}
        try:
            return chat_template(source, {name: self._text(i) for name, i in ids.items() if i >= 0})
        except Exception as error:
            raise ModelError(f"The chat template of {self.name} cannot be read: {error}") from error

    def _bytes(self, token_id: int) -> bytes:
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            count = self._library.llama_token_to_piece(self._vocab, token_id, buffer, size, 0, True)
            if count >= 0:
                break
            size = -count
        piece = buffer.raw[:count]
        text: bytes = self._library.llama_vocab_get_text(self._vocab, token_id)
        return text if _UNREAD in piece and _UNREAD not in text else piece

    def _text(self, token_id: int) -> str:
        text: bytes = self._library.llama_vocab_get_text(self._vocab, token_id)
        return text.decode(errors="replace")


def metadata(llama: Llama, key: str) -> str | None:
    """Return a value of the metadata of a model's file."""
    library: Any = import_module("llama_cpp")
    size = 1024
    while True:
        buffer = ctypes.create_string_buffer(size)
        count = library.llama_model_meta_val_str(llama.model, key.encode(), buffer, size)
        if count < size:
            return None if count < 0 else buffer.raw[:count].decode(errors="replace")
        size = count + 1


def chat_template(source: str, control_tokens: Mapping[str, str]) -> Callable[[Messages], str]:
    """Return the function from messages to their text, up to where the answer begins.

    The template, written for the environment of transformers, gets what it may use there, in a sandbox, since the file
    may come from anybody. `control_tokens` are spellings by names such as `bos_token`. Imports jinja2, which comes with
    llama-cpp-python, and raises its errors for an invalid template.
    """
    from jinja2 import nodes
    from jinja2.exceptions import TemplateError
    from jinja2.ext import Extension
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class GenerationBlock(Extension):
        """`{% generation %}`: marks the assistant's text for training; here it is ordinary text."""

        tags = {"generation"}  # noqa: RUF012  as jinja2 declares it

        def parse(self, parser: Any) -> nodes.Node:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.Scope(body, lineno=line)

    def refuse(message: str) -> None:
        raise TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, "jinja2.ext.loopcontrols"]
    )
    # The filter of jinja2 would escape JSON for HTML.
    environment.filters["tojson"] = lambda value, **options: json.dumps(value, **{"ensure_ascii": False, **options})
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)  # noqa: DTZ005  the user's day
    template = environment.from_string(source)
    return lambda messages: template.render(messages=messages, add_generation_prompt=True, tools=None, **control_tokens)
