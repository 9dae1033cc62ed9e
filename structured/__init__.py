"""Typed objects out of text, with a language model on your own machine.

from pydantic import BaseModel
from structured import extract

class Person(BaseModel):
    name: str
    age: int

extract(Person, "Jason is 25 years old.")  # Person(name='Jason', age=25)
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from structured.decoding.reasoning import Thinking
from structured.decoding.requests import Generation
from structured.errors import StructuredError
from structured.extraction import events
from structured.extraction.calls import (
    aextract,
    aextract_batch,
    aextract_results,
    extract,
    extract_batch,
    extract_results,
)
from structured.extraction.classification import Classification, classify
from structured.extraction.conversation import TextOrChat
from structured.extraction.documents.document import Document
from structured.extraction.documents.tables import read_rows
from structured.extraction.draft import Draft
from structured.extraction.extractor import Extractor
from structured.extraction.options import Options
from structured.extraction.output.reading import read_results
from structured.extraction.output.writing import awrite_results, write_results
from structured.extraction.prompt_functions import structured
from structured.extraction.stream import Stream
from structured.integrations.logits_processor import GuidedLogitsProcessor
from structured.models import load_model
from structured.output_types.choice import Choice
from structured.output_types.combining import Json, Repeat, Text, template
from structured.output_types.functions.call import Call
from structured.output_types.functions.call_types import functions
from structured.output_types.functions.tool import Tool
from structured.output_types.grounded.marks import Grounded, Grounding
from structured.output_types.inspection import inspect_type
from structured.output_types.json_schema import JsonSchema
from structured.output_types.keys import Key
from structured.output_types.output_type import Description, OutputType
from structured.output_types.regex import Regex
from structured.output_types.regular_expression import to_regex
from structured.results.calibration import Calibration
from structured.results.evidence import Evidence
from structured.results.partial import PartialReader
from structured.results.result import Result

if TYPE_CHECKING:
    from structured.decoding.state_diagram import inspect_automaton
    from structured.jobs.evaluate import evaluate
    from structured.jobs.evaluation import Evaluation
    from structured.jobs.flat_table import write_table
    from structured.jobs.review_page import report
    from structured.models.remote.model import connect
    from structured.output_types.grammar import Grammar

logging.getLogger(__name__).addHandler(logging.NullHandler())  # where the log goes is the application's choice


_LATER = {
    "Evaluation": "structured.jobs.evaluation",
    "Grammar": "structured.output_types.grammar",
    "connect": "structured.models.remote.model",
    "evaluate": "structured.jobs.evaluate",
    "inspect_automaton": "structured.decoding.state_diagram",
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
    return sorted({*globals(), *__all__})


__all__ = [
    "Calibration",
    "Call",
    "Choice",
    "Classification",
    "Description",
    "Document",
    "Draft",
    "Evaluation",
    "Evidence",
    "Extractor",
    "Generation",
    "Grammar",
    "Grounded",
    "Grounding",
    "GuidedLogitsProcessor",
    "Json",
    "JsonSchema",
    "Key",
    "Options",
    "OutputType",
    "PartialReader",
    "Regex",
    "Repeat",
    "Result",
    "Stream",
    "StructuredError",
    "Text",
    "TextOrChat",
    "Thinking",
    "Tool",
    "aextract",
    "aextract_batch",
    "aextract_results",
    "awrite_results",
    "classify",
    "connect",
    "evaluate",
    "events",
    "extract",
    "extract_batch",
    "extract_results",
    "functions",
    "inspect_automaton",
    "inspect_type",
    "load_model",
    "read_results",
    "read_rows",
    "report",
    "structured",
    "template",
    "to_regex",
    "write_results",
    "write_table",
]
