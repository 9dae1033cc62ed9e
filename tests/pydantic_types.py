"""Types of every kind that Pydantic describes, and strategies that build larger ones out of them."""

import collections
import dataclasses
import datetime as dt
import enum
import fractions
import ipaddress
import pathlib
import re
import typing
import uuid
import zoneinfo
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union

import pydantic
import typing_extensions
from hypothesis import strategies as st
from pydantic import AliasChoices, AliasPath, ConfigDict, Field, RootModel, StringConstraints, create_model
from pydantic.alias_generators import to_camel
from strategies import CHARACTERS, PLAIN_FLOATS, TEXTS, Typed, offsets, subsets

UTC = dt.timezone.utc  # noqa: UP017  as Pydantic's examples have it


class Priority(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Color(enum.StrEnum):
    RED = "red"
    QUOTED = 'a "b"'


class Permission(enum.Flag):
    READ = 1
    WRITE = 2


class Frozen(pydantic.BaseModel, frozen=True):
    name: str
    size: int = 0


class Node(pydantic.BaseModel):
    value: int
    children: "list[Node]" = []


class Even(pydantic.BaseModel):
    odd: "Odd | None"


class Odd(pydantic.BaseModel):
    even: "Even | None"


Item = typing.TypeVar("Item")


class Box(pydantic.BaseModel, typing.Generic[Item]):
    held: Item
    others: list[Item] = []


class Strict(pydantic.BaseModel, strict=True):
    day: dt.date
    key: uuid.UUID
    size: Size
    point: tuple[int, float]
    unique: set[str]
    counts: dict[int, bool]
    data: bytes


class Stripped(pydantic.BaseModel, str_strip_whitespace=True, str_min_length=1, str_max_length=5):
    name: str
    code: Annotated[str, Field(pattern=r"^\S+$")]


class Searched(pydantic.BaseModel, regex_engine="python-re"):
    code: Annotated[str, Field(pattern=r"^(?=[a-z]+\d)\w+$", max_length=9)]


class Encoded(pydantic.BaseModel, val_json_bytes="base64", ser_json_bytes="base64"):
    data: bytes


class Kept(pydantic.BaseModel, extra="allow"):
    name: int = Field(validation_alias=AliasChoices(AliasPath("names", 0), "name"))


class Counted(pydantic.BaseModel, extra="allow"):
    __pydantic_extra__: dict[str, int]
    name: str


class Forbidding(pydantic.BaseModel, extra="forbid", validate_by_name=True):
    deep: int = Field(validation_alias=AliasPath("a", 0))
    given: str = Field(alias="given name", exclude=True)
    _private: int = 3

    @pydantic.computed_field
    @property
    def doubled(self) -> int:
        return 2 * self.deep


class ByName(pydantic.BaseModel, validate_by_alias=False, validate_by_name=True):
    name: str = Field(alias="theName")


class Camel(pydantic.BaseModel, alias_generator=to_camel):
    first_name: str
    last_name: str | None = None


class Open(typing_extensions.TypedDict, extra_items=int):
    name: typing_extensions.Required[str]
    size: typing_extensions.NotRequired[int]


class Partial(typing_extensions.TypedDict, total=False):
    name: str
    size: int


class Closed(typing_extensions.TypedDict, closed=True):
    name: str


@dataclasses.dataclass
class Record:
    name: str
    size: int = 1
    seen: bool = dataclasses.field(init=False, default=False)


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="allow"))
class Loose:
    name: str = Field(alias="the name")


class Point(NamedTuple):
    x: int
    y: float = 0.0


class Cat(pydantic.BaseModel):
    kind: Literal["cat", "kitten"]
    lives: Annotated[int, Field(ge=1, le=9)]


class Dog(pydantic.BaseModel):
    kind: Literal["dog"] = Field(alias="kind")
    name: str


class Lizard(pydantic.BaseModel):
    kind: Literal[Size.SMALL]


