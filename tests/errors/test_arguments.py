"""Arguments are checked when they are given: each is of use, or an error names it, before a model is loaded."""

import copy
import dataclasses
import inspect
import math
import pickle
import re
import warnings
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Any, get_args

import numpy as np
import pytest
import torch
from doubles import ByteTokenizer, random_logits
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from structured import (
    Beams,
    Chunking,
    Extractor,
    JsonLayout,
    JsonSchema,
    Particles,
    Repetition,
    Samples,
    StructuredError,
    Thinking,
    extract,
    extract_batch,
    inspect_type,
    load_model,
    structured,
    to_regex,
)
from structured.errors import MissingError, ModelError, NotStatedError, OptionWarning, SchemaError, StructuredWarning
from structured.extraction import Options
from structured.extraction.options import Repair
from structured.integrations.logits_processor import GuidedLogitsProcessor
from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.document.location import OptionalProperties
from structured.json_schema.whitespace import WhitespaceName
from structured.models import PACKAGED_MODEL, FunctionModel
from structured.models.load import OTHER_NAMES
from structured.results import PartialReader

TOKENIZER = ByteTokenizer()
MODEL = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
ABSENT_FOLDER = "no/such/folder"
"""A model that cannot be loaded, so that whoever tries is found out."""


class Person(BaseModel):
    name: str
    age: int


class Unfinished(BaseModel):
    parts: "list[Nowhere]"  # noqa: F821  that is the point


