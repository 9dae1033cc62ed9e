"""How many examples a law is tried with, in the profile of hypothesis that is loaded (`tests/conftest.py`)."""

from hypothesis import settings


def examples(count: int) -> int:
    """Return how many to try where a profile of a hundred examples tries `count`."""
    return max(5, count * settings().max_examples // 100)
