"""Functions as output types: which one an answer calls, with which arguments, and what running the call does."""

import asyncio
import json
import pickle
import re
from collections.abc import Callable
from datetime import date
from enum import Enum
from functools import lru_cache, partial
from inspect import Parameter, signature
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from doubles import ByteTokenizer, LawBreaker, random_logits, read_back, said
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, validate_call
from random_json import random_json

from structured import (
    Extractor,
    Samples,
    aextract,
    classify,
    extract,
    functions,
    inspect_type,
    load_model,
    read_results,
    structured,
    to_regex,
    write_results,
    write_table,
)
from structured.decoding.generate import generate
from structured.decoding.requests import Request
from structured.decoding.sampling import Sampler
from structured.errors import PromptError, SchemaError
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import FunctionModel, ScriptedModel
from structured.output_types import Call, Tool
from structured.output_types.functions import read_docstring
from structured.output_types.json_output import JsonLayout
from structured.output_types.resolve import resolve_type
from structured.results import PartialReader
from structured.vocabulary import Vocabulary


class Room(Enum):
    """A kind of room."""

    SINGLE = "single"
    DOUBLE = "double"


class Guest(BaseModel):
    """Who stays."""

    name: str
    born: date | None = None


def book(city: str, *, nights: Annotated[int, Field(gt=0)] = 1, room: Room = Room.SINGLE) -> str:
    """Book a room.

    Args:
        city: Where the hotel is.
        nights: How long.
    """
    return f"{city}, {nights}, {room.name}"


def weather(city: str, day: date | None = None) -> tuple[str, date | None]:
    """Tell the weather of a day."""
    return city, day


def register(guests: list[Guest]) -> int:
    return len(guests)


def stop() -> str:
    """Stop."""
    return "stopped"


def start() -> str:
    """Start."""
    return "started"


