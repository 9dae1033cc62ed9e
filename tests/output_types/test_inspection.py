"""The pre-flight report: it refuses what the compiler refuses, names what may go wrong, and builds nothing."""

import dataclasses
import datetime as dt
import math
import re
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from agreement import check_agreement
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    Field,
    NaiveDatetime,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_types import Chosen
from strategies import WHITESPACES, output_types

from structured import JsonLayout, JsonSchema, Regex, inspect_type, to_regex
from structured.errors import SchemaError
from structured.output_types.inspection import Cost

RANDOM_TYPES = settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
Distinct = Annotated[set[str], Field(min_length=2)]
"""No regular language: which strings may follow depends on all that were written."""

NotANumber = Annotated[float, Field(gt=math.nan)]
Nothing = Annotated[int, Field(ge=3, le=2)]
REFUSED = (Distinct, dict[str, Distinct], NotANumber, tuple[int, Distinct], Nothing)


class Engine:
    pass


class Car(BaseModel, arbitrary_types_allowed=True):
    wheels: int
    start: Callable[[int], int]
    engines: list[Engine]
    kind: type[Engine]
    spare: Engine | int
    parts: "list[Car]"


class Address(BaseModel):
    street: str
    city: Annotated[str, Field(max_length=30)] | None


class Line(BaseModel):
    price: Annotated[float, Field(gt=0, le=1000)]
    parts: list[str]


class Order(BaseModel):
    number: str
    customer: Address
    payer: Address | None
    lines: list[Line]

    @field_validator("number")
    @classmethod
    def upper(cls, number):
        return number

    @model_validator(mode="after")
    def adds_up(self):
        return self


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    food: list[Distinct]


class Node(BaseModel):
    name: Annotated[str, Field(max_length=9)]
    children: "list[Node]"


def by_path(report):
    return {field.path: field for field in report.fields}


def paths_of(report, kind):
    return next((hazard.paths for hazard in report.hazards if hazard.kind == kind), ())


@pytest.mark.thorough
@RANDOM_TYPES
@given(output_type=output_types(), whitespace=st.sampled_from(WHITESPACES))
def test_random_types_are_refused_as_the_compiler_does(output_type, whitespace):
    """None of these is, and each has a cost."""
    report = check_agreement(output_type, whitespace)
    assert report.cost.longest is None or report.cost.shortest <= report.cost.longest


@pytest.mark.thorough
@RANDOM_TYPES
@given(
    drawn=st.lists(st.sampled_from(REFUSED) | output_types(), min_size=1, max_size=5),
    whitespace=st.sampled_from(WHITESPACES),
)
def test_every_refused_field_is_found(drawn, whitespace):
    """However many there are, each at its own field and only there."""
    model = create_model("Drawn", **{f"field{i}": (list[kind] | None, ...) for i, kind in enumerate(drawn)})
    report = check_agreement(model, whitespace)
    refused = {path for path, field in by_path(report).items() if field.status == "refused"}
    # An unsatisfiable item leaves the empty list, and so does not refuse the field.
    wrong = [kind in REFUSED[:-1] for kind in drawn]
    assert refused == {f"field{i}" for i, is_wrong in enumerate(wrong) if is_wrong}


def test_refusals_are_told_with_their_fields():
    """Several in one answer, some inside others, and one that stops the compiler before it sees the rest."""

    class Basket(BaseModel):
        weight: Nothing
        prices: Annotated[dict[str, NotANumber], Field(min_length=1)]
        names: Distinct
        pet: Annotated[Cat | Dog, Field(discriminator="kind")]
        name: str

    found = {field.path: [error.keyword for error in field.refusals] for field in inspect_type(Basket).fields}
    assert found == {
        "": [],
        "weight": ["maximum"],
        "prices": ["exclusiveMinimum"],
        "names": ["uniqueItems"],
        "pet": [],
        "pet (cat).kind": [],
        "pet (cat).lives": [],
        "pet (dog).kind": [],
        "pet (dog).food": ["uniqueItems"],
        "name": [],
    }


def test_a_branch_that_nothing_satisfies_is_no_refusal():
    """The compiler leaves it out; what it refuses is the other."""
    assert not inspect_type(create_model("Kept", a=(Nothing | str, ...))).refusals
    report = inspect_type(create_model("Refused", a=(Nothing | Distinct, ...)))
    assert [error.keyword for error in report.refusals] == ["uniqueItems"]
    assert [error.keyword for error in inspect_type(Nothing | None).refusals] == []


