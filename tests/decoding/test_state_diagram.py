"""State diagrams of types: what they say of tokens is what decoding does."""

import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from doubles import ByteTokenizer, in_memory, real_vocabulary, save, tiny_llama
from effort import examples
from hypothesis import assume, given, settings
from pydantic import BaseModel, Field
from random_patterns import patterns_with_texts, randoms, sample

import structured
from structured import Choice, Grammar, Grounded, JsonLayout, Regex
from structured.automata import Automaton, RegularAutomaton
from structured.decoding import inspect_automaton
from structured.decoding.state_diagram import TokenWalk
from structured.errors import ModelError, PatternError, SchemaError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.index.masks import unpack
from structured.models import PACKAGED_MODEL, load_model
from structured.models.load import load_vocabulary
from structured.output_types.output_type import Description, OutputType
from structured.regex import Pattern
from structured.vocabulary import Vocabulary

BYTES = Vocabulary.from_tokenizer(ByteTokenizer())
FLOAT = Regex(r"([0-9]+)?\.[0-9]+")


class Person(BaseModel):
    name: str
    age: int | None = None


class Node(BaseModel):
    children: "list[Node]"


class OfPattern(OutputType[str]):
    """The texts of a pattern."""

    name = "OfPattern"

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern

    def automaton(self, document: str | None = None) -> Automaton:  # noqa: ARG002  the same for each document
        return RegularAutomaton(self.pattern)

    def parse(self, text: str) -> str:
        return text

    def describe(self) -> Description:
        return Description("Pattern", str(self.pattern), answer="Text", task="Write.")


class Word(OfPattern):
    """A type that has another automaton for each document."""

    depends_on_document = True


def allowed(guide: Guide) -> list[int]:
    return [i for i, is_in in enumerate(unpack(guide.mask(), guide.index.vocabulary.size)) if is_in]


def check_walk(walk: TokenWalk, index: Index, text: str) -> None:
    """Check that each step is one of decoding, in an index of its own."""
    guide = Guide(index, max_tokens=10_000)
    for step in walk.steps:
        here = allowed(guide)
        assert step.allowed == len(here)
        guide.advance(step.token_id)
    assert b"".join(step.token for step in walk.steps) == text.encode()
    ends = index.vocabulary.end_token_ids
    assert [*walk.end.tokens] == [token_id for token_id in index_mask(index, guide.state) if token_id not in ends]
    assert walk.end.may_end == index.automaton.accepts(guide.state)
    assert walk.end.forced.encode() == index.forced_bytes(guide.state)


def index_mask(index: Index, state: int) -> list[int]:
    return [i for i, is_in in enumerate(unpack(index.canonical_mask(state), index.vocabulary.size)) if is_in]


@pytest.mark.thorough
@settings(max_examples=examples(60))
@given(patterns_with_texts(), randoms())
def test_the_walk_of_a_text_is_that_of_decoding(drawn: tuple[Pattern, list[str]], rng: random.Random) -> None:
    """The masks along it are those of a guide, and states follow each other."""
    pattern, _ = drawn
    text = sample(pattern, rng)
    assume(text < "\ud800" or not re.search("[\ud800-\udfff]", text))
    walk = inspect_automaton(OfPattern(pattern), states=500).walk(text, BYTES)
    check_walk(walk, Index(RegularAutomaton(pattern), BYTES), text)
    names = ["0", *(step.after for step in walk.steps)]
    assert [step.before for step in walk.steps] == names[:-1]
    assert walk.end.state == names[-1]


@pytest.mark.parametrize(
    ("kind", "text"),
    [(FLOAT, "12.50"), (Person, '{"name": "Zoë 🙂", "age": 31}'), (Choice(["yes", "no"]), "yes"), (Person, '{"na')],
)
def test_walks_on_a_real_vocabulary(kind: Any, text: str) -> None:
    diagram = inspect_automaton(kind)
    vocabulary = real_vocabulary("gpt2")
    index = Index(diagram.output_type.automaton(), vocabulary)
    check_walk(diagram.walk(text, vocabulary), index, text)


