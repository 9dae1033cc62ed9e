"""What the pattern of a format matches is valid: Pydantic and the official suite agree; what is given up is listed."""

import base64
import binascii
import datetime as dt
import fractions
import ipaddress
import json
import pathlib
import random
import re
import shutil
import subprocess
import uuid
import zipfile
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    Base64Bytes,
    Base64UrlBytes,
    ByteSize,
    ConfigDict,
    Json,
    RootModel,
    SecretBytes,
    TypeAdapter,
    networks,
    types,
)
from pydantic_core import MultiHostUrl, from_json
from strategies import CHARACTERS, random_text
from walks import accepted

from structured.automata import RegularAutomaton
from structured.automata.dfa.alternating import PatternLanguage
from structured.errors import PatternError
from structured.json_schema.strings.formats import PYDANTIC_FORMATS, SPECIFIED_FORMATS, locators
from structured.json_schema.strings.formats.locators import multi_host_url, url
from structured.json_schema.strings.formats.text_formats import base64_text, hex_text
from structured.regex import Alternation, Concat, Iteration, Pattern, Reference, nodes_of

SUITE = pathlib.Path(__file__).parents[3] / "shared" / "json-schema-test-suite" / "suite.zip"

ENCODINGS: dict[Callable[..., bytes], Callable[..., Pattern]] = {
    base64.b64encode: partial(base64_text, "base64"),
    base64.urlsafe_b64encode: partial(base64_text, "base64url"),
    binascii.hexlify: hex_text,
}


class HexBytes(RootModel[bytes]):
    model_config = ConfigDict(val_json_bytes="hex", ser_json_bytes="hex")


TYPES: dict[str, Any] = {
    "date": dt.date,
    "date-time": dt.datetime,
    "time": dt.time,
    "duration": dt.timedelta,
    "uuid": uuid.UUID,
    **{f"uuid{version}": getattr(types, f"UUID{version}") for version in (1, 3, 4, 5, 6, 7, 8)},
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "ipvanyaddress": networks.IPvAnyAddress,
    "ipv4network": ipaddress.IPv4Network,
    "ipv6network": ipaddress.IPv6Network,
    "ipvanynetwork": networks.IPvAnyNetwork,
    "ipv4interface": ipaddress.IPv4Interface,
    "ipv6interface": ipaddress.IPv6Interface,
    "ipvanyinterface": networks.IPvAnyInterface,
    "uri": networks.AnyUrl,
    "multi-host-uri": MultiHostUrl,
    "base64": Base64Bytes,
    "base64url": Base64UrlBytes,
    "hex": HexBytes,
    "binary": bytes,
    "password": SecretBytes,
    "json-string": Json,
    "byte-size": ByteSize,
    "path": pathlib.Path,
    "fraction": fractions.Fraction,
    "complex": complex,
    "regex": re.Pattern,
}

SINGLE_HOST = (
    "AnyUrl",
    "AnyHttpUrl",
    "HttpUrl",
    "AnyWebsocketUrl",
    "WebsocketUrl",
    "FileUrl",
    "FtpUrl",
    "CockroachDsn",
    "AmqpDsn",
    "RedisDsn",
    "KafkaDsn",
    "MySQLDsn",
    "MariaDBDsn",
    "ClickHouseDsn",
    "SnowflakeDsn",
)
MULTI_HOST = ("PostgresDsn", "MongoDsn", "NatsDsn")

GIVEN_UP = {
    "A-labels: no pattern tells whether Punycode is valid": {
        *("xn--9n2bp8q.xn--9t4b11yi5a", "xn--zca29lwxobi7a", "xn--qmbc", "xn--ll-0ea", "xn--wva3je", "xn--4dbc5h"),
        *("xn--4dbc8h", "xn--k8j5u", "xn--bck0j", "xn--vek778f", "xn--ngba1o", "xn--0-gyc", "xn--11b2ezcw70k"),
        *("xn--11b2ezcs70k", "xn--ngba5hb2804a", "xn--ihqwcrb4cv8a8dqg056pqjye", "xn--4gbwdl.xn--wgbh1c"),
    },
    "Hyphens in the third and fourth place: valid before draft 7, since then but for A-labels not": {"ab--cd.example"},
    "Joining types, which unicodedata does not tell": {"بي‌بي"},
    "U-labels of more than 11 characters: some are too long in Punycode": {
        f"{'παράδειγμα' * 5}πα{dot}com" for dot in ".。．｡"
    },
    "Domains that normalization would change": {"user@cafe\u0301.com"},
    "Regular expressions that Python does not read": {
        *("(?<name>x)", "(?<n>a)\\k<n>", "(?<=a+)b", "[]", "[^]", "\\cA", "(?<=foo)bar"),
    },
    "Times without an offset: valid in draft 3 alone": {"08:30:06"},
}  # fmt: skip
"""The valid texts of the official suite that no pattern matches."""


