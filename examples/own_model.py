"""A model of one's own: any function from token ids to logits, with a tokenizer that tells the bytes of its tokens.

The model here has no weights. It prefers whatever token it can find in the document, the longest first; the types do
the rest. Run it with `python examples/own_model.py`.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from structured import extract


class Words:
    """A tokenizer: every byte is a token, some words are, and the last token ends an answer."""

    def __init__(self, *words: str) -> None:
        self.tokens = [*(bytes([byte]) for byte in range(256)), *(word.encode() for word in words), None]
        self.end_token_ids = [len(self.tokens) - 1]

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a prompt: its bytes. A real tokenizer would use its longer tokens too."""
        return list(text.encode())


TOKENIZER = Words("small", "medium", "large")


def copying(token_ids: Sequence[int]) -> list[float]:
    """Return a logit for each token: its length if it stands in the document, 0 otherwise."""
    text = b"".join(TOKENIZER.tokens[token_id] or b"" for token_id in token_ids)
    document = text.rpartition(b"\n\nJSON:\n")[0].rpartition(b"Text:\n")[2]
    return [float(len(token)) if token and token in document else 0.0 for token in TOKENIZER.tokens]


class Order(BaseModel):
    size: Literal["small", "medium", "large"]
    count: int = Field(ge=1, le=12)


if __name__ == "__main__":
    model = (copying, TOKENIZER)
    for document in ("A large coffee for each of the 3 of us!", "Could we have 12 small ones?"):
        print(repr(extract(Order, document, model=model)))
