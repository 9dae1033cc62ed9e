"""Hosts: names, internationalized names, and addresses of the Internet protocol.

**Names** (RFC 1123 §2.1, RFC 952). A label has 1 to 63 letters, digits and hyphens, no hyphen at its ends. A label with
hyphens in the third and fourth place is reserved (RFC 5890 §2.3.1). Only A-labels in valid Punycode are allowed there;
a pattern cannot check Punycode, so none is generated: `xn--bcher-kva.example` is left out. A whole name has at most 253
characters. How long each label may be depends on all the others, so the pattern is a union: few long labels, or many
short ones. `LABEL_COUNTS` lists the counts; a name of many labels with a very long one among them is left out.

**Internationalized names** (RFC 5890 to 5893). A valid label has characters with the derived property PVALID (RFC 5892
§3), some of them only in a context (its appendix A), obeys the Bidi rule (RFC 5893 §2), is in normalization form C, and
its A-label, in Punycode, has at most 63 octets. The pattern generates some of these labels and no others:

- Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Devanagari, Thai, kana, Han and Hangul. Marks that normalization
  reorders or merges into a letter are left out, among them the tones of Thai.
- At most 11 characters, a fifth of the octets that the A-label has after `xn--`: for so few characters of the Basic
  Multilingual Plane, Punycode takes no more than five octets for each on average.
- At most one context in a label: `l·l`, `͵α`, `א׳`, a virama and a joiner, and katakana's middle dot near kana or Han.
  Joiners between letters that are written together, which `unicodedata` does not tell, are left out.

**Addresses.** Numbers of version 4 have no leading zeros, which some readers take for octal. Groups of version 6 are
those of RFC 4291 §2.2, also with an address of version 4 in place of the last two groups. Zone identifiers
(`fe80::1%eth0`) are left out: RFC 4291 has none, and Pydantic accepts any text as one. In a network, the bits after the
prefix are zero: `10.0.0.1/8` is no network. So each length of the prefix is an option of its own. Netmasks in place of
a length are left out, and networks without either.
"""

import unicodedata
from collections.abc import Callable

from structured.json_schema.numbers.ranges import integer_range
from structured.json_schema.strings.formats.alphabets import DIGIT, HEX, LETTER, LETTER_OR_DIGIT, LOWER, either, regex
from structured.regex import CharSet, Pattern, alternation, char_set, chars, concat, literal, optional, repeat, words
from structured.regex.syntax import EMPTY

LONGEST_NAME = 253
LONGEST_LABEL = 63
LABEL_COUNTS = (3, 4, 6, 10, 16, 32)

_DOT = literal(".")


def label(longest: int, *, first: CharSet = LETTER_OR_DIGIT, other: CharSet = LETTER_OR_DIGIT) -> Pattern:
    """Return the labels of at most `longest` (4 or more) characters, with hyphens only between `other` characters."""
    inner = either(other, chars("-"))

    def ending(length: int) -> str:
        return f"(?:{inner}{{0,{length - 1}}}{other})?" if length else ""

    longer = f"{inner}{other}{ending(longest - 3)}|{inner}-{other}{ending(longest - 4)}"
    return regex(f"{first}(?:{other}?|{longer})")


def names(longest: int, *, label: Callable[[int], Pattern] = label, dot: Pattern = _DOT) -> Pattern:
    """Return the names of at most `longest` characters."""
    labels = _labels_by_count(longest, label)
    return alternation(*(concat(repeat(concat(part, dot), 0, count - 1), part) for count, part in labels))


def parents(longest: int, *, fewest: int, label: Callable[[int], Pattern] = label) -> Pattern:
    """Return the labels before the last one: `fewest` or more, each with a dot, at most `longest` characters."""
    labels = _labels_by_count(longest - 1, label)
    return alternation(*(repeat(concat(part, _DOT), fewest, count) for count, part in labels))


