"""Locators: URIs and IRIs of the specification, URLs of Pydantic, and mail addresses of both.

**URIs** (RFC 3986 appendix A, RFC 3987 §2.2 beyond ASCII, RFC 6570 for templates). The pattern is the grammar. Left out
are the characters that set a direction of writing, which RFC 3987 §4.1 forbids although its grammar has them, and the
operators that RFC 6570 §2.2 reserves for extensions.

**URLs** as Pydantic's `AnyUrl` and its relatives read them, by the URL Standard of WHATWG. Pydantic's parser is lenient
and rewrites what it reads. The pattern has what it writes: lower-case schemes, encoded characters, addresses of hosts
in their usual form. The schemes that the standard calls special always have a host, which is a domain in ASCII or an
address; the port is at most 65535; `file` has neither user nor port. A last label that begins with a digit would be
read as a number, so no last label does. Left out are domains beyond ASCII, A-labels, stray percent signs, and
characters that the standard leaves as they are but RFC 3986 encodes, which a strict parser rejects.

**Mail addresses** (RFC 5321 §4.1.2, RFC 6531 §3.3 beyond ASCII). The local part has at most 64 octets (RFC 5321
§4.5.3.1.1), the address at most 254. How many dots there may be depends on how many other characters there are, so the
pattern is a union: few long words, or at most 32 other characters, each with or without a dot before it. Beyond ASCII,
where a character takes up to four octets, the number of characters is what surely fits. Pydantic passes addresses to
the package `email-validator` (2.x), which wants a name with a dot whose top-level domain has letters only and is not
reserved for special use, and reads neither a quoted local part nor an address in brackets. Domains beyond ASCII are
left out there.
"""

from functools import cache, lru_cache, partial

from structured.errors import PatternError
from structured.json_schema.numbers.ranges import integer_range
from structured.json_schema.strings.formats.alphabets import (
    LETTER,
    LETTER_OR_DIGIT,
    LOWER,
    either,
    regex,
    without,
    words_but,
)
from structured.json_schema.strings.formats.hosts import (
    IPV4,
    IPV6,
    LONGEST_LABEL,
    LONGEST_NAME,
    international_names,
    ipv6,
    label,
    names,
    parents,
)
from structured.regex import CharSet, Pattern, alternation, char_set, chars, concat, literal, optional, repeat, words
from structured.regex.character_sets import Range

PERCENT_ENCODED = "%[0-9A-Fa-f]{2}"
UNRESERVED = either(LETTER_OR_DIGIT, chars("-._~"))
SUB_DELIMITERS = chars("!$&'()*+,;=")

_DIRECTIONS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_PLANES: tuple[Range, ...] = tuple((0x10000 * plane, 0x10000 * plane + 0xFFFD) for plane in range(1, 14))
_UCSCHAR = char_set((0xA0, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFEF), *_PLANES, (0xE1000, 0xEFFFD))
_FOREIGN = without(_UCSCHAR, _DIRECTIONS)
_PRIVATE = char_set((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))

_FUTURE_ADDRESS = rf"[Vv][0-9A-Fa-f]+\.{either(UNRESERVED, SUB_DELIMITERS, chars(':'))}+"
_IP_LITERAL = concat(literal("["), alternation(IPV6, regex(_FUTURE_ADDRESS)), literal("]"))


def _encoded(characters: CharSet) -> str:
    return f"(?:{characters}|{PERCENT_ENCODED})"


def identifier(kind: str) -> Pattern:
    """Return the texts of a kind, `uri` or `iri` or, with relative ones, `uri-reference` or `iri-reference`.

    RFC 3986: `https://example.com/a?b#c`, `../a`; RFC 3987: `https://example.com/ä?b#c`.
    """
    is_foreign = kind.startswith("iri")
    unreserved = either(UNRESERVED, _FOREIGN) if is_foreign else UNRESERVED
    in_host = either(unreserved, SUB_DELIMITERS)
    in_path = either(in_host, chars(":@"))
    in_fragment = either(in_path, chars("/?"))
    in_query = either(in_fragment, _PRIVATE) if is_foreign else in_fragment

    segments = f"{_encoded(either(in_path, chars('/')))}*"
    path = f"(?:/{segments})?"
    user = f"(?:{_encoded(either(in_host, chars(':')))}*@)?"
    host = alternation(_IP_LITERAL, regex(f"{_encoded(in_host)}*"))
    located = concat(regex(f"//{user}"), host, regex(rf"(?::\d*)?{path}"))
    absolute, rootless = regex(f"/(?:{_encoded(in_path)}{segments})?"), regex(_encoded(in_path) + segments)
    ending = regex(rf"(?:\?{_encoded(in_query)}*)?(?:#{_encoded(in_fragment)}*)?")
    scheme = regex(r"[A-Za-z][A-Za-z\d+\-.]*:")
    whole = concat(scheme, optional(alternation(located, absolute, rootless)), ending)
    if not kind.endswith("reference"):
        return whole
    relative = regex(f"{_encoded(without(in_path, ':'))}+{path}")
    return alternation(whole, concat(optional(alternation(located, absolute, relative)), ending))


