"""Names of models: what is a folder, what can be on the hub, what is said of one with a mistake, and how soon."""

import os
import pickle
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import huggingface_hub
import huggingface_hub.constants
import pytest
from doubles import Terminal, in_memory, save, tiny_llama
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from structured import load_model
from structured.errors import ModelError
from structured.models import LanguageModel, llama_cpp, load, pretrained
from structured.models.checkpoints import find_checkpoint, why_not_hub

WANTED = (
    r"Name a folder with config\.json, weights and tokenizer\.json, a GGUF file, 'packaged', 'smollm2' \(after "
    r"`structured fetch smollm2`\), 'smollm2-extract' \(after `structured fetch smollm2-extract`\), a hub id that this "
    r"machine can reach, or a server, as in 'openai://localhost:8000/name'\.$"
)

MAX_REQUESTS = 2
"""Of one name: that for its configuration, and in each process one that huggingface_hub sends for itself."""


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Keep every socket from being connected, and return where to."""
    asked: list[object] = []

    def refuse(*arguments: object, **_: object) -> None:
        asked.append(arguments)
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    for proxy in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
        monkeypatch.delenv(proxy.upper(), raising=False)
    return asked


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tiny model."""
    folder = tmp_path_factory.mktemp("saved") / "tiny-llama"
    save(in_memory(tiny_llama), folder)
    return folder


def refusal(source: Any) -> str:
    with pytest.raises(ModelError) as caught:
        load_model(source)
    return str(caught.value)


def test_hub_that_cannot_be_reached_is_asked_once(no_network, monkeypatch, tmp_path):
    """Not again and again: the error comes at once, and tells that there is neither a folder nor a copy."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail(f"waits for {seconds} s"))
    message = refusal("nobody/no-such-model")
    assert message.startswith(
        f"No model could be loaded from 'nobody/no-such-model'. It is not a local folder, it is not in the cache "
        f"{tmp_path}, and https://huggingface.co cannot be reached ("
    )
    assert 1 <= len(no_network) <= MAX_REQUESTS


class Hub(BaseHTTPRequestHandler):
    """A hub that has one answer for every file."""

    answer: tuple[int, str] = (200, "")

    def do_HEAD(self) -> None:
        self.send_response(self.answer[0])
        self.send_header("X-Error-Code", self.answer[1])
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[Hub]]:
    """Let files of the hub be asked for on this machine, with an empty cache."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/config.json"
        monkeypatch.setattr(huggingface_hub, "hf_hub_url", lambda *_: url)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
        monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail(f"waits for {seconds} s"))
        yield Hub
        server.shutdown()


@pytest.mark.parametrize(
    ("status", "code", "reason"),
    [
        (404, "RepoNotFound", "and the hub has none, or shows it only to those who log in"),
        (403, "GatedRepo", "and the hub gives it only to those who accept its terms and log in"),
        (503, "", "and https://huggingface.co answers 503"),
        (429, "", "and https://huggingface.co answers 429"),
    ],
)
def test_hub_that_does_not_give_a_model(hub, status, code, reason):
    """What it answers is told, and it is not asked again."""
    hub.answer = status, code
    assert reason in refusal("some/one")


@pytest.mark.parametrize(("status", "code"), [(200, ""), (302, ""), (404, "EntryNotFound")])
def test_hub_that_has_a_model(hub, status, code):
    """Or something else of that name, which transformers may know to load."""
    hub.answer = status, code
    assert why_not_hub("some/one") is None


def test_hub_is_not_asked_offline(no_network, monkeypatch, tmp_path):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert "and HF_HUB_OFFLINE forbids to ask the hub. " in refusal("nobody/such-a-model")
    assert not no_network


def test_model_in_the_cache_needs_no_hub(no_network, monkeypatch, tmp_path, saved):
    """Where the hub cannot be reached, what was downloaded before is loaded; what is damaged there is told."""
    copy = tmp_path / "models--someone--tiny"
    (copy / "refs").mkdir(parents=True)
    (copy / "refs" / "main").write_text("0" * 40)
    shutil.copytree(saved, copy / "snapshots" / ("0" * 40))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail(f"waits for {seconds} s"))
    assert load_model("someone/tiny").name == "someone/tiny"
    assert 1 <= len(no_network) <= MAX_REQUESTS
    (copy / "snapshots" / ("0" * 40) / "model.safetensors").unlink()
    message = refusal_of_damaged("someone/tiny")
    assert "What is in the cache cannot be loaded, and https://huggingface.co cannot be reached (" in message


