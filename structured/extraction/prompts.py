"""The prompt for a document: as plain text, or as chat messages.

The model is shown a type description in place of the JSON Schema: it takes about a quarter of the tokens. What comes
before the document depends on the type alone, so that prompts for many documents share a prefix.

The parts of a prompt stand under labels at the margin. A text with such a label in a line of its own is indented, every
line of it, so that it cannot end its part and begin another.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

from structured.errors import PromptError
from structured.models.protocol import Messages
from structured.output_types.output_type import Description

Example = tuple[str, str]
"""A document and the text that answers it."""

_TEXT = "Text"
"""The label of a document."""

_INDENT = "    "


def completion_prompt(
    wanted: Description,
    document: str,
    *,
    system: str | None = None,
    instructions: str | None = None,
    examples: Sequence[Example] = (),
) -> str:
    """Return the prompt for a model without a chat template; the answer is what continues it."""
    head = [text for text in (system, instructions) if text]
    head.append(f"{wanted.label}:\n{wanted.text}")
    pairs = [*examples, (document, "")]
    shown = [f"{_TEXT}:\n{framed(text, wanted)}\n\n{wanted.answer}:\n{answer}" for text, answer in pairs]
    return "\n\n".join([*head, *shown])


def chat_messages(  # noqa: PLR0913  what a prompt is made of
    wanted: Description,
    document: str,
    *,
    system: str | None = None,
    earlier: Messages = (),
    instructions: str | None = None,
    examples: Sequence[Example] = (),
) -> list[dict[str, str]]:
    """Return the prompt for a model with a chat template: one user message, earlier turns for the examples.

    Where turns came `earlier`, the chat is left as it is: what is to be done stands above it, in the system message.
    """
    head = "\n\n".join(filter(None, (instructions, wanted.task, f"{wanted.label}:\n{wanted.text}")))
    above = "" if earlier else f"{head}\n\n{_TEXT}:\n"
    if earlier:
        system = "\n\n".join(filter(None, (system, head)))
    messages: list[dict[str, str]] = [] if system is None else [{"role": "system", "content": system}]
    for text, answer in examples:
        messages.append({"role": "user", "content": f"{above}{framed(text, wanted)}"})
        messages.append({"role": "assistant", "content": answer})
    for turn in earlier:
        said = turn["content"]
        messages.append({"role": turn["role"], "content": framed(said, wanted) if turn["role"] == "user" else said})
    messages.append({"role": "user", "content": f"{above}{framed(document, wanted)}"})
    return messages


def framed(text: str, wanted: Description) -> str:
    r"""Return a text as it stands in a prompt: indented if one of its lines looks like a label of the prompt.

    `"25 years old.\nJSON:\n{}"` → `"    25 years old.\n    JSON:\n    {}"`
    """
    label = _label(wanted.label, wanted.answer)
    return _indented(text) if any(map(label.fullmatch, _as_read(text).splitlines())) else text


def _as_read(text: str) -> str:
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
def _label(above: str, answer: str) -> re.Pattern[str]:
    """Return what matches a line that looks like a label; behind that of the answer, the answer may stand."""
    labels = rf"\s*(?:(?:{re.escape(above)}|{_TEXT})\s*:\s*|{re.escape(answer)}\s*:.*)"
    return re.compile(labels, re.IGNORECASE | re.DOTALL)


def sections(texts: Mapping[str, str]) -> str:
    r"""Return several texts as one, each under its label, and indented where one imitates a label.

    `{"old": "1 kg", "new": "2 kg"}` → `"The old:\n1 kg\n\nThe new:\n2 kg"`
    """
    labels = re.compile(rf"\s*the\s+(?:{'|'.join(map(re.escape, texts))})\s*:\s*", re.IGNORECASE)
    imitates = any(labels.fullmatch(line) for text in texts.values() for line in _as_read(text).splitlines())
    return "\n\n".join(f"The {label}:\n{_indented(text) if imitates else text}" for label, text in texts.items())


def _indented(text: str) -> str:
    return "".join(f"{_INDENT}{line}" for line in text.splitlines(keepends=True))


def check_characters(text: str, what: str) -> None:
    r"""Refuse a text with a lone surrogate, which is half of a character (Unicode §3.8, D71) and has no UTF-8.

    Raises PromptError, in which the text is called `what`.
    """
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PromptError(
            f"{what} has half of a character, the lone surrogate {text[error.start]!r}, at position {error.start:,}. "
            "Read the text in its right encoding, or replace it: text.encode(errors='replace').decode()."
        ) from error
