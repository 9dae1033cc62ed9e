"""The samples from annotated commands, bookings, papers, names and questions: answers stand in their texts.

The repositories themselves are not here; small ones of the same layouts are, written for these tests.
"""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from answers import texts
from jsonschema import Draft202012Validator

from training.examples import chat_and_answer
from training.generate import Sample
from training.sources import assistant, bookings, measurements, name_parts, reading
from training.sources.tei import Measurement, paragraphs

Read = Callable[[random.Random, Path], Iterator[Sample]]

FOLD = "CrossValidation/autoGeneFromRealAnno/auto/CrossValidation/KFold_1"
HEAD = "answerid;scenario;intent;answer_annotation;answer_from_anno;answer_from_user\n"
COMMANDS = """1;tea;make;"brew [tea_type : green tea] at [time : five]";"brew green tea at five";"Green tea at five!"
2;tea;make;"brew [tea_type : mint] and [tea_type : sage]";"brew mint and sage";"Brew mint and sage"
3;tea;make;"brew [tea_type : [time : odd]]";"brew odd";"Brew odd"
"""
BOOKINGS = [
    {
        "userInput": {"text": "8"},
        "context": {"requestedSlots": ["people"]},
        "labels": [{"slot": "people", "valueSpan": {"endIndex": 1}}],
    },
    {
        "userInput": {"text": "Lunch on Friday, please."},
        "labels": [{"slot": "date", "valueSpan": {"startIndex": 9, "endIndex": 15}}],
    },
]
ONTOLOGY = {
    "intents": {
        name: {"description": f"is the intent to {name}?", "domain": ["general"]} for name in ("ask", "book", "thank")
    },
    "slots": {
        "rooms": {"description": "How many rooms?", "domain": ["hotels"]},
        "company": {"description": "Which company?", "domain": ["banking"]},
    },
}
REQUESTS = [{"text": "Two rooms, thanks", "intents": ["thank"], "slots": {"rooms": {"text": "Two", "span": [0, 3]}}}]
PAPER = """<tei xmlns="http://www.tei-c.org/ns/1.0"><text>
<p>The bridge over the broad and slow river is <measure type="value"><num>40</num> <measure type="LENGTH" unit="m">m</measure></measure>
long and carries <measure type="interval"><num atLeast="2">2</num>-<num atMost="3">3</num> <measure type="MASS" unit="t">t</measure></measure>,
by <measure type="value"><num>two</num></measure> lanes, since <measure type="value"><date when="1950">1950</date></measure>.</p>
<p>Nothing was measured in this paragraph, which is long enough to be asked about all the same.</p>
<p>A table is not read: <figure><table/></figure> although the text around it is long enough to be read.</p>
</text></tei>"""  # noqa: E501 - a paragraph of the corpus is one line, too
OBJECTS = """<text><p>After a long day of work <quantifiedObject id="a">the kettle</quantifiedObject> weighed
<measure type="value" ptr="#a">3 kg</measure>, and so did <measure type="value">4</measure> others.</p></text>"""
PERSONS = """<NameCollection>
<Name><PrefixOther>Dr.</PrefixOther> <GivenName>Ida</GivenName> <Surname>Holm,</Surname>
<SuffixOther>MD</SuffixOther></Name>
<Name><GivenName>Solo</GivenName></Name>
<Name><GivenName>Per</GivenName> <And>and</And> <GivenName>Liv</GivenName> <Surname>Dahl</Surname></Name>
<Name><GivenName>Ada</GivenName> <Surname>Twice</Surname> <GivenName>Eva</GivenName></Name>
</NameCollection>"""
COMPANIES = """<NameCollection>
<Name><CorporationName>elm</CorporationName> <CorporationName>row</CorporationName>
<CorporationLegalType>llc</CorporationLegalType></Name>
</NameCollection>"""
ARTICLES = {
    "data": [
        {
            "title": "Long_Bridge",
            "paragraphs": [
                {
                    "context": "The Long Bridge was built in 1950. It crosses the Ouse.",
                    "qas": [
                        {"question": "When was the Long Bridge built?", "answers": [{"text": "1950."}]},
                        {"question": "What river does it cross?", "answers": [{"text": "Ouse"}]},
                    ],
                }
            ],
        },
        {
            "title": "Kettle",
            "paragraphs": [
                {
                    "context": "The first kettle was made by Ida Holm.",
                    "qas": [{"question": "Who made the first kettle of Bergen?", "answers": [{"text": "Ida Holm"}]}],
                }
            ],
        },
    ]
}

FILES: dict[str, Any] = {
    f"assistant/{FOLD}/trainset/tea_make.csv": HEAD + COMMANDS * assistant.LEAST,
    f"assistant/{FOLD}/testset/csv/tea_make.csv": HEAD + COMMANDS.replace("mint", "tested"),
    "bookings/span_extraction/restaurant8k/train_0.json": BOOKINGS,
    "bookings/span_extraction/restaurant8k/test.json": [{"userInput": {"text": "tested"}}] * 9,
    "bookings/nlupp/data/ontology.json": ONTOLOGY,
    "bookings/nlupp/data/hotels/fold0.json": REQUESTS,
    "measurements/resources/dataset/quantities/corpus/a.xml": PAPER,
    "measurements/resources/dataset/quantities/evaluation/b.xml": PAPER.replace("bridge", "tested"),
    "measurements/resources/dataset/quantifiedObject/corpus/staging/c.xml": OBJECTS,
    "name_parts/name_data/labeled/person_labeled.xml": PERSONS,
    "name_parts/name_data/labeled/company_labeled.xml": COMPANIES,
    "reading/xquad.en.json": ARTICLES,
}