def text_of(pattern: Pattern, source: random.Random) -> str:
    """Return a random text: repeated parts are few, or now and then as many as there may be."""
    match pattern:
        case Reference():
            return text_of(pattern.target, source)
        case Concat(parts):
            return "".join(text_of(part, source) for part in parts)
        case Alternation(options):
            return text_of(source.choice(options), source)
        case Iteration(item, minimum, maximum):
            most = minimum + 3 if maximum is None else maximum
            few = source.randint(minimum, min(most, minimum + 3))
            count = source.choice((minimum, few, most if source.random() < 0.3 else few))
            return "".join(text_of(item, source) for _ in range(count))
        case _:
            return random_text(pattern, source)


def texts_of(pattern: Pattern, count: int = 300, seed: int = 0) -> list[str]:
    source = random.Random(seed)
    return [text_of(pattern, source) for _ in range(count)]


@cache
def compiled(pattern: Pattern) -> re.Pattern[str]:
    return re.compile(str(pattern))


def matches(name: str, text: str) -> bool:
    """Tell whether the pattern of one of Pydantic's formats matches."""
    return compiled(PYDANTIC_FORMATS[name]).fullmatch(text) is not None


def assert_canonical(name: str, value: Any) -> None:
    """The text that Pydantic writes for a value matches."""
    text = from_json(TypeAdapter(TYPES[name]).dump_json(value))
    assert matches(name, text), text


@cache
def suite() -> list[tuple[str, str, bool]]:
    """Return the format, the text and whether it is valid, of each test of the official suite's formats."""
    if not SUITE.is_file():
        pytest.skip("The official suite is not beside the repository, in shared/json-schema-test-suite.")
    found: dict[tuple[str, str, bool], None] = {}
    with zipfile.ZipFile(SUITE) as archive:
        for name in archive.namelist():
            if re.match(r"tests/[^/]+/(optional/)?format/[^/]+\.json$", name):
                for group in json.loads(archive.read(name)):
                    schema = group["schema"] if isinstance(group["schema"], dict) else {}
                    for test in group["tests"]:
                        if schema.get("format") in SPECIFIED_FORMATS and isinstance(test["data"], str):
                            found[schema["format"], test["data"], test["valid"]] = None
    return list(found)


@pytest.mark.thorough
def test_no_invalid_text_of_the_suite_matches() -> None:
    """In no draft, unless another draft calls it valid."""
    valid = {(name, text) for name, text, is_valid in suite() if is_valid}
    accepted = [
        (name, text)
        for name, text, is_valid in suite()
        if not is_valid and (name, text) not in valid and compiled(SPECIFIED_FORMATS[name]).fullmatch(text)
    ]
    assert accepted == []


def test_what_drafts_disagree_about_is_left_out() -> None:
    """A text that is valid in one draft and invalid in another does not match."""
    verdicts: dict[tuple[str, str], set[bool]] = {}
    for name, text, is_valid in suite():
        verdicts.setdefault((name, text), set()).add(is_valid)
    disputed = [key for key, found in verdicts.items() if len(found) == 2]
    assert [key for key in disputed if compiled(SPECIFIED_FORMATS[key[0]]).fullmatch(key[1])] == []


def test_every_valid_text_of_the_suite_matches_but_those_given_up() -> None:
    """And each of the texts listed as given up is really missing."""
    missing = {text for name, text, valid in suite() if valid and not compiled(SPECIFIED_FORMATS[name]).fullmatch(text)}
    assert missing == set().union(*GIVEN_UP.values())


