"""Where the compilation of a schema stands, what all of it shares, and the errors that are raised there."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, NamedTuple, Protocol

from structured.errors import SchemaError, UnsatisfiableError
from structured.json_schema.document.drafts import Draft
from structured.json_schema.document.equality import Spelling, shared
from structured.json_schema.document.library import Library, Path, Resource, Scope, keys_of, longer
from structured.json_schema.whitespace import Whitespace
from structured.regex import Pattern, Reference
from structured.regex.traversal import Endings

Schema = Mapping[str, Any]
"""A JSON Schema that is an object."""


NOT_STATED = "not stated"
"""The keyword that marks a field which may be null because the text may not state it."""

GROUNDED = "grounded on"
"""The keyword of a value that the document has to state. It says where a quotation may begin and end: `"words"` or
`"characters"`."""

KEY = "is key"
"""The keyword of a value that tells the record it stands in from others."""

VALIDATORS = "validators"
"""The keyword under which the names of the functions stand that are run on a finished value."""

UNSATISFIABLE = "Unsatisfiable: "
"""What the problem of an UnsatisfiableError begins with."""

MAX_COMBINATIONS = 3000
"""Branches of several choices that are combined with each other, in one schema."""

ANNOTATIONS = frozenset(
    {
        *("$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"),
        *(GROUNDED, KEY, NOT_STATED, VALIDATORS),
    }
)
"""Keywords that allow and forbid nothing (validation §9, and the notes about types)."""

Identity = tuple[int, Scope | None]
"""The identity of an object in memory, and the scope of its references."""


class Reading(Enum):
    """What a schema means where it is silent."""

    TYPE = "type"
    """As the description of a type: every property is written and no other may be, and a keyword that is not known is
    refused, since it may be a rule that is enforced later."""

    SPECIFICATION = "specification"
    """As JSON Schema says: properties that are not required may be left out, others may be added after them unless that
    is forbidden, and what is not known to the specification is an annotation."""


Optionals = Literal["written", "omittable", "schema"]
"""What becomes of the properties of an object that need not be there: all that can be are written, and no others unless
something is said of others; or those that are listed may be left out; or, besides, whatever is allowed may be added."""


KeyOrder = Literal["schema", "any"]
"""The order of the properties of an object: that in which the schema lists them, others after them; or any."""


class Statements(Protocol):
    """What a document states, for the values that have to be stated."""

    def quotation(
        self,
        boundary: str,
        included: Sequence[Pattern],
        excluded: Sequence[Pattern],
        *,
        minimum: int,
        maximum: int | None,
    ) -> Pattern | None:
        """Return the inside of the JSON strings that quote the document and keep some rules; None if there are none."""
        ...

    def spellings(self, kind: str) -> Iterable[Sequence[str]]:
        """Return, for each number, date, date-time or time that is stated, how JSON may spell it, the usual first."""
        ...


@dataclass(slots=True, eq=False)
class Compilation:
    """What all places of one compilation share.

    `optional` tells what is written of the properties that need not be there, and `key_order` in which order. Where the
    schema is read by the specification, `asserts_formats` tells whether formats forbid anything; if that is None, what
    is written is valid in either case, and no format is denied. `plain_numbers` tells there whether numbers are written
    as those of types always are: with a limited number of digits, and 1 not as 1.0.
    `documents` are those that references may lead to, by URI, and `draft` is that of schemas that name none; `library`
    finds what they lead to. `statements` are those of the document, where one is read.

    `patterns` keeps the pattern of each definition, by name; those of `open_names` are being built. `together` keeps
    those of schemas that hold together, with these, by their depth, where that matters, their identities and scopes.
    `names` tells the name by the identities of the schemas that it stands for. `references` are those made to
    definitions from inside them, and where each stands. `combinations` counts branches combined with other branches,
    of which there may be `max_combinations`, and `looked_at` schemas that were looked at to see whether they exclude
    each other. `complements` are the ways in which a value can fail a schema, by its identity, and `made` are other
    schemas of the compiler's own. `checked` are those that hold what they should, by identity, and `endings` tells of
    patterns whether they end alone.

    Where values are compared by their texts, `spelling` is that in which each is written, and `spelled` the compilation
    of the same schema in which it is so; see `arrays/one_spelling.py`.

    Where the schema is read by the specification, objects of it that are equal are one; see `sharing.py`.
    """

    root: Schema | bool
    whitespace: Whitespace
    reading: Reading
    optional: Optionals = "schema"
    asserts_formats: bool | None = None
    plain_numbers: bool = False
    key_order: KeyOrder = "schema"
    patterns: dict[str, Pattern] = field(default_factory=dict)
    together: dict[tuple[Any, ...], tuple["Subschemas", Pattern]] = field(default_factory=dict)
    names: dict[tuple[frozenset[tuple[Identity, frozenset[Identity]]], frozenset[Identity]], str] = field(
        default_factory=dict
    )
    namesakes: Counter[str] = field(default_factory=Counter)
    open_names: set[str] = field(default_factory=set)
    references: list[tuple[Reference, "Location"]] = field(default_factory=list)
    combinations: int = 0
    max_combinations: int = MAX_COMBINATIONS
    looked_at: int = 0
    complements: dict[Identity, Any] = field(default_factory=dict)
    made: dict[Any, Any] = field(default_factory=dict)
    checked: set[int] = field(default_factory=set)
    endings: Endings = field(default_factory=dict)
    documents: Mapping[str, Any] = field(default_factory=dict)
    draft: Draft = Draft.DRAFT_2020_12
    statements: Statements | None = None
    spelling: Spelling | None = None
    spelled: "Compilation | None" = None
    library: Library = field(init=False)

    def __post_init__(self) -> None:
        if self.reading is Reading.SPECIFICATION:
            self.root = shared(self.root)
        self.library = Library(self.root, self.documents, self.draft)

    @property
    def work(self) -> int:
        """What was compiled so far: schemas, branches that were combined, and, in tens, schemas held against others."""
        return len(self.checked) + len(self.names) + 4 * self.combinations + self.looked_at // 10

    @property
    def has_combined_too_many(self) -> bool:
        """Whether more branches were combined than may be."""
        return self.combinations > self.max_combinations

    @property
    def format_readings(self) -> tuple[bool, ...]:
        """Whether formats forbid anything to the validators that have to allow what is written."""
        if self.asserts_formats is None and self.reading is Reading.SPECIFICATION:
            return True, False
        return (self.asserts_formats is not False,)

    def afresh(self) -> "Compilation":
        """Return a compilation of the same in which nothing has been compiled yet."""
        fresh = Compilation(
            self.root,
            self.whitespace,
            self.reading,
            self.optional,
            self.asserts_formats,
            self.plain_numbers,
            self.key_order,
            documents=self.documents,
            statements=self.statements,
            draft=self.draft,
        )
        fresh.root, fresh.library = self.root, self.library  # the resources in scopes are its own
        return fresh

    def in_one_spelling(self, spelling: Spelling, whitespace: Whitespace) -> "Compilation":
        """Return a compilation of the same in which each value has one spelling, and nothing has been compiled yet."""
        fresh = self.afresh()
        fresh.whitespace, fresh.key_order, fresh.spelling = whitespace, "schema", spelling
        return fresh


class Location(NamedTuple):
    """A schema's position in its document, and the number of brackets open around its text.

    `entered` is the scope of the references there; None is that of the root.
    """

    compilation: Compilation
    path: Path = None
    depth: int = 0
    entered: Scope | None = None

    def at(self, *keys: str | int) -> "Location":
        """Return the place of a subschema whose text stands at the same depth."""
        return Location(self.compilation, longer(self.path, keys), self.depth, self.entered)

    def inside(self, *keys: str | int) -> "Location":
        """Return the place of a subschema whose text stands inside one more pair of brackets."""
        return Location(self.compilation, longer(self.path, keys), self.depth + 1, self.entered)

    def at_depth(self, depth: int) -> "Location":
        """Return the place of the same schema whose text stands inside so many pairs of brackets."""
        return self if depth == self.depth else Location(self.compilation, self.path, depth, self.entered)

    def led_to(self, path: Path, resource: Resource) -> "Location":
        """Return the place of the schema that a path leads to in the document of a resource, its text standing here."""
        library = self.compilation.library
        scope = library.entered(self.scope, resource)
        return Location(self.compilation, path, self.depth, None if scope == library.start else scope)

    @property
    def scope(self) -> Scope:
        """The resource that the schema lies in, and those passed through."""
        return self.entered or self.compilation.library.start

    @property
    def draft(self) -> Draft:
        """The draft that the schema is written for."""
        return self.scope.resource.draft

    @property
    def whitespace(self) -> Whitespace:
        """What stands between the tokens."""
        return self.compilation.whitespace

    @property
    def is_type(self) -> bool:
        """Whether the schema is read as the description of a type."""
        return self.compilation.reading is Reading.TYPE

    @property
    def checker(self) -> str:
        """What can check a rule of the user's that is not enforced."""
        return "a Pydantic validator" if self.is_type else "your program"

    @property
    def plain_numbers(self) -> bool:
        """Whether numbers have a limited number of digits, and those that are listed one spelling."""
        return self.is_type or self.compilation.plain_numbers

    @property
    def keys(self) -> tuple[str | int, ...]:
        """The keys that lead here from the root of the document."""
        return keys_of(self.path)

    @property
    def pointer(self) -> str:
        """The same as a JSON Pointer (RFC 6901), after the URI of the document if it is not the first."""
        return self.scope.resource.address(self.path)

    def refusal(self, problem: str, *, keyword: str | None = None, remedy: str) -> SchemaError:
        """Return the error that says what is not supported here."""
        return SchemaError(problem, schema_path=self.pointer, keyword=keyword, remedy=remedy)

    def unsatisfiable(self, reason: str, *, keyword: str | None) -> UnsatisfiableError:
        """Return the error that says that no text can be valid here."""
        return UnsatisfiableError(
            f"{UNSATISFIABLE}{reason}", schema_path=self.pointer, keyword=keyword, remedy="Let some value be valid."
        )


