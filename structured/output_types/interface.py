"""What output types state, checked: their interface may be implemented by anybody.

A mistake in it would show where its answer is first used, in the middle of a cache or of a compiled loop. So each
answer is looked at once, where the library takes it, and a SchemaError names the type and what it returned.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from typing_extensions import get_protocol_members

from structured.automata import Automaton
from structured.automata.byte_automaton import with_limits_left
from structured.errors import SchemaError, StructuredError
from structured.errors.values import described, message
from structured.json_schema.document.location import Subschema
from structured.output_types.annotations import Annotation
from structured.output_types.output_type import Description, OutputType

T = TypeVar("T")

_MEMBERS = sorted(get_protocol_members(Automaton))


def check_interface(output_type: OutputType[Any]) -> None:
    """Raise SchemaError if a type has no name, is not supported, or has parts or a schema that are none."""
    kind = type(output_type).__name__
    name = getattr(output_type, "name", None)
    if not isinstance(name, str):
        raise SchemaError(
            f"The name of {kind} is {described(name)}, and messages call it by that", remedy="Give it a str as `name`."
        )
    _called(output_type, "check", output_type.check)
    parts = _called(output_type, "parts", lambda: output_type.parts)
    if not isinstance(parts, Annotation | None):
        raise _wrong(output_type, "parts", parts, "Return an Annotation, or None where an answer has no parts.")
    schema = _called(output_type, "value_schema", lambda: output_type.value_schema)
    if not isinstance(schema, Mapping | None):
        raise _wrong(output_type, "value_schema", schema, "Return a JSON Schema as a dict, or None.")
    root = _called(output_type, "root", lambda: output_type.root)
    if not isinstance(root, Subschema | None):
        raise _wrong(output_type, "root", root, "Return None, or the root of a type that resolve_json returns.")


def description_of(output_type: OutputType[Any]) -> Description:
    """Return how a type is shown to the model. Raises SchemaError if that is no Description of texts."""
    found = _called(output_type, "describe", output_type.describe)
    if not isinstance(found, Description) or not all(map(_is_text, found)):
        raise _wrong(output_type, "describe", found, "Return a Description of texts, without lone surrogates.")
    return found


def automaton_of(output_type: OutputType[Any], document: str | None) -> Automaton:
    """Return the automaton of the answers to a document, not exhausted; None if the type does not depend on it.

    Raises SchemaError if it is none, or if the type raises anything else than an error of the library.
    """
    found = _called(output_type, "automaton", lambda: output_type.automaton(document))
    lacks = [name for name in _MEMBERS if not hasattr(found, name)]
    if lacks:
        remedy = f"It lacks {', '.join(lacks)}. Return a structured.automata.Automaton: RegularAutomaton(pattern), say."
        raise _wrong(output_type, "automaton", found, remedy)
    fingerprint: object = found.fingerprint
    if fingerprint is not None and not (isinstance(fingerprint, bytes) and fingerprint):
        remedy = "Return bytes that identify the language, or None if nothing shall be kept."
        raise _wrong(output_type, "automaton.fingerprint", fingerprint, remedy)
    return with_limits_left(found)


def _called(output_type: OutputType[Any], member: str, run: Callable[[], T]) -> T:
    try:
        return run()
    except StructuredError:
        raise
    except Exception as error:
        raise SchemaError(
            f"`{member}` of {output_type.name} raised {type(error).__name__}: {message(error)}",
            remedy="Correct that, or let it raise a SchemaError.",
        ) from error


def _wrong(output_type: OutputType[Any], member: str, found: object, remedy: str) -> SchemaError:
    return SchemaError(f"`{member}` of {output_type.name} is {described(found)}", remedy=remedy)


def _is_text(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(value.encode() or True)
    except UnicodeEncodeError:
        return False
