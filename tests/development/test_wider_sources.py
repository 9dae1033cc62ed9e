"""The samples from tables and other wide sources: answers stand in their texts.

The repositories themselves are not here; small ones of the same layouts are, written for these tests.
"""

import json
import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
from answers import texts
from jsonschema import Draft202012Validator

from training.examples import chat_and_answer
from training.generate import Sample
from training.sources import bills, figures, passages, places, songs, tables
from training.sources.named import queries

Read = Callable[[random.Random, Path], Iterator[Sample]]

KETTLES = r""""Maker","Kettle (l)","Made in","Pts"
"Holm \"Tea\" Works","1,200","Ouse[1]","12"
"Dahl","900","–","7"
"Berg","1,050","Long Bridge","3"
"""
SONG = {
    "title": "Tea Song",
    "sents": [
        ["Tea", "Song", "is", "a", "song", "by", "Ida", "Holm", ",", "released", "by", "Ouse", "Records", "."],
        ["It", "came", "out", "in", "May", "1950", "."],
    ],
    "vertexSet": [
        [{"type": "MISC", "sent_id": 0, "pos": [0, 2]}],
        [{"type": "PER", "sent_id": 0, "pos": [6, 8]}],
        [{"type": "ORG", "sent_id": 0, "pos": [11, 13]}],
        [{"type": "TIME", "sent_id": 1, "pos": [4, 6]}],
    ],
    "labels": [{"h": 0, "r": "P175", "t": 1}, {"h": 0, "r": "P264", "t": 2}, {"h": 0, "r": "P577", "t": 3}],
}
FILMS = "year,imdb,title\n1950,tt1,The Long Bridge\n1951,tt2,Tea &amp; Rain\n1952,tt3,The Mill\n"
HITS = "Song Clean,ARTIST CLEAN\nTea Song,Sting\nMill Song,The Kettles\nRain Song,The Kettles\nSlow/Fast,The Kettles\n"
QUERY = (
    "some\tO\nlike\tO\nthe\tB-Artist\nkettles\tI-Artist\ntea\tB-WoA\nsong\tI-WoA\n\nanything\tO\nslow\tO\nplease\tO\n"
)
ADDRESSES = """---
description: tea house
components: {house_number: 12, road: Elm Row, city: Ouse, postcode: 00501, state: Alaska, country: Tealand,
  cafe: The Kettle}
expected: |
    The Kettle
    12 Elm Row
    Ouse, AK 00501
    Tealand
---
description: a word of no part
components: {road: Mill Road, city: Berg, country: Tealand}
expected: |
    Mill Road
    tested Berg
    Tealand
"""
BRANDS = {
    "items": [
        {"displayName": "Kettle Shop", "locationSet": {"include": ["my", "de", "us"]}},
        {"displayName": "Ouse Mill (Berg)", "locationSet": {"include": ["my", "in"]}},
        {"displayName": "tested 茶", "locationSet": {"include": ["my"]}},
        {"template": "no brand"},
    ]
}
TEALAND = {
    "Introduction": {"Background": {"text": "It was a land of rivers and of tea for a long time. It had 3 kings."}},
    "Government": {"Country name": {"conventional short form": {"text": "Tealand"}}},
    "Geography": {
        "Area": {"total ": {"text": "1,200 sq km"}, "land": {"text": "about 900 sq km"}},
        "Elevation": {"mean elevation": {"text": "62 m"}},
        "Rivers": {
            f"river {name}": {"text": f"{length} km (2019 est.)"}
            for name, length in zip("abcdefghijklmnopqrstu", range(40, 61), strict=False)
        },
    },
    "Economy": {
        "Public debt": {"Public debt 2020": {"text": "40.5% of GDP (2020 est.)"}},
        "Exports": {"text": "$3.5 billion (2021)"},
    },
}

