"""The library of a compilation: its documents, and the schema resources in them, by their URIs.

A resource is a schema with a URI of its own, which is the base of the references inside it (core §4.3.5, §8.2).
Documents are the schema that is compiled, those that the caller passes, and the metaschemas of the specification.
Nothing is downloaded. A document is searched only once a reference cannot be followed without.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin

from structured.errors import SchemaError
from structured.json_schema.document.drafts import Draft, Kind, has_vocabulary, named_draft, subschemas, unsaid_keywords

Path = tuple["Path", str | int] | None
"""The keys that lead to a schema, the last one first: `(((None, "properties"), "a"), "items")`."""

Keys = tuple[str | int, ...]


def longer(path: Path, keys: Keys) -> Path:
    """Return a path with some keys after it."""
    for key in keys:
        path = (path, key)
    return path


def keys_of(path: Path) -> Keys:
    """Return the keys of a path, the first one first."""
    keys = []
    while path is not None:
        path, key = path
        keys.append(key)
    return tuple(reversed(keys))


def pointer_of(path: Path) -> str:
    """Return a path as a JSON Pointer (RFC 6901): `((None, "$defs"), "a/b")` → `/$defs/a~1b`."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys_of(path))


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """A schema with a URI of its own, and the draft and metaschema that it is written for.

    `document` is the URI by which its document was found, "" that of the first; `path` leads to it in there.
    """

    uri: str
    schema: Any
    draft: Draft
    dialect: str = ""
    document: str = ""
    path: Path = None

    def address(self, path: Path) -> str:
        """Return where a path in the document leads: a JSON Pointer, after the URI and a `#` if it is another one."""
        return f"{self.document}#{pointer_of(path)}" if self.document else pointer_of(path)


@dataclass(slots=True)
class Contents:
    """What is found when a resource is looked through, without those that lie inside it.

    `names` tells where the schemas are that have plain names (`$anchor` and its like); None if two have the same.
    `dynamic` are those names that mean other schemas as well, depending on what refers to them; "" is the resource
    itself (`$recursiveAnchor`). `keywords` are all that occur, and `embedded` the resources that begin here.
    """

    names: dict[str, "tuple[Any, Path] | None"] = field(default_factory=dict)
    dynamic: set[str] = field(default_factory=set)
    keywords: set[str] = field(default_factory=set)
    embedded: list[Resource] = field(default_factory=list)


class Located(NamedTuple):
    """What a reference leads to: a schema, if it is one, how a path leads there, and the resource that it lies in."""

    schema: Any
    path: Path
    resource: Resource


class Scope(NamedTuple):
    """The resource that a schema lies in, and which of those passed through on the way have dynamic names (core §7.1).

    `outer` has for each name the first that has it, sorted by name. Names of the resource itself are left out where it
    would be the first, so scopes are equal if they mean the same, and there are finitely many.
    """

    resource: Resource
    outer: tuple[tuple[str, Resource], ...] = ()


ROOT_URI = "schema:root"
"""The first document, where it needs a URI. References relative to it are the same as those relative to none."""


