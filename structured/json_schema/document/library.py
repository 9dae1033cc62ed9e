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
from structured.json_schema.document.drafts import (
    Keys,
    MemberKind,
    SchemaDraft,
    has_vocabulary,
    named_draft,
    omitted_keywords,
    subschemas,
)

Path = tuple["Path", str | int] | None
"""The keys that lead to a schema, the last key first: `(((None, "properties"), "a"), "items")`."""


def longer(path: Path, keys: Keys) -> Path:
    """Return a path with some keys after it."""
    for key in keys:
        path = (path, key)
    return path


def keys_of(path: Path) -> Keys:
    """Return the keys of a path, the first key first."""
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

    `document` is the URI of its document, "" for the first document; `path` leads to the resource inside it.
    """

    uri: str
    schema: Any
    draft: SchemaDraft
    dialect: str = ""
    document: str = ""
    path: Path = None

    def address(self, path: Path) -> str:
        """Return a path in the document as a JSON Pointer, after the URI and a `#` if it is not the first document."""
        return f"{self.document}#{pointer_of(path)}" if self.document else pointer_of(path)


@dataclass(slots=True)
class Contents:
    """The names, keywords and embedded resources of a resource, without those inside the embedded resources.

    `names` maps plain names (`$anchor` and similar keywords) to schemas; None if two schemas have the same name.
    `dynamic` are the names that may mean other schemas, depending on the path of references; "" is the resource itself
    (`$recursiveAnchor`). `keywords` are all that occur, and `embedded` the resources that begin inside.
    """

    names: dict[str, "tuple[Any, Path] | None"] = field(default_factory=dict)
    dynamic: set[str] = field(default_factory=set)
    keywords: set[str] = field(default_factory=set)
    embedded: list[Resource] = field(default_factory=list)


class ReferenceTarget(NamedTuple):
    """The target of a reference: a value, usually a schema, its path, and the resource that contains it."""

    schema: Any
    path: Path
    resource: Resource


class Scope(NamedTuple):
    """The resource that contains a schema, and the outer resources with dynamic names (core §7.1).

    `outer` has, for each name, the first resource on the path of references that has it, sorted by name. A name whose
    first resource is `resource` itself is left out, so scopes are equal if they mean the same, and there are finitely
    many.
    """

    resource: Resource
    outer: tuple[tuple[str, Resource], ...] = ()


ROOT_URI = "schema:root"
"""The URI of the first document, where it needs one. References resolve against it as against no URI."""


class Library:
    """The documents that a schema may refer to: its own, those that the caller passes, and the metaschemas."""

    def __init__(self, root: Any, documents: Mapping[str, Any], draft: SchemaDraft) -> None:
        self._documents = {uri.removesuffix("#"): document for uri, document in documents.items()}
        self._draft = draft
        self._embedded: dict[tuple[int, Resource], Resource] = {}
        self._contents: dict[Resource, Contents] = {}
        self._targets: dict[tuple[Resource, str], ReferenceTarget] = {}
        self._metaschemas: dict[str, Resource] = {}
        self._root = root
        self.start = Scope(self._document("", root))

    def resource_of(self, schema: Mapping[str, Any], outer: Resource, path: Path) -> Resource:
        """Return the resource that begins with a schema; the outer resource if none does."""
        if "$id" not in schema and "id" not in schema:
            return outer
        key = id(schema), outer
        if key not in self._embedded:
            draft, dialect = self._draft_of(schema, outer.draft, outer.dialect)
            identifier = _base(schema, draft)
            if identifier is None:
                return outer
            uri = resolved_uri(outer.uri, identifier)
            self._embedded[key] = Resource(uri, schema, draft, dialect, outer.document, path)
        return self._embedded[key]

    def scope_in(self, scope: Scope, resource: Resource) -> Scope:
        """Return the scope after passing from one resource into another."""
        if resource is scope.resource:
            return scope
        self.check_vocabularies(resource)
        first = dict.fromkeys(self.contents_of(scope.resource).dynamic, scope.resource) | dict(scope.outer)
        outer = [(name, inner) for name, inner in first.items() if inner is not resource]
        return Scope(resource, tuple(sorted(outer, key=lambda entry: entry[0])))

    def find(self, uri: str) -> Resource:
        """Return the resource with a URI. Raises LookupError where there is none, or more than one."""
        if uri in self._catalogue:
            resource = self._catalogue[uri]
            if resource is None:
                raise LookupError("two schemas have that URI")
            return resource
        if uri not in self._metaschemas:
            from jsonschema_specifications import REGISTRY

            metaschema = REGISTRY.get(uri)
            if metaschema is None:
                raise LookupError("no schema with that URI was passed in `documents`, and nothing is downloaded")
            self._metaschemas[uri] = self._document(uri, metaschema.contents)
        return self._metaschemas[uri]

    def target_of_fragment(self, resource: Resource, fragment: str) -> ReferenceTarget:
        """Return the target of a fragment of a resource's URI: empty, a JSON Pointer (RFC 6901) or a plain name.

        Raises LookupError where there is no such target, or more than one.
        """
        key = resource, fragment
        if key not in self._targets:
            by_pointer = not fragment or fragment.startswith("/")
            self._targets[key] = (self._by_pointer if by_pointer else self._by_name)(resource, fragment)
        return self._targets[key]

    def _by_name(self, resource: Resource, name: str) -> ReferenceTarget:
        names = self.contents_of(resource).names
        if name not in names:
            raise LookupError(f"there is no schema with the name {name!r}")
        target = names[name]
        if target is None:
            raise LookupError(f"two schemas have the name {name!r}")
        return ReferenceTarget(*target, resource)

    def _by_pointer(self, resource: Resource, pointer: str) -> ReferenceTarget:
        value, path, kind = resource.schema, resource.path, MemberKind.SCHEMA
        for token in pointer.split("/")[1:]:
            key = _key(value, token.replace("~1", "/").replace("~0", "~"))
            kind = kind.of_member(key, value[key], resource.draft)
            value, path = value[key], (path, key)
            if kind is MemberKind.SCHEMA and isinstance(value, Mapping):
                resource = self.resource_of(value, resource, path)
        return ReferenceTarget(value, path, resource)

    def contents_of(self, resource: Resource) -> Contents:
        """Return the contents of a resource, which is searched once."""
        if resource not in self._contents:
            self._contents[resource] = self._search(resource)
        return self._contents[resource]

    def _search(self, resource: Resource) -> Contents:
        contents = Contents()
        if not isinstance(resource.schema, Mapping):
            return contents
        if resource.draft is SchemaDraft.DRAFT_2019_09 and resource.schema.get("$recursiveAnchor") is True:
            contents.dynamic.add("")
        seen: set[int] = set()
        pending: list[tuple[Mapping[str, Any], Path]] = [(resource.schema, resource.path)]
        while pending:
            schema, path = pending.pop()
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            inner = self.resource_of(schema, resource, path) if schema is not resource.schema else resource
            if inner is not resource:
                contents.embedded.append(inner)
                continue
            contents.keywords.update(schema)
            names = names_of(schema, resource.draft)
            contents.dynamic.update(name for name, keyword in names.items() if keyword == "$dynamicAnchor")
            contents.names.update({name: None if name in contents.names else (schema, path) for name in names})
            pending += [(member, longer(path, keys)) for keys, member in subschemas(schema, resource.draft)]
        return contents

    def holds(self, schema: Any, document: str, path: Path) -> bool:
        """Tell whether a path in a document leads to a schema."""
        target = self.find(document).schema if document else self._root
        try:
            for key in keys_of(path):
                target = target[key]
        except (KeyError, IndexError, TypeError):
            return False
        return target is schema

    @cached_property
    def registry(self) -> Any:
        """The documents as a registry for `jsonschema`, the first under `ROOT_URI`."""
        from jsonschema_specifications import REGISTRY
        from referencing.jsonschema import specification_with

        documents = {ROOT_URI: self._root, **self._documents}
        drafts = {uri: self._document(uri, document).draft for uri, document in documents.items()}
        specifications = {uri: specification_with(draft.metaschema) for uri, draft in drafts.items()}
        return REGISTRY.with_resources((uri, specifications[uri].create_resource(documents[uri])) for uri in documents)

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether any document, apart from metaschemas, has dynamic names."""
        return any(self.contents_of(resource).dynamic for resource in self._catalogue.values() if resource)

    @cached_property
    def _catalogue(self) -> dict[str, Resource | None]:
        """The resources of all documents by URI: the first document wins, resources inside others lose."""
        others = {uri: self._document(uri, document) for uri, document in self._documents.items()}
        embedded: dict[str, Resource | None] = {}
        for start in others.values():
            embedded = self._by_uri(start) | embedded
        return embedded | others | self._by_uri(self.start.resource)

    def _by_uri(self, start: Resource) -> dict[str, Resource | None]:
        resources: dict[str, Resource | None] = {}
        pending = [start]
        while pending:
            resource = pending.pop()
            resources[resource.uri] = None if resource.uri in resources else resource
            pending += self.contents_of(resource).embedded
        return resources

    def _document(self, uri: str, schema: Any) -> Resource:
        """Return a whole document as a resource. It may be identified by the keyword of another draft."""
        if not isinstance(schema, Mapping):
            return Resource(uri, schema, self._draft, document=uri)
        draft, dialect = self._draft_of(schema, self._draft, "")
        identifier = next((schema[key] for key in ("$id", "id") if isinstance(schema.get(key), str)), "")
        return Resource(resolved_uri(uri, identifier.partition("#")[0]), schema, draft, dialect, uri)

    def _draft_of(self, schema: Mapping[str, Any], draft: SchemaDraft, dialect: str) -> tuple[SchemaDraft, str]:
        """Return the draft and the metaschema of a schema; those of the schema around it if it names none."""
        uri = schema.get("$schema")
        if not isinstance(uri, str):
            return draft, dialect
        metaschema = self._documents.get(uri.removesuffix("#"))
        draft_uri = metaschema.get("$schema") if isinstance(metaschema, Mapping) else uri
        return named_draft(draft_uri) or draft, uri

    def check_vocabularies(self, resource: Resource) -> None:
        """Refuse a resource whose metaschema requires an unknown vocabulary, or lacks one in use (core §8.1.2)."""
        metaschema = self._documents.get(resource.dialect.removesuffix("#"))
        vocabularies = metaschema.get("$vocabulary") if isinstance(metaschema, Mapping) else None
        if not isinstance(vocabularies, Mapping) or resource.draft <= SchemaDraft.DRAFT_7:
            return
        unknown = next((uri for uri, required in vocabularies.items() if required and not has_vocabulary(uri)), None)
        problem = f"The required vocabulary {unknown!r} is unknown" if unknown else ""
        omitted = omitted_keywords(vocabularies, resource.draft) & self.contents_of(resource).keywords
        if omitted:
            problem = f"The metaschema leaves out the vocabulary of {min(omitted)!r}"
        if problem:
            raise SchemaError(
                problem,
                schema_path=resource.address(resource.path),
                keyword="$schema",
                remedy="Use a metaschema of the specification.",
            )


