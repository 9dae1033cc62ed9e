"""Grounded values: whatever a model would rather write, the document states what it writes."""

import json
import re
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from doubles import ByteTokenizer, json_hating_logits, random_logits
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AnyUrl, AwareDatetime, BaseModel, Field, NaiveDatetime, create_model
from typing_extensions import TypeAliasType

from structured import Extractor, Grounded, JsonSchema, Repetition, extract, extract_batch
from structured.automata.byte_automaton import accepts_text
from structured.errors import ModelError, NotStatedError, SchemaError, StructuredWarning
from structured.json_schema.document.location import GROUNDED
from structured.models import FunctionModel, ScriptedModel
from structured.output_types import Grounding
from structured.output_types.grounded_values import grounding_marks
from structured.output_types.resolve import resolve_type
from structured.output_types.stated_dates import stated_dates
from structured.output_types.stated_numbers import stated_numbers

TOKENS = ByteTokenizer()


class Line(BaseModel):
    item: Grounded[str]
    price: Grounded[Decimal]


class Invoice(BaseModel):
    vendor: Grounded[str] = Field(max_length=12)
    number: Annotated[Grounded[str], Field(pattern=r"^[A-Z]\d+$")] | None
    issued: Grounded[date] | None
    total: Grounded[float] | None = Field(ge=0)
    pieces: Grounded[int] | None = Field(le=50)
    paid: bool
    lines: list[Line] = Field(max_length=2)
    notes: dict[str, Grounded[str]] = Field(max_length=1)


WORDS = st.sampled_from(
    [
        *("Ana", "O'Hara", "A17", 'the "Old" Mill', "B2", "naïve", "日本", "a\\b"),
        *("12", "1.250,00", "€40.5", "3 May 2024", "2024-05-03", "twelve"),
    ]
)
DOCUMENTS = st.lists(WORDS, min_size=1, max_size=9).flatmap(
    lambda words: st.sampled_from([" ", ", ", "\n", " \r\n "]).map(lambda between: between.join(words))
)


def as_written(text: str) -> str:
    """Return a text with each run of white space that wraps a line as one space."""
    return re.sub(r"\s*\n\s*", " ", text)


def check(document: str, value: object, span: tuple[int, int]) -> None:
    """Check that a document states a value at its span."""
    quoted = document[slice(*span)]
    if isinstance(value, str):
        assert value in (quoted, as_written(quoted))
    elif isinstance(value, date):
        assert value in {one for found in stated_dates(quoted) for one in found.values}
    else:
        assert Decimal(str(value)) in {one for found in stated_numbers(quoted) for one in found.values}


@pytest.mark.filterwarnings("ignore:Invoice can have no object")
@settings(max_examples=examples(150))
@given(DOCUMENTS, st.integers(0, 10_000), st.booleans())
def test_every_grounded_value_stands_at_its_span(document: str, seed: int, hates: bool) -> None:
    logits = json_hating_logits(TOKENS.tokens) if hates else random_logits(len(TOKENS.tokens), scale=3.0, seed=seed)
    model = FunctionModel(logits, TOKENS)
    try:
        found = Extractor(Invoice, model=model, max_tokens=400, repetition=Repetition(stop=False)).result(document)
    except NotStatedError:
        assert not re.search(r"\w{1,12}", document)
        return
    assert found.value is not None
    bill = found.value
    stated = {"vendor": bill.vendor, "number": bill.number, "issued": bill.issued}
    stated |= {"total": bill.total, "pieces": bill.pieces}
    stated |= {f"lines[{place}].item": line.item for place, line in enumerate(bill.lines)}
    stated |= {f"lines[{place}].price": line.price for place, line in enumerate(bill.lines)}
    for path, value in stated.items():
        evidence = found.evidence[path]
        if value is None:
            assert evidence.match == "absent"
        else:
            assert evidence.match == "grounded"
            assert evidence.span is not None
            check(document, value, evidence.span)
    assert found.evidence["paid"].match == "concluded"


