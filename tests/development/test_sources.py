"""The samples from public repositories: answers are of their types and stand in their texts, and none is measured by.

The repositories themselves are not here; small ones of the same layouts are, written for these tests.
"""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from answers import texts
from jsonschema import Draft202012Validator

from training.examples import chat_and_answer, read_samples
from training.generate import Sample
from training.sources import commands, dialogues, mixture, records, relations
from training.sources.asking import Habits, Slot, some
from training.sources.named import named
from training.sources.names import joined, mentions

PUBLIC = Path(__file__).parents[3] / "shared" / "public"
COMMANDS = {
    "OrderTea": [
        {"data": [{"text": "Bring me "}, {"text": "two pots", "entity": "amount"}, {"text": " of tea"}]},
        {"data": [{"text": "Is there any tea?"}]},
        {"data": [{"text": "one", "entity": "amount"}, {"text": " or "}, {"text": "two", "entity": "amount"}]},
    ]
}
SERVICE = {
    "service_name": "Tea_1",
    "description": "Order tea",
    "slots": [
        {"name": "kind", "description": "Kind of tea", "is_categorical": True, "possible_values": ["green", "black"]},
        {"name": "address", "description": "Where to", "is_categorical": False, "possible_values": []},
    ],
}


def turn(speaker: str, utterance: str, slots: list[Any], values: Mapping[str, list[str]]) -> Any:
    frame = {"service": "Tea_1", "slots": slots, "state": {"slot_values": values}}
    return {"speaker": speaker, "utterance": utterance, "frames": [frame]}


