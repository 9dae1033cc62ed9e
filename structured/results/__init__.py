"""Results: the values of answers, their evidence, and the agreement of several answers."""

from structured.output_types.checks import Flag
from structured.results.evidence import Calibration, Evidence
from structured.results.json_text import PartialReader, StreamEvent
from structured.results.result import Result

__all__ = ["Calibration", "Evidence", "Flag", "PartialReader", "Result", "StreamEvent"]
