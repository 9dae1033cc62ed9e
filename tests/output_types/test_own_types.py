"""The interface of output types: what follows it is sampled, streamed, shown, voted on and read like a Python type."""

import pickle
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from doubles import ByteTokenizer, each_generation, random_logits
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field

from structured import (
    Beams,
    Chunking,
    Extractor,
    Grammar,
    JsonLayout,
    Key,
    Samples,
    extract,
    extract_batch,
    inspect_type,
    load_model,
    to_regex,
)
from structured.automata import Automaton, RegularAutomaton
from structured.decoding.generate import compile_type
from structured.errors import GenerationError, ModelError, PatternError, PromptError, SchemaError
from structured.extraction.events import AttemptWritten
from structured.index.cache import default_cache, save_index
from structured.index.index import Index
from structured.integrations.logits_processor import GuidedLogitsProcessor
from structured.models import ScriptedModel
from structured.output_types.json_output import JsonOutput
from structured.output_types.output_type import Description, OutputType
from structured.output_types.resolve import resolve_type
from structured.regex import alternation, char_set, concat, literal, repeat, words


class Year(OutputType[int]):
    """Four digits, read as a number."""

    name = "Year"

    def automaton(self, document: str | None = None) -> Automaton:
        assert document is None
        return RegularAutomaton(concat(char_set((0x31, 0x32)), repeat(char_set((0x30, 0x39)), 3, 3)))

    def parse(self, text: str) -> int:
        if int(text) % 2:
            raise ValueError("odd")
        return int(text)

    def describe(self) -> Description:
        return Description("Pattern", "[12][0-9]{3}", answer="Year", task="Find the year.")


class Word(OutputType[str]):
    """A word of the document."""

    name = "Word"
    depends_on_document = True

    def automaton(self, document: str | None = None) -> Automaton:
        assert document is not None
        return RegularAutomaton(alternation(literal("-"), words(document.split() or ["-"])))

    def parse(self, text: str) -> str:
        return text

    def describe(self) -> Description:
        return Description("Task", "one word of the text", answer="Word", task="Quote one word.")


def model(seed: int) -> tuple[Any, ByteTokenizer]:
    tokenizer = ByteTokenizer()
    return random_logits(len(tokenizer.tokens), scale=3.0, seed=seed), tokenizer


OPTIONS = {"temperature": 1.0, "max_tokens": 40}


@settings(max_examples=20)
@given(seed=st.integers(0, 1000))
def test_answers_are_of_the_automaton_and_are_parsed(seed: int) -> None:
    """A validator of one's own is one as well: what it rejects is sampled again, and listed if all is rejected."""
    seen: list[str] = []
    options = {
        **OPTIONS,
        "model": model(seed),
        "seed": seed,
        "observe": each_generation(lambda _, one: seen.append(one.text)),
    }
    (year,) = extract_batch(Year(), ["x"], errors="return", **options)
    assert all(re.fullmatch("[12][0-9]{3}", text) for text in seen)
    if isinstance(year, GenerationError):
        assert [attempt.text for attempt in year.attempts] == seen
        assert all(int(text) % 2 for text in seen)
    else:
        assert year == int(seen[-1])
        assert year % 2 == 0


@settings(max_examples=20)
@given(
    documents=st.lists(st.lists(st.text("abcé", min_size=1, max_size=4), min_size=1), min_size=1, max_size=4),
    seed=st.integers(0, 1000),
)
def test_each_document_has_its_own_automaton_where_the_type_depends_on_it(
    documents: list[list[str]], seed: int
) -> None:
    """In a batch, too, the answer to each document is one of its own words."""
    texts = [" ".join(document) for document in documents]
    for document, word in zip(documents, extract_batch(Word(), texts, model=model(seed), **OPTIONS), strict=True):
        assert word in {*document, "-"}


def test_the_prompt_shows_the_description_between_its_own_labels() -> None:
    """Nothing in it speaks of JSON; a document that imitates one of the labels is indented."""
    extractor = Extractor(Year(), model=model(0), examples=[("Born in 1990.", "1990")])
    assert extractor.prompt("In 1984.\nYear: 1") == (
        "Pattern:\n[12][0-9]{3}\n\nText:\nBorn in 1990.\n\nYear:\n1990\n\nText:\n    In 1984.\n    Year: 1\n\nYear:\n"
    )
    with pytest.raises(PromptError, match=r"1991.*is not of type Year: odd"):
        Extractor(Year(), model=model(0), examples=[("Born in 1991.", "1991")])