def test_fields_have_the_kinds_of_the_sketch():
    """A row for each field, those of a definition where it is met first."""
    assert [(field.path, field.kind, field.same_as) for field in inspect_type(Order).fields] == [
        ("", "Order", ()),
        ("number", "string", ()),
        ("customer", "Address", ()),
        ("customer.street", "string", ()),
        ("customer.city", "string (<= 30 characters) | null", ()),
        ("payer", "Address | null", ("customer",)),
        ("lines", "[Line, ...]", ()),
        ("lines[].price", "number (> 0, <= 1000)", ()),
        ("lines[].parts", "[string, ...]", ()),
    ]


def test_validators_are_told_where_they_run():
    """On a field, on an item of it, on the whole answer; a refusal outweighs them."""
    fields = by_path(inspect_type(Order))
    assert (fields[""].status, fields[""].validators) == ("checked", ("Order.adds_up",))
    assert (fields["number"].status, fields["number"].validators) == ("checked", ("Order.upper",))
    assert fields["customer"].status == "enforced"
    items = by_path(inspect_type(create_model("Items", a=(list[Annotated[int, AfterValidator(abs)]], ...))))
    assert items["a"].validators == ("abs",)
    both = by_path(inspect_type(create_model("Both", a=(Annotated[Distinct, AfterValidator(len)], ...))))
    assert (both["a"].status, both["a"].validators) == ("refused", ("len",))
    orders = by_path(inspect_type(create_model("Orders", a=(list[Order], ...), b=(Order, ...))))
    assert orders["a"].validators == orders["b"].validators == ("Order.adds_up",)


@pytest.mark.parametrize(
    ("output_type", "paths"),
    [
        (list[Line], ["", "[].price", "[].parts"]),
        (Cat | Dog, ["", "(Cat).kind", "(Cat).lives", "(Dog).kind", "(Dog).food"]),
        (create_model("Odd", a=(int, Field(alias="a b"))), ["", '"a b"']),
        (tuple[Line, Cat], ["", "[0].price", "[0].parts", "[1].kind", "[1].lives"]),
        (dict[str, Line], ["", "*.price", "*.parts"]),
        (dataclasses.make_dataclass("Point", [("x", int)]), ["", "x"]),
        (int, [""]),
    ],
    ids=str,
)
def test_paths_lead_through_the_answer(output_type, paths):
    """Items, branches, names that are no identifiers, entries of dictionaries."""
    assert [field.path for field in inspect_type(output_type).fields] == paths


@pytest.mark.parametrize(
    ("kind", "output_type", "is_one"),
    [
        ("list", list[bool], True),
        ("list", Annotated[list[bool], Field(max_length=3)], False),
        ("list", tuple[bool, None], False),
        ("string", str, True),
        ("string", Annotated[str, Field(min_length=3)], True),
        ("string", Annotated[str, Field(max_length=3)], False),
        ("string", dt.date, False),
        ("string", Literal["a", "b"], False),
        ("number", int, True),
        ("number", float | None, True),
        ("number", Annotated[int, Field(ge=0)], True),
        ("number", Annotated[float, Field(gt=0, lt=1)], False),
        ("number", Literal[3], False),
        ("date", dt.date, True),
        ("date", dt.datetime, False),
        ("datetime", dt.datetime | None, True),
        ("datetime", Annotated[dt.datetime, Field(ge=dt.date(1990, 1, 1), le=dt.date(2040, 12, 31))], False),
        ("time zone", Annotated[dt.datetime, Field(ge=dt.date(1990, 1, 1), le=dt.date(2040, 12, 31))], True),
        ("time zone", NaiveDatetime, False),
        ("time zone", AwareDatetime, False),
        ("time zone", dt.date, False),
        ("duration", dt.timedelta, True),
        ("duration", dt.time, False),
        ("date", Annotated[dt.date, Field(ge=dt.date(2020, 1, 1))], True),
        ("date", Annotated[dt.date, Field(ge=dt.date(2020, 1, 1), lt=dt.date(2030, 1, 1))], False),
        ("recursion", Node, True),
        ("recursion", tuple[Address, Address], False),
        ("anything", Any, True),
        ("anything", list[Any], True),
        ("anything", list[int], False),
    ],
)
def test_hazards_are_named(kind, output_type, is_one):
    """Each where it is one and not where it is none, with a remedy in a line."""
    report = inspect_type(create_model("Model", field=(output_type, ...)))
    found = [hazard for hazard in report.hazards if hazard.kind == kind]
    assert len(found) == is_one
    assert all("\n" not in hazard.remedy and hazard.paths[0].startswith("field") for hazard in found)


