"""Chunks: nothing of a document is lost, each has its share of tokens, and joints are where a reader would cut."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structured.extraction.documents.chunks import MAX_HEADING_CHARACTERS, Chunk, chunks

PIECES = st.sampled_from(
    [
        *("word ", "A sentence. ", "¡Otra! ", "\n", "\n\n", "\r\n", "  ", "# Head\n", "Title\n=====\n", "ALL OVER\n\n"),
        *(
            "A;B;C\n1;2;3\n4;5;6\n",
            "|a|b|\n|--|--|\n|1|2|\n",
            "a\tb\nc\td\ne\tf\n",
            "x" * 50,
            "é漢。",
            "\U0001f600",
            "\0",
        ),
    ]
)
DOCUMENTS = st.lists(PIECES, max_size=60).map("".join)


@given(DOCUMENTS, st.integers(1, 60))
def test_all_text_is_in_a_chunk(document: str, max_tokens: int) -> None:
    """What is in no chunk is whitespace. Each chunk goes on where the one before ended, or repeats some of it."""
    found = chunks(document, len, max_tokens)
    inside = {place for chunk in found for place in range(*chunk.body)}
    assert all(document[place].isspace() for place in range(len(document)) if place not in inside)
    for one, following in pairwise(found):
        assert one.body[0] < following.body[0]
        assert one.body[1] < following.body[1]


@given(DOCUMENTS, st.integers(1, 60))
def test_no_chunk_has_too_many_tokens(document: str, max_tokens: int) -> None:
    """A chunk and its context take as many tokens as are allowed at most."""
    for chunk in chunks(document, len, max_tokens):
        assert sum(end - start for start, end in (*chunk.context, chunk.body)) <= max_tokens


@given(DOCUMENTS, st.integers(1, 60))
def test_no_word_is_cut_that_a_chunk_holds(document: str, max_tokens: int) -> None:
    """Else a quotation could end with the half word."""
    words = [match.span() for match in re.finditer(r"[^\s。！？]+", document)]
    for chunk in chunks(document, len, max_tokens):
        for cut in chunk.body:
            assert all(end - start >= max_tokens for start, end in words if start < cut < end)


@given(DOCUMENTS, st.integers(4, 60), st.data())
def test_what_is_found_in_a_chunk_is_found_in_the_document(document: str, max_tokens: int, data: st.DataObject) -> None:
    """Where something stands in a chunk's text leads to the same text in the document, or across a joint to nothing."""
    for chunk in chunks(document, len, max_tokens):
        text = chunk.text(document)
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        span = chunk.in_document((start, end))
        if span is not None:
            assert document[slice(*span)] == text[start:end]
        else:
            assert chunk.context
            assert "\n" in text[start:end]


@given(DOCUMENTS, st.integers(2, 60), st.data())
def test_a_part_is_cut_like_a_document(document: str, max_tokens: int, data: st.DataObject) -> None:
    """The chunks of a part of a document have all of it, and nothing else."""
    start = data.draw(st.integers(0, len(document)))
    end = data.draw(st.integers(start, len(document)))
    found = chunks(document, len, max_tokens, span=(start, end))
    inside = {place for chunk in found for place in range(*chunk.body)}
    assert inside <= set(range(start, end))
    assert all(document[place].isspace() for place in range(start, end) if place not in inside)


def shown(document: str, max_tokens: int) -> list[str]:
    return [chunk.text(document) for chunk in chunks(document, len, max_tokens)]


@pytest.mark.parametrize(
    ("document", "max_tokens", "expected"),
    [
        ("One two. Three four. Five six.", 16, ["One two. ", "Three four. ", "Five six."]),
        ("First line.\n\nSecond one.\n\nThird.", 22, ["First line.\n\n", "Second one.\n\nThird."]),
        ("# A\nbody a\n# B\nbody b\n", 15, ["# A\nbody a\n", "# B\nbody b\n"]),
        (
            "# A\nFirst words of it.\n\nSecond words here.\n\nThird ones.\n",
            28,
            ["# A\nFirst words of it.\n\n", "# A\nSecond words here.\n\n", "# A\nThird ones.\n"],
        ),
        (
            "First of all. A sentence that goes on\nin the next line and ends here. Another comes after it.\n",
            70,
            [
                "First of all. A sentence that goes on\nin the next line and ends here. ",
                "Another comes after it.\n",
            ],
        ),
        (
            "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n",
            45,
            ["| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", "| a | b |\n|---|---|\n| 5 | 6 |\n"],
        ),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("   \n\n ", 4, []),
        ("", 4, []),
    ],
    ids=[
        "sentences",
        "paragraphs",
        "headings",
        "last-heading",
        "wrapped",
        "table-header",
        "characters",
        "blank",
        "empty",
    ],
)
def test_joints(document: str, max_tokens: int, expected: list[str]) -> None:
    """Chunks end at the strongest joint of their second half, and begin with what a reader would look up for them."""
    assert shown(document, max_tokens) == expected


def test_a_chunk_repeats_the_end_of_the_one_before() -> None:
    """Up to an eighth of its tokens, from the start of a sentence, so that what stands across a joint is whole once."""
    sentences = [f"Sentence {number:02}. " for number in range(40)]
    found = chunks("".join(sentences), len, 200)
    for one, following in pairwise(found):
        assert one.body[1] - following.body[0] == len(sentences[0])


def test_a_heading_of_a_page_is_no_context() -> None:
    """A heading that is as long as text does not go along with each chunk."""
    document = "# " + "very " * MAX_HEADING_CHARACTERS + "long\n\n" + "Words of it. " * 100
    assert all(not chunk.context for chunk in chunks(document, len, 700))


def test_tokens_are_counted_piece_by_piece() -> None:
    """Each piece of a text is counted once or twice, so that splitting takes time in proportion to its length."""
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text)

    document = "A line of text.\n" * 5_000
    found = chunks(document, count, 400)
    assert sum(counted) < 3 * len(document)
    assert len(found) < 3 * len(document) / 400


def test_a_chunk_has_a_token() -> None:
    """There is no chunk of no tokens."""
    with pytest.raises(ValueError, match="max_tokens is 0; a chunk has 1 or more"):
        chunks("text", len, 0)
    assert chunks("é", lambda text: len(text.encode()), 1) == [Chunk((0, 1))]


def test_a_part_of_a_table_has_the_header_of_the_table() -> None:
    """A part begins in the middle of what it is a part of: its first row is no header, and text after it has none."""
    rows = "".join(f"ann{letter} bb;rome;pear\n" for letter in "abcdefghijklmnop")
    table = f"name;city;fruit\n{rows}"
    document = f"{table}\n{'Then everybody went home. ' * 4}\n"
    halves = chunks(document, len, 150, span=(table.index("annc"), len(document)))
    assert {halves[0].context} == {((0, 15),)}
    for chunk in halves:
        assert chunk.context == (((0, 15),) if chunk.body[0] < len(table) else ())
