"""Types of every kind that Pydantic describes, and strategies that build larger ones out of them."""

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import importlib.util
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
from hypothesis import reject
from hypothesis import strategies as st
from pydantic import AliasChoices, AliasPath, ConfigDict, Field, RootModel, StringConstraints, create_model
from pydantic.alias_generators import to_camel
from pydantic.types import Base64Encoder
from strategies import CHARACTERS, PLAIN_FLOATS, TEXTS, Typed, offsets, subsets

UTC = dt.timezone.utc  # noqa: UP017  as Pydantic's examples have it


Names = typing_extensions.TypeAliasType("Names", list[str])


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


class Hex(pydantic.BaseModel, val_json_bytes="hex", ser_json_bytes="hex"):
    data: bytes
    short: Annotated[bytes, Field(min_length=1, max_length=2)]


class EncodedLengths(pydantic.BaseModel, val_json_bytes="base64", ser_json_bytes="base64"):
    data: Annotated[bytes, Field(min_length=2, max_length=7)]


class HexSecret(pydantic.BaseModel, val_json_bytes="hex"):
    data: Annotated[pydantic.SecretBytes, Field(max_length=3)]


class EncodedSecret(pydantic.BaseModel, val_json_bytes="base64"):
    data: Annotated[pydantic.SecretBytes, Field(min_length=2, max_length=4)]


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


class Shown(pydantic.BaseModel, extra="allow", validate_by_name=True):
    """An additional member called `name` would be read as the field."""

    name: int = Field(alias="shown name")


class Short(pydantic.BaseModel, str_max_length=2):
    """Its configuration holds for the definition that both fields share, unless another model is built around it."""

    first: "Names"
    second: "Names"


class Inheriting(pydantic.BaseModel, str_max_length=2):
    """Its configuration holds for the plain dataclass inside it, too."""

    record: "Record"


class Sharing(pydantic.BaseModel, str_max_length=2):
    """As above, but the dataclass is a definition."""

    first: "Record"
    second: "Record"


class Mistaken(pydantic.BaseModel):
    """Without `x`, the list would be read for the first field."""

    first: int = Field(default=0, validation_alias=AliasChoices("x", "y"))
    second: list[str] = Field(default=[], alias="y")


class Distinct(pydantic.BaseModel, extra="allow"):
    """Both look for `x` first; so each is written by the name that is its own."""

    first: int = Field(default=0, validation_alias=AliasChoices("x", "y"))
    second: str = Field(default="", validation_alias=AliasChoices("x", "z"))
    third: bool = Field(validation_alias=AliasChoices(AliasPath("x", 0), "t"))


class DistinctByName(pydantic.BaseModel, validate_by_name=True):
    """The same, by the names of the fields."""

    first: int = Field(validation_alias=AliasChoices("x"))
    second: list[str] = Field(validation_alias=AliasChoices("x"))


class Checked(pydantic.BaseModel, validate_default=True):
    """Its default is valid for no one."""

    size: int = "large"  # type: ignore[assignment]
    count: int = 1


class Documented(pydantic.BaseModel, json_schema_mode_override="serialization"):
    """Whatever its JSON Schema is meant for, answers are validated."""

    size: Annotated[int, pydantic.PlainSerializer(str)] = Field(alias="theSize", serialization_alias="size")


class Added(pydantic.BaseModel):
    name: str = Field(json_schema_extra={"minLength": 3, "examples": ["abc"]})


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


class WhiteWolf(pydantic.BaseModel):
    kind: Literal["wolf"]
    color: Literal["white"]


class BlackWolf(pydantic.BaseModel):
    kind: Literal["wolf"]
    color: Literal["black"]


Wolf = Annotated[WhiteWolf | BlackWolf, Field(discriminator="color")]
Carnivore = Annotated[Mammal | Wolf, Field(discriminator="kind")]


def kind_of(value: Any) -> Any:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return "cat" if kind == "kitten" else kind


