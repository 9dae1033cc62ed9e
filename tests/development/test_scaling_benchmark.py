"""The benchmark of scaling: its documents, what it makes of the diaries of actors, and that a table is printed."""

import pytest

from benchmarks import scaling
from benchmarks.documents import documents
from benchmarks.scaling import Plan, batches, throughput
from structured.models import PACKAGED_MODEL

SMALL = Plan(str(PACKAGED_MODEL), "Person", 3, 2, 1)


def entry(at: float, done: int, processor: float) -> dict[str, float]:
    return {"at": at, "done": done, "processor": processor, "Rss": 500.0, "Pss": 300.0}


def test_documents_are_joined() -> None:
    """Each is so many of the short ones, and all of these are there."""
    assert len(SMALL.texts) == 3
    assert "\n".join(SMALL.texts) == "\n".join(documents("Person", 6))


def test_throughput_counts_while_all_actors_work() -> None:
    """What is done before the last actor began, or after the first one ended, is left out."""
    first = [entry(10, 0, 5), entry(12, 32, 6), entry(13, 32, 7), entry(14, 32, 8)]
    second = [entry(12.5, 0, 5), entry(13.5, 32, 6)]
    assert throughput([first, second]) == (32 + 32) / (13.5 - 12.5)
    assert throughput([first]) == 96 / 4


@pytest.mark.thorough
def test_a_table_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a row for each size."""
    monkeypatch.setattr(scaling, "BATCH_SIZES", (1, 2))
    monkeypatch.setattr(scaling, "RUNS", 1)
    lines = batches(SMALL).splitlines()
    assert lines[0].startswith("3 documents of ")
    assert [line.split(" | ")[0] for line in lines[-2:]] == ["| 1", "| 2"]
