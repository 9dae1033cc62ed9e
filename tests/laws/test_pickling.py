"""What is handed out goes to other processes, or says why it does not."""

import copy
import pickle
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from doubles import ByteTokenizer, in_memory, made_result, random_logits, said, tiny_llama
from pydantic import BaseModel, Field

from structured import Extractor, JsonLayout, JsonSchema, Samples, Thinking, inspect_type
from structured.decoding import Generation
from structured.extraction import Options, events
from structured.models import PACKAGED_MODEL, FunctionModel, ScriptedModel
from structured.results import PartialReader

TOKENIZER = ByteTokenizer()
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "many-documents.md"


class Person(BaseModel):
    name: str
    age: int


class Quartet(BaseModel):
    players: set[str] = Field(min_length=4)


def logits(token_ids: Sequence[int]) -> np.ndarray:
    """A model that is found by its name in another process."""
    return random_logits(len(TOKENIZER.tokens))(token_ids)


def note(event: events.Event) -> None:
    assert isinstance(event, events.Event)


MODEL = (logits, TOKENIZER)

OPTIONS: dict[str, Any] = {
    "greedy": {},
    "drawn": {"temperature": 0.7, "seed": np.int64(3), "search": Samples(3, vote=True), "top_p": 0.9},
    "with examples": {"examples": [("Ana is 31.", Person(name="Ana", age=31))], "instructions": "Read."},
    "with allow_missing": {"allow_missing": ["age"], "layout": JsonLayout("compact")},
    "thinking": {"thinking": Thinking(max_tokens=20), "max_tokens": 80},
    "observed": {"observe": note, "cache": False},
}
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def pickled(value: Any, protocol: int | None = None) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))  # noqa: S301  what was written here


@pytest.mark.thorough
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")
def test_an_extractor_is_pickled_as_its_type_and_options(name: str) -> None:
    """Where it is read it is prepared, and says the same; so does that of that."""
    extractor: Any = Extractor(Person, model=MODEL, **{"max_tokens": 100, **OPTIONS[name]})
    answer, prompt = extractor("x"), extractor.prompt("x")
    for protocol in PROTOCOLS:
        other = pickled(pickled(extractor, protocol), protocol)
        assert (type(other), other.prompt("x")) == (Extractor, prompt)
    assert other("x") == answer


@pytest.mark.parametrize("output_type", [Person, list[Person], Person | None, Literal["a", "b"], JsonSchema(True), int])
def test_types_of_all_kinds_go(output_type: Any) -> None:
    assert pickled(Extractor(output_type, model=MODEL)).description == Extractor(output_type, model=MODEL).description


def test_a_model_that_was_named_goes_by_its_name() -> None:
    """No weights are in the pickle, and where the name is known they are not loaded again."""
    extractor = Extractor(Person, model=PACKAGED_MODEL)
    data = pickle.dumps(extractor)
    assert len(data) < 1000
    assert pickle.loads(data)._task.model is extractor._task.model  # noqa: S301  what was written here


def test_what_cannot_be_pickled_is_named() -> None:
    """The option, why, and what to do."""

    class Local(BaseModel):
        name: str

    cases: list[tuple[Extractor[Any], str]] = [
        (Extractor(Local, model=MODEL), "output_type of Extractor(Local, .* Define it at the top of a module, or make"),
        (Extractor(Person, model=MODEL, observe=lambda *_: None), "observe of .* Define it at the top of a module"),
        (
            Extractor(Person, model=in_memory(tiny_llama)),
            "model of .* Pass the name or the folder of the model, or make",
        ),
        (Extractor(Person, model=FunctionModel(lambda _: [], TOKENIZER)), "model of Extractor"),
    ]
    for extractor, message in cases:
        pattern = "^The " + message.replace("(", r"\(").replace("of .*", "of Extractor.*")
        with pytest.raises(pickle.PicklingError, match=pattern):
            pickle.dumps(extractor)


def test_copies_of_an_extractor_share_its_model() -> None:
    extractor = Extractor(Person, model=in_memory(tiny_llama), max_tokens=50)
    for representative in (copy.copy(extractor), copy.deepcopy(extractor), copy.deepcopy([extractor])[0]):
        assert representative is not extractor
        assert representative._task.model is extractor._task.model
        assert representative.prompt("x") == extractor.prompt("x")


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, *PROTOCOLS])
def test_values_are_what_they_were(way: Any) -> None:
    """Schemas, results, reports, options."""
    refused = inspect_type(Quartet)
    assert refused.refusals
    values: list[Any] = [
        JsonSchema({"$ref": "urn:x"}, documents={"urn:x": {"type": "integer"}}, key_order="any", name="n"),
        Thinking("</t>", 7),
        Generation("a", (1,), -0.5, shortened=False),
        inspect_type(Person),
        Options(temperature=0.5, model="folder"),
    ]
    for value in values:
        representative = way(value) if callable(way) else pickled(value, way)
        assert (type(representative), representative) == (type(value), value)
    result = made_result(Person(name="Ana", age=31), {"name": "Ana"}, ("age",))
    assert said(way(result) if callable(way) else pickled(result, way)) == said(result)
    representative = way(refused) if callable(way) else pickled(refused, way)
    assert [str(error) for error in representative.refusals] == [str(error) for error in refused.refusals]


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize("text", ["Ana is 31.", "Is here.", ""], ids=["answered", "missing", "failed"])
def test_a_copy_of_a_result_is_equal_to_it(way: Any, text: str) -> None:
    """And has its hash; a result for another text, or with another value, is not equal to it."""
    model = ScriptedModel('{"name": "Ana", "age": 31}' if "31" in text else '{"name": null, "age": null}')
    extractor = Extractor(Person, model=model, allow_missing=True)
    (result,) = extractor.results([text])
    representative = way(result)
    assert (representative == result, hash(representative) == hash(result)) == (True, True)
    assert {representative} == {result}
    for other in (
        replace(result, document="Bo."),
        replace(result, text="null"),
        replace(result, metadata={"a": 1}),
        text,
    ):
        assert result != other


def test_a_result_that_was_pickled_keeps_all_where_a_field_is_replaced() -> None:
    result = Extractor(Person, model=ScriptedModel('{"name": "Ana", "age": 31}')).result("Ana is 31.")
    changed = replace(pickled(result), id="a")
    assert (changed.id, said(changed)) == ("a", said(result))
    assert result.evidence
    assert (changed.evidence, changed.provenance) == (result.evidence, result.provenance)


def test_a_reader_goes_on_elsewhere() -> None:
    """From where it stands, and by itself."""
    reader = PartialReader(list[Person])
    reader.feed('[{"name": "Ana", "a')
    for other in (pickled(reader), copy.deepcopy(reader)):
        assert [event.path for event in other.feed('ge": 31}]')] == ["[0].age", "[0]", ""]
        assert other.value == [Person(name="Ana", age=31)]
    assert [event.path for event in reader.feed('ge": 32}')] == ["[0].age", "[0]"]


def test_a_stream_stays_in_its_process() -> None:
    stream = Extractor(Person, model=MODEL, max_tokens=50).stream("x")
    for one in (stream, stream.events()):
        for way in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(pickle.PicklingError, match=r"^A (Stream|StreamIterator) is generated lazily, and"):
                way(one)


@pytest.mark.slow
def test_the_guide_shows_how_to_use_several_processes(tmp_path: Path) -> None:
    """The block of the guide, run as the script that it is."""
    (script,) = (
        block for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL) if "spawn" in block
    )
    (tmp_path / "people.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "people.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stdout.splitlines() == re.findall(r"# → (.*)", script)