class Stubborn:
    """A value that cannot be shown, compared or counted."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __len__ = __bool__ = __eq__ = __hash__ = __repr__  # type: ignore[assignment]


ANA = ("Ana is 31.", Person(name="Ana", age=31))

GOOD: dict[str, st.SearchStrategy[Any]] = {
    "model": st.just(MODEL),
    "instructions": st.none() | st.text(st.characters(exclude_categories=["Cs"])),
    "examples": st.sampled_from([(), [ANA], (list(ANA),), [("", {"name": "x", "age": 1})]]),
    "grounded": st.sampled_from([None, ["name"]]),
    "layout": st.builds(
        JsonLayout,
        st.sampled_from(get_args(WhitespaceName)),
        optional_properties=st.sampled_from(get_args(OptionalProperties)),
    ),
    "temperature": st.floats(0, 1e30) | st.sampled_from([0, 1, np.float32(0.5), np.int8(1), Fraction(1, 3), 5e-324]),
    "top_k": st.none() | st.integers(1, 2**31 - 1) | st.just(np.int64(3)),
    "top_p": st.floats(0, 1, exclude_min=True) | st.just(np.float64(0.5)),
    "min_p": st.floats(0, 1),
    "repetition": st.builds(
        Repetition,
        stop=st.booleans(),
        penalty=st.floats(0.01, 100) | st.just(np.float64(1.2)),
        no_repeat_ngram_size=st.integers(0, 2**31 - 1),
    ),
    "system": st.sampled_from(["Be brief.", None]),
    "jump_forward": st.booleans() | st.just(np.True_),
    "thinking": st.sampled_from([None, Thinking(max_tokens=5)]),
    "seed": st.none() | st.integers(0) | st.just(np.uint8(7)) | st.just(10**400),
    "search": st.none()
    | st.builds(Beams, st.integers(1, 3))
    | st.builds(Samples, st.integers(1, 3))
    | st.builds(Particles, st.integers(2, 3), vote=st.booleans()),
    "max_tokens": st.integers(100, 2**31 - 1) | st.just(np.int32(200)),
    "retries": st.integers(0, 5),
    "repair": st.sampled_from(get_args(Repair)),
    "calibration": st.none(),
    "batch_size": st.integers(1, 2**31 - 1),
    "batch_tokens": st.none() | st.integers(1, 2**31 - 1),
    "chunking": st.none()
    | st.builds(
        Chunking,
        tokens=st.none() | st.integers(32, 2**31 - 1),
        passes=st.integers(1, 3),
        merge_by=st.sampled_from([(), []]),
        prefer=st.sampled_from(["confident", "first", "longest", "vote"]),
    ),
    "observe": st.sampled_from([None, lambda *_: None]),
    "cache": st.just(False),
    "allow_missing": st.sampled_from([True, ["age"], ("name", "age")]),
}
"""What each option may be."""

KINDS = st.one_of(
    st.sampled_from([None, True, False, 0, 1, -1, "", "x", b"x", "spaced", "age", 1.5, math.nan, math.inf, -math.inf]),
    st.sampled_from([10**400, -(10**400), 2**31, 2**63, 1e300, 5e-324, 1j, Fraction(1, 2), Fraction(10**400)]),
    st.sampled_from([np.int64(-1), np.float16(math.nan), np.bool_(1), np.zeros(2), np.array(1), np.array(["a"])]),
    st.sampled_from([object(), ..., int, Person, math, extract, Enum, NotImplemented, range(3)]),
    st.builds(Stubborn),
    st.lists(st.sampled_from(["Ana 31", 1, None, ANA, ("a",), ("a", 2, 3), (5, ANA[1]), [1, 2]])),
    st.dictionaries(st.sampled_from(["a", 1]), st.none()),
    st.text(),
    st.integers(),
    st.floats(),
)
"""Values of all kinds, right for some options and wrong for most."""


@pytest.mark.thorough
@settings(max_examples=examples(200), deadline=5000, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_damage_to_any_option_is_told(data: st.DataObject) -> None:
    """Random options with one of a random value: an extractor that works, or an error of ours that names an option."""
    names = data.draw(st.sets(st.sampled_from(sorted(GOOD)), max_size=5)) | {"model", "cache"}
    options = {name: data.draw(GOOD[name], label=name) for name in sorted(names)}
    damaged = data.draw(st.sampled_from(sorted(GOOD)), label="damaged")
    given_model = damaged == "model"
    options[damaged] = data.draw(KINDS.filter(lambda one: not (given_model and isinstance(one, str | Stubborn | None))))
    made, error = outcome(lambda: Extractor(Person, **options))
    if error is not None:
        assert any(re.search(rf"\b{name}\b", str(error)) for name in options) or "path" in str(error)
        return
    assert made.prompt("x")
    if made._run.search.method.count <= 3 and options.get("observe") is None:
        _, error = outcome(lambda: made("x"))
        assert error is None or isinstance(error, NotStatedError | MissingError) or "tokens" in str(error)


def outcome(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """Return what a call returns, or what it raises if that is an error of ours or about an argument."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuredWarning)
        try:
            return call(), None
        except StructuredError as error:
            return None, error
        except (TypeError, ValueError) as error:
            if type(error) not in {TypeError, ValueError}:
                raise
            return None, error


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"thinking": True}, TypeError, "thinking is True; it must be a Thinking, such as Thinking('</think>')."),
    (
        {"temperature": "hot"},
        TypeError,
        "temperature is 'hot'; it must be a number, 0 (greedy) or a positive number up",
    ),
    ({"temperature": True}, TypeError, "temperature is True; it must be a number"),
    ({"temperature": 10**400}, ValueError, "temperature is 1000"),
    ({"temperature": 10**5000}, ValueError, "temperature is of type int; it must be 0 (greedy)"),
    ({"temperature": math.nan}, ValueError, "temperature is nan; it must be 0 (greedy)"),
    ({"examples": ["Ana 31"]}, TypeError, "examples[0] is 'Ana 31'; it must be a pair of a document and its answer"),
    ({"examples": ("Ana 31", 5)}, TypeError, "examples[0] is 'Ana 31'; it must be a pair"),
    ({"examples": [(5, ANA[1])]}, TypeError, "The document of examples[0] is 5; it must be text"),
    ({"examples": "Ana"}, TypeError, "examples is 'Ana'; it must be a list of pairs"),
    (
        {"allow_missing": 0},
        TypeError,
        "allow_missing is 0; it must be True, or a list of paths such as ['age'].",
    ),
    ({"allow_missing": [1]}, TypeError, "allow_missing[0] is 1; it must be text, a str."),
    ({"allow_missing": "age"}, TypeError, "allow_missing is one str, 'age'. Pass a list: ['age']."),
    ({"observe": "x"}, TypeError, "observe is 'x'; it must be a function."),
    ({"max_tokens": 1.5}, TypeError, "max_tokens is 1.5; it must be a whole number, 1 or greater."),
    ({"max_tokens": 2**31}, ValueError, "max_tokens is 2147483648; it must be 2,147,483,647 at most."),
    ({"seed": "a"}, TypeError, "seed is 'a'; it must be a whole number, 0 or greater."),
    ({"seed": -1}, ValueError, "seed is -1; it must be 0 or greater."),
    ({"layout": "compact"}, TypeError, "layout is 'compact'; it must be a JsonLayout, such as JsonLayout('compact')."),
    ({"search": 4}, TypeError, "search is 4; it must be Beams(4), Samples(5) or Particles(16), or None."),
    ({"chunking": 500}, TypeError, "chunking is 500; it must be a Chunking, such as Chunking(tokens=2000)."),
    ({"repetition": 1.2}, TypeError, "repetition is 1.2; it must be a Repetition, such as Repetition(penalty=1.2)."),
    ({"instructions": 5}, TypeError, "instructions is 5; it must be text, a str."),
    ({"cache": "no"}, TypeError, "cache is 'no'; it must be True or False."),
    ({"jump_forward": 0}, TypeError, "jump_forward is 0; it must be True or False."),
    ({"temprature": 0}, TypeError, "Unknown option temprature. Did you mean 'temperature'? The options are model, "),
    ({"max_new_tokens": 5}, TypeError, "Unknown option max_new_tokens. It is called max_tokens."),
    (
        {"allow_mising": True},
        TypeError,
        "Unknown option allow_mising. Did you mean 'allow_missing'? The options are model, ",
    ),
    ({"stream": True}, TypeError, "Unknown option stream. Use Extractor(...).stream(text). The options are model, "),
]


