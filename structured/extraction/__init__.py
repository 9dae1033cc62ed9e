"""The calls that people make, and the objects behind them."""

from structured.extraction import events
from structured.extraction.classification import Classification
from structured.extraction.documents.document import TextLike, read_rows
from structured.extraction.draft import Draft
from structured.extraction.options import Options
from structured.extraction.prompts import TextOrChat

__all__ = ["Classification", "Draft", "Options", "TextLike", "TextOrChat", "events", "read_rows"]
