"""JSON Schemas of every keyword of draft 2020-12, judged by `jsonschema`, with formats asserted and without."""

import json
from functools import lru_cache, partial
from itertools import permutations
from typing import Any

from benchmarks.fuzz import support
from benchmarks.fuzz.cases import Trial
from benchmarks.fuzz.expressions import within
from benchmarks.fuzz.guided import drawn, near, read_texts, write_answers
from benchmarks.fuzz.random_schemas import PATTERNS, Maker, Values
from structured import JsonSchema
from structured.automata import Automaton
from structured.automata.byte_automaton import accepts_text
from structured.output_types.json_output import JsonLayout
from structured.output_types.output_type import automaton_of
from structured.output_types.resolve import resolve_type

_NO_LINE_END = "[^\n\r\u2028\u2029]"


def try_schema(trial: Trial) -> None:
    """Try a random schema, one of this module's or one of the tests' strategies."""
    rng = trial.case.random()
    schema = Maker(rng).document() if rng.random() < 0.7 else _of_tests(trial)
    trial.shown = json.dumps(schema, ensure_ascii=False)
    judge = partial(is_valid, in_python(schema))
    layout = JsonLayout(
        rng.choice(("compact", "spaced", "any", "indented", "flexible")),
        rng.choice(("written", "omittable", "schema")),
    )
    trial.shown += f" {layout}"
    open_type = resolve_type(JsonSchema(schema, key_order="any"), layout=JsonLayout("spaced", "schema"))
    automaton = automaton_of(open_type, None)
    values = Values(schema, rng)
    texts = list(dict.fromkeys(json.dumps(values.of(schema), ensure_ascii=False) for _ in range(24)))
    read_texts(trial, automaton, texts, judge, partial(explained, json.dumps(schema)))
    read_texts(trial, automaton, near(texts[:8], trial), judge, partial(explained_edit, json.dumps(schema)))
    written = resolve_type(JsonSchema(schema, key_order=rng.choice(("schema", "any"))), layout=layout)
    write_answers(trial, written, judge)


def is_valid(schema: Any, text: str) -> bool | None:
    """Judge a text; None for a schema on which `jsonschema` does not end, or for numbers that it cannot tell apart.

    None also where it follows a reference that leads nowhere, in a part of the schema that nothing can satisfy anyway.
    """
    from jsonschema import Draft202012Validator
    from referencing.exceptions import Unresolvable

    try:
        value = json.loads(text)
    except ValueError:
        return False
    try:
        with within(2.0):
            return all(
                Draft202012Validator(schema, format_checker=checker).is_valid(value)
                for checker in (Draft202012Validator.FORMAT_CHECKER, None)
            )
    except (RecursionError, TimeoutError, OverflowError, Unresolvable):
        return None
    except BaseException as error:  # `rpds` panics where the stack is used up
        if type(error).__module__ != "pyo3_runtime":
            raise
        return None


def in_python(schema: Any) -> Any:
    r"""Return the schema with its patterns as Python reads them: `b$` → `(?a:b\Z)`, and `.` is what ECMA 262 has."""
    known = {*PATTERNS, *support("json_schemas").REGEXES, *support("json_schemas").OBJECT_REGEXES}
    if isinstance(schema, list):
        return [in_python(item) for item in schema]
    if isinstance(schema, dict):
        return {in_python(name): in_python(item) for name, item in schema.items()}
    if not isinstance(schema, str) or schema not in known or set(schema).isdisjoint("$.\\"):
        return schema
    return f"(?a:{schema.replace('$', chr(92) + 'Z').replace('.', _NO_LINE_END)})"


@lru_cache(maxsize=2)
def _automaton(schema: str, *, assert_formats: bool) -> Automaton:
    """Return the automaton of a schema, whose formats are rules or annotations."""
    read = JsonSchema(schema, key_order="any", assert_formats=assert_formats)
    return automaton_of(resolve_type(read, layout=JsonLayout("spaced", "schema")), None)


def explained(schema: str, text: str) -> str | None:
    """Return the restriction by which a text is not written, as docs/guides/json-schema.md and docs/support.md say."""
    value = json.loads(text)
    if '"format"' in schema and accepts_text(_automaton(schema, assert_formats=False), text):
        return "formats, of which jsonschema asserts less"
    if isinstance(value, dict) and 1 < len(value) < 6:
        orders = (json.dumps(dict(order), ensure_ascii=False) for order in permutations(value.items()))
        if any(accepts_text(_automaton(schema, assert_formats=True), order) for order in orders):
            return "properties that keep their places"
    if _some(value, lambda part: isinstance(part, int) and not isinstance(part, bool) and abs(part) >= 10**18):
        return "integers of more than 18 digits"
    if '"uniqueItems": true' in schema and _some(value, lambda part: isinstance(part, list) and len(part) > 1):
        return "spellings and properties of items that must differ"
    if _some(value, lambda part: isinstance(part, float) and part.is_integer()):
        return "1.0 where 1 is listed"
    return None


def explained_edit(schema: str, text: str) -> str | None:
    """Return the restriction by which a text with edits is not written: mostly that nothing is spelled that way."""
    value = json.loads(text)
    if json.dumps(value, ensure_ascii=False) != text:
        return "edited: another spelling of JSON"
    return explained(schema, text)


def _some(value: Any, holds: Any) -> bool:
    """Tell whether something holds for a value or for anything inside it."""
    if holds(value):
        return True
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_some(part, holds) for part in inside)


def _of_tests(trial: Trial) -> Any:
    strategies = support("json_schemas")
    made = (
        strategies.chosen_schemas(),
        strategies.ruled_objects(),
        strategies.combined_objects(),
        strategies.documents(),
        strategies.documents(strategies.ODD_NAMES, with_rarer=True, max_leaves=12),
    )
    return drawn(made[trial.case.seed % len(made)], trial.case.seed)[-1]
