"""The hook of Hatch that compiles the loops: into the wheel or, for `pip install -e`, into the tree."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parents[1]))  # Hatch runs this file from anywhere

from build_tools.compilation import chosen, compile_into_tree, compile_loops, requirements


class LoopCompilation(BuildHookInterface[BuilderConfig]):  # type: ignore[misc,unused-ignore]  # Hatch is not installed
    """Compiles the loops, by what STRUCTURED_BUILD chooses."""

    def dependencies(self) -> list[str]:
        """Return what pip has to install before."""
        return requirements(chosen())

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the loops; `version` is "editable" for `pip install -e`."""
        self.folder = tempfile.TemporaryDirectory()
        if version == "editable":
            compile_into_tree(chosen())
            return
        compiled = compile_loops(chosen(), Path(self.folder.name))
        if compiled is not None:
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{compiled.platform}"
            build_data["force_include"][str(compiled.path)] = f"structured/{compiled.path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was compiled outside of the wheel."""
        self.folder.cleanup()
