"""Use a function as the model: it takes token ids and returns logits; its tokenizer has the bytes of the tokens.

This model has no weights. It prefers tokens that continue the answer as the document does, and so copies out of the
document. The type does the rest.

    $ python examples/own_model.py
    Order(size='large', count=3)
    Order(size='small', count=12)
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
    """Return a logit for each token: how many bytes of the answer, up to this token, stand in the document."""
    text = b"".join(TOKENIZER.tokens[token_id] or b"" for token_id in token_ids)
    prompt, _, answer = text.rpartition(b"\n\nJSON:\n")
    document = prompt.rpartition(b"Text:\n")[2]
    ends = [answer[len(answer) - length :] for length in range(min(len(answer), 8) + 1)]
    copied = [[len(end + token) for end in ends if end + token in document] for token in TOKENIZER.tokens if token]
    return [float(max(lengths, default=0)) for lengths in copied] + [0.0]


class Order(BaseModel):
    size: Literal["small", "medium", "large"]
    count: int = Field(ge=1, le=12)


if __name__ == "__main__":
    model = (copying, TOKENIZER)
    for document in ("A large coffee for each of the 3 of us!", "Could we have 12 small ones?"):
        print(repr(extract(Order, document, model=model)))
