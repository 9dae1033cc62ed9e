"""The families of cases, by their names."""

from collections.abc import Mapping

from benchmarks.fuzz.cases import Family
from benchmarks.fuzz.combinations import try_combination
from benchmarks.fuzz.expressions import try_expression
from benchmarks.fuzz.files import try_file
from benchmarks.fuzz.grammars import try_gbnf, try_lark
from benchmarks.fuzz.json_schemas import try_schema
from benchmarks.fuzz.python_types import try_type
from benchmarks.fuzz.served_requests import try_requests

FAMILIES: Mapping[str, Family] = {
    "types": try_type,
    "schemas": try_schema,
    "regex": try_expression,
    "lark": try_lark,
    "gbnf": try_gbnf,
    "combinations": try_combination,
    "files": try_file,
    "requests": try_requests,
}

GUIDED = frozenset(FAMILIES) - {"files", "requests"}
"""Those whose cases sample answers, for which the vocabularies are loaded."""