@pytest.mark.parametrize(
    ("output_type", "is_one"),
    [
        (int, True),
        (bool, True),
        (Literal["a", "b"], True),
        (Literal["a"], False),
        (Literal["a"] | None, False),
        (int | None, False),
        (list[int], False),
        (Annotated[list[int], Field(min_length=1)], True),
        (Address, False),
        (Address | str, False),
        (Any, False),
    ],
)
def test_values_that_must_be_invented_are_named(output_type, is_one):
    """A default changes nothing, since it is never used."""
    assert ("field" in paths_of(inspect_type(create_model("Model", field=(output_type, ...))), "invention")) == is_one
    defaulted = inspect_type(create_model("Model", field=(output_type, None)))
    assert ("field" in paths_of(defaulted, "invention")) == is_one


@pytest.mark.parametrize(("kind", "output_type"), [("date", dt.date), ("datetime", dt.datetime)])
def test_the_remedy_of_a_date_is_accepted(kind, output_type):
    """What the report advises can be written as it stands, and ends the hazard."""
    (hazard,) = (hazard for hazard in inspect_type(output_type).hazards if hazard.kind == kind)
    names = {"Field": Field, "date": dt.date, "datetime": dt.datetime}
    bounds = eval(hazard.remedy.partition(", with")[0], names)  # noqa: S307  the library's own text
    report = inspect_type(Annotated[output_type, bounds])
    assert not report.refusals
    assert kind not in [hazard.kind for hazard in report.hazards]


def test_hazards_tell_their_paths():
    """One hazard of a kind, with all its places, and without those that are refused."""
    report = inspect_type(Order)
    assert paths_of(report, "string") == ("number", "customer.street", "lines[].parts[]")
    assert paths_of(report, "list") == ("lines", "lines[].parts")
    assert paths_of(report, "invention") == ("number", "customer.street", "lines[].price")
    assert paths_of(inspect_type(Node), "recursion") == ("children[]",)
    assert paths_of(inspect_type(Node), "list") == ("children",)
    assert not inspect_type(create_model("Model", a=(Distinct, ...))).hazards


def test_any_whitespace_is_a_hazard():
    """Of the whole answer."""
    assert paths_of(inspect_type(bool, layout=JsonLayout("any")), "whitespace") == ("",)
    assert not paths_of(inspect_type(bool), "whitespace")


def test_the_whitespace_may_be_what_is_refused():
    """Indented text cannot contain itself."""
    assert not inspect_type(Node).refusals
    report = check_agreement(Node, "indented")
    assert [field.path for field in report.fields if field.refusals] == ["children"]
    with pytest.raises(ValueError, match="whitespace is 'loose'; it must be one of 'compact'"):
        inspect_type(Node, layout=JsonLayout("loose"))


def test_costs_are_counted_on_the_pattern():
    """Nodes, the shortest and the longest answer in bytes, and the choices that the type leaves."""
    report = inspect_type(create_model("Model", a=(bool, ...), b=(Literal["x", "yes"] | None, ...)))
    assert (report.cost.shortest, report.cost.longest) == (
        len('{"a": true, "b": "x"}'),
        len('{"a": false, "b": "yes"}'),
    )
    assert report.choices == 2
    assert inspect_type(bool).cost == Cost(nodes=1, shortest=4, longest=5)
    assert inspect_type(list[bool]).cost.longest is None
    assert inspect_type(Distinct).cost is None


def test_what_has_a_pattern_and_no_automaton_is_refused():
    """As `extract` refuses it, for the whole answer."""
    text = Annotated[str, Field(min_length=2**20)]
    report = inspect_type(Annotated[list[text], Field(min_length=2**20)])
    assert (report.fields[0].status, report.cost) == ("refused", None)
    assert report.refusals[0].problem.endswith("none shorter than 1,073,741,824 bytes")


def test_reports_say_what_they_hold():
    """In one line."""
    assert repr(inspect_type(Order)) == "Report(Order, fields=9, checked=2, hazards=3)"
    assert repr(inspect_type(list[Distinct])) == "Report(list[set[str]], fields=1, refused=1, hazards=0)"


class Pair(BaseModel):
    left: str
    right: int


def test_what_is_no_type_is_an_error():
    """There is nothing to report about."""
    with pytest.raises(SchemaError, match="is a value, not a type"):
        inspect_type(3)


def layers(depth):
    """Return a model in which every model has two fields of the next: 2 ** depth paths."""
    model = create_model("Layer0", a=(str, ...))
    for number in range(1, depth):
        model = create_model(f"Layer{number}", a=(model, ...), b=(model | None, ...), c=(Distinct | None, ...))
    return model


@pytest.mark.thorough
def test_a_definition_is_told_once():
    """Reports grow with the schema, not with the paths through it."""
    started = time.process_time()
    report = check_agreement(layers(25))
    assert len(report.fields) == 2 + 3 * 24
    assert len(report.refusals) == 24
    assert time.process_time() - started < 5


