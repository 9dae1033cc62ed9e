"""Python types, one inside the other, judged by Pydantic, which reads decimals as the library hands them over."""

import dataclasses
import datetime as dt
import enum
import random
import re
import uuid
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypeVar, Union

import typing_extensions
from pydantic import BaseModel, Field, Json, RootModel, TypeAdapter, ValidationError, create_model

from benchmarks.fuzz import support
from benchmarks.fuzz.cases import Trial
from benchmarks.fuzz.guided import drawn, near, read_texts, write_answers
from structured.output_types.json_output import JsonLayout
from structured.output_types.output_type import automaton_of
from structured.output_types.python_type import PythonType, python_type
from structured.output_types.resolve import resolve_type

Guess = Callable[[random.Random], Any]

Item = TypeVar("Item")


class Box(BaseModel, Generic[Item]):
    """A generic model."""

    held: Item
    others: list[Item] = []


@dataclass(frozen=True, slots=True)
class Made:
    """A type, and what guesses JSON values that it may accept."""

    type: Any
    guess: Guess


def try_type(trial: Trial) -> None:
    """Try a random type: one of this module's, or one of the tests' strategies."""
    rng = trial.case.random()
    kind = rng.random()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind < 0.7:
            made = random_type(rng, rng.choice((1, 2, 2, 3)))
            output, values = made.type, list(_values(made, rng))
        else:
            typed = drawn(support("pydantic_types").composed(with_values=kind < 0.9), trial.case.seed)[-1]
            output = typed.type
            values = drawn(typed.values, trial.case.seed, 8) if kind < 0.9 else []
        trial.shown = shown(output)
        described = python_type(output, JsonLayout("compact", "omittable"))
        judge = partial(is_valid, described)
        layout = JsonLayout(
            rng.choice(("compact", "spaced", "any", "flexible", "indented")), rng.choice(("written", "omittable"))
        )
        trial.shown += f" {layout}"
        compact = automaton_of(described, None)
        texts = [text for value in values if (text := dumped(described, value)) is not None]
        read_texts(trial, compact, texts, judge, explained)
        read_texts(trial, compact, near(texts, trial, 2), judge, partial(explained_edit, described))
        write_answers(trial, resolve_type(output, layout=layout), judge)


def is_valid(described: PythonType[Any], text: str) -> bool:
    """Judge a text."""
    try:
        described.parse(text)
    except ValidationError:
        return False
    return True


def dumped(described: PythonType[Any], value: Any) -> str | None:
    """Return how a value is written, decimals as numbers; None if Pydantic does not read what it writes itself."""
    try:
        described.adapter.validate_json(described.adapter.dump_json(value, by_alias=True))
        return described.from_data(described.dump(value))
    except ValueError:
        return None


def explained(text: str) -> str | None:
    """Return the restriction by which a text is not written, as docs/support.md says."""
    if _QUOTED_DECIMAL.search(text):
        return "a decimal in a union with a text"
    if _LONG_NUMBER.search(text):
        return "numbers of more than 18 digits without a bound"
    if _POSSESSIVE.search(text):
        return "a possessive quantifier in a regular expression"
    return "a URL beyond RFC 3986" if _ODD_URL.search(text) else None


def explained_edit(described: PythonType[Any], text: str) -> str | None:
    """Return why a text with edits is not written: Pydantic reads it, and writes the value in another way."""
    try:
        same = dumped(described, described.parse(text)) == text
    except ValueError:
        same = False
    return explained(text) if same else "edited: another spelling of the value"


_POSSESSIVE = re.compile(r"[*+?}]\+")
_LONG_NUMBER = re.compile(r'(?<![0-9."])[0-9]{19}')
_QUOTED_DECIMAL = re.compile(r'"-?[0-9]+\.[0-9]+"')

_ODD_URL = re.compile(r"""[a-z]:[^" ]*(?:[^"\w.~:/?#\[\]@!$&'()*+,;=%-]|#[^" ]*#)""", re.ASCII)
"""A URL with a character that none has, or with two signs of a fragment (RFC 3986, appendix A)."""


