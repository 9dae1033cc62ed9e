"""Validity of values: whether a schema allows a value, by `jsonschema`.

Each pair of schema and value is evaluated once in a validation, however many references lead to it. Formats and regular
expressions are those of this package: `jsonschema` depends on installed packages for the former, and uses Python's `re`
for the latter.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import cache, partial
from math import inf
from typing import Any
from urllib.parse import quote

from structured.automata.dfa.alternating import PatternLanguage
from structured.errors import PatternError, SchemaError
from structured.errors.recursion import deep
from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.document.equality import identity
from structured.json_schema.document.library import ROOT_URI, pointer_of
from structured.json_schema.document.location import Location, Subschema
from structured.json_schema.document.references import REFERENCES
from structured.json_schema.logic.property_names import matches_in
from structured.json_schema.numbers.bounds import DIVISORS, is_number
from structured.json_schema.numbers.multiples import is_multiple
from structured.json_schema.strings.formats import SPECIFIED_FORMATS
from structured.regex.character_classes import ECMA


class NotEvaluatedError(SchemaError):
    """The references of a schema prevent deciding whether it allows a value."""


@deep
def allows(part: Subschema, value: Any, *, asserts_formats: bool) -> bool:
    """Tell whether a schema allows a value, to a validator that asserts formats or to one that does not."""
    schema, location = part.schema, part.location
    try:
        with _validation():
            return bool(_validator(schema, location, asserts_formats).is_valid(value))
    except NotEvaluatedError as error:
        raise NotEvaluatedError(error.problem, schema_path=location.pointer, remedy=error.remedy) from error
    except SchemaError as error:
        raise location.refusal(error.problem, keyword=error.keyword, remedy=error.remedy) from error
    except PatternError as error:
        raise location.refusal(error.problem, keyword="pattern", remedy=error.remedy) from error
    # A fault of the schema, or of a schema that it refers to, raises an error of Python or of a library.
    except Exception as error:
        if not isinstance(error, _FAULTS) and type(error).__module__.partition(".")[0] not in _LIBRARIES:
            raise
        raise location.refusal(
            f"The schema is malformed, or refers to one that is: {str(error).partition(chr(10))[0]}",
            remedy="Correct it, or remove the keywords beside the listed values.",
        ) from error


_FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_LIBRARIES = {"jsonschema", "referencing", "re", "attr"}
"""Errors that a malformed schema raises in `jsonschema`. Others, such as a caller's time-out, are passed on."""


