"""Evaluation: whether a schema allows a value, by `jsonschema`.

What a schema says of a value is found out once in a validation, however many references lead there.

Formats and regular expressions are those that are supported elsewhere: `jsonschema` takes what happens to be installed
for the ones, and Python's `re` for the others.
"""

import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import cache, partial
from math import inf
from typing import Any, NamedTuple
from urllib.parse import quote

from structured.automata.dfa import PatternLanguage
from structured.errors import PatternError, SchemaError
from structured.errors.recursion import deep
from structured.json_schema.document.drafts import Draft
from structured.json_schema.document.equality import identity
from structured.json_schema.document.library import ROOT_URI, pointer_of
from structured.json_schema.document.location import Complement, Elsewhere, Location, Subschema
from structured.json_schema.document.references import REFERENCES
from structured.json_schema.logic.property_names import finds
from structured.json_schema.numbers import DIVISORS, is_multiple
from structured.json_schema.strings.formats import SPECIFIED_FORMATS
from structured.regex.dialects import ECMA


class NotEvaluatedError(SchemaError):
    """Whether a schema allows a value cannot be decided, because of its references."""


class SchemaPlace(NamedTuple):
    """Where a schema stands, and whether formats forbid anything there: `asserts_formats` of a compilation, decided."""

    location: Location
    asserts_formats: bool

    def allows(self, schema: Any, value: Any) -> bool:
        """Tell whether a schema that stands here allows a value."""
        return allows(Subschema(schema, self.location), value, asserts_formats=self.asserts_formats)


@deep
def allows(part: Subschema, value: Any, *, asserts_formats: bool) -> bool:
    """Tell whether a schema allows a value, to a validator that asserts formats or to one that does not."""
    schema, place = part.schema, SchemaPlace(part.location, asserts_formats)
    if isinstance(schema, bool):
        return schema
    if isinstance(schema, Elsewhere):
        return place._replace(location=schema.location).allows(schema.schema, value) != schema.is_denied
    if isinstance(schema, Complement):
        return _complement_allows(schema, place, value)
    return _plainly_allows(schema, place, value)


def _complement_allows(schema: Complement, place: SchemaPlace, value: Any) -> bool:
    """Tell the same for a schema of the compiler's own, whose type comes first."""
    made = place.location.compilation.made
    key = "plain", id(schema)
    if key not in made:
        made[key] = (
            schema,
            {name: held for name, held in schema.items() if name not in _OWN and name not in _CONTAINS},
        )
    if not _plainly_allows(made[key][1], place, value):
        return False
    if "contains" in schema and not _contains(schema, place, value):
        return False
    return all(_OWN[keyword](held, place, value) for keyword, held in schema.items() if keyword in _OWN)


def _properties(held: Mapping[str, Any], place: SchemaPlace, value: Any) -> bool:
    return not isinstance(value, dict) or all(
        place.allows(held[name], value[name]) for name in held.keys() & value.keys()
    )


def _prefix(held: list[Any], place: SchemaPlace, value: Any) -> bool:
    return not isinstance(value, list) or all(place.allows(one, item) for one, item in zip(held, value, strict=False))


def _no_pattern(held: str, _place: SchemaPlace, value: Any) -> bool:
    return not isinstance(value, str) or not finds(held, ECMA, value)


def _no_format(held: str, place: SchemaPlace, value: Any) -> bool:
    return not isinstance(value, str) or not _plainly_allows({"format": held}, place, value)


def _no_multiple(held: Any, place: SchemaPlace, value: Any) -> bool:
    return not _is_number(value) or not _plainly_allows({"multipleOf": held}, place, value)


