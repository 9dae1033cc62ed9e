"""Jobs: what is done with many documents and their extractions."""

from structured.jobs.evaluation import Evaluation

__all__ = ["Evaluation"]
