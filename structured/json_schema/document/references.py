"""References between schemas (core §8.2.3, RFC 6901).

A reference leads to any place of a document, by a JSON Pointer, or to a schema that has a name or a URI. A dynamic
reference leads to the first schema of its name among the resources on the path of references (core §8.2.3.2).
"""

from urllib.parse import unquote

from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.document.library import Resource, resolved_uri
from structured.json_schema.document.location import Location, Subschema, Subschemas

REFERENCES = {
    "$ref": frozenset(SchemaDraft),
    "$recursiveRef": frozenset({SchemaDraft.DRAFT_2019_09}),
    "$dynamicRef": frozenset({SchemaDraft.DRAFT_2020_12}),
}
"""The keywords of references, with the drafts that have them."""


def targets(part: Subschema) -> Subschemas:
    """Return the schemas that a schema refers to, which a value has to satisfy as well."""
    return [follow(part, keyword) for keyword in REFERENCES if keyword in part.schema]


def follow(part: Subschema, keyword: str = "$ref") -> Subschema:
    """Return the schema that a reference of a schema leads to, with its text in the same place."""
    reference, location = part.schema[keyword], part.location
    if location.draft not in REFERENCES[keyword]:
        raise location.refusal(
            f"{keyword!r} is not a keyword of this draft",
            keyword=keyword,
            remedy="Name the draft by $schema, or use $ref.",
        )
    try:
        resource, name = _target_resource(reference, keyword, location)
        schema, path, resource = location.compilation.library.target_of_fragment(resource, name)
    except LookupError as error:
        raise location.refusal(
            f"The reference {reference!r} does not exist: {error.args[0]}",
            keyword=keyword,
            remedy="Write the definition under $defs and refer to it as #/$defs/Name.",
        ) from error
    return Subschema(schema, location.in_resource(path, resource))


def _target_resource(reference: str, keyword: str, location: Location) -> tuple[Resource, str]:
    library, scope = location.compilation.library, location.scope
    uri, _, fragment = reference.partition("#")
    target = library.find(resolved_uri(scope.resource.uri, uri)) if uri else scope.resource
    name = unquote(fragment)
    if keyword == "$ref" or name not in library.contents_of(target).dynamic:
        return target, name
    first = {**dict.fromkeys(library.contents_of(scope.resource).dynamic, scope.resource), **dict(scope.outer)}
    return first.get(name, target), name