class Complement(dict[str, Any]):
    """A schema made by the compiler: it has keywords of its own."""


class Elsewhere(NamedTuple):
    """A schema that stands at another place than where it is used, or the complement of one: what it does not allow."""

    schema: Any
    location: Location
    is_denied: bool = False


class Subschema(NamedTuple):
    """A schema, or True for anything and False for nothing, and where it stands.

    `scopes` are the identities of the schemas with `unevaluatedProperties` or `unevaluatedItems` that count what this
    one evaluates (core §11): those that it is a part of, in place.
    """

    schema: Any
    location: Location
    scopes: frozenset[Identity] = frozenset()

    @property
    def identity(self) -> Identity:
        """The same for two schemas only if they are the same and their references lead to the same."""
        return id(self.schema), self.location.entered

    def has(self, keyword: str) -> bool:
        """Tell whether a keyword is there and, in the draft that the schema is written for, more than an annotation."""
        schema = self.schema
        return keyword in schema and (isinstance(schema, Complement) or self.location.draft.has(keyword))

    def below(self, *keys: str | int) -> "Subschema":
        """Return the subschema that some keys lead to, its text standing at the same depth."""
        return _arrived(_followed(self.schema, keys), self.location.at(*keys))

    def within(self, *keys: str | int) -> "Subschema":
        """Return the subschema that some keys lead to, its text standing inside one more pair of brackets."""
        return _arrived(_followed(self.schema, keys), self.location.inside(*keys))

    def elsewhere(self, *keys: str | int, is_denied: bool = False) -> Elsewhere:
        """Return the subschema that some keys lead to, to be used at another place, or its complement."""
        target = self.below(*keys)
        if isinstance(target.schema, Elsewhere):
            return target.schema._replace(is_denied=target.schema.is_denied != is_denied)
        return Elsewhere(target.schema, target.location, is_denied)

    def length(self, keyword: str) -> int | None:
        """Return the length that a keyword sets; None is no limit."""
        count = self.schema.get(keyword)
        if isinstance(count, float) and count.is_integer():
            count = int(count)
        if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 0):
            raise self.location.refusal(
                f"{count!r} is not a length", keyword=keyword, remedy="Use an integer that is at least 0."
            )
        return count