@pytest.mark.parametrize("table", [SPECIFIED_FORMATS, PYDANTIC_FORMATS], ids=["specification", "pydantic"])
def test_patterns_are_small(table: dict[str, Pattern]) -> None:
    """None has more than some thousand nodes, and one address of version 6 fewer than 300."""
    sizes = {name: len(nodes_of(pattern)) for name, pattern in table.items()}
    assert max(sizes.values()) < 1500
    assert sizes["ipv6"] < 100


@pytest.mark.thorough
@pytest.mark.parametrize(
    "pattern",
    [*SPECIFIED_FORMATS.values(), *PYDANTIC_FORMATS.values()],
    ids=[*SPECIFIED_FORMATS, *(f"pydantic {name}" for name in PYDANTIC_FORMATS)],
)
def test_automata_read_what_patterns_match(pattern: Pattern) -> None:
    """To the end, and take it there."""
    automaton = RegularAutomaton(pattern)
    assert [text for text in texts_of(pattern, count=20) if not accepted(automaton, text.encode())] == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", TYPES)
def test_pydantic_reads_every_text(name: str) -> None:
    """Whatever the pattern matches is accepted."""
    adapter = TypeAdapter(TYPES[name])
    for text in texts_of(PYDANTIC_FORMATS[name]):
        adapter.validate_json(json.dumps(text))


def test_every_format_of_pydantic_is_tested() -> None:
    """But the two of mail, which need a package: they have tests of their own."""
    assert set(PYDANTIC_FORMATS) - set(TYPES) == {"email", "name-email"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*SINGLE_HOST, *MULTI_HOST])
def test_locators_with_constraints(name: str) -> None:
    """Pydantic's own types accept what is written for their schemes, and it is short enough."""
    kind = getattr(networks, name)
    limits = kind._constraints
    schemes = None if limits.allowed_schemes is None else tuple(limits.allowed_schemes)
    if name in MULTI_HOST:
        pattern = multi_host_url(schemes)
    else:
        pattern = url(schemes, host_required=bool(limits.host_required), max_length=limits.max_length)
    adapter = TypeAdapter(kind)
    for text in texts_of(pattern):
        adapter.validate_json(json.dumps(text))


def test_locators_may_need_a_host() -> None:
    """Whatever their scheme; and a limit of their length that leaves no room is refused."""
    for text in texts_of(url(host_required=True)):
        assert networks.AnyUrl(text).host, text
    with pytest.raises(PatternError, match="at most 100 characters"):
        url(max_length=100)
    with pytest.raises(PatternError):
        url(("file",), host_required=True)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "https://www.example.com/a/b?c=d&e#f",
            "http://localhost:8000/",
            "mailto:ana@example.com",
            "urn:isbn:0451450523",
        ),
        *("ftp://user:secret@ftp.example.org/file.txt", "http://[::1]:80/", "http://192.168.0.1/", "file:///etc/hosts"),
        *(
            "redis://:secret@my_cache:6379/0",
            "jdbc:x",
            "data:text/plain,hello%20there",
            "tel:+1-816-555-1212",
        ),
    ],
)
def test_ordinary_locators_match(text: str) -> None:
    """As themselves."""
    assert matches("uri", text)


def test_locators_of_databases_match() -> None:
    """With one host or several."""
    postgres = compiled(multi_host_url(("postgresql", "postgresql+asyncpg")))
    for text in ("postgresql://u:p@db:5432/name", "postgresql+asyncpg://u@a.example:1,b.example:2/name?x=1"):
        assert postgres.fullmatch(text)
    assert not postgres.fullmatch("mysql://u:p@db/name")


OFFSETS = st.none() | st.integers(-24 * 60 + 1, 24 * 60 - 1).map(lambda count: dt.timezone(dt.timedelta(minutes=count)))
ENDS_OF_TIME = [
    dt.timedelta.min,
    dt.timedelta.max,
    dt.timedelta(days=999_999_990),
    -dt.timedelta(days=999_999_998, microseconds=1),
]


@given(st.times(timezones=OFFSETS))
def test_times_in_canonical_spelling(value: dt.time) -> None:
    """With and without an offset."""
    assert_canonical("time", value)


@given(st.timedeltas() | st.sampled_from(ENDS_OF_TIME) | st.timedeltas(dt.timedelta(0), dt.timedelta(days=3)))
def test_durations_in_canonical_spelling(value: dt.timedelta) -> None:
    """To the ends of `timedelta`."""
    assert_canonical("duration", value)