Mammal = Annotated[Cat | Dog, Field(discriminator="kind")]
Animal = Annotated[Mammal | Lizard, Field(discriminator="kind")]
Bytes = st.text(st.characters(max_codepoint=0x7F), max_size=6).map(str.encode)
WEEK = dt.timedelta(days=7)
TODAY = dt.date.today()  # noqa: DTZ011
NOW = dt.datetime.now()  # noqa: DTZ005


def bounded(kind: Any, **bounds: Any) -> Any:
    return Annotated[kind, Field(**bounds)]


def uuids(*versions: int) -> st.SearchStrategy[uuid.UUID]:
    return st.one_of(*(st.uuids(version=version) for version in versions))


STRING = {  # name → type, values
    "str": (str, TEXTS),
    "Text": (typing.Text, TEXTS),  # noqa: UP019
    "min_length": (bounded(str, min_length=2, max_length=4), st.text(CHARACTERS, min_size=2, max_size=4)),
    "pattern": (bounded(str, pattern="^[a-z]{2,}$", max_length=5), st.from_regex(r"\A[a-z]{2,5}\Z")),
    "pattern anywhere": (bounded(str, pattern=r"\d"), TEXTS.map(lambda text: text + "7")),
    "compiled pattern": (bounded(str, pattern=re.compile("^ab", re.IGNORECASE)), TEXTS.map(lambda text: "aB" + text)),
    "strip_whitespace": (
        Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=3, pattern="^.*$")],
        st.from_regex(r"\A[a-z][ a-z]?[a-z]\Z"),
    ),
    "to_lower": (Annotated[str, StringConstraints(to_lower=True, max_length=4)], st.from_regex(r"\A[a-z]{0,4}\Z")),
    "to_upper": (Annotated[str, StringConstraints(to_upper=True)], st.from_regex(r"\A[A-Z]{0,4}\Z")),
    "ascii_only": (Annotated[str, StringConstraints(ascii_only=True)], st.text(st.characters(max_codepoint=0x7F))),
    "constr": (pydantic.constr(min_length=1, strict=True), st.text(CHARACTERS, min_size=1)),
    "SecretStr": (pydantic.SecretStr, None),
    "SecretStr, min_length": (bounded(pydantic.SecretStr, min_length=2), None),
    "SecretBytes": (bounded(pydantic.SecretBytes, max_length=5), None),
    "Secret[int]": (pydantic.Secret[int], None),
    "bytes": (bytes, Bytes),
    "bytes, lengths": (bounded(bytes, min_length=2, max_length=6), Bytes.filter(lambda data: len(data) > 1)),
    "Base64Bytes": (pydantic.Base64Bytes, st.binary(max_size=6)),
    "Base64Str": (pydantic.Base64Str, st.text(st.characters(max_codepoint=0x7F), max_size=6)),
    "Base64UrlBytes": (pydantic.Base64UrlBytes, st.binary(max_size=6)),
    "Base64UrlStr": (pydantic.Base64UrlStr, st.text(st.characters(max_codepoint=0x7F), max_size=6)),
    "Pattern": (re.Pattern[str], st.just(re.compile("a+"))),
    "Path": (pathlib.Path, st.sampled_from([pathlib.Path("a/b"), pathlib.Path("/tmp")])),  # noqa: S108
    "PurePosixPath": (pathlib.PurePosixPath, st.just(pathlib.PurePosixPath("a"))),
    "ZoneInfo": (zoneinfo.ZoneInfo, st.sampled_from(["UTC", "Europe/Paris"]).map(zoneinfo.ZoneInfo)),
    "ByteSize": (pydantic.ByteSize, st.integers(0, 10**15).map(pydantic.ByteSize)),
    "Json": (pydantic.Json, None),
    "Json[Any]": (pydantic.Json[Any], None),
    "Json[list[int]]": (pydantic.Json[list[int]], None),
    "Json[Kept]": (pydantic.Json[Kept], None),
    "Json[dict[str, Annotated[str, max_length]]]": (pydantic.Json[dict[str, bounded(str, max_length=3)]], None),
    "Json[Json[str]]": (pydantic.Json[pydantic.Json[bounded(str, pattern="^[a-z]+$")]], None),
    "Json[Node]": (pydantic.Json[Node], None),
}

