"""Random schemas of every keyword of draft 2020-12, and values that they may allow."""

import random
from functools import partial
from typing import Any, TypeAlias

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