@pytest.mark.parametrize(
    "text", ["P2W", "PT36H", "P90D", "P1Y6M", "PT0S", "P1DT12H", "PT1.5S", "-P1D", "P2739726Y9DT23H"]
)
def test_durations_in_other_spellings(text: str) -> None:
    """Weeks, months, more hours than a day has."""
    assert matches("duration", text)


@pytest.mark.parametrize(
    "text", ["P", "PT", "P1DT", "-P2739726Y9DT1S", "P2739727Y", "P2739726Y10D", "1D", "P1S", "PT1D"]
)
def test_durations_that_are_none(text: str) -> None:
    """Nothing, units out of place, and what `timedelta` cannot hold."""
    assert not matches("duration", text)


@given(st.uuids())
def test_identifiers_in_canonical_spelling(value: uuid.UUID) -> None:
    """Each matches the pattern of its version and of no other."""
    assert_canonical("uuid", value)
    for version in (1, 3, 4, 5, 6, 7, 8):
        assert matches(f"uuid{version}", str(value)) == (value.version == version)


@pytest.mark.thorough
@given(st.ip_addresses(v=4), st.integers(0, 32))
def test_addresses_of_version_4_in_canonical_spelling(value: ipaddress.IPv4Address, length: int) -> None:
    """And their interfaces and networks; what has bits behind the prefix is no network."""
    interface = ipaddress.IPv4Interface((value, length))
    for version in ("4", "any"):
        assert_canonical(f"ipv{version}interface", interface)
        assert_canonical(f"ipv{version}network", interface.network)
        assert matches(f"ipv{version}network", str(interface)) == (interface.network.network_address == value)
    assert_canonical("ipv4", value)
    assert_canonical("ipvanyaddress", value)


ZERO_GROUPS = st.lists(st.sampled_from([0, 0, 0, 1, 0x8000, 0xFFFF, 0xA0]), min_size=8, max_size=8)


@pytest.mark.thorough
@given(
    st.ip_addresses(v=6)
    | ZERO_GROUPS.map(lambda groups: ipaddress.IPv6Address(b"".join(g.to_bytes(2, "big") for g in groups))),
    st.integers(0, 128),
)
def test_addresses_of_version_6_in_canonical_spelling(value: ipaddress.IPv6Address, length: int) -> None:
    """And their interfaces and networks, wherever `::` stands."""
    interface = ipaddress.IPv6Interface((value, length))
    for version in ("6", "any"):
        assert_canonical(f"ipv{version}interface", interface)
        assert_canonical(f"ipv{version}network", interface.network)
        assert matches(f"ipv{version}network", str(interface)) == (interface.network.network_address == value)
        assert matches(f"ipv{version}network", f"{value.exploded}/128")
    assert_canonical("ipv6", value)
    assert_canonical("ipvanyaddress", value)


def test_mapped_networks_may_end_like_version_4() -> None:
    """As Python writes them from 3.13 on."""
    assert matches("ipv6network", "::ffff:1.2.3.0/120")
    assert not matches("ipv6network", "::ffff:1.2.3.0/119")


@given(st.binary(max_size=20))
def test_bytes_in_canonical_spelling(value: bytes) -> None:
    """In both alphabets of base 64."""
    assert_canonical("base64", value)
    assert_canonical("base64url", value)


@given(
    st.binary(max_size=14),
    st.integers(0, 8),
    st.none() | st.integers(0, 5),
    st.sampled_from([*ENCODINGS]),
    st.booleans(),
)
def test_texts_of_bytes_of_some_length(
    value: bytes, fewest: int, more: int | None, encode: Callable[..., bytes], is_ascii: bool
) -> None:
    """They match if and only if there are as many bytes, and where it is asked for, none but of ASCII."""
    value = bytes(byte & 0x7F for byte in value) if is_ascii and len(value) % 2 else value
    most = None if more is None else fewest + more
    pattern = ENCODINGS[encode](fewest, most, is_ascii=is_ascii)
    is_right = fewest <= len(value) <= (len(value) if most is None else most) and (value.isascii() or not is_ascii)
    assert PatternLanguage(pattern).contains(encode(value).decode()) == is_right


