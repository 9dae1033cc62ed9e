"""The regular expression of a type, for people and for other engines."""

from collections.abc import Iterator, Sequence

from structured.automata import RegularAutomaton
from structured.errors import SchemaError
from structured.errors.recursion import deep
from structured.json_schema.document.location import Location
from structured.json_schema.schema_compiler import ANY_VALUE, compiled
from structured.output_types.interface import automaton_of
from structured.output_types.json_output import DEFAULT_LAYOUT, JsonLayout, JsonOutput
from structured.output_types.regex import Regex
from structured.output_types.resolve import resolve_json, resolve_type
from structured.regex import Distinct, Pattern, Reference, Scan, nodes_of, printed
from structured.regex.printing import MAX_PRINTED
from structured.regex.syntax import Lookbehind


@deep
def to_regex(output_type: object, *, layout: JsonLayout = DEFAULT_LAYOUT) -> str:
    r"""Return the regular expression that every answer of a type matches.

    >>> from structured import to_regex
    >>> to_regex(list[bool])
    '\\[(?:(?:true|false)(?:, (?:true|false))*)?\\]'

    Parameters:
        output_type: As for `extract`, unless the type contains itself; also a `Regex`, a `Choice`, and many of their
            combinations.
        layout: The whitespace between JSON tokens, and which optional properties are written; see `JsonLayout`.

    Returns:
        A pattern for `re.fullmatch`. Pydantic accepts each text that it matches, unless a validator of yours rejects
        it.

    Raises:
        SchemaError: It is not a type, contains itself, has a rule that the pattern cannot express exactly, is no
            regular language, such as a `Grammar`, or is a combination that is known by its automaton alone.
    """
    known = resolve_type(output_type, layout=layout)
    automaton = None if isinstance(known, JsonOutput) or known.depends_on_document else automaton_of(known, None)
    if isinstance(known, Regex) and known.dialect == "python" and not known.flags:
        return known.source
    if isinstance(automaton, RegularAutomaton):
        if any(isinstance(node, Reference) for node in nodes_of(automaton.pattern)):
            raise SchemaError(
                f"The parts of {known.name} refer to each other, and are not printed", remedy=_ONLY_THE_EXPRESSION
            )
        return _printed(automaton.pattern, known.name, [])
    compilation = resolve_json(output_type, layout).compilation()
    return _printed(compiled(compilation), known.name, compilation.references)


def _printed(pattern: Pattern, name: str, references: Sequence[tuple[Reference, Location]]) -> str:
    """Return the text of a pattern, whose references stand for some locations. Raises SchemaError if it has none."""
    nodes = nodes_of(pattern)
    names = sorted({node.name for node in nodes if isinstance(node, Reference)})
    if names:
        location = next((location for reference, location in references if reference.name in names), None)
        recursive = f"The pattern of {name}" if location is None else _name_at(location, name)
        problem = f"{recursive} contains itself, and no regular expression can"
        if location is None and ANY_VALUE in names:
            problem = "A value of any type may hold others, to any depth, which no regular expression can say"
        raise SchemaError(
            problem,
            schema_path="" if location is None else location.pointer,
            remedy=_ONLY_THE_EXPRESSION,
        )
    if any(isinstance(node, Distinct) for node in nodes):
        raise SchemaError(
            "That any number of items differ cannot be said by a regular expression",
            keyword="uniqueItems",
            remedy=_ONLY_THE_EXPRESSION,
        )
    if any(isinstance(node, Lookbehind) for scan in nodes if isinstance(scan, Scan) for node in _inside(scan)):
        raise SchemaError(
            "What stands before, as (?<=…) and (?m)^ look for it, cannot be found in JSON by a regular expression",
            keyword="pattern",
            remedy=_ONLY_THE_EXPRESSION,
        )
    scans = [node for node in nodes if isinstance(node, Scan) and not node.included and not node.excluded]
    if any(scan.expression is None for scan in scans):
        raise SchemaError(
            "The multiples of a number take too long a regular expression",
            keyword="multipleOf",
            remedy=_ONLY_THE_EXPRESSION,
        )
    text = printed(pattern)
    if text is None:
        raise SchemaError(
            f"The regular expression has more than {MAX_PRINTED[0]:,} pieces or {MAX_PRINTED[1]:,} characters",
            remedy="Extract it as it is: only the regular expression is missing, and nothing else needs it.",
        )
    return text


_ONLY_THE_EXPRESSION = "Extract it as it is: only the regular expression is missing, and nothing else needs it."


def _name_at(location: Location, root: str) -> str:
    """Return what a schema is called: by the last key of its place, or as the type if it is the whole."""
    return str(location.keys[-1]) if location.keys else root


def _inside(scan: Scan) -> Iterator[Pattern]:
    """Yield the nodes of the patterns that a scan runs beside each other."""
    return (node for pattern in scan.included + scan.excluded for node in nodes_of(pattern))
