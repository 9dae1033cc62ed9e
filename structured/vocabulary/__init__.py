"""A tokenizer's vocabulary: the exact bytes of its tokens, and tries of them."""

from structured.vocabulary.trie import UNESCAPED_SEQUENCES
from structured.vocabulary.vocabulary import Tokenizer, TransformersTokenizer, Vocabulary, bytes_text

__all__ = ["UNESCAPED_SEQUENCES", "Tokenizer", "TransformersTokenizer", "Vocabulary", "bytes_text"]
