"""Jobs over many results: evaluation, tuning, the review page and flat tables."""

from structured.jobs.evaluation import Evaluation
from structured.jobs.tuning import Trial, Tuning, tune

__all__ = ["Evaluation", "Trial", "Tuning", "tune"]