FILES = {
    "figures/europe/tl.json": json.dumps(TEALAND),
    "figures/europe/no.json": json.dumps(TEALAND | {"Government": {}}).replace("Tealand", "tested"),
    "bills/data/brands/shop/tea.json": json.dumps(BRANDS),
    "places/testcases/countries/tl.yaml": ADDRESSES.replace("00501", "'00501'", 1),
    "queries/data/dataset1/ground-truth.bio": QUERY,
    "songs/classic-rock/classic-rock-song-list.csv": HITS,
    "songs/bechdel/movies.csv": FILMS,
    "a+corpora/data/music/genres.json": json.dumps({"genres": ["Tea rock", "Mill"]}),
    "a+corpora/data/music/instruments.json": json.dumps({"instruments": ["kettle", "spoon"]}),
    "a+corpora/data/books/bestsellers.json": json.dumps({"books": [{"title": "The Ouse", "author": "Ida Holm"}]}),
    "a+corpora/data/film-tv/tv_shows.json": json.dumps({"tv_shows": ["Rainy Days"]}),
    "passages/data/dev_revised.json": json.dumps([SONG]),
    "passages/data/test_revised.json": json.dumps([SONG]).replace("song", "tested"),
    "tables/csv/200-csv/1.csv": KETTLES,
    "tables/csv/200-csv/2.csv": KETTLES.replace("Holm", "tested"),
    "tables/data/pristine-unseen-tables.tsv": "id\tutterance\tcontext\nq\twho?\tcsv/200-csv/2.csv\n",
}