@pytest.mark.thorough
@settings(max_examples=examples(40))
@given(patterns_with_texts())
def test_the_tokens_of_a_state_are_those_of_its_mask(drawn: tuple[Pattern, list[str]]) -> None:
    """Of the index, in the state in which a text arrives there."""
    diagram = inspect_automaton(OfPattern(drawn[0]), states=8)
    index = Index(RegularAutomaton(drawn[0]), BYTES)
    for state in diagram.states:
        found = diagram.tokens(state.number, BYTES)
        here = index.automaton.start
        for byte in state.reached_by.encode():
            here = index.automaton.step(here, byte)
        assert {*found.tokens} | ({*BYTES.end_token_ids} if found.may_end else set()) == {*index_mask(index, here)}
        assert found.may_end == state.is_accepting
        assert all(BYTES.tokens[token_id] == token for token_id, token in found.tokens.items())


def test_tokens_are_listed() -> None:
    walk = inspect_automaton(FLOAT).walk("1.5", BYTES)
    assert [(step.token, step.before, step.after, step.allowed) for step in walk.steps] == [
        (b"1", "0", "0", 15),
        (b".5", "0", "2", 15),
    ]
    assert str(walk.end).splitlines() == [
        "State 2: 13 tokens may follow, or the end.",
        "  `0`  `1`  `2`  `3`  `4`  `5`  `6`  `7`  `8`  `9`  `10`  `00`  `25`",
    ]


def test_forced_text_is_shown() -> None:
    """In the middle of a run, the state is between two; in the middle of a character, it says so."""
    diagram = inspect_automaton(Choice(["né"]))
    walk = diagram.walk("", BYTES)
    assert (walk.steps, walk.end.forced, walk.end.state) == ((), "né", "0")
    assert str(walk.end).endswith("Forced text: né")
    assert diagram.walk("n", BYTES).end.state == "0→1"
    split = Vocabulary((*(bytes([byte]) for byte in range(256)), None), frozenset({256}))
    assert [step.after for step in diagram.walk("né", split).steps] == ["0→1", "0→1+1", "1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "No answer of the type begins like this: `x` cannot follow."),
        ("12.5x", "No answer of the type begins like this: after `12.5`, `x` cannot follow."),
        ("1\n", r"No answer of the type begins like this: after `1`, `\n` cannot follow."),
    ],
)
def test_a_text_that_is_no_answer_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        inspect_automaton(FLOAT).walk(text, BYTES)


def test_what_the_tokenizer_cannot_spell_is_refused() -> None:
    """The tokens of a state are those after a text that it can spell, if there is one."""
    few = Vocabulary((b"1", b".", b"2.", None), frozenset({3}))
    diagram = inspect_automaton(Regex(r"[0-9]+\.|x.y"))
    assert [*diagram.tokens(1, few).tokens.values()] == [b"1", b".", b"2."]
    with pytest.raises(ValueError, match=re.escape("No answer that the tokenizer can spell goes through state 2.")):
        diagram.tokens(2, few)
    with pytest.raises(ValueError, match=re.escape("The tokenizer cannot spell `30.`: some of its bytes are in no")):
        diagram.walk("30.", few)
    with pytest.raises(ValueError, match=re.escape("The tokenizer cannot spell `2`")):
        diagram.walk("2", few)


def test_a_state_that_is_not_shown_has_no_tokens() -> None:
    with pytest.raises(ValueError, match=re.escape("The diagram has no state 3. Use a number from 0 to 2.")):
        inspect_automaton(FLOAT).tokens(3, BYTES)


