"""Quotations of a document: the automaton reads exactly the substrings that the rules allow, as JSON spells them."""

import json
import random
import re
import unicodedata
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from brute_force import brute_successors
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import accepted, read, states_on_walks

from structured.automata import DEAD, Limits, RegularAutomaton
from structured.automata.loops.quoting import measure_ends, suffix_array
from structured.automata.opcodes import BARRIER, FAR
from structured.automata.quotations import MAX_ENTRIES, IndexedDocument
from structured.errors import PatternError
from structured.index.index import Index
from structured.index.masks import unpack
from structured.json_schema.strings.strings import inside_json_string
from structured.regex import Pattern, alternation, concat, literal, repeat, without_bytes, words
from structured.regex.character_classes import PYTHON
from structured.regex.regex_parser import regex_to_pattern
from structured.vocabulary import Vocabulary

PIECES = ["a", "b", "ab", "ba", " ", " ", "\n", "\r\n", "\t", "\r", "é", "e\u0301", '"', "\\", "-", "_", "7"]
PIECES += [".", ",", "(", "\x01"]
RARE = ["日", "本", "🙂", "\u200d", "\u0301", "\ud800", "\udc00", "\u2028", "\xa0", "\x7f", "が", "ส"]

documents = st.lists(st.sampled_from(PIECES) | st.sampled_from(RARE), max_size=9).map("".join)

PATTERNS = [".*", "a+", "[ab]{1,2}", "(ab| )+", r"\w+\s\w+", '[^"]*', "x", "", r"(?s:.{2})", "a|.b"]


def extends(document: str, place: int) -> bool:
    """Tell whether a character is a mark on the one before it."""
    mark = unicodedata.category(document[place]).startswith("M") or document[place] in "\u200c\u200d"
    return mark and place > 0 and not "\ud800" <= document[place - 1] <= "\udfff"


def is_word(document: str, place: int) -> bool:
    """Tell whether a character, or the one that it belongs to, is one of a word between spaces."""
    while extends(document, place):
        place -= 1
    character = document[place]
    name = unicodedata.name(character, "")
    return (character.isalnum() or character == "_") and not name.startswith(("CJK", "HIRAGANA", "THAI"))


def base(document: str, place: int) -> str:
    """Return the character that one belongs to, itself if it is no mark on another; "" outside of the document."""
    if not 0 <= place < len(document):
        return ""
    while extends(document, place):
        place -= 1
    return document[place]


def is_edge(document: str, place: int, any_character: bool) -> bool:
    if place in {0, len(document)}:
        return True
    if extends(document, place) or document[place - 1 : place + 1] == "\r\n":
        return False
    if document[place - 1] == "\u200d" and not is_blank(document[place]):
        return False
    if any_character:
        return True
    around = "".join(base(document, one) for one in range(place - 2, place + 2))
    before, behind = around[:-1], around[-3:]
    is_cut_number = place >= 2 and re.fullmatch(NUMBER, before) or re.fullmatch(NUMBER, behind)  # noqa: RUF021
    return not (is_word(document, place - 1) and is_word(document, place)) and not is_cut_number


NUMBER = r"\d[.,'’]\d"
MARKS = frozenset('-".,(')


def is_blank(character: str) -> bool:
    return not character or character.isspace() or "\ud800" <= character <= "\udfff"


def opens(document: str, place: int) -> bool:
    """Tell whether a quotation may begin at a place, as far as punctuation is concerned."""
    return base(document, place) not in MARKS or (
        is_blank(beyond(document, place, -1)) and not is_blank(beyond(document, place, 1))
    )


def closes(document: str, place: int) -> bool:
    """Tell whether a quotation may end behind a character."""
    return base(document, place) not in MARKS or not is_blank(beyond(document, place, -1))


def beyond(document: str, place: int, step: int) -> str:
    """Return what stands beside a run of punctuation."""
    while base(document, place) in MARKS:
        place += step
    return base(document, place)


def is_quotable(text: str) -> bool:
    return bool(text) and not (text[0].isspace() or text[-1].isspace()) and not re.search("[\ud800-\udfff]", text)


def versions(document: str) -> list[tuple[str, list[int]]]:
    """Return the document, and with one space wherever white space wraps a line, each with the places in it."""
    wrapped, places = "", list[int]()
    for match in re.finditer(r"\s+|\S", document):
        text = " " if match[0].isspace() and len(match[0].splitlines()[0]) < len(match[0]) else match[0]
        wrapped += text
        places += range(match.start(), match.start() + len(text))
    return [(document, list(range(len(document)))), (wrapped, places)]


