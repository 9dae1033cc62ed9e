"""The inspection of a type.

A field is refused if and only if the compiler refuses it, since it is the compiler that is asked: first for the pattern
of the whole schema and, where there is none, for those of its parts. A table of what is supported was rejected: it
would have to be kept in step. So was collecting errors inside the compiler, which does not know what to go on with.
"""

from typing import Any

from structured.errors import SchemaError, UnsatisfiableError
from structured.errors.recursion import deep
from structured.json_schema.schema_compiler import compiled, part_to_pattern
from structured.output_types.inspection.lengths import text_lengths
from structured.output_types.inspection.report import Cost, FieldReport, Report
from structured.output_types.inspection.survey import Part, Survey
from structured.output_types.inspection.texts import inspect_texts
from structured.output_types.interface import automaton_of, check_interface, description_of
from structured.output_types.json_output import DEFAULT_LAYOUT, JsonLayout, JsonOutput
from structured.output_types.output_type import OutputType
from structured.output_types.resolve import resolve_type
from structured.regex import Pattern, nodes_of


def inspect_type(output_type: object, *, layout: JsonLayout = DEFAULT_LAYOUT) -> Report:
    """Report on a type before a model is loaded: what is enforced, what is refused, and what may go wrong.

    >>> from structured import inspect_type
    >>> inspect_type(list[type]).fields[0].status
    'refused'

    Parameters:
        output_type: As for `extract`.
        layout: As for `to_regex`.

    Returns:
        The fields with their status, the hazards and the cost of the type. Where the answer is no JSON, it is one
        field, and `answers` tells how many there are.

    Raises:
        SchemaError: It is not a type, or is an `OutputType` that is not supported.
    """
    known = resolve_type(output_type, layout=layout)
    return inspect_json(known) if isinstance(known, JsonOutput) else _inspect_texts(known)


def _inspect_texts(output_type: OutputType[Any]) -> Report:
    """Return what is known of a type whose answers are no JSON, by its automaton."""
    check_interface(output_type)
    if output_type.depends_on_document:
        raise SchemaError(
            f"{output_type.name} depends on the document, and there is none to inspect it for",
            remedy="Look at its automaton(document).",
        )
    cost, answers, hazards = inspect_texts(automaton_of(output_type, None), output_type.how_to_limit)
    text = description_of(output_type).text
    field = FieldReport("", output_type.name if "\n" in text else text, output_type.validators)
    return Report(output_type.name, None, (field,), hazards, 0, cost, answers)


@deep
def inspect_json(output_type: JsonOutput[Any]) -> Report:
    """Return the report on a type whose answers are JSON."""
    survey = Survey(output_type.root, name=output_type.name)
    cost = None
    try:
        cost = _cost(compiled(output_type.compilation()))
    except SchemaError as error:
        for refusal in _Search().refusals(survey.root).values() or [error]:
            survey.refuse(refusal)
    return Report(
        output_type.name, output_type.layout.whitespace, survey.fields(), survey.hazards(), survey.choices, cost
    )


def _cost(pattern: Pattern) -> Cost:
    lengths = text_lengths(pattern)
    assert lengths.shortest is not None, "the compiler returns no pattern that nothing matches"
    return Cost(len(nodes_of(pattern)), lengths.shortest, lengths.longest)


_Refusals = dict[tuple[str, str | None, str], SchemaError]
"""By place, keyword and problem, so that each is reported once."""


MAX_WORK = 20_000
"""Schemas and branches that are compiled in search of refusals; what would be found after that is found next time."""


class _Search:
    """A search for all refusals in a schema, by compiling its parts alone."""

    def __init__(self) -> None:
        self.work = 0

    @deep
    def refusals(self, part: Part) -> _Refusals:
        """Return why a part has no pattern, and why those below it have none; nothing if it has one."""
        if self.work > MAX_WORK:
            return {}
        alone = part.schema.location.compilation.afresh()
        try:
            part_to_pattern(part.schema, alone)
        except SchemaError as error:
            self.work += alone.work
            found: _Refusals = {(error.schema_path, error.keyword, error.problem): error}
            for below in part.below:
                inner = self.refusals(below)
                if not _is_left_out(below, inner, error):
                    found |= {key: found.get(key, value) for key, value in inner.items()}
            return found
        self.work += alone.work
        return {}


def _is_left_out(branch: Part, inner: _Refusals, outer: SchemaError) -> bool:
    """Tell whether a part is a branch that nothing satisfies, while another is what has to be changed."""
    first = next(iter(inner.values()), None)
    return branch.is_branch and isinstance(first, UnsatisfiableError) and not isinstance(outer, UnsatisfiableError)
