"""What a text does not state is missing, and not invented: the type stays as it is, and reads what is stated."""

import dataclasses
import json
import re
import warnings
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from doubles import ByteTokenizer, in_order, random_logits, said
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, create_model, field_validator
from strategies import output_types
from typing_extensions import TypedDict
from walks import accepted

from structured import (
    Extractor,
    Json,
    JsonLayout,
    Result,
    extract,
    extract_batch,
    extract_results,
    inspect_type,
    structured,
)
from structured.automata import RegularAutomaton
from structured.errors import BatchError, GenerationError, MissingError, SchemaError, StructuredWarning
from structured.json_schema.schema_compiler import compiled
from structured.models import FunctionModel
from structured.output_types import Tool
from structured.output_types.call_types import call_type
from structured.output_types.resolve import resolve_type

TOKENIZER = ByteTokenizer()
BOOK = Tool("book", {"type": "object", "properties": {"city": {"type": "string"}}})
UNIFORM = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)


def writing(text):
    """Return a model that writes a text, as far as it may."""
    data = text.encode()

    def logits(token_ids):
        written = b"".join(TOKENIZER.tokens[token_id] or b"" for token_id in token_ids)
        done = next(length for length in range(len(data), -1, -1) if written.endswith(b"JSON:\n" + data[:length]))
        left = data[done:]
        # Byte by byte, or by a longer token where that is the only spelling; at the end, the end.
        return [
            20.0 if token is None else (30.0 if len(token) == 1 else 25.0) if token and left.startswith(token) else 0.0
            for token in TOKENIZER.tokens
        ]

    return FunctionModel(logits, TOKENIZER)


def read(output_type, text, absent, **options):
    return Extractor(output_type, allow_missing=absent, model=writing(text), retries=0, **options).result("x")


def accepts(output_type, absent, text):
    return accepted(RegularAutomaton(compiled(resolve_type(output_type, absent).compilation())), text.encode())


class Person(BaseModel):
    name: str
    age: int
    city: str = "Paris"
    email: str | None


class Address(BaseModel):
    street: str
    number: int


class Item(BaseModel):
    title: str
    price: float


class Order(BaseModel):
    address: Address
    billing: Address | None
    items: list[Item]
    prices: dict[str, Item]
    tags: list[str]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    food: str


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    other: Cat | Dog | None


class Node(BaseModel):
    value: int
    children: list["Node"]


def test_a_missing_field_that_is_required_leaves_no_instance():
    """What was stated is there all the same."""
    found = read(Person, '{"name": "Ana", "age": null, "city": "Rome", "email": "a@b"}', True)
    assert said(found) == (None, {"name": "Ana", "city": "Rome", "email": "a@b"}, ("age",))


def test_a_missing_field_with_a_default_has_it():
    """And one that may be None is None; both are missing."""
    found = read(Person, '{"name": "Ana", "age": 31, "city": null, "email": null}', True)
    assert found.value == Person(name="Ana", age=31, city="Paris", email=None)
    assert found.missing == ("city", "email")
    assert found.data == {"name": "Ana", "age": 31}


def test_nothing_need_be_missing():
    """An instance, and an empty list of what is missing."""
    found = read(Person, '{"name": "Ana", "age": 31, "city": "Rome", "email": "a@b"}', True)
    assert (found.value, found.missing) == (Person(name="Ana", age=31, city="Rome", email="a@b"), ())


@pytest.mark.parametrize(
    ("absent", "text", "is_accepted"),
    [
        (["age"], '{"name": "a", "age": null, "city": "b", "email": "c"}', True),
        (["age"], '{"name": null, "age": 1, "city": "b", "email": "c"}', False),
        (True, '{"name": null, "age": null, "city": null, "email": null}', True),
        (True, "null", False),
        ([""], "null", True),
        ([], '{"name": "a", "age": null, "city": "b", "email": "c"}', False),
    ],
)
def test_only_what_was_chosen_may_be_null(absent, text, is_accepted):
    assert accepts(Person, absent, text) == is_accepted


