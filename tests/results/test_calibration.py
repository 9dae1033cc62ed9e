"""Calibration: a function that never falls, learned, kept and read again; and the error that it makes smaller."""

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from structured import Extractor
from structured.results import Calibration
from structured.results.evidence import expected_calibration_error

FRACTIONS = st.floats(0, 1)
KNOWN = st.lists(st.tuples(FRACTIONS, st.booleans()), min_size=20, max_size=60)


@given(KNOWN, st.lists(FRACTIONS, min_size=2))
def test_a_calibration_is_monotone(known: list[tuple[float, bool]], confidences: list[float]) -> None:
    """Whatever it is learned from, a greater confidence is never a smaller probability; and all are from 0 to 1."""
    pytest.importorskip("sklearn")
    calibration = Calibration.fit(*zip(*known, strict=True))
    found = [calibration.apply(one) for one in sorted(confidences)]
    assert all(0 <= one <= other <= 1 for one, other in pairwise(found))


@given(KNOWN)
@example([*[(0.0, False)] * 18, (9e-16, False), (1.1e-15, True)])  # nearer to each other than scikit-learn tells apart
def test_a_calibration_keeps_the_share_of_right_values(known: list[tuple[float, bool]]) -> None:
    """Of what it is learned from, the mean probability is the share that is right."""
    pytest.importorskip("sklearn")
    confidences, right = zip(*known, strict=True)
    calibration = Calibration.fit(confidences, right)
    assert sum(map(calibration.apply, confidences)) == pytest.approx(sum(right), abs=1e-3)


@given(st.lists(FRACTIONS, min_size=1, unique=True), st.data())
def test_a_file_says_the_same(
    tmp_path_factory: pytest.TempPathFactory, confidences: list[float], data: st.DataObject
) -> None:
    count = len(confidences)
    probabilities = data.draw(st.lists(FRACTIONS, min_size=count, max_size=count))
    calibration = Calibration(tuple(sorted(confidences)), tuple(sorted(probabilities)))
    path = tmp_path_factory.getbasetemp() / "calibration.json"
    calibration.save(path)
    assert Calibration.load(path) == calibration


def test_it_is_linear_between_its_points_and_level_beyond() -> None:
    calibration = Calibration((0.2, 0.6), (0.1, 0.5))
    assert [calibration.apply(one) for one in (0, 0.2, 0.3, 0.6, 1)] == pytest.approx([0.1, 0.1, 0.2, 0.5, 0.5])


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), "0.5", None, True])
def test_only_fractions_are_confidences(confidence: object) -> None:
    with pytest.raises(ValueError, match="are numbers from 0 to 1, and one is"):
        Calibration((0.5,), (0.5,)).apply(confidence)  # type: ignore[arg-type]


BAD = {
    "": "Expecting value",
    "[]": 'it is not a JSON object with the lists "confidences" and "probabilities". Write',
    "{}": "it is not a JSON object with",
    '{"confidences": [0.1], "probabilities": [0.1], "bins": 3}': "it is not a JSON object with",
    '{"confidences": 1, "probabilities": [1]}': "it is not a JSON object with",
    '{"confidences": [], "probabilities": []}': "at least one: these are 0 confidences and 0 probabilities",
    '{"confidences": [0.1, 0.2], "probabilities": [0.1]}': "these are 2 confidences and 1 probabilities",
    '{"confidences": [0.2, 0.2], "probabilities": [0.1, 0.3]}': "must grow from each point to the next",
    '{"confidences": [0.2, 0.3], "probabilities": [0.2, 0.1]}': "must not fall as the confidence grows",
    '{"confidences": [0.2, "x"], "probabilities": [0.2, 0.3]}': "numbers from 0 to 1, and one is 'x'",
    '{"confidences": [0.2, 3], "probabilities": [0.2, 0.3]}': "numbers from 0 to 1, and one is 3",
    '{"confidences": [0.2, 0.3], "probabilities": [0.2, NaN]}': "numbers from 0 to 1, and one is nan",
}


@pytest.mark.parametrize(("written", "problem"), BAD.items())
def test_a_bad_file_is_told(tmp_path: Path, written: str, problem: str) -> None:
    """By its path, what is wrong with it, and what writes a good one."""
    path = tmp_path / "bad.json"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad\.json is no calibration: .*Write one by Calibration\.save\.") as raised:
        Calibration.load(path)
    assert problem in str(raised.value)
    assert ".." not in str(raised.value)
    with pytest.raises(ValueError, match=r"^calibration: .*bad\.json is no calibration: ") as raised:
        Extractor(int, calibration=path, model="no/such/folder")
    assert str(raised.value).count("Calibration.save") == 1


def test_no_file_is_no_calibration(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Calibration.load(tmp_path / "none.json")


def test_a_binary_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"bad\.json is no calibration: "):
        Calibration.load(path)


def test_too_few_values_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 20 values"):
        Calibration.fit([0.5] * 19, [True] * 19)
    with pytest.raises(ValueError, match="20 confidences, and 21"):
        Calibration.fit([0.5] * 20, [True] * 21)
    with pytest.raises(ValueError, match="numbers from 0 to 1, and one is 2"):
        Calibration.fit([0.5] * 19 + [2], [True] * 20)


def test_learning_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.isotonic", None)
    with pytest.raises(ImportError, match=r"pip install 'structured-extraction\[calibration\]'"):
        Calibration.fit([0.5] * 20, [True] * 20)


def test_the_file_is_json(tmp_path: Path) -> None:
    Calibration((0.25,), (0.5,)).save(tmp_path / "one.json")
    assert json.loads((tmp_path / "one.json").read_text()) == {"confidences": [0.25], "probabilities": [0.5]}


def test_the_error_is_the_mean_gap_of_the_bins() -> None:
    """Two bins of two: the first says 0.2 and has none right, the second 0.9 and half."""
    assert expected_calibration_error([0.9, 0.2, 0.9, 0.2], [True, False, False, False], bins=2) == pytest.approx(0.3)
    assert expected_calibration_error([0.5] * 40, [True, False] * 20) == pytest.approx(0)
    assert expected_calibration_error([1.0, 0.0] * 10, [True, False] * 10) == 0


@given(KNOWN)
def test_calibrating_does_not_add_error(known: list[tuple[float, bool]]) -> None:
    """In one bin, of what it was learned from, nothing is left."""
    pytest.importorskip("sklearn")
    confidences, right = zip(*known, strict=True)
    calibrated = [Calibration.fit(confidences, right).apply(one) for one in confidences]
    assert expected_calibration_error(calibrated, right, bins=1) < 1e-4