class Desk:
    """A desk with a number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def ring(self, times: int) -> int:
        """Ring the bell."""
        return self.number * times

    @classmethod
    def opened(cls, number: int) -> "Desk":
        """Open a desk."""
        return cls(number)


def text_of(name: str, /, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def called(wanted: Any, text: str, **options: Any) -> Any:
    return extract(wanted, "the text", model=ScriptedModel(text), **options)


def repickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301  what was written here


def random_model() -> Any:
    tokenizer = ByteTokenizer()
    return load_model((random_logits(len(tokenizer.tokens)), tokenizer))


def illegally_preferring(wanted: Any, seed: int) -> str:
    """Return what a model writes that prefers what a type does not allow."""
    tokenizer = ByteTokenizer()
    index = Index(wanted.automaton(), Vocabulary.from_tokenizer(tokenizer))
    guide = Guide(index, max_tokens=index.shortest_completion(index.automaton.start) + 40)
    model = FunctionModel(LawBreaker(index, len(tokenizer.encode("text")), margin=1e6), tokenizer)
    sampler = Sampler(1.0, seed=seed)
    (written,) = generate(model, [Request(model.encode("text"), guide, sampler.generator(0, 0))], sampler)
    return written.text


def test_a_call_has_the_arguments_and_runs() -> None:
    call = called(book, text_of("book", city="Porto", nights=2, room="double"))
    assert call == Call(book, {"city": "Porto", "nights": 2, "room": Room.DOUBLE})
    assert call.function is book
    assert call.run() == "Porto, 2, DOUBLE"
    assert repr(call) == "book(city='Porto', nights=2, room=<Room.DOUBLE: 'double'>)"


def test_a_default_is_left_out_of_the_answer_and_of_the_call() -> None:
    call = called(book, text_of("book", city="Porto"))
    assert call.arguments == {"city": "Porto"}
    assert call.run() == "Porto, 1, SINGLE"


def test_a_default_that_validators_would_reject_is_not_passed_on() -> None:
    @validate_call(config={"validate_default": False})
    def pay(amount: Annotated[int, Field(gt=0)] = -1) -> int:
        return amount

    assert called(pay, text_of("pay")).run() == -1
    assert called(pay, text_of("pay", amount=3)).run() == 3


def test_arguments_are_validated_as_fields_are() -> None:
    call = called(register, text_of("register", guests=[{"name": "Ana", "born": "1990-01-02"}]))
    assert call.arguments == {"guests": [Guest(name="Ana", born=date(1990, 1, 2))]}
    assert call.run() == 1


def test_a_choice_of_functions_is_a_call_of_one() -> None:
    wanted = functions(book, weather)
    assert called(wanted, text_of("book", city="Porto")).run() == "Porto, 1, SINGLE"
    assert called(wanted, text_of("weather", city="Porto", day="2026-05-03")).run() == ("Porto", date(2026, 5, 3))


def test_calls_in_parallel_are_a_list() -> None:
    written = [{"name": "stop", "arguments": {}}, {"name": "weather", "arguments": {"city": "Porto"}}]
    calls = called(functions(weather, stop, parallel=True), json.dumps(written))
    assert calls == [Call(stop, {}), Call(weather, {"city": "Porto"})]
    assert [call.run() for call in calls] == ["stopped", ("Porto", None)]


def mixed(first: int, /, second: int = 2, *more: int, last: int = 5) -> tuple[int, ...]:
    return first, second, *more, last


@lru_cache
def doubled(number: int) -> int:
    return 2 * number


@structured(model=ScriptedModel('"good"'))
def mood(message: str) -> Literal["good", "bad"]:
    """Tell the mood: {message}"""
    raise NotImplementedError


@pytest.mark.parametrize(
    ("function", "arguments", "result"),
    [
        (Desk(7).ring, {"times": 2}, 14),
        (partial(Desk.ring, Desk(3)), {"times": 2}, 6),
        (partial(book, city="Porto"), {"nights": 3}, "Porto, 3, SINGLE"),
        (partial(partial(book, "Porto"), nights=4), {"room": "double"}, "Porto, 4, DOUBLE"),
        (stop, {}, "stopped"),
        (doubled, {"number": 4}, 8),
        (mood, {"message": "Fine."}, "good"),
        (mixed, {"first": 1, "second": 3}, (1, 3, 5)),
        (mixed, {"first": 1, "second": 3, "more": [8, 9], "last": 0}, (1, 3, 8, 9, 0)),
    ],
)
def test_methods_and_partials_and_wrapped_functions_are_functions(
    function: Callable[..., Any], arguments: dict[str, Any], result: object
) -> None:
    name = Call(function, arguments).name
    assert called(function, text_of(name, **arguments)).run() == result


def test_a_class_is_called_where_it_is_a_choice() -> None:
    """As a type of its own it is none that Pydantic knows."""
    assert called(functions(Desk), text_of("Desk", number=4)).run().number == 4
    assert called(Desk.opened, text_of("opened", number=5)).run().number == 5
    with pytest.raises(SchemaError, match="Pydantic cannot describe Desk"):
        extract(Desk, "four", model=ScriptedModel(""))
    with pytest.raises(SchemaError, match=r"^Guest is a type, which validates its values itself\."):
        functions(Guest)


def test_an_async_function_is_awaited() -> None:
    async def fetch(page: int) -> int:
        return page + 1

    assert asyncio.run(called(fetch, text_of("fetch", page=1)).run()) == 2


def test_extracting_calls_in_an_event_loop() -> None:
    call = asyncio.run(aextract(book, "the text", model=ScriptedModel(text_of("book", city="Porto"))))
    assert call.run() == "Porto, 1, SINGLE"


GOOGLE = """Book a room.

At any hotel.

Args:
    city (str): Where it is,
        by name.
    *more: Others.

Returns:
    A number.
"""
NUMPY = """Book a room.

At any hotel.

Parameters
----------
city : str
    Where it is,
    by name.
*more
    Others.

Returns
-------
str
    A number.
"""
REST = """Book a room.

At any hotel.

:param str city: Where it is,
    by name.
