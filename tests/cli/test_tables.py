"""Records as tables: one row for each document, and no value without a column."""

import csv
import io

from structured.cli.tables import write_csv


def table(*records):
    file = io.StringIO()
    write_csv(lambda: records, file)
    return list(csv.reader(io.StringIO(file.getvalue())))


def test_columns_are_known_from_all_records():
    """Lists grow, what is null in one has fields in another, and what is empty everywhere has a column."""
    rows = table(
        {"id": "a", "value": {"tags": ["x"], "home": None, "more": []}},
        {"id": "b", "value": {"tags": ["y", "z"], "home": {"city": "Porto"}, "more": []}},
    )
    assert rows == [
        ["_id", "_error", "tags[0]", "tags[1]", "home.city", "more"],
        ["a", "", "x", "", "", ""],
        ["b", "", "y", "z", "Porto", ""],
    ]


def test_cells_are_read_back_as_they_were():
    """Whatever stands in them; numbers and truth values as JSON."""
    texts = ['a "b", c', "two\nlines", " wide ", "\r", ""]
    assert table({"id": "1", "value": [*texts, 1.5, True]})[1] == ["1", "", *texts, "1.5", "true"]


def test_an_answer_of_one_value_has_a_column():
    """With its evidence."""
    evidence = {"": {"span": [0, 2], "match": "exact", "confidence": 0.5, "agreement": None}}
    extraction = {"document": "25 years", "evidence": evidence}
    rows = table(
        {"id": "a", "value": 25, "extraction": extraction}, {"id": "b", "error": {"kind": "E", "message": "m"}}
    )
    assert rows[0] == [
        "_id",
        "_error",
        "value",
        *(f"value:{x}" for x in ("quote", "start", "end", "match", "confidence")),
    ]
    assert rows[1] == ["a", "", "25", "25", "0", "2", "exact", "0.5"]
    assert rows[2] == ["b", "E: m", *[""] * 6]
