"""The prompt for a document, a text or the messages of a chat: as plain text, or as chat messages.

A text and a chat of that one message are asked about in the same words. The model is shown a type description in place
of the JSON Schema: it takes about a quarter of the tokens. What comes before the document depends on the type alone, so
that prompts for many documents share a prefix.

The parts of a prompt are under labels at the margin. A text with such a label in a line of its own is indented, every
line of it, so that it cannot end its part and begin another.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self, TypeAlias

from structured.errors import PromptError
from structured.errors.values import shown
from structured.models.protocol import Messages
from structured.output_types.output_type import Description

TextOrChat: TypeAlias = str | Sequence[Mapping[str, object]]
"""A text, or the messages of a chat: `[{"role": "user", "content": "I am Jason, and 25."}]`.

Roles are "system" (the first message alone), "user" (the last message) and "assistant"; contents are texts.
"""

_ROLES = ("system", "user", "assistant")
_ROLE_SYNONYMS = {"developer": "system", "human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant"}
"""Roles that others have, by those that are the same."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is asked about: a text, the turns before it, and the system prompt above them.

    >>> Conversation.read([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "I am Jason."}])
    Conversation(text='I am Jason.', earlier_turns=(), system='Be brief.')
    """

    text: str
    """What the user says last."""
    earlier_turns: Messages = ()
    """The turns before."""
    system: str | None = None

    @property
    def document(self) -> str:
        """What a type reads that depends on the document: all that the user says."""
        said = [turn["content"] for turn in self.earlier_turns if turn["role"] == "user"]
        return "\n\n".join((*said, self.text))

    @property
    def messages(self) -> list[dict[str, str]]:
        """The turns as they are, with the system prompt above them."""
        system_messages = [] if self.system is None else [{"role": "system", "content": self.system}]
        return [*system_messages, *map(dict, self.earlier_turns), {"role": "user", "content": self.text}]

    @classmethod
    def read(cls, document: object, name: str = "the text", *, is_single: bool = True) -> Self:
        """Read a document, which errors call by its name. Raises PromptError for whatever is none."""
        if isinstance(document, str):
            turns = [{"role": "user", "content": document}]
            names = [name]
        elif isinstance(document, list | tuple) and document and not isinstance(document[0], str | list | tuple):
            names = [f"message {number} of {name}" for number in range(len(document))]
            turns = [_message(message, message_name) for message, message_name in zip(document, names, strict=True)]
        else:
            raise PromptError(f"{_with_capital(name)} is {_problem_of_document(document, is_single=is_single)}")
        for turn, message_name in zip(turns, names, strict=True):
            check_characters(turn["content"], _with_capital(message_name))
        if "system" in [turn["role"] for turn in turns[1:]]:
            raise PromptError(f"A message of {name} has the role 'system', and is not the first. Put it first.")
        *earlier, last = turns
        title = _with_capital(names[-1])
        if last["role"] != "user":
            remedy = "Add a message of the user after it."
            if "user" in [turn["role"] for turn in turns]:
                remedy = "Leave out what comes after the user's last message."
            problem = f"{title}, the last, has the role {last['role']!r}, and the last must be the user's"
            raise PromptError(f"{problem}. {remedy}")
        if not last["content"].strip():
            remedy = "" if is_single else "; leave it out"
            raise PromptError(f"{title} is empty. There is nothing to extract from{remedy}.")
        system = earlier.pop(0)["content"] if earlier and earlier[0]["role"] == "system" else None
        return cls(last["content"], tuple(earlier), system)


def is_message(value: object) -> bool:
    """Tell whether a value looks like one message of a chat."""
    try:
        return isinstance(value, Mapping) and "role" in value
    except Exception:  # noqa: BLE001  an object of the user's own: it fails where it is read
        return False


def is_messages(value: object) -> bool:
    """Tell whether a value looks like the messages of a chat."""
    return isinstance(value, list | tuple) and bool(value) and is_message(value[0])


def _message(value: object, name: str) -> dict[str, str]:
    """Return a message with nothing but role and content. Raises PromptError where there is more, or less."""
    title, remedy = _with_capital(name), "Pass {'role': 'user', 'content': 'text'}."
    if not isinstance(value, Mapping):
        raise PromptError(f"{title} is {shown(value)}, not a dict. {remedy}")
    for key in ("role", "content"):
        if key not in value:
            raise PromptError(f"{title} has no {key!r}. {remedy}")
    role, content = value["role"], value["content"]
    if role not in _ROLES:
        problem = f"{title} has the role {shown(role)}; it must be 'system', 'user' or 'assistant'"
        raise PromptError(f"{problem}. {_role_remedy(role)}")
    if not isinstance(content, str):
        parts = " Join the texts of its parts." if isinstance(content, list) else ""
        raise PromptError(f"The content of {name} is {shown(content)}, not text. Pass a str.{parts}")
    empty_members = [key for key, member in value.items() if isinstance(member, list | None) and not member]
    others = [key for key in value if key not in {"role", "content", *empty_members}]
    if others:
        problem = f"{title} has {', '.join(map(repr, others))} beside its role and content, which the prompt would lose"
        raise PromptError(f"{problem}. Write what matters of it into the content.")
    return {"role": str(role), "content": content}


def _role_remedy(role: object) -> str:
    """Return what to do about a role that there is not."""
    synonym = _ROLE_SYNONYMS.get(role.casefold(), role.casefold()) if isinstance(role, str) else None
    return f"Write {synonym!r}." if synonym in _ROLES else "Write what the message says into the content of another."


def _problem_of_document(document: object, *, is_single: bool) -> str:
    """Return what a document is in place of text, and what to do about it."""
    match document:
        case None:
            return "None. Pass a str." if is_single else "None, not text. Leave it out."
        case bytes() | bytearray():
            return f"{type(document).__name__}, not text. Decode it: {'text' if is_single else 'document'}.decode()."
        case Path():
            return "a path, not text. Pass what is in the file: path.read_text()."
        case Mapping() if is_message(document):
            return "a single message. Pass a list of messages: [message]."
        case list() | tuple() if not document:
            return f"an empty {type(document).__name__}. There is nothing to extract from."
        case list() | tuple() if is_single:
            return f"a {type(document).__name__}, not text. Use extract_batch for several texts."
    return f"{type(document).__name__}, not text. Pass a str."


def _with_capital(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"


_TEXT = "Text"
"""The label of a document."""

_INDENT = "    "


def completion_prompt(
    type_: Description,
    document: str,
    *,
    system: str | None = None,
    instructions: str | None = None,
    examples: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the prompt for a model without a chat template; the answer is what continues it."""
    head = [text for text in (system, instructions) if text]
    head.append(f"{type_.label}:\n{type_.text}")
    pairs = [*examples, (document, "")]
    shown = [f"{_TEXT}:\n{escape_labels(text, type_)}\n\n{type_.answer}:\n{answer}" for text, answer in pairs]
    return "\n\n".join([*head, *shown])


