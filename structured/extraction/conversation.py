"""Documents as conversations: a text, or the messages of a chat, the last of which is the text.

One value for both, so that a text and a chat of that one message are asked about in the same words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeAlias

from structured.errors import PromptError
from structured.errors.values import shown
from structured.extraction.prompts import check_characters
from structured.models.protocol import Messages

TextOrChat: TypeAlias = str | Sequence[Mapping[str, object]]
"""A text, or the messages of a chat: `[{"role": "user", "content": "I am Jason, and 25."}]`.

Roles are "system" (the first message alone), "user" (the last message) and "assistant"; contents are texts.
"""

_ROLES = ("system", "user", "assistant")
_MEANT = {"developer": "system", "human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant"}
"""Roles that others have, by those that are the same."""

_LEAVE_OUT = "Leave out what comes after the user's last message."


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is asked about: a text, the turns before it, and the system prompt above them.

    >>> Conversation.read([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "I am Jason."}])
    Conversation(text='I am Jason.', earlier=(), system='Be brief.')
    """

    text: str
    """What the user says last."""
    earlier: Messages = ()
    """The turns before."""
    system: str | None = None

    @property
    def document(self) -> str:
        """What a type reads that depends on the document: all that the user says."""
        said = [turn["content"] for turn in self.earlier if turn["role"] == "user"]
        return "\n\n".join((*said, self.text))

    def with_text(self, text: str) -> Self:
        """Return the conversation with another text in place of its own."""
        return replace(self, text=text)

    @classmethod
    def read(cls, document: object, name: str = "the text", *, is_single: bool = True) -> Self:
        """Read a document, which errors call by its name. Raises PromptError for whatever is none."""
        if isinstance(document, str):
            turns = [{"role": "user", "content": document}]
            names = [name]
        elif isinstance(document, list | tuple) and document and not isinstance(document[0], str | list | tuple):
            names = [f"message {number} of {name}" for number in range(len(document))]
            turns = [_message(one, called) for one, called in zip(document, names, strict=True)]
        else:
            raise PromptError(f"{_capital(name)} is {_not_text(document, is_single=is_single)}")
        for turn, called in zip(turns, names, strict=True):
            check_characters(turn["content"], _capital(called))
        if "system" in [turn["role"] for turn in turns[1:]]:
            raise PromptError(f"A message of {name} has the role 'system', and is not the first. Put it first.")
        *earlier, last = turns
        if last["role"] != "user":
            raise PromptError(
                f"{_capital(names[-1])}, the last, has the role {last['role']!r}, and the last must be the user's. "
                f"{_LEAVE_OUT if 'user' in [turn['role'] for turn in turns] else 'Add a message of the user after it.'}"
            )
        if not last["content"].strip():
            raise PromptError(
                f"{_capital(names[-1])} is empty. There is nothing to extract from"
                f"{'' if is_single else '; leave it out'}."
            )
        system = earlier.pop(0)["content"] if earlier and earlier[0]["role"] == "system" else None
        return cls(last["content"], tuple(earlier), system)


def is_message(value: object) -> bool:
    """Tell whether a value looks like one message of a chat."""
    return isinstance(value, Mapping) and "role" in value


def is_messages(value: object) -> bool:
    """Tell whether a value looks like the messages of a chat."""
    return isinstance(value, list | tuple) and bool(value) and is_message(value[0])


def _message(value: object, name: str) -> dict[str, str]:
    """Return a message with nothing but role and content. Raises PromptError where there is more, or less."""
    title, wanted = _capital(name), "Pass {'role': 'user', 'content': 'text'}."
    if not isinstance(value, Mapping):
        raise PromptError(f"{title} is {shown(value)}, not a dict. {wanted}")
    for key in ("role", "content"):
        if key not in value:
            raise PromptError(f"{title} has no {key!r}. {wanted}")
    role, content = value["role"], value["content"]
    if role not in _ROLES:
        raise PromptError(
            f"{title} has the role {shown(role)}; it must be 'system', 'user' or 'assistant'. {_role(role)}"
        )
    if not isinstance(content, str):
        parts = " Join the texts of its parts." if isinstance(content, list) else ""
        raise PromptError(f"The content of {name} is {shown(content)}, not text. Pass a str.{parts}")
    others = [key for key in value if key not in {"role", "content"} and not _says_nothing(value[key])]
    if others:
        raise PromptError(
            f"{title} has {', '.join(map(repr, others))} beside its role and content, which the prompt would lose. "
            "Write what matters of it into the content."
        )
    return {"role": str(role), "content": content}


def _role(role: object) -> str:
    """Return what to do about a role that there is not."""
    meant = _MEANT.get(role.casefold(), role.casefold()) if isinstance(role, str) else None
    return f"Write {meant!r}." if meant in _ROLES else "Write what the message says into the content of another."


def _says_nothing(value: object) -> bool:
    """Tell whether a value is None or an empty list, as clients fill what a message does not have."""
    return value is None or (isinstance(value, list) and not value)


def _not_text(document: object, *, is_single: bool) -> str:
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


def _capital(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"