class Library:
    """The documents that a schema may refer to: its own, those that the caller hands in, and the metaschemas."""

    def __init__(self, root: Any, documents: Mapping[str, Any], draft: Draft) -> None:
        self._documents = {uri.removesuffix("#"): document for uri, document in documents.items()}
        self._draft = draft
        self._embedded: dict[tuple[int, Resource], Resource] = {}
        self._contents: dict[Resource, Contents] = {}
        self._located: dict[tuple[Resource, str], Located] = {}
        self._metaschemas: dict[str, Resource] = {}
        self._root = root
        self.start = Scope(self._document("", root))

    def resource_of(self, schema: Mapping[str, Any], outer: Resource, path: Path) -> Resource:
        """Return the resource that begins with a schema; the one around it if none does."""
        if "$id" not in schema and "id" not in schema:
            return outer
        key = id(schema), outer
        if key not in self._embedded:
            draft, dialect = self._draft_of(schema, outer.draft, outer.dialect)
            identifier = _base(schema, draft)
            if identifier is None:
                return outer
            uri = joined(outer.uri, identifier)
            self._embedded[key] = Resource(uri, schema, draft, dialect, outer.document, path)
        return self._embedded[key]

    def entered(self, scope: Scope, resource: Resource) -> Scope:
        """Return the scope after passing from one resource into another."""
        if resource is scope.resource:
            return scope
        self.check_vocabularies(resource)
        first = dict.fromkeys(self.looked_through(scope.resource).dynamic, scope.resource) | dict(scope.outer)
        outer = [(name, holder) for name, holder in first.items() if holder is not resource]
        return Scope(resource, tuple(sorted(outer, key=lambda entry: entry[0])))

    def find(self, uri: str) -> Resource:
        """Return the resource with a URI. Raises LookupError where there is none, or more than one."""
        if uri in self._catalogue:
            resource = self._catalogue[uri]
            if resource is None:
                raise LookupError("two schemas have that URI")
            return resource
        if uri not in self._metaschemas:
            self._metaschemas[uri] = self._document(uri, _metaschema(uri))
        return self._metaschemas[uri]

    def located(self, resource: Resource, fragment: str) -> Located:
        """Return what a fragment of a resource's URI names: the whole, or by a JSON Pointer (RFC 6901) or a plain name.

        Raises LookupError where there is no such thing, or more than one.
        """
        key = resource, fragment
        if key not in self._located:
            by_pointer = not fragment or fragment.startswith("/")
            self._located[key] = (self._pointed if by_pointer else self._named)(resource, fragment)
        return self._located[key]

    def _named(self, resource: Resource, name: str) -> Located:
        names = self.looked_through(resource).names
        if name not in names:
            raise LookupError(f"there is no schema with the name {name!r}")
        found = names[name]
        if found is None:
            raise LookupError(f"two schemas have the name {name!r}")
        return Located(*found, resource)

    def _pointed(self, resource: Resource, pointer: str) -> Located:
        value, path, kind = resource.schema, resource.path, Kind.SCHEMA
        for token in pointer.split("/")[1:]:
            key = _key(value, token.replace("~1", "/").replace("~0", "~"))
            kind = kind.of_member(key, value[key], resource.draft)
            value, path = value[key], (path, key)
            if kind is Kind.SCHEMA and isinstance(value, Mapping):
                resource = self.resource_of(value, resource, path)
        return Located(value, path, resource)

    def looked_through(self, resource: Resource) -> Contents:
        """Return what lies in a resource."""
        if resource not in self._contents:
            self._contents[resource] = self._contents_of(resource)
        return self._contents[resource]

    def _contents_of(self, resource: Resource) -> Contents:
        contents = Contents()
        if not isinstance(resource.schema, Mapping):
            return contents
        if resource.draft is Draft.DRAFT_2019_09 and resource.schema.get("$recursiveAnchor") is True:
            contents.dynamic.add("")
        seen: set[int] = set()
        left: list[tuple[Mapping[str, Any], Path]] = [(resource.schema, resource.path)]
        while left:
            schema, path = left.pop()
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            own = self.resource_of(schema, resource, path) if schema is not resource.schema else resource
            if own is not resource:
                contents.embedded.append(own)
                continue
            contents.keywords.update(schema)
            names = names_of(schema, resource.draft)
            contents.dynamic.update(name for name, keyword in names.items() if keyword == "$dynamicAnchor")
            contents.names.update({name: None if name in contents.names else (schema, path) for name in names})
            left += [(inner, longer(path, keys)) for keys, inner in subschemas(schema, resource.draft)]
        return contents

    def holds(self, schema: Any, document: str, path: Path) -> bool:
        """Tell whether a schema is what a path leads to in a document."""
        found = self.find(document).schema if document else self._root
        try:
            for key in keys_of(path):
                found = found[key]
        except (KeyError, IndexError, TypeError):
            return False
        return found is schema

    @cached_property
    def registry(self) -> Any:
        """The same documents for `jsonschema`, the first by the name of `ROOT_URI`."""
        from jsonschema_specifications import REGISTRY
        from referencing.jsonschema import specification_with

        documents = {ROOT_URI: self._root, **self._documents}
        drafts = {uri: self._document(uri, document).draft for uri, document in documents.items()}
        return REGISTRY.with_resources(
            (uri, specification_with(drafts[uri].metaschema).create_resource(documents[uri])) for uri in documents
        )

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether there are dynamic names in any document, metaschemas aside."""
        return any(self.looked_through(resource).dynamic for resource in self._catalogue.values() if resource)

    @cached_property
    def _catalogue(self) -> dict[str, Resource | None]:
        """The resources of all documents by URI: first those of the first, then the others, then what lies in those."""
        others = {uri: self._document(uri, document) for uri, document in self._documents.items()}
        inside: dict[str, Resource | None] = {}
        for start in others.values():
            inside = self._by_uri(start) | inside
        return inside | others | self._by_uri(self.start.resource)

    def _by_uri(self, start: Resource) -> dict[str, Resource | None]:
        """Return a document and the resources that lie in it, by URI; None if two have the same."""
        found: dict[str, Resource | None] = {}
        left = [start]
        while left:
            resource = left.pop()
            found[resource.uri] = None if resource.uri in found else resource
            left += self.looked_through(resource).embedded
        return found

    def _document(self, uri: str, schema: Any) -> Resource:
        """Return the resource that a whole document is. Its identifier counts even where the draft has another."""
        if not isinstance(schema, Mapping):
            return Resource(uri, schema, self._draft, document=uri)
        draft, dialect = self._draft_of(schema, self._draft, "")
        identifier = next((schema[key] for key in ("$id", "id") if isinstance(schema.get(key), str)), "")
        return Resource(joined(uri, identifier.partition("#")[0]), schema, draft, dialect, uri)

    def _draft_of(self, schema: Mapping[str, Any], draft: Draft, dialect: str) -> tuple[Draft, str]:
        """Return the draft that a schema is written for, and the metaschema, given those of what is around it."""
        named = schema.get("$schema")
        if not isinstance(named, str):
            return draft, dialect
        metaschema = self._documents.get(named.removesuffix("#"))
        uri = metaschema.get("$schema") if isinstance(metaschema, Mapping) else named
        return named_draft(uri) or draft, named

    def check_vocabularies(self, resource: Resource) -> None:
        """Refuse a resource whose metaschema requires what is not known, or declares that its keywords mean nothing.

        See core §8.1.2.
        """
        metaschema = self._documents.get(resource.dialect.removesuffix("#"))
        vocabularies = metaschema.get("$vocabulary") if isinstance(metaschema, Mapping) else None
        if not isinstance(vocabularies, Mapping) or resource.draft <= Draft.DRAFT_7:
            return
        unknown = next((uri for uri, required in vocabularies.items() if required and not has_vocabulary(uri)), None)
        problem = f"The vocabulary {unknown!r} is required, and not known" if unknown else ""
        unsaid = unsaid_keywords(vocabularies, resource.draft) & self.looked_through(resource).keywords
        if unsaid:
            problem = f"The metaschema leaves out the vocabulary of {min(unsaid)!r}"
        if problem:
            raise SchemaError(
                problem,
                schema_path=resource.address(resource.path),
                keyword="$schema",
                remedy="Use a metaschema of the specification.",
            )


def _key(value: Any, name: str) -> str | int:
    """Return the key or index by which a value has a member of some name."""
    if isinstance(value, list) and name.isdecimal() and str(int(name)) == name and int(name) < len(value):
        return int(name)
    if isinstance(value, Mapping) and name in value:
        return name
    raise LookupError(f"there is no {name!r}")


def joined(base: str, reference: str) -> str:
    """Return a reference without a fragment as an absolute URI, if the base is one (RFC 3986 §5.2).

    `"http://example.org/a/b"`, `"c"` → `http://example.org/a/c`
    """
    if not base:
        return reference
    try:
        return urljoin(base, reference)
    except ValueError:  # no URI
        return reference


def _base(schema: Mapping[str, Any], draft: Draft) -> str | None:
    """Return what a schema's identifier says of its URI; None if it has none, or only a name inside its resource."""
    identifier = schema.get(draft.identifier)
    if not isinstance(identifier, str) or (draft.ignores_siblings and "$ref" in schema):
        return None
    return identifier.partition("#")[0] or None


def names_of(schema: Mapping[str, Any], draft: Draft) -> dict[str, str]:
    """Return the plain names of a schema, with the keyword of each; up to draft 7 they are fragments of identifiers.

    `{"$anchor": "a"}` → `{"a": "$anchor"}`; in draft 7, `{"$id": "#a"}` → `{"a": "$id"}`
    """
    if draft.ignores_siblings:
        identifier = schema.get(draft.identifier)
        name = identifier.partition("#")[2] if isinstance(identifier, str) and "$ref" not in schema else ""
        return {unquote(name): draft.identifier} if name and not name.startswith("/") else {}
    keywords = ("$anchor", "$dynamicAnchor") if draft >= Draft.DRAFT_2020_12 else ("$anchor",)
    return {str(schema[keyword]): keyword for keyword in keywords if keyword in schema}


def _metaschema(uri: str) -> Any:
    """Return a metaschema of the specification. Raises LookupError if there is none with that URI."""
    from jsonschema_specifications import REGISTRY

    found = REGISTRY.get(uri)
    if found is None:
        raise LookupError("no schema with that URI was passed in `documents`, and nothing is downloaded")
    return found.contents
