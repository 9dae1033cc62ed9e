"""The notebook is true: it runs from nothing, and shows what it has stored.

`python tests/project/test_notebook.py` runs it and stores what it shows.
"""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "quickstart.ipynb"
CELLS = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
PERCENTAGE = re.compile(r"\d+(?=%)")
CLOSE = 2
"""Percentage points by which a confidence may differ from machine to machine."""


def executed(folder: str | Path) -> Any:
    """Return the notebook with what its cells show when a new process runs them in a folder."""
    import nbclient
    import nbformat

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    metadata, resources = dict(notebook.metadata), {"metadata": {"path": folder}}
    nbclient.NotebookClient(
        notebook, timeout=300, record_timing=False, coalesce_streams=True, resources=resources
    ).execute()
    notebook.metadata = metadata
    return notebook


def code_cells(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [cell for cell in cells if cell["cell_type"] == "code"]


def joined(text: Any) -> Any:
    """Return a text that is stored line by line as one."""
    return "".join(text) if isinstance(text, list) else text


def shown(cell: dict[str, Any]) -> tuple[str, list[int]]:
    """Return what a cell shows without its percentages, and these."""
    outputs = [output.get("data") or {"text": output["text"]} for output in cell["outputs"]]
    text = json.dumps([{kind: joined(text) for kind, text in sorted(output.items())} for output in outputs])
    return PERCENTAGE.sub("", text), [int(one) for one in PERCENTAGE.findall(text)]


@pytest.mark.thorough
def test_the_notebook_shows_what_it_has_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the packaged model, each cell does what readers see without running it."""
    pytest.importorskip("nbclient", reason="nbclient, of the extra test, runs notebooks.")
    pytest.importorskip("ipykernel", reason="ipykernel, of the extra test, is the process that runs a notebook.")
    monkeypatch.delenv("STRUCTURED_MODEL", raising=False)
    run = code_cells(executed(tmp_path).cells)
    for number, (cell, stored) in enumerate(zip(run, code_cells(CELLS), strict=True), 1):
        (words, percentages), (stored_words, stored_percentages) = shown(cell), shown(stored)
        assert words == stored_words, f"cell {number}"
        assert percentages == pytest.approx(stored_percentages, abs=CLOSE), f"cell {number}"
    assert "Invoices to check" in (tmp_path / "review.html").read_text(encoding="utf-8")


def test_the_notebook_has_ten_cells_that_were_run_in_order() -> None:
    """The text above each has its number, and nothing tells where it was run."""
    cells = code_cells(CELLS)
    assert [cell["execution_count"] for cell in cells] == [*range(1, 11)]
    assert not any(cell["metadata"] for cell in CELLS)
    assert not re.search(r"/(?:tmp|home|root|Users|usr)/", json.dumps(cells))
    text = "\n".join(joined(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown")
    assert re.findall(r"^\*\*(\d+)\.\*\*", text, flags=re.MULTILINE) == [str(number) for number in range(1, 11)]
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    assert all((NOTEBOOK.parent / link).is_file() for link in links)


if __name__ == "__main__":
    import nbformat

    with TemporaryDirectory() as anywhere:
        nbformat.write(executed(anywhere), NOTEBOOK)
