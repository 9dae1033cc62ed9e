"""JSON Schemas of every keyword of draft 2020-12, judged by `jsonschema`, with formats asserted and without."""

import json
import random
from functools import lru_cache, partial
from typing import Any, TypeAlias

from benchmarks.fuzz import support
from benchmarks.fuzz.cases import Trial
from benchmarks.fuzz.expressions import within
from benchmarks.fuzz.guided import drawn, near, read_texts, write_answers
from structured import JsonSchema
from structured.automata import Automaton
from structured.automata.byte_automaton import accepts_text
from structured.output_types.json_output import JsonLayout
from structured.output_types.output_type import automaton_of
from structured.output_types.resolve import resolve_type

Schema: TypeAlias = dict[str, Any]

NAMES = ("a", "b", "ab", "c", 'q"', "é", "", "x y", "kind")
TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
SCALARS: tuple[Any, ...] = (None, True, False, 0, 1, -3, 25, 0.5, 2.0, "", "a", "ab", "é", '"', "x\n")
PATTERNS = {
    "^a": ("a", "ab"),
    "b$": ("b", "ab"),
    "^[ab]*$": ("", "ab", "ba"),
    "^(?!a)": ("b", ""),
    "é|q": ("é", 'q"'),
    "^.{2}$": ("ab", "é🙂"),
    r"^\d+$": ("0", "25"),
    r"\bab\b": ("ab", "x ab"),
    "^[^ ]{1,3}$": ("a", "é"),
    "(?=.*b)a": ("ab", "ba"),
    "^(?:x|y)+z?$": ("x", "xyz"),
}
"""Patterns that `in_python` translates, each with texts in which it is found."""

_NO_LINE_END = "[^\n\r\u2028\u2029]"

FORMATS = {
    "date": "2024-02-29",
    "time": "12:30:00Z",
    "date-time": "2024-02-29T12:30:00Z",
    "duration": "P1DT2H",
    "email": "a@b.org",
    "hostname": "a.example",
    "ipv4": "10.0.0.1",
    "ipv6": "::1",
    "uri": "a:b",
    "uuid": "12345678-1234-4234-8234-123456789abc",
    "json-pointer": "/a~0b",
    "regex": "a+",
    "no-such-format": "?",
}


def try_schema(trial: Trial) -> None:
    """Try a random schema, one of this module's or one of the tests' strategies."""
    rng = trial.case.random()
    schema = Maker(rng).document() if rng.random() < 0.7 else _of_tests(trial)
    trial.shown = json.dumps(schema, ensure_ascii=False)
    judge = partial(is_valid, in_python(schema))
    layout = JsonLayout(
        rng.choice(("compact", "spaced", "any", "indented", "flexible")),
        rng.choice(("written", "omittable", "schema")),
    )
    trial.shown += f" {layout}"
    open_type = resolve_type(JsonSchema(schema, key_order="any"), layout=JsonLayout("spaced", "schema"))
    automaton = automaton_of(open_type, None)
    values = Values(schema, rng)
    texts = list(dict.fromkeys(json.dumps(values.of(schema), ensure_ascii=False) for _ in range(24)))
    read_texts(trial, automaton, texts, judge, partial(explained, json.dumps(schema)))
    read_texts(trial, automaton, near(texts[:8], trial), judge, partial(explained_edit, json.dumps(schema)))
    written = resolve_type(JsonSchema(schema, key_order=rng.choice(("schema", "any"))), layout=layout)
    write_answers(trial, written, judge)


def is_valid(schema: Any, text: str) -> bool | None:
    """Judge a text; None for a schema on which `jsonschema` does not end, or for numbers that it cannot tell apart."""
    from jsonschema import Draft202012Validator

    try:
        value = json.loads(text)
    except ValueError:
        return False
    try:
        with within(2.0):
            return all(
                Draft202012Validator(schema, format_checker=checker).is_valid(value)
                for checker in (Draft202012Validator.FORMAT_CHECKER, None)
            )
    except (RecursionError, TimeoutError, OverflowError):
        return None