def order(**changes):
    location = {"street": "s", "number": 1}
    item = {"title": "t", "price": 1.5}
    whole = {"address": location, "billing": location, "items": [item, item], "prices": {"x": item}, "tags": []}
    return json.dumps(whole | changes)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("path", "changes", "missing"),
    [
        ("address.street", {"address": {"street": None, "number": 1}}, ("address.street",)),
        ("billing.number", {"billing": {"street": "s", "number": None}}, ("billing.number",)),
        ("address", {"address": None}, ("address",)),
        (
            "items[].price",
            {"items": [{"title": "t", "price": None}] * 2},
            ("items[0].price", "items[1].price"),
        ),
        ("prices.*.title", {"prices": {"a b": {"title": None, "price": 1.0}}}, ('prices."a b".title',)),
        ("tags", {"tags": None}, ("tags",)),
    ],
)
def test_paths_choose_fields(path, changes, missing):
    """Each at its own place, though types are used at several."""
    assert accepts(Order, [path], order())
    found = read(Order, order(**changes), [path])
    assert (found.missing, said(found)[0]) == (missing, None)
    for other in ["address.street", "items[].price", "tags"]:
        assert accepts(Order, [other], order(**changes)) == (other == path)


def test_every_path_of_a_report_can_be_chosen():
    """With the branches that it names, and without them."""
    for output_type in (Person, Order, Owner, Node):
        paths = [field.path for field in inspect_type(output_type).fields if not field.path.endswith("kind")]
        for path in paths:
            resolve_type(output_type, [path])
            resolve_type(output_type, [re.sub(r" \(\w+\)", "", path)])


def test_unions_keep_what_tells_them_apart():
    """A tag is never null; the fields beside it may be."""
    cat = '{"kind": "cat", "lives": null}'
    text = f'{{"pet": {cat}, "other": {cat}}}'
    found = read(Owner, text, True)
    assert (said(found)[0], found.missing) == (None, ("pet.lives", "other.lives"))
    assert accepts(Owner, ["pet (cat).lives"], f'{{"pet": {cat}, "other": null}}')
    assert not accepts(Owner, True, '{"pet": {"kind": null, "lives": 9}, "other": null}')
    with pytest.raises(SchemaError, match=re.escape("'pet (cat).kind' tells which branch of a union an answer is")):
        resolve_type(Owner, ["pet.kind"])


def test_what_contains_itself_may_lack_a_field_at_any_depth():
    """Lists stay lists: an empty one says that there is nothing."""
    found = read(
        Node, '{"value": null, "children": [{"value": 1, "children": [{"value": null, "children": []}]}]}', True
    )
    assert found.missing == ("value", "children[0].children[0].value")
    assert not accepts(Node, True, '{"value": 1, "children": null}')
    assert accepts(Node, ["children[].value"], '{"value": 1, "children": [{"value": null, "children": []}]}')


class Movie(TypedDict):
    title: str
    year: int


@dataclasses.dataclass
class Point:
    x: int
    y: int = 7


def test_types_of_every_kind_may_lack_fields():
    """TypedDicts, dataclasses, and what has no fields at all."""
    assert said(read(Movie, '{"title": "Up", "year": null}', True)) == (None, {"title": "Up"}, ("year",))
    assert said(read(Point, '{"x": 1, "y": null}', True)) == (Point(1, 7), {"x": 1}, ("y",))
    assert read(Point, '{"x": null, "y": 2}', True).missing == ("x",)
    assert said(read(int, "null", True)) == (None, None, ("",))
    assert said(read(int | None, "null", True)) == (None, None, ("",))
    assert said(read(int, "3", True)) == (3, 3, ())
    assert said(read(list[int], "[]", True)) == ([], [], ())


