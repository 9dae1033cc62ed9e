"""The progress of a batch: shown where a person may be waiting, on stderr alone, and gone in the end."""

import logging
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from doubles import ByteTokenizer, Terminal, each_generation, random_logits
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from structured import Chunking, Extractor, extract, extract_batch, write_results
from structured.errors import PromptError
from structured.extraction import batch_state as progress_bar
from structured.extraction.batch_state import BatchState, showing
from structured.extraction.events import Progress
from structured.models import FunctionModel

TOKENIZER = ByteTokenizer()
LOGITS = random_logits(len(TOKENIZER.tokens))
MODEL = FunctionModel(LOGITS, TOKENIZER)


class Digits(BaseModel):
    first: int = Field(ge=0, le=9)
    second: int = Field(ge=0, le=9)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Return a terminal for stderr, before which nobody is patient."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    screen = Terminal()
    monkeypatch.setattr(progress_bar, "SECONDS_BEFORE_BAR", 0.0)
    monkeypatch.setattr(progress_bar, "SECONDS_BETWEEN_BARS", 0.001)
    yield screen
    assert not any(thread.daemon and thread.name == "progress" for thread in threading.enumerate())


def until(is_so: Callable[[], bool]) -> None:
    """Wait for what another thread does, for as long as a busy machine takes."""
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def slow(token_ids: Any) -> Any:
    time.sleep(0.01)
    return LOGITS(token_ids)


DOCUMENTS = ["a", "", "b", "c"]


def test_a_terminal_shows_a_bar_and_is_left_clean(screen: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    """Documents, failures, tokens and time; nothing is on stdout, the line is erased and the cursor is back."""
    expected = extract_batch(Digits, DOCUMENTS, model=MODEL, errors="return", progress=False)
    with redirect_stderr(screen):
        found = extract_batch(Digits, DOCUMENTS, model=FunctionModel(slow, TOKENIZER), errors="return")
    assert [str(one) for one in found] == [str(one) for one in expected]
    written = screen.getvalue()
    told = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written)
    assert "4/4 documents" in told
    assert "1 failed" in told
    assert re.search(r"[\d,.]+ documents/s +[\d,]+ tokens/s +0:00:\d\d in all", told)
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h") == 1  # the cursor is hidden, and shown
    assert written.endswith("\x1b[2K")  # the line is erased
    assert capsys.readouterr().out == ""


REGISTER = "Somebody is 1 or 2 and lives here.\n" * 9


@pytest.mark.parametrize("documents", [[REGISTER], [REGISTER, "a"]])
def test_a_long_document_shows_its_chunks(documents: list[str], screen: Terminal) -> None:
    """A single one, too, of which there is nothing else to show."""
    model = FunctionModel(slow, TOKENIZER)
    options: Any = {"model": model, "chunking": Chunking(tokens=64, passes=2)}
    with redirect_stderr(screen):
        if len(documents) == 1:
            extract(Digits, REGISTER, **options)
        else:
            extract_batch(Digits, documents, **options)
    told = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue())
    counts = [(int(done), int(total)) for done, total in re.findall(r"(\d+)/(\d+) chunks", told)]
    assert counts == sorted(counts)
    assert len({total for _, total in counts}) > 1, "the second pass has chunks of its own"
    assert re.search(r"\d+/\d+ chunks +[\d,]+ tokens/s +0:00:\d\d left", told)
    assert ("documents" in told) == (len(documents) > 1)
    assert screen.getvalue().endswith("\x1b[2K")


def test_chunks_are_told_in_lines_and_in_the_log(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """In lines if they are asked for; in a pipe there is nothing by default."""
    options: Any = {"model": MODEL, "chunking": Chunking(tokens=64)}
    with caplog.at_level(logging.DEBUG, "structured.extraction"):
        extract_batch(Digits, [REGISTER], progress=True, **options)
    line = capsys.readouterr().err.splitlines()[-1]
    (count,) = {int(done) for done, total in re.findall(r"(\d+)/(\d+) chunks", line) if done == total}
    assert re.fullmatch(rf"{count}/{count} chunks, [\d,]+ tokens/s, 0:00:\d\d in all", line)
    assert f"1 of 1 document in {count} chunks done" in caplog.text
    assert [f", {number} of {count} chunks done" in caplog.text for number in range(1, count + 1)] == [True] * count
    extract(Digits, REGISTER, **options)
    assert capsys.readouterr() == ("", "")


def test_an_exception_leaves_the_terminal_clean(screen: Terminal) -> None:
    """Whatever ends the batch, the bar is gone before it is told."""

    def observe(position: int, _generation: object) -> None:
        if position == 2:
            until(lambda: "documents" in screen.getvalue())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), redirect_stderr(screen):
        extract_batch(Digits, DOCUMENTS, model=MODEL, observe=each_generation(observe))
    assert "documents" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")
    assert screen.getvalue().count("\x1b[?25h") == 1