def in_python(schema: Any) -> Any:
    r"""Return the schema with its patterns as Python reads them: `b$` → `(?a:b\Z)`, and `.` is what ECMA 262 has."""
    known = {*PATTERNS, *support("json_schemas").REGEXES, *support("json_schemas").OBJECT_REGEXES}
    if isinstance(schema, list):
        return [in_python(item) for item in schema]
    if isinstance(schema, dict):
        return {in_python(name): in_python(item) for name, item in schema.items()}
    if not isinstance(schema, str) or schema not in known or set(schema).isdisjoint("$.\\"):
        return schema
    return f"(?a:{schema.replace('$', chr(92) + 'Z').replace('.', _NO_LINE_END)})"


@lru_cache(maxsize=1)
def _without_formats(schema: str) -> Automaton:
    """Return the automaton of a schema whose formats are annotations."""
    lenient = JsonSchema(schema, key_order="any", assert_formats=False)
    return automaton_of(resolve_type(lenient, layout=JsonLayout("spaced", "schema")), None)


def explained(schema: str, text: str) -> str | None:
    """Return the restriction by which a text is not written, as docs/guides/json-schema.md and docs/support.md say."""
    value = json.loads(text)
    if '"format"' in schema and accepts_text(_without_formats(schema), text):
        return "formats, of which jsonschema asserts less"
    if _some(value, lambda part: isinstance(part, int) and not isinstance(part, bool) and abs(part) >= 10**18):
        return "integers of more than 18 digits"
    if '"uniqueItems": true' in schema and _some(value, lambda part: isinstance(part, list) and len(part) > 1):
        return "spellings and properties of items that must differ"
    if _some(value, lambda part: isinstance(part, float) and part.is_integer()):
        return "1.0 where 1 is listed"
    return None


def explained_edit(schema: str, text: str) -> str | None:
    """Return the restriction by which a text with edits is not written: mostly that nothing is spelled that way."""
    value = json.loads(text)
    if json.dumps(value, ensure_ascii=False) != text:
        return "edited: another spelling of JSON"
    return explained(schema, text)


def _some(value: Any, holds: Any) -> bool:
    """Tell whether something holds for a value or for anything inside it."""
    if holds(value):
        return True
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_some(part, holds) for part in inside)


def _of_tests(trial: Trial) -> Any:
    strategies = support("json_schemas")
    made = (
        strategies.chosen_schemas(),
        strategies.ruled_objects(),
        strategies.combined_objects(),
        strategies.documents(),
        strategies.documents(strategies.ODD_NAMES, with_rarer=True, max_leaves=12),
    )
    return drawn(made[trial.case.seed % len(made)], trial.case.seed)[-1]