def refusal_of_damaged(name: str) -> str:
    load._load_once.cache_clear()
    return refusal(name)


@pytest.mark.parametrize(
    "name",
    ["http://localhost:8801/v1", "localhost:8801", "localhost:8801/v1/name", "vlm://localhost:8801/x", "10.0.0.7:80/a"],
)
def test_what_is_nearly_the_address_of_a_server_names_the_kinds_that_there_are(name, no_network):
    message = refusal(name)
    assert message.startswith(f"'{name}' names no model that runs here. If it is a server, say which kind: llamacpp://")
    assert "structured://, vllm:// (with +https for HTTPS)" in message
    assert not no_network


def test_a_password_in_what_is_nearly_an_address_is_not_repeated():
    assert "secret" not in refusal("https://me:secret@localhost/v1")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "The name of the model is '', which names nothing"),
        (" \n", r"The name of the model is ' \\n', which names nothing"),
        ("a\0b", r"The name of the model, 'a\\x00b', holds a NUL character"),
        ("a" * 5000, r"'a{100}'… \(5,000 characters\) is neither a folder nor a hub id"),
        ("an example", "'an example' is neither a folder nor a hub id"),
        ("a--b", "'a--b' is neither a folder nor a hub id"),
        ("\ud800", r"'\\ud800' is neither a folder nor a hub id"),
        ("https://huggingface.co/some/one", r"'.* is neither a folder nor a hub id: .* Did you mean 'some/one'\?"),
        ("./missing", "There is no folder './missing'"),
        ("~/missing", "There is no folder '~/missing'"),
        ("/dev/missing/model", "There is no folder '/dev/missing/model'"),
        ("~\ud800/x", "There is no folder"),
        ("/" + "a" * 5000, "There is no folder"),
        ("one/two/three", "There is no folder 'one/two/three'"),
        ("model.gguf", "There is no file 'model.gguf'"),
        (Path("owner/name"), "There is no folder 'owner/name'"),
        ("/dev/null", "'/dev/null' is neither a folder nor a file"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_name_with_a_mistake(no_network, monkeypatch, tmp_path, name, message):
    """It is told what is wrong, without asking anybody."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=f"^{message}.* {WANTED}"):
        load_model(name)
    assert not no_network


NAMES = st.text(st.characters(), max_size=12) | st.text("ab./\\~-_ \0é", max_size=12) | st.text("a/", min_size=90)


@pytest.mark.thorough
@settings(max_examples=examples(300))
@given(NAMES | NAMES.map(Path))
def test_no_name_ends_in_another_error(name: str | Path) -> None:
    """Whatever the text, or the path, that names no model: one error, without a word to anybody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
        with pytest.raises(ModelError):
            load_model(name)


def test_weights_that_can_hold_code_are_not_read(tmp_path, saved):
    """A pickle would run what it holds; it is refused by name, and stays closed."""
    folder = tmp_path / "model"
    shutil.copytree(saved, folder)
    for file in folder.glob("*.safetensors*"):
        file.unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Touching(tmp_path / "touched")))
    assert "can hold code, and are not read: convert them with save_pretrained" in refusal(folder)
    assert not (tmp_path / "touched").exists()