@pytest.mark.thorough
def test_deep_types_are_reported():
    """As deep as the compiler goes."""
    deep = int
    for _ in range(60):
        deep = list[deep]
    check_agreement(deep)
    deep = Distinct
    for _ in range(60):
        deep = list[deep]
    assert [error.schema_path for error in check_agreement(deep).refusals] == ["/items" * 60]


@pytest.mark.thorough
def test_nothing_is_built():
    """Neither torch nor transformers is needed for a report."""
    code = (
        "import sys; from structured import inspect_type; print(inspect_type(list[str]).cost); "
        "print({name.partition('.')[0] for name in sys.modules} & {'torch', 'transformers'})"
    )
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert re.fullmatch(r"Cost\(nodes=\d+, shortest=2, longest=None\)\nset\(\)\n", printed)


def test_a_dictionary_without_a_limit_is_a_hazard():
    """As a list is; one with a greatest number of entries is none."""
    limited = Annotated[dict[str, bool], Field(max_length=3)]
    report = inspect_type(create_model("Model", a=(dict[str, bool], ...), b=(limited, ...)))
    assert paths_of(report, "dictionary") == ("a",)


def test_a_function_that_chooses_the_branch_is_checked_and_not_enforced() -> None:
    """Its branches are enforced, and which of them is right is known when it is run on the answer."""
    (whole, *_) = inspect_type(Chosen).fields
    assert (whole.status, whole.validators) == ("checked", ("kind_of",))


def test_fields_that_json_has_no_values_for_are_refused_by_name() -> None:
    """Also where the type contains itself; a branch of a union is left out."""
    refused = {field.path: field.refusals for field in inspect_type(Car).fields if field.refusals}
    assert {path: error.problem for path, (error,) in refused.items()} == {
        "start": "No JSON value is a function",
        "engines": "No JSON value is an instance of Engine",
        "kind": "No JSON value is a class",
    }
    (error,) = refused["start"]
    assert error.schema_path == "/$defs/Car/properties/start"
    with pytest.raises(SchemaError, match=re.escape(str(error))):
        to_regex(Car)
    assert to_regex(create_model("Spare", spare=(Car.__annotations__["spare"], ...), __config__=Car.model_config))


class Empty(BaseModel):
    pass


SLIPS = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimun": 3, "example": 2, "x-unit": "kg"}, "c": {"type": "object"}},
    "required": ["a", "b"],
    "allOf": [{"properties": {"d": {"maxlength": 3}}, "required": ["a"]}],
}


@pytest.mark.parametrize(
    ("output_type", "kind", "problem", "remedy", "paths"),
    [
        (Empty, "empty", "No fields: every answer is the same.", "The fields to extract.", ("",)),
        (JsonSchema(SLIPS), "empty", "No fields: every answer is the same.", "The properties to extract.", ("c",)),
        (JsonSchema({k: v for k, v in SLIPS.items() if k != "allOf"}), "required", "'b'", "A property", ("",)),
        (JsonSchema(SLIPS), "required", None, None, ()),
        (JsonSchema({"type": "integer", "minimun": 3}), "keyword", "'minimun'", "Did you mean 'minimum'?", ("",)),
        (JsonSchema({"type": "string", "format": "date-time"}), "time zone", None, None, ()),
        (JsonSchema({"type": "string"}), "string", "A text without a limit", '"maxLength", or "enum"', ("",)),
    ],
)
def test_hazards_of_schemas_are_told_in_words_of_schemas(output_type, kind, problem, remedy, paths):
    """And what may be misspelt is told, where it forbids something."""
    found = [hazard for hazard in inspect_type(output_type).hazards if hazard.kind == kind]
    assert [hazard.paths for hazard in found] == ([paths] if paths else [])
    for hazard in found:
        assert problem in hazard.problem
        assert remedy in hazard.remedy


def test_only_keywords_that_forbid_something_are_misspelt():
    """An annotation like `example`, or one with a name of its own, is none."""
    found = [hazard for hazard in inspect_type(JsonSchema(SLIPS)).hazards if hazard.kind == "keyword"]
    assert sorted((hazard.remedy, hazard.paths) for hazard in found) == [
        ("Did you mean 'maxLength'?", ("d",)),
        ("Did you mean 'minimum'?", ("a",)),
    ]


def test_more_answers_than_python_writes_a_number_for_are_not_counted() -> None:
    """Python refuses to write 26 ** 3500, and so would the report that has it."""
    report = inspect_type(Regex("[a-z]{3500}"))
    assert report.answers is not None
    assert (report.answers.count, report.answers.is_limited) == (None, True)
    assert "An answer takes 3,500 bytes." in str(report._repr_html_())