class Person(BaseModel):
    name: str
    age: int
    city: Literal["Bern", "Rome"]


def scripted(answer: str) -> ScriptedModel:
    return ScriptedModel(answer)


def anything(seed: int) -> FunctionModel:
    """Return a model without preferences."""
    return FunctionModel(random_logits(len(TOKENS.tokens), scale=3.0, seed=seed), TOKENS)


@pytest.mark.parametrize("seed", range(5))
def test_options_ground_types_that_say_nothing_of_it(seed: int) -> None:
    """All that can be read off a text, or what some paths lead to; an enum stays what it is."""
    text = "Ana is thirty-one."
    free = scripted('{"name": "Bob", "age": 99, "city": "Rome"}')
    assert extract(Person, text, model=free).name == "Bob"
    assert extract(Person, "Bob is 99.", model=free, grounded=True) == Person(name="Bob", age=99, city="Rome")
    found = extract(Person, text, model=anything(seed), grounded=True)
    assert found.name in text
    assert found.age in {1, 30, 31}
    found = extract(Person, "Bob is 98.", model=free, grounded=["name"])
    assert found == Person(name="Bob", age=99, city="Rome")


@pytest.mark.parametrize(
    ("document", "name"), [("It was Rosa\n   Lind.", "Rosa Lind"), ("It was Rosa\n   Lind.", "Rosa\n   Lind")]
)
def test_white_space_that_wraps_a_line_may_be_one_space(document: str, name: str) -> None:
    assert extract(Grounded[str], document, model=scripted(json.dumps(name))) == name


def test_quotations_of_characters_need_no_boundaries() -> None:
    class Code(BaseModel):
        word: Grounded[str]
        part: Annotated[str, Grounding("characters")]

    assert extract(Code, "Codes: AB1234.", model=scripted('{"word": "AB1234", "part": "B12"}')).part == "B12"
    with pytest.raises(ModelError, match="does not allow the script"):
        extract(Code, "Codes: AB1234.", model=scripted('{"word": "B12", "part": "B12"}'))


@pytest.mark.parametrize("grounded", [None, True, ["code"]])
@pytest.mark.parametrize(
    "code", [Annotated[str, Grounding("characters")], Annotated[str, Grounding("characters")] | None]
)
def test_an_option_keeps_the_boundaries_of_a_mark(code: Any, grounded: Any) -> None:
    found = extract(
        create_model("Code", code=(code, ...)), "refAB12end", model=scripted('{"code": "AB12"}'), grounded=grounded
    )
    assert found.code == "AB12"


def test_a_json_schema_marks_nothing_by_itself() -> None:
    """An unknown keyword is an annotation, also in a document that is referred to."""
    schema = {"type": "string", "grounded on": "x"}
    for wanted in (JsonSchema(schema), JsonSchema({"$ref": "other"}, documents={"other": schema})):
        assert extract(wanted, "a text", model=scripted('"zzz"')) == "zzz"