_TEMPLATE_LITERAL = either(without(char_set((0x21, 0x7E)), '"%<>\\^`{|}'), _FOREIGN, _PRIVATE)
_NAME_CHARACTER = f"(?:[A-Za-z0-9_]|{PERCENT_ENCODED})"
_VARIABLE = rf"{_NAME_CHARACTER}(?:\.?{_NAME_CHARACTER})*(?:\*|:[1-9]\d{{0,3}})?"
_EXPRESSION = rf"\{{[+#./;?&]?{_VARIABLE}(?:,{_VARIABLE})*\}}"


def uri_template() -> Pattern:
    """Return RFC 6570 §2, an apostrophe allowed by its erratum 6937: `https://example.com/{user}{?page,size*}`."""
    return regex(f"(?:{_TEMPLATE_LITERAL}|{PERCENT_ENCODED}|{_EXPRESSION})*")


SPECIAL_SCHEMES = ("ftp", "http", "https", "ws", "wss")
"""The special schemes of the URL Standard §4.2, without `file`."""

LONGEST_SCHEME = 32
LONGEST_USER = 64
LONGEST_HEAD = LONGEST_SCHEME + len("://:@:65535") + 2 * LONGEST_USER + LONGEST_NAME
"""The length of all that precedes the path of a URL with one host."""

_DOMAIN_CHARACTER = either(LETTER_OR_DIGIT, chars("_"))


@cache
def _host() -> Pattern:
    domain = concat(
        parents(LONGEST_NAME - LONGEST_LABEL, fewest=0, label=partial(label, other=_DOMAIN_CHARACTER)),
        label(LONGEST_LABEL, first=LETTER, other=_DOMAIN_CHARACTER),
    )
    return alternation(domain, IPV4, concat(literal("["), IPV6, literal("]")))


def _user_host_port(user_character: CharSet) -> Pattern:
    user = f"{user_character}{{1,{LONGEST_USER}}}"
    port = regex(f"(?::(?:{integer_range(0, 65535)}))?")
    return concat(regex(f"(?:(?:{user}|(?:{user})?:{user})@)?"), _host(), port)


_URL_CHARACTER = either(UNRESERVED, SUB_DELIMITERS, chars(":@/?"))


@lru_cache(maxsize=256)
def url(
    schemes: tuple[str, ...] | None = None, *, host_required: bool = False, max_length: int | None = None
) -> Pattern:
    """Return URLs with one of the schemes (None: any) that `pydantic.AnyUrl` accepts with these constraints.

    A named scheme other than `file` is followed by a host, even if none is required. Raises PatternError if
    `max_length` is below 500, or if `file` is the only scheme and a host is required: `localhost` means none there.
    """
    if max_length is not None and max_length < 500:
        problem = f"A URL of at most {max_length} characters is not supported"
        raise PatternError(problem, pattern="", remedy="Allow 500 characters or more.")
    room = None if max_length is None else max_length - LONGEST_HEAD
    options = []
    host = _user_host_port(either(UNRESERVED, SUB_DELIMITERS))
    if schemes is None:
        other = _other_schemes()
        options.append(concat(alternation(words(SPECIAL_SCHEMES), other), literal("://"), host, _after_host(room)))
        options += [] if host_required else [concat(other, _hostless(room))]
    elif set(schemes) != {"file"}:
        named = words(scheme for scheme in schemes if scheme != "file")
        options.append(concat(named, literal("://"), host, _after_host(room)))
    if not host_required and (schemes is None or "file" in schemes):
        options.append(concat(literal("file://"), optional(_host()), _after_host(room)))
    return alternation(*options)


@lru_cache(maxsize=256)
def multi_host_url(schemes: tuple[str, ...] | None = None) -> Pattern:
    """Return URLs with one host or several and one of the schemes (None: any), as `PostgresDsn` reads them."""
    scheme = alternation(words(SPECIAL_SCHEMES), _other_schemes()) if schemes is None else words(schemes)
    host = _user_host_port(without(either(UNRESERVED, SUB_DELIMITERS), ","))
    return concat(scheme, literal("://"), host, repeat(concat(literal(","), host), 0, None), _after_host(None))


def _other_schemes() -> Pattern:
    return words_but((*SPECIAL_SCHEMES, "file"), LOWER, either(LOWER, chars("0123456789+-.")), LONGEST_SCHEME)


def _after_host(room: int | None) -> Pattern:
    """Return an optional path or query and an optional fragment, at most `room` characters in all."""
    return concat(optional(concat(chars("/?"), _url_text(_before_fragment(room)))), _fragment(room))


def _hostless(room: int | None) -> Pattern:
    """Return the rest of a URL without a host, after a scheme that is not special: `:path`, `:/path`, `:///path`."""
    path = concat(regex(_encoded(without(_URL_CHARACTER, "/"))), _url_text(_before_fragment(room)))
    bare = concat(optional(literal("/")), optional(path), _fragment(room))
    return concat(literal(":"), alternation(concat(literal("//"), _after_host(room)), bare))