@pytest.mark.parametrize(
    ("options", "error", "message"), WRONG, ids=lambda value: value[:40] if isinstance(value, str) else ""
)
def test_options_are_checked_before_a_model_is_loaded(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    """By kind and by sense, whichever way they are given."""
    options = {"model": ABSENT_FOLDER} | options
    calls: list[Callable[[], Any]] = [
        lambda: Extractor(Person, **options),
        lambda: extract(Person, "x", **options),
        lambda: extract_batch(Person, ["x"], **options),
        lambda: structured(**options),
    ]
    for call in calls:
        with pytest.raises(error, match=re.escape(message)) as caught:
            call()
        assert type(caught.value) is error


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("absent", "It is called allow_missing."),
        ("beams", "Pass search=Beams(4)."),
        ("samples", "Pass search=Samples(5)."),
        ("particles", "Pass search=Particles(16)."),
        ("choose", "Pass search=Samples(5, vote=True)."),
        ("chunk_tokens", "Pass chunking=Chunking(tokens=…)."),
        ("passes", "Pass chunking=Chunking(passes=…)."),
        ("merge_by", "Pass chunking=Chunking(merge_by=[…])."),
        ("prefer", "Pass chunking=Chunking(prefer=…)."),
        ("whitespace", "Pass layout=JsonLayout(…)."),
        ("optional", "Pass layout=JsonLayout(optional_properties=…)."),
        ("stop_repetition", "Pass repetition=Repetition(stop=…)."),
        ("repetition_penalty", "Pass repetition=Repetition(penalty=…)."),
        ("no_repeat_ngram_size", "Pass repetition=Repetition(no_repeat_ngram_size=…)."),
        ("optional_properties", "Pass layout=JsonLayout(optional_properties=…)."),
        ("vote", "Pass search=Samples(5, vote=True)."),
        ("n", "Pass search=Samples(5)."),
        ("best_of", "Pass search=Samples(5)."),
        ("num_beams", "Pass search=Beams(4)."),
        ("stop", "An answer ends where its type does. Ask for Text(stop=…)."),
        ("max_new_tokens", "It is called max_tokens."),
        ("frequency_penalty", "Pass repetition=Repetition(penalty=…)."),
        ("overlap", "Chunks overlap by themselves. Pass chunking=Chunking(tokens=…)."),
        ("prompt", "It is called instructions."),
        ("dtype", "Pass model=load_model(…, dtype=…)."),
    ],
)
def test_an_option_under_an_old_name_is_refused_with_the_new_one(name: str, remedy: str) -> None:
    with pytest.raises(TypeError, match=re.escape(f"Unknown option {name}. {remedy} The options are")):
        extract(Person, "x", model=ABSENT_FOLDER, **{name: 1})  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("num_beams", "Pass search=Beams(4)."),
        ("chunk_token", "Pass chunking=Chunking(tokens=…)."),
        ("temprature", "Did you mean 'temperature'?"),
    ],
)
def test_an_option_like_an_old_name_is_refused_with_the_new_one(name: str, hint: str) -> None:
    """What is suggested can be passed."""
    with pytest.raises(TypeError, match=re.escape(f"Unknown option {name}. {hint} The options are")):
        extract(Person, "x", model=ABSENT_FOLDER, **{name: 1})  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (lambda: Chunking(merge_by="age"), TypeError, "merge_by is one str, 'age'. Pass a list: ['age']."),
        (lambda: Chunking(merge_by=True), TypeError, "merge_by is True; it must be a list of paths such as"),  # type: ignore[arg-type]
        (
            lambda: Chunking(tokens=31),
            ValueError,
            "tokens is 31; it must be 32 or greater, since a smaller chunk holds no",
        ),
        (lambda: Chunking(passes=0), ValueError, "passes is 0; it must be 1 or greater."),
        (lambda: Chunking(prefer="best"), ValueError, "prefer is 'best'; it must be one of 'confident', 'first', "),  # type: ignore[arg-type]
        (lambda: JsonLayout("spacd"), ValueError, "'flexible', 'any'. Did you mean 'spaced'?"),  # type: ignore[arg-type]
        (lambda: JsonLayout([]), TypeError, "whitespace is []; it must be one of 'compact'"),  # type: ignore[arg-type]
        (lambda: JsonLayout(optional_properties="no"), ValueError, "optional_properties is 'no'; it must be one of"),  # type: ignore[arg-type]
        (lambda: Repetition(penalty=0), ValueError, "penalty is 0; it must be from 1e-6 to 1e6"),
        (lambda: Repetition(stop=1), TypeError, "stop is 1; it must be True or False."),  # type: ignore[arg-type]
    ],
)
def test_options_of_several_parts_are_checked_when_they_are_made(
    value: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        value()


@pytest.mark.parametrize(
    ("kind", "positional", "named", "message"),
    [
        (Chunking, (), {"overlap": 1}, "unknown argument overlap. The arguments are tokens, passes, merge_by, prefer."),
        (Chunking, (), {"token": 1}, "unknown argument token. Did you mean 'tokens'? The arguments are tokens"),
        (Beams, (), {"width": 4}, "unknown argument width. The argument is count."),
        (Beams, (), {}, "missing a required argument: 'count'. The argument is count."),
        (Samples, (5, True, 2), {}, "too many positional arguments. The arguments are count, vote."),
        (Particles, (), {"number": 3}, "unknown argument number. The arguments are count, vote."),
        (Repetition, (1.2,), {}, "too many positional arguments. The arguments are stop, penalty, no_repeat_ngram_"),
        (Thinking, (), {"stop": "x"}, "unknown argument stop. The arguments are marker, max_tokens."),
        (JsonLayout, (), {"indent": 2}, "unknown argument indent. The arguments are whitespace, optional_properties."),
    ],
)
def test_an_option_of_several_parts_says_which_it_has(
    kind: Any, positional: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    """As a call does where an option is unknown."""
    with pytest.raises(TypeError, match=f"^{kind.__name__}: {re.escape(message)}"):
        kind(*positional, **named)


def test_an_option_of_several_parts_is_a_value() -> None:
    """It can be compared, hashed, copied and pickled, though a list was passed."""
    values: list[Any] = [Chunking(merge_by=["number"]), Repetition(stop=False), Samples(3), JsonLayout("compact")]
    for value in values:
        assert value == pickle.loads(pickle.dumps(value)) == copy.deepcopy(value)  # noqa: S301  our own bytes
        assert {value: 1}[dataclasses.replace(value)] == 1


def test_the_argument_of_batches_is_told_where_it_belongs() -> None:
    """To a call for one text it is unknown."""
    with pytest.raises(TypeError, match=r"^Unknown option errors\. errors belongs to extract_batch\."):
        extract(Person, "x", model=ABSENT_FOLDER, errors=None)  # type: ignore[call-arg]


def test_numbers_of_numpy_are_numbers() -> None:
    """And are kept as plain ones."""
    options: dict[str, Any] = {"temperature": np.float32(0.5), "seed": np.int64(3), "max_tokens": np.uint8(99)}
    assert Extractor(Person, model=MODEL, **options)("x") == Extractor(
        Person, model=MODEL, temperature=0.5, seed=3, max_tokens=99
    )("x")


@pytest.mark.parametrize(
    ("options", "idle"),
    [
        ({"top_p": 0.9}, "top_p has"),
        ({"top_k": 5, "min_p": 0.1}, "top_k, min_p have"),
        ({"seed": 1, "retries": 0}, "seed has"),
        ({"top_k": 5, "search": Beams(2)}, "top_k has"),
        ({"seed": 1}, None),  # a rejected answer is drawn again
        ({"top_p": 0.9, "temperature": 1}, None),
        ({"top_p": 1.0, "top_k": None}, None),
    ],
)
def test_options_that_have_no_effect_are_told(options: dict[str, Any], idle: str | None) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Extractor(Person, model=MODEL, **options)
    assert [warning.category for warning in caught] == [OptionWarning] * (idle is not None)
    for warning in caught:
        assert str(warning.message).startswith(f"{idle} no effect at temperature 0")
        assert warning.filename == __file__


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (len, "The parameter obj of len has no annotation."),
        (math, "math is a module, not a type."),
        (ANA[1], "Person(name='Ana', age=31) is a value, not a type. Pass its type, Person."),
        ([Person], "is a value, not a type. For a list of them, pass list[Person]."),
        ({"type": "object"}, "is a value, not a type. If it is a JSON Schema, pass JsonSchema(...) of it."),
        ('{"type": "object"}', "is a string, not a type. If it is a JSON Schema, pass JsonSchema(...) of it."),
        (True, "True is a value, not a type. If it is a JSON Schema, pass JsonSchema(...) of it."),
        ("Person", "'Person' is a string, not a type. Pass the type itself, without quotes"),
        (Stubborn(), "<Stubborn instance at "),
        (list["Nope"], "list['Nope'] names a type that is not defined: 'Nope'."),  # noqa: F821  that is the point
        (Unfinished, "Unfinished names a type that is not defined: 'Nowhere'."),
        (dict[str, Unfinished], "dict[str, Unfinished] names a type that is not defined: 'Nowhere'."),
    ],
)
def test_what_is_no_type_is_told_as_what_it_is(given: object, message: str) -> None:
    for call in (Extractor, to_regex, inspect_type, PartialReader):
        with pytest.raises(SchemaError, match=re.escape(message)):
            call(given)


