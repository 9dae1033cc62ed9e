"""The house itself: packages import in one direction, and entering it costs little."""

import ast
import graphlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Self

import pytest
from interpreter import run
from package_map import HOUSE, PACKAGES
from typer.testing import CliRunner

import structured
from structured import errors
from structured.cli import commands
from structured.extraction import Options
from structured.models import ScriptedModel

MODULES = sorted(HOUSE.rglob("*.py"))


MAX_ENTRIES = 15
"""Packages that the house may have: a map that is taken in at one glance."""

ROOT_ENTRIES = {
    *(
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "benchmarks",
        "build_tools",
        "constraints.txt",
        "docs",
        "examples",
        "pyproject.toml",
    ),
    *("structured", "tests", "training"),
}
"""All that the repository holds at the top, beside files whose names begin with a dot."""

FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "types", "misc"}
"""Names that say nothing about what is inside."""

HEAVY = ("torch", "transformers", "accelerate")
"""What is imported when it is first needed, and never by `import structured`."""


class Imports(ast.NodeVisitor):
    """The modules that a file imports: at once, when one of its functions is called, or for type checkers alone."""

    @classmethod
    @cache
    def of(cls, module: Path) -> Self:
        """Return those of a file, which is read once."""
        return cls(module)

    def __init__(self, module: Path) -> None:
        self.at_once: set[str] = set()
        self.later: set[str] = set()
        self.typing_only: set[str] = set()
        self._now = self.at_once
        self.visit(ast.parse(module.read_text(encoding="utf-8")))

    def inside(self, package: str) -> set[str]:
        """Return what a package has that is imported, whenever."""
        imported = self.at_once | self.later | self.typing_only
        inside = [name.removeprefix(f"{package}.") for name in imported if name.startswith(f"{package}.")]
        return {name.partition(".")[0] for name in inside}

    def visit_Import(self, node: ast.Import) -> None:
        self._now.update(alias.name for alias in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        assert node.module is not None, "imports name the module in full"
        assert node.level == 0, "imports name the module in full"
        self._now.add(node.module)
        self._now.update(f"{node.module}.{alias.name}" for alias in node.names)  # a module, or what is in one

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside(node, self.later)

    def visit_If(self, node: ast.If) -> None:
        self._inside(node, self.typing_only if ast.unparse(node.test) == "TYPE_CHECKING" else self._now)

    def _inside(self, node: ast.AST, kind: set[str]) -> None:
        before, self._now = self._now, kind
        self.generic_visit(node)
        self._now = before


def package_of(module: Path) -> str:
    return module.relative_to(HOUSE).parts[0].removesuffix(".py")


def children(package: Path) -> set[str]:
    """Return the names of the modules and packages in a package."""
    return {module.relative_to(package).parts[0].removesuffix(".py") for module in package.rglob("*.py")}


def shown(module: Path) -> str:
    return module.relative_to(HOUSE).as_posix()


def seconds_to_import(modules: str) -> float:
    """Return the processor time that importing takes in a new interpreter."""
    return float(run(f"import time; start = time.process_time(); import {modules}; print(time.process_time() - start)"))


def test_every_module_is_in_a_package() -> None:
    """Each module has its place in the order of packages, and each place is taken."""
    doors = {"__init__", "__main__"}
    assert {package_of(module) for module in MODULES} - doors == set(PACKAGES)
    assert len(PACKAGES) <= MAX_ENTRIES


def test_nothing_else_lies_at_the_top() -> None:
    """What a trial has written is not taken for a part of the project."""
    git = shutil.which("git")
    listed = git and subprocess.run([git, "ls-files"], cwd=HOUSE.parent, capture_output=True, text=True, check=False)
    if not listed or listed.returncode:
        pytest.skip("Only a clone, and git, know which files belong to the project.")
    entries = {path.partition("/")[0] for path in listed.stdout.splitlines()}
    assert {entry for entry in entries if not entry.startswith(".")} == ROOT_ENTRIES


def test_the_tests_are_laid_out_like_the_packages() -> None:
    """Each package has its folder of tests; beside these are laws of several, the project, its development."""
    folders = {test.parent.name for test in Path(__file__).parents[1].glob("*/*.py")}
    assert folders == {*PACKAGES, "development", "laws", "project", "support"}


@pytest.mark.thorough
def test_modules_import_from_packages_before() -> None:
    """No module knows of a package after its own."""
    offenders = {
        shown(module): later
        for module in MODULES
        if package_of(module) in PACKAGES
        and (later := Imports.of(module).inside("structured") - {*PACKAGES[: PACKAGES.index(package_of(module)) + 1]})
    }
    assert not offenders


ENTERED_BY_NAME = {
    "extraction/documents/files.py": {"structured.integrations.office_files", "structured.integrations.page_files"},
    "models/remote_model.py": {"structured.integrations.model_servers"},
}
"""The integrations that modules of packages before call, when a user needs the package of an extra."""


def test_integrations_are_entered_by_few_doors() -> None:
    """A module of a package before that calls an integration by its name is listed, with what it calls."""
    before = PACKAGES[: PACKAGES.index("integrations")]
    named = re.compile(r"[\"'](structured\.integrations\.\w+)[\"']")
    inner = [module for module in MODULES if package_of(module) in before]
    found = {shown(module): set(named.findall(module.read_text(encoding="utf-8"))) for module in inner}
    assert {module: names for module, names in found.items() if names} == ENTERED_BY_NAME


@pytest.mark.thorough
def test_modules_of_a_package_import_in_one_direction() -> None:
    """What a package holds can be put in an order in which each imports only from those before: there is no circle."""
    assert not {
        shown(package): found for package in {module.parent for module in MODULES} if (found := circle(package))
    }


def circle(package: Path) -> list[str]:
    """Return the names in a package that import each other in a circle; none if there is no circle."""
    dotted = ".".join(("structured", *package.relative_to(HOUSE).parts))
    order: graphlib.TopologicalSorter[str] = graphlib.TopologicalSorter()
    for module in package.rglob("*.py"):
        child = module.relative_to(package).parts[0].removesuffix(".py")
        order.add(child, *(Imports.of(module).inside(dotted) & children(package) - {child, "__init__"}))
    try:
        order.prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def heavy(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names} & {"torch", "transformers", "accelerate"}


@pytest.mark.thorough
def test_torch_stays_behind_its_door() -> None:
    """torch and transformers appear from `models/` down, and are imported by calls, not by imports.

    A module may import them at once if it is itself imported by calls, or by such modules.
    """
    imports = {module: Imports.of(module) for module in MODULES}
    at_once = {
        ".".join(("structured", *module.relative_to(HOUSE).with_suffix("").parts))
        for module in MODULES
        if heavy(imports[module].at_once)
    }
    assert not {
        shown(module)
        for module, found in imports.items()
        if (found.at_once & at_once and not heavy(found.at_once))
        or (package_of(module) in _BEFORE_MODELS and heavy(found.later | found.typing_only))
    }


_BEFORE_MODELS = PACKAGES[: PACKAGES.index("models")]


def test_names_of_modules_say_what_is_inside() -> None:
    """No module is called like a drawer for odds and ends, and no package like a module of the standard library."""
    named = {shown(module): {*module.relative_to(HOUSE).with_suffix("").parts} for module in MODULES}
    assert not {module for module, parts in named.items() if FORBIDDEN_NAMES & parts}
    assert not {package_of(module) for module in MODULES} & (sys.stdlib_module_names - {"__main__"})


def test_public_names_are_sorted_and_complete() -> None:
    """`__all__` is in order, and lists everything that the package's door imports, and nothing else."""
    tree = ast.parse((HOUSE / "__init__.py").read_text(encoding="utf-8"))
    nodes = [*tree.body, *(node for block in tree.body if isinstance(block, ast.If) for node in block.body)]
    doors = [node for node in nodes if isinstance(node, ast.ImportFrom) and str(node.module).startswith("structured")]
    assert structured.__all__ == sorted(structured.__all__)
    assert structured.__all__ == sorted(alias.name for node in doors for alias in node.names)
    assert all(hasattr(structured, name) for name in structured.__all__)


MOST = {"public names": 40, "options": 25, "stubs of overloads": 28, "modules": 296, "statements": 36_056}
"""What may not grow: a reader has to learn the first two, and to find a way through the others. Statements are counted
and not lines, which dense code and long messages would trade for one another; docstrings are none. Modules were 284 and
statements 35,541 before the loops became a notation that is translated to C; they are to be so again.
"""


def statements(source: str) -> int:
    """Return the number of statements of a module, without its docstrings."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    texts = [node for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    return len(nodes) - sum(isinstance(node.value.value, str) for node in texts)


def test_what_a_reader_learns_does_not_grow() -> None:
    """Each number is at its limit or below; a limit is lowered when it is undercut, and never raised."""
    sources = {module: module.read_text(encoding="utf-8") for module in MODULES}
    found = {
        "public names": len(structured.__all__),
        "options": len(Options.__annotations__),
        "stubs of overloads": sum(source.count("@overload") for source in sources.values()),
        "modules": len(sources),
        "statements": sum(map(statements, sources.values())),
    }
    assert {name: number for name, number in found.items() if number > MOST[name]} == {}


MOST_ON_THE_ROAD = 50
"""Modules whose functions run when a type is extracted that has been extracted before."""

ROAD = """
import sys, threading
from pydantic import BaseModel
import structured

class Person(BaseModel):
    name: str
    age: int

for text in ("Jason is 25 years old.", "Jason is 25 years old."):
    structured.extract(Person, text)
entered = set()

def note(frame, event, _):
    if event == "call":
        entered.add(frame.f_globals.get("__name__", ""))

sys.setprofile(note)
threading.setprofile(note)
structured.extract(Person, "Ana is 31 years old.")
sys.setprofile(None)
print(*sorted(name for name in entered if name.startswith("structured")))
"""


@pytest.mark.thorough
def test_the_road_of_a_call_is_short() -> None:
    """Who follows a warm call of `extract` from function to function opens few files."""
    entered = run(ROAD).split()
    assert {"structured.extraction.calls", "structured.decoding.scheduler"} <= set(entered)
    assert len(entered) <= MOST_ON_THE_ROAD, entered


def test_each_module_and_each_public_class_has_a_name_of_its_own() -> None:
    """The stem of a module, beside `__init__`, occurs once, and so does the name of a class that a package exports."""
    stems = Counter(module.stem for module in MODULES if module.stem != "__init__")
    assert [stem for stem, number in stems.items() if number > 1] == []
    exported = {name for package in DOORS for name in getattr(import_module(package), "__all__", ())}
    trees = [ast.parse(module.read_text(encoding="utf-8")) for module in MODULES]
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name in sorted(exported) if names[name] > 1] == []


DOORS = ("structured", *(f"structured.{name}" for name in PACKAGES if name not in ("automata", "regex", "vocabulary")))
"""The packages that people import from; the others are the engine's own."""


def test_nobody_reaches_into_an_extraction() -> None:
    """The task and the run of an extractor are read in `extraction/` alone: a result carries what others need."""
    reached = [
        f"{shown(module)}:{node.lineno} {ast.unparse(node)}"
        for module in MODULES
        if package_of(module) in PACKAGES[PACKAGES.index("extraction") + 1 :]
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr in ("_task", "_run"))
        or (isinstance(node, ast.alias) and node.name in ("task_and_run", "result_for"))
    ]
    assert reached == []


