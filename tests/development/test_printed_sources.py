"""The samples from offices, protocols, recipes and printed papers: answers stand in their texts.

The repositories themselves are not here; small ones of the same layouts are, written for these tests.
"""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from answers import texts
from jsonschema import Draft202012Validator

from training.examples import chat_and_answer
from training.generate import Sample
from training.sources import ingredients, mixture, offices, papers, protocols, receipts, references, us_addresses
from training.sources.brat import annotated
from training.sources.marked import bare

Read = Callable[[random.Random, Path], Iterator[Sample]]

PERSON = """name: Ida Holm
email: ida@example.org
roles:
- type: mayor
offices:
- classification: primary
  address: 12 N. Elm Row Ave. Suite 4;Long Bridge, AK 00501
  voice: 555-000-1234
  fax: 555-000-1235
"""
DOUBTFUL = """name: Per Dahl
offices:
- classification: primary
  address: Highway 9 behind the mill, Ouse, AK 00502
  voice: 555-000-9876
"""
MEMBERS = """- id: {bioguide: X1}
  name: {official_full: Liv Berg}
"""
DISTRICTS = """- id: {bioguide: X1}
  offices:
  - address: 7 Mill Road
    suite: Room 2
    city: Ouse
    state: AK
    zip: '00502'
    phone: 555-000-4321
"""
STEPS = "Brewing tea\nBoil 200 ml water in the kettle for 5 min.\nAdd 2 g leaves to the pot.\nPour it at 90 °C.\n"


def spans(text: str, *labelled: str) -> str:
    """Return the lines of `.ann` for `Label: words`, each the first place of its words."""
    lines = []
    for number, said in enumerate(labelled, start=1):
        label, _, words = said.partition(": ")
        start = text.index(words)
        lines.append(f"T{number}\t{label} {start} {start + len(words)}\t{words}")
    return "\n".join(lines)


BOILED = spans(
    STEPS,
    "Action: Boil",
    "Amount: 200 ml",
    "Reagent: water",
    "Device: kettle",
    "Time: 5 min",
    "Action: Add",
    "Amount: 2 g",
    "Reagent: leaves",
    "Location: pot",
    "Action: Pour",
    "Temperature: 90 °C",
)
RELATED = (
    "\nE1\tAction:T1 \nR1\tMeasure Arg1:T3 Arg2:T2\t\nR2\tSetting Arg1:E1 Arg2:T5\t\nR3\tMeasure Arg1:T8 Arg2:T7\t\n"
)
SYNTHESIS = "10.0/tea\nTea\nFirst, leaves (5 g) were dried at 60 degC for 2 h. Then the leaves were ground in a mill.\n"
SYNTHESIZED = (
    spans(
        SYNTHESIS,
        "Material: leaves",
        "Number: 5",
        "Amount-Unit: g",
        "Operation: dried",
        "Number: 60",
        "Condition-Unit: degC",
        "Number: 2",
        "Condition-Unit: h",
    )
    .replace("g)", "g")
    .replace("h.", "h")
)
CITED = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><listBibl>
<bibl><author>Holm, I.</author> (<date>1950</date>). <title level="a">On the colour of kettles</title>.
<title level="j">Journal of Tea</title>, <biblScope unit="volume">3</biblScope>, pp.
<biblScope unit="page">4-9</biblScope>.</bibl>
</listBibl></TEI>"""
SEQUENCES = """<dataset><sequence><author>Dahl, P.</author><date>(1951).</date>
<title>“A history of the long bridge.”</title><container-title>In Works on bridges,</container-title>
<pages>pp. 7–8.</pages><location>Bergen:</location><publisher>Elm Press.</publisher></sequence></dataset>"""
HEAD = """<tei><text><front><docTitle><titlePart>How kettles<lb/> came to Bergen<lb/></titlePart></docTitle>
<byline><docAuthor>Ida Holm<lb/></docAuthor></byline> <byline><affiliation>1 School of Tea,</affiliation></byline>
<address>4 Elm Row,<lb/> Bergen<lb/></address> <email>ida@example.org<lb/></email>
<div type="abstract">We tell what was never asked.</div></front></text></tei>"""
PLACES = """<tei><affiliation><orgName type="department">School of Tea</orgName>,
<orgName type="institution">University of Elm Row</orgName>, <lb/><address><settlement>Bergen</settlement>
<postCode>5003</postCode>, <country>Norway</country></address></affiliation></tei>"""
THANKS = """<acknowledgments><acknowledgment>We thank <individual>Per Dahl</individual> for his kettle. Paid by the
<funder>Elm Fund</funder> (<grantNumber>K-12</grantNumber>).</acknowledgment></acknowledgments>"""
AUTHORS = """<tei><author><persName><forename>Ida</forename> <middlename>B.</middlename>
<surname>Holm</surname></persName>
<marker>1</marker> and <persName><forename>Per</forename> <surname>Dahl</surname></persName></author></tei>"""
RECIPES = """input,name,quantity,unit,size,preparation,comment,purpose
"2½ tbsps mint, washed",mint,2#1$2,tbsp,,washed,,
"3 large lemons, for the tea",lemons,3,,large,,,for the tea
2 cups tea or 3 cups milk,tea,2,cup,,,,
Untold sugar,,,,,,,
"""
PLACES_OF_COUNTRIES = """# Norway
---
description: a mill
expected: |
    Old Mill
    Elm Row 4
    5003 Bergen
    Norway