SOURCES: dict[str, Read] = {
    "bills": bills.samples,
    "figures": figures.samples,
    "passages": passages.samples,
    "places": places.samples,
    "queries": queries,
    "songs": songs.samples,
    "tables": tables.samples,
}


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    """A folder with the small repositories."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def drawn(repositories: Path, name: str) -> list[Sample]:
    """Return samples of a source, drawn several times."""
    return [
        sample for seed in range(20) for sample in islice(SOURCES[name](random.Random(seed), repositories / name), 60)
    ]


@pytest.mark.parametrize("name", SOURCES)
def test_answers_are_of_their_types_and_stand_in_their_texts(repositories: Path, name: str) -> None:
    """Some are absent, and no test file is read."""
    samples = drawn(repositories, name)
    assert any(texts(sample.answer) for sample in samples)
    for sample in samples:
        Draft202012Validator(sample.schema).validate(sample.answer)
        for text in texts(sample.answer):
            assert text in " ".join(sample.document.split()) or f'"{text}"' in json.dumps(sample.schema)
        assert "tested" not in sample.document
        chat_and_answer(sample, random.Random(0))
    assert any(value in (None, []) for sample in samples for value in sample.answer.values())


def test_a_table_is_read_with_its_empty_cells_and_numbers(repositories: Path) -> None:
    """Notes are no part of a cell, and a number may be a text as printed or a true one."""
    table = tables.read(repositories / "tables/csv/200-csv/1.csv")
    assert table is not None
    assert table.rows[0] == ('Holm "Tea" Works', "1,200", "Ouse", "12")
    answers = json.dumps([sample.answer for sample in drawn(repositories, "tables")])
    assert all(shown in answers for shown in ('"1,200"', " 1200", "null", '"Long Bridge"'))


def test_a_passage_is_asked_for_its_names_and_for_what_it_says_of_one(repositories: Path) -> None:
    samples = drawn(repositories, "passages")
    about_song = [sample for sample in samples if "Tea Song" in sample.schema.get("description", "")]
    assert {text for sample in about_song for text in texts(sample.answer)} == {"Ida Holm", "Ouse Records", "May 1950"}
    assert any("Tea Song" in texts(sample.answer) for sample in samples)


def test_names_in_a_composed_text_are_listed_by_their_kinds(repositories: Path) -> None:
    """Artists are no bands, titles lose the signs of a web page, and a name with a slash is left out."""
    found: dict[str, set[str]] = {"artist": set(), "band": set(), "film": set(), "song": set()}
    for sample in drawn(repositories, "songs"):
        for kind, names in found.items():
            names.update(sample.answer.get(kind, ()))
    assert found["artist"] == {"Sting"}
    assert found["band"] == {"The Kettles"}
    assert found["film"] == {"The Long Bridge", "Tea & Rain", "The Mill"}
    assert found["song"] == {"Tea Song", "Mill Song", "Rain Song"}


def test_composed_texts_have_no_albums_where_the_tables_are_missing(repositories: Path) -> None:
    samples = drawn(repositories, "songs")
    assert not any("album" in json.dumps(sample.schema) for sample in samples)
    assert not any(" II" in sample.document for sample in samples)
    table = repositories / "b+WikiTableQuestions/csv/200-csv/1.csv"
    table.parent.mkdir(parents=True)
    table.write_text('"Album","Year","Pts"\n"Slow Rivers","1950","7"\n"Tea","1951","3"\n', encoding="utf-8")
    assert any("Slow Rivers" in texts(sample.answer) for sample in drawn(repositories, "songs"))


def test_composed_texts_need_a_second_repository(repositories: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repositories / "a+corpora").rename(repositories / "elsewhere")
    assert drawn(repositories, "songs") == []
    assert "dariusk/corpora: not there" in capsys.readouterr().out


def test_an_address_is_taken_where_its_parts_make_up_all_of_it() -> None:
    """A code may stand for the state."""
    known = {"road": "Elm Row", "house_number": "12", "city": "Ouse", "state": "Alaska", "cafe": "The Kettle"}
    assert places.parts("The Kettle\n12 Elm Row\nOuse, AK", known) == {
        "name": "The Kettle",
        "number": "12",
        "street": "Elm Row",
        "city": "Ouse",
        "state": "AK",
    }
    assert places.parts("The Kettle\n12 Elm Row\nOuse, near Berg", known) is None


@pytest.mark.parametrize(
    ("country", "code"), [("United States of America", "USA"), ("United States", "USA"), ("United Kingdom", "UK")]
)
def test_a_code_of_the_country_is_no_state(country: str, code: str) -> None:
    known = {"road": "Elm Row", "house_number": "12", "city": "Ouse", "postcode": "00501", "county": "Suffolk"}
    known["country"] = country
    assert places.parts(f"12 Elm Row\nOuse 00501\n{code}", known) is None
    found = places.parts(f"12 Elm Row\nOuse NY 00501\n{country}", known)
    assert found is not None
    assert (found["state"], found["country"]) == ("NY", country)


def test_a_sum_is_asked_for_as_printed_or_as_a_number_in_the_marks_of_its_country(repositories: Path) -> None:
    answers = [sample.answer for sample in drawn(repositories, "bills")]
    totals = [answer["total"] for answer in answers if answer.get("total") is not None]
    assert any(isinstance(total, float) for total in totals)
    assert any(str(total).endswith(",00") for total in totals)
    assert any("." in str(total) for total in totals if isinstance(total, str))
    companies = {answer["company"].lower() for answer in answers if answer.get("company")}
    assert any(company.startswith("ouse mill") for company in companies)


def test_a_figure_is_read_with_its_number_unit_and_year(repositories: Path) -> None:
    """What is no single figure is left out, and sentences with numbers are no part of a text."""
    country = figures.read(repositories / "figures/europe/tl.json")
    assert country is not None
    assert country.sentences == ("It was a land of rivers and of tea for a long time.",)
    found = {figure.what: figure for figure in country.figures}
    assert "Area, land" not in found
    area, debt, exports = found["Area, total"], found["Public debt"], found["Exports"]
    assert (area.number, area.unit, area.year) == ("1,200", "sq km", None)
    assert (debt.quantity, debt.unit, debt.year) == ("40.5%", "%", "2020")
    assert (exports.quantity, exports.number, exports.unit) == ("$3.5 billion", "3.5 billion", "$")
