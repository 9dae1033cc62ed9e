"""Hypothesis strategies for Pydantic types with instances of them, and random texts of a pattern."""

import dataclasses
import datetime as dt
import enum
import math
import random
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union

import typing_extensions
from hypothesis import strategies as st
from pydantic import Field, RootModel, create_model

from structured.regex import Alternation, CharSet, Concat, Iteration, Pattern, Words
from structured.regex import Literal as LiteralNode

WHITESPACES = ("compact", "spaced", "indented", "flexible", "any")


@dataclasses.dataclass(frozen=True)
class Typed:
    """A type, and a strategy for its instances."""

    type: Any
    values: st.SearchStrategy[Any]


def output_types():
    return typed().map(lambda drawn: drawn.type).filter(lambda one: one is not None and one is not type(None))


def typed():
    return st.recursive(leaves(), branches, max_leaves=6)


def random_text(pattern: Pattern, source: random.Random) -> str:
    """Return a text that a random walk through the pattern writes."""
    match pattern:
        case LiteralNode(text):
            return text
        case Words(texts):
            return source.choice(texts)
        case CharSet(ranges):
            low, high = source.choice(ranges)
            return chr(source.choice((low, high, source.randint(low, high))))
        case Concat(parts):
            return "".join(random_text(part, source) for part in parts)
        case Alternation(options):
            return random_text(source.choice(options), source)
        case Iteration(item, minimum, maximum):
            most = minimum + 4 if maximum is None else maximum
            count = source.choice((minimum, min(most, minimum + 20), source.randint(minimum, min(most, minimum + 4))))
            return "".join(random_text(item, source) for _ in range(count))


CHARACTERS = st.characters(exclude_categories=["Cs"])
TEXTS = st.text(CHARACTERS, max_size=8)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), TEXTS, st.sampled_from([0.5, -2.25, 1e22, 1e-7])
)
GREATEST_PLAIN = math.nextafter(1e16, 0)
PLAIN_FLOATS = st.one_of(st.just(0.0), st.floats(1e-4, GREATEST_PLAIN), st.floats(-GREATEST_PLAIN, -1e-4))
"""The floats that Python writes without an exponent."""


def leaves():
    return st.one_of(
        st.just(Typed(bool, st.booleans())),
        st.just(Typed(None, st.none())),
        st.just(Typed(int, st.integers(1 - 10**18, 10**18 - 1))),
        st.just(Typed(float, PLAIN_FLOATS)),
        st.just(Typed(str, TEXTS)),
        st.just(Typed(dt.date, st.dates())),
        st.just(Typed(dt.datetime, st.datetimes(timezones=st.none() | offsets()))),
        bounded_strings(),
        bounded_integers(),
        bounded_floats(),
        literals(),
        enums(),
    )


def offsets():
    minutes = st.integers(-24 * 60 + 1, 24 * 60 - 1)
    return minutes.map(lambda count: dt.timezone(dt.timedelta(minutes=count)))


@st.composite
def bounded_strings(draw):
    low, high = sorted(draw(st.tuples(st.integers(0, 4), st.integers(0, 8))))
    bounds = draw(subsets({"min_length": low, "max_length": high}))
    values = st.text(CHARACTERS, min_size=bounds.get("min_length", 0), max_size=bounds.get("max_length", 12))
    return Typed(Annotated[str, Field(**bounds)], values)


@st.composite
def bounded_integers(draw):
    low, high = sorted(draw(st.tuples(st.integers(), st.integers()) | st.tuples(*[st.integers(-130, 130)] * 2)))
    high += 2
    bounds = draw(subsets({draw(st.sampled_from(["ge", "gt"])): low, draw(st.sampled_from(["le", "lt"])): high}))
    first = bounds.get("ge", bounds["gt"] + 1 if "gt" in bounds else min(-100, high - 100))
    last = bounds.get("le", bounds["lt"] - 1 if "lt" in bounds else max(100, first))
    return Typed(Annotated[int, Field(**bounds)], st.integers(min(first, last), last))


@st.composite
def bounded_floats(draw):
    low = draw(st.sampled_from([0, 0.1, 1, -1, 1e-3, 99.5, -1e6, 123456789.125]) | st.floats(-1e6, 1e6))
    high = low + draw(st.sampled_from([1, 0.5, 100, 1e6, 2**40]))
    bounds = draw(subsets({draw(st.sampled_from(["ge", "gt"])): low, draw(st.sampled_from(["le", "lt"])): high}))
    values = st.floats(
        bounds.get("ge", bounds.get("gt", -GREATEST_PLAIN)),
        bounds.get("le", bounds.get("lt", GREATEST_PLAIN)),
        exclude_min="gt" in bounds,
        exclude_max="lt" in bounds,
    ).filter(lambda value: value == 0 or 1e-4 <= abs(value) <= GREATEST_PLAIN)
    return Typed(Annotated[float, Field(**bounds)], values.map(lambda value: value + 0.0))