---
description: a place without lines
expected: |
    Norway
"""

_TRAINER = "printed/grobid-trainer/resources/dataset"
FILES = {
    "offices/data/ak/municipalities/a.yml": PERSON,
    "offices/data/ak/municipalities/b.yml": DOUBTFUL,
    "districts/legislators-current.yaml": MEMBERS,
    "districts/legislators-district-offices.yaml": DISTRICTS,
    "biology/train/a.txt": STEPS,
    "biology/train/a.ann": BOILED + RELATED,
    "biology/test/b.txt": "Stir what was tested for 5 min.",
    "biology/test/b.ann": "",
    "chemistry/data/a.txt": SYNTHESIS,
    "chemistry/data/a.ann": SYNTHESIZED
    + "\nE1\tOperation:T4 \nR1\tNumber_Of Arg1:T2 Arg2:T3\nR2\tAmount_Of Arg1:T3 Arg2:T1\n"
    + "R3\tNumber_Of Arg1:T5 Arg2:T6\nR4\tCondition_Of Arg1:T6 Arg2:E1\n"
    + "R5\tNumber_Of Arg1:T7 Arg2:T8\nR6\tCondition_Of Arg1:T8 Arg2:E1\n",
    "chemistry/data/b.txt": "10.0/tea\nTea\nIt was tested. Then it was tested again.\n",
    "chemistry/data/b.ann": "",
    "chemistry/ner-test-fnames.txt": "b\n",
    "recipes/train/data/tea/tea.csv": RECIPES,
    "cited/res/parser/core.xml": SEQUENCES,
    "places/testcases/countries/no.yaml": PLACES_OF_COUNTRIES,
    f"{_TRAINER}/citation/corpus/a.xml": CITED,
    f"{_TRAINER}/header/corpus/tei/a.xml": HEAD,
    f"{_TRAINER}/affiliation-address/corpus/a.xml": PLACES,
    f"{_TRAINER}/funding-acknowledgement/corpus/a.xml": THANKS,
    f"{_TRAINER}/name/header/corpus/a.xml": AUTHORS,
}

SOURCES: dict[str, tuple[Read, str]] = {
    "offices": (offices.samples, "offices"),
    "districts": (offices.samples, "districts"),
    "biology": (protocols.samples, "biology"),
    "chemistry": (protocols.samples, "chemistry"),
    "recipes": (ingredients.samples, "recipes"),
    "cited": (references.samples, "cited"),
    "references": (references.samples, "printed"),
    "papers": (papers.samples, "printed"),
    "receipts": (receipts.samples, "places"),
}


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    """Small repositories in the layouts of the real ones."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return tmp_path


def drawn(repositories: Path, name: str, seeds: int = 60) -> list[Sample]:
    """Return samples of one source."""
    read, folder = SOURCES[name]
    seeds = 1 if name == "receipts" else seeds
    return [sample for seed in range(seeds) for sample in read(random.Random(seed), repositories / folder)]


@pytest.mark.parametrize("name", SOURCES)
def test_answers_are_of_their_types_and_stand_in_their_texts(repositories: Path, name: str) -> None:
    """But for values of a list that the type gives; lines are joined by spaces. No test file is read."""
    samples = drawn(repositories, name)
    assert any(texts(sample.answer) for sample in samples)
    for sample in samples:
        Draft202012Validator(sample.schema).validate(sample.answer)
        listed = json.dumps(sample.schema)
        for text in texts(sample.answer):
            assert text in " ".join(sample.document.split()) or f'"{text}"' in listed
        assert "tested" not in sample.document
        chat_and_answer(sample, random.Random(0))


def said(repositories: Path, name: str) -> set[str]:
    """Return all texts in the answers of a source."""
    return {text for sample in drawn(repositories, name) for text in texts(sample.answer)}


def test_an_address_is_taken_apart_only_where_no_part_is_in_doubt() -> None:
    assert us_addresses.parts("12 N. Elm Row Ave. Suite 4, Long Bridge, AK 00501") == {
        "number": "12",
        "direction": "N.",
        "street": "Elm Row",
        "street_type": "Ave.",
        "unit_type": "Suite",
        "unit": "4",
        "city": "Long Bridge",
        "state": "AK",
        "zip_code": "00501",
    }
    assert us_addresses.parts("Tea House; 3 East St. NW; 2nd Floor; Ouse, AK 00502-1234") == {
        "building": "Tea House",
        "number": "3",
        "street": "East",
        "street_type": "St.",
        "post_direction": "NW",
        "unit_type": "Floor",
        "unit": "2nd",
        "city": "Ouse",
        "state": "AK",
        "zip_code": "00502-1234",
    }
    for line in (
        "Room 2, 12 Elm Row Suite 4, Ouse, AK 00502",
        "12 Elm Street Mill Road, Ouse, AK 00502",
        "9 Highway 12, Ouse, AK 00502",
        "12 Elm Row Ave. Ouse",
        "",
    ):
        assert us_addresses.parts(line) is None


