"""The formats of strings as patterns of their characters, without quotes and without the escapes of JSON.

A name may mean two things. `SPECIFIED_FORMATS` has the formats of JSON Schema (validation §7.3 and earlier drafts): a
text that matches is valid by the RFC named there. `PYDANTIC_FORMATS` has those of Pydantic's schemas: it accepts what
matches. Where a language is not regular, or depends on tables that Python lacks, the pattern generates a part of it, as
the modules say. `COVERED_FORMATS` has patterns of no less than all texts of a format, for schemas that deny it.

A pattern is built when a schema first names its format.

Unsupported are formats that Pydantic checks against the machine (`file-path` and `directory-path` have to exist, and
`zoneinfo` depends on an installed database), and `color` of draft 3, which refers to all of CSS 2.1.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from structured.regex import Pattern

__all__ = ["COVERED_FORMATS", "PYDANTIC_FORMATS", "SPECIFIED_FORMATS", "FormatTable", "format_pattern"]


class FormatTable(Mapping[str, Pattern]):
    """Patterns by the names of their formats, each built when it is first looked up.

    A source is a path for `format_pattern`, alone or with the arguments of a function.
    """

    def __init__(self, sources: Mapping[str, str | tuple[Any, ...]]) -> None:
        self._sources = sources
        self._patterns: dict[str, Pattern] = {}

    def __getitem__(self, name: str) -> Pattern:
        if name not in self._patterns:
            source = self._sources[name]
            self._patterns[name] = format_pattern(*([source] if isinstance(source, str) else source))
        return self._patterns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._sources

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


def format_pattern(path: str, *arguments: Any, **options: Any) -> Pattern:
    """Return a pattern of this package, `module.NAME`, or what a function of it returns."""
    module, _, name = path.rpartition(".")
    member: Any = getattr(import_module(f"{__name__}.{module}"), name)
    pattern: Pattern = member(*arguments, **options) if callable(member) else member
    return pattern


SPECIFIED_FORMATS = FormatTable(
    {
        "date": "temporal.DATE",
        "date-time": "temporal.RFC_3339_DATE_TIME",
        "time": "temporal.RFC_3339_TIME",
        "duration": "temporal.duration",
        "email": "locators.email",
        "idn-email": "locators.idn_email",
        "hostname": "hosts.HOSTNAME",
        "host-name": "hosts.HOSTNAME",
        "idn-hostname": "hosts.idn_hostname",
        "ipv4": "hosts.IPV4",
        "ip-address": "hosts.IPV4",
        "ipv6": "hosts.IPV6",
        "uri": ("locators.identifier", "uri"),
        "uri-reference": ("locators.identifier", "uri-reference"),
        "iri": ("locators.identifier", "iri"),
        "iri-reference": ("locators.identifier", "iri-reference"),
        "uuid": "text_formats.UUID",
        "uri-template": "locators.uri_template",
        "json-pointer": "text_formats.JSON_POINTER",
        "relative-json-pointer": "text_formats.RELATIVE_JSON_POINTER",
        "regex": "text_formats.regular_expression",
    }
)
"""`host-name` and `ip-address` are the names of draft 3."""

COVERED_FORMATS = FormatTable(
    {
        "ipv4": "hosts.IPV4",
        "ipv6": "hosts.IPV6",
        "json-pointer": "text_formats.JSON_POINTER",
        "uri": ("locators.identifier", "uri"),
        "uri-reference": ("locators.identifier", "uri-reference"),
        "uuid": "text_formats.UUID",
        "date": "temporal.possible_date",
        "date-time": "temporal.possible_date_time",
        "time": "temporal.possible_time",
        "email": "locators.WITH_AN_AT",
        "idn-email": "locators.WITH_AN_AT",
        "hostname": "hosts.CHARACTERS_OF_HOSTS",
    }
)
"""Patterns that contain every text of a format. Where a format is denied, none of these texts is written. Valid texts
that are lost so: a text with an `@` that is not an address, one with the characters of a host's name that is not a
name, and any time with a 60th second."""

PYDANTIC_FORMATS = FormatTable(
    {
        "date": "temporal.DATE",
        "date-time": "temporal.DATE_TIME",
        "time": "temporal.TIME",
        "duration": "temporal.timedelta",
        "uuid": "text_formats.UUID",
        **{f"uuid{version}": ("text_formats.uuid", version) for version in (1, 3, 4, 5, 6, 7, 8)},
        "ipv4": "hosts.IPV4",
        "ipv6": "hosts.IPV6",
        "ipvanyaddress": "hosts.IP",
        "ipv4network": "hosts.ipv4_network",
        "ipv6network": "hosts.ipv6_network",
        "ipvanynetwork": "hosts.ip_network",
        "ipv4interface": "hosts.IPV4_INTERFACE",
        "ipv6interface": "hosts.IPV6_INTERFACE",
        "ipvanyinterface": "hosts.IP_INTERFACE",
        "email": "locators.deliverable_email",
        "name-email": "locators.name_email",
        "uri": "locators.url",
        "multi-host-uri": "locators.multi_host_url",
        "base64": ("text_formats.base64_text", "base64"),
        "base64url": ("text_formats.base64_text", "base64url"),
        "hex": "text_formats.hex_text",
        "binary": "text_formats.TEXT",
        "password": "text_formats.TEXT",
        "json-string": "text_formats.json_text",
        "byte-size": "text_formats.BYTE_SIZE",
        "path": "text_formats.PATH",
        "fraction": "text_formats.FRACTION",
        "complex": "text_formats.COMPLEX",
        "regex": "text_formats.regular_expression",
    }
)
"""`byte-size`, `complex` and `json-string` are names of this library: Pydantic's schemas say `string`."""
