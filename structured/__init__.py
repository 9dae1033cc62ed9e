"""Typed objects out of text, with a language model on your own machine.

from pydantic import BaseModel
from structured import extract

class Person(BaseModel):
    name: str
    age: int

extract(Person, "Jason is 25 years old.")  # Person(name='Jason', age=25)
"""

from structured.calls import aextract, aextract_batch, extract, extract_batch, structured
from structured.decoding import Generation
from structured.errors import (
    BatchError,
    BudgetError,
    BudgetWarning,
    CacheWarning,
    DemonstrationWarning,
    GenerationError,
    IncompleteError,
    ModelError,
    OptionWarning,
    OutOfMemoryError,
    PatternError,
    PromptError,
    SchemaError,
    StructuredError,
    StructuredWarning,
    VocabularyError,
)
from structured.extraction import Extractor, Options
from structured.models import load_model
from structured.partial import PartialReader
from structured.preflight import inspect_type
from structured.processor import GuidedLogitsProcessor
from structured.schema import JsonSchema, to_regex
from structured.streams import Stream
from structured.tasks import Extraction
from structured.thinking import Thinking

__all__ = [
    "BatchError",
    "BudgetError",
    "BudgetWarning",
    "CacheWarning",
    "DemonstrationWarning",
    "Extraction",
    "Extractor",
    "Generation",
    "GenerationError",
    "GuidedLogitsProcessor",
    "IncompleteError",
    "JsonSchema",
    "ModelError",
    "OptionWarning",
    "Options",
    "OutOfMemoryError",
    "PartialReader",
    "PatternError",
    "PromptError",
    "SchemaError",
    "Stream",
    "StructuredError",
    "StructuredWarning",
    "Thinking",
    "VocabularyError",
    "aextract",
    "aextract_batch",
    "extract",
    "extract_batch",
    "inspect_type",
    "load_model",
    "structured",
    "to_regex",
]
