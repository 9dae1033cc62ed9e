"""The C compilers that a build may use: the system's, or that of the package `ziglang`, which also compiles for others.

Flags are the same for all, and few: those that Python was built with name folders and processors of another machine.
"""

import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

STABLE_ABI = "0x030B0000"
"""The limited API of Python 3.11, which later versions have too."""

FLAGS = (
    "-O2",
    "-DNDEBUG",
    f"-DPy_LIMITED_API={STABLE_ABI}",
    "-fwrapv",  # integers wrap around; without it, the compiler may take an overflow for impossible
    "-ffp-contract=off",  # a product and a sum round twice, as in Python, also where a processor has one instruction
    "-fvisibility=hidden",  # only PyInit__compiled is exported
    "-fPIC",
    "-shared",
    "-g0",
    "-w",  # C that nobody wrote
)

CHECKING_FLAGS = (
    "-fno-wrapv",
    "-fsanitize=signed-integer-overflow",
    "-fsanitize-undefined-trap-on-error",
)
"""With these, an overflow ends the process."""

TARGETS = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "win_amd64": "x86_64-windows-gnu",
    "win_arm64": "aarch64-windows-gnu",
}
"""The platforms of wheels that Zig compiles for on any machine, and what it calls them."""

PROBE = """\
#include <Python.h>
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_compiled"};
PyMODINIT_FUNC PyInit__compiled(void) { return PyModuleDef_Init(&definition); }
"""
"""The smallest module: if it can be compiled, the loops can."""

WINDOWS_CONFIGURATION = """\
#define MS_WINDOWS 1
#define MS_WIN64 1
#define HAVE_DECLSPEC_DLL 1
#define HAVE_STDDEF_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_WCHAR_T 2
#define ALIGNOF_SIZE_T 8
#define ALIGNOF_MAX_ALIGN_T 8
"""
"""`pyconfig.h` for Windows, as far as the limited API asks for it."""


class CompilationError(Exception):
    """The compiler has failed; the message ends with its last lines."""


@dataclass(frozen=True)
class Compiler:
    """A command that compiles C, and the platform, named as in wheels, that its output is for."""

    command: tuple[str, ...]
    platform: str

    def file_name(self) -> str:
        """Return the name of the compiled module."""
        return "_compiled.pyd" if self.platform.startswith("win") else "_compiled.abi3.so"

    def compile(self, source: str, folder: Path, *, checks: bool = False) -> Path:
        """Compile a module in a folder, which holds nothing else. Raises CompilationError."""
        (folder / "_compiled.c").write_text(source, "utf-8")
        include = Path(sysconfig.get_path("include"))
        flags = [*FLAGS, *(CHECKING_FLAGS if checks else ())]
        libraries: list[str] = []
        if self.platform.startswith("win"):
            include = _windows_headers(include, folder)
            libraries += ["-s", self._import_library(folder, include)]
        elif self.platform.startswith("macosx"):
            version = ".".join(self.platform.split("_")[1:3])
            flags += ["-undefined", "dynamic_lookup", f"-mmacosx-version-min={version}"]
        else:
            flags += ["-s", "-Wl,--build-id=none"]
        self._run(folder, *flags, f"-I{include}", "-o", self.file_name(), "_compiled.c", *libraries)
        return folder / self.file_name()

    def works(self) -> bool:
        """Return whether a small module can be compiled: there may be a command, and no headers."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                self.compile(PROBE, Path(folder))
            except CompilationError:
                return False
        return True

    def _import_library(self, folder: Path, include: Path) -> str:
        """Return a library of all names of Python in the headers, for Windows, which are found in `python3.dll`."""
        text = self._run(folder, "-E", "-w", f"-DPy_LIMITED_API={STABLE_ABI}", f"-I{include}", "_compiled.c")
        names = sorted(set(re.findall(r"\b_?Py\w+", text)) - {"PyInit__compiled"})
        (folder / "python3.def").write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *names, ""]))
        machine = "arm64" if self.platform == "win_arm64" else "i386:x86-64"
        output_of(
            [sys.executable, "-m", "ziglang", "dlltool", "-m", machine, "-d", "python3.def", "-l", "python3.lib"],
            folder,
        )
        return "python3.lib"

    def _run(self, folder: Path, *arguments: str) -> str:
        return output_of([*self.command, *arguments], folder)


def _windows_headers(include: Path, folder: Path) -> Path:
    """Return a copy of Python's headers that are configured for Windows, wherever this runs."""
    copy = folder / "include"
    shutil.copytree(include, copy)
    (copy / "pyconfig.h").write_text(WINDOWS_CONFIGURATION)
    return copy


def output_of(command: list[str], folder: Path) -> str:
    """Run a command in a folder, and return what it prints. Raises CompilationError."""
    caches = {name: str(folder / "zig") for name in ("ZIG_LOCAL_CACHE_DIR", "ZIG_GLOBAL_CACHE_DIR")}
    environment = {**os.environ, **caches}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise CompilationError(f"{command[0]}: {error.strerror}") from error
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()[-4:]
        raise CompilationError("\n".join([f"{shlex.join(command[:4])} … ended with {done.returncode}", *lines]))
    return done.stdout


def system_compiler() -> Compiler | None:
    """Return the compiler that the variable CC names or, without it, the first of the usual names that is found.

    None on Windows, where a compiler needs a shell of its own to be found: Zig is used.
    """
    target = native_platform()
    if target.startswith("win"):
        return None
    named = os.environ.get("CC")
    usual = (sysconfig.get_config_var("CC"), "cc", "gcc", "clang")
    commands = [shlex.split(command) for command in ([named] if named else usual) if command]
    found = next((command for command in commands if shutil.which(command[0])), None)
    architecture = ["-arch", target.split("_", 3)[3]] if target.startswith("macosx") else []
    return None if found is None else Compiler((*found, *architecture), target)


def zig_compiler(target: str | None = None) -> Compiler | None:
    """Return the compiler of the package `ziglang`, if it is installed, for this machine or another platform."""
    if importlib.util.find_spec("ziglang") is None:
        return None
    command = (sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline")
    if target is None:
        return Compiler(command, native_platform())
    return Compiler((*command, "-target", TARGETS[target]), target)


def native_platform() -> str:
    """Return the platform of this machine, as in the names of wheels."""
    name = sysconfig.get_platform().replace("universal2", platform.machine())
    return re.sub(r"\W", "_", re.sub(r"^macosx-(\d+)-", r"macosx-\1.0-", name))


def has_headers() -> bool:
    """Return whether there is what C needs of this Python: its headers, and the stable ABI, which has a GIL."""
    has_abi = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
    return has_abi and (Path(sysconfig.get_path("include")) / "Python.h").exists()