def shown(output: Any, depth: int = 6) -> str:
    """Return a type with the fields of its models, for a person."""
    if isinstance(output, type) and issubclass(output, BaseModel) and depth:
        fields = ", ".join(f"{name}: {shown(one.annotation, depth - 1)} {one!r}" for name, one in _fields(output))
        return f"{output.__name__}[{fields}] {output.model_config}"
    arguments = getattr(output, "__args__", ())
    if arguments and depth:
        return f"{output!r}<{', '.join(shown(one, depth - 1) for one in arguments)}>"
    annotations = getattr(output, "__annotations__", {})
    if isinstance(output, type) and annotations and depth:
        inside = ", ".join(f"{name}: {shown(one, depth - 1)}" for name, one in annotations.items())
        return f"{output.__name__}[{inside}]"
    if isinstance(output, enum.EnumMeta):
        members: list[enum.Enum] = list(output)
        return f"{output!r}{[member.value for member in members]}"
    return repr(output)


def _fields(model: type[BaseModel]) -> list[tuple[str, Any]]:
    return list(model.model_fields.items())


def _values(made: Made, rng: random.Random) -> Iterator[Any]:
    """Yield values of a type: of what is guessed, that which Pydantic accepts."""
    import json

    adapter: TypeAdapter[Any] = TypeAdapter(made.type)
    for _ in range(16):
        try:
            yield adapter.validate_json(json.dumps(made.guess(rng)))
        except ValidationError:
            continue