def subsets(mapping):
    return st.sets(st.sampled_from(sorted(mapping))).map(lambda keys: {key: mapping[key] for key in keys})


@st.composite
def literals(draw):
    values = draw(st.lists(SCALARS.filter(lambda value: not isinstance(value, float)), min_size=1, max_size=4))
    return Typed(Literal[tuple(values)], st.sampled_from(values))


@st.composite
def enums(draw):
    values = draw(st.lists(SCALARS, min_size=1, max_size=4) | st.lists(TEXTS, min_size=1, max_size=4))
    members = enum.Enum("Chosen", [(f"member{i}", value) for i, value in enumerate(values)])
    return Typed(members, st.sampled_from(list(members)))


def branches(inner):
    return st.one_of(
        inner.map(lambda drawn: Typed(Optional[drawn.type], st.none() | drawn.values)),  # noqa: UP045
        st.tuples(inner, inner).map(
            lambda pair: Typed(Union[pair[0].type, pair[1].type], pair[0].values | pair[1].values)  # noqa: UP007
        ),
        inner.map(lambda drawn: Typed(RootModel[drawn.type], drawn.values.map(RootModel[drawn.type]))),
        inner.map(lambda drawn: Typed(tuple[drawn.type, ...], st.lists(drawn.values, max_size=3).map(tuple))),
        lists(inner),
        tuples(inner),
        models(inner),
        dataclass_types(inner),
        typed_dicts(inner),
        discriminated_unions(inner),
    )


@st.composite
def lists(draw, inner):
    item = draw(inner)
    low, high = sorted(draw(st.tuples(st.integers(0, 3), st.integers(0, 4))))
    bounds = draw(subsets({"min_length": low, "max_length": high}))
    values = st.lists(item.values, min_size=bounds.get("min_length", 0), max_size=bounds.get("max_length", 4))
    return Typed(Annotated[list[item.type], Field(**bounds)], values)


@st.composite
def tuples(draw, inner):
    items = draw(st.lists(inner, min_size=1, max_size=3))
    values = st.tuples(*(item.values for item in items))
    if draw(st.booleans()):
        made = NamedTuple("Point", [(f"item{i}", item.type) for i, item in enumerate(items)])
        return Typed(made, values.map(lambda value: made(*value)))
    return Typed(tuple[tuple(item.type for item in items)], values)


@st.composite
def models(draw, inner):
    fields = draw(st.lists(inner, max_size=3))
    names = [f"field{i}" for i in range(len(fields))]
    aliases = [draw(st.just(name) | TEXTS.map(lambda text, name=name: f"{text}.{name}")) for name in names]
    model = create_model(
        "Model",
        __config__={"extra": draw(st.sampled_from(["ignore", "forbid"]))},
        **{name: (field.type, Field(alias=alias)) for name, alias, field in zip(names, aliases, fields, strict=True)},
    )
    values = st.fixed_dictionaries({alias: field.values for alias, field in zip(aliases, fields, strict=True)})
    return Typed(model, values.map(model.model_validate))


@st.composite
def dataclass_types(draw, inner):
    fields = draw(st.lists(inner, max_size=2))
    made = dataclasses.make_dataclass("Record", [(f"field{i}", field.type) for i, field in enumerate(fields)])
    return Typed(made, st.builds(made, *(field.values for field in fields)))


@st.composite
def typed_dicts(draw, inner):
    fields = {f"field {i}": field for i, field in enumerate(draw(st.lists(inner, max_size=2)))}
    made = typing_extensions.TypedDict("Table", {name: field.type for name, field in fields.items()})
    values = st.fixed_dictionaries({name: field.values for name, field in fields.items()})
    return Typed(made, values.map(lambda value: {name: value[name] for name in fields}))


@st.composite
def discriminated_unions(draw, inner):
    fields = draw(st.lists(inner, min_size=2, max_size=2))
    tagged = [
        create_model(f"Tagged{tag}", kind=(Literal[tag], tag), value=(field.type, ...))
        for tag, field in zip(("a", "b"), fields, strict=True)
    ]
    values = [
        field.values.map(lambda value, model=model: model(value=value))
        for model, field in zip(tagged, fields, strict=True)
    ]
    return Typed(Annotated[tagged[0] | tagged[1], Field(discriminator="kind")], values[0] | values[1])