Chosen = Annotated[
    Annotated[Cat, pydantic.Tag("cat")] | Annotated[Dog, pydantic.Tag("dog")] | Annotated[Wolf, pydantic.Tag("wolf")],
    pydantic.Discriminator(kind_of),
]
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
    "pattern of lines": (bounded(str, pattern="(?m)^a$"), st.sampled_from(["a", "b\na", "a\n", "\na\nb"])),
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
    "Base64Bytes, lengths": (
        bounded(pydantic.Base64Bytes, min_length=2, max_length=7),
        st.binary(min_size=2, max_size=7),
    ),
    "Base64Bytes, min_length": (bounded(pydantic.Base64UrlBytes, min_length=4), st.binary(min_size=4, max_size=12)),
    "Base64Bytes, two lengths": (
        bounded(bounded(pydantic.Base64Bytes, max_length=4), max_length=9),
        st.binary(max_size=4),
    ),
    "Base64Str, lengths": (
        bounded(pydantic.Base64Str, min_length=1, max_length=5),
        st.text(st.characters(max_codepoint=0x7F), min_size=1, max_size=5),
    ),
    "Base64Str, lengths before and after": (
        Annotated[str, Field(max_length=8), pydantic.EncodedStr(encoder=Base64Encoder), Field(min_length=2)],
        st.text(st.characters(max_codepoint=0x7F), min_size=2, max_size=6),
    ),
    "bytes as base 64, lengths": (
        EncodedLengths,
        st.builds(EncodedLengths, data=st.binary(min_size=2, max_size=7)),
    ),
    "SecretBytes as base 64, lengths": (EncodedSecret, None),
    "bytes as hex": (Hex, st.builds(Hex, data=st.binary(max_size=5), short=st.binary(min_size=1, max_size=2))),
    "SecretBytes as hex, max_length": (HexSecret, None),
    "SecretStr, two lengths": (bounded(bounded(pydantic.SecretStr, max_length=2), max_length=5), None),
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
    "Decimal": (decimal.Decimal, st.decimals(-(10**9), 10**9, places=3) | st.decimals(-1, 1, places=14)),
    "condecimal": (pydantic.condecimal(max_digits=6, decimal_places=2, ge=0), st.decimals(0, 999, places=2)),
    "Decimal, multiple_of": (bounded(decimal.Decimal, multiple_of=decimal.Decimal("0.25"), lt=100), None),
    "int, multiple_of": (bounded(int, multiple_of=5, ge=-20), st.integers(-4, 99).map(lambda count: 5 * count)),
    "float, multiple_of": (bounded(float, multiple_of=0.5), None),
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
    "datetime, bounds that are dates": (
        bounded(dt.datetime, gt=dt.date(2020, 2, 28), le=dt.date(2020, 3, 2)),
        st.datetimes(dt.datetime(2020, 2, 28, 0, 0, 1), dt.datetime(2020, 3, 2), timezones=st.none() | offsets()),  # noqa: DTZ001
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
    "Literal": (Literal["a", 'b"', 1, True, -2] | None, st.sampled_from(["a", 'b"', 1, True, None, -2])),
    "Enum": (Priority, st.sampled_from(Priority)),
    "IntEnum": (Size, st.sampled_from(Size)),
    "StrEnum": (Color, st.sampled_from(Color)),
    "Flag": (Permission, st.sampled_from(list(Permission))),
    "Literal of an Enum": (Literal[Color.RED], st.just(Color.RED)),
    "Any": (Any, TEXTS | st.integers(0, 9) | st.lists(st.booleans(), max_size=2)),
    "object": (object, st.none() | TEXTS),
    "Hashable": (typing.Hashable, TEXTS | st.booleans()),
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
    "dict[Fraction, int]": (dict[bounded(fractions.Fraction, gt=fractions.Fraction(1, 3)), int], None),
    "dict[IPv4Address, int]": (dict[ipaddress.IPv4Address, int], None),
    "Mapping": (Mapping[str, int], st.dictionaries(TEXTS, st.integers(0, 9), max_size=2)),
    "Counter": (typing.Counter[str], st.dictionaries(TEXTS, st.integers(0, 9), max_size=2).map(collections.Counter)),
    "OrderedDict": (typing.OrderedDict[str, int], None),
    "defaultdict": (collections.defaultdict[int, list[int]], None),
    "defaultdict, max_length": (bounded(collections.defaultdict[str, int], max_length=2), None),
    "set": (set, st.sets(TEXTS | st.booleans(), max_size=2)),
    "set[int]": (set[int], st.sets(st.integers(0, 99), max_size=3)),
    "set[Literal], lengths": (
        bounded(set[Literal["a", "b", "c"]], min_length=2, max_length=3),
        st.sets(st.sampled_from("abc"), min_size=2),
    ),
    "set of equal values": (bounded(set[Literal[1, 2] | bool], min_length=2), None),
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
        *(Frozen, Even, Strict, Stripped, Searched, Encoded, Kept, Counted, Forbidding, ByName, Camel, Shown),
        *(Documented, Added, Inheriting, Mistaken, Distinct, DistinctByName, Checked),
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
    "Carnivore": (Carnivore, st.builds(BlackWolf) | st.just(Dog(kind="dog", name="a"))),
    "Discriminator": (Chosen, st.builds(WhiteWolf) | st.just(Cat(kind="kitten", lives=3))),
    "Animal": (Animal, st.just(Lizard(kind=Size.SMALL))),
    "Tree": (RootModel[dict[str, Node]], None),
}

if importlib.util.find_spec("email_validator") is not None:
    STRING |= {
        "EmailStr": (pydantic.EmailStr, st.just("ana.diaz@example.com")),
        "NameEmail": (pydantic.NameEmail, None),
    }

KINDS = STRING | NUMBER | TIME | PLACE | CHOICE | COLLECTION | MODEL
"""Every kind that is written, by a name: the type, and a strategy for values that come back from JSON, if any."""


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
            lambda pair: Typed(Union[pair[0].type, pair[1].type], pair[0].values | pair[1].values)  # noqa: UP007
        ),
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
    try:
        made = create_model("Model", __config__=config, **named)
    except pydantic.PydanticUserError:  # fields that go with no such configuration
        reject()
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