SOURCES: dict[str, Read] = {
    "assistant": assistant.samples,
    "bookings": bookings.samples,
    "measurements": measurements.samples,
    "name_parts": name_parts.samples,
    "reading": reading.samples,
}


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    """Small repositories in the layouts of the real ones."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return tmp_path


def drawn(repositories: Path, name: str, seeds: int = 40) -> list[Sample]:
    """Return samples of one repository."""
    return [sample for seed in range(seeds) for sample in SOURCES[name](random.Random(seed), repositories / name)]


@pytest.mark.parametrize("name", SOURCES)
def test_answers_are_of_their_types_and_stand_in_their_texts(repositories: Path, name: str) -> None:
    """But for values of a list that the type gives. Some are absent, and no test file is read."""
    samples = drawn(repositories, name)
    assert any(texts(sample.answer) for sample in samples)
    for sample in samples:
        Draft202012Validator(sample.schema).validate(sample.answer)
        listed = json.dumps(sample.schema)
        for text in texts(sample.answer):
            assert text in sample.document or f'"{text}"' in listed
        assert "tested" not in sample.document
        chat_and_answer(sample, random.Random(0))
    assert any(value in (None, []) for sample in samples for value in sample.answer.values())


def test_a_command_is_given_as_annotated_or_as_written(repositories: Path) -> None:
    """With the capitals of the text, a list where a slot has two values, and no annotation in an annotation."""
    samples = drawn(repositories, "assistant")
    assert {sample.document for sample in samples} == {
        "brew green tea at five",
        "Green tea at five!",
        "brew mint and sage",
        "Brew mint and sage",
    }
    answers = [value for sample in samples for value in sample.answer.values()]
    assert "Green tea" in answers
    assert ["mint", "sage"] in answers


def test_a_short_reply_comes_with_what_was_asked_for(repositories: Path) -> None:
    """Who reads "8" alone cannot know that it is the number of guests."""
    samples = drawn(repositories, "bookings")
    assert all("people" in (sample.instructions or "") for sample in samples if sample.document == "8")
    assert any(sample.document == "8" for sample in samples)


def test_intents_are_those_of_the_utterance_in_the_order_of_the_type(repositories: Path) -> None:
    samples = [sample for sample in drawn(repositories, "bookings") if sample.kind == "nlupp hotels"]
    assert {tuple(value) for sample in samples for value in sample.answer.values() if isinstance(value, list)} == {
        ("thank",)
    }
    assert "Two" in {text for sample in samples for text in texts(sample.answer)}
    assert not any("company" in json.dumps(sample.schema) for sample in samples)


def test_measurements_are_read_with_numbers_units_ranges_and_subjects(repositories: Path) -> None:
    """Dates are no measurements, and a paragraph with a table is left out."""
    folder = repositories / "measurements/resources/dataset"
    measured, empty = paragraphs(folder / "quantities/corpus/a.xml")
    assert measured.measurements == (
        Measurement("40 m", "40", "m", "length"),
        Measurement("2-3 t", "2-3", "t", "mass", "2", "3"),
        Measurement("two", "two"),
    )
    assert empty.measurements == ()
    (other,) = paragraphs(folder / "quantifiedObject/corpus/staging/c.xml")
    assert other.measurements == (Measurement("3 kg", subject="the kettle"), Measurement("4"))


def test_measurements_without_a_unit_are_in_the_answer_only_where_the_type_says_so(repositories: Path) -> None:
    for sample in drawn(repositories, "measurements"):
        if "two" in texts(sample.answer):
            assert any(words in json.dumps(sample.schema) for words in ("and counts", "if it has one"))


def test_names_that_nobody_could_take_apart_are_left_out(repositories: Path) -> None:
    """Those of two people, of one word and with a part in two places; signs around a part are not of it."""
    samples = drawn(repositories, "name_parts")
    documents = " ".join(sample.document for sample in samples)
    assert "Dr. Ida Holm, MD" in documents
    assert "elm row llc" in documents
    assert not any(name in documents for name in ("Solo", "Dahl", "Twice"))
    assert {"Dr.", "Ida", "Holm", "MD", "elm row", "llc"} == {text for one in samples for text in texts(one.answer)}


def test_a_field_is_described_by_its_question_and_null_where_another_article_answers_it(repositories: Path) -> None:
    for sample in drawn(repositories, "reading"):
        for name, value in sample.answer.items():
            question = sample.schema["properties"][name]["description"]
            right = {"When was the Long Bridge built?": "1950", "What river does it cross?": "Ouse"}
            is_here = (question in right) == ("Long Bridge" in sample.document)
            assert value == (right.get(question, "Ida Holm") if is_here else None)


def test_names_of_fields_are_made_of_words_of_the_question() -> None:
    names = {
        reading.field_name(random.Random(seed), "How many boats crossed the Ouse's mouth in May?") for seed in range(30)
    }
    assert {"number_of_boats", "number_of_boats_crossed"} <= names
    assert all(1 <= len(name.split("_")) <= 4 for name in names)
    assert reading.field_name(random.Random(0), "When was Temüjin elected khan?").find("temujin") > 0