LONGEST = 1 << 30
"""No text is as long as this, in any unit."""


SHAPES: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("$defs", "definitions", "patternProperties", "properties"), (Mapping, "an object of schemas")),
    **dict.fromkeys(("dependencies", "dependentRequired", "dependentSchemas"), (Mapping, "an object of rules")),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), (list, "a list of schemas")),
    **dict.fromkeys(("$dynamicRef", "$recursiveRef", "$ref", "format", "pattern"), (str, "a string")),
    "enum": (list, "a list of values"),
    "required": (list, "a list of names"),
}
"""What a keyword holds, where it is no schema, number or flag."""


def check_shape(part: Subschema) -> None:
    """Refuse what is not a schema, and a keyword that does not hold what it should."""
    schema, location = part.schema, part.location
    if id(schema) in location.compilation.checked:
        return
    if not isinstance(schema, Mapping):
        raise location.refusal(f"{schema!r} is not a schema", remedy="Use an object, true or false.")
    for keyword, value in schema.items():
        shape = SHAPES.get(keyword)
        if shape is not None and not isinstance(value, shape[0]):
            raise location.refusal(f"{value!r} is not {shape[1]}", keyword=keyword, remedy="See the specification.")
    for keyword in ("required", "type"):
        names = schema.get(keyword, "")
        if isinstance(names, list) and not all(isinstance(name, str) for name in names):
            raise location.refusal(f"{names!r} is not a list of names", keyword=keyword, remedy="List strings.")
    if not isinstance(schema.get("type", ""), (str, list)):
        raise location.refusal(f"{schema['type']!r} is not a type", keyword="type", remedy="Name it by a string.")
    if not isinstance(schema, Complement):  # one of which may be gone while its identity is still known
        location.compilation.checked.add(id(schema))


