"""Addresses, networks and interfaces of the Internet protocol, versions 4 and 6.

The numbers of version 4 have no leading zeros, which some readers take for octal. The groups of version 6 are those of
RFC 4291 §2.2, also with the last two groups as an address of version 4. Zone identifiers (`fe80::1%eth0`) are given up:
RFC 4291 has none, and Pydantic takes any text for one.

A network is an address whose bits after the prefix are zero: `10.0.0.1/8` is none. So each length of the prefix is an
option of its own. Netmasks in place of a length are given up, and a network without either.
"""

from structured.json_schema.numbers import integer_range
from structured.json_schema.strings.formats.alphabets import HEX
from structured.regex import Pattern, alternation, chars, concat, literal, optional, repeat, words

_BYTE = integer_range(0, 255)
_GROUP = repeat(HEX, 1, 4)
_GROUP_COLON = concat(_GROUP, literal(":"))

IPV4 = concat(_BYTE, repeat(concat(literal("."), _BYTE), 3, 3))
"""RFC 2673 §3.2: `192.168.0.1`."""

_LAST_TWO = alternation(concat(_GROUP_COLON, _GROUP), IPV4)


def ipv6(*, fewest_elided: int) -> Pattern:
    """Return the addresses of version 6 in which `::` stands for so many groups of zeros at least."""
    options = [concat(repeat(_GROUP_COLON, 6, 6), _LAST_TWO)]
    for after in range(9 - fewest_elided):
        last = {0: literal(""), 1: _GROUP}.get(after) or concat(repeat(_GROUP_COLON, after - 2, after - 2), _LAST_TWO)
        options.append(concat(_groups(8 - fewest_elided - after), literal("::"), last))
    return alternation(*options)


def _groups(most: int) -> Pattern:
    """Return up to `most` groups with colons between them."""
    return optional(concat(repeat(_GROUP_COLON, 0, most - 1), _GROUP)) if most else literal("")


IPV6 = ipv6(fewest_elided=1)
"""RFC 4291 §2.2: `2001:db8::1`, `::ffff:192.168.0.1`."""

IP = alternation(IPV4, IPV6)

IPV4_INTERFACE = concat(IPV4, optional(concat(literal("/"), integer_range(0, 32))))
"""`192.168.0.1/24`, as `ipaddress.IPv4Interface` reads it."""

IPV6_INTERFACE = concat(IPV6, optional(concat(literal("/"), integer_range(0, 128))))
"""`2001:db8::1/64`, as `ipaddress.IPv6Interface` reads it."""

IP_INTERFACE = alternation(IPV4_INTERFACE, IPV6_INTERFACE)


def _ipv4_network(*, bits_before: int) -> Pattern:
    """Return the networks of version 4, with so many bits added to the length of the prefix."""
    options = [concat(IPV4, literal(f"/{bits_before + 32}"))]
    for free in range(4):
        lengths = [
            concat(
                words(map(str, range(0, 256, 1 << (8 - bits)))),
                literal(f"{'.0' * (3 - free)}/{bits_before + 8 * free + bits}"),
            )
            for bits in range(8)
        ]
        options.append(concat(repeat(concat(_BYTE, literal(".")), free, free), alternation(*lengths)))
    return alternation(*options)


def _group_with_zeros(zeros: int) -> Pattern:
    """Return the groups of four hexadecimal digits whose last bits are so many zeros."""
    digits, bits = divmod(zeros, 4)
    if digits == 4:
        return repeat(literal("0"), 1, 4)
    multiple = chars("".join(f"{digit:x}{digit:X}" for digit in range(0, 16, 1 << bits)))
    some = concat(repeat(HEX, 0, 3 - digits), multiple, literal("0" * digits))
    return alternation(some, repeat(literal("0"), 1, digits)) if digits else some


_GROUPS_WITH_ZEROS = [_group_with_zeros(16 - bits) for bits in range(16)]


def _ipv6_network() -> Pattern:
    """Return the networks of version 6, each length of the prefix with as many groups that are free as it covers."""
    mapped = concat(literal("::"), repeat(chars("Ff"), 4, 4), literal(":"), _ipv4_network(bits_before=96))
    options = [concat(IPV6, literal("/128")), mapped]
    for free in range(8):
        zeros = literal(":0" * (7 - free))
        tail = alternation(zeros, literal("::")) if free < 7 else zeros
        options.append(concat(repeat(_GROUP_COLON, free, free), _last_groups(free, tail)))
        options.append(concat(_groups(free), literal("::/"), integer_range(16 * free, 16 * free + 15)))
        written_out = _last_groups(free, zeros)
        for after in range(free):
            before = concat(_groups(free - 1 - after), literal("::"))
            options.append(concat(before, repeat(_GROUP_COLON, after, after), written_out))
    return alternation(*options)


def _last_groups(free: int, tail: Pattern) -> Pattern:
    """Return what follows the free groups: the group in which the prefix ends, the zeros after it, and the length."""
    return alternation(
        *(concat(group, tail, literal(f"/{16 * free + bits}")) for bits, group in enumerate(_GROUPS_WITH_ZEROS))
    )


IPV4_NETWORK = _ipv4_network(bits_before=0)
"""`192.168.0.0/24`, as `ipaddress.IPv4Network` reads it."""

IPV6_NETWORK = _ipv6_network()
"""`2001:db8::/32`, as `ipaddress.IPv6Network` reads it; `::` may stand for any run of zeros that it can write."""

IP_NETWORK = alternation(IPV4_NETWORK, IPV6_NETWORK)