@given(st.integers(0, 8), st.none() | st.integers(0, 5), st.sampled_from([*ENCODINGS]), st.booleans(), st.randoms())
def test_bytes_of_texts_are_of_the_length(
    fewest: int, more: int | None, encode: Callable[..., bytes], is_ascii: bool, source: random.Random
) -> None:
    """What is drawn is read, and written again as it was."""
    most = None if more is None else fewest + more
    text = random_text(ENCODINGS[encode](fewest, most, is_ascii=is_ascii), source)
    value = {base64.b64encode: base64.b64decode, base64.urlsafe_b64encode: base64.urlsafe_b64decode}.get(
        encode, binascii.unhexlify
    )(text)
    assert fewest <= len(value) <= (len(value) if most is None else most)
    assert encode(value).decode() == (text if encode is not binascii.hexlify else text.lower())
    assert value.isascii() or not is_ascii


@given(st.fractions())
def test_fractions_in_canonical_spelling(value: fractions.Fraction) -> None:
    """Whole numbers too."""
    assert_canonical("fraction", value)


@given(st.complex_numbers(allow_nan=False, allow_infinity=False) | st.just(complex(5e-324, -1.7976931348623157e308)))
def test_complex_numbers_in_canonical_spelling(value: complex) -> None:
    """However small or great."""
    assert_canonical("complex", value)


@given(st.text(CHARACTERS).filter(lambda text: "\0" not in text))
def test_paths_in_canonical_spelling(text: str) -> None:
    """Any but with a zero byte."""
    assert_canonical("path", pathlib.Path(text))
    assert_canonical("binary", text.encode())


def bounded_json() -> st.SearchStrategy[Any]:
    finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
    scalars = st.none() | st.booleans() | st.integers(1 - 10**18, 10**18 - 1) | finite | st.text(CHARACTERS, max_size=5)
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(CHARACTERS, max_size=3), inner, max_size=3),
        max_leaves=8,
    )


JSON_AUTOMATON = RegularAutomaton(PYDANTIC_FORMATS["json-string"])