NUMBER = {
    "bool": (bool, st.booleans()),
    "int": (int, st.integers(1 - 10**18, 10**18 - 1)),
    "int, bounds": (bounded(int, ge=-3, lt=10**30), st.integers(-3, 10**30 - 1)),
    "conint": (pydantic.conint(gt=5, strict=True), st.integers(6, 50)),
    "PositiveInt": (pydantic.PositiveInt, st.integers(1, 10**17)),
    "StrictInt": (pydantic.StrictInt, st.integers(-9, 9)),
    "float": (float, PLAIN_FLOATS),
    "FiniteFloat": (pydantic.FiniteFloat, PLAIN_FLOATS),
    "confloat": (pydantic.confloat(ge=0.5, lt=3), st.sampled_from([0.5, 2.999, 1.25])),
    "complex": (complex, st.sampled_from([1 + 2j, -0.5j, 3 + 0j])),
    "Fraction": (fractions.Fraction, st.fractions(max_denominator=10**6)),
    "Fraction, bounds": (bounded(fractions.Fraction, gt=fractions.Fraction(1, 3), le=fractions.Fraction(2, 3)), None),
}

TIME = {
    "date": (dt.date, st.dates()),
    "date, bounds": (bounded(dt.date, gt=dt.date(1999, 12, 31), lt=dt.date(2024, 3, 1)), None),
    "datetime": (dt.datetime, st.datetimes(timezones=st.none() | offsets())),
    "datetime, naive bounds": (
        bounded(dt.datetime, ge=dt.datetime(2020, 2, 29, 12, 30, 1), lt=dt.datetime(2020, 3, 2)),  # noqa: DTZ001
        st.datetimes(dt.datetime(2020, 2, 29, 13), dt.datetime(2020, 3, 1), timezones=st.none() | offsets()),  # noqa: DTZ001
    ),
    "datetime, aware bounds": (
        bounded(dt.datetime, ge=dt.datetime(2020, 2, 28, tzinfo=UTC), lt=dt.datetime(2020, 3, 9, tzinfo=UTC)),
        st.datetimes(dt.datetime(2020, 3, 1), dt.datetime(2020, 3, 7), timezones=st.none() | st.just(UTC)),  # noqa: DTZ001
    ),
    "AwareDatetime": (pydantic.AwareDatetime, st.datetimes(timezones=offsets())),
    "NaiveDatetime": (pydantic.NaiveDatetime, st.datetimes()),
    "PastDate": (pydantic.PastDate, st.dates(max_value=TODAY - WEEK)),
    "FutureDate": (pydantic.FutureDate, st.dates(min_value=TODAY + WEEK)),
    "PastDatetime": (pydantic.PastDatetime, st.datetimes(max_value=NOW - WEEK)),
    "FutureDatetime": (pydantic.FutureDatetime, st.datetimes(min_value=NOW + WEEK)),
    "time": (dt.time, st.times()),
    "time, bounds": (bounded(dt.time, ge=dt.time(8, 30), lt=dt.time(17, 0, 0, 5)), None),
    "time, aware bounds": (bounded(dt.time, gt=dt.time(8, 30, tzinfo=dt.timezone(dt.timedelta(hours=9)))), None),
    "timedelta": (dt.timedelta, st.timedeltas()),
    "timedelta, bounds": (
        bounded(dt.timedelta, ge=-WEEK, lt=60 * WEEK),
        st.timedeltas(-WEEK, 60 * WEEK - dt.timedelta(microseconds=1)),
    ),
}

