"""The exact bytes of tokens, read from the definitions of real tokenizers, and the trie of them."""

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from doubles import (
    BOS,
    END,
    END_OF_TURN,
    HIDDEN,
    MERGED_TOKENS,
    REAL_NAMES,
    ByteTokenizer,
    byte_level_tokenizer,
    fast_tokenizer,
    real_tokenizer,
    real_vocabulary,
    spell,
)
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import decoders

from benchmarks.tokenizers import normalised
from structured.errors import VocabularyError
from structured.vocabulary.trie import TokenBytes, Trie
from structured.vocabulary.vocabulary import UTF8_BYTES, Vocabulary, piece_reader

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1) | st.text('aé€🙂 \n"\\{}1', min_size=1)
FEW_BYTES = st.lists(st.sampled_from(b"abc"), max_size=6).map(bytes)
BYTES = tuple(bytes([byte]) for byte in range(256))


FAMILIES = (
    *(*REAL_NAMES, "qwen3", "smollm2"),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("gemma3", "deepseek-v3")),
)


@pytest.mark.thorough
@pytest.mark.parametrize("name", FAMILIES)
@given(text=TEXTS)
@example(text='  {"name": "Ana",\n\t"äöü": [1.5e-3, null]} 日本🙂\u200d\x00\x85\u3000')
@example(text="▁a ▁ e\u0301 \u212b \x04 \U000b0000")
@settings(max_examples=examples(60), deadline=None)
def test_tokens_spell_the_text_that_they_encode(name: str, text: str) -> None:
    """The bytes of a text's tokens are those of the text, but for what a normaliser changes and bytes in no token."""
    vocabulary, tokenizer = real_vocabulary(name), real_tokenizer(name)
    found = spell(vocabulary.tokens, tokenizer.encode(text, add_special_tokens=False))
    expected = normalised(tokenizer, text).encode()
    assert found == bytes(byte for byte in expected if byte not in vocabulary.absent_bytes)
    if tokenizer.backend_tokenizer.normalizer is None and not vocabulary.absent_bytes:
        assert found == text.encode()


@given(st.builds("<0x{}>".format, st.text("0123456789abcdefABCDEFgZ+- _é", min_size=1, max_size=3)))
@example("<0xZZ>")
@example("<0x+F>")
def test_a_piece_names_a_byte_where_the_decoder_reads_one(piece: str) -> None:
    """Byte fallback of `tokenizers` decides; what names no byte, such as `<0xZZ>`, is its own text."""
    decoder = decoders.ByteFallback()
    found = piece_reader({"type": "ByteFallback"})(piece)
    assert found.decode(errors="replace") == decoder.decode([piece])
    assert len(found) == 1 or found == piece.encode()


def test_special_tokens_have_no_bytes(real: Vocabulary, tokenizer: Any) -> None:
    """No special token can occur inside an answer; every other token of a real vocabulary has its bytes."""
    special = {id_ for id_, token in tokenizer.added_tokens_decoder.items() if token.special}
    assert special >= set(tokenizer.all_special_ids)
    assert {token_id for token_id, token in enumerate(real.tokens) if token is None} == special
    assert real.end_token_ids == {tokenizer.eos_token_id}
    assert real.size == len(tokenizer)


@pytest.mark.thorough
def test_several_end_tokens(tokenizer: Any) -> None:
    """Each token that is named as an end ends an answer and loses its bytes, whether or not it is special."""
    ends = {tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("the")}
    vocabulary = Vocabulary.from_transformers(tokenizer, end_token_ids=ends)
    assert vocabulary.end_token_ids == ends
    assert all(vocabulary.tokens[token_id] is None for token_id in ends)


@pytest.mark.thorough
@given(text=TEXTS)
def test_byte_level_tokenizer_made_in_memory(text: str) -> None:
    """A tokenizer of merges that cut characters is read as exactly as the published ones."""
    tokenizer = byte_level_tokenizer()
    vocabulary = Vocabulary.from_transformers(tokenizer)
    assert spell(vocabulary.tokens, tokenizer(text)["input_ids"]) == text.encode()
    assert set(MERGED_TOKENS) <= set(vocabulary.tokens)


@given(text=TEXTS)
def test_byte_tokenizer_double_spells_the_text(text: str) -> None:
    """The double that most tests generate with keeps the laws of a real tokenizer."""
    tokenizer = ByteTokenizer()
    token_ids = tokenizer.encode(text)
    assert token_ids[0] == BOS
    assert spell(tokenizer.tokens, token_ids) == text.encode()


def sentencepiece_tokenizer(*added: str) -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models

    pieces = ["<unk>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "▁▁", "▁the", "é", "<0x1>"]
    backend = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, [], byte_fallback=True))
    backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    backend.add_tokens([AddedToken(piece, normalized=False) for piece in added])
    return fast_tokenizer(backend, {"unk_token": "<unk>", "eos_token": "</s>"})


