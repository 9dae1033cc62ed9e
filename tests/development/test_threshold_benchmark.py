"""The benchmark of thresholds: what it asks, keeps and prints."""

import json
import sys

from benchmarks import thresholds
from structured.jobs.figures import DocumentScore, ValueScore
from structured.models import ScriptedModel


def score(place: int, confidence: float, *, is_right: bool) -> DocumentScore:
    outcome = "right" if is_right else "wrong"
    value = ValueScore("name", outcome, "Ana", "Ana", "name", "name", confidence=confidence, match="exact")
    return DocumentScore(str(place), str(place), "", (value,), confidence=confidence)


def test_one_half_calibrates_and_the_other_tests() -> None:
    """The threshold is that of the first half; the second has twenty values from it on, and one of these is wrong."""
    first = [score(place, 0.995, is_right=True) for place in range(70)]
    second = [score(place, 0.995 if place < 20 else 0.0, is_right=place != 3) for place in range(70)]
    first[1:31] = [score(place, 0.3, is_right=False) for place in range(30)]
    rows = list(thresholds.threshold_table({"people": [*first, *second]}))
    assert rows[2:] == [
        "| people | 5% | 0 of 1 | 0 of 70 | – | 0 of 70 | – |",
        "| people | 10% | 1 of 1 | 20 of 70 | 5.0% | 20 of 70 | 5.0% |",
        "| people | 20% | 1 of 1 | 20 of 70 | 5.0% | 20 of 70 | 5.0% |",
    ]
    assert list(thresholds.measure_table({"people": first}))[2] == "| people | 70 | 57% | 1.000 | 1.000 | 1.000 |"


def test_scores_are_kept_and_not_asked_again(tmp_path, monkeypatch, capsys) -> None:
    """A second call prints the same tables, and asks nothing."""
    (tmp_path / "types.py").write_text("from pydantic import BaseModel\n\nclass Person(BaseModel):\n    name: str\n")
    people = [
        {"id": str(place), "type": "Person", "text": f"Ana {place}", "gold": {"name": "Ana"}} for place in range(4)
    ]
    (tmp_path / "people.jsonl").write_text("\n".join(map(json.dumps, people)))
    out = tmp_path / "scores.out"
    monkeypatch.setattr(thresholds, "load_model", lambda *_args, **_options: ScriptedModel('{"name": "Ana"}'))
    monkeypatch.setattr(sys, "argv", ["thresholds", str(tmp_path), "--out", f"{out}"])
    thresholds.main()
    told, kept = capsys.readouterr().out, out.read_text()
    assert len(kept.splitlines()) == 4
    assert "| people | 4 | 100% |" in told
    asked: list[object] = []
    monkeypatch.setattr(thresholds, "scored", lambda _model, _types, documents: asked.extend(documents) or [])
    thresholds.main()
    assert asked == []
    assert (capsys.readouterr().out, out.read_text()) == (told, kept)
