"""A tokenizer's vocabulary: the exact bytes of its tokens, and tries of them."""

from structured.vocabulary.vocabulary import (
    PLAIN_SEQUENCES,
    Tokenizer,
    TokenLayout,
    TransformersTokenizer,
    Vocabulary,
    bytes_text,
)

__all__ = ["PLAIN_SEQUENCES", "TokenLayout", "Tokenizer", "TransformersTokenizer", "Vocabulary", "bytes_text"]
