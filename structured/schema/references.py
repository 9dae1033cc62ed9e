"""A `$ref` enters; the schema that it names leaves, from the same document and no other (core §8.2.3).

Nothing is ever fetched: a schema from elsewhere has to be put into the document.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from structured.schema.place import Place, Subschema

_SIBLINGS_IGNORED = ("draft-03", "draft-04", "draft-05", "draft-06", "draft-07")


def follow(part: Subschema) -> Subschema:
    """Return the schema that the `$ref` of a schema leads to, its text standing in the same place."""
    reference, place = part.schema["$ref"], part.place
    root = place.compilation.root
    identifier = root.get("$id", root.get("id", ""))
    pointer = reference.removeprefix(identifier.rstrip("#")) if isinstance(identifier, str) else reference
    if not pointer.startswith("#"):
        raise place.refusal(
            f"The reference {reference!r} leads out of the schema, and nothing is ever fetched",
            keyword="$ref",
            remedy="Put what it names under $defs, and refer to it there.",
        )
    if _has_own_base(place):
        raise place.refusal(
            "A reference inside a schema with an $id of its own is not supported yet",
            keyword="$ref",
            remedy="Remove the inner $id, and refer from the root: #/$defs/Name.",
        )
    target: Any = root
    keys: list[str | int] = []
    for key in pointer.split("/")[1:]:
        name: str | int = unquote(key).replace("~1", "/").replace("~0", "~")
        if isinstance(target, list) and str(name).isdecimal() and int(name) < len(target):
            name = int(name)
        elif not isinstance(target, Mapping) or name not in target:
            raise _nowhere(reference, place)
        target = target[name]
        keys.append(name)
    if pointer != "#" and not keys:
        raise _nowhere(reference, place)
    return Subschema(target, place.at_pointer(tuple(keys)))


def ignores_siblings(place: Place) -> bool:
    """Tell whether what stands beside a `$ref` is ignored, as up to draft 7 (draft-handrews-json-schema-01 §8.3)."""
    return any(draft in str(place.compilation.root.get("$schema")) for draft in _SIBLINGS_IGNORED)


def _has_own_base(place: Place) -> bool:
    """Tell whether a schema on the way here, other than the root, has an identifier."""
    here: Any = place.compilation.root
    for key in place.keys:
        here = here[key]
        if isinstance(here, Mapping):
            identifier = here.get("$id", here.get("id"))
            if isinstance(identifier, str) and not identifier.startswith("#"):
                return True
    return False


def _nowhere(reference: object, place: Place) -> Exception:
    return place.refusal(
        f"The reference {reference!r} leads nowhere",
        keyword="$ref",
        remedy="Write the definition under $defs and refer to it as #/$defs/Name.",
    )
