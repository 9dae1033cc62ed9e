"""Jobs over many results: evaluation, the review page and flat tables."""

from structured.jobs.evaluation import Evaluation

__all__ = ["Evaluation"]