def test_an_extractor_has_no_other_public_names() -> None:
    """They are listed here, so that what is internal gets an underscore, or a function of its module."""
    described = {"description", "memory", "model", "output_type", "provenance"}
    calls = {"aresults", "batch", "prompt", "result", "results", "stream"}
    extractor = structured.Extractor(bool, model=ScriptedModel("true"))
    public = {name for name in dir(extractor) if not name.startswith("_")}
    assert public == described | calls | {"verbatim", "with_alternatives", "with_options"}


def test_calls_with_options_have_one_signature() -> None:
    """Of overloads, type checkers would list all, with every option, where one option is misspelt."""
    overloaded = [
        node.name
        for module in MODULES
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if "overload" in map(ast.unparse, node.decorator_list) and "Unpack[Options]" in ast.unparse(node.args)
    ]
    assert overloaded == ["structured"]  # with parentheses; without them, it is a decorator that takes no options


def test_the_engine_knows_no_output_types() -> None:
    """What masks are made of can be used without them: the packages before `output_types`, as the map has them."""
    engine = PACKAGES[: PACKAGES.index("output_types")]
    assert {"regex", "vocabulary", "automata", "json_schema", "index"} <= set(engine)
    for module in MODULES:
        if package_of(module) in engine:
            assert "structured.output_types" not in module.read_text(encoding="utf-8"), shown(module)


