"""The sketch of a type and a document enter; the prompt leaves, as plain text or as chat messages.

The model is shown a sketch in place of the JSON Schema: it takes about a quarter of the tokens. What comes before the
document depends on the type alone, so that prompts for many documents share a prefix.
"""

from collections.abc import Sequence

TASK = "Fill in the type from the text, as JSON. Where the text states no value, write null if the type allows it."

Example = tuple[str, str]
"""A document and the JSON text that answers it."""


def completion_prompt(
    sketch: str, document: str, *, instructions: str | None = None, examples: Sequence[Example] = ()
) -> str:
    """Return the prompt for a model without a chat template; the JSON text is what continues it."""
    head = [instructions] if instructions else []
    head.append(f"Type:\n{sketch}")
    shown = [f"Text:\n{text}\n\nJSON:\n{answer}" for text, answer in examples]
    return "\n\n".join([*head, *shown, f"Text:\n{document}\n\nJSON:\n"])


def chat_messages(
    sketch: str, document: str, *, instructions: str | None = None, examples: Sequence[Example] = ()
) -> list[dict[str, str]]:
    """Return the prompt for a model with a chat template: one user message, earlier turns for the examples."""
    head = f"{instructions or TASK}\n\nType:\n{sketch}"
    messages: list[dict[str, str]] = []
    for text, answer in examples:
        messages.append({"role": "user", "content": f"{head}\n\nText:\n{text}"})
        messages.append({"role": "assistant", "content": answer})
    messages.append({"role": "user", "content": f"{head}\n\nText:\n{document}"})
    return messages