def test_what_is_one_of_itself_cannot_be_grounded() -> None:
    """A definition among whose branches it is itself: the error says so, and looking for its type ends."""
    itself = {"$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}}}
    schema = {**itself, "type": "object", "properties": {"x": {"$ref": "#/$defs/A"}}, "required": ["x"]}
    with pytest.raises(SchemaError, match="Only a string, a number, a date or a time can be grounded"):
        extract(JsonSchema(schema), "Ana is here.", model=scripted("{}"), grounded=["x"])


def test_a_document_that_does_not_state_a_value_is_an_error_before_anything_is_written() -> None:
    with pytest.raises(NotStatedError, match="states no integer") as caught:
        extract(Person, "Ana is here.", model=scripted("{}"), grounded=["age"])
    assert caught.value.schema_path == "/properties/age"
    assert caught.value.attempts == ()
    both = extract_batch(
        Person,
        ["Ana is here.", "Ana is 31."],
        model=scripted('{"name": "Ana", "age": 31, "city": "Rome"}'),
        grounded=["age"],
        errors="return",
    )
    assert isinstance(both[0], NotStatedError)
    assert both[0].document == 0
    assert both[1] == Person(name="Ana", age=31, city="Rome")


def test_whatever_a_schema_grounds_is_called_grounded() -> None:
    """Also what stands in a conjunction, or is found by the pattern of its name."""
    text = {"allOf": [{"type": "string"}, {"maxLength": 8}], "type": "string"}
    schema = JsonSchema(
        {
            "type": "object",
            "properties": {"a": text, "b": {"allOf": [{"type": "string"}, {"maxLength": 9}]}},
            "patternProperties": {"^c": {"type": "integer"}},
            "required": ["a", "b", "c1"],
            "additionalProperties": False,
        }
    )
    found = Extractor(schema, model=anything(1), grounded=True).result("Ana is 31.")
    assert {"a", "b", "c1"} <= found.evidence.keys()
    assert {one.match for one in found.evidence.values()} == {"grounded"}


def test_what_is_not_stated_may_be_missing() -> None:
    found = Extractor(Person, model=anything(0), max_tokens=60, grounded=["age"], allow_missing=["age"]).result(
        "Ana is here."
    )
    assert found.missing == ("age",)


@pytest.mark.parametrize("wanted", [Grounded[bool], Grounded[Literal["a", "b"]], list[Grounded[bool]]])
def test_conclusions_cannot_be_grounded(wanted: object) -> None:
    with pytest.raises(SchemaError, match="Only a string, a number, a date or a time can be grounded"):
        Extractor(wanted, model=scripted("true"))


@pytest.mark.parametrize("path", ["city", "elsewhere"])
def test_paths_that_ground_nothing_are_refused(path: str) -> None:
    with pytest.raises(SchemaError, match=r"grounded|No field has the path"):
        Extractor(Person, model=scripted("{}"), grounded=[path])


def test_bounds_and_patterns_choose_among_what_is_stated() -> None:
    class Bounded(BaseModel):
        year: Grounded[int] = Field(ge=1900, le=2100)
        code: Annotated[Grounded[str], Field(pattern="^[A-Z]{2}$")]
        when: Grounded[datetime] | None

    document = "Flight LH 1823 leaves on 14 June 2025 at 9:40 am from gate G21."
    found = extract(Bounded, document, model=anything(0))
    assert (found.year, found.code) == (2025, "LH")


@pytest.mark.parametrize(
    ("document", "stated"), [("Total: 1,250.00", "1250.00"), ("Total: 1.250,00", "1250.00"), ("Half a dozen.", "6.0")]
)
def test_decimals_are_numbers_though_json_writes_them_as_strings(document: str, stated: str) -> None:
    """Of 1,250.00 a text could be 250.00, which the document does not state."""
    found = Extractor(Grounded[Decimal], model=scripted('"250.00"')).result(document)
    assert found.value == Decimal(stated)
    assert found.evidence[""].match == "grounded"


class Color(Enum):
    RED = "red"


class Cat(BaseModel):
    kind: Literal["cat"]
    name: str


class Dog(BaseModel):
    kind: Literal["dog"]
    name: Grounded[str]


@pytest.mark.parametrize(
    ("wanted", "answer", "match"),
    [
        (Cat | Dog, '{"kind": "cat", "name": "Rex"}', "exact"),
        (Cat | Dog, '{"kind": "cat", "name": "rex"}', "normalised"),
        (Grounded[int] | str, '"Rex"', "exact"),
        (Grounded[int] | str, "9", "grounded"),
        (Grounded[str] | Literal["dog"], '"dog"', "exact"),
        (Grounded[str] | Literal["dog"], '"Rex"', "grounded"),
        (Grounded[str | None], '"Rex"', "grounded"),
        (Grounded[int | str], '"Rex"', "grounded"),
    ],
)
def test_what_another_branch_allows_is_not_called_grounded(wanted: object, answer: str, match: str) -> None:
    found = Extractor(wanted, model=scripted(answer)).result("The dog is Rex, 9.")
    assert found.evidence["name" if answer[0] == "{" else ""].match == match


Name = TypeAliasType("Name", str)
AGE = JsonSchema({"$ref": "#/$defs/age", "$defs": {"age": {"type": "integer"}}})


@pytest.mark.parametrize(
    ("wanted", "grounded"),
    [
        *((Grounded[int | None], None), (Grounded[int | str], None), (Grounded[Name], None)),
        *((int | None, [""]), (int | str, [""]), (Name, [""]), (AGE, [""]), (AGE, True)),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_a_mark_holds_for_all_that_its_schema_leads_to(wanted: object, grounded: Any, seed: int) -> None:
    """Branches and references: a union, a value that may be null, a type with a name."""
    document = "Ana, 31"
    stated = {None, 31, "Ana", "31", ",", "Ana,", ", 31", document}
    assert extract(wanted, document, model=anything(seed), grounded=grounded) in stated


@pytest.mark.parametrize("wanted", [Grounded[Cat], list[Grounded[Color]], Grounded[list[str]], Grounded[int | bool]])
def test_what_no_document_states_cannot_be_grounded_by_reference(wanted: object) -> None:
    with pytest.raises(SchemaError, match="Only a string, a number, a date or a time can be grounded"):
        Extractor(wanted, model=scripted("1"))


@pytest.mark.parametrize("wanted", [Grounded, Grounded[Any], list[Grounded[Any]]])
def test_what_may_be_anything_has_to_be_named(wanted: Any) -> None:
    with pytest.raises(SchemaError, match=r"grounded, and this may be of any type.* Name the type: Grounded\[str\]\.$"):
        Extractor(wanted, model=scripted("1"))


def test_a_mark_is_an_instance() -> None:
    with pytest.raises(SchemaError, match=r"^Grounding is a class, and marks nothing\. Write Grounding\(\), as in"):
        Extractor(Annotated[str, Grounding], model=scripted("1"))


def test_rules_that_are_too_much_are_told_with_the_way_out() -> None:
    with pytest.raises(
        SchemaError, match=r"cannot be searched for a text with these rules.*keyword 'format'.* Write Grounded\[str\]"
    ):
        extract(Grounded[AnyUrl], "See https://a.b/c.", model=scripted('"https://a.b/c"'))


@pytest.mark.parametrize("wanted", [Grounded[bool], Grounded[Any], dict[Grounded[str], int]])
def test_the_internal_name_of_the_mark_is_shown_to_nobody(wanted: Any) -> None:
    with pytest.raises(SchemaError) as raised:
        Extractor(wanted, model=scripted("1"))
    assert raised.value.keyword is None
    assert GROUNDED not in str(raised.value)


Short = Annotated[str, Field(max_length=5)]


class Tagged(BaseModel):
    tags: Annotated[list[Short], Field(max_length=2)] | None
    pair: tuple[Short, bool]
    notes: dict[Short, Short] = Field(max_length=1)


@pytest.mark.parametrize("path", ["tags[]", "pair[0]", "notes.*"])
@pytest.mark.parametrize("seed", range(3))
def test_items_and_entries_have_paths(path: str, seed: int) -> None:
    """Those are grounded, and no others."""
    text = "red 5"
    found = Extractor(Tagged, model=anything(seed), grounded=[path], max_tokens=300).result(text)
    of_items = re.compile({"tags[]": r"tags\[\d+\]", "pair[0]": r"pair\[0\]", "notes.*": r"notes\..*"}[path])
    for place, one in found.evidence.items():
        assert (one.match == "grounded") == (of_items.fullmatch(place) is not None)
    assert extract(list[str], text, model=scripted('["red"]'), grounded=["[]"]) == ["red"]


def test_items_cannot_be_absent() -> None:
    """A list says by its length what there is."""
    with pytest.raises(SchemaError, match=r"No field has the path 'tags\[\]'\. Is it 'tags'\?"):
        Extractor(Tagged, model=scripted("1"), allow_missing=["tags[]"])


@pytest.mark.parametrize("keyword", ["default", "examples", "const"])
def test_data_is_no_mark(keyword: str) -> None:
    """A value that looks like a mark makes no type depend on the document."""
    value: Any = {GROUNDED: "words"}
    schema = {"properties": {"a": {"type": "object", keyword: [value] if keyword == "examples" else value}}}
    assert not list(grounding_marks(schema))
    schema["properties"]["b"] = {"type": "string", GROUNDED: "words"}
    assert list(grounding_marks(schema)) == ["words"]


def test_keys_of_dictionaries_cannot_be_grounded() -> None:
    with pytest.raises(SchemaError, match="keys of a dictionary cannot be grounded"):
        Extractor(dict[Grounded[str], int], model=scripted("{}"))


def test_boundaries_have_names() -> None:
    with pytest.raises(ValueError, match="boundary"):
        Grounding("lines")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wanted", [Grounded[AwareDatetime], Grounded[NaiveDatetime], Grounded[datetime], AwareDatetime]
)
def test_a_time_without_a_zone_is_found_as_one_in_utc(wanted: Any) -> None:
    """A type that demands a zone gets one; the evidence is what the document says of it."""
    is_free = wanted is AwareDatetime
    model = scripted('"2024-03-14T09:40:00Z"') if is_free else anything(0)
    result = Extractor(wanted, model=model).result("On 14 March 2024 at 9:40 am.")
    found = result.evidence[""]
    assert (found.span, found.match) == ((3, 27), "normalised" if is_free else "grounded")
    demands_zone = wanted in (AwareDatetime, Grounded[AwareDatetime])
    assert str(result.value.tzinfo) == ("UTC" if demands_zone else "None")


def test_a_quotation_stands_where_the_document_has_it() -> None:
    """Not where the same number stands in another form."""
    found = Extractor(list[Grounded[str]], model=scripted('["12", "12"]')).result("twelve, 12")
    assert [one.span for one in found.evidence.values()] == [(8, 10), (8, 10)]


def test_a_json_schema_is_grounded_by_an_option() -> None:
    schema = JsonSchema({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    assert extract(schema, "It is 12.", model=anything(0), grounded=True) == {"n": 12}


def test_null_is_absent_where_a_grounded_value_may_be_null() -> None:
    """Nothing is stated then, so that the document did not leave one value to choose either."""
    schema = JsonSchema({"type": ["string", "null"]})
    found = Extractor(schema, model=scripted("null"), grounded=True).result("Ana")
    assert found.evidence[""].match == "absent"
    assert found.evidence[""].span is None


def test_equal_times_of_several_zones_are_each_stated() -> None:
    """Python calls them equal; the document states both."""
    document = "Start 2024-03-14T09:40+01:00, end 2024-03-14T10:40+02:00."
    automaton = resolve_type(create_model("Held", at=(AwareDatetime, ...)), grounded=["at"]).automaton(document)
    allowed = ("09:40:00+01:00", "10:40:00+02:00")
    assert all(accepts_text(automaton, f'{{"at": "2024-03-14T{time}"}}') for time in allowed)
    assert not accepts_text(automaton, '{"at": "2024-03-14T08:40:00Z"}')


class PricedLine(BaseModel):
    name: str
    price: float


class PricedLines(BaseModel):
    lines: list[PricedLine]


def test_objects_that_the_document_makes_impossible_are_warned_of() -> None:
    """Where it states none of what each of them requires, their list can only be empty."""
    document = "Ana: a chair, without a price."
    with pytest.warns(StructuredWarning, match=r"^PricedLines can have no object at #/properties/lines/items: .*price"):
        result = Extractor(PricedLines, model=anything(0), grounded=True).result(document)
    assert result.value.lines == []
    options: Any = {"grounded": True, "allow_missing": ["lines[].price"]}
    missing = Extractor(PricedLines, model=scripted('{"lines": [{"name": "Ana", "price": null}]}'), **options)
    assert missing.result(document).missing == ("lines[0].price",)
