"""Definitions: conjunctions that are built once, and referred to by name inside themselves.

A definition is identified by all schemas of its conjunction: `Node` beside a rule and `Node` alone are two definitions.
"""

from collections.abc import Callable

from structured.errors import SchemaError
from structured.json_schema.document.location import Compilation, Location
from structured.json_schema.logic.conjunctions import Conjunction
from structured.regex import Pattern, Reference, nodes_of, productive_nodes
from structured.regex.traversal import ends_alone

Build = Callable[[Conjunction, Location], Pattern]
"""A function that makes the pattern of a conjunction."""

MAX_DEFINITIONS = 10_000
"""The most definitions of one schema; each set of schemas that hold together counts."""


def definition(gathered: Conjunction, location: Location, build: Build) -> Pattern:
    """Return the definition of a conjunction, or a reference to it if it is being built."""
    name = _name(gathered, location)
    key = f"{name} at {location.depth}" if location.whitespace.indent else name
    pattern = location.compilation.patterns.get(key)
    if pattern is not None:
        return pattern
    if name in location.compilation.open_names:
        return _reference(name, gathered, location)
    return _built(name, key, gathered, location, build)


def check_ends(pattern: Pattern, compilation: Compilation) -> None:
    """Refuse a definition in a pattern that has to contain itself. Definitions outside the pattern do not matter."""
    targets = [(reference, compilation.patterns.get(reference.name), at) for reference, at in compilation.references]
    if all(target is None or ends_alone(target, compilation.endings) for _, target, _ in targets):
        return
    left, productive = set(map(id, nodes_of(pattern))), productive_nodes(pattern)
    for reference, target, location in targets:
        if id(target) in left and id(target) not in productive:
            raise location.unsatisfiable(f"{reference.name} has to contain itself, without end", keyword="$ref")


def _reference(name: str, gathered: Conjunction, location: Location) -> Reference:
    """Return a reference to a definition that is being built."""
    if location.whitespace.indent:
        raise location.refusal(
            f"{name} contains itself, and indented text needs to know how deep it is",
            keyword="$ref",
            remedy='Choose another whitespace: "spaced", "compact", "flexible" or "any".',
        )
    reference = Reference(name, location.compilation.patterns)
    location.compilation.references.append(
        (reference, gathered.followed[0].location if gathered.followed else location)
    )
    return reference


def _built(name: str, key: str, gathered: Conjunction, location: Location, build: Build) -> Pattern:
    """Build, keep and return the pattern of a definition."""
    compilation = location.compilation
    before, together_before = len(compilation.patterns), len(compilation.together)
    compilation.open_names.add(name)
    try:
        compilation.patterns[key] = build(gathered, location)
    except SchemaError:  # patterns built inside may refer to the definition, which will not exist
        for inner in list(compilation.patterns)[before:]:
            del compilation.patterns[inner]
        for part in list(compilation.together)[together_before:]:
            del compilation.together[part]
        raise
    finally:
        compilation.open_names.remove(name)
    return compilation.patterns[key]


def _name(gathered: Conjunction, location: Location) -> str:
    """Return the name of a conjunction, the same for the same schemas."""
    compilation = location.compilation
    members = frozenset((part.identity, part.scopes) for part in gathered.schemas), frozenset(gathered.denied)
    if members not in compilation.names:
        if len(compilation.names) == MAX_DEFINITIONS:
            raise location.refusal(
                f"Definitions are combined in more than {MAX_DEFINITIONS:,} ways",
                keyword="$ref",
                remedy="Let fewer of them hold together, with allOf or beside each other.",
            )
        named = gathered.followed or gathered.schemas
        name = " and ".join(part.location.pointer.rpartition("/")[2] or "#" for part in named)
        compilation.namesakes[name] += 1
        count = compilation.namesakes[name]
        compilation.names[members] = name if count == 1 else f"{name} ({count})"
    return compilation.names[members]