TURNS = [
    turn("USER", "Black tea, please.", [], {"kind": ["black"]}),
    turn("SYSTEM", "Where to?", [], {}),
    turn(
        "USER",
        "To 4 Elm Row.",
        [{"slot": "address", "start": 3, "exclusive_end": 12}],
        {"kind": ["black"], "address": ["4 Elm Row"]},
    ),
]
CROSSING = {
    "tokens": ["The", "Long", "Bridge", "crosses", "the", "Ouse", "."],
    "h": ["", "", [[1, 2]]],
    "t": ["", "", [[5]]],
}
NOTE = {"record_id": 0, "note": "Ms. Ida Holm, born 3 May 1950, lives in Bergen.", "name": {"family": "Holm"}}


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    """Small repositories in the layouts of the real ones."""
    files: dict[str, Any] = {
        f"a+nlu-benchmark/{commands.FOLDER}/OrderTea/train_OrderTea_full.json": COMMANDS,
        f"a+nlu-benchmark/{commands.FOLDER}/OrderTea/validate_OrderTea.json": {"OrderTea": []},
        "b+dstc8-schema-guided-dialogue/train/schema.json": [SERVICE],
        "b+dstc8-schema-guided-dialogue/train/dialogues_001.json": [{"turns": TURNS}] * 20,
        "c+FewRel/data/pid2name.json": {"P1": ["crosses", "what it leads over"], "P2": ["spouse", "married to"]}
        | {f"Q{number}": [f"other {number}", ""] for number in range(9)},
        "c+FewRel/data/val_wiki.json": {
            "P1": [
                {
                    "tokens": ["The", "Long", "Bridge", "crosses", "the", "Ouse", "."],
                    "h": ["", "", [[1, 2]]],
                    "t": ["", "", [[5]]],
                }
            ],
            **{f"Q{number}": [] for number in range(9)},
        },
        "d+structured-outputs/src/patient_notes/data/note.json": [
            {"record_id": number, "note": NOTE["note"]} for number in range(records.KEPT_NOTES + 3)
        ],
        "d+structured-outputs/src/patient_notes/data/gold.json": [
            {"record_id": number, "name": {"family": "Holm", "given": ["Ida"], "prefix": "Ms."}, "gender": "female"}
            for number in range(records.KEPT_NOTES + 3)
        ],
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    columns = "Rosa\tB-scientist\nKlein\tI-scientist\nleft\tO\nBonn\tB-location\n.\tO\n\n"
    for domain in ("science", "music"):
        path = tmp_path / "e+CrossNER/ner_data" / domain / "train.txt"
        path.parent.mkdir(parents=True)
        path.write_text(columns.replace("Rosa", "Rosa" if domain == "science" else "Madonna") * 30)
        path.with_name("test.txt").write_text(columns.replace("Rosa", "Tested"))
    return tmp_path


def drawn(repositories: Path, name: str) -> list[Sample]:
    """Return the samples of one repository."""
    (repository,) = repositories.glob(f"*{name}")
    read = {
        "nlu-benchmark": commands.samples,
        "dstc8-schema-guided-dialogue": dialogues.samples,
        "FewRel": relations.samples,
        "structured-outputs": records.notes,
        "CrossNER": named,
    }[name]
    return [sample for seed in range(20) for sample in read(random.Random(seed), repository)]


@pytest.mark.parametrize(
    "name", ["nlu-benchmark", "dstc8-schema-guided-dialogue", "FewRel", "structured-outputs", "CrossNER"]
)
def test_answers_are_of_their_types_and_stand_in_their_texts(repositories: Path, name: str) -> None:
    """But for values of a list that the type gives."""
    samples = drawn(repositories, name)
    assert samples
    for sample in samples:
        Draft202012Validator(sample.schema).validate(sample.answer)
        listed = json.dumps(sample.schema)
        for text in texts(sample.answer):
            assert text in sample.document or f'"{text}"' in listed or text == "female"
        chat_and_answer(sample, random.Random(0))


def test_commands_with_a_slot_twice_are_left_out(repositories: Path) -> None:
    """A field has one value."""
    assert {sample.document for sample in drawn(repositories, "nlu-benchmark")} == {
        "Bring me two pots of tea",
        "Is there any tea?",
    }


def test_a_turn_states_its_spans_and_a_dialogue_its_state(repositories: Path) -> None:
    """What was said before counts only where it is shown."""
    samples = drawn(repositories, "dstc8-schema-guided-dialogue")
    alone = [sample for sample in samples if sample.document == "To 4 Elm Row."]
    whole = [sample for sample in samples if sample.document.endswith("User: To 4 Elm Row.")]
    assert {tuple(texts(sample.answer)) for sample in alone} <= {("4 Elm Row",), ()}
    assert {"black", "4 Elm Row"} <= {text for sample in whole for text in texts(sample.answer)}


def test_unseen_families_and_test_files_are_not_read(repositories: Path) -> None:
    """Neither music, nor the sentences of tests, nor the notes of the measure."""
    documents = " ".join(sample.document for sample in drawn(repositories, "CrossNER"))
    assert "Rosa" in documents
    assert "Madonna" not in documents
    assert "Tested" not in documents
    assert len(drawn(repositories, "structured-outputs")) == 3 * 20


def test_measured_texts_are_left_out_whatever_their_spaces(repositories: Path, tmp_path: Path) -> None:
    """They are compared by their letters and digits."""
    measure = tmp_path / "measure"
    measure.mkdir()
    (measure / "commands.jsonl").write_text(json.dumps({"text": "bring me  TWO pots, of tea"}) + "\n")
    kept = list(mixture.unseen(drawn(repositories, "nlu-benchmark"), mixture.measured_texts(measure)))
    assert {sample.document for sample in kept} == {"Is there any tea?"}


def test_the_mixture_is_what_training_reads(
    repositories: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As JSON lines, and the command counts the samples of each source."""
    monkeypatch.setattr(mixture, "_records", records.notes)
    monkeypatch.setattr("sys.argv", ["mixture", str(repositories), "--out", str(tmp_path / "samples.jsonl")])
    mixture.main()
    read = read_samples(tmp_path / "samples.jsonl")
    shown = capsys.readouterr().out
    assert "emerging_entities_17: not there" in shown
    counts = [int(line.rpartition(": ")[2].replace(",", "")) for line in shown.splitlines() if "not there" not in line]
    assert sum(counts) == len(read) > 20


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="The public data sets are not beside the repository, in shared/public.")
def test_the_digest_tells_each_measured_text_from_the_others() -> None:
    """No two texts are taken for one, or next to none: a text is short now and then."""
    lines = [line for path in PUBLIC.glob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(mixture.measured_texts(PUBLIC)) > 0.98 * len({json.loads(line)["text"] for line in lines})


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["B-a", "I-a", "O", "B-a"], [("a", 0, 1), ("a", 3, 3)]),
        (["I-a", "I-a", "I-b", "B-b"], [("a", 0, 1), ("b", 2, 2), ("b", 3, 3)]),
        (["O", "O"], []),
    ],
)
def test_mentions_are_read_from_labels(labels: list[str], found: list[tuple[str, int, int]]) -> None:
    assert mentions(labels) == found


def test_tokens_are_joined_as_they_were_written() -> None:
    assert joined(["Dr", ".", "Wu", "(", "27", ")", "'s"], is_spaced=False) == "Dr. Wu (27)'s"
    assert joined(["Dr", ".", "Wu"], is_spaced=True) == "Dr . Wu"


def test_habits_are_kept_within_a_sample_and_something_is_always_asked() -> None:
    slots = [Slot("first_name"), Slot("lastName")]
    for seed in range(50):
        rng = random.Random(seed)
        habits = Habits.drawn(rng)
        names = [habits.name(rng, slot) for slot in slots]
        assert habits.style != "camel" or names[0] == "firstName"
        assert habits.style != "upper" or names[0] == "FIRST_NAME"
        assert some(rng, slots, {})