class Plain(pydantic.BaseModel):
    name: str


class Unhashable(pydantic.BaseModel, frozen=True):
    names: list[str]


class Shared(pydantic.BaseModel):
    first: int = Field(validation_alias=AliasChoices("x", "y"))
    second: str = Field(validation_alias="x")


class Preferred(pydantic.BaseModel):
    first: int = Field(validation_alias=AliasChoices(AliasPath("second", 0), "first"))
    second: list[str]


class Deep(pydantic.BaseModel):
    name: str = Field(validation_alias=AliasPath("names", 0))


class Rewritten(pydantic.BaseModel, json_schema_extra=lambda schema: schema.pop("required")):
    name: str


class Contradicted(pydantic.BaseModel):
    name: int = Field(json_schema_extra={"type": "string"})


class Unknown(pydantic.BaseModel, json_schema_extra={"mask": "###"}):
    name: str


class Keyed(pydantic.BaseModel, extra="allow"):
    __pydantic_extra__: dict[bounded(str, max_length=2), int]


class Counting(enum.Enum):
    ONE = 1


class EncodedTwice(pydantic.BaseModel, val_json_bytes="base64"):
    data: pydantic.Base64UrlBytes


REFUSED = {  # type → keyword at fault, reason
    "set, min_length": (bounded(set[int], min_length=2), "uniqueItems", "what was written before is not remembered"),
    "dict, min_length": (bounded(dict[str, int], min_length=2), "minProperties", "the same, of keys"),
    "set of models": (set[Plain], "unhashable", "Pydantic's set rejects what has no hash"),
    "set of frozen models of lists": (set[Unhashable], "unhashable", "the same, of what it consists of"),
    "set of tuples of anything": (set[tuple[Any, ...]], "unhashable", "the same, of what it may consist of"),
    "dict of tuples": (dict[tuple[int, int], int], "type", "a key is a string, and read as no tuple"),
    "dict of None": (dict[None, int], "type", "no key is read as None"),
    "dict of numbers in an Enum": (dict[Counting, int], "unreadable_values", "keys are not looked up as numbers"),
    "dict of Json": (dict[pydantic.Json[int], int], "contentSchema", "keys that hold JSON are not built"),
    "Literal[bytes]": (Literal[b"a"], "unreadable_values", "JSON has no bytes"),
    "Enum of dates": (enum.Enum("Days", {"FIRST": dt.date(2020, 1, 1)}), "unreadable_values", "JSON has no dates"),
    "FilePath": (pydantic.FilePath, "function", "whether a file exists is asked when the answer is read"),
    "DirectoryPath": (pydantic.DirectoryPath, "function", "the same"),
    "NewPath": (pydantic.NewPath, "function", "the same"),
    "SocketPath": (pydantic.SocketPath, "function", "the same"),
    "ImportString": (pydantic.ImportString, "function", "it runs what it names"),
    "PaymentCardNumber": (pydantic.types.PaymentCardNumber, "function", "its check digit is a sum over all others"),
    "HttpUrl, max_length": (bounded(pydantic.HttpUrl, max_length=600), "length", "of what the parser makes of it"),
    "Path, max_length": (bounded(pathlib.Path, max_length=9), "length", "a path has no length"),
    "UrlConstraints, short": (
        Annotated[pydantic.AnyUrl, pydantic.UrlConstraints(max_length=40)],
        "max_length",
        "a host may be longer",
    ),
    "base 64 of base 64": (EncodedTwice, "function", "what is decoded is no longer the text"),
    "configuration of an alias": (Short, "configured_alias", "which configuration holds depends on Pydantic's state"),
    "configuration of a shared dataclass": (Sharing, "configured_alias", "the same"),
    "one alias for two": (Shared, "ambiguous_aliases", "one value would be read for both"),
    "an alias inside another field": (Preferred, "ambiguous_aliases", "the other field's value would be preferred"),
    "AliasPath": (Deep, "validation_alias", "what it lies in is described nowhere"),
    "json_schema_extra, less": (Rewritten, "claimed", "the JSON Schema allows what is rejected"),
    "json_schema_extra, other": (Contradicted, "claimed", "the same"),
    "WithJsonSchema": (Annotated[int, pydantic.WithJsonSchema({"type": "string"})], "claimed", "the same"),
    "json_schema_extra, unknown": (Unknown, "mask", "it may be a rule"),
    "names of additional members": (Keyed, "extras_keys", "they would have to differ from fields and keep a rule"),
    "Callable": (typing.Callable, None, "no JSON value is one"),
    "type": (type[int], None, "no JSON value is one"),
    "Never": (typing.Never, None, "nothing is one"),
    "timezone": (dt.timezone, None, "Pydantic does not describe it"),
}
"""Every kind that is refused, by a name: the type, the keyword at fault, and why."""