def _fragment(room: int | None) -> Pattern:
    return optional(concat(literal("#"), _url_text(None if room is None else room // 4)))


def _before_fragment(room: int | None) -> int | None:
    """Return the length of a path or query that leaves room for a fragment."""
    return None if room is None else room - room // 4 - 4


def _url_text(longest: int | None) -> Pattern:
    """Return text of at most `longest` characters; with a limit, a third as many if some are percent-encoded."""
    encoded = _encoded(_URL_CHARACTER)
    if longest is None:
        return regex(f"{encoded}*")
    return regex(f"{_URL_CHARACTER}{{0,{longest}}}|{encoded}{{0,{longest // 3}}}")


LONGEST_ADDRESS = 254
LONGEST_LOCAL_PART = 64
LONGEST_DOMAIN = LONGEST_ADDRESS - 1 - LONGEST_LOCAL_PART
LONGEST_TOP_LEVEL_DOMAIN = 24

SPECIAL_DOMAINS = ("alt", "arpa", "invalid", "local", "localhost", "onion", "test")
"""Top-level domains without mail in the registry of special-use domain names (RFC 6761 §5)."""

_WIDTHS = ((1, 0x7F), (2, 0x7FF), (3, 0xFFFF), (4, 0x10FFFF))
"""The greatest number of octets of a character, and the last character that takes no more."""

_WORD = either(LETTER_OR_DIGIT, chars("!#$%&'*+-/=?^_`{|}~"))
_PRINTABLE = char_set((0x20, 0x7E))
_AT = literal("@")


def _dotted(character: CharSet, longest: int) -> Pattern:
    options = [rf"{character}(?:\.?{character}){{0,{longest // 2 - 1}}}"]
    for count in (1, 2, 3, 4):
        word = f"{character}{{1,{(longest + 1) // count - 1}}}"
        options.append(rf"(?:{word}\.){{0,{count - 1}}}{word}")
    return regex("|".join(options))


def _quoted(character: CharSet, longest: int) -> Pattern:
    """Return a text in quotes, at most `longest` characters in all, each of which may be escaped."""
    unescaped = without(either(_PRINTABLE, character), '"\\')
    return regex(rf'"(?:(?:{unescaped}|\\{_PRINTABLE}){{0,{longest // 2 - 1}}}|{unescaped}{{0,{longest - 2}}})"')


def _local_part(width: int, last: int) -> Pattern:
    character = either(_WORD, char_set((0x80, last))) if width > 1 else _WORD
    longest = LONGEST_LOCAL_PART // width
    return alternation(_dotted(character, longest), _quoted(character, longest))


def _domain_or_address(domain: Pattern) -> Pattern:
    address = alternation(IPV4, concat(literal("IPv6:"), ipv6(fewest_elided=2)))
    return alternation(domain, concat(literal("["), address, literal("]")))


def email() -> Pattern:
    """Return the addresses of RFC 5321: `ana.diaz@example.com`, `"Ana Diaz"@[192.168.0.1]`."""
    return concat(_local_part(*_WIDTHS[0]), _AT, _domain_or_address(names(LONGEST_DOMAIN)))


def idn_email() -> Pattern:
    """Return the addresses of RFC 6531: `aña@españa.example`."""
    domain = _domain_or_address(international_names(LONGEST_DOMAIN, dot=literal(".")))
    return concat(alternation(*(_local_part(*width) for width in _WIDTHS)), _AT, domain)


_TOP_LEVEL_DOMAIN = words_but(SPECIAL_DOMAINS, LETTER, LETTER, LONGEST_TOP_LEVEL_DOMAIN)


@cache
def deliverable_email() -> Pattern:
    """Return the addresses that `email-validator` accepts by default: `ana.diaz@example.com`."""
    domain = parents(LONGEST_DOMAIN - LONGEST_TOP_LEVEL_DOMAIN, fewest=1)
    return concat(_dotted(_WORD, LONGEST_LOCAL_PART), _AT, domain, _TOP_LEVEL_DOMAIN)


_ALPHABETS = char_set(
    *((0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2C1), (0x388, 0x38A), (0x38E, 0x3A1), (0x3A3, 0x3F5), (0x400, 0x481)),
    *((0x48A, 0x52F), (0x5D0, 0x5EA), (0x620, 0x64A), (0x904, 0x939), (0xE01, 0xE30), (0x3041, 0x3096)),
    *((0x30A1, 0x30FA), (0x4E00, 0x9FEF), (0xAC00, 0xD7A3)),
)
"""Ranges in which every character is a letter for `re`."""

_NAME_PART = f"{either(_WORD, chars('.'), _ALPHABETS)}{{1,32}}"
_DISPLAY_NAME = rf'{_NAME_PART}(?: {_NAME_PART}){{0,7}}|"{without(_PRINTABLE, chr(34))}{{1,256}}"'


def name_email() -> Pattern:
    """Return what Pydantic's `NameEmail` reads: `Ana Díaz <ana.diaz@example.com>`; other characters need quotes."""
    address = deliverable_email()
    return alternation(address, concat(regex(f"(?:{_DISPLAY_NAME}) <"), address, literal(">")))


WITH_AN_AT = regex(r"[^]+@[^]+")
"""Every address of a mailbox, and texts that are none."""