:param more: Others.
:returns: A number.
"""


@pytest.mark.parametrize("written", [GOOGLE, NUMPY, REST])
def test_docstrings_of_three_styles_say_the_same(written: str) -> None:
    def function() -> None: ...

    function.__doc__ = written
    wanted = ("Book a room. At any hotel.", {"city": "Where it is, by name.", "more": "Others."})
    assert read_docstring(function) == wanted


@given(st.text(alphabet=":\n- apArgsRetun*()[]`", max_size=60))
@settings(max_examples=examples(200))
def test_any_docstring_is_read(written: str) -> None:
    def function(a: int) -> None: ...

    function.__doc__ = written
    assert "\n" not in resolve_type(function).schema.get("description", "")


def test_the_prompt_shows_what_the_docstring_and_the_fields_say() -> None:
    def order(
        dish: str, count: Annotated[int, Field(description="how many plates", le=9)] = 1, *, note: str = ""
    ) -> None:
        """Order food.

        Args:
            dish: What to eat.
            count: Not shown.
        """

    assert resolve_type(functions(order, stop)).describe().text == (
        "{  // Order food.\n"
        '  name: "order"\n'
        "  arguments: {\n"
        "    dish: string  // What to eat.\n"
        "    count?: integer (<= 9)  // how many plates\n"
        "    note?: string\n"
        "  }\n"
        "} | {  // Stop.\n"
        '  name: "stop"\n'
        "  arguments: {}\n"
        "}"
    )
    assert "Choose the function" in resolve_type(order).describe().task
    assert resolve_type(functions(weather, parallel=True)).describe().task.endswith("Write dates as YYYY-MM-DD.")


def test_names_that_models_do_not_allow_are_parameters() -> None:
    def odd(_x: int, copy: int, model_config: int, größe: int) -> int:  # noqa: PLC2401  that is the point
        return _x + copy + model_config + größe

    assert called(odd, text_of("odd", _x=1, copy=2, model_config=3, größe=4)).run() == 10


class Other:
    """No type that Pydantic knows."""


def unresolved(value: "list[Nowhere]") -> None:  # type: ignore[name-defined]  # noqa: F821  that is the point
    """Take what is not there."""


def other(count: int, value: Other) -> None:
    """Take what cannot be described."""


def with_field(count: int = Field(3)) -> None:
    """Hide a default."""


def with_hidden_default(count: Annotated[int, Field(default=3)]) -> None:
    """Hide a default."""


def with_alias(count: Annotated[int, Field(alias="number")]) -> None:
    """Go by another name."""


def with_names(**others: int) -> None:
    """Take any names."""


def with_a_function(run: Callable[[], int]) -> None:
    """Take a function."""


def namesake() -> None:
    """Have a name that is no text."""


namesake.__name__ = "a\ud800"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda x: x, "The parameter x of <lambda> has no annotation. Annotate it, x: str; or write a function"),
        (lambda: 1, "has no name to call it by. Define it with def"),
        (Desk.ring, "The parameter self of ring has no annotation. Pass the method of an instance: thing.ring."),
        (min, "min has no signature that Python knows"),
        (len, "The parameter obj of len has no annotation."),
        (unresolved, "An annotation of unresolved cannot be resolved: name 'Nowhere' is not defined."),
        (other, "The parameter value of other: Pydantic cannot describe Other"),
        (with_field, "The parameter count of with_field has its default in a Field."),
        (with_hidden_default, "The parameter count of with_hidden_default has its default in a Field."),
        (with_alias, "The parameter count of with_alias has an alias"),
        (with_names, "with_names takes **others, whose names are not known"),
        (with_a_function, "No JSON value is a function (at #/$defs/with_a_function/properties/run)."),
        (namesake, "The name 'a\\ud800' has a lone surrogate"),
    ],
    ids=lambda value: None if isinstance(value, str) else "function",
)
def test_what_an_answer_cannot_give_is_refused(given: Callable[..., Any], message: str) -> None:
    for ask in (lambda: extract(given, "text", model=ScriptedModel("")), lambda: functions(given, stop).check()):
        with pytest.raises(SchemaError, match=re.escape(message)):
            ask()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "There is no function to choose."),
        ((stop, partial(stop)), "Two functions have the name 'stop', by which they are chosen."),
        ((3,), "int 3 is no function."),
        ((stop, Tool("start")), "Tools and functions are mixed, and are read by different rules."),
        (({"name": "start"},), "is no tool of OpenAI's API."),
        (({"type": "function", "function": {"name": "a", "params": {}}},), "has the unknown member 'params'."),
        ((Tool("a"), Tool("a", description="another")), "Two functions have the name 'a'"),
    ],
)
def test_choices_that_are_none_are_refused(given: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(message)):
        functions(*given)


def test_options_of_json_apply() -> None:
    call = called(functions(book), '{"name":"book","arguments":{"city":"Porto"}}', layout=JsonLayout("compact"))
    assert call == Call(book, {"city": "Porto"})
    model = ScriptedModel('{"name": "book", "arguments": {"city": null}}')
    result = Extractor(functions(book), model=model, allow_missing=["arguments.city"]).result("Some text.")
    assert (said(result)[0], result.missing) == (None, ("arguments.city",))
    found = extract(
        weather, "Porto, please.", model=ScriptedModel(text_of("weather", city="Porto")), grounded=["arguments.city"]
    )
    assert found == Call(weather, {"city": "Porto"})


def test_evidence_is_told_for_each_argument() -> None:
    model = ScriptedModel(text_of("book", city="Porto", nights=2))
    found = Extractor(functions(book, weather), model=model).result("2 nights in Porto.")
    assert found.value == Call(book, {"city": "Porto", "nights": 2})
    assert found.evidence["arguments.city"].span == (12, 17)
    assert found.to_dict()["value"] == {"name": "book", "arguments": {"city": "Porto", "nights": 2}}
    assert said(read_back(found, functions(book, weather))) == said(found)


def test_calls_are_written_to_files_and_read_back(tmp_path: Any) -> None:
    wanted, path = functions(book, weather), tmp_path / "calls.jsonl"
    script = {"book": text_of("book", city="Porto", room="double"), "weather": text_of("weather", city="Lyon")}
    model = ScriptedModel(lambda prompt: script["book" if prompt.rstrip().count("A room") else "weather"])
    write_results(wanted, ["A room.", "The sky."], path, model=model)
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert {line["value"]["name"]: line["value"] for line in lines} == {
        name: json.loads(text) for name, text in script.items()
    }
    read = [result.value for result in read_results(path, wanted)]
    assert {call.name: call for call in read} == {
        "book": Call(book, {"city": "Porto", "room": Room.DOUBLE}),
        "weather": Call(weather, {"city": "Lyon"}),
    }


def test_a_table_has_columns_for_the_arguments(tmp_path: Any) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    model = ScriptedModel(text_of("book", city="Porto"))
    write_results(book, ["A room."], tmp_path / "calls.jsonl", model=model)
    (row,) = parquet.read_table(write_table(tmp_path / "calls.jsonl", tmp_path / "calls.parquet")).to_pylist()
    assert row == {"id": "0", "value.name": "book", "value.arguments.city": "Porto"}
    (result,) = read_results(tmp_path / "calls.jsonl", book)
    assert result.value == Call(book, {"city": "Porto"})


def test_functions_without_parameters_are_classes_of_a_text() -> None:
    found = classify(functions(stop, start), "the text", model=random_model())
    assert {call.run() for call in found.probabilities} == {"stopped", "started"}
    assert sum(found.probabilities.values()) == pytest.approx(1)


def test_a_stream_shows_arguments_while_they_are_written() -> None:
    stream = Extractor(book, model=ScriptedModel(text_of("book", city="Porto", nights=2))).stream("text")
    assert [(event.path, event.value) for event in stream.events()][:3] == [
        ("name", "book"),
        ("arguments.city", "Porto"),
        ("arguments.nights", 2),
    ]
    assert stream.result().value == Call(book, {"city": "Porto", "nights": 2})
    reader = PartialReader(functions(book))
    reader.feed('{"name": "book", "arguments": {"city": "Porto", "room": "dou')
    assert reader.value == {"name": "book", "arguments": {"city": "Porto"}}


def test_a_type_of_functions_is_inspected() -> None:
    assert [field.path for field in inspect_type(book).fields] == [
        *("", "name", "arguments", "arguments.city", "arguments.nights", "arguments.room")
    ]
    assert re.fullmatch(to_regex(weather), text_of("weather", city="Porto"))


def test_a_parameter_with_a_default_is_no_hazard() -> None:
    """It may be left out of a call, so nothing has to be invented for it."""
    (invention,) = (hazard for hazard in inspect_type(book).hazards if hazard.kind == "invention")
    assert invention.paths == ("arguments.city",)


def test_examples_are_calls_or_data() -> None:
    given = [
        ("Porto, please.", Call(book, {"city": "Porto"})),
        ("Lyon!", {"name": "book", "arguments": {"city": "Lyon"}}),
    ]
    prompt = str(Extractor(book, model=ScriptedModel("{}"), examples=given).prompt("text"))
    assert '{"name": "book", "arguments": {"city": "Porto"}}' in prompt
    assert '{"name": "book", "arguments": {"city": "Lyon"}}' in prompt


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Call(weather, {"city": "Porto"}), "weather is none of the functions: book"),
        ({"name": "book", "arguments": {"city": 3}}, "arguments.city: Input should be a valid string"),
    ],
)
def test_an_example_that_is_no_call_of_the_functions_is_told_on_one_line(answer: object, problem: str) -> None:
    with pytest.raises(PromptError, match=re.escape(f"is not of type book: {problem}. Correct the example.")) as caught:
        Extractor(book, model=ScriptedModel("{}"), examples=[("text", answer)])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((1,), "arguments is (1,); it must be a dict"),
        ({"nights": 2}, "The parameter city of book has no argument"),
        (
            {"city": "Porto", "night": 2},
            "book has no parameter 'night'. Did you mean 'nights'?",
        ),
    ],
)
def test_a_call_made_by_hand_has_the_names_of_the_parameters(arguments: Any, problem: str) -> None:
    with pytest.raises(TypeError, match=re.escape(problem)):
        Call(book, arguments)


def test_functions_are_given_one_by_one_and_parallel_is_a_flag() -> None:
    with pytest.raises(SchemaError, match=re.escape("Pass each on its own: functions(*choices).")):
        functions([book, weather])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="parallel is 2; it must be True or False"):
        functions(book, parallel=2)  # type: ignore[call-overload]


def test_types_of_calls_are_shown_as_they_are_written() -> None:
    assert repr(functions(book, weather, parallel=True)) == "functions(book, weather, parallel=True)"
    assert repr(functions(Tool("s"))) == "functions(<tool s>)"


def test_types_and_calls_are_pickled() -> None:
    wanted = resolve_type(functions(book, weather, parallel=True), layout=JsonLayout("compact"))
    copied = repickled(wanted)
    assert (copied.digest, copied.name) == (wanted.digest, "list[book | weather]")
    call = Call(book, {"city": "Porto"})
    assert repickled(call) == call
    assert hash(call) == hash(repickled(call))


def test_a_vote_is_over_the_arguments() -> None:
    found = extract(functions(stop, start), "the text", model=random_model(), search=Samples(3), temperature=1, seed=1)
    assert found.run() in {"stopped", "started"}


def test_an_annotation_names_the_functions_of_a_prompt() -> None:
    @structured(model=ScriptedModel(text_of("stop")))
    def ask(text: str) -> Annotated[Call[str], functions(stop, start)]:
        """Do what is said: {text}"""
        raise NotImplementedError

    assert ask("Halt!").run() == "stopped"


WEATHER_TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tell the weather.",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where."},
                "unit": {"$ref": "#/$defs/unit"},
                "days": {"type": "integer", "minimum": 1, "maximum": 9},
            },
            "required": ["city"],
            "additionalProperties": False,
            "$defs": {"unit": {"enum": ["C", "F"]}},
        },
    },
}
STOP_TOOL = {"type": "function", "function": {"name": "stop", "description": ""}}


def test_tools_are_chosen_and_called() -> None:
    call = called(functions(WEATHER_TOOL, STOP_TOOL), text_of("weather", city="Porto", unit="C"))
    assert (call.name, call.arguments) == ("weather", {"city": "Porto", "unit": "C"})
    with pytest.raises(TypeError, match="The tool 'weather' has no implementation to run"):
        call.run()
    assert called(functions(WEATHER_TOOL, STOP_TOOL), text_of("stop")).arguments == {}


def test_a_tool_with_an_implementation_runs() -> None:
    tool = Tool.from_openai(WEATHER_TOOL, implementation=lambda city, days=1: (city, days))
    assert called(functions(tool), text_of("weather", city="Porto")).run() == ("Porto", 1)


def test_a_tool_is_described_and_pickled() -> None:
    wanted = functions(WEATHER_TOOL, STOP_TOOL, parallel=True)
    assert wanted.describe().text == (
        "[{  // Tell the weather.\n"
        '  name: "weather"\n'
        "  arguments: {\n"
        "    city: string  // Where.\n"
        '    unit?: "C" | "F"\n'
        "    days?: integer (>= 1, <= 9)\n"
        "  }\n"
        "} | {\n"
        '  name: "stop"\n'
        "  arguments: {}\n"
        "}, ...]"
    )
    assert repickled(wanted).digest == wanted.digest


def test_tools_go_to_openai_and_back() -> None:
    tool = Tool.from_openai(WEATHER_TOOL)
    assert tool.to_openai() == WEATHER_TOOL
    assert Tool.from_openai(Tool("stop").to_openai()) == Tool("stop")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tool(""), "A tool has no name to call it by."),
        (lambda: Tool("a", {"type": "string"}), "The parameters of the tool 'a' are no object"),
        (lambda: Tool("a", {"properties": {"b": {"type": "text"}}}), "The schema is malformed"),
    ],
)
def test_tools_that_are_none_are_refused(make: Callable[[], Tool], message: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(message)):
        make()


def test_a_call_is_an_entry_of_tool_calls() -> None:
    call = called(weather, text_of("weather", city="Évora", day="2026-05-03"))
    assert call.to_openai("call_1") == {
        "id": "call_1",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"city": "Évora", "day": "2026-05-03"}'},
    }
    assert call.to_openai()["id"] != call.to_openai()["id"]


@given(random=st.randoms(use_true_random=False))
@settings(max_examples=examples(30), deadline=None)
def test_calls_of_tools_keep_to_their_schemas_and_survive_openai(random: Any) -> None:
    """What is sent as `tool_calls` is read back as the same call, and `jsonschema` accepts its arguments."""
    wanted = functions(WEATHER_TOOL, STOP_TOOL)
    call = wanted.parse(random_json(wanted.automaton(), random).decode())
    sent = call.to_openai()["function"]
    parameters = {
        tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in (WEATHER_TOOL, STOP_TOOL)
    }
    arguments = json.loads(sent["arguments"])
    jsonschema.validate(arguments, parameters[sent["name"]])
    assert wanted.parse(json.dumps({"name": sent["name"], "arguments": arguments})) == call


KINDS: dict[str, Any] = {
    "int": int,
    "str": str,
    "bool": bool,
    "date": date,
    "list[Room]": list[Room],
    "Guest": Guest,
    "Literal['a', 2]": Literal["a", 2],
    "str | None": str | None,
    "Annotated[int, Field(ge=3, le=5)]": Annotated[int, Field(ge=3, le=5)],
}
"""Types of parameters, as they are written."""

NAMES = ("city", "self", "copy", "_x", "model_config", "größe", "name", "arguments")
ORDER = (
    *(Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD),
    *(Parameter.VAR_POSITIONAL, Parameter.KEYWORD_ONLY),
)


@st.composite
def drawn_functions(draw: st.DrawFn, name: str = "drawn") -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return a function that returns its parameters, and the types of these."""
    names = draw(st.lists(st.sampled_from(NAMES), max_size=6, unique=True))
    kinds = sorted(draw(st.sampled_from(ORDER)) for _ in names)
    types = {one: draw(st.sampled_from(sorted(KINDS))) for one in names}
    written, has_default, has_star, passed_slash = [], False, False, False
    for one, kind in zip(names, kinds, strict=True):
        if kind > Parameter.POSITIONAL_ONLY and not passed_slash and written and kinds[0] is Parameter.POSITIONAL_ONLY:
            written.append("/")
            passed_slash = True
        if kind is Parameter.VAR_POSITIONAL and has_star:
            kind = Parameter.KEYWORD_ONLY  # noqa: PLW2901  there is one at most
        if kind is Parameter.KEYWORD_ONLY and not has_star:
            written.append("*")
            has_star = True
        is_starred = kind is Parameter.VAR_POSITIONAL
        has_star = has_star or is_starred
        has_default = draw(st.booleans()) or (has_default and kind < Parameter.VAR_POSITIONAL)
        default = "" if is_starred or not has_default else " = DEFAULT"
        written.append(f"{'*' if is_starred else ''}{one}: {types[one]}{default}")
    if written and not passed_slash and kinds[-1] is Parameter.POSITIONAL_ONLY:
        written.append("/")
    known: dict[str, Any] = {**globals(), "DEFAULT": DEFAULT}
    exec(f"def {name}({', '.join(written)}): return dict(locals())", known)  # noqa: S102  the only way to all signatures
    return known[name], {one: KINDS[kind] for one, kind in types.items()}