def test_a_stream_has_one_value_where_there_are_no_parts() -> None:
    """It is whole at the end of the text."""
    stream = Extractor(Word(), model=model(3), **OPTIONS).stream("red green blue")
    events = list(stream.events())
    assert [(event.path, event.value) for event in events] == [("", stream.text)]
    assert stream.result().value == stream.text


def test_votes_are_on_the_whole_text() -> None:
    """What most samples say is the answer."""
    seen: list[str] = []
    options = {
        **OPTIONS,
        "search": Samples(9, vote=True),
        "observe": each_generation(lambda _, one: seen.append(one.text)),
    }
    word = extract(Word(), "red green", model=model(1), **options)
    assert seen.count(word) == max(map(seen.count, seen))


def test_options_of_json_are_refused_for_other_types() -> None:
    """What would have no effect is an error."""
    with pytest.raises(SchemaError, match="Year does not use JSON options"):
        Extractor(Year(), model=model(0), layout=JsonLayout("compact"))
    with pytest.raises(SchemaError, match="Year does not use JSON options"):
        Extractor(Year(), model=model(0), allow_missing=True)


def test_a_type_of_ones_own_has_a_regular_expression_if_its_automaton_is_made_of_one() -> None:
    """Others have automata alone, and the message says so."""
    assert to_regex(Year()) == "[12][0-9]{3}"
    with pytest.raises(SchemaError) as caught:
        to_regex(Grammar('start: "(" start ")" | "x"', name="Brackets"))
    assert str(caught.value) == (
        "Brackets is an OutputType with an automaton of its own, and has no JSON Schema to print. "
        "Look at its describe() and automaton(), or pass it to inspect_type or extract."
    )


def test_a_type_that_is_no_json_is_inspected_by_its_automaton() -> None:
    """The answers are counted; where each document has its own, there is nothing to count."""
    report = inspect_type(Year())
    assert report.answers is not None
    assert (report.answers.count, report.answers.shortest, report.answers.longest) == (2000, "1000", "1000")
    assert (report.whitespace, report.hazards, report.fields[0].kind) == (None, (), "[12][0-9]{3}")
    with pytest.raises(SchemaError, match=r"^Word depends on the document"):
        inspect_type(Word())


def test_a_logits_processor_refuses_types_that_depend_on_the_document() -> None:
    """It sees no document, and would have to guess one."""
    with pytest.raises(SchemaError, match=r"Word depends on the document.* Use extract or extract_batch\."):
        GuidedLogitsProcessor(Word(), load_model(model(0)), max_tokens=9)


def changed(**members: Any) -> Year:
    """Return a Year with some members of its class replaced."""
    return type("Mine", (Year,), members)()


