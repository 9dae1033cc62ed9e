"""Results: what is read of answers, and what several answers agree on."""

from structured.output_types.extraction import Extraction
from structured.results.partial import Event, PartialReader

__all__ = ["Event", "Extraction", "PartialReader"]
