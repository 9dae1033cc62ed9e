"""A model of one's own: two methods and a choice of rows are enough, and all else is inherited."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from doubles import ByteTokenizer, random_logits

from structured import Beams, extract_batch
from structured.extraction.extractor import Options
from structured.models import DecodingBatch, FunctionModel, LanguageModel
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()
LOGITS = random_logits(len(TOKENIZER.tokens), scale=3.0)


class Least(LanguageModel):
    """A model that has no more than it must, and that is asked for no more."""

    def __init__(self) -> None:
        self.name = "least"
        self.vocabulary = Vocabulary.from_tokenizer(TOKENIZER)

    def prefill(self, prompts: Sequence[Sequence[int]], *, shared: int = 0, window: int = 0) -> tuple["Rows", Any]:
        assert shared >= 0
        assert window == 0
        batch = Rows([[] for _ in prompts])
        return batch, batch._read(prompts)


class Rows(DecodingBatch):
    """Texts that are given as many tokens each, and that nobody joins."""

    def __init__(self, texts: list[list[int]]) -> None:
        self.texts = texts

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Any:
        assert window == 0
        assert len(set(map(len, token_ids))) == 1
        return self._read(token_ids)

    def select(self, rows: Sequence[int]) -> None:
        self.texts = [self.texts[row] for row in rows]

    def _read(self, token_ids: Sequence[Sequence[int]]) -> Any:
        self.texts = [[*text, *new] for text, new in zip(self.texts, token_ids, strict=True)]
        return np.stack([LOGITS(text) for text in self.texts])


@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize(
    "way", [{}, {"jump_forward": False}, {"temperature": 1.0, "seed": 1}, {"search": Beams(2)}], ids=repr
)
def test_the_least_model_writes_what_others_write(way: Options, batch_size: int) -> None:
    """In batches of any size, sampled or searched for, with forced tokens or without."""
    documents = ["a", "b" * 20, "c", "d" * 7, "e"]
    options: Options = {"batch_size": batch_size, "max_tokens": 30, "retries": 0, **way}
    expected = extract_batch(list[int], documents, model=FunctionModel(LOGITS, TOKENIZER), **options)
    assert extract_batch(list[int], documents, model=Least(), **options) == expected
