"""The benchmark: it judges engines rightly, counts what they do, and survives those that die."""

import json
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest
from doubles import real_tokenizer

from benchmarks.maskbench import read_records, run
from benchmarks.maskbench_engine import Engine
from benchmarks.maskbench_report import Summary, cost_of_first_mask, quantile, report, without
from benchmarks.maskbench_worker import measure
from structured.errors import SchemaError

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
TESTS = [
    {"data": {"name": 'Ana "é" 🙂', "age": 31}, "valid": True},
    {"data": {"name": "Ana", "age": -31}, "valid": False},
    {"data": {"name": "Ana"}, "valid": False},
    {"data": [], "valid": False},
]


@pytest.fixture(scope="module")
def tokenizer():
    return real_tokenizer("gpt2")


@pytest.mark.thorough
def test_the_engine_accepts_what_is_valid_and_nothing_else(tokenizer):
    """Token by token, in texts with quotes, accents and emoji; and it says where a text may end."""
    record = measure(Engine(tokenizer), tokenizer, {"schema": SCHEMA, "tests": TESTS})
    assert record["accepted_invalid"] == record["rejected_valid"] == 0
    first, second = record["passes"]
    assert len(first) == len(second) > 20


@pytest.mark.thorough
def test_what_is_not_supported_is_refused_by_an_exception(tokenizer):
    """So that a harness can count it."""
    engine = Engine(tokenizer)
    with pytest.raises(SchemaError):
        engine.compile({"type": "object", "minProperties": 2})
    with pytest.raises(RuntimeError, match="Call compile first"):
        Engine(tokenizer).compute_mask()
    assert "refused" in measure(engine, tokenizer, {"schema": {"not": {}}, "tests": TESTS})


@pytest.mark.thorough
def test_the_engine_takes_an_end_token_where_the_text_may_end(tokenizer):
    """And only there, as its mask says; a number that is no token is not allowed."""
    engine = Engine(tokenizer)
    engine.compile({"type": "boolean"})
    end = tokenizer.eos_token_id
    for token_id in tokenizer.encode("true", add_special_tokens=False):
        assert not engine.can_end()
        assert not engine.commit(end)
        assert engine.commit(token_id)
    assert engine.can_end()
    assert engine.compute_mask()[end >> 5] >> (end & 31) & 1
    assert engine.commit(end)
    assert not engine.commit(10**9)
    assert not engine.commit(-1)


