"""A user's program, for the type checkers alone: mypy and pyright read it beside the sources and, in CI, beside an
installed wheel, where every result would be Any if the package did not say that it is typed. Nothing runs it.
"""

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, Unpack, assert_type

from pydantic import BaseModel, Field

from structured import (
    Choice,
    Document,
    Extractor,
    Grammar,
    Grounded,
    Json,
    JsonLayout,
    JsonSchema,
    Regex,
    Repeat,
    Result,
    Stream,
    StructuredError,
    Text,
    aextract,
    aextract_batch,
    aextract_results,
    classify,
    extract,
    extract_batch,
    extract_results,
    functions,
    inspect_type,
    read_results,
    report,
    structured,
    template,
    to_regex,
    write_results,
)
from structured.decoding import Generation
from structured.errors import BatchError, BudgetError, GenerationError, NotStatedError, SchemaError
from structured.extraction import Classification, Options, TextOrChat
from structured.integrations.logits_processor import GuidedLogitsProcessor
from structured.output_types import Call, Grounding, OutputType, Tool
from structured.results import Evidence


class Person(BaseModel):
    """Someone."""

    name: str
    age: int


@structured
def people(text: str, *, limit: int = 3) -> list[Person]:
    """List {limit} people of: {text}"""
    raise NotImplementedError


@structured(temperature=0.5, seed=1)
def one(text: str) -> Person:
    """Name the person in: {text}"""
    raise NotImplementedError