PLACE = {
    "UUID": (uuid.UUID, st.uuids()),
    **{
        f"UUID{n}": (getattr(pydantic, f"UUID{n}"), uuids(n) if n in (1, 3, 4, 5) else None)
        for n in (1, 3, 4, 5, 6, 7, 8)
    },
    "IPv4Address": (ipaddress.IPv4Address, st.ip_addresses(v=4)),
    "IPv6Address": (ipaddress.IPv6Address, st.ip_addresses(v=6)),
    "IPv4Network": (ipaddress.IPv4Network, st.ip_addresses(v=4).map(ipaddress.IPv4Network)),
    "IPv6Network": (ipaddress.IPv6Network, st.ip_addresses(v=6).map(ipaddress.IPv6Network)),
    "IPv4Interface": (ipaddress.IPv4Interface, st.ip_addresses(v=4).map(ipaddress.IPv4Interface)),
    "IPv6Interface": (ipaddress.IPv6Interface, st.ip_addresses(v=6).map(ipaddress.IPv6Interface)),
    "IPvAnyAddress": (pydantic.IPvAnyAddress, st.ip_addresses()),
    "IPvAnyNetwork": (pydantic.IPvAnyNetwork, None),
    "IPvAnyInterface": (pydantic.IPvAnyInterface, None),
    "AnyUrl": (pydantic.AnyUrl, None),
    "HttpUrl": (pydantic.HttpUrl, st.just(pydantic.HttpUrl("https://example.org/a?b=c#d"))),
    **{
        name: (getattr(pydantic, name), None)
        for name in (
            *("AnyHttpUrl", "FileUrl", "FtpUrl", "WebsocketUrl", "AnyWebsocketUrl", "PostgresDsn", "CockroachDsn"),
            *("AmqpDsn", "RedisDsn", "MongoDsn", "KafkaDsn", "NatsDsn", "MySQLDsn", "MariaDBDsn", "ClickHouseDsn"),
            "SnowflakeDsn",
        )
    },
    "UrlConstraints": (
        Annotated[pydantic.AnyUrl, pydantic.UrlConstraints(allowed_schemes=["s3", "gs"], host_required=True)],
        None,
    ),
    "UrlConstraints, max_length": (Annotated[pydantic.AnyUrl, pydantic.UrlConstraints(max_length=600)], None),
}

CHOICE = {
    "None": (None, st.none()),
    "Literal": (Literal["a", 'b"', 1, True, None, -2], st.sampled_from(["a", 'b"', 1, True, None, -2])),
    "Enum": (Priority, st.sampled_from(Priority)),
    "IntEnum": (Size, st.sampled_from(Size)),
    "StrEnum": (Color, st.sampled_from(Color)),
    "Flag": (Permission, st.sampled_from(list(Permission))),
    "Literal of an Enum": (Literal[Color.RED], st.just(Color.RED)),
    "Any": (Any, TEXTS | st.integers(0, 9) | st.lists(st.booleans(), max_size=2)),
    "object": (object, st.none() | TEXTS),
    "Hashable": (typing.Hashable, TEXTS | st.booleans()),  # noqa: UP006
    "SkipValidation": (pydantic.SkipValidation[int], st.integers(0, 9)),
}

