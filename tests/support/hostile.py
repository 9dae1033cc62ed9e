"""Requests that are made to cost much: each is answered, or refused, within the limits of the library."""

import json
from typing import Any

Schema = dict[str, Any]


def _schema(schema: Schema) -> tuple[str, bytes]:
    return "extract", json.dumps({"text": "a", "schema": schema}).encode()


def _regex(regex: str) -> tuple[str, bytes]:
    return "regex", json.dumps({"text": "a", "regex": regex}).encode()


def _grammar(*rules: str) -> tuple[str, bytes]:
    return "grammar", json.dumps({"text": "a", "grammar": "\n".join(rules)}).encode()


def _raw(schema: str) -> tuple[str, bytes]:
    return "extract", b'{"text": "a", "schema": %s}' % schema.encode()


def _objects(depth: int) -> Schema:
    schema: Schema = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return schema


def _laughs(keyword: str, depth: int) -> Schema:
    """Ten references to what is ten references, and so on."""
    inside: dict[str, Any] = {"l0": {"type": "string", "maxLength": 3}}
    for level in range(1, depth):
        references = [{"$ref": f"#/$defs/l{level - 1}"}] * 10
        inside[f"l{level}"] = {keyword: references}
    return {"$defs": inside, "$ref": f"#/$defs/l{depth - 1}"}


def _counted(places: int) -> str:
    """A pattern whose deterministic automaton has a state for each set of some places."""
    return f"(a|b)*a(a|b){{{places}}}"


HOSTILE: dict[str, tuple[str, bytes]] = {
    "10,000 brackets": _raw("[" * 10_000 + "]" * 10_000),
    "100,000 objects": _raw('{"a":' * 100_000 + "1" + "}" * 100_000),
    "5,000 levels": _raw('{"type":"array","items":' * 5000 + "true" + "}" * 5000),
    "a number of 5,000 digits": _raw(f'{{"const":{"9" * 5000}}}'),
    "no number": _raw('{"const":NaN}'),
    "100 objects": _schema(_objects(100)),
    "10,000 values": _schema({"enum": [f"value {number}" for number in range(10_000)]}),
    "100,000 values": _schema({"enum": [f"value {number}" for number in range(100_000)]}),
    "10^11 references of allOf": _schema(_laughs("allOf", 12)),
    "10^11 references of anyOf": _schema(_laughs("anyOf", 12)),
    "10^7 references of oneOf": _schema(_laughs("oneOf", 8)),
    "references in a circle": _schema({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
    "10^9 items": _schema({"type": "array", "items": {"type": "string"}, "minItems": 10**9}),
    "10^9 characters": _schema({"type": "string", "minLength": 10**9}),
    "3,000 properties": _schema(
        {"type": "object", "properties": {f"p{one}": {"type": "integer"} for one in range(3000)}}
    ),
    "products of patterns": _schema(
        {"allOf": [{"type": "string", "pattern": f"^{_counted(18 + n)}$"} for n in range(8)]}
    ),
    "the complement of a pattern": _schema({"type": "string", "not": {"pattern": _counted(25)}}),
    "backtracking": _regex("(a+)+$"),
    "a million letters": _regex("(a{1000}){1000}"),
    "a billion letters": _regex("((a{1000}){1000}){1000}"),
    "2^30 states": _regex(_counted(30)),
    "2^500 states": _regex(_counted(500)),
    "lookaheads": _regex(f"(?={_counted(20)}$)(?=(a|b)*b(a|b){{19}}$)(a|b)*"),
    "a negative lookahead": _regex(f"(?!{_counted(22)})(a|b)*"),
    "5,000 groups": _regex("(" * 5000 + "a" + ")" * 5000),
    "30,000 alternatives": _regex("|".join(map(str, range(30_000)))),
    "a star of stars": _regex("(" * 200 + "a" + ")*" * 200),
    "a grammar that is ambiguous": _grammar("start: s", 's: s s | "a" |'),
    "a grammar of 2,000 rules": _grammar(
        f"start: {' | '.join(f'r{one}' for one in range(2000))}",
        *(f'r{one}: "x{one}" r{(one + 1) % 2000} | "y"' for one in range(2000)),
    ),
    "a grammar that repeats": _grammar('start: (("a"~1..500)~1..500)~1..500'),
    "a million of a grammar": _grammar('start: "a"~1000000'),
    "a terminal of 2^30 states": _grammar("start: A", f"A: /{_counted(30)}/"),
}
"""By what there is so much of: the path and the body."""

SECONDS = frozenset({
    "3,000 properties", "products of patterns", "the complement of a pattern", "2^500 states", "lookaheads",
    "30,000 alternatives", "a grammar of 2,000 rules", "a terminal of 2^30 states",
})  # fmt: skip
"""Those that take some."""
