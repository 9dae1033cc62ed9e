"""Functions in a core schema: the keywords that say what is known of each."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from pydantic.types import Base64Encoder, Base64UrlEncoder

from structured.json_schema.document.location import VALIDATORS

FUNCTION = "function"
"""The keyword under which the name of a library's function stands of which no format says what it accepts."""

_LIBRARIES = frozenset({"ipaddress", "pydantic", "pydantic_extra_types"})

_SAID_BY_A_FORMAT = frozenset(
    {
        *("EmailStr._validate", "NameEmail._validate", "path_validator", "ByteSize._validate"),
        "wrap_val",
        *("SecretStr", "SecretBytes", "Secret.__get_pydantic_core_schema__.<locals>.<lambda>"),
        *("IPv4Address", "IPv4Interface", "IPv4Network", "IPv6Address", "IPv6Interface", "IPv6Network"),
        *("IPvAnyAddress._validate", "IPvAnyInterface._validate", "IPvAnyNetwork._validate"),
        *("ip_v4_address_validator", "ip_v4_interface_validator", "ip_v4_network_validator"),
        *("ip_v6_address_validator", "ip_v6_interface_validator", "ip_v6_network_validator"),
        *("pattern_either_validator", "pattern_str_validator", "pattern_bytes_validator"),
        *("validate_str_is_valid_iana_tz", "defaultdict_validator", "sequence_validator"),
        "forbid_inf_nan_check",
    }
)
"""Functions of Pydantic that accept whatever the schema beside them allows."""

_DECODERS = frozenset({"EncodedBytes.decode", "EncodedStr.decode_str"})
_CHANGES_LENGTH = _DECODERS | {"wrap_val", "ByteSize._validate"}
"""Functions of Pydantic after which a value is no longer as long as the text."""

_WRITTEN_BY_USERS = frozenset({"val_func"})
"""Functions that Pydantic makes of those that a user wrote: `annotated_types.Predicate`."""


def said_of(function: Any) -> dict[str, Any]:
    """Return the keywords that stand for a function: a note, the constraints that it checks, or its name.

    `partial(min_length_validator, min_length=2)` → `{"min_length": 2}`
    """
    plain = function.func if isinstance(function, partial) else function
    name = _qualified_name(plain)
    if _library(plain) not in _LIBRARIES or name in _WRITTEN_BY_USERS:
        return {VALIDATORS: [_shown(name)]}
    if is_decoder(plain):
        return {"decodes_to": "str"} if name == "EncodedStr.decode_str" else {}
    if name in _SAID_BY_A_FORMAT:
        return {}
    if isinstance(function, partial) and function.keywords:
        return {key: value for key, value in function.keywords.items() if value is not None}
    return {FUNCTION: name}


def is_of_pydantic(function: Any) -> bool:
    """Tell whether a function that makes a JSON Schema is Pydantic's own, and was not configured by a user."""
    return _library(function) == "pydantic" and getattr(function, "__module__", "") != "pydantic.json_schema"


def is_mark(function: Any) -> bool:
    """Tell whether a function that makes a JSON Schema is one of this library, which adds a mark to it."""
    return _library(function) == "structured"


def _library(function: Any) -> str:
    return str(getattr(function, "__module__", "")).partition(".")[0]


def _is_base64(function: Any) -> bool:
    return function.__self__.encoder in (Base64Encoder, Base64UrlEncoder)


def changes_length(function: Any) -> bool:
    """Tell whether a function of Pydantic makes a value of another length."""
    return _qualified_name(function.func if isinstance(function, partial) else function) in _CHANGES_LENGTH


def is_decoder(function: Any) -> bool:
    """Tell whether a function decodes base 64, as Pydantic's `Base64Bytes` and `Base64Str` do."""
    return _library(function) == "pydantic" and _qualified_name(function) in _DECODERS and _is_base64(function)


def said_of_length(function: Any) -> dict[str, int]:
    """Return the least or the greatest length that a function of Pydantic checks: `{"min_length": 2}`."""
    if not isinstance(function, partial) or _library(function.func) not in _LIBRARIES:
        return {}
    return {key: length for key, length in function.keywords.items() if key in ("max_length", "min_length")}


def reads_byte_sizes(function: Any) -> bool:
    """Tell whether a function is that of Pydantic's `ByteSize`."""
    return _library(function) == "pydantic" and _qualified_name(function) == "ByteSize._validate"


def noted(shown: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with what is said of a function, the names of validators added to those that are there."""
    names = [*shown.get(VALIDATORS, []), *said.get(VALIDATORS, [])]
    said = {keyword: value for keyword, value in said.items() if keyword != VALIDATORS}
    return {**shown, **said, **({VALIDATORS: names} if names else {})}


def _qualified_name(function: Any) -> str:
    name = str(getattr(function, "__qualname__", type(function).__qualname__))
    within, _, own = name.rpartition("<locals>.")
    return name if own == "<lambda>" and within else own


def _shown(name: str) -> str:
    """Return a function's name as its author wrote it: `Adult.of_age`, `<lambda>`."""
    own = name.rpartition("<locals>.")[2]
    return "Predicate" if own == "val_func" else own  # what Pydantic calls that of `annotated_types.Predicate`