COLLECTION = {
    "dict": (dict, st.dictionaries(TEXTS, st.none(), max_size=2)),
    "dict[int, Size]": (dict[int, Size], st.dictionaries(st.integers(-99, 99), st.sampled_from(Size), max_size=3)),
    "dict[float, None]": (dict[float, None], None),
    "dict[bool, int]": (dict[bool, int], None),
    "dict[Size, int]": (dict[Size, int], st.dictionaries(st.sampled_from(Size), st.integers(0, 9))),
    "dict[Priority, int]": (dict[Priority, int], st.dictionaries(st.sampled_from(Priority), st.integers(0, 9))),
    "dict[Literal, int]": (dict[Literal["a", "b"], int], st.dictionaries(st.sampled_from("ab"), st.integers(0, 9))),
    "dict[Literal, int], min_length": (bounded(dict[Literal["a", "b", "c"], int], min_length=2, max_length=2), None),
    "dict[date, int]": (dict[dt.date, int], st.dictionaries(st.dates(), st.integers(0, 9), max_size=2)),
    "dict[PastDate, int]": (dict[pydantic.PastDate, int], None),
    "dict[UUID, int]": (dict[uuid.UUID, int], st.dictionaries(st.uuids(), st.integers(0, 9), max_size=2)),
    "dict[constr, int]": (
        dict[bounded(str, pattern="^[a-z]+$", max_length=3), bounded(int, ge=0)],
        st.dictionaries(st.from_regex(r"\A[a-z]{1,3}\Z"), st.integers(0, 9), max_size=2),
    ),
    "dict[bounded int, str]": (
        bounded(dict[bounded(int, ge=1, le=20), str], min_length=1, max_length=2),
        st.dictionaries(st.integers(1, 20), TEXTS, min_size=1, max_size=2),
    ),
    "dict[int | bool, int]": (dict[int | bool, int], None),
    "dict[IPv4Address, int]": (dict[ipaddress.IPv4Address, int], None),
    "Mapping": (Mapping[str, int], st.dictionaries(TEXTS, st.integers(0, 9), max_size=2)),
    "Counter": (typing.Counter[str], st.dictionaries(TEXTS, st.integers(0, 9), max_size=2).map(collections.Counter)),  # noqa: UP006
    "OrderedDict": (typing.OrderedDict[str, int], None),  # noqa: UP006
    "defaultdict": (typing.DefaultDict[int, list[int]], None),  # noqa: UP006
    "set": (set, st.sets(TEXTS | st.booleans(), max_size=2)),
    "set[int]": (set[int], st.sets(st.integers(0, 99), max_size=3)),
    "set[Literal], lengths": (
        bounded(set[Literal["a", "b", "c"]], min_length=2, max_length=3),
        st.sets(st.sampled_from("abc"), min_size=2),
    ),
    "frozenset of tuples": (frozenset[tuple[int, str]], None),
    "set[Frozen]": (set[Frozen], None),
    "frozenset, one": (
        bounded(frozenset[int], min_length=1, max_length=4),
        st.frozensets(st.integers(0, 9), min_size=1, max_size=4),
    ),
    "deque": (
        bounded(collections.deque[int], max_length=2),
        st.lists(st.integers(0, 9), max_size=2).map(collections.deque),
    ),
    "tuple": (tuple, None),
    "tuple, variable": (tuple[int, ...], st.lists(st.integers(0, 9), max_size=3).map(tuple)),
    "Sequence": (bounded(Sequence[int], min_length=1, max_length=3), None),
    "Iterable": (Iterable[int], None),
    "conlist": (pydantic.conlist(int, min_length=1, max_length=2), st.lists(st.integers(0, 9), min_size=1, max_size=2)),
    "list[OnErrorOmit]": (list[pydantic.OnErrorOmit[int]], st.lists(st.integers(0, 9), max_size=2)),
}

MODEL = {
    made.__name__: (made, None)
    for made in (
        *(Frozen, Even, Strict, Stripped, Searched, Encoded, Kept, Counted, Forbidding, ByName, Camel),
        *(Open, Partial, Closed, Record, Loose, Point, Cat),
    )
} | {
    "Node": (
        Node,
        st.recursive(
            st.builds(Node, value=st.integers(0, 9)),
            lambda inner: st.builds(Node, value=st.integers(0, 9), children=st.lists(inner, max_size=2)),
            max_leaves=4,
        ),
    ),
    "Box[int]": (Box[int], st.builds(Box[int], held=st.integers(0, 9), others=st.lists(st.integers(0, 9), max_size=2))),
    "Box[Box[date]]": (Box[Box[dt.date]], None),
    "Mammal": (Mammal, st.just(Cat(kind="kitten", lives=3)) | st.just(Dog(kind="dog", name="a"))),
    "Animal": (Animal, st.just(Lizard(kind=Size.SMALL))),
    "Tree": (RootModel[dict[str, Node]], None),
}

KINDS = STRING | NUMBER | TIME | PLACE | CHOICE | COLLECTION | MODEL
"""Every kind that is written, by a name: the type, and a strategy for values that come back from JSON, if there is one."""


def composed(*, with_values: bool = False) -> st.SearchStrategy[Typed]:
    """Return types of several kinds, one inside the other; where wanted, only those with values."""
    kinds = [
        Typed(kind, st.nothing() if values is None else values)
        for kind, values in KINDS.values()
        if values is not None or not with_values
    ]
    return st.recursive(st.sampled_from(kinds), larger, max_leaves=5)