def test_sentencepiece_pieces() -> None:
    """▁ is a space, <0x..> is a byte, and everything else is itself."""
    tokenizer = sentencepiece_tokenizer()
    vocabulary = Vocabulary.from_transformers(tokenizer)
    read = {piece: vocabulary.tokens[token_id] for piece, token_id in tokenizer.get_vocab().items()}
    assert (read["▁the"], read["é"], read["<0x1>"]) == (b" the", "é".encode(), b"<0x1>")
    assert (read["<0x0A>"], read["<0xF0>"], read["<unk>"]) == (b"\n", b"\xf0", None)


def test_spaces_that_sentencepiece_lists_as_added_tokens() -> None:
    """The runs of spaces that Gemma lists as added tokens are spaces, as its decoder says, and not U+2581."""
    tokenizer = sentencepiece_tokenizer("▁▁", "\n\n")
    vocabulary = Vocabulary.from_transformers(tokenizer)
    for piece in ("▁▁", "\n\n"):
        token_id = tokenizer.convert_tokens_to_ids(piece)
        assert vocabulary.tokens[token_id] == tokenizer.decode([token_id]).encode()


@pytest.mark.parametrize("text", ["<tool call>", "<é>", "日本語"])
def test_token_added_to_byte_level_bpe_is_its_own_text(text: str) -> None:
    """A user's added token is not spelled in the byte alphabet, even if it could be: its bytes are its text."""
    tokenizer = byte_level_tokenizer()
    tokenizer.add_tokens([text])
    vocabulary = Vocabulary.from_transformers(tokenizer)
    assert vocabulary.tokens[tokenizer.convert_tokens_to_ids(text)] == text.encode()


@pytest.mark.parametrize(
    ("longer", "absent", "has_byte_tokens"),
    [
        ([], {0x0A, 0xE2}, True),
        ([b"a\n"], {0xE2}, False),
        (["\n€".encode()], set(), False),
        ([b"ab"], {0x0A, 0xE2}, True),
    ],
)
def test_vocabulary_states_what_it_lacks(longer: list[bytes], absent: set[int], has_byte_tokens: bool) -> None:
    """Bytes are absent that are in no token; those that are in longer tokens alone make a vocabulary not closed."""
    tokens = [None, *(byte for byte in BYTES if byte not in (b"\n", b"\xe2")), *longer]
    vocabulary = Vocabulary(tuple(tokens), frozenset({0}))
    assert (vocabulary.absent_bytes, vocabulary.has_byte_tokens) == (absent, has_byte_tokens)
    assert set(np.flatnonzero(vocabulary.is_byte_present)) == UTF8_BYTES - absent
    assert (", without 0x" in repr(vocabulary)) == bool(absent)


def test_tokens_are_bytes() -> None:
    """Whoever makes a vocabulary of anything else is told of which kinds it is."""
    with pytest.raises(VocabularyError, match=r"^The tokens of a vocabulary are bytes or None, and some are of int, "):
        Vocabulary((None, *BYTES, 3, "a"), frozenset({0}))  # type: ignore[arg-type]


@pytest.mark.thorough
def test_bytes_outside_utf8_may_be_missing() -> None:
    """Only bytes that occur in UTF-8 are needed; what never occurs need not be spelled."""
    assert {
        *bytes(range(0x80)),
        *"".join(map(chr, (*range(0x80, 0xD800), *range(0xE000, 0x110000)))).encode(),
    } == UTF8_BYTES
    vocabulary = Vocabulary((None, *(BYTES[byte] for byte in sorted(UTF8_BYTES))), frozenset({0}))
    assert not vocabulary.absent_bytes
    assert vocabulary.has_byte_tokens


@pytest.mark.parametrize("ends", [set(), {-1}, {257}, {0, 1}], ids=["none", "negative", "outside", "with bytes"])
def test_end_tokens_must_be_tokens_without_bytes(ends: set[int]) -> None:
    """An answer must be able to end, and an end must not be readable as a part of the answer."""
    with pytest.raises(VocabularyError, match=r"The end tokens \[.*\] must be at least one, lie inside the vocabulary"):
        Vocabulary((None, *BYTES), frozenset(ends))


def test_decoder_that_is_not_understood() -> None:
    """A tokenizer whose tokens have no exact bytes (BERT's WordPiece) is refused by the name of its decoder."""
    from tokenizers import Tokenizer, decoders, models

    backend = Tokenizer(models.WordPiece({"[UNK]": 0, "[SEP]": 1, "a": 2, "##b": 3}))
    for decoder, name in ((decoders.WordPiece(), r"\['WordPiece'\]"), (None, "missing")):
        backend.decoder = decoder
        with pytest.raises(VocabularyError, match=f"its decoder is {name}, and only byte-level BPE and SentencePiece"):
            Vocabulary.from_transformers(fast_tokenizer(backend, {"eos_token": "[SEP]"}))


def test_slow_tokenizer_is_refused() -> None:
    """A tokenizer without a definition to read is refused by its class, with two ways out."""
    with pytest.raises(VocabularyError, match=r"^SimpleNamespace is not a fast tokenizer, .* Load the fast"):
        Vocabulary.from_transformers(SimpleNamespace(eos_token_id=0, all_special_ids=[0]))


