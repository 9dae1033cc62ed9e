"""What is guessed changes nothing but the number of passes."""

import re
from collections.abc import Sequence
from time import process_time
from typing import Any

import numpy as np
import pytest
from doubles import ByteTokenizer, random_logits, spell
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_patterns import patterns

from structured.automata import RegularAutomaton
from structured.decoding.generate import generate
from structured.decoding.prompt_lookup import LENGTHS, MAX_WORDS, PromptText, propose
from structured.decoding.requests import Generation, Request, thinking_index
from structured.decoding.sampling import Sampler
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import allows
from structured.models import FunctionModel
from structured.models.function import LogitsFunction
from structured.regex import Pattern, chars, concat, literal, repeat
from structured.vocabulary import Vocabulary

TOKENIZER = ByteTokenizer()
SIZE = len(TOKENIZER.tokens)
SENTENCE = "Ada Lovelace met Charles Babbage in London; Babbage showed Ada Lovelace the Difference Engine."


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.from_tokenizer(TOKENIZER)


class Speculating(FunctionModel):
    """A model for the texts of which tokens are proposed ahead, a few of each."""

    can_roll_back = True


def quoting(tokens: Sequence[bytes | None], *, scale: float) -> LogitsFunction:
    """Return a model that likes to go on as the text did before, where its last bytes occurred."""
    noise = random_logits(len(tokens))

    def logits(token_ids: Sequence[int]) -> NDArray[np.float32]:
        text = spell(tokens, token_ids)
        scores = np.array(noise(token_ids), dtype=np.float32)
        place = text.find(text[-3:])
        if 0 <= place < len(text) - 3:
            follows = text[place + 3 :]
            for token_id, token in enumerate(tokens):
                if token and follows.startswith(token):
                    scores[token_id] += scale * len(token)
        return scores

    return logits


def room(index: Index, spare: int = 20) -> int:
    """Return a budget; with few tokens to spare, some texts meet it only when they are is_replacement."""
    return index.shortest_completion(index.automaton.start) + spare


def written(
    function: LogitsFunction,
    indexes: Sequence[Index],
    sampler: Sampler,
    *,
    most: int,
    batch_size: int = 1,
    spare: int = 20,
) -> list[Generation]:
    model = Speculating(function, TOKENIZER)
    model.pass_cost = float(most * batch_size)
    requests = [
        Request(
            model.encode(SENTENCE[row:]),
            Guide(index, max_tokens=room(index, spare)),
            sampler.generator(row, 0),
            thinking=Guide(thinking_index("in", index.vocabulary), max_tokens=12) if row % 2 else None,
        )
        for row, index in enumerate(indexes)
    ]
    return generate(model, requests, sampler, batch_size=batch_size)


@pytest.mark.thorough
@given(
    st.lists(patterns(), min_size=1, max_size=4),
    st.sampled_from([0.0, 1.0]),
    st.integers(0, 1000),
    st.tuples(st.integers(1, 6), st.integers(1, 3), st.booleans()),
)
@settings(max_examples=examples(80), suppress_health_check=list(HealthCheck))
def test_guesses_change_no_text(
    vocabulary: Vocabulary,
    chosen: list[Pattern],
    temperature: float,
    seed: int,
    course: tuple[int, int, bool],
) -> None:
    """Random types in one batch, models that go by chance and models that quote: the same texts, tokens and scores.

    Alone, no text takes more passes; in a batch, a text is also in passes that others need.
    """
    most, batch_size, quotes = course
    function = quoting(TOKENIZER.tokens, scale=3.0) if quotes else random_logits(SIZE, seed=seed)
    indexes = [Index(RegularAutomaton(concat(literal('{"a": "'), one)), vocabulary) for one in chosen]
    sampler = Sampler(temperature, seed)
    plain = written(function, indexes, sampler, most=0, batch_size=batch_size)
    guessed = written(function, indexes, sampler, most=most, batch_size=batch_size)
    assert guessed == plain
    for one, other in zip(guessed, plain, strict=True):
        assert one.diagnostics.passes <= other.diagnostics.passes or batch_size > 1
        assert one.diagnostics.legal_masses == other.diagnostics.legal_masses


