"""Word vectors: what a pretrained model knows of English words, as the first embedding of a smaller one.

Composed documents name some thousand fields, and people name others. That a `vendor` is a `seller` can be known from
the embedding of any model that has read English. Its tokens give the vocabulary as well: the commonest words first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

SPACE = "Ġ"
"""How byte-level BPE spells the space before a word (Radford et al., 2019)."""

WORDS = 8_000
"""Of the commonest ones."""

OCCURRENCES = 100_000
"""Of the first word; the n-th has an n-th of them (Zipf's law)."""


@dataclass(frozen=True, slots=True)
class WordVectors:
    """The tokens of a model by falling frequency, and the embedding of each, shape (tokens, width)."""

    tokens: Sequence[str]
    vectors: NDArray[np.float32]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read tokens and embedding of a GGUF file. Raises ValueError where its tokens are not byte-level BPE."""
        from gguf import GGUFReader, dequantize

        reader = GGUFReader(path)
        field = reader.fields["tokenizer.ggml.tokens"]
        tokens = [bytes(field.parts[part]).decode() for part in field.data]
        if not any(token.startswith(SPACE) for token in tokens):
            raise ValueError(f"{path} has no byte-level BPE; take a model whose tokens begin words with {SPACE!r}.")
        (tensor,) = (one for one in reader.tensors if one.name == "token_embd.weight")
        return cls(tokens, dequantize(tensor.data, tensor.tensor_type).astype(np.float32))

    def words(self) -> Iterator[str]:
        """Yield texts in which each of the commonest words stands as often as its rank lets expect."""
        words = (token.removeprefix(SPACE) for token in self.tokens if token.startswith(SPACE))
        common = [word for word in words if len(word) > 1 and word.isascii() and word.isalpha()][:WORDS]
        for rank, word in enumerate(common, start=1):
            yield " ".join([word] * (OCCURRENCES // rank))

    def embedding(self, tokenizer: PreTrainedTokenizerFast, width: int) -> torch.Tensor:
        """Return an embedding for the tokens of a tokenizer, shape (tokens, width), of root mean square 1.

        A token that the model has too, alone or at the beginning of a word, has its vector, any other the mean of those
        of its characters' longest known pieces; then the first principal components are taken.
        """
        known = {token: number for number, token in enumerate(self.tokens)}
        names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        rows = np.stack([self.vectors[_pieces(name, known)].mean(axis=0) for name in names])
        rows -= rows.mean(axis=0)
        _, _, directions = np.linalg.svd(rows, full_matrices=False)
        reduced = rows @ directions[:width].T
        return torch.from_numpy(reduced / np.sqrt(np.square(reduced).mean(axis=1, keepdims=True) + 1e-12))


def _pieces(name: str, known: dict[str, int]) -> list[int]:
    """Cut a token into the longest pieces that are known, from the left; the first may begin a word."""
    if SPACE + name in known:
        return [known[SPACE + name]]
    pieces: list[int] = []
    rest = SPACE + name if name.isalpha() else name
    while rest:
        length = next((end for end in range(len(rest), 0, -1) if rest[:end] in known), 0)
        if not length:
            rest = rest[1:]
            continue
        if rest[:length] != SPACE:
            pieces.append(known[rest[:length]])
        rest = rest[length:]
    return pieces or [0]
