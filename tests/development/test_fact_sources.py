"""The samples of facts, effects of drugs, articles, venues, products, orders and names: answers stand in their texts.

The repositories themselves are not here; small ones of the same layouts are, written for these tests.
"""

import json
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from answers import texts
from jsonschema import Draft202012Validator

from training.examples import chat_and_answer
from training.generate import Sample
from training.sources import adverse, encyclopedia, facts, named, orders, products, venues

Read = Callable[[random.Random, Path], Iterator[Sample]]


def row(place: int, label: str, marked: str) -> str:
    """Return a row of the table of facts."""
    cells = ["1", "7", str(place), str(place + 50), "0", "1", "2", "3", label, f"<p> {marked}</p>"]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def marked(text: str, subject: str, object_: str) -> str:
    """Return a text with its two ends marked."""
    text = text.replace(subject, f'<span id="subject">{subject}</span>', 1)
    return text.replace(object_, f'<span id="object">{object_}</span>', 1)


LIFE = "Ida Holm, born on 3 May 1950 in Bergen, is a keeper of bridges."
COMPANIES = "Per Dahl founded Elm Row Ltd; Liv Moe founded Tea &amp; Sons."
TABLE = [
    row(0, "DATE_OF_BIRTH", marked(LIFE, "Ida Holm", "3 May 1950")),
    row(0, "PLACE_OF_BIRTH", marked(LIFE, "Ida Holm", "Bergen")),
    row(0, "SPOUSE", LIFE),
    row(90, "FOUNDED_BY", marked(COMPANIES, "Elm Row Ltd", "Per Dahl")),
    row(90, "FOUNDED_BY", marked(COMPANIES, "Tea &amp; Sons", "Liv Moe")),
]
CASE = "A 40-year-old woman had a rash after teatol 5 mg for gout."
EFFECT = {
    "event_type": "Adverse_event",
    "Subject": {
        "text": [["A 40-year-old woman"]],
        "start": [[0]],
        "Age": {"text": [["40-year-old"]], "start": [[2]]},
        "Gender": {"text": [["oman"]], "start": [[15]]},
    },
    "Treatment": {
        "text": [["teatol 5 mg for gout"]],
        "start": [[37]],
        "Drug": {"text": [["teatol"]], "start": [[37]]},
        "Dosage": {"text": [["5 mg"]], "start": [[44]]},
        "Disorder": {"text": [["teatol", "gout"]], "start": [[37, 53]]},
    },
    "Effect": {"text": [["rash"]], "start": [[26]]},
}
ARTICLE = {
    "title": "Ida Holm",
    "sents": [["Ida", "Holm", "(", "born", "3", "May", "1950", "in", "Bergen", ")", "wrote", "Long", "Bridges", "."]],
    "vertexSet": [
        [{"type": "PER", "pos": [0, 2], "sent_id": 0}],
        [{"type": "TIME", "pos": [4, 7], "sent_id": 0}],
        [{"type": "LOC", "pos": [8, 9], "sent_id": 0}],
        [{"type": "MISC", "pos": [11, 13], "sent_id": 0}],
    ],
    "labels": [{"r": "P569", "h": 0, "t": 1}, {"r": "P19", "h": 0, "t": 2}, {"r": "P800", "h": 0, "t": 3}],
}
VENUES = """mr,ref
"name[Elm Row], eatType[pub], food[Fast food], customer rating[3 out of 5], familyFriendly[no]","Elm Row is a pub with
 fast food, rated 3 out of 5, and not for children."
"name[Tea House], area[riverside], near[Elm Row]",Tea House is by the Riverside near Elm Row.
"name[Cheap Talk], food[French]",Cheap Talk has cheap French food.
"name[Long Bridge], food[Indian], familyFriendly[yes]",Long Bridge has Indian food.
"name[Rainy Mill], food[Indian], familyFriendly[yes]",Rainy Mill has Indian food. Children aren't welcome.
"name[Slow Mill], food[Indian], familyFriendly[no]",Slow Mill has Indian food. Children aren't welcome.
"""
LAPTOPS = """# Invented
[["inform(name=elm 4;type=laptop;memory=8 gb;weight=1.2 kg)", "the elm 4 has 8 gb of memory and weighs 1.2 kg .", "x"],
["recommend(name=oak 5;type=laptop;isforbusinesscomputing=false;price=99 dollars)",
 "the oak 5 , not for business , costs 99 dollars .", "x"],
["inform(name=ash 6;type=laptop;battery=3 hour)", "the ash 6 lasts long", "x"]]
"""
TELEVISIONS = """[["inform(name=fir 7;type=television;hdmiport=2;hasusbport=true)",
"the fir 7 has 2 hdmi port -s and usb port -s .", "x"],
["?request(screensize)", "which size ?", "x"]]"""
MEDICAL = "Teatol\tB-Chemical\n-\tO\ninduced\tO\nlong\tB-Disease\nrash\tI-Disease\nin\tO\ncats\tO\n.\tO\n"
WEB = "# sent_id = 1\n# text = Ida\n1\tIda\tB-PER\t-\n2\tHolm\tI-PER\t-\n3\tlikes\tO\t-\n4\tBergen\tB-LOC\t-\n"