@given(bounded_json())
def test_json_texts_in_canonical_spelling(value: Any) -> None:
    """As `json.dumps` writes them, compact and spaced."""
    assert accepted(JSON_AUTOMATON, json.dumps(value, ensure_ascii=False).encode())
    assert accepted(JSON_AUTOMATON, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def test_json_texts_stop_somewhere() -> None:
    """Before Pydantic's parser does; the greatest and the smallest double are within."""
    assert accepted(JSON_AUTOMATON, json.dumps([1.7976931348623157e308, -5e-324]).encode())
    assert accepted(JSON_AUTOMATON, ("[" * 17 + "]" * 17).encode())
    assert not accepted(JSON_AUTOMATON, ("[" * 18 + "]" * 18).encode())


def test_sizes_with_every_unit() -> None:
    """In their usual spelling."""
    for text in ("1", "1.5", "1B", "1.5 GiB", "20 Kbit", "3EB"):
        assert matches("byte-size", text)
    assert not matches("byte-size", "1 ZB")


def is_deliverable(text: str) -> bool:
    """Tell what `email-validator` would say of an address in ASCII; the rules are those of its documentation."""
    local, _, domain = text.rpartition("@")
    labels = domain.split(".")
    return (
        len(text) <= 254
        and re.fullmatch(r"[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*", local, re.ASCII) is not None
        and len(local) <= 64
        and len(labels) > 1
        and len(domain) <= 253
        and all(re.fullmatch(r"(?!..--)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?", label) for label in labels)
        and re.fullmatch(r"[A-Za-z]+", labels[-1]) is not None
        and labels[-1].lower() not in {"arpa", "invalid", "local", "localhost", "onion", "test"}
    )


def test_mail_is_deliverable() -> None:
    """By the rules, and where the package is there, by the package."""
    texts = texts_of(PYDANTIC_FORMATS["email"], count=1000)
    assert [text for text in texts if not is_deliverable(text)] == []


def test_pydantic_reads_mail() -> None:
    """With and without a name."""
    pytest.importorskip("email_validator", reason="Pydantic reads mail with the package email-validator.")
    for name, kind in (("email", networks.EmailStr), ("name-email", networks.NameEmail)):
        adapter = TypeAdapter(kind)
        for text in texts_of(PYDANTIC_FORMATS[name]):
            adapter.validate_json(json.dumps(text))


def test_names_before_mail_are_taken_apart() -> None:
    """By the expression with which Pydantic does it, and what is in brackets is an address."""
    for text in texts_of(PYDANTIC_FORMATS["name-email"], count=500):
        found = networks.pretty_email_regex.fullmatch(text)
        assert is_deliverable(found.group(3) if found else text)
        assert "<" not in text or found


def test_alphabets_of_names_are_letters() -> None:
    """Each character of the ranges is one to `re`."""
    for low, high in locators._ALPHABETS.ranges:
        assert re.fullmatch(r"\w+", "".join(map(chr, range(low, high + 1))))


@pytest.mark.parametrize("text", ["ana.diaz@example.com", "a+b@x.co", "A_1@sub.domain.example.org", "x@tester.testing"])
def test_ordinary_mail_matches(text: str) -> None:
    """Names that only begin like a reserved one are free."""
    assert matches("email", text)
    assert matches("name-email", f"Ana Díaz <{text}>")
    assert compiled(SPECIFIED_FORMATS["email"]).fullmatch(text)


@pytest.mark.parametrize(
    "text",
    ["a@localhost", "a@b.test", "a@b.TeSt", "a@b.invalid", "a@b.local", "a@b.c1", "a@-b.com", ".a@b.com", "a@b..com"],
)
def test_mail_that_cannot_arrive_does_not_match(text: str) -> None:
    """Special-use names in any case, top-level domains with digits."""
    assert not matches("email", text)


@pytest.mark.parametrize("name", ["email", "idn-email"])
def test_parts_of_mail_are_short_enough(name: str) -> None:
    """RFC 5321 §4.5.3.1 counts octets, of a domain those of its form in ASCII."""
    idna = pytest.importorskip("idna", reason="It comes with packages that speak HTTP.")
    for text in texts_of(SPECIFIED_FORMATS[name], count=1000):
        local, _, domain = text.rpartition("@")
        assert len(local.encode()) <= 64
        assert len(domain if domain.startswith("[") else idna.encode(domain)) <= 189


def test_names_of_hosts_are_short_enough() -> None:
    """And their labels well formed."""
    for text in texts_of(SPECIFIED_FORMATS["hostname"], count=1000):
        assert len(text) <= 253
        for part in text.split("."):
            assert re.fullmatch(r"(?!..--)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?", part)


@pytest.mark.parametrize("name", ["hostname", "idn-hostname"])
def test_names_of_three_long_labels_match(name: str) -> None:
    """A label of 63 characters, and as many labels as names in use have."""
    pattern = compiled(SPECIFIED_FORMATS[name])
    for text in (".".join(["a" * 63] * 3), ".".join(["a" * 41] * 6), ".".join(["ab"] * 32), "e-x-a-m.p-l.e"):
        assert pattern.fullmatch(text)


def test_international_names_are_valid() -> None:
    """The package idna, which follows RFC 5891, encodes each; and the longest of them is not too long."""
    idna = pytest.importorskip("idna", reason="It comes with packages that speak HTTP.")
    for text in texts_of(SPECIFIED_FORMATS["idn-hostname"], count=3000):
        assert len(idna.encode(text)) <= 253


def test_international_labels_are_short_enough() -> None:
    """In Punycode: of every so many characters far apart, in every order that chance finds."""
    source = random.Random(0)
    for _ in range(3000):
        count = source.randint(1, 11)
        span = source.choice([0x700, 0x3100, 0xD7A4])
        text = "".join(chr(source.randint(0x80, span)) for _ in range(count))
        assert len(text.encode("punycode")) <= 5 * count


def test_both_languages_read_expressions() -> None:
    """Python compiles them without a warning, and so does ECMAScript, where Node.js is there to tell."""
    texts = texts_of(SPECIFIED_FORMATS["regex"], count=2000)
    for text in texts:
        re.compile(text)
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed.")
    script = "for (const text of JSON.parse(require('fs').readFileSync(0))) new RegExp(text, 'u')"
    subprocess.run([node, "-e", script], input=json.dumps(texts), text=True, check=True)