@deep
def rejection(root: Subschema, value: Any) -> str | None:
    """Return why a whole schema does not allow a value; None if it does, or if `jsonschema` cannot tell.

    Where formats may be read in two ways, both have to allow the value. `jsonschema` cannot tell where names are
    dynamic, or where a schema refers to itself in place.
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
        except (NotEvaluatedError, RecursionError):
            return None
        if error is not None:
            return f"{error.message} (at {_json_path(error)})"
        if not validation.has_failed_format:  # so it makes no difference whether formats are asserted
            return None
    return None


def _json_path(error: Any) -> str:
    """Return the JSON path of an error, along its chain of parents, which may be long."""
    from jsonschema import ValidationError

    path: list[str | int] = []
    inner = error
    while inner is not None:
        path[:0] = inner.relative_path
        inner = inner.parent
    return str(ValidationError("", path=path).json_path)


def _validator(schema: Any, location: Location, asserts_formats: bool) -> Any:
    """Return the validator of a schema, the same object each time, since making it is most of the work."""
    key = "validator", id(schema), location.entered_scope, location.path, asserts_formats
    return location.compilation.cached(key, lambda: _new_validator(schema, location, asserts_formats), keep=schema)


def _new_validator(schema: Any, location: Location, asserts_formats: bool) -> Any:
    from jsonschema.validators import validator_for

    checker = _checker(asserts_formats)
    validator = _with_own_patterns(validator_for({"$schema": location.draft.metaschema}))
    key = "well formed", id(schema), location.draft  # whether formats are asserted or not
    check = partial(check_well_formed, schema, location.draft, validator.FORMAT_CHECKER)
    location.compilation.cached(key, check, keep=schema)
    if not _refers(schema):
        return validator(schema, format_checker=checker)
    located = {"$ref": _address(schema, location)}
    return validator(located, registry=location.compilation.library.registry, format_checker=checker)


@deep
def _refers(value: Any) -> bool:
    """Tell whether a schema may contain a reference."""
    if isinstance(value, list):
        return any(map(_refers, value))
    return isinstance(value, Mapping) and (not value.keys().isdisjoint(REFERENCES) or any(map(_refers, value.values())))


def _address(schema: Any, location: Location) -> str:
    """Return the URI by which the registry finds a schema that refers to others."""
    resource, library = location.scope.resource, location.compilation.library
    if location.scope.outer or library.is_dynamic:  # `jsonschema` treats every reference to a dynamic name as dynamic
        raise NotEvaluatedError(
            "References beside listed values are not supported where names are dynamic",
            remedy="Use $anchor in place of $dynamicAnchor, or remove the keywords beside the listed values.",
        )
    if not library.holds(schema, resource.document, location.path):
        raise NotEvaluatedError(
            "References beside listed values are not supported here", remedy="Remove the keywords beside the values."
        )
    return f"{resource.document or ROOT_URI}#{quote(pointer_of(location.path))}"


@deep
def check_well_formed(schema: Any, draft: SchemaDraft, checker: Any, *, is_deep: bool = True) -> None:
    """Check a schema by the metaschema of a draft. Raises the error of `jsonschema` about the first fault."""
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
"""The most pairs of schema and value that are evaluated in one validation."""


class _Validation:
    """The state of one validation: the errors of each schema for each value, both by identity.

    `has_failed_format` says whether some text was not of an asserted format.
    """

    def __init__(self) -> None:
        self.errors: dict[tuple[int, int], list[tuple[Any, dict[str, Any]]] | None] = {}
        self.steps = 0
        self.has_failed_format = False

    def step(self) -> None:
        """Count one evaluation. Raises NotEvaluatedError after `MAX_STEPS`."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise NotEvaluatedError(
                f"Validation takes more than {MAX_STEPS:,} steps", remedy="Use fewer references to the same schemas."
            )

    def errors_of(self, schema: Any, value: Any, evaluate: Callable[[], Iterator[Any]], type_checker: Any) -> list[Any]:
        """Return the errors of a value; after the first time, only a copy of the first error, without its causes.

        `jsonschema` asks an error's type checker which of several errors tells most.
        Raises NotEvaluatedError where errors depend on themselves, since a schema refers to itself in place.
        """
        key = id(schema), id(value)
        if key not in self.errors:
            self.step()
            self.errors[key] = None
            errors = list(evaluate())
            self.errors[key] = [(type(error), _fields(error)) for error in errors]
            return errors
        kept = self.errors[key]
        if kept is None:
            raise NotEvaluatedError("A schema refers to itself in place", remedy="Remove the reference.")
        return [kind(**fields, type_checker=type_checker) for kind, fields in kept[:1]]


def _fields(error: Any) -> dict[str, Any]:
    fields = {name: getattr(error, name) for name in _FIELDS}
    return {**fields, "path": tuple(error.path), "schema_path": tuple(error.schema_path)}


_FIELDS = ("message", "cause", "validator", "validator_value", "instance", "schema")
"""The fields of an error, without its paths and the errors that caused it."""


_current: ContextVar[_Validation] = ContextVar("validation")


@contextmanager
def _validation() -> Iterator[_Validation]:
    validation = _Validation()
    token = _current.set(validation)
    try:
        yield validation
    except BaseException as error:
        if type(error).__module__ != "pyo3_runtime":  # the maps of `jsonschema` panic where the stack is used up
            raise
        raise RecursionError("it refers to itself without end") from error
    finally:
        _current.reset(token)