def all_quotations(document: str, any_character: bool = False) -> dict[str, set[tuple[int, int]]]:
    """Return every text that may be quoted with where it stands."""
    found: dict[str, set[tuple[int, int]]] = {}
    for text, places in versions(document):
        edges = [place for place in range(len(text) + 1) if is_edge(text, place, any_character)]
        for start, end in product(edges, edges):
            whole = any_character or (start < end and opens(text, start) and closes(text, end - 1))
            if start < end and whole and is_quotable(text[start:end]):
                found.setdefault(text[start:end], set()).add((places[start], places[end - 1] + 1))
    return found


def spelled(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def all_texts(automaton: RegularAutomaton, state: int, before: bytes = b"") -> Iterator[bytes]:
    if automaton.accepts(state):
        yield before
    automaton.expand(state)
    for byte in np.flatnonzero(automaton.table[state] != DEAD).tolist():
        yield from all_texts(automaton, automaton.step(state, byte), before + bytes([byte]))


def nearest_end(automaton: RegularAutomaton, state: int) -> int:
    return min(map(len, all_texts(automaton, state)))


def from_regex(text: str) -> Pattern:
    return regex_to_pattern(rf"\A(?:{text})\Z", PYTHON)


rules = st.fixed_dictionaries(
    {
        "included": st.lists(st.sampled_from(PATTERNS), max_size=2),
        "excluded": st.lists(st.sampled_from(PATTERNS), max_size=1),
        "minimum": st.integers(0, 4),
        "maximum": st.none() | st.integers(0, 6),
    }
)


@pytest.mark.thorough
@settings(max_examples=examples(200))
@given(documents, st.booleans(), rules)
def test_reads_what_the_rules_allow(document: str, any_character: bool, rule: dict) -> None:
    """The texts are the substrings on edges that keep the rules; every distance is exact, and no node means no text."""
    expected = {
        spelled(text)
        for text in all_quotations(document, any_character)
        if rule["minimum"] <= len(text)
        and (rule["maximum"] is None or len(text) <= rule["maximum"])
        and all(re.fullmatch(pattern, text) for pattern in rule["included"])
        and not any(re.fullmatch(pattern, text) for pattern in rule["excluded"])
    }
    included, excluded = ([from_regex(text) for text in rule[which]] for which in ("included", "excluded"))
    indexed = IndexedDocument(document, any_character=any_character)
    quotation = indexed.quotation(included, excluded, minimum=rule["minimum"], maximum=rule["maximum"])
    if quotation is None:
        assert expected == set()
        return
    automaton = RegularAutomaton(concat(quotation, literal('"')))
    found = [text.decode() for text in all_texts(automaton, automaton.start)]
    assert sorted(found) == sorted(text + '"' for text in expected)
    for state in range(len(str(automaton).splitlines())):
        assert automaton.distances[state] == nearest_end(automaton, state)


def byte_vocabulary(*tokens: bytes) -> Vocabulary:
    """Return a vocabulary of an end token, every byte and some longer tokens."""
    return Vocabulary((None, *(bytes([byte]) for byte in range(256)), *tokens), frozenset({0}))


def around(quotation: Pattern, other: Pattern) -> list[Pattern]:
    """Return patterns in which quotations stand beside others, and in one state with them."""
    return [
        concat(literal('{"a": "'), quotation, literal('", "b": "'), quotation, literal('"}')),
        concat(literal("["), alternation(literal("null"), concat(literal('"'), quotation, literal('"'))), literal("]")),
        concat(quotation, quotation),
        concat(quotation, words(["", " b", "a", "!"])),
        alternation(quotation, other, words(["a", "ab b"])),
        repeat(concat(quotation, literal(",")), 1, 3),
    ]


@pytest.mark.thorough
@settings(max_examples=examples(60))
@given(documents, st.booleans(), st.integers(0, 5), st.integers(0, 2**16), rules)
def test_masks_equal_brute_force(document: str, any_character: bool, shape: int, seed: int, rule: dict) -> None:
    """A token is in the mask if its bytes lead somewhere; no state after one is farther than was said."""
    indexed = IndexedDocument(document, any_character=any_character)
    quotation, other = indexed.quotation(), indexed.quotation(minimum=2, maximum=rule["maximum"])
    if quotation is None:
        return
    rng = random.Random(seed)
    texts = [spelled(text).encode() for text in sorted(all_quotations(document, any_character))]
    tokens = {text[start : start + rng.randint(2, 5)] for text in texts for start in [rng.randrange(len(text))]}
    tokens |= {b'","', b'"}', b'", "', b',"', b'a"', b'": "', b'["', b'"a"'}
    vocabulary = byte_vocabulary(*sorted(tokens))
    index = Index(RegularAutomaton(around(quotation, other or quotation)[shape]), vocabulary)
    for state in states_on_walks(index, rng):
        mask, farthest = index._walks.mask(state)
        successors = brute_successors(index, state)
        assert np.array_equal(unpack(mask.view(np.int32), vocabulary.size), successors != DEAD)
        reached = successors[successors != DEAD]
        assert not len(reached) or index.automaton.distances[reached].max() <= farthest


@pytest.mark.thorough
@settings(max_examples=examples(200))
@given(documents, st.booleans(), st.text('ab \n"é', max_size=3))
def test_finds_every_place_in_order(document: str, any_character: bool, other: str) -> None:
    """Each quotation is found wherever it stands, in order; what may not be quoted is found nowhere."""
    indexed = IndexedDocument(document, any_character=any_character)
    expected = all_quotations(document, any_character)
    for text in [*expected, other]:
        assert list(indexed.find(text)) == sorted(expected.get(text, set()))


def test_tells_where_a_text_stands_in_the_document_as_given() -> None:
    """Where white space wraps a line, the span holds all of it; a text that wraps no line stands in one place."""
    indexed = IndexedDocument("Ada\r\n  Lovelace met\nAda Lovelace.")
    assert list(indexed.find("Ada Lovelace")) == [(0, 15), (20, 32)]
    assert list(indexed.find("Ada\r\n  Lovelace")) == [(0, 15)]
    assert list(indexed.find("Ada")) == [(0, 3), (20, 23)]
    assert list(indexed.find("Lovelac")) == list(indexed.find("")) == list(indexed.find("Ada ")) == []


@pytest.mark.parametrize("document", ["", "   ", "\n\n", "\ud800", "\u2028 \xa0"])
def test_nothing_to_quote(document: str) -> None:
    """No node says that a document has no quotations."""
    assert IndexedDocument(document).quotation() is None
    assert IndexedDocument(document, any_character=True).quotation() is None


def test_rules_that_no_quotation_keeps() -> None:
    """A length or a pattern may leave nothing; the rules are remembered."""
    indexed = IndexedDocument("one two")
    assert indexed.quotation(minimum=8) is None
    assert indexed.quotation(maximum=2) is None
    assert indexed.quotation(minimum=4, maximum=6) is None
    assert indexed.quotation([from_regex("[0-9]+")]) is None
    assert indexed.quotation([from_regex("a")], [from_regex("a")]) is None
    assert indexed.quotation(minimum=7) is not None
    assert indexed.quotation(minimum=3) is indexed.quotation(minimum=3)


@given(documents, st.frozensets(st.sampled_from(sorted(b'ab"\\\n \xc3\xcc\xe6')), min_size=1, max_size=2))
def test_leaves_out_bytes(document: str, absent: frozenset[int]) -> None:
    """Without some bytes, what is left are the quotations that do not have them, and distances stay exact."""
    quotation = IndexedDocument(document).quotation()
    if quotation is None:
        return
    expected = {spelled(text) for text in all_quotations(document)}
    expected = {text for text in expected if absent.isdisjoint(text.encode())}
    found = without_bytes(quotation, absent)
    assert (found is None) == (not expected)
    if found is not None:
        automaton = RegularAutomaton(found)
        assert {text.decode() for text in all_texts(automaton, automaton.start)} == expected
        assert automaton.distances[automaton.start] == min(len(text.encode()) for text in expected)


def test_stands_behind_a_prefix() -> None:
    quotation = IndexedDocument("one two").quotation()
    assert quotation is not None
    automaton = RegularAutomaton(quotation).with_prefix("> ")
    assert [text for text in (b"> one", b"> two", b"> one two", b"one", b"> on") if accepted(automaton, text)] == [
        b"> one",
        b"> two",
        b"> one two",
    ]


def test_nothing_of_a_document_is_kept_on_disk() -> None:
    """An automaton that quotes has no fingerprint, so no cache keeps an entry for each document."""
    quotation = IndexedDocument("one two").quotation()
    assert quotation is not None
    assert RegularAutomaton(concat(literal("x"), quotation)).fingerprint is None
    assert RegularAutomaton(literal("x")).fingerprint is not None


def test_does_not_print_the_document() -> None:
    indexed = IndexedDocument("secret " * 1000)
    quotation = indexed.quotation()
    assert str(quotation) == "(?&quotation of 7,000 characters)"
    assert repr(indexed) == "IndexedDocument(7,000 characters)"


def test_json_inside_a_string_cannot_quote() -> None:
    """There the spelling is another one."""
    quotation = IndexedDocument("one two").quotation()
    assert quotation is not None
    with pytest.raises(PatternError, match="in JSON inside a string is unsupported"):
        inside_json_string(concat(literal('"'), quotation, literal('"')))


def test_a_rule_may_not_have_too_many_states() -> None:
    """The distances of each state of a rule are kept for each byte of the document; past the limit, that is said."""
    indexed = IndexedDocument("word " * 50_000)
    rule = from_regex(f"(?s:.{{{MAX_ENTRIES // 250_000}}}x?)")
    with pytest.raises(PatternError, match=r"quotations with a rule of 2\d\d states"):
        indexed.quotation([rule])


@given(st.binary(max_size=40).map(lambda text: text.replace(b"\0", b"")) | st.text("ab", max_size=60).map(str.encode))
def test_suffixes_are_sorted(text: bytes) -> None:
    expected = sorted(range(len(text)), key=lambda place: text[place:])
    assert suffix_array(np.frombuffer(text, dtype=np.uint8)).tolist() == expected


@pytest.mark.parametrize(
    "document",
    [
        "a" * 3000,
        "ab" * 1500,
        "a\n" * 1500,
        "\\" * 3000,
        'a"' * 1500,
        "a\u0301" * 1500,
        " \n" * 1500 + "x",
        "日本" * 1500,
    ],
)
@pytest.mark.parametrize("any_character", [False, True])
def test_hostile_documents_stay_within_the_limits(document: str, any_character: bool) -> None:
    """One character again and again takes no more states than are read, and masks make none inside."""
    quotation = IndexedDocument(document, any_character=any_character).quotation()
    assert quotation is not None
    automaton = RegularAutomaton(concat(literal('"'), quotation, literal('"')), limits=Limits(states=3000))
    index = Index(automaton, byte_vocabulary(b"aaaa", b'aa"', rb"\\", b"ab" * 8))
    state = index.automaton.start
    rng = random.Random(1)
    for _ in range(30):
        legal = np.flatnonzero(unpack(index.mask(state), index.vocabulary.size)).tolist()
        state = index.step(state, rng.choice(legal))
        if index.is_final(state):
            break
    assert read(automaton, b'"') != DEAD


@given(st.data())
def test_ends_are_measured_as_place_by_place(data: st.DataObject) -> None:
    """An end is here if the rule accepts, nowhere behind a barrier or a dead state, else a byte farther than next."""
    size, states, class_count = (data.draw(st.integers(1, most)) for most in (12, 4, 3))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    text = rng.choice(np.array([97, BARRIER], dtype=np.uint8), size, p=[0.9, 0.1])
    any_end_distances = rng.integers(0, 3, size + 1).astype(np.int32)
    classes = rng.integers(-1, class_count, size).astype(np.int32)
    shape = states, class_count
    transitions = np.where(rng.random(shape) < 0.2, DEAD, rng.integers(0, states, shape)).astype(np.int32)
    accepting = rng.random(states) < 0.5
    end_distances = np.empty((states, size + 1), dtype=np.int32)
    measure_ends(text, any_end_distances, classes, transitions, accepting, end_distances)

    def distance(state: int, place: int) -> int:
        if place == size:
            return FAR
        if any_end_distances[place] == 0 and accepting[state]:
            return 0
        successor = state if classes[place] < 0 else int(transitions[state, classes[place]])
        if text[place] == BARRIER or successor == DEAD:
            return FAR
        return min(distance(successor, place + 1) + 1, FAR)

    assert end_distances.tolist() == [[distance(state, place) for place in range(size + 1)] for state in range(states)]