def test_what_is_not_shown_is_said() -> None:
    """Of an automaton that was found as a whole, how many states; of others, that there are more."""
    assert inspect_automaton(FLOAT).note == "3 states, all shown."
    few = inspect_automaton(FLOAT, states=1)
    assert (few.note, few.total) == ("1 state of 3. Arrows to … lead to the others.", 3)
    assert few.walk("12.", BYTES).end.state == "…"
    endless = inspect_automaton(Node, states=5)
    assert endless.note == "The first 5 states of many, perhaps without end. Arrows to … lead to others."
    assert endless.total is None
    assert "…" in str(endless)


def test_a_notebook_shows_the_table() -> None:
    """IPython hands a printer over, which has `text`."""
    texts: list[str] = []
    inspect_automaton(FLOAT)._repr_pretty_(SimpleNamespace(text=texts.append), cycle=False)
    assert texts == [str(inspect_automaton(FLOAT))]


def test_refused_types_say_why() -> None:
    """With the errors of the types themselves."""
    with pytest.raises(SchemaError, match="exclusiveMinimum"):
        inspect_automaton(Annotated[float, Field(gt=float("nan"))])
    with pytest.raises(SchemaError, match="depends on the document"):
        inspect_automaton(Word(Regex("a").pattern))
    with pytest.raises(PatternError, match="No text matches"):
        inspect_automaton(Regex("a(?!)"))
    with pytest.raises(ValueError, match="states is 0; it must be 1 or greater"):
        inspect_automaton(int, states=0)
    with pytest.raises(SchemaError, match="JSON options"):
        inspect_automaton(FLOAT, layout=JsonLayout("any"))


def test_whitespace_is_that_of_the_answers() -> None:
    labels = [arrow.label for arrow in inspect_automaton(Person, layout=JsonLayout("compact")).states[0].arrows]
    assert labels == ['{"name":"']


def test_values_that_a_document_has_to_state_are_shown_for_all_documents() -> None:
    class Quote(BaseModel):
        text: Grounded[str]

    assert str(inspect_automaton(Quote)).startswith("Quote\n")


def test_the_public_name_is_loaded_when_it_is_used() -> None:
    assert structured.decoding.inspect_automaton is inspect_automaton


def test_the_vocabulary_of_a_model_is_the_one_it_decodes_with() -> None:
    for model in (PACKAGED_MODEL, str(PACKAGED_MODEL), load_model(PACKAGED_MODEL)):
        assert load_vocabulary(model).fingerprint == load_model(PACKAGED_MODEL).vocabulary.fingerprint
    assert load_vocabulary(BYTES) is BYTES


def test_of_a_folder_only_the_tokenizer_is_loaded(tmp_path: Path) -> None:
    """It has the tokens and the ends of the loaded model; without config.json, those of the tokenizer."""
    save(in_memory(tiny_llama), tmp_path)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [1, 2]}', encoding="utf-8")
    loaded = load_model(tmp_path).vocabulary
    for weights in tmp_path.glob("*.safetensors"):
        weights.unlink()
    found = load_vocabulary(tmp_path)
    assert found.end_token_ids == {1, 2}
    assert found.fingerprint == loaded.fingerprint
    assert found.encode is not None
    assert loaded.encode is not None
    assert found.encode('{"name": 1}') == loaded.encode('{"name": 1}')
    for config in tmp_path.glob("*config.json"):
        if config.name != "tokenizer_config.json":
            config.unlink()
    assert load_vocabulary(str(tmp_path)).end_token_ids == {1}


def test_a_damaged_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_vocabulary(tmp_path)


def test_the_model_may_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRUCTURED_MODEL", str(PACKAGED_MODEL))
    assert load_vocabulary().fingerprint == load_model(PACKAGED_MODEL).vocabulary.fingerprint


def test_grammars_are_shown() -> None:
    diagram = inspect_automaton(Grammar('start: "a" start "b" |'), states=6)
    assert diagram.states[0].is_accepting
    assert diagram.walk("aabb", BYTES).end.may_end