Subschemas = list[Subschema]
"""Schemas that one value has to satisfy all; there is at least one, and all texts stand at the same depth."""

PatternOf = Callable[[Subschemas], Pattern]
"""The compiler of schemas that hold together, which is handed to the keywords that hold schemas."""


def counts(schemas: Subschemas, at_least: str, at_most: str) -> tuple[int, int | None]:
    """Return the limits of a length, as two keywords of some schemas set them together; None is no limit.

    `{"minLength": 2}`, `"minLength"`, `"maxLength"` → `(2, None)`
    """
    low, high = 0, None
    for part in schemas:
        if at_least in part.schema:
            low = max(low, part.length(at_least) or 0)
        if at_most in part.schema:
            most = part.length(at_most)
            high = high if most is None or most >= LONGEST else most if high is None else min(high, most)
    if low >= LONGEST:
        part = next(part for part in schemas if at_least in part.schema)
        raise part.location.unsatisfiable(f"no text is {low:,} long", keyword=at_least)
    if high is not None and low > high:
        location = next(part.location for part in schemas if at_least in part.schema)
        raise location.unsatisfiable(f"no length is at least {low} and at most {high}", keyword=at_least)
    return low, high


def _arrived(schema: Any, location: Location) -> Subschema:
    """Return a subschema, inside a resource of its own if it has an identifier.

    One from elsewhere keeps the path of its own, and has the depth of here.
    """
    if type(schema) is dict:
        if "$id" not in schema and "id" not in schema:
            return Subschema(schema, location)
    elif isinstance(schema, Elsewhere) and not schema.is_denied:
        return Subschema(schema.schema, schema.location.at_depth(location.depth))
    if isinstance(schema, Mapping) and ("$id" in schema or "id" in schema):
        resource = location.compilation.library.resource_of(schema, location.scope.resource, location.path)
        location = location.led_to(location.path, resource)
    return Subschema(schema, location)


def _followed(schema: Any, keys: tuple[str | int, ...]) -> Any:
    for key in keys:
        schema = schema[key]
    return schema