@pytest.mark.parametrize(
    ("documents", "options"), [(["a"], {}), (DOCUMENTS, {"progress": False}), ([], {}), (DOCUMENTS, {"dumb": True})]
)
def test_where_nobody_waits_there_is_no_bar(
    screen: Terminal, monkeypatch: pytest.MonkeyPatch, documents: list[str], options: dict[str, Any]
) -> None:
    """For one document, where it is switched off, and on terminals that cannot draw."""
    if options.pop("dumb", False):
        monkeypatch.setenv("TERM", "dumb")
    model = FunctionModel(slow, TOKENIZER)
    with redirect_stderr(screen):
        extract_batch(Digits, documents, model=model, errors="return", **options)
        extract(Digits, "a", model=model)
        Extractor(Digits, model=model).stream("a").result()
    assert screen.getvalue() == ""


def test_a_short_batch_shows_nothing(screen: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one that takes longer than a person's patience does."""
    monkeypatch.setattr(progress_bar, "SECONDS_BEFORE_BAR", 60.0)
    started = time.perf_counter()
    with redirect_stderr(screen):
        extract_batch(Digits, DOCUMENTS, model=MODEL, errors="return")
    assert time.perf_counter() - started < 30
    assert screen.getvalue() == ""


def test_elsewhere_there_is_none_unless_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe there are lines then, without control codes."""
    extract_batch(Digits, DOCUMENTS, model=FunctionModel(slow, TOKENIZER), errors="return")
    assert capsys.readouterr() == ("", "")
    extract_batch(Digits, DOCUMENTS, model=FunctionModel(slow, TOKENIZER), errors="return", progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert re.fullmatch(r"4/4 documents, 1 failed, [\d,.]+ documents/s, [\d,]+ tokens/s, 0:00:\d\d in all", lines[-1])
    assert all(re.match(r"\d/4 documents", line) for line in lines)


@pytest.mark.parametrize("documents", [DOCUMENTS, []])
def test_a_batch_that_was_finished_before_shows_nothing(
    documents: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It printed `0/0 documents` twice."""
    write_results(Digits, documents, tmp_path / "out.jsonl", model=MODEL, progress=False)
    write_results(Digits, documents, tmp_path / "out.jsonl", model=MODEL, progress=True)
    write_results(Digits, iter(documents), tmp_path / "out.jsonl", model=MODEL, progress=True)
    assert capsys.readouterr() == ("", "")


def test_two_batches_at_once_show_one_bar(screen: Terminal) -> None:
    """The second would write over the first."""
    first, second = BatchState(2), BatchState(2)
    with redirect_stderr(screen), showing(first, progress=True), showing(second, progress=True):
        until(lambda: "\x1b[?25l" in screen.getvalue())
        time.sleep(0.2)  # in which there may be another
    assert screen.getvalue().count("\x1b[?25l") == 1
    with redirect_stderr(screen), showing(second, progress=True):
        until(lambda: screen.getvalue().count("\x1b[?25l") == 2)
    assert screen.getvalue().count("\x1b[?25l") == 2


def test_a_closed_stderr_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is closed before, or while a bar is shown."""
    closed = Terminal()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    for progress in (None, True):
        found = extract_batch(Digits, DOCUMENTS, model=MODEL, errors="return", progress=progress)
        assert isinstance(found[1], PromptError)
    monkeypatch.setattr(sys, "stderr", None)
    extract_batch(Digits, ["a"], model=MODEL, progress=True)


def test_a_notebook_shows_a_bar_in_its_cell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is one output that is updated, and which needs no other package."""

    class ZMQInteractiveShell:
        pass

    updates: list[Any] = []
    ipython, cell = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = ZMQInteractiveShell  # type: ignore[attr-defined]
    cell.display = lambda _first, *, display_id: SimpleNamespace(update=updates.append) if display_id else None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", cell)
    monkeypatch.setattr(progress_bar, "SECONDS_BEFORE_BAR", 0.0)
    extract_batch(Digits, DOCUMENTS, model=FunctionModel(slow, TOKENIZER), errors="return")
    html = updates[-1]._repr_mimebundle_((), ())["text/html"]
    assert "4/4 documents" in html
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("progress", ["yes", 1, 0.5])
def test_progress_is_a_choice_of_three(progress: Any) -> None:
    message = f"^progress is {re.escape(repr(progress))}; it must be True or False\\.$"
    with pytest.raises(TypeError, match=message):
        extract_batch(Digits, ["a", "b"], model=MODEL, progress=progress)


@given(st.integers(1, 5000), st.data())
def test_the_time_left_is_told_when_something_is_known(total: int, data: st.DataObject) -> None:
    """From the documents that were written, since those that failed took no time; never from nothing."""
    done = data.draw(st.integers(0, total))
    failed = data.draw(st.integers(0, done))
    facts = progress_bar._progress_facts(Progress(total, done, done, failed, 0, 10.0))
    assert facts[0] == f"{done:,}/{total:,} documents"
    assert any(fact.endswith("failed") for fact in facts) == (failed > 0)
    assert any(fact.endswith("left") for fact in facts) == (failed < done < total)
    assert any(fact.endswith("in all") for fact in facts) == (done == total)
