"""Typed objects out of text, with a language model on your own machine.

from pydantic import BaseModel
from structured import extract

class Person(BaseModel):
    name: str
    age: int

extract(Person, "Jason is 25 years old.")  # Person(name='Jason', age=25)
"""

import logging
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from structured.decoding.repetition import Repetition
from structured.decoding.requests import Thinking
from structured.decoding.strategy import Beams, Particles, Samples
from structured.errors import StructuredError
from structured.extraction.calls import (
    aextract,
    aextract_batch,
    aextract_results,
    extract,
    extract_batch,
    extract_results,
)
from structured.extraction.classification import classify
from structured.extraction.documents.chunks import Chunking
from structured.extraction.documents.document import Document
from structured.extraction.extractor import Extractor
from structured.extraction.prompt_functions import structured
from structured.extraction.result_files import awrite_results, read_results, write_results
from structured.extraction.stream import Stream
from structured.models import load_model
from structured.output_types.call_types import functions
from structured.output_types.choice import Choice
from structured.output_types.combining import Json, Repeat, Text, template
from structured.output_types.grounded_values import Grounded
from structured.output_types.inspection import inspect_type
from structured.output_types.json_output import JsonLayout
from structured.output_types.json_schema import JsonSchema
from structured.output_types.keys import Key
from structured.output_types.regex import Regex, to_regex
from structured.results.result import Result

if TYPE_CHECKING:
    from structured.jobs.evaluate import evaluate
    from structured.jobs.flat_table import write_table
    from structured.jobs.review_page import report
    from structured.output_types.grammar import Grammar

logging.getLogger(__name__).addHandler(logging.NullHandler())  # where the log goes is the application's choice


_LATER = {
    "Grammar": "structured.output_types.grammar",
    "evaluate": "structured.jobs.evaluate",
    "report": "structured.jobs.review_page",
    "write_table": "structured.jobs.flat_table",
}
"""What is imported when it is first used, since most programs do without it, and where it is."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("structured-extraction")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module(_LATER[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    packages = {name for name in globals() if f"{__name__}.{name}" in sys.modules}
    return sorted({*__all__, *packages, *(name for name in globals() if name.startswith("__")), "__version__"})


__all__ = [
    "Beams",
    "Choice",
    "Chunking",
    "Document",
    "Extractor",
    "Grammar",
    "Grounded",
    "Json",
    "JsonLayout",
    "JsonSchema",
    "Key",
    "Particles",
    "Regex",
    "Repeat",
    "Repetition",
    "Result",
    "Samples",
    "Stream",
    "StructuredError",
    "Text",
    "Thinking",
    "aextract",
    "aextract_batch",
    "aextract_results",
    "awrite_results",
    "classify",
    "evaluate",
    "extract",
    "extract_batch",
    "extract_results",
    "functions",
    "inspect_type",
    "load_model",
    "read_results",
    "report",
    "structured",
    "template",
    "to_regex",
    "write_results",
    "write_table",
]