def test_every_error_is_public() -> None:
    """Every exception and warning that a user may have to catch is listed in `structured.errors`."""
    kinds = (errors.StructuredError, errors.StructuredWarning)
    raised = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, kinds)}
    assert raised <= set(errors.__all__)


def test_the_package_says_that_it_is_typed() -> None:
    """Without the marker of PEP 561, type checkers take every result of an installed package for Any."""
    assert (HOUSE / "py.typed").is_file()


def test_the_package_lists_its_public_names() -> None:
    """`dir` and completion show what is public: the names, the packages, and those that Python itself asks for."""
    shown = {name for name in dir(structured) if not name.startswith("_")}
    assert shown - set(PACKAGES) == set(structured.__all__)


def test_the_package_says_its_version() -> None:
    """That of the distribution, looked up when it is asked for."""
    assert structured.__version__ == installed_version("structured-extraction")
    with pytest.raises(AttributeError, match="module 'structured' has no attribute 'versoin'"):
        _ = structured.versoin


def test_the_version_is_that_of_the_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked up under the name that the package is built with; sources that are not installed have none."""
    project = tomllib.loads((HOUSE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = {project["name"]: project["version"]}

    def version(name: str) -> str:
        if name not in installed:
            raise PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(commands, "version", version)
    told = CliRunner().invoke(commands.app, ["--version"])
    assert (told.exit_code, told.output) == (0, f"{project['name']} {project['version']}\n")
    installed.clear()
    told = CliRunner().invoke(commands.app, ["--version"])
    assert (told.exit_code, told.stdout) == (1, "")
    assert told.stderr.startswith("structured-extraction is not installed: ")


@pytest.mark.thorough
def test_import_loads_nothing_heavy() -> None:
    """Importing the package brings in neither torch nor transformers: they come with a model."""
    loaded = run("import sys, structured; print(*sys.modules)").split()
    assert not {module.partition(".")[0] for module in loaded} & set(HEAVY)


@pytest.mark.thorough
def test_import_is_quick() -> None:
    """Importing takes less than half a second or, on a busy machine, four times as long as pydantic and NumPy.

    The best of eight times each, in turns: a machine that slows down meanwhile slows both.
    """
    modules = ("structured", "numpy, pydantic, pydantic.json_schema")
    turns = [tuple(map(seconds_to_import, modules)) for _ in range(8)]
    ours, theirs = map(min, zip(*turns, strict=True))
    assert ours < 0.5 or ours < 4 * theirs
