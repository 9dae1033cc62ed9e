"""Locations: the place of a schema in its document, the compilation that all places share, and errors there."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from enum import Enum
from functools import reduce
from operator import getitem
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from structured.errors import SchemaError, UnsatisfiableError
from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.document.equality import CanonicalForm, with_shared_objects
from structured.json_schema.document.library import Library, Path, Resource, Scope, keys_of, longer
from structured.json_schema.whitespace import Whitespace
from structured.regex import Pattern, Reference
from structured.regex.traversal import ReferenceFreeMatches

Schema = Mapping[str, Any]
"""A JSON Schema that is an object."""

MAPPINGS = (dict, Mapping)
"""The types of JSON objects, the usual one first, since `isinstance` is ten times as fast for it."""

NOT_STATED = "not stated"
"""The keyword of a field that may be null because the text may not state it."""

GROUNDED = "grounded on"
"""The keyword of a value that the document has to state. Its value says where a quotation may begin and end: `"words"`
or `"characters"`."""

GROUNDED_AFTERWARDS = "supported"
"""The keyword of a text that is removed from a finished answer where the document does not have it."""

KEY = "is key"
"""The keyword of a value that identifies its record among others."""

VALIDATORS = "validators"
"""The keyword that lists the names of the functions that validate a finished value."""

UNSATISFIABLE = "Unsatisfiable: "
"""The beginning of the problem of an UnsatisfiableError."""

MAX_COMBINATIONS = 3000
"""The most branches of several choices that are combined with each other in one schema."""

MARKS = frozenset({GROUNDED, GROUNDED_AFTERWARDS, KEY, NOT_STATED, VALIDATORS})
"""The keywords of this library, which only types have."""

ANNOTATIONS = MARKS.union(
    ("$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly")
)
"""Keywords that restrict nothing (validation §9, and the marks)."""

T = TypeVar("T")
E = TypeVar("E", bound=SchemaError)

Identity = tuple[int, Scope | None]
"""The identity of an object in memory, and the scope of its references."""


class Reading(Enum):
    """The meaning of a schema where it says nothing."""

    TYPE = "type"
    """As the description of a type: every property is written and no other, and an unknown keyword is refused, since it
    may be a rule that is enforced later."""

    SPECIFICATION = "specification"
    """As JSON Schema says: properties that are not required may be left out, others may follow them unless that is
    forbidden, and keywords that the specification does not know are annotations."""


OptionalProperties = Literal["written", "omittable", "schema"]
"""The treatment of optional properties. `"written"`: all listed properties are written, but in a JSON Schema those that
may not be null may be left out; others are written only where a schema speaks of others. `"omittable"`: listed
properties may be left out. `"schema"`: moreover, any others that the schema allows may be added."""


KeyOrder = Literal["schema", "any"]
"""The order of the properties of an object: as the schema lists them, with others after them; or any."""


class Statements(Protocol):
    """The statements of a document, for values that the document has to state."""

    def quotation(
        self,
        boundary: str,
        included: Sequence[Pattern],
        excluded: Sequence[Pattern],
        *,
        minimum: int,
        maximum: int | None,
    ) -> Pattern | None:
        """Return the inside of the JSON strings that quote the document and keep the rules; None if there are none."""
        ...

    def spellings(self, kind: str) -> Iterable[Sequence[str]]:
        """Yield, for each stated number, date, date-time or time, its spellings in JSON, the usual one first."""
        ...


@dataclass(slots=True, eq=False)
class Compilation:
    """The state that all places of one compilation share.

    Options: `optional_properties` is their treatment, and `key_order` the order of all. Where the schema is read by the
    specification, `asserts_formats` says whether formats restrict anything; with None, texts are valid in either case,
    and no format is denied. References may lead to `documents`, by URI; schemas that name no draft have `draft`.
    `statements` are those of the document that is read, if any.

    Results: `definitions` has the pattern of each definition, by its name, and `definition_names` the name of each set
    of schemas; those in `names_under_construction` are being built, and `name_counts` tells namesakes apart.
    `recursive_references` are made inside the definition that they refer to, each with its place.
    `patterns_by_schemas` has the pattern of each list of schemas that hold together, by their identities, and their
    depth where it matters. `cache` has schemas and facts that the compiler derived, `checked_schema_ids` the identities
    of well-formed schemas, and `reference_free` the answers of `matches_without_references`.

    Limits: `combinations` counts the branches combined with other branches, `max_combinations` at most;
    `examined_schemas` counts the schemas examined for exclusion.

    Where values are compared by their texts, `canonical_form` defines the text of each value.
    `canonical_compilation` is the compilation of the same schema with such a form; see `canonical_json.py`.

    Where the schema is read by the specification, its equal objects are one object in memory; see `equality.py`.
    """

    root: Schema | bool
    whitespace: Whitespace
    reading: Reading
    optional_properties: OptionalProperties = "schema"
    asserts_formats: bool | None = None
    key_order: KeyOrder = "schema"
    definitions: dict[str, Pattern] = field(default_factory=dict)
    patterns_by_schemas: dict[tuple[Any, ...], tuple["Subschemas", Pattern]] = field(default_factory=dict)
    definition_names: dict[Hashable, str] = field(default_factory=dict)
    name_counts: Counter[str] = field(default_factory=Counter)
    names_under_construction: set[str] = field(default_factory=set)
    recursive_references: list[tuple[Reference, "Location"]] = field(default_factory=list)
    combinations: int = 0
    max_combinations: int = MAX_COMBINATIONS
    examined_schemas: int = 0
    cache: dict[Hashable, tuple[object, Any]] = field(default_factory=dict)
    checked_schema_ids: set[int] = field(default_factory=set)
    reference_free: ReferenceFreeMatches = field(default_factory=dict)
    documents: Mapping[str, Any] = field(default_factory=dict)
    draft: SchemaDraft = SchemaDraft.DRAFT_2020_12
    statements: Statements | None = None
    canonical_form: CanonicalForm | None = None
    canonical_compilation: "Compilation | None" = None
    library: Library = field(init=False)
    library_of_root: InitVar[Library | None] = None
    """The library, if there is one already."""

    def __post_init__(self, library: Library | None) -> None:
        if library is None and self.reading is Reading.SPECIFICATION:
            self.root = with_shared_objects(self.root)
        self.library = library or Library(self.root, self.documents, self.draft)

    @property
    def work(self) -> int:
        """The work done so far: schemas compiled, branches combined, and, in tens, schemas compared with others."""
        compiled = len(self.checked_schema_ids) + len(self.definition_names)
        return compiled + 4 * self.combinations + self.examined_schemas // 10

    @property
    def format_readings(self) -> tuple[bool, ...]:
        """Whether formats restrict anything, for each kind of validator that has to accept the text."""
        if self.asserts_formats is None and self.reading is Reading.SPECIFICATION:
            return True, False
        return (self.asserts_formats is not False,)

    def cached(self, key: Hashable, make: Callable[[], T], *, keep: object = None) -> T:
        """Return the result of `make` for a key, which is called once. With `id(x)` in the key, pass x as `keep`."""
        if key not in self.cache:
            self.cache[key] = keep, make()
        result: T = self.cache[key][1]
        return result

    def uncompiled(self, statements: Statements | None = None) -> "Compilation":
        """Return a compilation of the same schema in which nothing has been compiled yet; perhaps of other statements.

        Its library is the same, whose resources the scopes of locations hold.
        """
        return Compilation(
            self.root,
            self.whitespace,
            self.reading,
            self.optional_properties,
            self.asserts_formats,
            self.key_order,
            documents=self.documents,
            draft=self.draft,
            statements=self.statements if statements is None else statements,
            library_of_root=self.library,
        )


class Location(NamedTuple):
    """A schema's position in its document, and the number of brackets open around its text.

    `entered_scope` is the scope of the references that were followed to reach it; None is the scope of the root.
    """

    compilation: Compilation
    path: Path = None
    depth: int = 0
    entered_scope: Scope | None = None

    def of_subschema(self, *keys: str | int) -> "Location":
        """Return the place of a subschema whose text has the same depth."""
        return Location(self.compilation, longer(self.path, keys), self.depth, self.entered_scope)

    def of_child(self, *keys: str | int) -> "Location":
        """Return the place of the schema of an item or property, whose text is inside one more pair of brackets."""
        return Location(self.compilation, longer(self.path, keys), self.depth + 1, self.entered_scope)

    def at_depth(self, depth: int) -> "Location":
        """Return the place of the same schema with its text inside `depth` pairs of brackets."""
        return self if depth == self.depth else Location(self.compilation, self.path, depth, self.entered_scope)

    def in_resource(self, path: Path, resource: Resource) -> "Location":
        """Return the place of the schema at a path in the document of a resource, with the depth of this place."""
        library = self.compilation.library
        scope = library.scope_in(self.scope, resource)
        return Location(self.compilation, path, self.depth, None if scope == library.start else scope)

    @property
    def scope(self) -> Scope:
        """The resource that contains the schema, with the resources on the path of references."""
        return self.entered_scope or self.compilation.library.start

    @property
    def draft(self) -> SchemaDraft:
        """The draft that the schema is written for."""
        return self.scope.resource.draft

    @property
    def whitespace(self) -> Whitespace:
        """The whitespace between the tokens."""
        return self.compilation.whitespace

    @property
    def is_type(self) -> bool:
        """Whether the schema describes a Python type, and is not one that a user wrote."""
        return self.compilation.reading is Reading.TYPE

    @property
    def keys(self) -> tuple[str | int, ...]:
        """The keys that lead here from the root of the document."""
        return keys_of(self.path)

    @property
    def pointer(self) -> str:
        """The path as a JSON Pointer (RFC 6901), after the URI of the document if it is not the first."""
        return self.scope.resource.address(self.path)

    def internal_schema(self, **keywords: Any) -> "Subschema":
        """Return a schema of the compiler with some keywords, the same object each time."""
        schema = self.compilation.cached(("made", repr(keywords)), lambda: InternalSchema(keywords))
        return Subschema(schema, self)

    def refusal(self, problem: str, *, keyword: str | None = None, remedy: str) -> SchemaError:
        """Return the error about a feature that is not supported here."""
        return self._error(SchemaError, problem, keyword, remedy)

    def unsatisfiable(self, reason: str, *, keyword: str | None) -> UnsatisfiableError:
        """Return the error that no text can be valid here."""
        return self._error(UnsatisfiableError, f"{UNSATISFIABLE}{reason}", keyword, "Let some value be valid.")

    def _error(self, kind: type[E], problem: str, keyword: str | None, remedy: str) -> E:
        """Return an error; its message does not name `uniqueItems` to the author of a Python type, who wrote `set`."""
        named = None if self.is_type and keyword == "uniqueItems" else keyword
        error = kind(problem, schema_path=self.pointer, keyword=named, remedy=remedy)
        error.keyword = keyword
        return error


class InternalSchema(dict[str, Any]):
    """A schema that the compiler made, such as `{"type": "string", "not pattern": "^a"}`.

    It may use the keywords of `keyword_types.INTERNAL`, which mean nothing in a schema of the user.
    """


class RelocatedSchema(NamedTuple):
    """A schema with its location, used inside an `InternalSchema`, so at another place; or its complement.

    The complement, where `is_denied`, allows all other values: that of `{"minimum": 3}` allows 2 and "a".
    """

    schema: Any
    location: Location
    is_denied: bool = False

    @property
    def key(self) -> Hashable:
        """A key that two of them share only if they mean the same."""
        return id(self.schema), self.location.entered_scope, self.is_denied

    def subschema_at(self, location: Location) -> "Subschema":
        """Return the schema for a text at a location: with its own path, and the depth of the location."""
        if self.is_denied:
            return Subschema(self, location)
        return Subschema(self.schema, self.location.at_depth(location.depth))


class Subschema(NamedTuple):
    """A schema, or True for anything and False for nothing, with its location.

    `unevaluated_parents` are the identities of the schemas with `unevaluatedProperties` or `unevaluatedItems` that
    contain this schema in place, and so count what it evaluates (core §11).
    """

    schema: Any
    location: Location
    unevaluated_parents: frozenset[Identity] = frozenset()

    @property
    def identity(self) -> Identity:
        """The identity of the schema and of its scope: two schemas that share it mean the same."""
        return id(self.schema), self.location.entered_scope

    def has(self, keyword: str) -> bool:
        """Tell whether the schema has a keyword, and its draft defines that keyword."""
        schema = self.schema
        return keyword in schema and (isinstance(schema, InternalSchema) or self.location.draft.has(keyword))

    def subschema(self, *keys: str | int) -> "Subschema":
        """Return the subschema that some keys lead to, with its text at the same depth."""
        return _subschema_at(reduce(getitem, keys, self.schema), self.location.of_subschema(*keys))

    def child_subschema(self, *keys: str | int) -> "Subschema":
        """Return the schema of a child (an item or a property), with its text inside one more pair of brackets."""
        return _subschema_at(reduce(getitem, keys, self.schema), self.location.of_child(*keys))

    def branches(self, keyword: str) -> "Subschemas":
        """Return the subschemas that a keyword lists; none if the schema does not have it."""
        return [self.subschema(keyword, index) for index in range(len(self.schema.get(keyword, ())))]

    def inside(self, part: "Subschema") -> "Subschema":
        """Return the schema as one that another contains in place, whose unevaluated parents are also its own."""
        return self._replace(unevaluated_parents=self.unevaluated_parents | part.unevaluated_parents)

    @property
    def relocated(self) -> RelocatedSchema:
        """The schema for use at another place."""
        schema = self.schema
        return schema if isinstance(schema, RelocatedSchema) else RelocatedSchema(schema, self.location)

    @property
    def complement(self) -> RelocatedSchema:
        """The complement of the schema, for use at another place."""
        return self.relocated._replace(is_denied=not self.relocated.is_denied)

    @property
    def first_items(self) -> list[Any]:
        """The schemas that an array lists for its first items, in `prefixItems`, or in `items` up to draft 2019-09."""
        items = self.schema.get("items")
        if not isinstance(items, list):
            items = self.schema["prefixItems"] if self.has("prefixItems") else []
        return items if isinstance(items, list) else []

    def item(self, position: float) -> "Subschema":
        """Return the schema of the item at a position, `inf` for any after the first items; True if it is free."""
        is_list = isinstance(self.schema.get("items"), list)
        if position < len(self.first_items):
            return self.child_subschema("items" if is_list else "prefixItems", int(position))
        keyword = self.other_items_keyword
        return self.child_subschema(keyword) if self.has(keyword) else Subschema(True, self.location.of_child("items"))

    @property
    def other_items_keyword(self) -> str:
        """The keyword of the items after the first ones."""
        return "additionalItems" if isinstance(self.schema.get("items"), list) else "items"

    def length(self, keyword: str) -> int | None:
        """Return the length that a keyword sets; None means no limit."""
        count = self.schema.get(keyword)
        if isinstance(count, float) and count.is_integer():
            count = int(count)
        if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 0):
            remedy = "Use an integer that is at least 0."
            raise self.location.refusal(f"{count!r} is not a length", keyword=keyword, remedy=remedy)
        return count


Subschemas = list[Subschema]
"""Schemas that one value has to satisfy together: at least one, all at the same depth."""

PatternOf = Callable[[Subschemas], Pattern]
"""The compiler of schemas that hold together, which the functions of keywords receive as an argument."""


UNREACHABLE_LENGTH = 1 << 30
"""No text is as long as this, in any unit."""

Limits = tuple[int, int | None]
"""The least and the greatest length; None means no limit."""


def length_limits(schemas: Subschemas, at_least: str, at_most: str) -> Limits:
    """Return the limits of a length that two keywords of some schemas set together.

    `{"minLength": 2}`, `"minLength"`, `"maxLength"` → `(2, None)`
    """
    low = max((part.length(at_least) or 0 for part in schemas), default=0)
    upper = [part.length(at_most) for part in schemas]
    high = min((most for most in upper if most is not None and most < UNREACHABLE_LENGTH), default=None)
    if low >= UNREACHABLE_LENGTH or (high is not None and low > high):
        unit = _UNITS[at_least]
        count = f"{low:,}" if low >= UNREACHABLE_LENGTH else f"at least {low:,} and at most {high:,}"
        part = next(part for part in schemas if part.length(at_least) == low)
        raise part.location.unsatisfiable(f"no value has {count} {unit}", keyword=at_least)
    return low, high


_UNITS = {"minItems": "items", "minLength": "characters", "minProperties": "properties"}
"""The units of lengths, by the keyword of the lower limit."""


def _subschema_at(schema: Any, location: Location) -> Subschema:
    """Return a subschema, inside a resource of its own if it has an identifier."""
    if isinstance(schema, RelocatedSchema):
        return schema.subschema_at(location)
    if isinstance(schema, MAPPINGS) and ("$id" in schema or "id" in schema):
        resource = location.compilation.library.resource_of(schema, location.scope.resource, location.path)
        location = location.in_resource(location.path, resource)
    return Subschema(schema, location)