def _no_integer(_held: bool, _place: SchemaPlace, value: Any) -> bool:
    return not _is_number(value) or value != int(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _none_of(held: list[Any], _place: SchemaPlace, value: Any) -> bool:
    return isinstance(value, bool) or identity(value) not in _identities(held)


def _not_unique(_held: bool, place: SchemaPlace, value: Any) -> bool:
    return not isinstance(value, list) or not _plainly_allows({"uniqueItems": True}, place, value)


def _some_item(held: Any, place: SchemaPlace, value: Any) -> bool:
    return not isinstance(value, list) or any(place.allows(held.schema, item) for item in value[held.start :])


def _some_property(held: Any, place: SchemaPlace, value: Any) -> bool:
    return not isinstance(value, dict) or any(
        _is_asked(held, place, name) and place.allows(held.schema, value[name]) for name in value
    )


def _is_asked(held: Any, place: SchemaPlace, name: str) -> bool:
    if name in held.other_names or any(finds(regex, ECMA, name) for regex in held.other_patterns):
        return False
    is_found = held.pattern is None or finds(held.pattern, ECMA, name)
    return is_found and place.allows(held.names, name)


def _contains(schema: Complement, place: SchemaPlace, value: Any) -> bool:
    """Tell whether as many items as `contains` and the counts beside it ask for are there."""
    if not isinstance(value, list):
        return True
    met = sum(place.allows(schema["contains"], item) for item in value)
    most = schema.get("maxContains")
    return bool(schema.get("minContains", 1) <= met and (most is None or met <= most))


_CONTAINS = frozenset({"contains", "maxContains", "minContains"})

_OWN: Mapping[str, Callable[[Any, SchemaPlace, Any], bool]] = {
    "properties": _properties,
    "prefixItems": _prefix,
    "not pattern": _no_pattern,
    "not format": _no_format,
    "not multipleOf": _no_multiple,
    "not integer": _no_integer,
    "not enum": _none_of,
    "not uniqueItems": _not_unique,
    "some item": _some_item,
    "some property": _some_property,
}


def _plainly_allows(schema: Any, place: SchemaPlace, value: Any) -> bool:
    location = place.location
    try:
        with _validation():
            return bool(_validator(schema, place).is_valid(value))
    except NotEvaluatedError as error:
        raise NotEvaluatedError(error.problem, schema_path=location.pointer, remedy=error.remedy) from error
    except SchemaError as error:
        raise location.refusal(error.problem, keyword=error.keyword, remedy=error.remedy) from error
    except PatternError as error:
        raise location.refusal(error.problem, keyword="pattern", remedy=error.remedy) from error
    # What is wrong with the schema, or with one that it refers to, comes out as an error of Python's or of a library's.
    except Exception as error:
        if not isinstance(error, _FAULTS) and type(error).__module__.partition(".")[0] not in _LIBRARIES:
            raise
        raise location.refusal(
            f"The schema is malformed, or refers to one that is: {str(error).partition(chr(10))[0]}",
            remedy="Correct it, or remove what stands beside the listed values.",
        ) from error


_FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_LIBRARIES = {"jsonschema", "referencing", "re", "attr"}
"""What a malformed schema raises in `jsonschema`; a time-out of the caller's, for one, is not about the schema."""


@deep
def rejection(root: Subschema, value: Any) -> str | None:
    """Return why a whole schema does not allow a value; None if it does, or if `jsonschema` cannot tell.

    Where formats may be read in two ways, both have to allow it.

    It cannot where names are dynamic, nor where a schema refers to itself in place, which it follows for ever.
    """
    from jsonschema.exceptions import best_match
    from jsonschema.validators import validator_for

    location = root.location
    library = location.compilation.library
    if library.is_dynamic:
        return None
    validator = _with_own_patterns(validator_for({"$schema": location.draft.metaschema}))
    for asserts_formats in location.compilation.format_readings:
        whole = validator({"$ref": ROOT_URI}, registry=library.registry, format_checker=_checker(asserts_formats))
        try:
            with _validation() as validation:
                error = best_match(whole.iter_errors(value))
        except NotEvaluatedError:
            return None
        if error is not None:
            return f"{error.message} (at {_json_path(error)})"
        if not validation.has_failed_format:  # so it makes no difference whether formats are asserted
            return None
    return None


def _json_path(error: Any) -> str:
    """Return where an error is, from the errors that it led to, which may be many."""
    from jsonschema import ValidationError

    path: list[str | int] = []
    inner = error
    while inner is not None:
        path[:0] = inner.relative_path
        inner = inner.parent
    return str(ValidationError("", path=path).json_path)


def _validator(schema: Any, place: SchemaPlace) -> Any:
    """Return what validates by a schema; the same each time, since to make it is most of the work."""
    from jsonschema.validators import validator_for

    location = place.location
    made = location.compilation.made
    key = "validator", id(schema), location.entered, location.path, place.asserts_formats
    if key not in made:
        validator = _with_own_patterns(validator_for({"$schema": location.draft.metaschema}))
        check_well_formed(schema, location.draft, validator.FORMAT_CHECKER)
        library, checker = location.compilation.library, _checker(place.asserts_formats)
        if _refers(schema):
            located = {"$ref": _address(schema, location)}
            found = validator(located, registry=library.registry, format_checker=checker)
        else:
            found = validator(schema, format_checker=checker)
        made[key] = schema, found
    return made[key][1]


@deep
def _refers(value: Any) -> bool:
    """Tell whether there may be a reference in a schema."""
    if isinstance(value, list):
        return any(map(_refers, value))
    return isinstance(value, Mapping) and (not value.keys().isdisjoint(REFERENCES) or any(map(_refers, value.values())))


def _address(schema: Any, location: Location) -> str:
    """Return the URI by which the registry finds a schema that refers to others."""
    resource, library = location.scope.resource, location.compilation.library
    if location.scope.outer or library.is_dynamic:  # `jsonschema` takes every reference to a dynamic name for dynamic
        raise NotEvaluatedError(
            "References beside listed values are not supported where names are dynamic",
            remedy="Use $anchor in place of $dynamicAnchor, or remove what stands beside the listed values.",
        )
    if not library.holds(schema, resource.document, location.path):
        raise NotEvaluatedError(
            "References beside listed values are not supported here", remedy="Remove what stands beside the values."
        )
    return f"{resource.document or ROOT_URI}#{quote(pointer_of(location.path))}"


@deep
def check_well_formed(schema: Any, draft: Draft, checker: Any, *, is_deep: bool = True) -> None:
    """Check a schema by the metaschema of a draft. Raises the error of `jsonschema` that says what is wrong."""
    from jsonschema.exceptions import SchemaError as MalformedError
    from jsonschema.validators import validator_for

    validator = validator_for({"$schema": draft.metaschema})
    if not is_deep:
        validator.check_schema(schema, format_checker=checker)
        return
    with _validation():
        errors = _with_own_patterns(validator)(validator.META_SCHEMA, format_checker=checker).iter_errors(schema)
        for error in errors:
            raise MalformedError.create_from(error)


MAX_STEPS = 1_000_000
"""Schemas that are held against values in one validation."""


class _Validation:
    """What is known within one validation: the errors of each schema for each value, both by identity.

    `has_failed_format` tells whether a text was not of a format that was asserted.
    """

    def __init__(self) -> None:
        self.errors: dict[tuple[int, int], list[tuple[Any, dict[str, Any]]] | None] = {}
        self.steps = 0
        self.has_failed_format = False

    def step(self) -> None:
        """Count a schema that is held against a value. Raises NotEvaluatedError where that goes on too long."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise NotEvaluatedError(
                f"To validate takes more than {MAX_STEPS:,} steps", remedy="Let fewer references lead to the same."
            )

    def errors_of(self, schema: Any, value: Any, found: Callable[[], Iterator[Any]]) -> list[Any]:
        """Return the errors; where they are known, what the first of them says, and not what led to it.

        Raises NotEvaluatedError where they depend on themselves, since a schema refers to itself in place.
        """
        key = id(schema), id(value)
        if key not in self.errors:
            self.step()
            self.errors[key] = None
            errors = list(found())
            self.errors[key] = [(type(error), _said(error)) for error in errors]
            return errors
        known = self.errors[key]
        if known is None:
            raise NotEvaluatedError("A schema refers to itself in place", remedy="Remove the reference.")
        return [kind(**said) for kind, said in known[:1]]


def _said(error: Any) -> dict[str, Any]:
    """Return what an error says so far: the paths become longer further out."""
    said = {name: getattr(error, name) for name in _SAID}
    return {**said, "path": tuple(error.path), "schema_path": tuple(error.schema_path)}


_SAID = ("message", "cause", "validator", "validator_value", "instance", "schema")
"""What an error says, without the errors that led to it."""


_current: ContextVar[_Validation] = ContextVar("validation")


@contextmanager
def _validation() -> Iterator[_Validation]:
    validation = _Validation()
    token = _current.set(validation)
    try:
        yield validation
    finally:
        _current.reset(token)


def _descending_once(plainly: Callable[..., Any]) -> Callable[..., Any]:
    """Return what goes down into a schema as `plainly` does, once for each value and to any depth."""

    @deep
    def errors_of(validator: Any, instance: Any, schema: Any, options: Any) -> list[Any]:
        return _current.get().errors_of(schema, instance, lambda: plainly(validator, instance, schema, **options))

    def descend(
        self: Any, instance: Any, schema: Any, path: Any = None, schema_path: Any = None, **options: Any
    ) -> Any:
        """Find out once what is wrong, and say where for each way that leads there."""
        for error in errors_of(self, instance, schema, options):
            if path is not None:
                error.path.appendleft(path)
            if schema_path is not None:
                error.schema_path.appendleft(schema_path)
            yield error

    return descend


@cache
def _with_own_patterns(validator: Any) -> Any:
    from jsonschema.validators import extend

    known = validator.VALIDATORS.keys()
    checks = {keyword: check for keyword, check in _CHECKS.items() if keyword in known}
    if "exclusiveMinimum" not in known:  # draft 4 has a flag of that name, which jsonschema reads with the bound
        checks = {keyword: check for keyword, check in checks.items() if keyword not in _BOUNDS}
    own = extend(validator, {keyword: _reporting(check) for keyword, check in checks.items()} | _negation(known))
    evolve = own.evolve

    def evolved(self: Any, **changes: Any) -> Any:
        """Stay with the own patterns where `jsonschema` would take another validator, that of a `$schema`."""
        _current.get().step()
        found = evolve(self, **changes)
        if type(found) is own:
            return found
        other: Any = type(found)
        return _with_own_patterns(other)(
            **{one.alias: getattr(found, one.name) for one in other.__attrs_attrs__ if one.init}
        )

    own.evolve = evolved
    own.descend = _descending_once(own.descend)
    return own


def _reporting(check: Callable[[Any, Any], str | None]) -> Callable[..., Any]:
    """Return a keyword for `jsonschema`, given what tells of its value and an instance what is wrong, if anything."""
    from jsonschema import ValidationError

    def keyword(_validator: Any, held: Any, value: Any, _schema: Any) -> Any:
        problem = check(held, value)
        if problem is not None:
            yield ValidationError(problem)

    return keyword


def _negation(known: Collection[str]) -> dict[str, Callable[..., Any]]:
    """Return `not`, where a draft has it: `jsonschema` writes out the denied schema for each value that it allows."""
    from jsonschema import ValidationError

    def keyword(validator: Any, held: Any, value: Any, _schema: Any) -> Any:
        if validator.evolve(schema=held).is_valid(value):
            yield ValidationError(f"{value!r} is allowed by what must not hold")

    return {"not": keyword} if "not" in known else {}


def _pattern_problem(regex: str, value: Any) -> str | None:
    is_wrong = isinstance(value, str) and not finds(regex, ECMA, value)
    return f"{value!r} does not match {regex!r}" if is_wrong else None


def _multiple_problem(divisor: Any, value: Any) -> str | None:
    is_wrong = _is_number(value) and not is_multiple(value, divisor)
    return f"{value!r} is not a multiple of {divisor!r}" if is_wrong else None


def _enum_problem(values: Any, value: Any) -> str | None:
    if identity(value) in _identities(values):
        return None
    return f"{value!r} is not one of {values if len(values) <= _FEW else f'{len(values):,} values'}"


def _bound_problem(holds: Callable[[Any, Any], bool], wrong: str, bound: Any, value: Any) -> str | None:
    is_wrong = _is_number(value) and not holds(_decimal(value), _decimal(bound))
    return f"{value!r} is {wrong} {bound!r}" if is_wrong else None


_BOUNDS: Mapping[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (operator.ge, "less than the minimum of"),
    "maximum": (operator.le, "greater than the maximum of"),
    "exclusiveMinimum": (operator.gt, "not greater than"),
    "exclusiveMaximum": (operator.lt, "not less than"),
}
"""What has to hold of a number and a bound, and what is wrong if it does not."""


_CHECKS: Mapping[str, Callable[[Any, Any], str | None]] = {
    "pattern": _pattern_problem,
    "enum": _enum_problem,
    **dict.fromkeys(DIVISORS, _multiple_problem),
    **{keyword: partial(_bound_problem, *rule) for keyword, rule in _BOUNDS.items()},
}
"""The keywords that `jsonschema` reads in another way, or slowly: each with what tells what is wrong, if anything."""


def _decimal(value: float) -> float | Fraction:
    """Return a number as it is written: 5.767448242183587e+16 is 57674482421835870, and its double is 2 more."""
    return Fraction(str(value)) if abs(value) < inf else value


_FEW = 100
"""Listed values that an error shows; of more it tells the number."""

_IDENTITIES: dict[int, tuple[Any, frozenset[str]]] = {}
_MAX_KEPT = 256


def _identities(values: Any) -> frozenset[str]:
    """Return the identities of listed values; the same for the same list, so that a value is looked up at once."""
    listed, known = _IDENTITIES.get(id(values), (None, frozenset()))
    if listed is values:
        return known
    known = frozenset(map(identity, values))
    if len(_IDENTITIES) >= _MAX_KEPT:
        _IDENTITIES.clear()
    _IDENTITIES[id(values)] = values, known
    return known


def _checker(asserts_formats: bool) -> Any:
    """Return what checks formats; None where they are annotations."""
    return _format_checker() if asserts_formats else None


@cache
def _format_checker() -> Any:
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name, pattern in SPECIFIED_FORMATS.items():
        checker.checks(name)(partial(_has_format, PatternLanguage(pattern)))
    return checker


def _has_format(language: PatternLanguage, value: object) -> bool:
    if not isinstance(value, str) or language.contains(value):
        return True
    _current.get().has_failed_format = True
    return False
