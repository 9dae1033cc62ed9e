"""Results: what is read of answers, and what several answers agree on."""

from structured.output_types.extraction import Extraction
from structured.results.calibration import Calibration
from structured.results.partial import Event, PartialReader

__all__ = ["Calibration", "Event", "Extraction", "PartialReader"]