DEFAULT = object()
"""A default that no validator would accept."""


def check_call(call: Call[Any], types: dict[str, Any]) -> None:
    """Assert that running a call passes all that it holds, each to its parameter, and nothing else."""
    passed = call.run()
    for name, parameter in signature(call.function).parameters.items():
        given = call.arguments.get(name, DEFAULT)
        if parameter.kind is Parameter.VAR_POSITIONAL:
            assert list(passed[name]) == ([] if given is DEFAULT else given)
        else:
            assert passed[name] is given or passed[name] == given
        if given is not DEFAULT:
            wanted = list[types[name]] if parameter.kind is Parameter.VAR_POSITIONAL else types[name]
            assert TypeAdapter(wanted).validate_python(given) == given
        else:
            assert parameter.default is DEFAULT or parameter.kind is Parameter.VAR_POSITIONAL


@pytest.mark.thorough
@given(drawn=drawn_functions(), random=st.randoms(use_true_random=False))
@settings(max_examples=examples(60), deadline=None)
def test_any_answer_binds_to_its_signature(drawn: Any, random: Any) -> None:
    """Whatever is allowed is an answer: the call passes each argument to its parameter, validated, and runs."""
    function, types = drawn
    wanted = resolve_type(function)
    automaton = wanted.automaton()
    for _ in range(4):
        call = wanted.parse(random_json(automaton, random).decode())
        check_call(call, types)
        assert wanted.parse(wanted.write(call)) == call


