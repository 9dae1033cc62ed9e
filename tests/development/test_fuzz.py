"""The fuzzer: each family makes cases and judges them, and a defect is told with the case that shows it again."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks.fuzz import cases, combinations, expressions, files, guided, json_schemas, python_types
from benchmarks.fuzz.campaign import Campaign, Worker
from benchmarks.fuzz.cases import Case, Trial, tried
from benchmarks.fuzz.families import FAMILIES, GUIDED
from benchmarks.fuzz.table import table
from structured.errors import PromptError

pytestmark = [pytest.mark.development, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def _single_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guided, "VOCABULARIES", ("bytes",))
    monkeypatch.setattr(guided, "ANSWERS", 8)


@pytest.mark.parametrize("family", FAMILIES)
def test_cases_are_judged_and_nothing_is_wrong(family: str) -> None:
    """The same seed makes the same case and the same answers."""
    outcomes = [tried(Case(family, seed), FAMILIES[family]).data() for seed in (1, 2, 3)]
    assert [outcome["failures"] for outcome in outcomes] == [[], [], []]
    assert sum(outcome["answers"] for outcome in outcomes) > 0
    again = tried(Case(family, 2), FAMILIES[family]).data()
    assert again == outcomes[1]


def kinds_of(family: str, *seeds: int) -> set[str]:
    return {failure["kind"] for seed in seeds for failure in tried(Case(family, seed), FAMILIES[family]).failures}


def test_a_judge_that_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of answers that are sampled, and of texts that are read; in each family by its own judge."""
    monkeypatch.setattr(python_types, "is_valid", lambda *_: False)
    monkeypatch.setattr(json_schemas, "is_valid", lambda *_: False)
    monkeypatch.setattr(expressions, "judge_of", lambda _: lambda _: False)
    monkeypatch.setattr(combinations, "_judge", lambda _: lambda _: False)
    for family in ("types", "schemas", "regex", "combinations"):
        assert kinds_of(family, 1, 2, 3) == {"invalid"}, family


def test_a_valid_text_that_is_refused_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless a restriction that is documented explains it: those are counted by their reasons."""
    monkeypatch.setattr(guided, "accepts_text", lambda *_: False)
    monkeypatch.setattr(guided, "write_answers", lambda *_: None)
    assert "unexplained refusal" in kinds_of("regex", 1, 2, 3)
    trial = Trial(Case("schemas", 1))
    schema = json.dumps({"uniqueItems": True})
    guided.read_texts(trial, object(), ["[1, 2]"], lambda _: True, lambda text: json_schemas.explained(schema, text))
    assert trial.explained == {"spellings and properties of items that must differ": 1}
    assert not trial.failures


def test_errors_of_others_are_failures_and_those_of_the_library_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def raised(error: Exception) -> Any:
        def read(_: Path) -> None:
            raise error

        return dict.fromkeys(files.READERS, read)

    monkeypatch.setattr(files, "READERS", raised(KeyError("x")))
    assert kinds_of("files", 1) == {"raw error"}
    monkeypatch.setattr(files, "READERS", raised(PromptError("x")))
    assert kinds_of("files", 1) == set()


def test_a_guide_without_tokens_is_a_dead_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guided.Pen, "allowed", lambda *_: [])
    assert "dead end" in kinds_of("regex", 1, 2, 3, 4)


def test_a_case_that_takes_long_is_a_hang() -> None:
    def hang(_: Trial) -> None:
        raise cases.HangError("long")

    assert [failure["kind"] for failure in tried(Case("regex", 1), hang).failures] == ["hang"]


def test_a_campaign_sums_what_was_found_and_keeps_the_failures(tmp_path: Path) -> None:
    campaign = Campaign(["files", "regex"], 5, tmp_path)
    outcome = tried(Case("regex", 5_000_001), lambda trial: trial.fail("invalid", "so")).data()
    campaign.add("regex", {**outcome, "seconds": 2.0, "memory": 1 << 21})
    campaign.add("regex", {**outcome, "seconds": 1.0, "memory": 0, "failures": [], "refusals": {"PatternError": 1}})
    [failure] = [json.loads(line) for line in (tmp_path / "failures.jsonl").read_text().splitlines()]
    assert failure == {"kind": "invalid", "what": "so", "case": "regex:5000001", "made": ""}
    shown = table(campaign.sums)
    assert "| regex | 2 | 0 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 2 | 2.0 (regex:5000001) |" in shown
    assert "- regex: PatternError 1" in shown
    assert {"regex", "types"} < GUIDED


@pytest.mark.slow
def test_a_worker_that_dies_is_a_failure_and_is_replaced() -> None:
    worker = Worker()
    try:
        found = worker.outcome(Case("files", 1))
        assert found["failures"] == []
        os.kill(found["pid"], 9)
        assert worker.outcome(Case("files", 2))["failures"][0]["kind"] == "raw error"
        assert worker.outcome(Case("files", 2))["failures"] == []
    finally:
        worker.close()
