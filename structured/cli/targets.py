"""What a command is given to look at: `module:Type`, `file.py:Type`, or a file with a JSON Schema."""

import importlib
import importlib.util
import sys
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType

import typer

from structured.output_types.json_schema import JsonSchema


def load_target(target: str) -> object:
    """Return the output type that an argument names. Raises `typer.BadParameter` where there is none."""
    return _load_schema(Path(target)) if target.endswith(".json") else _load(target)


def _load_schema(path: Path) -> JsonSchema:
    """Return the output type of a file with a JSON Schema."""
    if not path.is_file():
        raise typer.BadParameter(f"There is no file {str(path)!r}.")
    schema = JsonSchema(path.read_text(encoding="utf-8"))
    return schema if isinstance(schema.schema, dict) and "title" in schema.schema else replace(schema, name=path.stem)


def _load(target: str) -> object:
    """Return the object that `module:Name` or `path/to/file.py:Name` names."""
    source, colon, name = target.rpartition(":")
    if not colon or not source or not name:
        raise typer.BadParameter(f"{target!r} names no type. Write module:Type, or path/to/file.py:Type.")
    found: object = _load_module(source)
    for part in name.split("."):
        if not hasattr(found, part):
            near = get_close_matches(part, [known for known in dir(found) if not known.startswith("_")])
            hint = f" Is it {' or '.join(near)}?" if near else ""
            raise typer.BadParameter(f"There is no {part!r} in {source!r}.{hint}")
        found = getattr(found, part)
    return found


def _load_module(source: str) -> ModuleType:
    """Return a module, by its name as seen from the working directory, or by its file."""
    is_file = source.endswith(".py")
    if is_file and not Path(source).is_file():
        raise typer.BadParameter(f"There is no file {source!r}.")
    sys.path.insert(0, str(Path(source).resolve().parent if is_file else Path.cwd()))
    try:
        return _run_file(Path(source)) if is_file else importlib.import_module(source)
    # The module is the user's own code, so anything may come out of it.
    except (Exception, SystemExit) as error:
        raise typer.BadParameter(f"{source!r} cannot be imported: {type(error).__name__}: {error}") from error


def _run_file(path: Path) -> ModuleType:
    """Return the module of a file, under a name that no other module has."""
    name = f"inspected:{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None, "the name of the file ends in .py"
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # where annotations are looked up
    spec.loader.exec_module(module)
    return module
