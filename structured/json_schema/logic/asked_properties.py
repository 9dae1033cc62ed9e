"""Properties that a complement asks for: an object has some property with such a name and such a value."""

from collections.abc import Iterator
from typing import NamedTuple

from structured.errors import PatternError
from structured.json_schema.document.location import Complement, Elsewhere, Subschema, Subschemas
from structured.json_schema.strings.names import exclude_each_other, finds
from structured.regex.dialects import ECMA, Dialect


class SomeProperty(NamedTuple):
    """An object has a property that a schema allows, and whose name is right.

    The name is none of `other_names`, is found by none of `other_patterns` and, if there is one, by `pattern`; `names`
    is a schema that it has to satisfy.
    """

    schema: Elsewhere | bool
    pattern: str | None = None
    other_names: tuple[str, ...] = ()
    other_patterns: tuple[str, ...] = ()
    names: Elsewhere | bool = True

    def may_be(self, name: str, dialect: Dialect) -> bool:
        """Tell whether a property of this name may be the one, but for what `names` says."""
        if name in self.other_names or any(finds(regex, dialect, name) for regex in self.other_patterns):
            return False
        return self.pattern is None or finds(self.pattern, dialect, name)

    def may_be_found_by(self, regex: str) -> bool:
        """Tell whether the one may have a name in which a regular expression is found, as far as that is seen."""
        if regex in self.other_patterns:
            return False
        return self.pattern is None or not exclude_each_other(frozenset((regex, self.pattern)), ECMA)


def asked_properties(schemas: Subschemas) -> Iterator[tuple[Subschema, SomeProperty]]:
    """Yield what some schemas ask for, each with the schema that does."""
    for part in schemas:
        if isinstance(part.schema, Complement) and "some property" in part.schema:
            yield part, part.schema["some property"]


def named_candidates(schemas: Subschemas, asked: SomeProperty) -> list[str] | None:
    """Return the names of the properties that may be the one, where other names are surely not allowed; None elsewhere.

    `{"properties": {"a": …}, "additionalProperties": false}` → `["a"]`, if "a" may be it
    """
    for part in schemas:
        if part.schema.get("additionalProperties") is False and not part.location.is_type:
            regexes = part.schema.get("patternProperties", ())
            try:
                if not any(map(asked.may_be_found_by, regexes)):
                    return [name for name in part.schema.get("properties", ()) if asked.may_be(name, ECMA)]
            except PatternError:
                continue
    return None