def test_stated_values_are_read_by_the_type_as_they_are_written():
    """Large integers and long decimals are not rounded on the way."""
    found = read(Point, '{"x": 123456789012345678, "y": null}', True)
    assert found.value == Point(123456789012345678, 7)
    prices = read(Prices, '{"gross": 12345678901234567.10, "net": 24.90}', True)
    assert repr(prices.value) == "Prices(gross=Decimal('12345678901234567.10'), net=Decimal('24.90'))"
    assert prices.data == {"gross": "12345678901234567.10", "net": 24.9}


class Prices(BaseModel):
    gross: Decimal
    net: Decimal


def even(number):
    if number % 2:
        raise ValueError("odd")
    return number


class Checked(BaseModel):
    number: Annotated[int, AfterValidator(even)]
    name: str

    @field_validator("name")
    @classmethod
    def short(cls, name):
        if len(name) > 3:
            raise ValueError("long")
        return name


class Either(BaseModel):
    one: Checked | Point


def test_validators_still_have_the_last_word_on_what_is_stated():
    """Whether or not something else is missing, and in a union too."""
    assert read(Checked, '{"number": null, "name": "abc"}', True).missing == ("number",)
    for text in ('{"number": 3, "name": "abc"}', '{"number": null, "name": "abcd"}', '{"number": 3, "name": null}'):
        with pytest.raises(GenerationError):
            read(Checked, text, True)
        with pytest.raises(GenerationError):
            read(Either, f'{{"one": {text}}}', True)
    assert read(Either, '{"one": {"number": null, "name": "abc"}}', True).missing == ("one.number",)


@pytest.mark.parametrize(
    ("output_type", "absent", "message"),
    [
        (Person, ["agee"], "No field has the path 'agee'. Is it 'age'?"),
        (Person, ["x.y.z"], "No field has the path 'x.y.z'. There are 'name', "),
        (
            call_type([BOOK]),
            True,
            "leaves out optional arguments that the text does not state. Leave out allow_missing.",
        ),
    ],
)
def test_what_cannot_be_chosen_is_refused(output_type, absent, message):
    with pytest.raises(SchemaError, match=re.escape(message)):
        Extractor(output_type, allow_missing=absent, model=UNIFORM).result("x")


def test_the_model_is_told_what_may_be_null():
    """By the sketch; descriptions stay."""
    described = Annotated[int, Field(description="in years")]

    class Aged(BaseModel):
        age: described

    assert Extractor(Aged, allow_missing=True, model=UNIFORM).description == "{\n  age: integer | null  // in years\n}"


def test_fields_that_are_left_out_are_missing():
    """Where optional fields need not be written."""
    found = read(
        Person, '{"name": "Ana", "age": 31, "email": "a@b"}', True, layout=JsonLayout(optional_properties="omittable")
    )
    assert (found.missing, found.value.city) == (("city",), "Paris")


def test_batches_and_functions_tell_what_is_missing():
    people = in_order(extract_results(Point, ["x", "y"], allow_missing=True, model=writing('{"x": null, "y": 1}')))
    assert [person.missing for person in people] == [("x",), ("x",)]

    @structured(allow_missing=True, model=writing('{"x": null, "y": null}'))
    def point(text: str) -> Result[Point]:
        """Where is {text}?"""

    assert point("it").missing == ("x", "y")

    @structured(allow_missing=["x"], model=writing('{"x": null, "y": 1}'))
    def value(text: str) -> Point:
        """Where is {text}?"""

    with pytest.raises(MissingError, match="does not state x, and Point lacks a default"):
        value("it")


class Labelled(BaseModel):
    x: int
    label: str = "?"


