"""The benchmark of batches: its documents, how it judges, and that the command works in its small form."""

import subprocess
import sys

import pytest

from benchmarks.batches.orders import ORDER, Order, long_document, read_one, short_documents
from benchmarks.batches.peer import Found, Score, scored


def test_documents_state_what_they_are_said_to() -> None:
    """Short ones an order each, long ones as many as are counted, at the places that are given."""
    for document in short_documents(10):
        assert len(ORDER.findall(document.text)) == 1
        assert Order.model_validate_json(read_one(document.text)).number == f"A-{1000 + int(document.id or -1)}"
    for kind in ("plain", "repeating", "wrapped"):
        found = long_document(20_000, kind)
        assert len(found.orders) == 119
        assert abs(len(found.text) - 20_000) < 400
        for values, spans in found.orders:
            assert tuple(found.text[slice(*span)] for span in spans) == values
        numbers = {values[0] for values, _ in found.orders}
        assert len(numbers) == (40 if kind == "repeating" else 119)


def test_scores() -> None:
    """What is missing, too many, and at another place."""
    document = long_document(2_000)
    right: Found = [(values, (spans[0][0], spans[2][1])) for values, spans in document.orders]
    assert scored(document, right) == Score(1.0, 0, 0)
    assert scored(document, right[1:]).recall == (len(right) - 1) / len(right)
    assert scored(document, [*right, right[0]]) == Score(1.0, 1, 0)
    moved: Found = [(right[0][0], right[1][1]), (right[1][0], None), *right[2:]]
    assert scored(document, moved) == Score(1.0, 0, 2)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and sends SIGKILL")
def test_the_command_works() -> None:
    """In its small form."""
    command = [sys.executable, "-m", "benchmarks.batches", "--small"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "| written to a file | 50 |" in printed
    assert "2,000 have one right record each, and there are 2,000" in printed
    assert "exit codes [0, 3]" in printed
    assert "| structured, defaults | 100.0% | 0 | 0 |" in printed
