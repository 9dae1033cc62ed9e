"""Locators as Pydantic's `AnyUrl` and its kin read them, by the URL Standard of WHATWG.

Pydantic's parser is lenient and rewrites what it reads. The pattern has what it writes: lower-case schemes, encoded
characters, the address of a host without odd forms. The schemes that the standard calls special always have a host,
which has to be a domain in ASCII or an address; the port is at most 65535; `file` has neither user nor port. A last
label that begins with a digit would be read as a number, so none does. Domains beyond ASCII, A-labels, characters that
the standard leaves alone though RFC 3986 has them encoded, which a strict parser rejects, and stray percent signs are
given up.
"""

from functools import partial

from structured.errors import PatternError
from structured.json_schema.numbers import integer_range
from structured.json_schema.strings.formats.addresses import IPV4, IPV6
from structured.json_schema.strings.formats.alphabets import LETTER, LETTER_OR_DIGIT, LOWER, both, less, words_but
from structured.json_schema.strings.formats.hosts import LONGEST_LABEL, LONGEST_NAME, label, parents
from structured.json_schema.strings.formats.resources import PERCENT_ENCODED, SUB_DELIMITERS, UNRESERVED
from structured.regex import CharSet, Pattern, alternation, chars, concat, literal, optional, repeat, words

SPECIAL_SCHEMES = ("ftp", "http", "https", "ws", "wss")
"""Those of the URL Standard §4.2, without `file`."""

LONGEST_SCHEME = 32
LONGEST_USER = 64
LONGEST_HEAD = LONGEST_SCHEME + len("://:@:65535") + 2 * LONGEST_USER + LONGEST_NAME
"""What stands before the path of a locator with one host."""

_MARK = literal("://")
_DOMAIN_CHARACTER = both(LETTER_OR_DIGIT, chars("_"))
_DOMAIN = concat(
    parents(LONGEST_NAME - LONGEST_LABEL, fewest=0, label=partial(label, other=_DOMAIN_CHARACTER)),
    label(LONGEST_LABEL, first=LETTER, other=_DOMAIN_CHARACTER),
)
_HOST = alternation(_DOMAIN, IPV4, concat(literal("["), IPV6, literal("]")))
_PORT = optional(concat(literal(":"), integer_range(0, 65535)))


def _user_host_port(*, user_character: CharSet) -> Pattern:
    user = repeat(user_character, 1, LONGEST_USER)
    with_password = concat(optional(user), literal(":"), user)
    return concat(optional(concat(alternation(user, with_password), literal("@"))), _HOST, _PORT)


_ONE_HOST = _user_host_port(user_character=both(UNRESERVED, SUB_DELIMITERS))
_OF_SEVERAL_HOSTS = _user_host_port(user_character=less(both(UNRESERVED, SUB_DELIMITERS), ","))
_SEVERAL_HOSTS = concat(_OF_SEVERAL_HOSTS, repeat(concat(literal(","), _OF_SEVERAL_HOSTS), 0, None))

_PLAIN = both(UNRESERVED, SUB_DELIMITERS, chars(":@/?"))


def url(
    schemes: tuple[str, ...] | None = None, *, host_required: bool = False, max_length: int | None = None
) -> Pattern:
    """Return locators with one of the schemes (None: any) that `pydantic.AnyUrl` accepts with these constraints.

    After a scheme that is named stands a host, required or not, unless it is `file`. A `max_length` below 500 raises
    PatternError, and so does a required host of `file` alone, which may have been its name for none, `localhost`.
    """
    if max_length is not None and max_length < 500:
        raise PatternError(
            f"A locator of at most {max_length} characters is not supported",
            pattern="",
            remedy="Allow 500 characters or more.",
        )
    room = None if max_length is None else max_length - LONGEST_HEAD
    options = []
    if schemes is None:
        other = _other_schemes()
        options.append(concat(alternation(words(SPECIAL_SCHEMES), other), _MARK, _ONE_HOST, _rest(room)))
        options += [] if host_required else [concat(other, _hostless(room))]
    elif set(schemes) != {"file"}:
        named = words(scheme for scheme in schemes if scheme != "file")
        options.append(concat(named, _MARK, _ONE_HOST, _rest(room)))
    if not host_required and (schemes is None or "file" in schemes):
        options.append(concat(literal("file://"), optional(_HOST), _rest(room)))
    return alternation(*options)


def multi_host_url(schemes: tuple[str, ...] | None = None) -> Pattern:
    """Return locators with one host or several and one of the schemes (None: any), as `PostgresDsn` reads them."""
    scheme = alternation(words(SPECIAL_SCHEMES), _other_schemes()) if schemes is None else words(schemes)
    return concat(scheme, _MARK, _SEVERAL_HOSTS, _rest(None))


def _other_schemes() -> Pattern:
    """Return the schemes that are not special."""
    return words_but((*SPECIAL_SCHEMES, "file"), LOWER, both(LOWER, chars("0123456789+-.")), LONGEST_SCHEME)


def _rest(room: int | None) -> Pattern:
    """Return a path or a query, or neither, and a fragment, or none: at most so many characters in all."""
    return concat(optional(concat(chars("/?"), _text(_most(room)))), _fragment(room))


def _hostless(room: int | None) -> Pattern:
    """Return what may follow a scheme that is not special, where there is no host: `:path`, `:/path`, `:///path`."""
    path = concat(alternation(less(_PLAIN, "/"), PERCENT_ENCODED), _text(_most(room)))
    bare = concat(optional(literal("/")), optional(path), _fragment(room))
    return concat(literal(":"), alternation(concat(literal("//"), _rest(room)), bare))


def _fragment(room: int | None) -> Pattern:
    return optional(concat(literal("#"), _text(None if room is None else room // 4)))


def _most(room: int | None) -> int | None:
    """Return what is left for a path and a query when there is a fragment."""
    return None if room is None else room - room // 4 - 4


def _text(longest: int | None) -> Pattern:
    """Return text of at most so many characters; where there is a limit, percent-encoded ones are a third as many."""
    encoded = alternation(_PLAIN, PERCENT_ENCODED)
    if longest is None:
        return repeat(encoded, 0, None)
    return alternation(repeat(_PLAIN, 0, longest), repeat(encoded, 0, longest // 3))