def test_a_value_that_lacks_required_fields_is_an_error_of_its_document():
    """A default takes the place of a missing field; without one, `data` has what is stated."""
    options = {"allow_missing": True, "model": writing('{"x": null, "y": 1}')}
    with pytest.raises(
        MissingError, match=r"Take `data` and `missing` of the result, or give the fields defaults"
    ) as caught:
        extract(Point, "it", **options)
    assert caught.value.missing == ("x",)
    with pytest.raises(MissingError, match=r"does not state x, and Labelled lacks a default") as caught:
        extract(Labelled, "it", allow_missing=True, model=writing('{"x": null, "label": null}'))
    assert caught.value.missing == ("x", "label"), "that one has a default"
    with pytest.raises(BatchError):
        extract_batch(Point, ["it"], **options)
    (error,) = extract_batch(Point, ["it"], errors="return", **options)
    assert isinstance(error, MissingError)
    (result,) = extract_results(Point, ["it"], **options)
    assert (result.error, result.data, result.missing) == (None, {"y": 1}, ("x",))


def test_a_function_may_return_its_result():
    """Its value is that of the type inside, and nothing may be missing by it."""
    result = structured(model=writing('{"x": 1, "y": 2}'))(_located)("1, 2")
    assert (result.value, result.missing) == (Point(x=1, y=2), ())
    assert result.evidence["y"].span == (3, 4)


def _located(text: str) -> Result[Point]:
    """Where is it? {text}"""


@pytest.mark.thorough
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(output_type=output_types(), seed=st.integers(0, 2**32))
def test_every_answer_is_an_instance_or_lacks_something(output_type, seed):
    """Of random types and by a model without preferences; values that are there have passed Pydantic."""
    extractor: Extractor[Any] = Extractor(
        output_type, allow_missing=True, model=UNIFORM, temperature=1.0, seed=seed, max_tokens=300, retries=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuredWarning)
        found = list(extractor.results(f"document {i}" for i in range(8)))
    for one in found:
        assert one.missing or said(one)[0] is not None or one.data is None
        if said(one)[0] is not None:
            TypeAdapter(output_type).validate_python(one.value)


class Closed(BaseModel, extra="forbid"):
    x: int
    v: int


class ClosedToo(BaseModel, extra="forbid"):
    y: int
    v: str | None = "unset"


class One(BaseModel):
    kind: Literal[1, "one"]
    v: int


class Two(BaseModel):
    kind: Literal[2, True]
    v: str | None = "unset"


@pytest.mark.parametrize(
    ("union", "text", "value"),
    [
        (Closed | ClosedToo, '{"y": 1, "v": null}', ClosedToo(y=1, v=None)),
        (One | Two, '{"kind": 2, "v": null}', Two(kind=2, v=None)),
        (One | Two, '{"kind": true, "v": null}', Two(kind=True, v=None)),
    ],
)
def test_only_the_branch_that_a_text_is_of_has_missing_fields(union, text, value):
    """Objects are told apart by their names and by constants of every kind."""
    answer = resolve_type(create_model("Held", held=(union, ...)), True).parse(f'{{"held": {text}}}')
    assert (answer.value.held, answer.missing) == (value, ("held.v",))


def test_all_missing_fields_are_named_where_a_union_is_among_them():
    """Pydantic calls their places by the branches, too."""

    class Left(BaseModel):
        y: int

    class Right(BaseModel):
        z: int

    class Both(BaseModel):
        a: int
        u: Left | Right

    with pytest.raises(MissingError, match=r"does not state a, u\.y, u\.z, and Both"):
        extract(Both, "it", allow_missing=True, model=writing('{"a": null, "u": {"y": null}}'))


def test_a_flag_that_is_off_is_no_option():
    """False is as good as leaving it out, so that a program can hand on its own flag."""
    off = Extractor(Point, allow_missing=False, grounded=False, model=UNIFORM)
    assert off.provenance == Extractor(Point, model=UNIFORM).provenance
    assert resolve_type(Point, False, grounded=False).schema == resolve_type(Point).schema
    assert Json(Point, grounded=False).schema == Json(Point).schema
