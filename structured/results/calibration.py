"""Calibration: the share of values that are right, for a confidence.

A confidence orders values; it is no probability of being right. Isotonic regression (Zadrozny and Elkan, "Transforming
Classifier Scores into Accurate Multiclass Probability Estimates", 2002) learns from values whose truth is known the
probability that never falls as the confidence grows, and assumes no more.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from structured.errors.values import message

MIN_VALUES = 20
"""Values that a calibration is learned from, at least."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A function from confidences to probabilities: linear between its points, and level beyond them.

    Attributes:
        confidences: Where its points are: numbers from 0 to 1, each greater than the one before.
        probabilities: Its values there: numbers from 0 to 1, none less than the one before.

    Raises:
        ValueError: The points are no such function.
    """

    confidences: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        if not 0 < len(self.confidences) == len(self.probabilities):
            raise ValueError(
                f"A calibration has a probability for each confidence, and at least one: these are "
                f"{len(self.confidences)} confidences and {len(self.probabilities)} probabilities."
            )
        _check_fractions("confidences", self.confidences)
        _check_fractions("probabilities", self.probabilities)
        if any(first >= other for first, other in pairwise(self.confidences)):
            raise ValueError("The confidences of a calibration must grow from each point to the next.")
        if any(first > other for first, other in pairwise(self.probabilities)):
            raise ValueError("The probabilities of a calibration must not fall as the confidence grows.")

    @classmethod
    def fit(cls, confidences: Sequence[float], right: Sequence[bool]) -> Self:
        """Learn a calibration from values whose truth is known, by isotonic regression.

        Parameters:
            confidences: That of each value, from 0 to 1.
            right: Whether each value is right.

        Raises:
            ValueError: There are fewer than 20 values, or not as many of both, or a confidence is not from 0 to 1.
            ImportError: scikit-learn is not installed.
        """
        if len(confidences) != len(right) or len(right) < MIN_VALUES:
            raise ValueError(
                f"A calibration is learned from at least {MIN_VALUES} values, each with a confidence and whether it is "
                f"right: these are {len(confidences)} confidences, and {len(right)} that are known to be right or not."
            )
        _check_fractions("confidences", confidences)
        try:
            from sklearn.isotonic import IsotonicRegression
        except ImportError as error:
            raise ImportError(
                "Learning a calibration needs scikit-learn: pip install 'structured-extraction[calibration]'. Applying "
                "one does not."
            ) from error
        learned = IsotonicRegression(y_min=0, y_max=1).fit(np.asarray(confidences, float), np.asarray(right, float))
        return cls(tuple(learned.X_thresholds_.tolist()), tuple(learned.y_thresholds_.tolist()))

    def apply(self, confidence: float) -> float:
        """Return the probability that a value with this confidence is right. Raises ValueError if it is not in 0…1."""
        _check_fractions("confidences", (confidence,))
        return float(np.interp(confidence, self.confidences, self.probabilities))

    def save(self, path: str | Path) -> None:
        """Write the calibration to a file, as JSON."""
        Path(path).write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the calibration that `save` wrote. Raises OSError for no file, ValueError for what is none."""
        try:
            match json.loads(Path(path).read_text(encoding="utf-8")):
                case {"confidences": list(confidences), "probabilities": list(probabilities), **rest} if not rest:
                    return cls(tuple(confidences), tuple(probabilities))
            problem = 'it is not a JSON object with the lists "confidences" and "probabilities"'
        except ValueError as error:
            problem = message(error).rstrip(".")
        raise ValueError(f"{path} is no calibration: {problem}. Write one by Calibration.save.")


def expected_calibration_error(
    confidences: Sequence[float] | NDArray[np.float64], right: Sequence[bool] | NDArray[np.bool_], *, bins: int = 10
) -> float:
    """Return how far confidences are from the shares that are right, on average, in bins of as many values each.

    0 is best. Naeini, Cooper and Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian Binning" (2015).
    """
    order = np.argsort(confidences, kind="stable")
    differences = np.asarray(confidences, float)[order] - np.asarray(right, float)[order]
    return float(sum(abs(part.sum()) for part in np.array_split(differences, bins)) / len(differences))


def _check_fractions(name: str, values: Sequence[float]) -> None:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ValueError(f"The {name} of a calibration are numbers from 0 to 1, and one is {value!r}.")