assert_type(extract(Person, "text"), Person)
assert_type(extract(int, "text", max_tokens=5), int)
assert_type(extract(list[Person], "text"), list[Person])
assert_type(extract_batch(Person, ["text"]), list[Person])
assert_type(extract_batch(Person, ["text"], errors="raise", progress=True), list[Person])
errors_among_values: list[Person | StructuredError] = extract_batch(Person, ["text"], errors="return")
assert_type(extract_batch(JsonSchema(True), ["text"], errors="return", max_tokens=9), list[Any])
assert_type(Extractor(Person).batch(["text"], errors="return"), list[Person | StructuredError])
assert_type(Extractor(Person).batch(["text"], errors="raise"), list[Person])
extract_batch(Person, ["text"], errors="ignore")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
assert_type(read_results("people.jsonl", Person), Iterator[Result[Person]])
assert_type(Extractor(Person)("text"), Person)
assert_type(Extractor(Person).batch(["text"]), list[Person])
assert_type(GuidedLogitsProcessor(Person, "folder", max_tokens=9), GuidedLogitsProcessor[Person])
assert_type(people("text", limit=2), list[Person])
assert_type(one("text"), Person)
assert_type(extract(JsonSchema({"type": "integer"}), "text"), Any)
assert_type(extract_batch(JsonSchema('{"type": "integer"}'), ["text"]), list[Any])
assert_type(Extractor(JsonSchema(True)).batch(["text"]), list[Any])
assert_type(extract(Person, "text", layout=JsonLayout(optional_properties="omittable")), Person)
JsonLayout(optional_properties="never")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
assert_type(extract(Person, "text", allow_missing=None, seed=None, model=None, instructions=None), Person)
assert_type(extract(JsonSchema(True), "text", allow_missing=None), Any)
assert_type(extract(Person, "text", allow_missing=True), Person)
assert_type(extract(Person, text="text", allow_missing=["age"], grounded=["name"]), Person)
assert_type(extract_results(Person, ["text"]), Iterator[Result[Person]])
assert_type(extract_results(JsonSchema(True), ["text"], progress=False), Iterator[Result[Any]])
assert_type(aextract_results(Person, ["text"]), AsyncIterator[Result[Person]])
assert_type(Extractor(Person).result("text"), Result[Person])
assert_type(Extractor(Person).results(["text"]), Iterator[Result[Person]])
assert_type(Extractor(Person).result("text").value, Person)
assert_type(write_results(Person, ["text"], "people.jsonl", resume="retry").failed, int)
assert_type(classify(bool, "text"), Classification[bool])
assert_type(classify(bool, "text", model=None).probabilities, dict[bool, float])
topic: Classification[Literal["a", "b"]] = classify(Literal["a", "b"], "text")
assert_type(report([Extractor(Person).result("text")], "review.html", title="People"), Path)
extract(Person, "text", grounded=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
classify(bool, "text", evidence=True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
one_of_two: Literal["a", "b"] = extract(Literal["a", "b"], "text")
optional: Person | None = extract(Annotated[Person | None, Field(description="whoever it is")], "text")
decorated: Callable[[str], Person] = one

# Pyright knows the values of unions and special forms; to mypy 2.4 they are Any, as its errors here state.
assert_type(extract(Person | None, "text"), Person | None)  # type: ignore[assert-type]
assert_type(extract(Literal["a", "b"], "text"), Literal["a", "b"])  # type: ignore[assert-type]
assert_type(extract(Annotated[Person, Field()], "text"), Person)  # type: ignore[assert-type]
assert_type(Extractor(int | str).result("text"), Result[int | str])  # type: ignore[assert-type]
assert_type(extract_batch(list[int] | None, ["text"]), list[list[int] | None])  # type: ignore[assert-type]
assert_type(classify(Literal["a", "b"], "text"), Classification[Literal["a", "b"]])  # type: ignore[assert-type]
assert_type(Json(Literal["a"]), OutputType[Literal["a"]])  # type: ignore[assert-type]
assert_type(extract(tuple[int, str], "text"), tuple[int, str])
assert_type(extract(dict[str, Any], "text"), dict[str, Any])
extract({"name": str}, "text")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
extract([Person], "text")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
extract(Person, "text", seed="one")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
extract_batch(Person, ["text"], modle="m")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
Extractor(Person, modle="m")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

file = Path("letter.txt")
assert_type(extract(Person, file), Person)
assert_type(extract(Person, ("an id", "text")), Person)
assert_type(Extractor(Person)(Document("text", id="an id")), Person)
assert_type(Extractor(Person).result(file), Result[Person])
assert_type(Extractor(Person).stream(file), Stream[Person])
assert_type(Extractor(Person).prompt(file), str | list[dict[str, str]])
assert_type(classify(bool, file), Classification[bool])
extract(Person, "text", modle="m")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

chat = [{"role": "user", "content": "I am Jason."}]
assert_type(extract(Person, chat, system="Be brief."), Person)
assert_type(extract(Person, [{"role": "user", "content": "text"}]), Person)
assert_type(extract_batch(Person, [chat, "text"]), list[Person])
assert_type(Extractor(Person)(chat), Person)
documents: list[TextOrChat] = [chat, "text"]
assert_type(extract_batch(Person, documents, allow_missing=True), list[Person])
extract_batch(Person, chat)  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]
extract(Person, chat[0])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


class Message(TypedDict):
    """A message, as some clients declare it."""

    role: Literal["system", "user", "assistant"]
    content: str


messages: list[Message] = [{"role": "user", "content": "I am Jason."}]
assert_type(extract(Person, messages), Person)


async def beside() -> None:
    """What awaiting gives."""
    assert_type(await aextract_batch(Person, ["text"]), list[Person])


people("text", limit="2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


options: Options = {"temperature": 0.5, "seed": 1, "examples": [("Ana, 31.", Person(name="Ana", age=31))]}
assert_type(extract(Person, "text", **options), Person)
wrong: Options = {"temperature": "hot"}  # type: ignore[typeddict-item]  # pyright: ignore[reportAssignmentType]


def handing_on(text: str, **options: Unpack[Options]) -> list[Person]:
    """Take the options of the library, and hand them on."""
    return extract_batch(Person, [text], **options)


def reading_along(text: str) -> Person:
    """Show an answer while it is written."""
    stream = Extractor(Person).stream(text)
    assert_type(stream, Stream[Person])
    assert_type(next(stream), str)
    for event in stream.events():
        assert_type(event.path, str)
    for partial in stream.partials():
        assert_type(partial, Person)
    assert_type(stream.generation, Generation)
    assert_type(stream.generation.diagnostics.legal_masses, tuple[float, ...])
    return stream.result().value


async def beside_a_loop(text: str) -> None:
    """Wait for answers in an event loop."""
    assert_type(await aextract(Person, text), Person)
    assert_type(await aextract(Person, file), Person)
    async for piece in Extractor(Person).stream(text):
        assert_type(piece, str)


def what_failed(texts: list[str]) -> list[Person]:
    """Read the fields of errors."""
    try:
        return extract_batch(Person, texts)
    except BatchError as error:
        assert_type(error.results, tuple[Any, ...])
        assert_type(error.errors, dict[int, StructuredError])
        return [person for person in error.results if isinstance(person, Person)]
    except GenerationError as error:
        assert_type(error.attempts[0].text, str)
        assert_type(error.document, int | None)
    except BudgetError as error:
        assert_type(error.shortest, int)
    except SchemaError as error:
        assert_type(error.keyword, str | None)
        assert_type(error.remedy, str)
    return []


def what_is_known(text: str) -> None:
    """Look at a type, and at an answer from which something may be missing."""
    assert_type(to_regex(Person), str)
    assert_type([field.path for field in inspect_type(Person).fields], list[str])
    result = Extractor(Person, allow_missing=True).result(text)
    assert_type(result.missing, tuple[str, ...])
    assert_type(result.value.age, int)


class Bill(BaseModel):
    """Fields that the document states, to a type checker what they are anyway."""

    vendor: Grounded[str]
    total: Grounded[Decimal] | None
    lines: list[Grounded[str]]
    code: Annotated[str, Grounding("characters")]


@structured(grounded=True)
def bill(text: str) -> Result[Bill]:
    """Read the bill: {text}"""
    raise NotImplementedError


def where_values_stand(text: str) -> None:
    """Look at the evidence, and keep it."""
    found = bill(text)
    assert_type(found, Result[Bill])
    assert_type(found.value, Bill)
    assert_type(found.value.vendor, str)
    assert_type(found.value.total, Decimal | None)
    assert_type(found.value.lines, list[str])
    for path, evidence in found.evidence.items():
        assert_type(path, str)
        assert_type(evidence, Evidence)
        assert_type(evidence.span, tuple[int, int] | None)
        assert_type(evidence.confidence, float | None)
    assert_type(found.to_dict(), dict[str, Any])
    try:
        Extractor(Bill).stream(text)
    except NotStatedError as error:
        assert_type(error.schema_path, str)


async def evidence_beside_a_loop(text: str) -> None:
    """Wait for evidence."""
    async for result in Extractor(Person).aresults([text]):
        assert_type(result, Result[Person])


class Day(NamedTuple):
    """What named groups make."""

    day: str


def texts_that_are_no_json(text: str) -> None:
    """Ask for regular expressions, choices and grammars."""
    assert_type(Regex("a"), Regex[str])
    assert_type(Regex("a", int), Regex[int])
    assert_type(Regex("(?P<day>a)", groups=Day), Regex[Day])
    assert_type(Regex("(?P<day>a)", groups=dict), Regex[dict[str, str | None]])
    assert_type(Choice(["a", "b"]), Choice[str])
    assert_type(Choice({"a": 1}), Choice[int])
    assert_type(extract(Grammar.from_gbnf("root ::= [a-z]"), text), str)
    assert_type(extract(Regex("a", int), text), int)
    assert_type(extract("a" + Regex("a", int) + "b", text), int)
    assert_type(extract("a" + Regex("a") + ", " + Choice({"a": 1}) + Json(float), text), tuple[str, int, float])
    assert_type(extract(Regex("a") | Json(int), text), str | int)
    assert_type(extract(Repeat(Regex("a", int)), text), list[int])
    assert_type(template("{a}", a=int), OutputType[dict[str, Any]])
    assert_type(template("{day}", result=Day, day=Regex("a")), OutputType[Day])
    assert_type(extract(Text(stop=".") - "no." & Regex("a.*"), text), str)
    assert_type(Extractor(Choice({"a": 1})).result(text), Result[int])
    assert_type(extract_batch(Regex("a"), [text]), list[str])
    assert_type(classify(Choice(["a", "b"]), text), Classification[str])
    assert_type(Extractor(Regex("a", int))(text), int)
    Regex("a", int, groups=Day)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]


def book(city: str, *, nights: int = 1) -> Decimal:
    """Book a room."""
    raise NotImplementedError


async def cancel(code: str) -> bool:
    """Cancel a booking."""
    raise NotImplementedError


class Desk:
    """Something with methods."""

    def price(self, city: str) -> Decimal:
        """Tell a price."""
        raise NotImplementedError


def calls_of_functions(text: str) -> None:
    """Ask for calls, which know what running them returns."""
    assert_type(extract(functions(book), text), Call[Decimal])
    assert_type(extract(book, text), Any)  # functions(book) says more
    assert_type(extract(Desk().price, text), Any)
    assert_type(extract(functools.partial(book, nights=2), text), Any)
    assert_type(extract(functions(book), text).run(), Decimal)
    assert_type(extract(functions(functools.partial(book, nights=2)), text), Call[Decimal])
    assert_type(Extractor(functions(book)).result(text), Result[Call[Decimal]])
    assert_type(extract_batch(functions(book), [text]), list[Call[Decimal]])
    assert_type(extract(functions(book, Desk().price), text), Call[Decimal])
    assert_type(extract(functions(book, Desk().price, parallel=True), text), list[Call[Decimal]])
    assert_type(extract(functions(Desk), text).run(), Desk)
    assert_type(functions({"type": "function", "function": {"name": "book"}}), OutputType[Any])
    assert_type(functions(Tool("book"), parallel=True), OutputType[list[Call[Any]]])
    assert_type(classify(functions(book), text), Classification[Call[Decimal]])


async def calls_of_async_functions(text: str) -> None:
    """Await what running them returns."""
    assert_type(await extract(functions(cancel), text).run(), bool)
    assert_type(await aextract(functions(book), text), Call[Decimal])
    assert_type(await aextract_batch(functions(book), [text]), list[Call[Decimal]])