def _descending_once(plainly: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `descend` method that evaluates each schema once for each value, to any depth, by calling `plainly`."""

    @deep
    def errors_of(validator: Any, instance: Any, schema: Any, options: Any) -> list[Any]:
        evaluate = partial(plainly, validator, instance, schema, **options)
        return _current.get().errors_of(schema, instance, evaluate, validator.TYPE_CHECKER)

    def descend(self: Any, instance: Any, schema: Any, path: Any = None, schema_path: Any = None, **extra: Any) -> Any:
        """Yield the errors of a schema, with the path of this way to it."""
        if schema is True:  # as for each value of an `enum`, in the metaschema
            return
        for error in errors_of(self, instance, schema, extra):
            if path is not None:
                error.path.appendleft(path)
            if schema_path is not None:
                error.schema_path.appendleft(schema_path)
            yield error

    return descend


@cache
def _with_own_patterns(validator: Any) -> Any:
    from jsonschema.validators import extend

    keywords = validator.VALIDATORS.keys()
    checks = {"not": _not, **{keyword: _reporting(check) for keyword, check in _CHECKS.items()}}
    replaced = checks.keys() & keywords
    if "exclusiveMinimum" not in keywords:  # draft 4 has a flag of that name, which `jsonschema` reads with the bound
        replaced -= _BOUNDS.keys()
    own = extend(validator, {keyword: checks[keyword] for keyword in replaced})
    evolve = own.evolve

    def evolved(self: Any, **changes: Any) -> Any:
        """Keep these checks where `jsonschema` would switch to the validator of another `$schema`."""
        _current.get().step()
        evolved_validator = evolve(self, **changes)
        if type(evolved_validator) is own:
            return evolved_validator
        other: Any = type(evolved_validator)
        fields = [attribute for attribute in other.__attrs_attrs__ if attribute.init]
        values = {attribute.alias: getattr(evolved_validator, attribute.name) for attribute in fields}
        return _with_own_patterns(other)(**values)

    own.evolve = evolved
    own.descend = _descending_once(own.descend)
    return own


def _reporting(check: Callable[[Any, Any], str | None]) -> Callable[..., Any]:
    """Return a keyword for `jsonschema`; `check` returns the problem of its value and an instance, or None."""
    from jsonschema import ValidationError

    def keyword(_validator: Any, argument: Any, value: Any, _schema: Any) -> Any:
        problem = check(argument, value)
        if problem is not None:
            yield ValidationError(problem)

    return keyword


def _not(validator: Any, denied: Any, value: Any, _schema: Any) -> Any:
    """Yield the error of the keyword `not`, for which `jsonschema` would format the denied schema."""
    from jsonschema import ValidationError

    if validator.evolve(schema=denied).is_valid(value):
        yield ValidationError(f"{value!r} is allowed by a denied schema")


def _pattern_problem(regex: str, value: Any) -> str | None:
    is_wrong = isinstance(value, str) and not matches_in(regex, ECMA, value)
    return f"{value!r} does not match {regex!r}" if is_wrong else None


def _multiple_problem(divisor: Any, value: Any) -> str | None:
    is_wrong = is_number(value) and not is_multiple(value, divisor)
    return f"{value!r} is not a multiple of {divisor!r}" if is_wrong else None


def _enum_problem(values: Any, value: Any) -> str | None:
    if identity(value) in _identities(values):
        return None
    return f"{value!r} is not one of {values if len(values) <= _FEW else f'{len(values):,} values'}"


def _bound_problem(holds: Callable[[Any, Any], bool], wrong: str, bound: Any, value: Any) -> str | None:
    is_wrong = is_number(value) and not holds(_decimal(value), _decimal(bound))
    return f"{value!r} is {wrong} {bound!r}" if is_wrong else None


_BOUNDS: Mapping[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (operator.ge, "less than the minimum of"),
    "maximum": (operator.le, "greater than the maximum of"),
    "exclusiveMinimum": (operator.gt, "not greater than"),
    "exclusiveMaximum": (operator.lt, "not less than"),
}
"""The relation of a number to a bound, and the problem where it does not hold."""


_CHECKS: Mapping[str, Callable[[Any, Any], str | None]] = {
    "pattern": _pattern_problem,
    "enum": _enum_problem,
    **dict.fromkeys(DIVISORS, _multiple_problem),
    **{keyword: partial(_bound_problem, *rule) for keyword, rule in _BOUNDS.items()},
}
"""Keywords that `jsonschema` evaluates differently or slowly, each with a function that returns the problem."""


def _decimal(value: float) -> float | Fraction:
    """Return the value of a number as written: 5.767448242183587e+16 is 57674482421835870; its double is 2 more."""
    return Fraction(str(value)) if abs(value) < inf else value


_FEW = 100
"""The most listed values that an error shows; of more it shows the number."""

_IDENTITIES: dict[int, tuple[Any, frozenset[str]]] = {}
_MAX_KEPT = 256


def _identities(values: Any) -> frozenset[str]:
    listed, identities = _IDENTITIES.get(id(values), (None, frozenset()))
    if listed is values:
        return identities
    identities = frozenset(map(identity, values))
    if len(_IDENTITIES) >= _MAX_KEPT:
        _IDENTITIES.clear()
    _IDENTITIES[id(values)] = values, identities
    return identities


@cache
def _checker(asserts_formats: bool) -> Any:
    """Return the checker of formats for `jsonschema`, None where they restrict nothing."""
    if not asserts_formats:
        return None
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name in SPECIFIED_FORMATS:
        checker.checks(name)(partial(_has_format, name))
    return checker


@cache
def _texts_of(name: str) -> PatternLanguage:
    return PatternLanguage(SPECIFIED_FORMATS[name])


def _has_format(name: str, value: object) -> bool:
    if not isinstance(value, str) or _texts_of(name).contains(value):
        return True
    _current.get().has_failed_format = True
    return False