def raising(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("by zero")


class Nameless(OutputType[str]):
    """A type without a name."""

    automaton = Word.automaton
    parse = Word.parse
    describe = Word.describe


MISTAKES: dict[str, tuple[OutputType[Any], str]] = {
    "no name": (Nameless(), r"^The name of Nameless is None"),
    "a number as name": (changed(name=5), r"^The name of Mine is int 5"),
    "describe raises": (changed(describe=raising), r"^`describe` of Year raised ZeroDivisionError: by zero\. Correct"),
    "describe nothing": (changed(describe=lambda _: None), r"^`describe` of Year is None\. Return a Description of"),
    "describe a tuple": (changed(describe=lambda _: ("a", "b", "c", "d")), r"^`describe` of Year is tuple"),
    "describe numbers": (
        changed(describe=lambda _: Description(1, 2, answer=3, task=4)),  # type: ignore[arg-type]
        r"^`describe` of Year is Description",
    ),
    "describe halves": (
        changed(describe=lambda _: Description("P", "\ud800", answer="A", task="T")),
        r"^`describe` of Year is Description",
    ),
    "automaton raises": (changed(automaton=raising), r"^`(check|automaton)` of Year raised ZeroDivisionError: by zero"),
    "no automaton": (changed(automaton=lambda *_: None), r"^`automaton` of Year is None\. It lacks accepts, distances"),
    "text": (changed(automaton=lambda *_: "[0-9]"), r"^`automaton` of Year is str '\[0-9\]'\. It lacks accepts"),
    "a pattern": (changed(automaton=lambda *_: literal("a")), r"^`automaton` of Year is .*\. It lacks accepts"),
    "a str as fingerprint": (
        changed(automaton=lambda *_: marked("mine")),
        r"^`automaton\.fingerprint` of Year is str 'mine'\. Return bytes",
    ),
    "an empty fingerprint": (
        changed(automaton=lambda *_: marked(b"")),
        r"^`automaton\.fingerprint` of Year is bytes b''",
    ),
    "check raises": (changed(check=raising), r"^`check` of Year raised ZeroDivisionError: by zero"),
    "parts are a number": (changed(parts=5), r"^`parts` of Year is int 5\. Return an Annotation, or None"),
    "a schema that is a dict": (changed(root={}), r"^`root` of Year is dict \{\}\. Return None, or the root of"),
}


def marked(fingerprint: Any) -> Automaton:
    """Return an automaton of the word 1990 with a fingerprint of its own."""
    kind = type("Marked", (RegularAutomaton,), {"fingerprint": fingerprint})
    found: Automaton = kind(literal("1990"))
    return found


@pytest.mark.parametrize(("output_type", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_of_a_type_are_told_when_it_is_taken(output_type: OutputType[Any], message: str) -> None:
    """In words that name the type and what it returned."""
    with pytest.raises(SchemaError, match=message):
        Extractor(output_type, model=model(0))


def test_an_example_that_a_type_writes_as_no_text() -> None:
    """Only text can stand in a prompt."""
    with pytest.raises(SchemaError, match=r"^`write` of Year returned int 5 for examples\[0\]\. Return the text"):
        Extractor(changed(write=lambda *_: 5), model=model(0), examples=[("a", 1)])


def test_own_types_stand_alone() -> None:
    """As themselves, or as `Annotated[Any, ...]` for type checkers; inside of a type they would not be enforced."""
    (year,) = {extract(kind, "x", model=ScriptedModel("1990")) for kind in (Year(), Annotated[Any, Year()])}
    assert year == 1990
    for inside in (list[Year], list[Year()], list[Annotated[Any, Year()]], dict[str, Year]):  # type: ignore[misc]
        with pytest.raises(SchemaError, match=r"n OutputType is part of a type"):
            Extractor(inside, model=model(0))
    with pytest.raises(SchemaError, match=r"^Year is a class of output types, not a type\. Pass an instance of it"):
        Extractor(Year, model=model(0))
    found = Extractor(Year(), model=ScriptedModel("1990")).result("In 1990.")
    assert (found.value, found.evidence[""].span) == (1990, (3, 7))


class Picky(Word):
    """A type that refuses some documents, each in another way."""

    name = "Picky"

    def automaton(self, document: str | None = None) -> Automaton:
        match document:
            case "":
                raise AssertionError("there is no such document")
            case "refused":
                raise SchemaError("There is nothing to quote", remedy="Leave it out.")
            case "broken":
                raising()
            case "costly":
                return Costly(repeat(char_set((97, 122)), 0, 50))
            case "late":
                return Late(repeat(char_set((97, 122)), 3, 50))
        return super().automaton(document)


class Costly(RegularAutomaton):
    """An automaton the first mask of which is too much."""

    def walk(self, *_: Any) -> int:
        raise PatternError("Too costly", pattern="p", remedy="Simplify it.")


class Late(RegularAutomaton):
    """An automaton of which a later mask is too much."""

    def walk(self, trie: Any, state: int, mask: Any) -> int:
        if state != self.start:
            raise PatternError("Too costly", pattern="p", remedy="Simplify it.")
        return super().walk(trie, state, mask)


@pytest.mark.parametrize(
    "way", [{}, {"search": Samples(2)}, {"search": Beams(2), "temperature": 0}, {"jump_forward": False}], ids=str
)
@pytest.mark.parametrize("batch_size", [1, 3])
def test_a_document_without_an_automaton_fails_alone(way: dict[str, Any], batch_size: int) -> None:
    """Whether it is refused, or breaks, or is found to be too much while its answer is written."""
    documents = ["red green", "refused", "blue", "broken", "costly", "late", "red"]
    options = {**OPTIONS, "model": model(1), "batch_size": batch_size, **way}
    found = extract_batch(Picky(), documents, errors="return", **options)
    kinds = [type(one) for one in found]
    assert kinds == [str, SchemaError, str, SchemaError, PatternError, PatternError, str]
    assert "`automaton` of Picky raised ZeroDivisionError: by zero" in str(found[3])
    for document, error in zip(documents, found, strict=True):
        if isinstance(error, Exception):
            with pytest.raises(type(error), match=re.escape(str(error))):
                extract(Picky(), document, **options)


@dataclass
class Like(OutputType[str]):  # noqa: PLW1641  it has no hash
    """A type that Python calls equal to all of its kind, and that has no hash."""

    text: str
    name: str = "Like"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Like)

    def automaton(self, _: str | None = None) -> Automaton:
        return RegularAutomaton(alternation(literal(self.text), literal("-")))

    parse = Word.parse
    describe = Word.describe


def odd(number: int) -> int:
    if number % 2 == 0:
        raise ValueError("even")
    return number


class Order(BaseModel):
    """A record with a rule that no mask can enforce."""

    number: Annotated[str, Key, Field(max_length=3)]
    amount: Annotated[int, Field(ge=0, le=9), AfterValidator(odd)]


class OrderLine(OutputType[Order]):
    """An answer that is no JSON, and that Pydantic validates."""

    name = "OrderLine"

    def automaton(self, document: str | None = None) -> Automaton:
        assert document is None
        return RegularAutomaton(concat(char_set((97, 122)), literal(" "), char_set((0x30, 0x39))))

    def parse(self, text: str) -> Order:
        return Order.model_validate(dict(zip(("number", "amount"), text.split(), strict=True)))

    def describe(self) -> Description:
        return Description("Pattern", "[a-z] [0-9]", answer="Order", task="Find the order.")


def test_an_answer_that_is_no_json_may_be_read_by_pydantic() -> None:
    """What it rejects is written again as a whole: the places that it names are none of the text."""
    written: list[list[str]] = []
    for seed in range(6):
        seen: list[str] = []
        observe = each_generation(lambda _, one, seen=seen: seen.append(one.text))
        order = extract(OrderLine(), "x", model=model(2), retries=50, seed=seed, observe=observe, **OPTIONS)
        assert order.amount == int(seen[-1][2:])
        written.append(seen)
    assert any(len({text[0] for text in seen}) > 1 for seen in written)


class Forwarding(OutputType[Any]):
    """A type that has all from another one."""

    def __init__(self, of: OutputType[Any]) -> None:
        self.of, self.name, self.depends_on_document = of, of.name, of.depends_on_document

    def __getattribute__(self, name: str) -> Any:
        return Forwarding if name == "__class__" else getattr(object.__getattribute__(self, "of"), name)

    automaton, parse, describe = Word.automaton, Word.parse, Word.describe  # never called


def test_a_schema_is_all_that_repair_and_merging_ask_for() -> None:
    """A type that is not of the library's own class, and has one, is written again in parts and merged like those."""
    known = resolve_type(Annotated[list[Order], Field(min_length=1, max_length=3)])
    assert not isinstance(Forwarding(known), JsonOutput)
    written: list[tuple[Any, list[tuple[Any, ...]]]] = []
    for kind in (known, Forwarding(known)):
        seen: list[Any] = []
        options = {
            **OPTIONS,
            "max_tokens": 99,
            "retries": 9,
            "chunking": Chunking(tokens=32),
            "seed": 3,
            "observe": seen.append,
        }
        found = extract(kind, "An order.\n\n" * 9, model=model(1), **options)
        attempts = [one for one in seen if isinstance(one, AttemptWritten)]
        written.append((found, [(one.span, one.repaired, one.generations[0].text) for one in attempts]))
    assert written[0] == written[1]
    assert len({span for span, _, _ in written[0][1]}) > 3
    assert any(repaired for _, repaired, _ in written[0][1])


def test_types_that_are_called_equal_have_an_automaton_each() -> None:
    """An index belongs to one type, whatever its author says of equality; it is found again for the same."""
    first, second = Like("a"), Like("b")
    assert first == second
    answers = [extract(one, "x", model=ScriptedModel(one.text)) for one in (first, second)]
    assert answers == ["a", "b"]
    known, vocabulary = ScriptedModel("a"), ScriptedModel("a").vocabulary
    assert known.vocabulary is not vocabulary
    assert compile_type(first, vocabulary) is compile_type(first, vocabulary)
    assert compile_type(first, vocabulary) is not compile_type(second, vocabulary)
    assert compile_type(resolve_type(list[int]), vocabulary) is compile_type(resolve_type(list[int]), vocabulary)


class SilentError(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no")


def rejecting(*_: Any) -> Any:
    raise SilentError


def test_an_exception_that_cannot_be_shown_costs_one_document() -> None:
    """The others keep their answers, and its error can be shown, pickled and listed."""
    answers = {"good": "1990", "bad": "1991"}

    def parse(_: Any, text: str) -> int:
        return rejecting() if text == "1991" else int(text)

    scripted = ScriptedModel(lambda prompt: answers["bad" if "bad" in prompt else "good"])
    found = extract_batch(changed(parse=parse), ["good", "bad", "good"], model=scripted, errors="return", retries=0)
    assert found[::2] == [1990, 1990]
    assert isinstance(found[1], GenerationError)
    assert "SilentError" in str(found[1])
    assert "SilentError" in str(pickle.loads(pickle.dumps(found[1])))  # noqa: S301  made here


@pytest.mark.parametrize("member", ["to_data", "from_data"])
@pytest.mark.parametrize("result", [rejecting, lambda *_: {1, 2}], ids=["raises", "no data"])
def test_a_vote_that_cannot_be_held_rejects_the_answers(member: str, result: Any) -> None:
    """As a validator does; other documents are not affected."""
    even = changed(parse=lambda _, text: int(text), **{member: result})
    options = {**OPTIONS, "model": model(1), "search": Samples(4, vote=True), "retries": 0, "seed": 1}
    for one in extract_batch(even, ["x", "y"], errors="return", **options):
        assert isinstance(one, GenerationError | int)
        assert isinstance(one, GenerationError) or member == "from_data"


def test_a_stream_that_is_rejected_ends_and_then_says_why() -> None:
    """Its pieces, events and partial values can be read to the end; each result() raises the same error."""
    extractor = Extractor(Year(), model=ScriptedModel("1991"))
    assert "".join(extractor.stream("x")) == "1991"
    assert [(event.path, event.value) for event in extractor.stream("x").events()] == [("", "1991")]
    assert list(extractor.stream("x").partials()) == ["1991"]
    stream = extractor.stream("x")
    with pytest.raises(GenerationError, match="The only attempt") as first:
        stream.result()
    with pytest.raises(GenerationError) as second:
        stream.result()
    assert second.value is first.value


def test_a_stream_whose_model_failed_fails_again() -> None:
    """With the same error, and not with one about a text that is not finished."""
    stream = Extractor(Year(), model=ScriptedModel("1x")).stream("x")
    with pytest.raises(ModelError, match=r"^The script says") as first:
        list(stream)
    for _ in range(2):
        with pytest.raises(ModelError) as second:
            stream.result()
        assert second.value is first.value


def test_an_answer_is_parsed_once_where_no_events_are_read() -> None:
    """A validator of one's own may be slow, or count."""
    seen: list[str] = []
    once = changed(parse=lambda _, text: seen.append(text) or 0)
    stream = Extractor(once, model=ScriptedModel("1990")).stream("x")
    assert "".join(stream) == "1990"
    stream.result()
    assert seen == ["1990"]


@pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")
def test_nothing_of_a_document_is_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The automaton of a document spells it."""
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path))
    documents = [" ".join(f"secret{document}word{number}" for number in range(30)) for document in range(5)]
    for way in ({}, {"search": Samples(3)}, {"search": Beams(2), "temperature": 0}):
        extract_batch(Word(), documents, model=model(1), **{**OPTIONS, **way})
        Extractor(Word(), model=model(1), **{**OPTIONS, "temperature": 0}).stream(documents[0]).result()
    assert [path for path in tmp_path.rglob("*") if path.name.startswith("index")] == []
    long_of_this_test = Annotated[str, Field(min_length=29, max_length=31)]  # no other test has kept its index
    extract_batch(long_of_this_test, documents, model=model(1), **OPTIONS)
    assert [path for path in tmp_path.rglob("*") if path.name.startswith("index")]


def test_automata_of_other_classes_do_not_share_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two programs may hit upon the same fingerprint for different languages."""
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path))
    own = [type(name, (RegularAutomaton,), {"fingerprint": b"mine"}) for name in ("One", "Other")]
    vocabulary = ScriptedModel("").vocabulary
    disk = default_cache()
    assert disk is not None
    for kind in own:
        index = Index(kind(literal("1990")), vocabulary)
        index.mask(index.automaton.start)
        save_index(disk, index)
    assert len([path for path in tmp_path.rglob("*") if path.name.startswith("index")]) == 2
