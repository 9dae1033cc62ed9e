"""The measuring of models: what counts as right, and the table of the model card."""

import pytest

from structured.models.scripted import ScriptedModel
from training.evaluate import RESULTS, Report, card, evaluate_call, summary
from training.generate import Sample

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "ages": {"type": "array", "items": {"type": "integer"}}},
    "required": ["name", "ages"],
}


ANSWER = {"name": "Ana", "ages": [31, 4]}


def report_of(*answers):
    """A report of a sample whose answer is Ana, 31 and 4."""
    report = Report()
    for kind, answer in answers:
        report.add(Sample(kind, SCHEMA, "Ana 31 4", ANSWER, None), answer, tokens=5)
    return report


def test_wrong_missing_and_superfluous_fields_count_against_a_model():
    wrong = {"name": "Bob", "ages": [31, 4, 9]}
    report = report_of(("known kinds", ANSWER), ("known kinds", wrong), ("unseen kinds", None))
    assert report.total.row("all") == "| all | 3 | 11 | 45.5% | 33.3% |"
    assert report.kinds["known kinds"].row("known") == "| known | 2 | 7 | 71.4% | 50.0% |"
    assert [failure["answer"] for failure in report.failures] == [wrong, None]
    assert report.tokens == 15


def test_the_card_gets_a_row_for_each_part_and_keeps_its_text(tmp_path):
    reports = {
        "kinds": report_of(("lease", None)),
        "handwritten": report_of(("known kinds", ANSWER), ("unseen kinds", ANSWER)),
    }
    path = tmp_path / "README.md"
    path.write_text(f"# é\n{RESULTS}\nold\n{RESULTS}\nend\n", encoding="utf-8")
    card(path, summary(reports))
    before, results, after = path.read_text(encoding="utf-8").split(RESULTS)
    assert (before, after) == ("# é\n", "\nend\n")
    assert [row.split("|")[1].strip() for row in results.strip().splitlines()[2:]] == [
        "Unseen kinds of record",
        "Sixty documents written by hand, known kinds",
        "Sixty documents written by hand, unseen kinds",
    ]


@pytest.mark.parametrize("grounded", [False, True])
def test_a_model_is_asked_as_extract_asks(grounded):
    """And without `grounded` where the document does not state what has to be there."""
    samples = [Sample("any", {"type": "integer"}, document, 4, None) for document in ("She is 4.", "Nobody.")]
    total = evaluate_call(ScriptedModel(lambda _prompt: "4"), samples, grounded=grounded).total
    assert (total.objects, total.objects_right) == (2, 2)
