"""The benchmark of a real model: what it leaves out is left out, and its table adds up."""

from doubles import ByteTokenizer

from benchmarks.gold import records
from benchmarks.real_model import WAYS, Result, measure, table, whole_masks
from structured.automata import RegularAutomaton
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import ScriptedModel
from structured.regex import literal
from structured.vocabulary import Vocabulary

RECORDS = [record for record in records("held_out") if type(record.value).__name__ == "Person"][:2]


def test_whole_masks_have_other_spellings() -> None:
    """Which masks leave out otherwise."""
    index = Index(RegularAutomaton(literal('{"name": "x"}')), Vocabulary.from_tokenizer(ByteTokenizer()))
    guide = Guide(index, max_tokens=60)
    canonical = guide.mask().tolist()
    with whole_masks():
        assert guide.mask().tolist() != canonical
        assert guide.mask().tolist() == index.mask(guide.state).tolist()
    assert guide.mask().tolist() == canonical


def test_right_fields_are_counted() -> None:
    """A model that writes the right answer to one of two documents, and that to no other."""
    right = RECORDS[0].value.model_dump_json()
    model = ScriptedModel(right)
    for way in ("structured, one by one", "structured, batches of 16", "without repetition control"):
        result = measure(model, way, type(RECORDS[0].value), RECORDS)
        assert result.documents == 2
        assert result.invalid == 0
        assert 5 <= result.right < result.fields == 10


def test_the_table_compares_with_outlines() -> None:
    """By documents a second, over all types."""
    ways = list(WAYS)
    results = [
        Result(way, name, 2, 3, 4, way.startswith("Outlines"), seconds, [])
        for way, seconds in zip(ways[:4], (1.0, 0.5, 3.0, 2.5), strict=True)
        for name in ("Person", "Event")
    ]
    lines = list(table(results))
    assert lines[2] == "| structured, one by one | 4 | 6 of 8 (75.0%) | 0 | 2.000 | 3.00 × | 2.50 × |"
    assert lines[4] == "| Outlines, one by one | 4 | 6 of 8 (75.0%) | 2 | 0.667 | 1.00 × | 0.83 × |"