def larger(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    return st.one_of(
        inner.map(lambda drawn: Typed(Optional[drawn.type], st.none() | drawn.values)),  # noqa: UP045
        st.tuples(inner, inner).map(
            lambda pair: Typed(Union[pair[0].type, pair[1].type], pair[0].values | pair[1].values)
        ),  # noqa: UP007
        lists(inner),
        inner.map(lambda drawn: Typed(dict[str, drawn.type], st.dictionaries(TEXTS, drawn.values, max_size=2))),
        st.tuples(inner, inner).map(
            lambda pair: Typed(tuple[pair[0].type, pair[1].type], st.tuples(pair[0].values, pair[1].values))
        ),
        inner.map(lambda drawn: Typed(RootModel[drawn.type], drawn.values.map(RootModel[drawn.type].model_construct))),
        inner.map(lambda drawn: Typed(Box[drawn.type], drawn.values.map(partial(_boxed, Box[drawn.type])))),
        models(inner),
        recursive_models(inner),
        tables(inner),
    )


def _boxed(box: Any, value: Any) -> Any:
    return box.model_construct(held=value, others=[])


@st.composite
def lists(draw: st.DrawFn, inner: st.SearchStrategy[Typed]) -> Typed:
    item = draw(inner)
    low, high = sorted(draw(st.tuples(st.integers(0, 2), st.integers(0, 3))))
    bounds = draw(subsets({"min_length": low, "max_length": high}))
    values = st.lists(item.values, min_size=bounds.get("min_length", 0), max_size=bounds.get("max_length", 3))
    return Typed(bounded(list[item.type], **bounds), values)


@st.composite
def models(draw: st.DrawFn, inner: st.SearchStrategy[Typed]) -> Typed:
    """Models with aliases of every sort, defaults, and any configuration."""
    fields = draw(st.lists(inner, min_size=1, max_size=3))
    config = ConfigDict(
        extra=draw(st.sampled_from(["ignore", "forbid", "allow"])),
        validate_by_name=draw(st.booleans()),
        strict=draw(st.booleans()),
        frozen=draw(st.booleans()),
    )
    named = {f"field{i}": (field.type, draw(field_options(f"field{i}"))) for i, field in enumerate(fields)}
    made = create_model("Model", __config__=config, **named)
    values = st.tuples(*(field.values for field in fields)).map(
        lambda values: made.model_construct(**dict(zip(named, values, strict=True)))
    )
    return Typed(made, values)


def field_options(name: str) -> st.SearchStrategy[Any]:
    return st.sampled_from(
        [
            {},
            {"default": None},
            {"alias": f"{name} alias"},
            {"alias": f'"{name}\\'},
            {
                "validation_alias": AliasChoices(AliasPath(f"{name}s", 0), f"other {name}", name),
                "serialization_alias": f"other {name}",
            },
            {"description": "What it is", "exclude": False, "repr": False},
        ]
    ).map(lambda options: Field(**options))


@st.composite
def recursive_models(draw: st.DrawFn, inner: st.SearchStrategy[Typed]) -> Typed:
    field = draw(inner)
    name = "Chain"
    made = create_model(name, value=(field.type, ...), next=(Optional[name], None))  # type: ignore[arg-type]  # noqa: UP045
    one = field.values.map(lambda value: made.model_construct(value=value, next=None))
    two = st.tuples(field.values, one).map(lambda pair: made.model_construct(value=pair[0], next=pair[1]))
    return Typed(made, one | two)


@st.composite
def tables(draw: st.DrawFn, inner: st.SearchStrategy[Typed]) -> Typed:
    fields = {f"field {i}": field for i, field in enumerate(draw(st.lists(inner, min_size=1, max_size=2)))}
    annotations = {name: draw(wrappers())[field.type] for name, field in fields.items()}
    made = typing_extensions.TypedDict("Table", annotations, total=draw(st.booleans()))  # type: ignore[operator]
    values = st.fixed_dictionaries({name: field.values for name, field in fields.items()})
    return Typed(made, values.map(lambda value: {name: value[name] for name in fields}))


def wrappers() -> st.SearchStrategy[Any]:
    return st.sampled_from([typing_extensions.Required, typing_extensions.NotRequired])
