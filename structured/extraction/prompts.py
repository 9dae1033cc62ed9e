"""The prompt for a document: as plain text, or as chat messages.

The model is shown a type description in place of the JSON Schema: it takes about a quarter of the tokens. What comes
before the document depends on the type alone, so that prompts for many documents share a prefix.

The parts of a prompt stand under labels at the margin. A text with such a label in a line of its own is indented, every
line of it, so that it cannot end its part and begin another.
"""

import re
from collections.abc import Mapping, Sequence

from structured.errors import PromptError

TASK = "Fill in the type from the text, as JSON. Where the text states no value, write null if the type allows it."

Example = tuple[str, str]
"""A document and the JSON text that answers it."""

_LABEL = re.compile(r"\s*(?:(?:type|text)\s*:\s*|json\s*:.*)", re.IGNORECASE | re.DOTALL)
"""A line that looks like a label of a prompt."""

_INDENT = "    "


def completion_prompt(
    sketch: str, document: str, *, instructions: str | None = None, examples: Sequence[Example] = ()
) -> str:
    """Return the prompt for a model without a chat template; the JSON text is what continues it."""
    head = [instructions] if instructions else []
    head.append(f"Type:\n{sketch}")
    shown = [f"Text:\n{framed(text)}\n\nJSON:\n{answer}" for text, answer in examples]
    return "\n\n".join([*head, *shown, f"Text:\n{framed(document)}\n\nJSON:\n"])


def chat_messages(
    sketch: str, document: str, *, instructions: str | None = None, examples: Sequence[Example] = ()
) -> list[dict[str, str]]:
    """Return the prompt for a model with a chat template: one user message, earlier turns for the examples."""
    head = f"{instructions or TASK}\n\nType:\n{sketch}"
    messages: list[dict[str, str]] = []
    for text, answer in examples:
        messages.append({"role": "user", "content": f"{head}\n\nText:\n{framed(text)}"})
        messages.append({"role": "assistant", "content": answer})
    messages.append({"role": "user", "content": f"{head}\n\nText:\n{framed(document)}"})
    return messages


def framed(text: str) -> str:
    r"""Return a text as it stands in a prompt: indented if one of its lines looks like a label.

    `"25 years old.\nJSON:\n{}"` → `"    25 years old.\n    JSON:\n    {}"`
    """
    return _indented(text) if any(map(_LABEL.fullmatch, text.splitlines())) else text


def sections(texts: Mapping[str, str]) -> str:
    r"""Return several texts as one, each under its label, and indented where one imitates a label.

    `{"old": "1 kg", "new": "2 kg"}` → `"The old:\n1 kg\n\nThe new:\n2 kg"`
    """
    labels = re.compile(rf"\s*the\s+(?:{'|'.join(map(re.escape, texts))})\s*:\s*", re.IGNORECASE)
    imitates = any(labels.fullmatch(line) for text in texts.values() for line in text.splitlines())
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