def dialogue(said: str, *calls: tuple[str, dict[str, Any]]) -> Any:
    """Return a dialogue of one turn in which the waiter makes calls."""
    marks = []
    for name, request in calls:
        marks.append({"name": "api_call", "value": name})
        marks.append({"name": "request", "value": json.dumps(request)})
    return {"utterances": [{"speaker": "user", "text": said, "annotations": marks}]}


OAT = {
    "menu_item_id": "matcha-latte-12",
    "quantity": "1",
    "attributes": [{"attribute_id": "milk-options", "option": "Oat  Milk"}],
}
MOCHA = {"menu_item_id": "mocha-3", "quantity": "1", "attributes": [{"attribute_id": "caffeine", "option": "Decaf"}]}
DIALOGUES = [
    dialogue("A matcha Latte with oat milk and a decaf mocha", ("add_order_item", OAT), ("add_order_item", MOCHA)),
    dialogue("No, a mocha decaf", ("add_order_item", MOCHA), ("update_order_item", {})),
    dialogue("An iced decaf mocha", ("add_order_item", MOCHA)),
    dialogue("Two decaf mochas", ("add_order_item", MOCHA)),
]

FILES: dict[str, Any] = {
    "orders/TM-4-2024/data/data_00.json": DIALOGUES,
    "adverse/data/json/train.json": {"context": CASE, "annotations": [{"events": [EFFECT]}]},
    "adverse/data/json/test.json": {"context": "tested", "annotations": []},
    "encyclopedia/data/dev_revised.json": [ARTICLE],
    "encyclopedia/data/test_revised.json": "tested",
    "venues/devset.csv": VENUES,
    "venues/testset_w_refs.csv": VENUES.replace("Elm", "tested"),
    "products/data/original/laptop/train.json": LAPTOPS,
    "products/data/original/tv/train.json": TELEVISIONS,
    "medical/data/BC5CDR-IOB/train.tsv": MEDICAL,
    "medical/data/BC5CDR-IOB/test.tsv": MEDICAL.replace("Teatol", "tested"),
    "web/en_ewt-ud-dev.iob2": WEB,
}
SOURCES: dict[str, Read] = {
    "facts": facts.samples,
    "adverse": adverse.samples,
    "encyclopedia": encyclopedia.samples,
    "venues": venues.samples,
    "products": products.samples,
    "orders": orders.samples,
    "medical": named.medical,
    "web": named.web,
}


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    """Small repositories in the layouts of the real ones."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    (tmp_path / "facts").mkdir()
    with zipfile.ZipFile(tmp_path / "facts/human_readable-v10-notest.zip", "w") as archive:
        archive.writestr("human_readable-v10-notest.html", "\n".join(TABLE))
    return tmp_path


def drawn(repositories: Path, name: str, seeds: int = 60) -> list[Sample]:
    """Return samples of one repository."""
    return [sample for seed in range(seeds) for sample in SOURCES[name](random.Random(seed), repositories / name)]


@pytest.mark.parametrize("name", SOURCES)
def test_answers_are_of_their_types_and_stand_in_their_texts(repositories: Path, name: str) -> None:
    """But for values of a list that the type gives, and days as ISO writes them. No test file is read."""
    samples = drawn(repositories, name)
    assert any(texts(sample.answer) for sample in samples)
    for sample in samples:
        Draft202012Validator(sample.schema).validate(sample.answer)
        listed = json.dumps(sample.schema)
        for text in texts(sample.answer):
            assert text in sample.document or f'"{text}"' in listed or text == "1950-05-03"
        assert "tested" not in sample.document
        chat_and_answer(sample, random.Random(0))


def test_a_fact_that_was_looked_for_in_vain_is_absent(repositories: Path) -> None:
    """A property that nobody looked for is not asked for; two facts of a kind are a list."""
    samples = drawn(repositories, "facts")
    lives = [sample.answer for sample in samples if sample.document == LIFE]
    assert {len(answer) for answer in lives} == {1, 2, 3}
    assert {"1950-05-03", "3 May 1950", "Bergen"} == {text for answer in lives for text in texts(answer)}
    founded = [one for one in samples if "What was founded by whom." in json.dumps(one.schema)]
    assert founded
    for sample in founded:
        (pairs,) = sample.answer.values()
        assert [len(pair) for pair in pairs] == [2, 2]
        assert set(texts(pairs)) == {"Elm Row Ltd", "Per Dahl", "Tea & Sons", "Liv Moe"}
    assert any("Tea & Sons" in texts(sample.answer) for sample in samples)


def test_names_of_one_thing_are_one_name() -> None:
    ends = [facts.End(*end) for end in (("Holm", ""), ("Ida Holm", "a"), ("she", ""), ("I. H.", "a"), ("Per", ""))]
    assert facts.distinct(ends) == ["Ida Holm", "Per"]


def test_parts_of_an_event_that_are_cut_or_in_pieces_are_not_asked_for(repositories: Path) -> None:
    found = {text for sample in drawn(repositories, "adverse") for text in texts(sample.answer)}
    assert found == {"A 40-year-old woman", "40-year-old", "teatol", "5 mg", "rash", "adverse"}


def test_an_article_is_asked_about_a_name_with_what_the_relations_say_of_it(repositories: Path) -> None:
    samples = drawn(repositories, "encyclopedia")
    assert {sample.schema["description"] for sample in samples} == {"What the text says of Ida Holm."}
    assert all("(born 3 May 1950" in sample.document for sample in samples)
    found = {text for sample in samples for text in texts(sample.answer)}
    assert found == {"3 May 1950", "1950-05-03", "Bergen", "Long Bridges"}


def test_a_venue_with_more_or_less_in_its_text_is_left_out(repositories: Path) -> None:
    samples = drawn(repositories, "venues")
    written = " ".join(sample.document for sample in samples)
    assert "Elm Row" in written
    assert "Tea House" in written
    assert "Slow Mill" in written
    assert not any(name in written for name in ("Cheap Talk", "Long Bridge", "Rainy Mill"))
    answers = json.dumps([sample.answer for sample in samples])
    assert '"fast food"' in answers
    assert ": 3" in answers
    assert "false" in answers
    assert "true" not in answers


def test_quantities_of_a_product_are_texts_or_numbers(repositories: Path) -> None:
    """A text that does not state all values is left out."""
    samples = drawn(repositories, "products")
    answers = json.dumps([sample.answer for sample in samples])
    assert all(value in answers for value in ('"8 gb"', ": 8", '"1.2 kg"', ": 1.2", ": 99", "false", "true"))
    assert not any("ash 6" in sample.document for sample in samples)
    assert any("2 hdmi ports and usb ports." in sample.document for sample in samples)


def test_tokens_of_medical_texts_are_joined(repositories: Path) -> None:
    assert any(sample.document.startswith("Teatol-induced") for sample in drawn(repositories, "medical"))
    assert {"Ida Holm likes Bergen"} == {sample.document for sample in drawn(repositories, "web")}


def test_an_order_that_was_changed_or_says_more_than_was_understood_is_left_out(repositories: Path) -> None:
    """What is read is in the words of the guest, and a drink without a kind of milk has none."""
    samples = drawn(repositories, "orders")
    assert {sample.document.partition(": ")[2] or sample.document for sample in samples} == {
        "A matcha Latte with oat milk and a decaf mocha"
    }
    assert {"matcha Latte", "oat milk", "mocha"} == {text for sample in samples for text in texts(sample.answer)}