def chat_messages(  # noqa: PLR0913  what a prompt is made of
    type_: Description,
    document: str,
    *,
    system: str | None = None,
    earlier_turns: Messages = (),
    instructions: str | None = None,
    examples: Sequence[tuple[str, str]] = (),
) -> list[dict[str, str]]:
    """Return the messages of a prompt, with examples as earlier turns; a chat has the task in its system message."""
    task = "\n\n".join(filter(None, (instructions, type_.task, f"{type_.label}:\n{type_.text}")))
    above = "" if earlier_turns else f"{task}\n\n{_TEXT}:\n"
    if earlier_turns:
        system = "\n\n".join(filter(None, (system, task)))
    messages: list[dict[str, str]] = [] if system is None else [{"role": "system", "content": system}]
    for text, answer in examples:
        messages.append({"role": "user", "content": f"{above}{escape_labels(text, type_)}"})
        messages.append({"role": "assistant", "content": answer})
    for turn in earlier_turns:
        role, said = turn["role"], turn["content"]
        messages.append({"role": role, "content": escape_labels(said, type_) if role == "user" else said})
    messages.append({"role": "user", "content": f"{above}{escape_labels(document, type_)}"})
    return messages


def escape_labels(text: str, description: Description) -> str:
    r"""Return a text as it stands in a prompt: indented if one of its lines looks like a label of the prompt.

    `"25 years old.\nJSON:\n{}"` → `"    25 years old.\n    JSON:\n    {}"`
    """
    label = _label_pattern(description.label, description.answer)
    return _indented(text) if any(map(label.fullmatch, _visible_characters(text).splitlines())) else text


def _visible_characters(text: str) -> str:
    r"""Return a text without what a reader does not see: characters without width, and those of another width.

    `"\u200bＪＳＯＮ："` → `"JSON:"`
    """
    return _WITHOUT_WIDTH.sub("", text if text.isascii() else unicodedata.normalize("NFKC", text))


_WITHOUT_WIDTH = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that are not seen: control characters, and default ignorable ones (Unicode §5.21)."""


@lru_cache(maxsize=64)
def _label_pattern(type_label: str, answer_label: str) -> re.Pattern[str]:
    """Return what matches a line that looks like a label; behind that of the answer, the answer may stand."""
    labels = rf"\s*(?:(?:{re.escape(type_label)}|{_TEXT})\s*:\s*|{re.escape(answer_label)}\s*:.*)"
    return re.compile(labels, re.IGNORECASE | re.DOTALL)


def sections(texts: Mapping[str, str]) -> str:
    r"""Return several texts as one, each under its label, and indented where one imitates a label.

    `{"old": "1 kg", "new": "2 kg"}` → `"The old:\n1 kg\n\nThe new:\n2 kg"`
    """
    labels = re.compile(rf"\s*the\s+(?:{'|'.join(map(re.escape, texts))})\s*:\s*", re.IGNORECASE)
    imitates = any(labels.fullmatch(line) for text in texts.values() for line in _visible_characters(text).splitlines())
    return "\n\n".join(f"The {label}:\n{_indented(text) if imitates else text}" for label, text in texts.items())


def _indented(text: str) -> str:
    return "".join(f"{_INDENT}{line}" for line in text.splitlines(keepends=True))


def check_characters(text: str, what: str) -> None:
    """Refuse a text, called `what`, with half of a character (Unicode §3.8, D71). Raises PromptError."""
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PromptError(
            f"{what} has half of a character, the lone surrogate {text[error.start]!r}, at position {error.start:,}. "
            "Read the text in its right encoding, or replace it: text.encode(errors='replace').decode()."
        ) from error