def test_swapped_arguments_are_told() -> None:
    with pytest.raises(TypeError, match=r"^extract takes the type first, .* these are 'Ana is 31\.' and Person\. Pass"):
        extract("Ana is 31.", Person, model=MODEL)
    with pytest.raises(TypeError, match=r"^extract_batch takes the type first, .* and list\[Person\]\. Pass them the"):
        extract_batch(["Ana is 31."], list[Person], model=MODEL)


def test_the_annotations_of_parameters_need_not_resolve() -> None:
    """That of the result must, at the latest when the function is called."""

    @structured(model=MODEL, temperature=1, seed=1)
    def fine(text: "Nowhere") -> "Person":  # noqa: F821  that is the point
        """Read {text}"""

    @structured(model=MODEL)
    def broken(text: str) -> "list[Nowhere]":  # noqa: F821  that is the point
        """Read {text}"""

    assert isinstance(fine("x"), Person)
    with pytest.raises(SchemaError, match=r"^The return annotation of broken, 'list\[Nowhere\]', cannot be resolved: "):
        broken("x")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Thinking(5), TypeError, "marker is 5; it must be text, a str."),
        (lambda: Thinking(max_tokens=1.5), TypeError, "max_tokens is 1.5; it must be a whole number"),
        (lambda: Thinking(max_tokens=0), ValueError, "max_tokens is 0; it must be 1 or greater."),
        (lambda: JsonSchema(True, documents=5), TypeError, "documents is 5; it must be a Mapping"),
        (
            lambda: JsonSchema(True, draft="2020-12"),
            TypeError,
            "draft is '2020-12'; it must be a SchemaDraft, such as SchemaDraft.",
        ),
        (lambda: JsonSchema(True, name=5), TypeError, "name is 5; it must be text"),
        (lambda: JsonSchema(True, assert_formats=0), TypeError, "assert_formats is 0; it must be True or False."),
        (lambda: JsonSchema(True, key_order="shema"), ValueError, "Did you mean 'schema'?"),
        (lambda: JsonSchema(Stubborn()), SchemaError, "The schema is not a JSON value"),
        (lambda: to_regex(int, layout=JsonLayout(5)), TypeError, "whitespace is 5; it must be one of"),
        (lambda: inspect_type(int, layout=JsonLayout("x")), ValueError, "whitespace is 'x'; it must be one of"),
        (lambda: PartialReader(int).feed(5), TypeError, "piece is 5; it must be text"),
        (lambda: load_model(MODEL, dtype=5), TypeError, "dtype is 5; it must be a name"),
        *(
            (
                partial(load_model, MODEL, **{other: "x"}),
                TypeError,
                f"load_model: unknown argument {other}. It is called {name}. The",
            )
            for other, name in OTHER_NAMES.items()
            if name in inspect.signature(load_model).parameters
        ),
        (lambda: load_model(MODEL, devicemap="x"), TypeError, "argument devicemap. Did you mean 'device_map'? The"),
        (
            lambda: load_model(MODEL, "x"),
            TypeError,
            "load_model: too many positional arguments. The arguments are source, device_",
        ),
        (lambda: load_model(MODEL, device_map=5), TypeError, "device_map is 5; it must be a name"),
        (
            lambda: load_model(PACKAGED_MODEL, device_map="cudda"),
            ModelError,
            "device of torch. Did you mean 'cuda'?",
        ),
        pytest.param(
            lambda: load_model(PACKAGED_MODEL, device_map="cuda:0"),
            ModelError,
            "device_map is 'cuda:0', and torch finds no CUDA device here. Leave device_map out, or use 'cpu'.",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device"),
        ),
        (lambda: GuidedLogitsProcessor(int, MODEL, max_tokens="x"), TypeError, "max_tokens is 'x'; it must be a whole"),
        (
            lambda: GuidedLogitsProcessor(int, MODEL, max_tokens=0),
            ValueError,
            "max_tokens is 0; it must be 1 or greater",
        ),
        (lambda: GuidedLogitsProcessor(int, MODEL, max_tokens=9, cache=1), TypeError, "cache is 1; it must be True or"),
        (
            lambda: GuidedLogitsProcessor(int, MODEL, max_tokens=9, layout=JsonLayout(optional_properties="no")),
            ValueError,
            "optional_properties is 'no'; it must",
        ),
        (lambda: GuidedLogitsProcessor(int, 5, max_tokens=9), ModelError, "5 is not a model."),
    ],
)
def test_other_arguments_are_checked_as_well(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)) as caught:
        call()
    assert type(caught.value) is error


def test_every_option_is_checked() -> None:
    """There is a row for each in the table of checks, and in that of the good values here."""
    from structured.extraction.options import _CHECKS

    assert _CHECKS.keys() == Options.__annotations__.keys() == GOOD.keys()


def test_examples_are_kept_as_they_were_given() -> None:
    """Who changes the list afterwards changes nothing."""
    examples = [ANA]
    extractor = Extractor(Person, model=MODEL, examples=examples)
    prompt = extractor.prompt("x")
    examples.clear()
    assert extractor.prompt("x") == copy.copy(extractor).prompt("x") == prompt


def test_drafts_are_what_the_message_names() -> None:
    assert JsonSchema(True, draft=SchemaDraft.DRAFT_7).draft is SchemaDraft.DRAFT_7
