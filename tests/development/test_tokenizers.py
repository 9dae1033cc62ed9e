"""The benchmark of tokenizers: it finds what a tokenizer changes, and counts it by its cause."""

import pytest
from doubles import byte_level_tokenizer

from benchmarks.tokenizers import COLUMNS, changes, row, texts
from structured.vocabulary import Vocabulary


@pytest.mark.thorough
def test_row_of_a_tokenizer_that_changes_nothing() -> None:
    cells = [cell.strip() for cell in row("in memory", byte_level_tokenizer(), 30).strip("|").split("|")]
    found = dict(zip(COLUMNS, cells, strict=True))
    assert found["texts changed"] == "0 of 30"
    assert found["special tokens that stay text"] == "3 of 3"
    assert found["own tokens offered"] == "100.0%"


def test_changes_are_counted_by_their_cause() -> None:
    """A normaliser, bytes in no token, and a token with wrong bytes."""
    from tokenizers import normalizers

    tokenizer = byte_level_tokenizer()
    plain = Vocabulary.from_transformers(tokenizer)
    some = ["e\u0301", "x", "\x04"]
    assert changes(plain, tokenizer, [*some, *texts(30)]) == (0, 0, 0)
    wrong = tuple(b"y" if token == b"x" else token for token in plain.tokens)
    assert changes(Vocabulary(wrong, plain.end_token_ids, plain.encode), tokenizer, some) == (0, 0, 1)
    tokenizer.backend_tokenizer.normalizer = normalizers.NFC()
    composing = Vocabulary.from_transformers(tokenizer)
    assert changes(composing, tokenizer, some) == (1, 0, 0)
    absent = tuple(None if token == b"\x04" else token for token in plain.tokens)
    lacking = Vocabulary(absent, plain.end_token_ids, lambda text: [one for one in plain.encode(text) if absent[one]])  # type: ignore[misc]
    assert changes(lacking, byte_level_tokenizer(), ["x", "\x04"]) == (0, 1, 0)