class Touching:
    """What makes a file when it is read from a pickle."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_folder_without_a_model_says_what_it_lacks(tmp_path, saved):
    assert refusal(tmp_path).startswith(f"The folder '{tmp_path}' is empty, or may not be read. ")
    shutil.copytree(saved, tmp_path / "inside")
    assert refusal(tmp_path).startswith(
        f"'{tmp_path}' is not a model folder: it lacks config.json, weights (*.safetensors), tokenizer.json. "
    )
    shutil.copy(saved / "config.json", tmp_path)
    shutil.copy(saved / "tokenizer.json", tmp_path)
    assert "The folder lacks weights (*.safetensors). transformers says: " in refusal(tmp_path)
    (tmp_path / "config.json").unlink()
    (tmp_path / "model.GGUF").touch()
    assert refusal(tmp_path).startswith(f"'{tmp_path / 'model.GGUF'}' does not begin as a GGUF file does. ")


def test_file_is_no_model(tmp_path, saved):
    weights = saved / "model.safetensors"
    kinds = "a model is a folder or a GGUF file"
    assert refusal(weights).startswith(f"'{weights}' is a file, and {kinds}. ")
    (tmp_path / "model.gguf").write_text("version https://git-lfs.github.com/spec/v1")
    assert "does not begin as a GGUF file does. Download it again" in refusal(tmp_path / "model.gguf")
    os.mkfifo(tmp_path / "pipe")
    assert "is neither a folder nor a file" in refusal(tmp_path / "pipe")


def test_gguf_file_is_found_by_its_path_or_its_folder(tmp_path):
    """Of a model in several files, the first stands for all; of several models, one has to be named."""
    for number in (1, 2, 3):
        (tmp_path / f"large-0000{number}-of-00003.gguf").write_bytes(b"GGUF\3\0\0\0")
    first = tmp_path / "large-00001-of-00003.gguf"
    assert find_checkpoint(first) == find_checkpoint(str(tmp_path)) == first
    (tmp_path / "small").write_bytes(b"GGUF\3\0\0\0")  # whatever its name
    assert find_checkpoint(tmp_path / "small") == tmp_path / "small"
    (tmp_path / "small").rename(tmp_path / "small.gguf")
    message = "holds 2 GGUF files: 'large-00001-of-00003.gguf', 'small.gguf'. Name one of them."
    assert message in refusal(tmp_path)


def test_gguf_file_that_nothing_can_load(tmp_path, monkeypatch):
    """Without the packages that read it, both are named; with them, what they say of a damaged file."""
    damaged = tmp_path / "model.gguf"
    damaged.write_bytes(b"GGUF\3\0\0\0")
    monkeypatch.setattr(load, "is_installed", lambda: False)
    monkeypatch.setattr(pretrained, "find_spec", lambda _: None)
    message = refusal(damaged)
    assert "pip install llama-cpp-python jinja2" in message
    assert "(pip install gguf)" in message
    with pytest.raises(ModelError, match=r"are for GGUF files that llama\.cpp runs, .* Install llama-cpp-python"):
        load_model(damaged, gpu_layers=-1)
    monkeypatch.setattr(pretrained, "find_spec", lambda _: True)
    assert f"from '{damaged}'. It is a GGUF file. transformers says: " in refusal_of_damaged(damaged)


@pytest.mark.parametrize("options", [{"gpu_layers": 2}, {"context_length": 100}], ids=repr)
def test_options_of_llama_cpp_for_another_model(saved, options):
    with pytest.raises(ModelError, match=r"is loaded by transformers\. Leave them out\.$"):
        load_model(saved, **options)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", ["smolm2", "SmolLM2", "smollm"])
def test_misspelt_name_of_a_model_that_can_be_fetched(monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    assert "Did you mean 'smollm2'?" in refusal(name)


def test_what_hides_a_model_that_can_be_fetched(monkeypatch, tmp_path):
    """A folder of that name, empty or with something else in it, or a file."""
    monkeypatch.chdir(tmp_path)
    hides = "name'. It hides the model of `structured fetch smollm2`: rename it."
    folder = tmp_path / "smollm2"
    folder.mkdir()
    assert refusal("smollm2").startswith("The folder 'smollm2' is empty")
    assert refusal("smollm2").endswith(hides)
    (folder / "notes.txt").touch()
    assert refusal("smollm2").endswith(hides)
    assert "It hides" not in refusal(tmp_path)
    (folder / "notes.txt").unlink()
    folder.rmdir()
    folder.touch()
    assert refusal("smollm2").endswith(hides)


def test_model_of_the_environment_that_cannot_be_loaded(monkeypatch):
    """Where the name comes from is told, since it is not in the program."""
    monkeypatch.setenv("STRUCTURED_MODEL", "./missing")
    assert refusal(None).startswith("STRUCTURED_MODEL names the model. There is no folder './missing'.")
    assert refusal("./missing").startswith("There is no folder")


@pytest.mark.parametrize("error", [RuntimeError, OSError, ModuleNotFoundError])
def test_llama_cpp_that_cannot_be_imported(monkeypatch, tmp_path, error):
    """The way out is named, and the cause is kept."""

    def fail(_: str) -> None:
        raise error("built for another processor")

    monkeypatch.setattr(load, "is_installed", lambda: True)
    monkeypatch.setattr(llama_cpp, "import_module", fail)
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF\3\0\0\0")
    with pytest.raises(
        ModelError, match=r"cannot be imported, .*: built for another processor\. .*dtype='float32'"
    ) as caught:
        load_model(file)
    assert isinstance(caught.value.__cause__, error)


def test_a_folder_in_the_home_of_a_user(monkeypatch, saved):
    monkeypatch.setenv("HOME", str(saved.parent))
    assert load_model("~/tiny-llama").name == "~/tiny-llama"


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[: len(data) // 2],
    "emptied": lambda data: b"",  # noqa: ARG005
    "list": lambda data: b"[1]",  # noqa: ARG005
    "noise": lambda data: bytes(byte ^ 0x55 for byte in data),
    "nulls": lambda data: data.replace(b'"', b"null"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_damaged_checkpoint_is_an_error_of_the_library(tmp_path, saved, file, damage):
    folder = tmp_path / "damaged"
    shutil.copytree(saved, folder)
    (folder / file).write_bytes(damage((folder / file).read_bytes()))
    assert "The folder has the files of one. transformers says: " in refusal(folder)


def test_code_of_a_checkpoint_is_not_run(tmp_path, saved, monkeypatch):
    """Nor is the user asked at a prompt, which would wait."""
    folder = tmp_path / "custom"
    shutil.copytree(saved, folder)
    (folder / "config.json").write_text('{"model_type": "own", "auto_map": {"AutoConfig": "own.Config"}}')
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asks"))
    assert "transformers says: " in refusal(folder)


def test_loading_a_folder_draws_no_bars_and_asks_nobody(saved, no_network):
    """It leaves the bars of other loads with transformers as they were."""
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    written = Terminal()
    with redirect_stderr(written):
        load_model(str(saved), device_map={"": "cpu"})
    assert not written.getvalue()
    assert not no_network
    assert logging.is_progress_bar_enabled()
    with redirect_stderr(written):
        AutoModelForCausalLM.from_pretrained(saved)
    assert "Loading weights" in written.getvalue()


class Shy:
    """Follows nothing, and tells nothing of itself."""

    vocabulary = 3

    def __repr__(self) -> str:
        raise ValueError("no repr")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"gpt2", r"bytes b'gpt2' is not a model"),
        (1.5, r"float 1\.5 is not a model"),
        (["a"] * 100_000, r"list \['a', .*\.\.\.\] is not a model"),
        (["model", "tokenizer"], r"list .* A pair is a tuple: write \(…\), not \[…\]\.$"),
        (load.FunctionModel, r"ABCMeta .* FunctionModel is a class: pass an instance\.$"),
        (print, r"builtin_function_or_method .* This one lacks its tokenizer\.$"),
        (Shy(), r"Shy <Shy instance .* derived from structured\.models\.LanguageModel\.$"),
    ],
    ids=["bytes", "number", "long list", "pair", "class", "function", "shy"],
)
def test_what_is_no_model(source, message):
    """It is shown, however long, with the things that are, and what may have been meant."""
    with pytest.raises(ModelError, match=f"^{message}"):
        load_model(source)


def test_own_model_with_a_vocabulary_of_another_kind():
    double: Any = type("Own", (LanguageModel,), {"prefill": None})()
    with pytest.raises(ModelError, match=r"^Own .* lacks `name` and `vocabulary`\. Set them when it is made\.$"):
        load_model(double)
    double.name, double.vocabulary = "own", None
    with pytest.raises(ModelError, match=r"^The `vocabulary` of Own .* is None\. It must be a structured\.vocabulary"):
        load_model(double)


@pytest.mark.parametrize("options", [{"dtype": "float16.5"}, {"dtype": "float17"}, {"device_map": "moon"}], ids=repr)
def test_options_of_loading_that_do_not_exist(saved, options):
    with pytest.raises(ModelError, match=str(next(iter(options.values())))):
        load_model(saved, **options)