def random_type(rng: random.Random, depth: int) -> Made:
    """Return a random type."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(_LEAVES)(rng)
    return rng.choice(_BRANCHES)(rng, partial(random_type, rng, depth - 1))


Inner = Callable[[], Made]


def _some(rng: random.Random, **constraints: Any) -> dict[str, Any]:
    """Return some of the constraints."""
    return {name: value for name, value in constraints.items() if rng.random() < 0.4}


def _integer(rng: random.Random) -> Made:
    low = rng.choice((-130, -1, 0, 1, 99, 10**12))
    found = _some(rng, **{rng.choice(("ge", "gt")): low, rng.choice(("le", "lt")): low + rng.choice((5, 300, 10**20))})
    found |= {"multiple_of": rng.choice((2, 3, 7))} if rng.random() < 0.2 else {}
    return Made(Annotated[int, Field(**found)], lambda rng: low + rng.randint(-2, 30))


def _float(rng: random.Random) -> Made:
    low = rng.choice((-1.5, 0, 0.1, 99.5))
    found = _some(rng, **{rng.choice(("ge", "gt")): low, rng.choice(("le", "lt")): low + rng.choice((1, 0.5, 1e6))})
    return Made(Annotated[float, Field(**found)], lambda rng: low + rng.choice((0, 0.25, 0.5, 0.1, 0.75)))


def _decimal(rng: random.Random) -> Made:
    places = rng.randrange(3)
    found = _some(rng, max_digits=rng.randint(3, 6), ge=Decimal(rng.choice(("-1.5", "0"))), lt=Decimal(900))
    found |= {"decimal_places": places} if rng.random() < 0.5 else {}
    return Made(
        Annotated[Decimal, Field(**found)], lambda rng: str(Decimal(rng.randint(-300, 9999)).scaleb(-rng.randrange(3)))
    )


_TEXTS = ("", "a", "ab", 'q"\\', "é🙂", "x\ny", "abcde", "12", "A-1", " a ", "\x00\x1f")


def _string(rng: random.Random) -> Made:
    low = rng.randrange(3)
    found = _some(rng, min_length=low, max_length=low + rng.randrange(5))
    if rng.random() < 0.25:
        found["pattern"] = rng.choice((r"^[a-z]+$", r"\d", r"^\S*$", r"^[A-Z]-?\d{1,3}$", "^(?i:ab)", r"^.{2,}$"))
    return Made(Annotated[str, Field(**found)], lambda rng: rng.choice(_TEXTS))


def _date(rng: random.Random) -> Made:
    low = dt.date(rng.choice((1, 1999, 2024)), rng.randint(1, 12), rng.randint(1, 28))
    found = _some(rng, ge=low, lt=low + dt.timedelta(rng.choice((1, 40, 9000))))
    return Made(Annotated[dt.date, Field(**found)], lambda rng: (low + dt.timedelta(rng.randrange(60))).isoformat())


def _datetime(rng: random.Random) -> Made:
    low = dt.datetime(2024, 2, 28, 23, 59, tzinfo=dt.UTC if rng.random() < 0.5 else None)
    found = _some(rng, ge=low, lt=low + dt.timedelta(rng.choice((1, 400))))
    return Made(
        Annotated[dt.datetime, Field(**found)],
        lambda rng: (low + dt.timedelta(seconds=rng.randrange(400_000))).isoformat(),
    )


def _listed(rng: random.Random) -> Made:
    values = rng.sample(("a", 'b"', "", 1, 0, -2, True, False, None, "é", "1", "true"), rng.randint(1, 5))
    if rng.random() < 0.4:
        return Made(Literal[tuple(values)], lambda rng: rng.choice(values))
    make: Any = enum.Enum
    kind = make("Chosen", [(f"member{at}", value) for at, value in enumerate(values)])
    return Made(kind, lambda rng: rng.choice(values))


def _plain(kind: Any, *guesses: Any) -> Callable[[random.Random], Made]:
    return lambda _: Made(kind, lambda rng: rng.choice(guesses))


_LEAVES: tuple[Callable[[random.Random], Made], ...] = (
    *(_integer, _integer, _float, _decimal, _string, _string, _date, _datetime, _listed, _listed),
    _plain(bool, True, False),
    _plain(None, None),
    _plain(dt.time, "12:30:00", "23:59:59.5", "00:00:00Z"),
    _plain(dt.timedelta, "P1D", "PT1H30M", "-P2DT0.5S"),
    _plain(uuid.UUID, str(uuid.UUID(int=5)), str(uuid.UUID(int=2**128 - 1))),
    _plain(bytes, "a", "é", ""),
    _plain(Any, None, 1, "a", [1], {"a": None}, 0.5),
    _plain(Json[list[int]], "[1,2]", "[]"),
)


def _list(rng: random.Random, inner: Inner) -> Made:
    item, low = inner(), rng.randrange(3)
    found = _some(rng, min_length=low, max_length=low + rng.randrange(1, 3))
    kind: Any = list
    return Made(
        Annotated[kind[item.type], Field(**found)],
        lambda rng: [item.guess(rng) for _ in range(rng.randint(low, low + 2))],
    )


def _set(rng: random.Random, _: Inner) -> Made:
    item = rng.choice(_LEAVES)(rng)
    kind = rng.choice((set, frozenset))
    return Made(kind[item.type], lambda rng: [item.guess(rng) for _ in range(rng.randrange(3))])


def _tuple(rng: random.Random, inner: Inner) -> Made:
    items = [inner() for _ in range(rng.randint(1, 3))]
    plain: Any = tuple
    kind = plain[tuple(item.type for item in items)]
    if rng.random() < 0.4:
        make: Any = NamedTuple
        kind = make("Point", [(f"item{at}", item.type) for at, item in enumerate(items)])
    return Made(kind, lambda rng: [item.guess(rng) for item in items])


def _dict(rng: random.Random, inner: Inner) -> Made:
    item = inner()
    key: Any = rng.choice(
        (str, int, dt.date, Literal["a", "b"], Annotated[str, Field(pattern="^[a-z]+$")], bool, uuid.UUID)
    )
    kind: Any = dict
    keys = ("a", "b", "1", "12", "2024-02-29", "", "true", str(uuid.UUID(int=7)))
    return Made(kind[key, item.type], lambda rng: {rng.choice(keys): item.guess(rng) for _ in range(rng.randrange(3))})


def _optional(_: random.Random, inner: Inner) -> Made:
    item = inner()
    return Made(Optional[item.type], lambda rng: rng.choice((None, item.guess(rng))))  # noqa: UP045


def _union(rng: random.Random, inner: Inner) -> Made:
    items = [inner() for _ in range(rng.randint(2, 3))]
    return Made(Union[tuple(item.type for item in items)], lambda rng: rng.choice(items).guess(rng))  # noqa: UP007


_ALIASES = ("{} alias", '"{}\\', "{}", "é{}", "{}-x")


def _model(rng: random.Random, inner: Inner) -> Made:
    fields = {f"field{at}": inner() for at in range(rng.randint(1, 4))}
    names = {name: rng.choice(_ALIASES).format(name) if rng.random() < 0.3 else name for name in fields}
    has_default = {name: rng.random() < 0.25 for name in fields}
    options: dict[str, Any] = {
        name: Field(None if has_default[name] else ..., alias=None if names[name] == name else names[name])
        for name in fields
    }
    config = _some(
        rng, extra=rng.choice(("ignore", "forbid", "allow")), strict=True, frozen=True, populate_by_name=True
    )
    config |= _some(rng, str_strip_whitespace=True, str_max_length=4) if rng.random() < 0.2 else {}
    made = create_model(  # type: ignore[call-overload]
        "Model", __config__=config, **{name: (field.type, options[name]) for name, field in fields.items()}
    )

    def guess(rng: random.Random) -> Any:
        kept = {name: field for name, field in fields.items() if not has_default[name] or rng.random() < 0.7}
        found = {names[name]: field.guess(rng) for name, field in kept.items()}
        return {**found, "other": 1} if config.get("extra") == "allow" and rng.random() < 0.4 else found

    return Made(made, guess)


def _record(rng: random.Random, inner: Inner) -> Made:
    fields = {f"field{at}": inner() for at in range(rng.randint(1, 3))}
    annotations = {name: field.type for name, field in fields.items()}
    if rng.random() < 0.5:
        made: Any = dataclasses.make_dataclass("Record", list(annotations.items()))
        return Made(made, lambda rng: {name: field.guess(rng) for name, field in fields.items()})
    wrapped = {
        name: rng.choice((typing_extensions.Required, typing_extensions.NotRequired))[kind]
        for name, kind in annotations.items()
    }
    table: Any = typing_extensions.TypedDict
    made = table("Table", wrapped, total=rng.random() < 0.5)
    return Made(made, lambda rng: {name: field.guess(rng) for name, field in fields.items() if rng.random() < 0.8})


def _tagged(rng: random.Random, inner: Inner) -> Made:
    tags: list[Any] = rng.sample(("a", "b", "c", 1, 2), rng.randint(2, 3))
    fields = [inner() for _ in tags]
    make: Any = create_model
    models = [
        make(f"Tagged{at}", kind=(Literal[tag], ...), value=(field.type, ...))
        for at, (tag, field) in enumerate(zip(tags, fields, strict=True))
    ]

    def guess(rng: random.Random) -> Any:
        at = rng.randrange(len(tags))
        return {"kind": tags[at], "value": fields[at].guess(rng)}

    return Made(Annotated[Union[tuple(models)], Field(discriminator="kind")], guess)  # noqa: UP007


def _recursive(rng: random.Random, inner: Inner) -> Made:
    field = inner()
    following: Any = rng.choice((Optional["Chain"], list["Chain"], dict[str, "Chain"]))  # type: ignore[name-defined]  # noqa: F821
    make: Any = create_model
    made = make("Chain", value=(field.type, ...), next=(following, ...))
    made.model_rebuild(_types_namespace={"Chain": made})

    def guess(rng: random.Random, depth: int = 3) -> Any:
        deeper = [guess(rng, depth - 1)] if depth and rng.random() < 0.5 else []
        inside = {"a": deeper[0]} if deeper else {}
        shape = getattr(following, "__origin__", None)
        after = deeper if shape is list else inside if shape is dict else deeper[0] if deeper else None
        return {"value": field.guess(rng), "next": after}

    return Made(made, guess)


def _generic(_: random.Random, inner: Inner) -> Made:
    item = inner()
    return Made(Box[item.type], lambda rng: {"held": item.guess(rng), "others": [item.guess(rng)]})  # type: ignore[name-defined]


def _root(_: random.Random, inner: Inner) -> Made:
    item = inner()
    return Made(RootModel[item.type], item.guess)  # type: ignore[name-defined]


_BRANCHES: tuple[Callable[[random.Random, Inner], Made], ...] = (
    *(_model, _model, _model, _list, _set, _tuple, _dict, _optional, _union, _union, _record, _tagged),
    *(_recursive, _generic, _root),
)
