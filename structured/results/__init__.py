"""Results: what is read of answers, where it comes from, and what several answers agree on."""

from structured.results.calibration import Calibration
from structured.results.evidence import Evidence
from structured.results.partial import Event, PartialReader
from structured.results.result import Result

__all__ = ["Calibration", "Event", "Evidence", "PartialReader", "Result"]