class Maker:
    """What makes random schemas; each part may refer to the definitions of its document."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.definitions = [f"d{number}" for number in range(rng.randrange(4))]
        self.has_dynamic = rng.random() < 0.15

    def document(self) -> Schema:
        """Return a whole schema."""
        root = self.schema(self.rng.choice((1, 2, 2, 3, 3)))
        made: Schema = root if isinstance(root, dict) else {"allOf": [root]}
        if self.has_dynamic:
            made["$dynamicAnchor"] = "node"
        if self.definitions:
            made["$defs"] = {name: self.definition(name) for name in self.definitions}
        return made

    def definition(self, name: str) -> Any:
        """Return a definition, at times with an anchor."""
        made = self.schema(2)
        if isinstance(made, dict) and name == "d0":
            made["$anchor"] = "first"
        return made

    def schema(self, depth: int) -> Any:
        """Return a schema of a few keywords."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return self.leaf()
        made: Schema = {}
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
            made.update(rng.choice((self.string, self.number, self.array, self.thing, self.thing, self.choice))(depth))
        if rng.random() < 0.6 and "type" not in made:
            made["type"] = rng.choice(TYPES) if rng.random() < 0.6 else rng.sample(TYPES, 2)
        return made

    def leaf(self) -> Any:
        """Return a schema without others inside."""
        rng = self.rng
        kind = rng.randrange(9)
        if kind == 0:
            return rng.choice((True, False, {}))
        if kind == 1:
            return {"enum": rng.sample(SCALARS, rng.randint(1, 4))}
        if kind == 2:
            return {"const": rng.choice((*SCALARS, [], {}, [1, "a"], {"a": 1}, {"b": [None]}))}
        if kind == 3 and self.definitions:
            name = rng.choice(self.definitions)
            return {"$ref": "#first" if name == "d0" and rng.random() < 0.3 else f"#/$defs/{name}"}
        if kind == 4:
            return {"$dynamicRef": "#node"} if self.has_dynamic else {"$ref": "#"} if rng.random() < 0.3 else {}
        if kind == 5:
            return {"type": "string", **self.string(0)}
        if kind == 6:
            return {"type": rng.choice(("integer", "number")), **self.number(0)}
        return {"type": rng.choice(TYPES)}

    def string(self, _: int) -> Schema:
        """Return keywords for strings."""
        rng = self.rng
        return self.some(
            minLength=lambda: rng.randrange(4),
            maxLength=lambda: rng.randrange(6),
            pattern=lambda: rng.choice((*PATTERNS,)),
            format=lambda: rng.choice((*FORMATS,)),
            contentEncoding=lambda: "base64",
        )

    def number(self, _: int) -> Schema:
        """Return keywords for numbers."""
        rng = self.rng
        return self.some(
            minimum=lambda: rng.choice((-3, 0, 1, 0.5, 10)),
            maximum=lambda: rng.choice((-1, 0, 3, 2.25, 100)),
            exclusiveMinimum=lambda: rng.choice((-3, 0, 1.5)),
            exclusiveMaximum=lambda: rng.choice((3, 4.5, 30)),
            multipleOf=lambda: rng.choice((1, 2, 3, 0.5, 0.25)),
        )

    def array(self, depth: int) -> Schema:
        """Return keywords for arrays."""
        rng, inner = self.rng, partial(self.schema, depth - 1)
        return self.some(
            items=inner,
            prefixItems=lambda: [inner() for _ in range(rng.randint(1, 3))],
            contains=inner,
            minContains=lambda: rng.randrange(3),
            maxContains=lambda: rng.randrange(1, 4),
            minItems=lambda: rng.randrange(3),
            maxItems=lambda: rng.randrange(1, 5),
            uniqueItems=lambda: rng.random() < 0.4,
            unevaluatedItems=lambda: rng.choice((False, inner())),
        )

    def thing(self, depth: int) -> Schema:
        """Return keywords for objects."""
        rng, inner = self.rng, partial(self.schema, depth - 1)

        def named(make: Any, most: int) -> Any:
            return {name: make() for name in rng.sample(NAMES, rng.randint(1, most))}

        def names() -> Any:
            return rng.sample(NAMES, rng.randrange(3))

        return self.some(
            properties=lambda: named(inner, 4),
            required=names,
            additionalProperties=lambda: rng.choice((False, False, inner())),
            patternProperties=lambda: {rng.choice((*PATTERNS,)): inner() for _ in range(rng.randint(1, 2))},
            propertyNames=lambda: rng.choice(
                (
                    {"pattern": rng.choice((*PATTERNS,))},
                    {"enum": [*NAMES[:4]]},
                    {"maxLength": 2},
                    {"not": {"const": "a"}},
                )
            ),
            minProperties=lambda: rng.randrange(3),
            maxProperties=lambda: rng.randrange(1, 4),
            dependentRequired=lambda: named(names, 2),
            dependentSchemas=lambda: named(inner, 2),
            unevaluatedProperties=lambda: rng.choice((False, False, inner())),
        )

    def choice(self, depth: int) -> Schema:
        """Return keywords that combine schemas."""
        rng, inner = self.rng, partial(self.schema, depth - 1)

        def several() -> Any:
            return [inner() for _ in range(rng.randint(1, 3))]

        made = self.some(allOf=several, anyOf=several, oneOf=several, **{"not": inner, "if": inner})
        if "if" in made:
            made.update(self.some(then=inner, **{"else": inner}))
        return made

    def some(self, **keywords: Any) -> Schema:
        """Return one to three of some keywords."""
        chosen = self.rng.sample(sorted(keywords), min(len(keywords), self.rng.choice((1, 1, 2, 2, 3))))
        return {name: keywords[name]() for name in chosen}