class Liar:
    """An engine that allows everything."""

    def __init__(self, size: int) -> None:
        self.mask = [-1] * (size // 32 + 1)

    def compile(self, schema: object) -> None: ...

    def reset(self) -> None: ...

    def compute_mask(self) -> list[int]:
        return self.mask

    def commit(self, token_id: int) -> bool:
        return token_id >= 0

    def can_end(self) -> bool:
        return True


@pytest.mark.thorough
def test_an_engine_that_allows_everything_is_caught(tokenizer):
    """Each invalid test that it accepts is counted."""
    record = measure(Liar(len(tokenizer)), tokenizer, {"schema": SCHEMA, "tests": TESTS})
    assert record["accepted_invalid"] == 3
    assert record["rejected_valid"] == 0


WORKER = """
    import json, os, sys, time
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        match line.strip():
            case "slow": time.sleep(60)
            case "dies": os._exit(1)
            case _: print(json.dumps({"refused": "no"}), flush=True)
"""


def test_engines_that_hang_or_die_are_counted_and_started_again(tmp_path: Path):
    """And those schemas after them are measured all the same."""
    program = tmp_path / "worker.py"
    program.write_text(textwrap.dedent(WORKER))
    commands = {"fake": [sys.executable, str(program)]}
    names = ["fine", "slow", "well", "dies", "last"]
    with (tmp_path / "records").open("w") as out:
        records = run(commands, names, seconds=0.5, out=out)
    expected = [{"refused": "no"}, {"timeout": True}, {"refused": "no"}, {"crash": True}, {"refused": "no"}]
    assert records == {"fake": expected}
    assert read_records(tmp_path / "records") == (names, records)


def test_draws_compare_what_a_smaller_run_would_have_measured():
    """One engine takes twice as long as the other for whatever it supports."""
    judged = {"accepted_invalid": 0, "rejected_valid": 0}
    records = [{"first_mask": 1.0 + place, "passes": [[1.0], [1.0]], **judged} for place in range(2000)]
    twice = [{"first_mask": 2 * (1.0 + place), "passes": [[2.0], [1.0]], **judged} for place in range(2000)]
    runs = {"structured": [*twice, {"refused": "no"}], "llguidance": [*records, {"crash": True}]}
    printed = report([str(place) for place in range(2001)], runs, draws=2)
    slow = "Of 2,000 schemas, 2000 have a first mask of more than 150 ms, and 2000 a mask of more than 20 ms."
    assert printed.count(slow) == 2  # of either engine; each takes seconds
    table = printed.split("on draws of 600")[1]
    rows = [line for line in table.splitlines() if "×" in line][:2]
    assert [row.split(" | ", 2)[0] for row in rows] == ["| 1", "| 2"]
    assert all(row.count("2 ×") == 6 and int(row.split(" | ")[1]) in (599, 600) for row in rows)


def test_the_report_counts_and_compares():
    """Outcomes by schema, quantiles by token, and ratios only where both engines have an answer."""

    def supported(first: float, each: float, *, wrong: int = 0) -> dict[str, object]:
        passes = [[each] * 10, [each / 10] * 10]
        return {"first_mask": first, "passes": passes, "accepted_invalid": wrong, "rejected_valid": 0, "peak": 10**8}

    ours = [supported(0.001, 0.00001), supported(0.003, 0.00003, wrong=1), {"refused": "no"}]
    theirs = [supported(0.002, 0.00004), {"timeout": True}, supported(9.0, 9.0)]
    text = report(["a.json", "b.json", "c.json"], {"structured": ours, "llguidance": theirs})
    assert "| structured | 3 | 1 | 1 | 1 | 0 | 0 | 0 | 100 |" in text
    assert "| llguidance | 3 | 2 | 0 | 0 | 0 | 1 | 0 | 100 |" in text
    assert "on the 1 schemas that both support" in text
    assert "| first mask | 0.5 × | 0.5 × | 0.5 × |" in text
    assert "| first pass | 0.25 × | 0.25 × | 0.25 × |" in text
    assert "| llguidance, without the slowest 1 % | 2 |" in text
    assert "| by first mask | first mask, ms | longest mask, ms | all masks, ms |\n|---|---|---|---|\n| b | 3 |" in text
    assert "Without an answer: b.json." in text
    assert Summary.of(ours).first_mask == [0.001, 0.003]


def test_one_schema_neither_hides_nor_makes_the_picture():
    """Of 250, the three slowest are left out; where two engines are compared, those of either."""
    records = [{"first_mask": float(place)} for place in range(250)]
    assert without(records, cost_of_first_mask) == records[:-3]
    assert without(records, cost_of_first_mask, lambda record: -record["first_mask"]) == records[3:-3]
    assert without(records[:1], cost_of_first_mask) == records[:1]


@pytest.mark.parametrize(("q", "time"), [(0.0, 1), (0.5, 3), (0.9, 5), (1.0, 5)])
def test_quantiles_are_times_that_were_measured(q: float, time: int):
    """No interpolation."""
    assert quantile([5, 3, 1, 2, 4], q) == time


@pytest.mark.slow
def test_the_command_prints_its_table(tmp_path: Path, tokenizer):
    """From the zip file to the table, as a user runs it."""
    import subprocess

    archive = tmp_path / "bench.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("one.json", json.dumps({"description": "", "schema": SCHEMA, "tests": TESTS}))
    command = [sys.executable, "-m", "benchmarks.maskbench", str(archive), tokenizer.name_or_path]
    done = subprocess.run([*command, "--engines", "structured"], check=True, capture_output=True, text=True)
    assert "| structured | 1 | 1 | 0 | 0 | 0 | 0 | 0 |" in done.stdout
