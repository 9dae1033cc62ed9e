"""The inspection of a type before anything is built: its fields, its hazards and its cost."""

from structured.output_types.inspection.type_inspection import inspect_json, inspect_type
from structured.output_types.inspection.type_report import Cost, FieldReport, Hazard, Report, report_to_dict, shown_cost

__all__ = ["Cost", "FieldReport", "Hazard", "Report", "inspect_json", "inspect_type", "report_to_dict", "shown_cost"]
