"""Dequantised GGUF files in the cache: the second load is quick and the same, and no entry, however wrong, harms."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from doubles import Terminal, byte_level_tokenizer, tiny
from gguf_models import write_llama
from package_map import HOUSE
from typer.testing import CliRunner

from structured.cli.commands import app
from structured.errors import ModelError
from structured.models import dequantised, pretrained
from structured.models.dequantised import ModelCache, key_of
from structured.models.pretrained import load_pretrained

pytest.importorskip("gguf", reason="transformers reads GGUF files with the package gguf.")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a GGUF file with quantised weights, alone in its folder."""
    folder = tmp_path_factory.mktemp("base")
    tokenizer = byte_level_tokenizer()
    tiny("llama", len(tokenizer), num_key_value_heads=2, initializer_range=0.3).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return write_llama(folder, tmp_path_factory.mktemp("gguf") / "tiny.gguf", quantised=True)


@pytest.fixture
def file(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the file for one test, which has a cache of its own."""
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "models").mkdir()
    return Path(shutil.copy(made, tmp_path / "models"))


@pytest.fixture
def dequantised_files(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the files that were dequantised, as a list that grows."""
    files: list[Path] = []
    dequantise = pretrained._dequantise

    def counted(path: Path, *options: Any) -> Any:
        files.append(path)
        return dequantise(path, *options)

    monkeypatch.setattr(pretrained, "_dequantise", counted)
    return files


def load(file: Path, *, dtype: str = "auto") -> tuple[Any, Any]:
    return load_pretrained(str(file), file, device_map=None, dtype=dtype)


def cache(tmp_path: Path, **options: Any) -> ModelCache:
    return ModelCache(tmp_path / "cache" / "dequantised", **options)


def logits(model: Any) -> torch.Tensor:
    with torch.no_grad():
        scores: torch.Tensor = model(torch.tensor([[*range(3, 40)]])).logits
    return scores


def is_same(first: tuple[Any, Any], second: tuple[Any, Any]) -> bool:
    """Tell whether two loads give equal logits, and tokenizers that agree."""
    text = "An invoice of 12.50 <turn> Zoë"
    (model, tokenizer), (again, tokens) = first, second
    return (
        torch.equal(logits(model), logits(again))
        and model.dtype == again.dtype
        and model.config.name_or_path == again.config.name_or_path
        and tokenizer(text).input_ids == tokens(text).input_ids
        and tokenizer.eos_token_id == tokens.eos_token_id
        and tokenizer.chat_template == tokens.chat_template
        and not model.training
        and not again.training
    )


@pytest.mark.parametrize("dtype", ["auto", "bfloat16"])
def test_the_second_load_dequantises_nothing_and_is_the_same(
    file: Path, tmp_path: Path, dequantised_files: list[Path], monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    """Its logits are those of a load without the cache, to the last bit."""
    first, second = load(file, dtype=dtype), load(file, dtype=dtype)
    assert dequantised_files == [file]
    monkeypatch.setenv("STRUCTURED_CACHE", "off")
    plain = load(file, dtype=dtype)
    assert dequantised_files == [file, file]
    assert is_same(plain, first)
    assert is_same(plain, second)
    [entry] = cache(tmp_path).files()
    assert entry.name.startswith(hashlib.sha256(file.read_bytes()).hexdigest())


def test_what_stands_beside_the_file_counts(file: Path, dequantised_files: list[Path]) -> None:
    """transformers prefers a tokenizer in the folder, so that an entry without it is another."""
    own = load(file)[1]("abc").input_ids
    (file.parent / "tokenizer.json").write_text(byte_level_tokenizer().backend_tokenizer.to_str(), encoding="utf-8")
    first, second = (load(file)[1]("abc").input_ids for _ in range(2))
    assert first == second == [0, *own]
    assert len(dequantised_files) == 2


def test_keys_tell_files_and_types_apart(file: Path) -> None:
    """Whatever a file is called; and another default of torch is another type."""
    copied = Path(shutil.copy(file, file.with_name("other.gguf")))
    assert key_of(file, "auto") == key_of(copied, "auto")
    keys = {key_of(file, "auto"), key_of(file, "float32")}
    with copied.open("ab") as end:
        end.write(b"more")
    keys.add(key_of(copied, "auto"))
    torch.set_default_dtype(torch.float64)
    try:
        keys.add(key_of(file, "auto"))
    finally:
        torch.set_default_dtype(torch.float32)
    assert len(keys) == 4


DAMAGES = {
    "cut off": lambda entry: os.truncate(entry / "model.safetensors", 5000),
    "no weights": lambda entry: (entry / "model.safetensors").unlink(),
    "no tokenizer": lambda entry: (entry / "tokenizer.json").unlink(),
    "another configuration": lambda entry: (entry / "config.json").write_text("{}"),
    "a file in its place": lambda entry: (shutil.rmtree(entry), entry.write_text("junk")),
}


def test_entries_that_cannot_be_read_are_made_anew(file: Path, tmp_path: Path, dequantised_files: list[Path]) -> None:
    """Each is noticed, and replaced by one that serves the next load."""
    first = load(file)
    for count, (name, damage) in enumerate(DAMAGES.items(), start=2):
        [entry] = cache(tmp_path).files()
        damage(entry)
        assert is_same(load(file), first), name
        assert is_same(load(file), first), name
        assert len(dequantised_files) == count, name
    assert [path.name for path in cache(tmp_path).folder.iterdir()] == [entry.name]


def test_an_entry_of_another_model_in_the_place_of_one_is_replaced(
    file: Path, tmp_path: Path, dequantised_files: list[Path]
) -> None:
    """It can be loaded, and its weights are other ones."""
    first, disk = load(file), cache(tmp_path)
    [entry] = disk.files()
    model, tokenizer = load(file)
    with torch.no_grad():
        model.lm_head.weight.add_(1)
    disk.save("another", model, tokenizer)
    shutil.rmtree(entry)
    shutil.copytree(disk.path("another"), entry)
    assert is_same(load(file), first)
    assert len(dequantised_files) == 2


def test_weights_that_are_changed_in_memory_stay_as_they_are_on_disk(
    file: Path, tmp_path: Path, dequantised_files: list[Path]
) -> None:
    """The weights of a model from the cache are pages of the file, which an adapter that is added must not write to."""
    load(file)
    [entry] = cache(tmp_path).files()
    before = (entry / "model.safetensors").read_bytes()
    model, _ = load(file)
    with torch.no_grad():
        for tensor in model.state_dict().values():
            tensor.add_(1)
    assert (entry / "model.safetensors").read_bytes() == before
    assert len(dequantised_files) == 1


def test_a_model_that_would_not_be_the_same_is_not_kept(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is loaded from an entry is compared before the entry is kept."""
    reload = dequantised._load

    def nearly(*options: Any) -> Any:
        model, tokenizer = reload(*options)
        model.lm_head.weight.data[5, 5] += 1e-3
        return model, tokenizer

    monkeypatch.setattr(dequantised, "_load", nearly)
    load(file)
    assert list(cache(tmp_path).folder.iterdir()) == []


@pytest.mark.parametrize("refused", ["mkdir", "replace"])
def test_where_nothing_can_be_written_the_model_is_loaded(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    """A folder that is there to read alone, or a full disk: the file is dequantised, and nothing is left behind."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as patch:
        patch.setattr(Path, refused, refuse)
        first = load(file)
    assert cache(tmp_path).files() == []
    assert is_same(load(file), first)


def test_a_disk_that_fills_up_meanwhile(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half an entry is removed; the model is loaded."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(dequantised, "_settings", full)
    load(file)
    assert list(cache(tmp_path).folder.iterdir()) == []


def test_a_cache_that_is_there_to_read_alone_is_read(
    file: Path, monkeypatch: pytest.MonkeyPatch, dequantised_files: list[Path]
) -> None:
    """Where the time of reading cannot be noted, the model comes from the cache all the same."""
    load(file)

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "utime", refuse)
    load(file)
    assert len(dequantised_files) == 1


def test_the_models_unread_for_longest_go_first(file: Path, tmp_path: Path) -> None:
    """All together are never larger than the limit, and one that alone is larger is not kept."""
    first = load(file)
    disk = cache(tmp_path)
    disk = cache(tmp_path, max_bytes=2 * disk.size() + 1000)
    for age, key in enumerate("ab"):
        disk.save(key, *first)
        os.utime(disk.path(key), (age, age))
    assert [path.stem for path in disk.files()][:1] == ["b"]
    disk.mark_as_read(disk.path("b"))
    disk.save("c", *first)
    assert {path.stem for path in disk.files()} == {"b", "c"}
    assert disk.size() <= disk.max_bytes
    cache(tmp_path, max_bytes=1000).save("d", *first)
    assert not disk.path("d").exists()


def test_little_room_on_the_disk_is_left_to_others(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that would take more than half of what is free is not kept."""
    size = 100_000
    usage = shutil._ntuple_diskusage(size, size - 1000, 1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    load(file)
    assert cache(tmp_path).files() == []


_PROCESS = """
import sys
from pathlib import Path
from structured.models import pretrained

file = Path(sys.argv[1])
model, _ = pretrained.load_pretrained(str(file), file, device_map=None, dtype="auto")
print(model.lm_head.weight.double().sum().item())
"""


@pytest.mark.thorough
def test_processes_may_dequantise_at_once(file: Path, tmp_path: Path) -> None:
    """One keeps the model, and the other finds it there or in its way; both have the same."""
    command = [sys.executable, "-c", _PROCESS, str(file)]
    environment = {**os.environ, "PYTHONPATH": str(HOUSE.parent)}
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert len({out for out, _ in told}) == 1
    assert [errors for _, errors in told] == ["", ""]  # no bars, no warnings
    assert [path.suffix for path in cache(tmp_path).folder.iterdir()] == [".model"]


def test_another_process_that_was_quicker_keeps_its_entry(file: Path, tmp_path: Path) -> None:
    """The entry that is there stays as it is, and nothing lies beside it."""
    first = load(file)
    disk = cache(tmp_path)
    [entry] = disk.files()
    inode = (entry / "config.json").stat().st_ino
    disk.save(entry.stem, *first)
    assert (entry / "config.json").stat().st_ino == inode
    assert list(disk.folder.iterdir()) == [entry]


def test_a_terminal_shows_that_a_file_is_dequantised(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the bar of transformers; from the cache, a model is loaded without a bar."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    screens = Terminal(), Terminal()
    for screen in screens:
        monkeypatch.setattr(sys, "stderr", screen)
        load(file)
    shown, silent = (screen.getvalue() for screen in screens)
    assert "Converting" in shown
    assert "Loading weights" not in shown
    assert "Writing" not in shown
    assert silent == ""


def test_no_bar_where_there_is_no_terminal(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load(file)
    assert capfd.readouterr() == ("", "")


def test_a_damaged_file_is_an_error_and_nothing_is_kept(file: Path, tmp_path: Path) -> None:
    """That the cache is asked for it first changes nothing."""
    os.truncate(file, 3000)
    with pytest.raises(ModelError, match="It is a GGUF file"):
        load(file)
    assert cache(tmp_path).files() == []


def test_the_command_line_tells_and_clears(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`structured cache info` counts the models and their bytes; `clear` removes them."""
    monkeypatch.setenv("COLUMNS", "200")
    load(file)
    disk = cache(tmp_path)
    told = dict(line.split(maxsplit=1) for line in CliRunner().invoke(app, ["cache", "info"]).output.splitlines())
    assert told["models"].strip() == f"1, of {disk.size():,} bytes, dequantised"
    facts = json.loads(CliRunner().invoke(app, ["cache", "info", "--json"]).output)["dequantised"]
    assert facts == {"folder": str(disk.folder), "files": 1, "bytes": disk.size(), "limit": disk.max_bytes}
    assert CliRunner().invoke(app, ["cache", "clear"]).output == "0 files removed.\n1 dequantised model removed.\n"
    assert disk.files() == []


@pytest.mark.slow
def test_the_real_model_is_the_same_from_the_cache(
    real_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dequantised_files: list[Path]
) -> None:
    """A pretrained model with tied, quantised weights and a tokenizer of 49,152 tokens."""
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path / "cache"))
    first, second = load(real_model), load(real_model)
    assert dequantised_files == [real_model]
    assert is_same(first, second)