def _key(value: Any, name: str) -> str | int:
    if isinstance(value, list) and name.isdecimal() and str(int(name)) == name and int(name) < len(value):
        return int(name)
    if isinstance(value, Mapping) and name in value:
        return name
    raise LookupError(f"there is no {name!r}")


def resolved_uri(base: str, reference: str) -> str:
    """Return a reference without a fragment as an absolute URI, if the base is one (RFC 3986 §5.2).

    `"http://example.org/a/b"`, `"c"` → `http://example.org/a/c`
    """
    if not base:
        return reference
    try:
        return urljoin(base, reference)
    except ValueError:  # no URI
        return reference


def _base(schema: Mapping[str, Any], draft: SchemaDraft) -> str | None:
    """Return the URI in a schema's identifier; None if there is no identifier, or only a name inside the resource."""
    identifier = schema.get(draft.identifier)
    if not isinstance(identifier, str) or (draft.ignores_siblings and "$ref" in schema):
        return None
    return identifier.partition("#")[0] or None


def names_of(schema: Mapping[str, Any], draft: SchemaDraft) -> dict[str, str]:
    """Return the plain names of a schema, with the keyword of each; up to draft 7 they are fragments of identifiers.

    `{"$anchor": "a"}` → `{"a": "$anchor"}`; in draft 7, `{"$id": "#a"}` → `{"a": "$id"}`
    """
    if draft.ignores_siblings:
        identifier = schema.get(draft.identifier)
        name = identifier.partition("#")[2] if isinstance(identifier, str) and "$ref" not in schema else ""
        return {unquote(name): draft.identifier} if name and not name.startswith("/") else {}
    keywords = ("$anchor", "$dynamicAnchor") if draft >= SchemaDraft.DRAFT_2020_12 else ("$anchor",)
    return {str(schema[keyword]): keyword for keyword in keywords if keyword in schema}