def test_vocabulary_of_a_tokenizer_that_tells_its_bytes(vocabulary: Vocabulary) -> None:
    """A tokenizer of one's own is taken at its word: special tokens hidden, several ends."""
    assert vocabulary.tokens == ByteTokenizer().tokens
    assert vocabulary.end_token_ids == {END, END_OF_TURN}
    assert all(vocabulary.tokens[token_id] is None for token_id in (BOS, END, END_OF_TURN, HIDDEN))
    assert repr(vocabulary) == f"Vocabulary({len(vocabulary.tokens):,} tokens, end=[1, 2])"


def tokens_by_bytes(trie: Trie) -> dict[bytes, list[int]]:
    """Read a trie with nothing but the path to each node."""
    found: dict[bytes, list[int]] = {}
    paths = {0: b""}
    for node in range(len(trie.byte)):
        for child in range(trie.first[node], trie.first[node + 1]):
            assert child not in paths, "a node has two parents"
            paths[child] = paths[node] + bytes([trie.byte[child]])
        ids = trie.token_ids[trie.token_start[node] : trie.token_start[node + 1]].tolist()
        if ids:
            assert paths[node] not in found, "two nodes have one path"
            found[paths[node]] = ids
    return found


@pytest.mark.thorough
@given(st.lists(st.none() | st.binary(max_size=4) | FEW_BYTES, max_size=40))
def test_trie_lists_exactly_the_tokens(tokens: list[bytes | None]) -> None:
    """Walking the trie finds each token at its bytes: duplicates side by side, tokens without bytes nowhere."""
    expected = defaultdict(list)
    for token_id, token in enumerate(tokens):
        if token:
            expected[token].append(token_id)
    assert tokens_by_bytes(Trie.from_tokens(tokens)) == expected


@given(st.lists(st.none() | FEW_BYTES | st.binary(max_size=40), max_size=80), st.data())
def test_the_trie_of_some_tokens(tokens: list[bytes | None], data: st.DataObject) -> None:
    """It is the trie of all, where the others have no bytes; many tokens are sorted as few are."""
    is_included = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens))), dtype=np.bool_
    )
    part = Trie.of(TokenBytes.of(tokens), is_included)
    whole = Trie.from_tokens(
        [token if flag else None for token, flag in zip(tokens, is_included.tolist(), strict=True)]
    )
    for name in ("byte", "first", "token_start", "token_ids", "height"):
        assert np.array_equal(getattr(part, name), getattr(whole, name))


@pytest.mark.thorough
def test_tokens_are_told_apart_by_length_and_quote(real: Vocabulary) -> None:
    """Each token has one length; in a string, it ends that if it has a quote, wherever the string began."""
    lengths = [trie.token_ids.tolist() for _, trie in real.tries_by_length]
    assert sorted(token_id for some in lengths for token_id in some) == sorted(real.trie.token_ids.tolist())
    tries = real.string_tries
    ending = {token_id: text for text, ids in tokens_by_bytes(tries.from_quote).items() for token_id in ids}
    assert sorted(ending) == sorted(tries.with_quote.token_ids.tolist())
    for token_id, text in ending.items():
        token = real.tokens[token_id] or b""
        before = token.removesuffix(text).decode()
        assert token.endswith(text)
        assert not before or (text.startswith(b'"') and before.isprintable() and "\\" not in before)


@given(st.lists(FEW_BYTES, max_size=40), FEW_BYTES)
def test_a_text_is_followed_as_far_as_a_token_begins_with_it(tokens: list[bytes], text: bytes) -> None:
    """A child is found by its byte, the tokens that end there are those of its bytes, and -1 is no node."""
    trie, node = Trie.from_tokens(tokens), 0
    for end in range(1, len(text) + 1):
        node = trie.child(node, text[end - 1])
        assert (node >= 0) == any(token.startswith(text[:end]) for token in tokens)
        if node < 0:
            break
        assert trie.tokens_at(node) == [token_id for token_id, token in enumerate(tokens) if token == text[:end]]


@pytest.mark.thorough
@given(st.lists(FEW_BYTES, max_size=40))
def test_children_lie_side_by_side(tokens: list[bytes]) -> None:
    """Each node but the root is the child of one, children are sorted by byte, and leaves are tokens."""
    trie = Trie.from_tokens(tokens)
    nodes = len(trie.byte)
    assert (trie.first[0], trie.first[nodes]) == (1, nodes)
    for node in range(nodes):
        children = trie.byte[trie.first[node] : trie.first[node + 1]].tolist()
        assert children == sorted(set(children))
        if node > 0 and not children:
            assert trie.token_start[node] < trie.token_start[node + 1]


@pytest.mark.thorough
def test_trie_of_a_real_vocabulary(real: Vocabulary) -> None:
    """The trie of a real vocabulary holds each of its tokens once, at its bytes."""
    found = tokens_by_bytes(real.trie)
    assert all(real.tokens[token_id] == token for token, ids in found.items() for token_id in ids)
    assert sum(map(len, found.values())) == sum(token is not None for token in real.tokens)
