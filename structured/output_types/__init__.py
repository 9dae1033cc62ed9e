"""Output types: whatever a user may ask for, with its automaton, its reader and its description."""

from structured.output_types.checks import Check
from structured.output_types.functions import Call, Tool
from structured.output_types.grounded_values import Grounding
from structured.output_types.output_type import Description, OutputType

__all__ = ["Call", "Check", "Description", "Grounding", "OutputType", "Tool"]
