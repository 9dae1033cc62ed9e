"""The compiler of JSON Schemas (draft 2020-12 and older ones) to patterns of the JSON texts that they allow.

The compiler works on lists of schemas that one value has to satisfy together: those of `allOf`, of `$ref` with keywords
beside it, of a branch with the keywords beside `anyOf`. It gathers them in a `Conjunction`, takes each branch of each
choice, and divides the cases by the type of the value; the functions in `TYPES` make the pattern of each type. Every
text that the pattern matches is valid, and a keyword that cannot be enforced exactly is refused, never ignored. Some
valid texts are left out on purpose: properties are in the order of the schema, and each value has one spelling. A
definition is built once; inside itself it is a reference by name.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any, get_args

from structured.automata import Foundation
from structured.errors import SchemaError, UnsatisfiableError
from structured.errors.recursion import deep
from structured.json_schema.arrays import array
from structured.json_schema.canonical_json import canonical_listing, canonical_numbers
from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.document.equality import CanonicalForm
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
)
from structured.json_schema.document.references import REFERENCES
from structured.json_schema.grounding import check_grounded, grounded, is_grounded
from structured.json_schema.keyword_types import (
    ASSERTIONS,
    DISJOINT_TYPES,
    OBJECT,
    STRING,
    UNEVALUATED,
    allowed_types,
    check_shape,
)
from structured.json_schema.logic.choices import CHOICES
from structured.json_schema.logic.conjunctions import Case, Conjunction, check_productive, definition
from structured.json_schema.logic.listed_values import allowed_values, listed_values, lists_values
from structured.json_schema.logic.validity import NotEvaluatedError
from structured.json_schema.numbers.number_patterns import integer, number
from structured.json_schema.objects import Compilers, object_
from structured.json_schema.required_members import Clause, clauses_of
from structured.json_schema.scalars import kept_pattern, scalar_content
from structured.json_schema.strings.formats import PYDANTIC_FORMATS, SPECIFIED_FORMATS
from structured.json_schema.strings.strings import json_string, rules_to_pattern, string, string_rules_of
from structured.json_schema.unsupported_keywords import check_keywords
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, WHITESPACES, WhitespaceName, read_whitespace
from structured.regex import Pattern, Reference, alternation, literal, words

_IN_PLACE_KEYWORDS = frozenset({*CHOICES, *UNEVALUATED, *REFERENCES, "allOf"})

MAX_COMBINATIONS_IN_ANY_ORDER = 300
"""The most combinations of choices for which properties stay in any order; with more, they have that of the schema."""

SCHEMAS_PER_COMBINATION = 100
"""A combination counts once, and once more for each so many of its schemas."""


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
    style = read_whitespace(whitespace)
    return compiled(Compilation(schema, style, reading, optional, documents=documents or {}, draft=draft))


@deep
def compiled(compilation: Compilation) -> Pattern:
    """Return the pattern of the whole schema of a compilation. Raises `SchemaError` as `schema_to_pattern` does.

    Where a freer treatment of optional properties could satisfy it, the error says so, and is no UnsatisfiableError.
    """
    try:
        return _root_pattern(compilation)
    except UnsatisfiableError as error:
        if compilation.statements is not None:
            raise
        raise _error_with_remedy(error, compilation) from None


_FREER_TREATMENTS: dict[OptionalProperties, tuple[str, str]] = {
    "omittable": (
        "unless optional properties are left out",
        'Allow that, with layout=JsonLayout(optional_properties="omittable"), or let some value be valid.',
    ),
    "schema": (
        "unless properties are written that the schema does not list",
        'Allow them, with layout=JsonLayout(optional_properties="schema"), or list what may be there.',
    ),
}
"""The freer treatments of optional properties: the condition that each allows, and the remedy."""


def _error_with_remedy(error: SchemaError, compilation: Compilation) -> SchemaError:
    """Return the error of a compilation, with a freer treatment of optional properties as its remedy if one helps."""
    treatments = get_args(OptionalProperties)
    for treatment in treatments[treatments.index(compilation.optional_properties) + 1 :]:
        condition, remedy = _FREER_TREATMENTS[treatment]
        problem, source = f"{error.problem.removeprefix(UNSATISFIABLE)}, {condition}", error
        freer = compilation.uncompiled()
        freer.optional_properties = treatment
        try:
            _root_pattern(freer)
        except UnsatisfiableError:
            continue
        except SchemaError as other:  # so it remains unknown whether the treatment helps
            problem, source, remedy = f"{problem}; but then: {other.problem}", other, other.remedy
        return SchemaError(problem, schema_path=source.schema_path, keyword=source.keyword, remedy=remedy)
    return error


def _root_pattern(compilation: Compilation) -> Pattern:
    compilation.library.check_vocabularies(compilation.library.start.resource)
    root, location = compilation.root, Location(compilation)
    if compilation.optional_properties == "written" and not location.is_type and not isinstance(root, bool):
        root = {"$ref": "#"}  # so a root that contains itself is written there as it is outside
    return _pattern_at(Subschema(root, location))


@deep
def part_to_pattern(part: Subschema, compilation: Compilation | None = None) -> Pattern:
    """Return the pattern of a part of a schema, as if it were the root. Raises `SchemaError` as `compiled` does."""
    compilation = part.location.compilation.uncompiled() if compilation is None else compilation
    return _pattern_at(part._replace(location=part.location._replace(compilation=compilation)))


def _pattern_at(start: Subschema) -> Pattern:
    pattern = pattern_of([start])
    if start.location.compilation.recursive_references:
        check_productive(pattern, start.location.compilation)
    return pattern


def pattern_of(schemas: Subschemas) -> Pattern:
    """Return the pattern of the values that satisfy all of some schemas, the same node for the same schemas.

    A pattern that refers to a definition under construction is not kept: elsewhere it contains the definition itself.
    """
    content = scalar_content(schemas)
    if content is not None:
        return kept_pattern(content, schemas[0], partial(_pattern_of, schemas))
    location = schemas[0].location
    compilation = location.compilation
    depth = location.depth if location.whitespace.indent else 0
    key = depth, *[(part.identity, part.unevaluated_parents) for part in schemas]
    entry = compilation.patterns_by_schemas.get(key)
    if entry is None:
        references = len(compilation.recursive_references)
        entry = schemas, _pattern_of(schemas)
        if len(compilation.recursive_references) == references:
            compilation.patterns_by_schemas[key] = entry
    return entry[1]


@deep
def _pattern_of(schemas: Subschemas) -> Pattern:
    schema = schemas[0].schema
    if len(schemas) == 1 and isinstance(schema, dict) and _IN_PLACE_KEYWORDS.isdisjoint(schema):
        check_shape(schemas[0])
        return _pattern_by_type(schemas, schemas[0].location)
    conjunction, location = Conjunction(schemas), schemas[0].location
    if not conjunction.followed and (not conjunction.choices or conjunction.is_one_choice):
        return _pattern_of_conjunction(conjunction, location)
    return definition(conjunction, location, _pattern_of_conjunction)


@deep
def _pattern_of_conjunction(conjunction: Conjunction, location: Location) -> Pattern:
    """Return the pattern of a conjunction: the union over its cases."""
    if not conjunction.choices:
        return _pattern_by_type(conjunction.schemas, location, list(conjunction.denied.values()))
    is_alone = conjunction.is_one_choice
    listed = _listed_values_under_choices(conjunction, location)
    if listed is None and not is_alone:
        conjunction.settle()
        if not conjunction.choices:
            return _pattern_by_type(conjunction.schemas, location, list(conjunction.denied.values()))
        conjunction.choices.sort(key=lambda choice: len(choice.options))
        listed = _listed_values_under_choices(conjunction, location)  # the only option left of a choice may list values
    if listed is not None:
        return listed
    clauses = None if is_alone else _clauses_of_choices(conjunction, location)
    if clauses is None:
        return _pattern_of_cases(conjunction, location, is_alone=is_alone)
    if location.compilation.key_order == "any":
        pattern = _pattern_of_few_cases(conjunction, location)
        if pattern is not None:
            return pattern
    for part in conjunction.schemas:
        check_keywords(part, OBJECT)
    return object_(conjunction.schemas, location, Compilers(pattern_of, names_of), clauses)


def _listed_values_under_choices(conjunction: Conjunction, location: Location) -> Pattern | None:
    """Return the listed values that all else allows, whatever is chosen; None if none are listed or it is undecided."""
    if location.is_type or not lists_values(conjunction.schemas):
        return None
    with suppress(NotEvaluatedError):
        types, denied = allowed_types(conjunction.schemas), list(conjunction.denied.values())
        return _pattern_of_listed_values(conjunction.schemas, types, location, denied, has_choices=True)
    return None


def _pattern_of_cases(conjunction: Conjunction, location: Location, *, is_alone: bool = False) -> Pattern:
    """Return the union of the patterns of all cases.

    Cases that distinguish denied schemas by a property are not taken where optional properties are always written, or
    have one order, since they would change the texts.
    """
    if is_alone:
        return _union(pattern_of, conjunction.choices[0].options)
    compilation = location.compilation
    is_free = compilation.key_order == "any" and compilation.optional_properties == "schema"
    cases = _counted_cases(conjunction, compilation, by_property=is_free)
    return _union(lambda case: _pattern_of_conjunction(conjunction.in_case(case), location), cases)


def _counted_cases(conjunction: Conjunction, compilation: Compilation, *, by_property: bool = False) -> list[Case]:
    """Return the cases of a conjunction. Raises `SchemaError` if those of the whole schema are too many."""
    part, keyword, _, _ = conjunction.choices[0]
    cases = conjunction.cases(by_property=by_property)
    compilation.combinations += len(cases) * (1 + len(conjunction.schemas) // SCHEMAS_PER_COMBINATION)
    if compilation.combinations > compilation.max_combinations:
        raise part.location.refusal(
            f"Choices are combined in more than {MAX_COMBINATIONS:,} ways",
            keyword=keyword,
            remedy="Combine fewer choices.",
        )
    return cases


def _pattern_of_few_cases(conjunction: Conjunction, location: Location) -> Pattern | None:
    """Return the union of the patterns of all cases; None if they are so many that properties need an order."""
    compilation = location.compilation
    start, most = compilation.combinations, compilation.max_combinations
    compilation.max_combinations = min(most, start + MAX_COMBINATIONS_IN_ANY_ORDER)
    try:
        return _pattern_of_cases(conjunction, location)
    except SchemaError:
        if not compilation.max_combinations < compilation.combinations <= most:
            raise
        compilation.combinations = start
        return None
    finally:
        compilation.max_combinations = most


def _clauses_of_choices(conjunction: Conjunction, location: Location) -> list[Clause] | None:
    """Return the choices that are left as clauses about properties; None if some choice is not about properties."""
    if location.is_type or len(conjunction.choices) == 1 or lists_values(conjunction.schemas):
        return None
    return clauses_of(conjunction.choices) if conjunction.context.rules.types == OBJECT else None


def names_of(schemas: Subschemas) -> Pattern:
    """Return the pattern, without quotes, of the names that satisfy all of some schemas."""
    return _names_of_conjunction(Conjunction(schemas), schemas[0].location)


@deep
def _names_of_conjunction(conjunction: Conjunction, location: Location) -> Pattern:
    if is_grounded(conjunction.schemas):
        raise location.refusal(
            "The keys of a dictionary cannot be grounded",
            remedy="Ground the values, or ask for a list of pairs: list[tuple[Grounded[str], int]].",
        )
    if not conjunction.choices and lists_values(conjunction.schemas):
        for part in conjunction.schemas if location.is_type else ():
            check_keywords(part, STRING)
        return words(allowed_values(conjunction.schemas, STRING, list(conjunction.denied.values())))
    if conjunction.choices:
        is_alone = conjunction.is_one_choice
        cases = conjunction.cases(by_property=False) if is_alone else _counted_cases(conjunction, location.compilation)
        return _union(lambda case: _names_of_conjunction(conjunction.in_case(case), location), cases)
    types = allowed_types(conjunction.schemas)
    if location.is_type and "string" not in types:
        if not types <= SPELLED_IN_KEYS:
            raise location.refusal(
                f"No key of a JSON object is of the type {min(types - SPELLED_IN_KEYS)!r}",
                keyword="type",
                remedy="Use a list of pairs in place of the dictionary.",
            )
        return _pattern_by_type(conjunction.schemas, location)
    if "string" not in types:
        raise location.unsatisfiable("a name is a string", keyword="type")
    for part in conjunction.schemas:
        check_keywords(part, STRING)
        if location.is_type and "contentSchema" in part.schema:
            raise part.location.refusal(
                "A key that holds JSON is not supported", keyword="contentSchema", remedy="Use str for the keys."
            )
    return rules_to_pattern(string_rules_of(conjunction.schemas), location)


SPELLED_IN_KEYS = frozenset({"boolean", "integer", "number"})
"""Types for which Pydantic reads a key as it reads a value."""


def _union(pattern: Callable[[Any], Pattern], options: list[Any]) -> Pattern:
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


def _pattern_by_type(schemas: Subschemas, location: Location, denied: Sequence[Subschema] = ()) -> Pattern:
    """Return the pattern of schemas without choices: the union of the types that they allow."""
    types = allowed_types(schemas)
    if not types:
        part = next(part for part in reversed(schemas) if "type" in part.schema)
        raise part.location.unsatisfiable("no value is of all the types", keyword="type")
    for part in schemas:
        check_keywords(part, types)
    if is_grounded(schemas):
        check_grounded(types, location, is_listed=lists_values(schemas))
        return _union(lambda name: grounded(name, schemas, location, TYPES[name](schemas, location)), sorted(types))
    if lists_values(schemas):
        return _pattern_of_listed_values(schemas, types, location, denied, has_choices=False)
    if types == DISJOINT_TYPES:
        asserting = next((part for part in schemas if part.schema.keys() & ASSERTIONS.keys()), None)
        if asserting is None:
            return any_value(location)
        if location.is_type:
            raise asserting.location.refusal("A rule for values of any type is not supported", remedy="Name the type.")
    if len(types) == 1:
        (name,) = types
        return TYPES[name](schemas, location)
    return _union(lambda name: TYPES[name](schemas, location), [name for name in TYPES if name in types])


def _pattern_of_listed_values(
    schemas: Subschemas, types: frozenset[str], location: Location, denied: Sequence[Subschema], *, has_choices: bool
) -> Pattern:
    """Return the listed values that all else allows, in canonical form where values are compared by their texts."""
    allowed = allowed_values(schemas, types, denied, has_choices=has_choices)
    is_canonical = location.compilation.canonical_form is not None
    return canonical_listing(allowed, location) if is_canonical else listed_values(schemas, allowed)


def any_value(location: Location) -> Pattern:
    """Return any JSON value, however deep (core §4.3.1)."""
    compilation = location.compilation
    if location.whitespace.indent:
        raise location.refusal(
            "A value of any type may be nested, and indented text needs to know how deep it is",
            remedy='Name its type, or choose another whitespace: "spaced", "compact", "flexible" or "any".',
        )
    if ANY_VALUE in compilation.definitions:
        return compilation.definitions[ANY_VALUE]
    if compilation.canonical_form is None:
        return _any_value(location.whitespace.name)
    make = partial(_new_any_value, location.whitespace.name, compilation.canonical_form)
    return compilation.cached(ANY_VALUE, make)


ANY_VALUE = "any value"
"""The name under which a value of any type refers to the values inside it."""


@cache
def _any_value(whitespace: WhitespaceName) -> Pattern:
    """Return any value, the same node every time."""
    return _new_any_value(whitespace)


def _new_any_value(whitespace: WhitespaceName, form: CanonicalForm | None = None) -> Pattern:
    """Return any value, in a compilation of its own."""
    compilation = Compilation({}, read_whitespace(whitespace), Reading.SPECIFICATION, canonical_form=form)
    compilation.definitions[ANY_VALUE] = Reference(ANY_VALUE, compilation.definitions)  # for the values inside
    location = Location(compilation)
    anything = [Subschema({}, location)]
    pattern = alternation(*(TYPES[kind](anything, location) for kind in TYPES if kind != "integer"))
    compilation.definitions[ANY_VALUE] = pattern
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
    return Foundation((*anything, *numbers, *map(json_string, formats)))


TYPES: dict[str, Callable[[Subschemas, Location], Pattern]] = {
    "array": lambda schemas, location: array(schemas, location, pattern_of),
    "boolean": lambda _schemas, _location: words(("true", "false")),
    "integer": lambda schemas, location: canonical_numbers(integer(schemas, location), location),
    "null": lambda _schemas, _location: literal("null"),
    "number": lambda schemas, location: canonical_numbers(number(schemas, location), location),
    "object": lambda schemas, location: object_(schemas, location, Compilers(pattern_of, names_of)),
    "string": lambda schemas, location: string(schemas, location, pattern_of),
}
