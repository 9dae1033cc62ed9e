"""What the type checkers must find: mypy and pyright read this file, nothing runs it."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, assert_type

from pydantic import BaseModel, Field

from structured import (
    Extraction,
    Extractor,
    GuidedLogitsProcessor,
    JsonSchema,
    StructuredError,
    aextract_batch,
    extract,
    extract_batch,
    structured,
)


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
assert_type(extract_batch(Person, ["text"], errors="return"), list[Person | StructuredError])
assert_type(extract_batch(Person, ["text"], absent=True, errors="return"), list[Extraction[Person] | StructuredError])
assert_type(extract_batch(Literal["a"], ["text"], errors="return"), list[Any | StructuredError])
assert_type(extract_batch(JsonSchema(True), ["text"], errors="return", max_tokens=9), list[Any | StructuredError])
assert_type(Extractor(Person).batch(["text"], errors="return"), list[Person | StructuredError])
assert_type(Extractor(Person).batch(["text"], errors="raise"), list[Person])
extract_batch(Person, ["text"], errors="ignore")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
assert_type(Extractor(Person)("text"), Person)
assert_type(Extractor(Person).batch(["text"]), list[Person])
assert_type(GuidedLogitsProcessor(Person, "folder", max_tokens=9), GuidedLogitsProcessor[Person])
assert_type(GuidedLogitsProcessor(Literal["a"], "folder", max_tokens=9), GuidedLogitsProcessor[Any])
assert_type(people("text", limit=2), list[Person])
assert_type(one("text"), Person)
assert_type(extract(JsonSchema({"type": "integer"}), "text"), Any)
assert_type(extract_batch(JsonSchema('{"type": "integer"}'), ["text"]), list[Any])
assert_type(Extractor(JsonSchema(True)).batch(["text"]), list[Any])
assert_type(extract(Person, "text", optional="omittable"), Person)
extract(Person, "text", optional="never")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
assert_type(extract(Person, "text", absent=True), Extraction[Person])
assert_type(extract(Person, "text", absent=["age"]).value, Person | None)
assert_type(extract(Literal["a"], "text", absent=True), Extraction[Any])
assert_type(extract_batch(Person, ["text"], absent=True), list[Extraction[Person]])
assert_type(Extractor(Person, absent=["age"])("text"), Extraction[Person])
anything: Any = extract(Literal["a", "b"], "text")
optional: Person | None = extract(Annotated[Person | None, Field(description="whoever it is")], "text")
decorated: Callable[[str], Person] = one
extract(Person, "text", modle="m")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]


async def beside() -> None:
    """What awaiting gives."""
    assert_type(await aextract_batch(Person, ["text"]), list[Person])
    assert_type(await aextract_batch(Person, ["text"], errors="return"), list[Person | StructuredError])


people("text", limit="2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
