"""The agreement of the inspection of a type with its compilation."""

import json
from typing import Any

from pydantic import TypeAdapter

from structured.errors import SchemaError
from structured.json_schema.schema_compiler import schema_to_pattern
from structured.output_types.inspection import inspect_json
from structured.output_types.json_output import JsonLayout
from structured.output_types.python_type import PythonType
from structured.output_types.report_view import report_to_dict
from structured.output_types.resolve import resolve_type


def compiler_error(schema, whitespace="spaced"):
    try:
        schema_to_pattern(schema, whitespace)
    except SchemaError as error:
        return error
    return None


def facts(error):
    return error.schema_path, error.keyword, error.problem, error.remedy


def check_agreement(output_type, whitespace="spaced"):
    is_schema = isinstance(output_type, dict)
    layout = JsonLayout(whitespace)
    drawn = PythonType("Drawn", output_type, layout, adapter=TypeAdapter(Any)) if is_schema else None
    known = drawn or resolve_type(output_type, layout=layout)
    error = compiler_error(known.schema, whitespace)
    report = inspect_json(known)
    assert bool(report.refusals) == (error is not None) == (report.cost is None)
    assert any(field.status == "refused" for field in report.fields) == (error is not None)
    if error is not None:
        assert facts(error) in map(facts, report.refusals)
    json.dumps(report_to_dict(report))
    return report