class Values:
    """What guesses values that a schema may allow, by walking down it; the judge decides which do."""

    def __init__(self, root: Any, rng: random.Random) -> None:
        self.root = root
        self.rng = rng

    def of(self, schema: Any, depth: int = 6) -> Any:
        """Return a value that a schema may allow."""
        rng = self.rng
        flat = self.flat(schema, depth)
        if rng.random() < 0.06 or depth <= 0:
            return rng.choice((*SCALARS, [], {}))
        if "const" in flat:
            return flat["const"]
        if flat.get("enum"):
            return rng.choice(flat["enum"])
        kind = flat.get("type") or self.guessed(flat)
        kind = rng.choice(kind) if isinstance(kind, list) and kind else kind
        match kind:
            case "object":
                return self.object(flat, depth - 1)
            case "array":
                return self.array(flat, depth - 1)
            case "string":
                return self.string(flat)
            case "integer" | "number":
                return self.number(flat, kind)
            case "boolean":
                return rng.random() < 0.5
        return None

    def flat(self, schema: Any, depth: int) -> Schema:
        """Return a schema with those that may apply beside it, merged as if they named different rules."""
        if not isinstance(schema, dict):
            return {}
        made = {name: value for name, value in schema.items() if name not in {"allOf", "anyOf", "oneOf", "$ref"}}
        beside = list(schema.get("allOf", ())) + [
            self.rng.choice(schema[name]) for name in ("anyOf", "oneOf") if schema.get(name)
        ]
        beside += [schema[name] for name in ("then", "else", "if") if name in schema and self.rng.random() < 0.4]
        if "$ref" in schema:
            beside.append(self.referred(schema["$ref"]))
        if "$dynamicRef" in schema:
            beside.append(self.root)
        for other in beside if depth > 0 else ():
            for name, value in self.flat(other, depth - 1).items():
                if name == "properties":
                    made[name] = {**made.get(name, {}), **value}
                elif name == "required":
                    made[name] = [*dict.fromkeys([*made.get(name, []), *value])]
                else:
                    made.setdefault(name, value)
        return made

    def referred(self, reference: str) -> Any:
        """Return what a reference refers to, in this document."""
        found: Any = self.root
        if reference == "#first":
            reference = "#/$defs/d0"
        for name in reference.removeprefix("#").split("/")[1:]:
            found = found[name]
        return found

    def guessed(self, flat: Schema) -> str:
        """Return a type of which a schema has something to say."""
        hints = {
            "object": ("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
            "array": ("items", "prefixItems", "contains", "minItems"),
            "string": ("minLength", "maxLength", "pattern", "format"),
            "number": ("minimum", "maximum", "multipleOf"),
        }
        kinds = [kind for kind, names in hints.items() if any(name in flat for name in names)]
        return self.rng.choice(kinds or TYPES)

    def object(self, flat: Schema, depth: int) -> Schema:
        """Return an object, its listed properties in their order."""
        rng, made = self.rng, {}
        listed, required = flat.get("properties", {}), flat.get("required", [])
        for name, schema in listed.items():
            if name in required or rng.random() < 0.5:
                made[name] = self.of(schema, depth)
        for name in required:
            if name not in made:
                made[name] = self.of(flat.get("additionalProperties", True), depth)
        for pattern, schema in flat.get("patternProperties", {}).items():
            if rng.random() < 0.5:
                made.setdefault(rng.choice(PATTERNS.get(pattern, ("a",))), self.of(schema, depth))
        if rng.random() < 0.3:
            made.setdefault(rng.choice((*NAMES, "zz")), self.of(flat.get("additionalProperties", True), depth))
        return made

    def array(self, flat: Schema, depth: int) -> list[Any]:
        """Return an array."""
        rng = self.rng
        first = flat.get("prefixItems", [])
        least = max(flat.get("minItems", 0), flat.get("minContains", 0))
        count = rng.randint(least, max(least, min(flat.get("maxItems", 3), 4)))
        items = [self.of(first[at] if at < len(first) else flat.get("items", True), depth) for at in range(count)]
        if "contains" in flat and items and rng.random() < 0.7:
            items[rng.randrange(len(items))] = self.of(flat["contains"], depth)
        return items

    def string(self, flat: Schema) -> str:
        """Return a string."""
        rng = self.rng
        if "pattern" in flat:
            return rng.choice(PATTERNS.get(flat["pattern"], ("a", "ab")))
        if "format" in flat:
            return FORMATS.get(flat["format"], "a")
        least = flat.get("minLength", 0)
        length = rng.randint(least, max(least, flat.get("maxLength", least + 3)))
        return "".join(rng.choice('abé" 0🙂\\') for _ in range(length))

    def number(self, flat: Schema, kind: str) -> float:
        """Return a number near the bounds."""
        rng = self.rng
        bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        near_to = rng.choice([flat[name] for name in bounds if name in flat] or [0, 12])
        step = flat.get("multipleOf", 1 if kind == "integer" else 0.25)
        found = near_to + step * rng.randint(-3, 3)
        return int(found) if found == int(found) else found
