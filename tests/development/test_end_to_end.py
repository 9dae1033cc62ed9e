"""The end-to-end benchmark: every engine gets the same work, what it reports adds up, and failures are told."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import pytest
from doubles import END, ByteTokenizer, byte_level_tokenizer, tiny_llama

from benchmarks.documents import KINDS, documents, is_valid
from benchmarks.end_to_end import Bench, Summary, characters_table, rates_table, shares_table
from benchmarks.end_to_end_worker import CLOCKS, UNGUIDED, Generate, Ours, Stopwatch, answers, count_shared, load
from benchmarks.flat_cost import flat_cost_of
from benchmarks.paper_figure import FROM_STATE, INDEXED, READ_AGAIN, curves, draw, table
from structured.vocabulary import Vocabulary

CLOCK = CLOCKS["wall"]
MAX_TOKENS = 200


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of a tiny model with random weights."""
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    path = tmp_path_factory.mktemp("tiny")
    tokenizer = byte_level_tokenizer()
    model = tiny_llama(len(tokenizer))
    model.config.max_position_embeddings = 1024
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return str(path)


@pytest.fixture(scope="module")
def tasks() -> dict[str, list[list[int]]]:
    tokenizer = byte_level_tokenizer()
    return {"Person": tokenizer([f"Text: {text}" for text in documents("Person", 3)])["input_ids"]}


def asked(engine: Ours | Generate, tasks: dict[str, list[list[int]]], **more: object) -> dict[str, object]:
    request = {"write": "Person", "count": 3, "batch": 2, "max_tokens": MAX_TOKENS, **more}
    (answer,) = answers(iter([json.dumps(request)]), engine, tasks)
    return answer


@pytest.fixture(scope="module")
def ours(folder: str) -> Ours:
    engine = load(folder, "cpu", CLOCK, "structured")
    assert isinstance(engine, Ours)
    assert next(answers(iter(['{"compile": "Person"}']), engine, {}))["seconds"] > 0
    return engine


@pytest.mark.thorough
def test_what_we_report_adds_up(ours: Ours, tasks: dict[str, list[list[int]]]):
    """All answers are valid, the passes are part of the time, and guiding is part of what is left."""
    answer = asked(ours, tasks)
    assert answer["valid"] == answer["documents"] == 3
    assert answer["characters"] == sum(map(len, answer["texts"]))
    assert answer["seconds"] > answer["model"] > 0
    assert 0 < answer["guiding"] < answer["seconds"] - answer["model"]
    assert max(answer["lengths"]) <= MAX_TOKENS


@pytest.mark.thorough
def test_nothing_forced_asks_for_every_token(ours: Ours, tasks: dict[str, list[list[int]]]):
    """Each token is sampled and takes a pass; with forced runs there are fewer of both."""
    plain, forced = asked(ours, tasks, force=False), asked(ours, tasks)
    ends = len(plain["lengths"])
    assert sum(plain["lengths"]) <= plain["sampled"] <= sum(plain["lengths"]) + ends
    assert forced["sampled"] < plain["sampled"]
    assert forced["passes"] < plain["passes"]


@pytest.mark.thorough
def test_shared_beginnings_change_no_text(ours: Ours, tasks: dict[str, list[list[int]]]):
    """They only save time."""
    assert count_shared(tasks["Person"]) > 0
    assert count_shared(tasks["Person"][:1]) == 0
    assert asked(ours, tasks, share=True)["texts"] == asked(ours, tasks, share=False)["texts"]


@pytest.mark.thorough
def test_unguided_generation_writes_what_it_is_told_to(folder: str, tasks: dict[str, list[list[int]]]):
    """As many tokens as the guided answers have, a batch as long as its longest."""
    engine = load(folder, "cpu", CLOCK, UNGUIDED)
    assert isinstance(engine, Generate)
    engine.compile("Person")
    answer = asked(engine, tasks, lengths=[4, 9, 5])
    assert answer["lengths"] == [4, 9, 5]
    assert answer["passes"] == 9 + 9 + 5
    assert answer["seconds"] > answer["model"] > 0


class Only:
    """A peer that allows one token until it allows the end."""

    def __init__(self, token_id: int, count: int) -> None:
        self.token_id, self.left = token_id, count

    def __call__(self, _input_ids, scores):
        wanted = self.token_id if self.left else END
        self.left -= 1
        scores[:, [token_id for token_id in range(scores.shape[1]) if token_id != wanted]] = float("-inf")
        return scores