def test_what_is_quoted_takes_few_passes(vocabulary: Vocabulary) -> None:
    """A model that copies the document is asked for all of it in a few passes."""
    text = concat(literal('{"a": "Ada'), repeat(chars("abcdefghijklmnopqrstuvwxyzADELBC ;"), 60, 60), literal('"}'))
    indexes = [Index(RegularAutomaton(text), vocabulary)]
    function = quoting(TOKENIZER.tokens, scale=50.0)
    plain, guessed = (written(function, indexes, Sampler(), most=most, spare=60)[0] for most in (0, 16))
    assert guessed.text == plain.text
    assert "Lovelace met Charles Babbage" in guessed.text
    assert guessed.diagnostics.passes * 3 < plain.diagnostics.passes


@given(st.text("ab", max_size=30), st.text("ab", max_size=60))
def test_a_quotation_goes_on_where_most_is_alike(ending: str, text: str) -> None:
    """After the first place where the last 16 bytes occur or, if they do not, the last 8, or 4."""
    written, whole = ending.encode(), text.encode()
    found = PromptText.from_tokens(TOKENIZER.encode(text), Vocabulary.from_tokenizer(TOKENIZER)).place_after(written)
    known = [length for length in LENGTHS if len(written) >= length and written[-length:] in whole]
    if known:
        assert whole[:found].endswith(written[-known[0] :])
        assert written[-known[0] :] not in whole[: found - 1]
    else:
        assert found == -1


WORDS = st.lists(
    st.sampled_from(["Ana", "Brandt", "an", "2.4", "é", ", ", ". ", " ", "\n", '"', "("]), max_size=12
).map("".join)


@given(WORDS, WORDS, WORDS)
def test_words_are_looked_for_where_the_document_has_words(written: str, prompt: str, document: str) -> None:
    """The last words of what was written, as many as occur there; the instructions before it do not count."""
    vocabulary = Vocabulary.from_tokenizer(TOKENIZER)
    above = TOKENIZER.encode(f"{prompt}\n")
    prompt_text = PromptText.from_tokens([*above, *TOKENIZER.encode(document)[1:]], vocabulary, len(above))
    words, places = prompt_text.places_after(written.encode())
    starts = [match.start() for match in re.finditer(r"(?<!\w)\w", written)]
    found = [written[start:] for start in starts if re.search(r"(?<!\w)" + re.escape(written[start:]), document)]
    assert words.decode() == next(iter(found), "")
    assert bool(found) == bool(places)
    for place in places:
        assert prompt_text.text[prompt_text.document_start : place].endswith(words)


@pytest.mark.parametrize(
    ("document", "words", "value"),
    [
        ("Dear Ana Brandt, thank you.", "An", "Ana Brandt"),
        ("Dear Ana Brandt will join us.", "Ana", "Ana Brandt"),
        ("Ana is a marine biologist.", "mar", "marine biologist"),
        ("A total of 1,250.50 EUR", "1", "1,250.50 EUR"),
        ("Call Bob\nTom", "B", "Bob"),
        ("He said (Élan Vital) twice", "Élan", "Élan Vital"),
    ],
)
def test_a_value_ends_where_its_words_do(document: str, words: str, value: str) -> None:
    """At punctuation, at the end of a line, or where capitals end that it began with."""
    prompt_text = PromptText.from_tokens(TOKENIZER.encode(document), Vocabulary.from_tokenizer(TOKENIZER))
    start = prompt_text.text.index(words.encode())
    end = prompt_text.value_end(words.encode(), start)
    assert prompt_text.text[start:end].decode() == value


