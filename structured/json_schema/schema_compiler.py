"""The compiler of JSON Schemas (draft 2020-12 and older ones) to patterns of the JSON texts that they allow.

The compiler works on lists of schemas that one value has to satisfy together: those of `allOf`, of `$ref` with keywords
beside it, of a branch with the keywords beside `anyOf`. It gathers them first, then takes each branch of each choice,
and divides the rest by the type of the value; the functions in `TYPES` make the pattern of each type. Every text that
the pattern matches is valid, and a keyword that cannot be enforced exactly is refused, never ignored. Some valid texts
are left out on purpose: properties are in the order of the schema, and each value has one spelling. A definition is
built once; inside itself it is a reference by name.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from structured.automata import Foundation
from structured.errors import SchemaError, UnsatisfiableError
from structured.errors.recursion import deep
from structured.json_schema.arrays import array
from structured.json_schema.canonical_json import canonical_listing, canonical_numbers
from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.document.location import (
    MAX_COMBINATIONS,
    UNSATISFIABLE,
    Compilation,
    Location,
    OptionalProperties,
    Reading,
    Schema,
    Subschema,
    Subschemas,
    check_shape,
)
from structured.json_schema.document.references import REFERENCES
from structured.json_schema.grounding import check_grounded, grounded, is_grounded
from structured.json_schema.keyword_types import ASSERTIONS, DISJOINT_TYPES, UNEVALUATED, allowed_types
from structured.json_schema.logic.choices import CHOICES
from structured.json_schema.logic.conjunctions import Conjunction, Way, check_ends, definition
from structured.json_schema.logic.listed_values import allowed_values, listed_values, lists_values
from structured.json_schema.logic.validity import NotEvaluatedError
from structured.json_schema.numbers.number_patterns import integer, number
from structured.json_schema.objects import Compilers, object_
from structured.json_schema.required_members import Clause, clauses_of
from structured.json_schema.strings.formats import PYDANTIC_FORMATS, SPECIFIED_FORMATS
from structured.json_schema.strings.strings import quoted, read_rules, string, text_of
from structured.json_schema.unsupported_keywords import check_keywords
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, WHITESPACES, WhitespaceName, read_whitespace
from structured.regex import Pattern, Reference, alternation, literal, words

_GATHERED = frozenset({*CHOICES, *UNEVALUATED, *REFERENCES, "allOf"})
_OBJECT = frozenset({"object"})
_STRING = frozenset({"string"})

MAX_FREE = 300
"""The most combinations for which properties stay in any order. Where rules about them have more, properties are
written in the order of the schema."""

MANY = 100
"""Schemas of one combination that count as one unit of work; a combination of more counts several times."""


def schema_to_pattern(
    schema: Schema | bool,
    whitespace: WhitespaceName = DEFAULT_WHITESPACE,
    *,
    reading: Reading = Reading.TYPE,
    documents: Mapping[str, Schema | bool] | None = None,
    draft: SchemaDraft = SchemaDraft.DRAFT_2020_12,
) -> Pattern:
    r"""Return the pattern of the JSON texts of a JSON Schema, with the whitespace of the style of that name.

    `{"type": "array", "items": {"type": "boolean"}, "maxItems": 2}` → `\[(?:(?:true|false)(?:, (?:true|false))?)?\]`

    `documents` are the schemas that references may lead to, by URI, beside the metaschemas; `draft` is that of schemas
    without a `$schema`.

    Raises `SchemaError` where a keyword cannot be enforced exactly, or where nothing is valid.
    """
    optional: OptionalProperties = "written" if reading is Reading.TYPE else "schema"
    return compiled(
        Compilation(schema, read_whitespace(whitespace), reading, optional, documents=documents or {}, draft=draft)
    )


@deep
def compiled(compilation: Compilation) -> Pattern:
    """Return the pattern of the whole schema of a compilation. Raises `SchemaError` as `schema_to_pattern` does.

    Where only unlisted properties could satisfy it, the error says so, and is no UnsatisfiableError.
    """
    try:
        return _whole(compilation)
    except UnsatisfiableError as error:
        if compilation.optional == "schema" or compilation.statements is not None:
            raise
        freely = compilation.uncompiled()
        freely.optional = "schema"
        try:
            _whole(freely)
        except UnsatisfiableError:
            raise error from None
        except SchemaError:  # for another reason
            pass
        raise SchemaError(
            f"{error.problem.removeprefix(UNSATISFIABLE)}, unless properties are written that the schema does not list",
            schema_path=error.schema_path,
            keyword=error.keyword,
            remedy='Allow them, with layout=JsonLayout(optional_properties="schema"), or list what may be there.',
        ) from None


def _whole(compilation: Compilation) -> Pattern:
    compilation.library.check_vocabularies(compilation.library.start.resource)
    root, location = compilation.root, Location(compilation)
    if compilation.optional == "written" and not location.is_type and not isinstance(root, bool):
        root = {"$ref": "#"}  # so a root that contains itself is written there as it is outside
    return _pattern_at(Subschema(root, location))


@deep
def part_to_pattern(part: Subschema, compilation: Compilation | None = None) -> Pattern:
    """Return the pattern of a part of a schema, as if it were the root. Raises `SchemaError` as `compiled` does."""
    alone = part.location.compilation.uncompiled() if compilation is None else compilation
    return _pattern_at(part._replace(location=part.location._replace(compilation=alone)))


def _pattern_at(start: Subschema) -> Pattern:
    pattern = pattern_of([start])
    if start.location.compilation.references:
        check_ends(pattern, start.location.compilation)
    return pattern


def pattern_of(schemas: Subschemas) -> Pattern:
    """Return the pattern of the values that satisfy all of some schemas, the same node for the same schemas.

    A pattern that refers to a definition under construction is not kept: elsewhere it contains the definition itself.
    """
    location = schemas[0].location
    compilation = location.compilation
    depth = location.depth if location.whitespace.indent else 0
    key = depth, *[(part.identity, part.scopes) for part in schemas]
    entry = compilation.together.get(key)
    if entry is None:
        references = len(compilation.references)
        entry = schemas, _pattern_of(schemas)
        if len(compilation.references) == references:
            compilation.together[key] = entry
    return entry[1]


@deep
def _pattern_of(schemas: Subschemas) -> Pattern:
    schema = schemas[0].schema
    if len(schemas) == 1 and isinstance(schema, dict) and _GATHERED.isdisjoint(schema):
        check_shape(schemas[0])
        return _typed(schemas, schemas[0].location)
    gathered = Conjunction()
    for part in schemas:
        gathered.add(part)
    location = schemas[0].location
    if not gathered.followed and (not gathered.choices or gathered.is_one_choice):
        return _chosen(gathered, location)
    return definition(gathered, location, _chosen)


@deep
def _chosen(gathered: Conjunction, location: Location) -> Pattern:
    """Return the pattern of a conjunction: any option of its first choice, with all the rest."""
    if not gathered.choices:
        return _typed(gathered.schemas, location, list(gathered.denied.values()))
    alone = gathered.is_one_choice
    listed = _listed_among_choices(gathered, location)
    if listed is None and not alone:
        gathered.settle()
        if not gathered.choices:
            return _typed(gathered.schemas, location, list(gathered.denied.values()))
        gathered.choices.sort(key=lambda choice: len(choice.options))
        listed = _listed_among_choices(gathered, location)  # the only option left of a choice may list values
    if listed is not None:
        return listed
    clauses = None if alone else _clauses_of(gathered, location)
    if clauses is None:
        return _combined(gathered, location, alone=alone)
    if location.compilation.key_order == "any":
        try:
            return _combined_in_few_ways(gathered, location)
        except _TooManyWaysError:
            if location.compilation.combinations > location.compilation.max_combinations:
                raise
    for part in gathered.schemas:
        check_keywords(part, _OBJECT)
    return object_(gathered.schemas, location, Compilers(pattern_of, names_of), clauses)


def _listed_among_choices(gathered: Conjunction, location: Location) -> Pattern | None:
    """Return the listed values that the rest allows, whatever is chosen; None if none are listed or it is undecided."""
    if location.is_type or not lists_values(gathered.schemas):
        return None
    with suppress(NotEvaluatedError):
        types, denied = allowed_types(gathered.schemas), list(gathered.denied.values())
        return _listed(gathered.schemas, types, location, denied, is_open=True)
    return None


class _TooManyWaysError(SchemaError):
    """The choices of a schema have too many combinations."""


def _combined(gathered: Conjunction, location: Location, *, alone: bool = False) -> Pattern:
    """Return the union of the patterns of each way to settle the first choice.

    Ways that distinguish denied schemas by a property are not taken where optional properties are always written, or
    have one order, since they would change the texts.
    """
    part, keyword, options, _ = gathered.choices[0]
    if not options:
        raise part.location.unsatisfiable("there is no branch", keyword=keyword)
    if alone:
        return _any_of(pattern_of, options)
    compilation = location.compilation
    ways = gathered.ways(by_property=compilation.key_order == "any" and compilation.optional == "schema")
    compilation.combinations += len(ways) * (1 + len(gathered.schemas) // MANY)
    if compilation.combinations > compilation.max_combinations:
        raise _TooManyWaysError(
            f"Choices are combined in more than {MAX_COMBINATIONS:,} ways",
            schema_path=part.location.pointer,
            keyword=keyword,
            remedy="Nest fewer.",
        )
    return _any_of(lambda way: _chosen(gathered.after_way(way), location), ways)


def _combined_in_few_ways(gathered: Conjunction, location: Location) -> Pattern:
    """Return the union with at most `MAX_FREE` combinations. Raises `_TooManyWaysError` where there are more."""
    compilation = location.compilation
    start, most = compilation.combinations, compilation.max_combinations
    compilation.max_combinations = min(most, start + MAX_FREE)
    try:
        return _combined(gathered, location)
    except _TooManyWaysError:
        if compilation.combinations <= most:
            compilation.combinations = start
        raise
    finally:
        compilation.max_combinations = most


def _clauses_of(gathered: Conjunction, location: Location) -> list[Clause] | None:
    """Return the choices that are left as clauses about properties; None if some choice is not about properties."""
    if location.is_type or len(gathered.choices) == 1 or lists_values(gathered.schemas):
        return None
    return clauses_of(gathered.choices) if gathered.context.rules.types == _OBJECT else None


def names_of(schemas: Subschemas) -> Pattern:
    """Return the pattern, without quotes, of the names that satisfy all of some schemas."""
    gathered = Conjunction()
    for part in schemas:
        gathered.add(part)
    return _chosen_names(gathered, schemas[0].location)


@deep
def _chosen_names(gathered: Conjunction, location: Location) -> Pattern:
    if is_grounded(gathered.schemas):
        raise location.refusal(
            "The keys of a dictionary cannot be grounded",
            remedy="Ground the values, or ask for a list of pairs: list[tuple[Grounded[str], int]].",
        )
    if not gathered.choices and lists_values(gathered.schemas):
        for part in gathered.schemas if location.is_type else ():
            check_keywords(part, _STRING)
        return words(allowed_values(gathered.schemas, _STRING, list(gathered.denied.values())))
    if gathered.choices:
        part, keyword, options, _ = gathered.choices[0]
        if not options:
            raise part.location.unsatisfiable("there is no branch", keyword=keyword)
        ways = [Way(option, gathered.choices[1:]) for option in options]
        return _any_of(lambda way: _chosen_names(gathered.after_way(way), location), ways)
    types = allowed_types(gathered.schemas)
    if location.is_type and "string" not in types:
        return _spelled_names(gathered.schemas, types, location)
    if "string" not in types:
        raise location.unsatisfiable("a name is a string", keyword="type")
    for part in gathered.schemas:
        check_keywords(part, _STRING)
        if location.is_type and "contentSchema" in part.schema:
            raise part.location.refusal(
                "A key that holds JSON is not supported", keyword="contentSchema", remedy="Use str for the keys."
            )
    return text_of(read_rules(gathered.schemas), location)


SPELLED_IN_KEYS = frozenset({"boolean", "integer", "number"})
"""Types for which Pydantic reads a key as it reads a value."""


def _spelled_names(schemas: Subschemas, types: frozenset[str], location: Location) -> Pattern:
    if not types <= SPELLED_IN_KEYS:
        raise location.refusal(
            f"No key of a JSON object is of the type {min(types - SPELLED_IN_KEYS)!r}",
            keyword="type",
            remedy="Use a list of pairs in place of the dictionary.",
        )
    return _typed(schemas, location)


def _any_of(pattern: Callable[[Any], Pattern], options: list[Any]) -> Pattern:
    """Return the union of the options that can be satisfied."""
    patterns: list[Pattern] = []
    failures: list[UnsatisfiableError] = []
    for option in options:
        try:
            patterns.append(pattern(option))
        except UnsatisfiableError as error:
            failures.append(error)
    if not patterns:
        raise failures[0]
    return alternation(*patterns)


def _typed(schemas: Subschemas, location: Location, denied: Sequence[Subschema] = ()) -> Pattern:
    """Return the pattern of schemas without choices: the union of the types that they allow."""
    types = allowed_types(schemas)
    if not types:
        named = next(part for part in reversed(schemas) if "type" in part.schema)
        raise named.location.unsatisfiable("no value is of all the types", keyword="type")
    for part in schemas:
        check_keywords(part, types)
    if is_grounded(schemas):
        check_grounded(types, location, is_listed=lists_values(schemas))
        return _any_of(lambda name: grounded(name, schemas, location, TYPES[name](schemas, location)), sorted(types))
    if lists_values(schemas):
        return _listed(schemas, types, location, denied)
    if types == DISJOINT_TYPES:
        asserting = next((part for part in schemas if part.schema.keys() & ASSERTIONS.keys()), None)
        if asserting is None:
            return any_value(location)
        if location.is_type:
            raise asserting.location.refusal("A rule for values of any type is not supported", remedy="Name the type.")
    own = schemas or [Subschema({}, location)]
    if len(types) == 1:
        (name,) = types
        return TYPES[name](own, location)
    return _any_of(lambda name: TYPES[name](own, location), [name for name in TYPES if name in types])


def _listed(
    schemas: Subschemas,
    types: frozenset[str],
    location: Location,
    denied: Sequence[Subschema],
    *,
    is_open: bool = False,
) -> Pattern:
    """Return the listed values that the rest allows, in canonical form where values are compared by their texts."""
    if location.compilation.canonical_form is None:
        return listed_values(schemas, types, denied, is_open=is_open)
    return canonical_listing(allowed_values(schemas, types, denied, is_open=is_open), location)


def any_value(location: Location) -> Pattern:
    """Return any JSON value, however deep (core §4.3.1)."""
    compilation = location.compilation
    if location.whitespace.indent:
        raise location.refusal(
            "A value of any type may be nested, and indented text needs to know how deep it is",
            remedy='Name its type, or choose another whitespace: "spaced", "compact", "flexible" or "any".',
        )
    inside = compilation.patterns.get(ANY_VALUE)
    if inside is not None:
        return inside
    form = compilation.canonical_form
    if form is None:
        return _any_value(location.whitespace.name)

    def make() -> Pattern:
        return _anything(Compilation({}, location.whitespace, Reading.SPECIFICATION, canonical_form=form))

    return compilation.once(ANY_VALUE, make)


ANY_VALUE = "any value"
"""The name under which a value of any type refers to the values inside it."""


@cache
def _any_value(whitespace: WhitespaceName) -> Pattern:
    """Return any value, the same node every time."""
    return _anything(Compilation({}, read_whitespace(whitespace), Reading.SPECIFICATION))


def _anything(alone: Compilation) -> Pattern:
    """Return any value, in a compilation of its own."""
    alone.patterns[ANY_VALUE] = Reference(ANY_VALUE, alone.patterns)  # for the values inside
    location = Location(alone)
    anything = [Subschema({}, location)]
    pattern = alternation(*(TYPES[kind](anything, location) for kind in TYPES if kind != "integer"))
    alone.patterns[ANY_VALUE] = pattern
    return pattern


@cache
def foundation() -> Foundation:
    """Return the patterns that many schemas contain, assembled once."""
    anything = [_any_value(style.name) for style in WHITESPACES.values() if not style.indent]
    formats = [PYDANTIC_FORMATS[name] for name in ("date", "date-time", "time")]
    formats += [SPECIFIED_FORMATS[name] for name in ("date", "date-time", "time", "uuid", "ipv4")]
    numbers = [
        TYPES[kind]([Subschema(schema, location)], location)
        for location in [Location(Compilation({}, read_whitespace(DEFAULT_WHITESPACE), Reading.TYPE))]
        for kind, schema in (("number", {}), ("integer", {}), ("integer", {"minimum": 0}), ("integer", {"minimum": 1}))
    ]
    return Foundation((*anything, *numbers, *map(quoted, formats)))


TYPES: dict[str, Callable[[Subschemas, Location], Pattern]] = {
    "array": lambda schemas, location: array(schemas, location, pattern_of),
    "boolean": lambda _schemas, _location: words(("true", "false")),
    "integer": lambda schemas, location: canonical_numbers(integer(schemas, location), location),
    "null": lambda _schemas, _location: literal("null"),
    "number": lambda schemas, location: canonical_numbers(number(schemas, location), location),
    "object": lambda schemas, location: object_(schemas, location, Compilers(pattern_of, names_of)),
    "string": lambda schemas, location: string(schemas, location, pattern_of),
}