@pytest.mark.thorough
def test_a_peer_is_a_logits_processor_that_is_timed(folder: str, tasks: dict[str, list[list[int]]]):
    """It gets a new one for each batch, and what follows the end token is cut off."""
    engine = load(folder, "cpu", CLOCK, UNGUIDED)
    assert isinstance(engine, Generate)
    engine.engine = SimpleNamespace(compile=lambda schema: lambda: Only(3 + ord("a"), 5))  # noqa: ARG005
    engine.compile("Person")
    answer = asked(engine, tasks)
    assert answer["texts"] == ["aaaaa"] * 3
    assert answer["lengths"] == [5, 5, 5]
    assert answer["sampled"] == 18
    assert answer["valid"] == 0
    assert 0 < answer["guiding"] < answer["seconds"] - answer["model"]


@pytest.mark.thorough
def test_an_error_is_an_answer(ours: Ours, tasks: dict[str, list[list[int]]]):
    """With what caused it, and the next request is served."""
    lines = ['{"compile": "Nothing"}', json.dumps({"write": "Person", "count": 1, "batch": 1, "max_tokens": 200})]
    failed, written = answers(iter(lines), ours, tasks)
    assert failed["error"].startswith("KeyError: 'Nothing'")
    assert written["documents"] == 1


class Scripted:
    """A worker that answers what it is told to."""

    def __init__(self, answer: dict[str, object]) -> None:
        self.answer = answer

    def ask(self, line: str, seconds: float) -> dict[str, object]:  # noqa: ARG002
        return self.answer


def test_an_engine_that_fails_is_left_out_with_its_reason():
    """The others go on, and are summed up over the types."""
    times = {"seconds": 0.5, "model": 0.4, "guiding": 0.05}
    answer = {**times, "documents": 2, "characters": 100, "valid": 2, "passes": 20, "sampled": 20, "lengths": [10, 10]}
    workers = {
        "structured": Scripted(answer),
        "unguided": Scripted({**answer, "seconds": 1.0}),
        "outlines": Scripted({"error": "ImportError: no"}),
        "xgrammar": Scripted({"timeout": True}),
    }
    engines = ["unguided", "structured", "outlines", "xgrammar"]
    options = {"engines": engines, "kinds": list(KINDS), "documents": 8, "rounds": 3, "max_tokens": 9, "seconds": 1.0}
    bench = Bench(workers, SimpleNamespace(**options))
    bench.start()
    runs = bench.rates(2)
    assert list(runs) == ["unguided", "structured"]
    assert bench.broken == {"outlines": "ImportError: no", "xgrammar": "it took more than 1 s"}
    assert runs["structured"].median("documents", "seconds") == pytest.approx(4)
    assert "| structured | 4.00 | 200 | 10 | 20.0 % | 10.0 % | 10 | 50 | 100.0 % | 2.00 × |" in rates_table(runs)
    assert "| 1 | structured | 2500 | 10.0 % | ≤ 1 % |" in shares_table({1: runs})
    assert "| 1 | 200 | 100 | 2.00 × | ≥ 1.5 × |" in characters_table({1: runs})


def test_ratios_are_of_the_same_round():
    """What slows a round slows both."""
    ours = Summary([{"documents": 4, "seconds": seconds} for seconds in (1, 10, 2)])
    theirs = Summary([{"documents": 4, "seconds": seconds} for seconds in (3, 30, 8)])
    assert ours.faster(theirs, "documents") == 3


def test_stopwatches_count():
    """Calls and seconds."""
    watch = Stopwatch(iter([0.0, 2.0, 5.0, 6.0]).__next__)
    assert [watch.on(str)(1), watch.on(str)(2)] == ["1", "2"]
    watch.is_running = False
    assert watch.on(str)(3) == "3"
    assert (watch.calls, watch.seconds) == (3, 3.0)


@pytest.mark.parametrize("kind", KINDS)
def test_documents_are_the_same_every_time(kind: str):
    """And nonsense is no answer."""
    assert documents(kind, 3) == documents(kind, 5)[:3]
    assert len(set(documents(kind, 20))) > 10
    assert not is_valid(kind, "{}")


def test_the_cost_of_a_token_is_measured_at_both_ends():
    """On a small vocabulary, quickly."""
    text = flat_cost_of(Vocabulary.from_tokenizer(ByteTokenizer()), early=60, late=150, repeats=1)
    assert text.count("×") == 4


def test_the_figure_is_drawn_of_ways_that_agree(tmp_path: Path):
    """All three write the same tokens, or there is no figure."""
    found = curves(Vocabulary.from_tokenizer(ByteTokenizer()), steps=4)
    assert list(found) == [READ_AGAIN, FROM_STATE, INDEXED]
    assert all(seconds == sorted(seconds) and len(seconds) == 4 for seconds in found.values())
    (tmp_path / "figure.svg").write_text(draw(found), encoding="utf-8")
    root = ET.parse(tmp_path / "figure.svg").getroot()  # noqa: S314  it is our own
    assert sum(element.tag.endswith("polyline") for element in root) == 3
    assert table(found).count("\n") == 4
