"""Results: the values of answers, their evidence, and the agreement of several answers."""

from structured.results.calibration import Calibration
from structured.results.evidence import Evidence
from structured.results.json_text import Event, PartialReader
from structured.results.result import Result

__all__ = ["Calibration", "Event", "Evidence", "PartialReader", "Result"]
