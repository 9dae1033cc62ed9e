"""The formats of strings as patterns of their characters, without quotes and without the escapes of JSON.

There are two tables, since a name may mean two things. `SPECIFIED_FORMATS` has the formats of JSON Schema (validation
§7.3 and earlier drafts): a text that matches is valid by the RFC named there. `PYDANTIC_FORMATS` has the formats that
Pydantic's schemas name: Pydantic accepts a text that matches. Where a language is not regular, or depends on tables
that Python lacks, the pattern generates a part of it; the docstrings of the modules say which.

Unsupported are formats that Pydantic checks against the machine (`file-path` and `directory-path` have to exist, and
`zoneinfo` depends on an installed database), and `color` of draft 3, which refers to all of CSS 2.1.
"""

from structured.json_schema.strings.formats.alphabets import LETTER_OR_DIGIT, both
from structured.json_schema.strings.formats.hosts import (
    HOSTNAME,
    IDN_HOSTNAME,
    IP,
    IP_INTERFACE,
    IP_NETWORK,
    IPV4,
    IPV4_INTERFACE,
    IPV4_NETWORK,
    IPV6,
    IPV6_INTERFACE,
    IPV6_NETWORK,
)
from structured.json_schema.strings.formats.locators import (
    DELIVERABLE_EMAIL,
    EMAIL,
    IDN_EMAIL,
    IRI,
    IRI_REFERENCE,
    NAME_EMAIL,
    URI,
    URI_REFERENCE,
    URI_TEMPLATE,
    multi_host_url,
    url,
)
from structured.json_schema.strings.formats.temporal import (
    DATE,
    DATE_TIME,
    DURATION,
    POSSIBLE_DATE,
    POSSIBLE_DATE_TIME,
    POSSIBLE_TIME,
    RFC_3339_DATE_TIME,
    RFC_3339_TIME,
    TIME,
    TIMEDELTA,
)
from structured.json_schema.strings.formats.text_formats import (
    BYTE_SIZE,
    COMPLEX,
    DECIMAL,
    FRACTION,
    JSON_POINTER,
    JSON_TEXT,
    PATH,
    REGEX,
    RELATIVE_JSON_POINTER,
    TEXT,
    UUID,
    base64_text,
    hex_text,
    uuid,
)
from structured.regex import Pattern, chars, concat, literal, repeat
from structured.regex.syntax import ANY_CHARACTER

__all__ = [
    "ALL_OF_FORMATS",
    "PYDANTIC_FORMATS",
    "SPECIFIED_FORMATS",
    "base64_text",
    "hex_text",
    "multi_host_url",
    "url",
]

SPECIFIED_FORMATS: dict[str, Pattern] = {
    "date": DATE,
    "date-time": RFC_3339_DATE_TIME,
    "time": RFC_3339_TIME,
    "duration": DURATION,
    "email": EMAIL,
    "idn-email": IDN_EMAIL,
    "hostname": HOSTNAME,
    "host-name": HOSTNAME,
    "idn-hostname": IDN_HOSTNAME,
    "ipv4": IPV4,
    "ip-address": IPV4,
    "ipv6": IPV6,
    "uri": URI,
    "uri-reference": URI_REFERENCE,
    "iri": IRI,
    "iri-reference": IRI_REFERENCE,
    "uuid": UUID,
    "uri-template": URI_TEMPLATE,
    "json-pointer": JSON_POINTER,
    "relative-json-pointer": RELATIVE_JSON_POINTER,
    "regex": REGEX,
}
"""`host-name` and `ip-address` are the names of draft 3."""

_EXACT = ("ipv4", "ipv6", "json-pointer", "uri", "uri-reference", "uuid")
_WITH_AN_AT = concat(repeat(ANY_CHARACTER, 1, None), literal("@"), repeat(ANY_CHARACTER, 1, None))
_OF_A_HOST = repeat(both(LETTER_OR_DIGIT, chars("-.")), 1, None)

ALL_OF_FORMATS: dict[str, Pattern] = {name: SPECIFIED_FORMATS[name] for name in _EXACT} | {
    "date": POSSIBLE_DATE,
    "date-time": POSSIBLE_DATE_TIME,
    "time": POSSIBLE_TIME,
    "email": _WITH_AN_AT,
    "idn-email": _WITH_AN_AT,
    "hostname": _OF_A_HOST,
}
"""Patterns that contain every text of a format. Where a format is denied, none of these texts is written. Valid texts
that are lost so: a text with an `@` that is not an address, one with the characters of a host's name that is not a
name, and any time with a 60th second."""

PYDANTIC_FORMATS: dict[str, Pattern] = {
    "date": DATE,
    "date-time": DATE_TIME,
    "time": TIME,
    "duration": TIMEDELTA,
    "uuid": UUID,
    **{f"uuid{version}": uuid(version) for version in (1, 3, 4, 5, 6, 7, 8)},
    "ipv4": IPV4,
    "ipv6": IPV6,
    "ipvanyaddress": IP,
    "ipv4network": IPV4_NETWORK,
    "ipv6network": IPV6_NETWORK,
    "ipvanynetwork": IP_NETWORK,
    "ipv4interface": IPV4_INTERFACE,
    "ipv6interface": IPV6_INTERFACE,
    "ipvanyinterface": IP_INTERFACE,
    "email": DELIVERABLE_EMAIL,
    "name-email": NAME_EMAIL,
    "uri": url(),
    "multi-host-uri": multi_host_url(),
    "base64": base64_text("base64"),
    "base64url": base64_text("base64url"),
    "hex": hex_text(),
    "binary": TEXT,
    "password": TEXT,
    "json-string": JSON_TEXT,
    "byte-size": BYTE_SIZE,
    "path": PATH,
    "decimal": DECIMAL,
    "fraction": FRACTION,
    "complex": COMPLEX,
    "regex": REGEX,
}
"""`byte-size`, `complex`, `decimal` and `json-string` are names of this library: Pydantic's schemas say `string`."""