@given(st.text(max_size=20), st.data())
def test_tokens_between_two_places_spell_what_stands_there(vocabulary: Vocabulary, text: str, data: Any) -> None:
    """Wherever they are, inside of characters too."""
    prompt_text = PromptText.from_tokens(TOKENIZER.encode(text), vocabulary)
    place = data.draw(st.integers(0, len(prompt_text.text)))
    end = data.draw(st.integers(place, len(prompt_text.text)))
    found = prompt_text.tokens_between(place, end, Index(RegularAutomaton(literal("a")), vocabulary))
    assert spell(vocabulary.tokens, found) == prompt_text.text[place:end]


@pytest.mark.parametrize("document", ["a" * 10**6, "a " * 500_000, "xa" * 500_000, "A" * 10**6])
def test_long_documents_are_looked_through_quickly(document: str) -> None:
    """However often they say the same."""
    text = document.encode()
    prompt_text = PromptText(text, (), tuple(range(1, len(text) + 1)))
    started = process_time()
    for _ in range(20):
        words, places = prompt_text.places_after((b'{"b": "' + text[:1] * 30)[-MAX_WORDS:])
        for place in places:
            prompt_text.value_end(words, place)
    assert process_time() - started < 1


def test_what_closes_a_value_is_proposed_with_it(vocabulary: Vocabulary) -> None:
    """Up to the next value: the quote, the comma, and the name of the next field; where more is quoted, that."""
    letters = chars("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ,")
    fields = concat(
        literal('{"a": "'), repeat(letters, 0, 40), literal('", "city": "'), repeat(letters, 0, 9), literal('"}')
    )
    index = Index(RegularAutomaton(fields), vocabulary)
    prompt_text = PromptText.from_tokens(TOKENIZER.encode("Dear Ana Brandt, hello"), vocabulary)
    for written, proposed in (('{"a": "An', 'a Brandt", "city": "'), ('{"a": "Ana Brandt,', " hello")):
        guide = Guide(index, max_tokens=room(index))
        for token_id in TOKENIZER.encode(written)[1:]:
            guide.advance(token_id)
        assert spell(vocabulary.tokens, propose(guide, written.encode(), prompt_text, 40)).decode() == proposed


@given(st.text(max_size=30), st.integers(0, 40), st.integers(1, 6))
def test_a_quotation_has_the_tokens_of_the_prompt(vocabulary: Vocabulary, text: str, place: int, count: int) -> None:
    """They spell what stands there, and from the first that begins there on, they are those of the prompt."""
    token_ids = TOKENIZER.encode(text)
    prompt_text = PromptText.from_tokens(token_ids, vocabulary)
    place = min(place, len(prompt_text.text))
    found = prompt_text.tokens_from(place, count, Index(RegularAutomaton(literal("a")), vocabulary))
    spelled = spell(vocabulary.tokens, found)
    assert prompt_text.text[place:].startswith(spelled)
    assert len(found) == count or spelled == prompt_text.text[place:]
    whole = next(at for at, end in enumerate((0, *prompt_text.ends)) if end >= place)
    rest = token_ids[whole:]
    assert any(found[skipped:] == rest[: len(found) - skipped] for skipped in range(len(found) + 1))


@pytest.mark.thorough
@given(patterns(), st.text(max_size=30), st.integers(0, 8), st.data())
@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
def test_only_what_is_legal_is_guessed(
    vocabulary: Vocabulary, pattern: Pattern, text: str, count: int, data: Any
) -> None:
    """Each guess is allowed where it would stand, and there are no more than are wanted."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    guide = Guide(index, max_tokens=room(index))
    prompt_text = PromptText.from_tokens(TOKENIZER.encode(text), vocabulary)
    end = prompt_text.text[: data.draw(st.integers(0, len(prompt_text.text)))]
    found = propose(guide, end, prompt_text, count)
    assert len(found) <= count
    for token_id in found:
        assert allows(guide.mask(), token_id)
        guide.advance(token_id)
