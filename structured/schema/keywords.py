"""A JSON Schema (draft 2020-12, or an older one) enters; the pattern of the JSON texts that may be generated leaves.

What is compiled is never one schema but several that one value has to satisfy all: those of `allOf`, of `$ref` with
keywords beside it, of a branch and what stands beside `anyOf`. They are gathered first, then a branch is taken for each
choice, and what is left is sorted by the type of the value; the functions in `TYPES` make the pattern of each. Whatever
the pattern matches is valid, and a keyword that cannot be honoured exactly is refused, never ignored. What is valid and
yet not matched was given up on purpose: the properties are in the order of the schema, and each value has one spelling.
A definition is built once; inside itself it is a reference by name.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from structured.errors import SchemaError
from structured.pattern import Pattern, Reference, alternation, literal, nodes_of, productive_nodes, words
from structured.schema.arrays import array
from structured.schema.assertions import ASSERTIONS, EVERY_TYPE, HIDDEN, INTERNAL, NUMBERS, UNEVALUATED, UNSUPPORTED
from structured.schema.choices import CHOICES
from structured.schema.conjunctions import SAYS_NOTHING, Conjunction
from structured.schema.drafts import Draft
from structured.schema.evaluation import NotEvaluatedError
from structured.schema.formats import PYDANTIC_FORMATS, SPECIFIED_FORMATS
from structured.schema.numbers import integer, number
from structured.schema.objects import Compilers, object_
from structured.schema.place import (
    ANNOTATIONS,
    Compilation,
    Complement,
    Optionals,
    Place,
    Reading,
    Schema,
    Subschema,
    Subschemas,
    UnsatisfiableError,
    check_shape,
)
from structured.schema.references import REFERENCES
from structured.schema.strings import quoted, read_rules, string, text_of
from structured.schema.values import allowed_values, listed_values, lists_values
from structured.schema.whitespace import DEFAULT_WHITESPACE, WHITESPACES, read_whitespace

STRUCTURE = frozenset({"$defs", *REFERENCES, "allOf", "const", "definitions", "else", "enum", "then", "type", *CHOICES})
"""Keywords that are looked at before the type of a value is known."""

_GATHERED = frozenset({*CHOICES, *UNEVALUATED, *REFERENCES, "allOf"})

IN_A_VALIDATOR = "Remove it, or check the rule in a Pydantic validator: an answer that it rejects is generated again."
PROBLEMS = {
    "ambiguous_aliases": "The same name may be read for two fields: {value}",
    "chain": "A step of a chain is of the kind {value!r}",
    "claimed": "The JSON Schema that the author gives contradicts what Pydantic validates",
    "configured_alias": "Whether the configuration of a model holds for {value} depends on Pydantic",
    "discriminator_function": "What chooses the branch cannot be seen in the schema: {value}",
    "extras_keys": "The names of additional members are of the kind {value!r}",
    "format": "The format {value!r} is not supported here yet",
    "function": "No format says what {value} accepts",
    "length": "The length is that of a value that is no longer the text",
    "unhashable": "An item of the kind {value!r} may be what no set can hold",
    "unreadable_values": "Pydantic does not find these values in JSON: {value}",
}
"""What is wrong where a keyword is refused, with the keyword and its value."""

REMEDIES = {
    "additionalProperties": "Use a model with named fields, or a list of models in place of the dictionary.",
    "ambiguous_aliases": "Give each field an alias of its own.",
    "chain": "Use one type, and check the rest in a Pydantic validator.",
    "claimed": "Remove it, or give a JSON Schema that only adds rules.",
    "configured_alias": "Write out the type, or state the rule in Annotated in place of the configuration.",
    "discriminator_function": "Name a field as the discriminator, or use a plain union.",
    "extras_keys": "Use str for them.",
    "format": "Use str or float, and convert it in a Pydantic validator.",
    "function": "Use str or a type without that check: whether it holds is known only when it is run.",
    "length": "Use str, bytes or a collection, or check the length in a Pydantic validator.",
    "prefixItems": "Use a model with named fields in place of the tuple.",
    "unhashable": "Use list in place of set, or items that have a hash: frozen models, tuples, plain values.",
    "uniqueItems": "Use list in place of set, and remove what is repeated in a Pydantic validator.",
    "unreadable_values": "Use strings or small integers.",
    "validation_alias": "Give the field an alias that is a plain name.",
}
"""What to do about a keyword that is refused, where there is something better than `IN_A_VALIDATOR`."""

MOST_COMBINATIONS = 3000
"""Branches of several choices that are combined with each other, in one schema."""

MOST_OPEN = 40
"""Definitions being built inside each other; one that is deeper is built afterwards, as the stack of calls is short."""

MOST_DEFINITIONS = 10_000
"""Definitions, each set of those that hold together counted as one: there may be as many as sets."""


def schema_to_pattern(
    schema: Schema | bool,
    whitespace: str = DEFAULT_WHITESPACE,
    *,
    reading: Reading = Reading.TYPE,
    documents: Mapping[str, Schema | bool] | None = None,
    draft: Draft = Draft.DRAFT_2020_12,
) -> Pattern:
    r"""Return the pattern of the JSON texts of a JSON Schema, with the whitespace of the style of that name.

    `{"type": "array", "items": {"type": "boolean"}, "maxItems": 2}` → `\[(?:(?:true|false)(?:, (?:true|false))?)?\]`

    `documents` are schemas that it may refer to, by their URIs, beside the metaschemas; `draft` is that of schemas
    without a `$schema`.

    Raises `SchemaError` where a keyword cannot be honoured exactly, or where nothing is valid.
    """
    optional: Optionals = "written" if reading is Reading.TYPE else "schema"
    return compiled(
        Compilation(schema, read_whitespace(whitespace), reading, optional, documents=documents or {}, draft=draft)
    )


def compiled(compilation: Compilation) -> Pattern:
    """Return the pattern of the whole schema of a compilation. Raises `SchemaError` as `schema_to_pattern` does."""
    compilation.library.check_vocabularies(compilation.library.start.resource)
    root, place = compilation.root, Place(compilation)
    if compilation.optional == "written" and not place.is_type and not isinstance(root, bool):
        root = {"$ref": "#"}  # inside of itself, the root is then written as it is outside
    return _pattern_at(Subschema(root, place))


def part_to_pattern(part: Subschema) -> Pattern:
    """Return the pattern of a part of a schema alone, as if it stood at the root. Raises `SchemaError` as the whole."""
    return _pattern_at(part._replace(place=part.place._replace(compilation=part.place.compilation.afresh())))


def _pattern_at(start: Subschema) -> Pattern:
    compilation = start.place.compilation
    try:
        pattern = pattern_of([start])
        while compilation.postponed:
            name, (gathered, place) = compilation.postponed.popitem()
            if name not in compilation.patterns:
                _defined(name, name, gathered, place)
        if compilation.references:
            _check_ends(pattern, compilation)
    except RecursionError as error:
        raise start.place.refusal("The schema is nested too deeply", remedy="Nest it less.") from error
    return pattern


def _check_ends(pattern: Pattern, compilation: Compilation) -> None:
    """Refuse a definition in a pattern that has to contain itself; others were left out with what refers to them."""
    left, productive = set(map(id, nodes_of(pattern))), productive_nodes(pattern)
    for reference, place in compilation.references:
        target = id(compilation.patterns.get(reference.name))
        if target in left and target not in productive:
            raise place.unsatisfiable(f"{reference.name} has to contain itself, without end", keyword="$ref")


def pattern_of(parts: Subschemas) -> Pattern:
    """Return the pattern of the values that satisfy every one of some schemas."""
    schema = parts[0].schema
    if len(parts) == 1 and isinstance(schema, dict) and _GATHERED.isdisjoint(schema):
        check_shape(parts[0])
        return _typed(parts, parts[0].place)
    gathered = Conjunction()
    for part in parts:
        gathered.add(part)
    place = parts[0].place
    if not gathered.followed and (not gathered.choices or _is_alone(gathered)):
        return _chosen(gathered, place)
    name = _definition_name(gathered, place)
    known = f"{name} at {place.depth}" if place.whitespace.indent else name
    pattern = place.compilation.patterns.get(known)
    if pattern is not None:
        return pattern
    if name in place.compilation.open_names:
        return _reference(name, gathered, place)
    if len(place.compilation.open_names) >= MOST_OPEN and not place.whitespace.indent:
        place.compilation.postponed[name] = gathered, place
        return _reference(name, gathered, place)
    return _defined(name, known, gathered, place)


def _reference(name: str, gathered: "Conjunction", place: Place) -> Reference:
    """Return a reference to a definition that is being built, or will be."""
    if place.whitespace.indent:
        raise place.refusal(
            f"{name} contains itself, and indented text needs to know how deep it is",
            keyword="$ref",
            remedy='Choose another whitespace: "spaced", "compact", "flexible" or "any".',
        )
    reference = Reference(name, place.compilation.patterns)
    place.compilation.references.append((reference, gathered.followed[0].place if gathered.followed else place))
    return reference


def _defined(name: str, known: str, gathered: "Conjunction", place: Place) -> Pattern:
    """Return the pattern of a definition, after building and keeping it."""
    compilation = place.compilation
    before = len(compilation.patterns)
    compilation.open_names.add(name)
    try:
        compilation.patterns[known] = _chosen(gathered, place)
    except SchemaError:  # what was built inside may refer to what will not be
        for inner in list(compilation.patterns)[before:]:
            del compilation.patterns[inner]
        raise
    finally:
        compilation.open_names.remove(name)
    return compilation.patterns[known]


def _definition_name(gathered: Conjunction, place: Place) -> str:
    """Return the name by which what was gathered is known; the same schemas have the same one."""
    compilation = place.compilation
    key = frozenset((part.identity, part.scopes) for part in gathered.parts), frozenset(gathered.denied)
    if key not in compilation.names:
        if len(compilation.names) == MOST_DEFINITIONS:
            raise place.refusal(
                f"Definitions are combined in more than {MOST_DEFINITIONS:,} ways",
                keyword="$ref",
                remedy="Let fewer of them hold together, with allOf or beside each other.",
            )
        named = gathered.followed or gathered.parts
        name = " and ".join(part.place.pointer.rpartition("/")[2] or "#" for part in named)
        compilation.namesakes[name] += 1
        count = compilation.namesakes[name]
        compilation.names[key] = name if count == 1 else f"{name} ({count})"
    return compilation.names[key]


def _chosen(gathered: Conjunction, place: Place) -> Pattern:
    """Return the pattern of what was gathered: any option of the first choice, with all the rest."""
    if not gathered.choices:
        return _typed(gathered.parts, place)
    if not place.is_type and lists_values(gathered.parts):
        with suppress(NotEvaluatedError):
            return listed_values(gathered.parts, _types(gathered.parts), list(gathered.denied.values()))
    alone = _is_alone(gathered)
    if not alone:
        gathered.settle()
        if not gathered.choices:
            return _typed(gathered.parts, place)
        gathered.choices.sort(key=lambda choice: len(choice.options))
    part, keyword, options, _ = gathered.choices[0]
    if not options:
        raise part.place.unsatisfiable("there is no branch", keyword=keyword)
    compilation = place.compilation
    compilation.combinations += 0 if alone else len(options)
    if compilation.combinations > MOST_COMBINATIONS:
        raise part.place.refusal(
            f"Choices are combined in more than {MOST_COMBINATIONS:,} ways", keyword=keyword, remedy="Nest fewer."
        )
    if alone:
        return _any_of(pattern_of, options)
    return _any_of(lambda option: _chosen(gathered.with_option(option), place), options)


def _is_alone(gathered: Conjunction) -> bool:
    """Tell whether there is nothing but one choice, of single schemas."""
    _, keyword, options, _ = gathered.choices[0]
    return (
        len(gathered.choices) == 1
        and all(len(option) == 1 for option in options)
        and len(gathered.denied) <= (keyword == "not")
        and all(not _says_more(other, keyword) for other in gathered.parts)
    )


def _says_more(part: Subschema, choice: str) -> bool:
    """Tell whether a schema says anything beside its choice."""
    return bool(part.schema.keys() - SAYS_NOTHING - {choice, "allOf", "discriminator"})


def names_of(parts: Subschemas) -> Pattern:
    """Return the pattern, of characters, of the strings that satisfy every one of some schemas."""
    gathered = Conjunction()
    for part in parts:
        gathered.add(part)
    return _chosen_names(gathered, parts[0].place)


def _chosen_names(gathered: Conjunction, place: Place) -> Pattern:
    if not gathered.choices and lists_values(gathered.parts):
        for part in gathered.parts if place.is_type else ():
            _check_keywords(part, _ALONE["string"])
        return words(allowed_values(gathered.parts, _ALONE["string"]))
    if gathered.choices:
        part, keyword, options, _ = gathered.choices[0]
        if not options:
            raise part.place.unsatisfiable("there is no branch", keyword=keyword)
        return _any_of(lambda option: _chosen_names(gathered.with_option(option), place), options)
    types = _types(gathered.parts)
    if place.is_type and "string" not in types:
        return _spelled_names(gathered.parts, types, place)
    if "string" not in types:
        raise place.unsatisfiable("a name is a string", keyword="type")
    for part in gathered.parts:
        _check_keywords(part, _ALONE["string"])
        if place.is_type and "contentSchema" in part.schema:
            raise part.place.refusal(
                "A key that holds JSON is not supported", keyword="contentSchema", remedy="Use str for the keys."
            )
    return text_of(read_rules(gathered.parts), place)


SPELLED_IN_KEYS = frozenset({"boolean", "integer", "number"})
"""Types of which Pydantic reads a key as it reads a value."""


def _spelled_names(parts: Subschemas, types: frozenset[str], place: Place) -> Pattern:
    """Return the keys that spell a number or a truth value, as a dictionary of a type has them."""
    if not types <= SPELLED_IN_KEYS:
        raise place.refusal(
            f"No key of a JSON object is of the type {min(types - SPELLED_IN_KEYS)!r}",
            keyword="type",
            remedy="Use a list of pairs in place of the dictionary.",
        )
    return _typed(parts, place)


def _any_of(pattern: Callable[[Any], Pattern], options: list[Any]) -> Pattern:
    """Return any of the options that can be satisfied."""
    found: list[Pattern] = []
    failures: list[UnsatisfiableError] = []
    for option in options:
        try:
            found.append(pattern(option))
        except UnsatisfiableError as error:
            failures.append(error)
    if not found:
        raise failures[0]
    return alternation(*found)


def _typed(parts: Subschemas, place: Place) -> Pattern:
    """Return the pattern of schemas without choices: one option for each type that they allow."""
    types = _types(parts)
    if not types:
        named = next(part for part in reversed(parts) if "type" in part.schema)
        raise named.place.unsatisfiable("no value is of all the types", keyword="type")
    for part in parts:
        _check_keywords(part, types)
    if lists_values(parts):
        return listed_values(parts, types)
    if types == EVERY_TYPE:
        asserting = next((part for part in parts if part.schema.keys() & ASSERTIONS.keys()), None)
        if asserting is None:
            return any_value(place)
        if place.is_type:
            raise asserting.place.refusal("A rule for values of any type is not supported", remedy="Name the type.")
    own = parts or [Subschema({}, place)]
    if len(types) == 1:
        (name,) = types
        return TYPES[name](own, place)
    return _any_of(lambda name: TYPES[name](own, place), [name for name in TYPES if name in types])


def _types(parts: Subschemas) -> frozenset[str]:
    """Return the types that all schemas allow (validation §6.1.1); an integer is a number."""
    allowed = EVERY_TYPE
    for part in parts:
        if "type" in part.schema:
            named = _named_types(part)
            allowed = named if allowed is EVERY_TYPE else _common_types(allowed, named)
    return allowed


def _named_types(part: Subschema) -> frozenset[str]:
    named = part.schema["type"]
    if isinstance(named, str) and named in _ALONE:
        return _ALONE[named]
    names = named if isinstance(named, list) else [named]
    for name in names:
        if not isinstance(name, str) or name not in TYPES:
            raise part.place.refusal(
                f"The type {name!r} is not supported", keyword="type", remedy=f"Use one of {', '.join(TYPES)}."
            )
    return frozenset(names) - {"integer"} if "number" in names else frozenset(names)


def _common_types(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    """Return what is of a type on both sides: `{number}`, `{integer, null}` → `{integer}`."""
    common = left & right
    whole = "integer" in left | right and not (left.isdisjoint(NUMBERS) or right.isdisjoint(NUMBERS))
    return common | {"integer"} if whole else common


def _check_keywords(part: Subschema, types: frozenset[str]) -> None:
    """Refuse a keyword that forbids something and is not honoured here."""
    schema, place = part.schema, part.place
    for keyword in schema:
        if keyword in ANNOTATIONS or keyword in STRUCTURE:
            continue
        applies = ASSERTIONS.get(keyword) if keyword not in INTERNAL or isinstance(schema, Complement) else None
        if place.is_type:
            applies = applies or HIDDEN.get(keyword)
            known = not types.isdisjoint(applies) if applies else keyword == "discriminator" and "oneOf" in schema
        else:
            known = keyword not in UNSUPPORTED or types.isdisjoint(UNSUPPORTED[keyword])
            known = known or schema[keyword] in _HARMLESS.get(keyword, ())
        if not known:
            problem = PROBLEMS.get(keyword, "{keyword!r} is not supported here yet")
            raise place.refusal(
                problem.format(keyword=keyword, value=schema[keyword]),
                keyword=keyword,
                remedy=REMEDIES.get(keyword, IN_A_VALIDATOR),
            )


def any_value(place: Place) -> Pattern:
    """Return any JSON value, however deep (core §4.3.1)."""
    compilation = place.compilation
    if place.whitespace.indent:
        raise place.refusal(
            "A value of any type may be nested, and indented text needs to know how deep it is",
            remedy='Say what type it has, or choose another whitespace: "spaced", "compact", "flexible" or "any".',
        )
    inside = compilation.patterns.get(_ANY)
    return _any_value(place.whitespace.name, place.plain_numbers) if inside is None else inside


_ANY = "any value"


@cache
def _any_value(whitespace: str, plain_numbers: bool) -> Pattern:
    """Return any value, the same node every time."""
    style = read_whitespace(whitespace)
    patterns: dict[str, Pattern] = {}
    patterns[_ANY] = Reference(_ANY, patterns)  # what is inside refers to it
    place = Place(Compilation({}, style, Reading.SPECIFICATION, plain_numbers=plain_numbers, patterns=patterns))
    anything = [Subschema({}, place)]
    patterns[_ANY] = alternation(*(TYPES[kind](anything, place) for kind in TYPES if kind != "integer"))
    return patterns[_ANY]


@cache
def common_patterns() -> tuple[Pattern, ...]:
    """Return patterns that many schemas contain, so that they can be prepared once."""
    anything = [
        _any_value(style.name, plain_numbers)
        for style in WHITESPACES.values()
        if not style.indent
        for plain_numbers in (True, False)
    ]
    formats = [PYDANTIC_FORMATS[name] for name in ("date", "date-time", "time")]
    formats += [SPECIFIED_FORMATS[name] for name in ("date", "date-time", "time", "uuid", "ipv4")]
    numbers = [
        TYPES[kind]([Subschema(schema, place)], place)
        for reading in Reading
        for place in [Place(Compilation({}, read_whitespace(DEFAULT_WHITESPACE), reading))]
        for kind, schema in (("number", {}), ("integer", {}), ("integer", {"minimum": 0}), ("integer", {"minimum": 1}))
    ]
    return (*anything, *numbers, *map(quoted, formats))


def null(_parts: Subschemas, _place: Place) -> Pattern:
    """Return `null`."""
    return literal("null")


def boolean(_parts: Subschemas, _place: Place) -> Pattern:
    """Return `true` or `false`."""
    return words(("true", "false"))


TYPES: dict[str, Callable[[Subschemas, Place], Pattern]] = {
    "array": lambda parts, place: array(parts, place, pattern_of),
    "boolean": boolean,
    "integer": integer,
    "null": null,
    "number": number,
    "object": lambda parts, place: object_(parts, place, Compilers(pattern_of, names_of)),
    "string": lambda parts, place: string(parts, place, pattern_of),
}

_ALONE = {name: frozenset({name}) for name in TYPES}
_HARMLESS: dict[str, tuple[Any, ...]] = {
    "uniqueItems": (False,),
    "minProperties": (0,),
    **dict.fromkeys(("dependencies", "dependentRequired", "dependentSchemas", "patternProperties"), ({},)),
    **dict.fromkeys(("propertyNames", "unevaluatedItems", "unevaluatedProperties"), (True, {})),
}
"""Values with which they forbid nothing."""
