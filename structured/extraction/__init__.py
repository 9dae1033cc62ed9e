"""The calls that people make, and the objects behind them."""

from structured.extraction import events
from structured.extraction.classification import Classification
from structured.extraction.conversation import TextOrChat
from structured.extraction.documents.tables import read_rows
from structured.extraction.draft import Draft
from structured.extraction.options import Options

__all__ = ["Classification", "Draft", "Options", "TextOrChat", "events", "read_rows"]