@pytest.mark.thorough
@given(
    first=drawn_functions("first"), second=drawn_functions("second"), seed=st.integers(0, 99), parallel=st.booleans()
)
@settings(max_examples=examples(25), deadline=None)
def test_a_model_that_prefers_what_is_illegal_calls_a_function(
    first: Any, second: Any, seed: int, parallel: bool
) -> None:
    """One of several, or a list of calls: each binds to its signature."""
    wanted = functions(first[0], second[0], parallel=parallel)
    found = wanted.parse(illegally_preferring(wanted, seed))
    for call in found if parallel else [found]:
        check_call(call, {first[0]: first[1], second[0]: second[1]}[call.function])


@pytest.mark.parametrize("choices", [(weather, stop), (WEATHER_TOOL, STOP_TOOL)])
def test_a_call_that_repeats_an_earlier_one_is_dropped_from_value_data_and_evidence(choices: Any) -> None:
    stops, goes = {"name": "stop", "arguments": {}}, {"name": "weather", "arguments": {"city": "Porto"}}
    model = ScriptedModel(json.dumps([goes, goes, stops, goes]))
    found = Extractor(functions(*choices, parallel=True), model=model).result("Porto, then stop.")
    assert [call.name for call in found.value] == ["weather", "stop"]
    assert found.data == [goes, stops] == json.loads(found.text)
    assert {path.split(".")[0] for path in found.evidence} <= {"[0]", "[1]"}