def _labels_by_count(longest: int, label: Callable[[int], Pattern]) -> list[tuple[int, Pattern]]:
    return [(count, label(min(LONGEST_LABEL, (longest + 1) // count - 1))) for count in LABEL_COUNTS]


HOSTNAME = names(LONGEST_NAME)
"""`www.example.com`"""

CHARACTERS_OF_HOSTS = repeat(either(LETTER_OR_DIGIT, chars("-.")), 1, None)
"""Every name of a host, and texts that are none."""

DOTS = chars(".。．｡")
"""The separators of labels (RFC 3490 §3.1)."""


def _is_valid(code_point: int) -> bool:
    """Tell whether a code point is a letter that neither NFKC nor case folding changes (RFC 5892 §2.1, §2.2)."""
    character = chr(code_point)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold())
    return folded == character and unicodedata.category(character) in {"Ll", "Lo"}


_EUROPEAN = either(chars("ßς"), char_set(*((point, point) for point in range(0x80, 0x588) if _is_valid(point))))
"""Letters of Latin, Greek, Cyrillic and Armenian; the first two are exceptions of RFC 5892 §2.6."""

_GREEK = char_set((0x3B1, 0x3C9))
_DEVANAGARI = char_set((0x904, 0x939))
_KANA_OR_HAN = char_set((0x3007, 0x3007), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x3400, 0x4DB5), (0x4E00, 0x9FEF))
_FIRST = either(
    *(LOWER, DIGIT, _EUROPEAN, _DEVANAGARI, _KANA_OR_HAN),
    *(char_set((0x6F0, 0x6F9)), char_set((0xE01, 0xE30), (0xE32, 0xE32), (0xE40, 0xE46))),
    *(char_set((0xF0B, 0xF0B)), char_set((0x3005, 0x3005), (0x30FC, 0x30FC)), char_set((0xAC00, 0xD7A3))),
)
_OTHER = either(_FIRST, char_set((0x900, 0x903), (0x93E, 0x94D)))
_HEBREW = char_set((0x5D0, 0x5EA))
_RIGHT_TO_LEFT = either(_HEBREW, char_set((0x620, 0x63F), (0x641, 0x64A), (0x6FD, 0x6FE)))
_EUROPEAN_NUMBER = either(DIGIT, char_set((0x6F0, 0x6F9)))
_ARABIC_NUMBER = char_set((0x660, 0x669))
_MIDDLE_DOT = chars("・")

_CONTEXTS = (
    literal("l·l"),
    concat(literal("͵"), _GREEK),
    concat(_DEVANAGARI, literal("\u094d"), chars("\u200c\u200d"), _DEVANAGARI),
)
"""RFC 5892 appendix A.1 to A.4: the neighbours that a character needs to be valid."""


def _left_to_right_label(octets: int) -> Pattern:
    """Return labels of letters that are written from left to right, in ASCII or beyond."""
    beyond = [_around(context, octets) for context in _CONTEXTS]
    beyond.append(_around(_KANA_OR_HAN, octets, first=either(_FIRST, _MIDDLE_DOT), other=either(_OTHER, _MIDDLE_DOT)))
    return alternation(label(octets), *_words(_FIRST, _OTHER, octets), *(pattern for pattern in beyond if pattern))


def _label_beside_right_to_left(octets: int) -> Pattern:
    """Return the labels of names that have letters written from right to left (RFC 5893 §2)."""
    european, arabic = either(_RIGHT_TO_LEFT, _EUROPEAN_NUMBER), either(_RIGHT_TO_LEFT, _ARABIC_NUMBER)
    punctuated = _around(concat(_HEBREW, chars("׳״")), octets, first=_RIGHT_TO_LEFT, other=european)
    return alternation(
        label(octets, first=LETTER),
        *_words(_RIGHT_TO_LEFT, european, octets),
        *_words(_RIGHT_TO_LEFT, arabic, octets),
        *([punctuated] if punctuated else []),
    )


def _words(first: CharSet, other: CharSet, octets: int) -> list[Pattern]:
    """Return words of these characters, without hyphens and, where there is room, with single ones."""
    bare, hyphenated = (octets - 4) // 5, (octets - 5) // 6
    options = [concat(first, repeat(other, 0, bare - 1))] if bare > 0 else []
    if hyphenated > 1:
        options.append(concat(first, repeat(concat(optional(literal("-")), other), 1, hyphenated - 1)))
    return options


def _around(middle: Pattern, octets: int, *, first: CharSet = _FIRST, other: CharSet = _OTHER) -> Pattern | None:
    """Return words without hyphens around a pattern of at most four characters; None where there is no room."""
    side = ((octets - 4) // 5 - 4) // 2
    if side < 1:
        return None
    return concat(optional(concat(first, repeat(other, 0, side - 1))), middle, repeat(other, 0, side))


def international_names(octets: int, *, dot: Pattern = DOTS) -> Pattern:
    """Return the names whose form in ASCII has at most `octets` octets."""
    labels = (_left_to_right_label, _label_beside_right_to_left)
    return alternation(*(names(octets, label=label, dot=dot) for label in labels))


def idn_hostname() -> Pattern:
    """Return names such as `münchen.example` and `실례.테스트`."""
    return international_names(LONGEST_NAME)


_BYTE = integer_range(0, 255)
_GROUP = f"{HEX}{{1,4}}"
_GROUP_COLON = regex(f"{_GROUP}:")

IPV4 = regex(rf"(?:{_BYTE})(?:\.(?:{_BYTE})){{3}}")
"""RFC 2673 §3.2: `192.168.0.1`."""


def ipv6(*, fewest_elided: int) -> Pattern:
    """Return the addresses of version 6 in which `::` replaces at least `fewest_elided` groups of zeros."""
    last_two = alternation(regex(f"{_GROUP}:{_GROUP}"), IPV4)
    endings = [EMPTY, regex(_GROUP), *(concat(repeat(_GROUP_COLON, count, count), last_two) for count in range(7))]
    befores = [regex(f"{_groups(8 - fewest_elided - after)}::") for after in range(9 - fewest_elided)]
    return alternation(endings[8], *map(concat, befores, endings))


def _groups(most: int) -> str:
    return f"(?:(?:{_GROUP}:){{0,{most - 1}}}{_GROUP})?" if most else ""


IPV6 = ipv6(fewest_elided=1)
"""RFC 4291 §2.2: `2001:db8::1`, `::ffff:192.168.0.1`."""

IP = alternation(IPV4, IPV6)

IPV4_INTERFACE = concat(IPV4, optional(concat(literal("/"), integer_range(0, 32))))
"""`192.168.0.1/24`, as `ipaddress.IPv4Interface` reads it."""

IPV6_INTERFACE = concat(IPV6, optional(concat(literal("/"), integer_range(0, 128))))
"""`2001:db8::1/64`, as `ipaddress.IPv6Interface` reads it."""

IP_INTERFACE = alternation(IPV4_INTERFACE, IPV6_INTERFACE)


def ipv4_network(*, bits_before: int = 0) -> Pattern:
    """Return the networks of version 4, with `bits_before` added to the length of the prefix: `192.168.0.0/24`."""
    options = [concat(IPV4, literal(f"/{bits_before + 32}"))]
    for free in range(4):
        endings = [literal(f"{'.0' * (3 - free)}/{bits_before + 8 * free + bits}") for bits in range(8)]
        last_bytes = [words(map(str, range(0, 256, 1 << (8 - bits)))) for bits in range(8)]
        before = repeat(concat(_BYTE, literal(".")), free, free)
        options.append(concat(before, alternation(*map(concat, last_bytes, endings))))
    return alternation(*options)


def _group_with_zeros(zeros: int) -> Pattern:
    """Return the groups of up to four hexadecimal digits that end in `zeros` zero bits."""
    digits, bits = divmod(zeros, 4)
    if digits == 4:
        return repeat(literal("0"), 1, 4)
    multiple = chars("".join(f"{digit:x}{digit:X}" for digit in range(0, 16, 1 << bits)))
    some = concat(repeat(HEX, 0, 3 - digits), multiple, literal("0" * digits))
    return alternation(some, repeat(literal("0"), 1, digits)) if digits else some


_GROUPS_WITH_ZEROS = [_group_with_zeros(16 - bits) for bits in range(16)]


def ipv6_network() -> Pattern:
    """Return the networks of version 6: for each length of the prefix, the groups that it covers are free.

    `::` may replace any run of zeros: `2001:db8::/32`, as `ipaddress.IPv6Network` reads it.
    """
    mapped = concat(literal("::"), repeat(chars("Ff"), 4, 4), literal(":"), ipv4_network(bits_before=96))
    options = [concat(IPV6, literal("/128")), mapped]
    for free in range(8):
        zeros = literal(":0" * (7 - free))
        tail = alternation(zeros, literal("::")) if free < 7 else zeros
        options.append(concat(repeat(_GROUP_COLON, free, free), _last_groups(free, tail)))
        options.append(regex(f"{_groups(free)}::/(?:{integer_range(16 * free, 16 * free + 15)})"))
        written_out = _last_groups(free, zeros)
        for after in range(free):
            before = regex(f"{_groups(free - 1 - after)}::")
            options.append(concat(before, repeat(_GROUP_COLON, after, after), written_out))
    return alternation(*options)


def _last_groups(free: int, tail: Pattern) -> Pattern:
    """Return the text after the free groups: the group in which the prefix ends, zeros, and the length."""
    lengths = [literal(f"/{length}") for length in range(16 * free, 16 * free + 16)]
    return alternation(*(concat(group, tail, end) for group, end in zip(_GROUPS_WITH_ZEROS, lengths, strict=True)))


def ip_network() -> Pattern:
    """Return the networks of both versions."""
    return alternation(ipv4_network(), ipv6_network())