def test_an_address_loses_letters_and_parts_in_the_document_and_in_the_answer_alike(repositories: Path) -> None:
    found = said(repositories, "offices")
    assert {"12", "N.", "Elm Row", "ELM ROW", "Long Bridge", "00501", "Ida Holm", "555-000-1234"} <= found
    documents = {sample.document for sample in drawn(repositories, "offices") if sample.kind == "addresses"}
    assert any("00501" not in document for document in documents)
    assert not any("Highway" in document for document in documents)
    assert {"7", "Mill", "Road", "Room", "2"} <= said(repositories, "districts")


def test_quantities_have_what_they_are_of(repositories: Path) -> None:
    """A time is of what is done, an amount of a material; and a sentence with an unmarked quantity is left out."""
    items = [
        item
        for sample in drawn(repositories, "biology", seeds=200)
        for value in sample.answer.values()
        if isinstance(value, list)
        for item in value
        if isinstance(item, dict)
    ]
    pairs = {tuple(sorted(text for text in texts(item) if text not in ("amount", "duration"))) for item in items}
    assert ("5 min", "Boil") in pairs
    assert ("200 ml", "water") in pairs
    assert ("leaves",) not in pairs
    assert {"60 degC", "5 g", "2 h", "dried"} <= said(repositories, "chemistry")


def test_a_span_of_the_format_brat_is_what_its_borders_hold(repositories: Path) -> None:
    source = annotated(repositories / "biology/train/a.txt")
    assert source.spans["T2"].text == "200 ml"
    assert [(one.name, one.first, one.second) for one in source.relations] == [
        ("Measure", "T3", "T2"),
        ("Setting", "T1", "T5"),
        ("Measure", "T8", "T7"),
    ]


def test_lines_of_recipes_are_given_as_printed_or_left_out(repositories: Path) -> None:
    """A plural stays, a fraction is a sign again; a line with an untold rest is left out."""
    assert {"2½", "tbsps", "mint", "washed", "3", "large", "lemons", "for the tea"} == said(repositories, "recipes")
    assert not any("milk" in sample.document for sample in drawn(repositories, "recipes"))


def test_a_reference_loses_the_signs_around_its_parts(repositories: Path) -> None:
    assert {"Holm, I.", "1950", "On the colour of kettles", "Journal of Tea", "3", "4-9"} <= said(
        repositories, "references"
    )
    assert {
        "Dahl, P.",
        "1951",
        "A history of the long bridge",
        "Works on bridges",
        "7–8",
        "Bergen",
        "Elm Press",
    } <= said(repositories, "cited")


@pytest.mark.parametrize(
    ("part", "without"),
    [("(2011).", "2011"), ("Holm, I.", "Holm, I."), ("“Tea.”", "Tea"), ("f(x),", "f(x)"), ("Elm Co.", "Elm Co.")],
)
def test_signs_around_a_part_are_not_of_it(part: str, without: str) -> None:
    assert bare(part) == without


def test_a_first_page_is_asked_for_what_its_lines_state(repositories: Path) -> None:
    """In one line; without the mark of an affiliation, and without the abstract."""
    samples = drawn(repositories, "papers")
    found = {text for sample in samples for text in texts(sample.answer)}
    assert {"How kettles came to Bergen", "4 Elm Row, Bergen", "School of Tea", "Ida Holm", "ida@example.org"} <= found
    assert {"5003", "Norway", "Per Dahl", "Elm Fund", "K-12", "B."} <= found
    assert not any("never asked" in sample.document for sample in samples)


def test_a_receipt_asks_for_the_sum_to_pay_among_other_sums(repositories: Path) -> None:
    """And for the address of a real place, whose lines are joined or parted in other places."""
    samples = list(receipts.samples(random.Random(0), repositories / "places", count=300))
    addresses = {
        str(sample.answer["address"]).replace(",", "").upper() for sample in samples if "address" in sample.answer
    }
    assert any("ELM ROW 4" in address for address in addresses)
    assert not any("NORWAY" in address for address in addresses)
    both = [sample for sample in samples if {"total", "paid", "change"} <= sample.answer.keys()]
    changed = [sample for sample in both if all(sample.answer[name] for name in ("total", "paid", "change"))]
    assert any(sample.answer["total"] != sample.answer["paid"] for sample in changed)


def test_a_repository_is_found_by_its_whole_name(repositories: Path) -> None:
    """Not by the end of another one's."""
    (repositories / "offices").rename(repositories / "z+people")
    (repositories / "a+otherpeople").mkdir()
    assert {sample.kind for sample in mixture.mixture(repositories, 1)} == {"addresses", "offices"}
