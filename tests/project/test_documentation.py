r"""The documentation is true: its examples run, its links lead somewhere, and its lists are complete.

Every ```python block of README.md and docs/ is run, the blocks of one file in order and in one namespace. A comment
after a statement, on its last line or on the lines below it, states what the statement does:

    1 + 1  # → 2                                 the repr of the value, which may go on over more lines of comment
    print("a\nb")                                or, line by line, what is printed
    # → a
    # b
    int("x")  # raises ValueError: invalid       the error, and how its message starts
    warn("Old.")  # warns UserWarning: Old       the warning, and how its message starts

What is not stated must not happen: an error or a warning that no comment announces fails the test. (Only the notice
that the packaged model answers is free to come, since it comes once in a process.) A block under the comment
`<!-- not run: reason -->` is only parsed.

What is shown must be the value itself. An expression whose value is thrown away, and a judgement of a value in place of
the value, are refused: `answer in ("a", "b")  # → True` may hold for every answer there can be, and hides a wrong one.
"""

import ast
import doctest
import importlib
import inspect
import io
import pydoc
import re
import subprocess
import sys
import tokenize
import tomllib
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import reference_page
from package_map import HOUSE, PACKAGES

import structured
from structured.errors import PackagedModelWarning
from structured.extraction.options import Options

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = (README, *sorted(DOCS.rglob("*.md")))
NEEDED = {"scans": "rapidocr"}
"""Packages without which a page is not run."""

COLUMN = 100
"""How many characters of code fit the column of the site; `docs/.ruff.toml` has it too."""

_FENCE = re.compile(r"^```(?P<language>\w*)$")
_NOT_RUN = re.compile(r"<!-- not run: .+ -->")
_CLAIM = re.compile(r"# (?P<kind>→|raises|warns)(?: (?P<text>.*))?$")
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s#]*)(?:#(?P<anchor>[^)\s]+))?\)")


class Claim(NamedTuple):
    """What a comment states: `→`, `raises` or `warns`, and the text."""

    kind: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return _one_line("\n".join(self.lines))


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    first_line: int
    language: str
    source: str
    runs: bool

    def statements(self) -> Iterator[tuple[ast.stmt, list[Claim]]]:
        """Yield each statement, numbered as the lines of the page, with the claims about it."""
        tree = ast.parse(self.source)
        comments = _comments(self.source)
        lines = self.source.splitlines()
        stated = 0
        for statement in tree.body:
            end = statement.end_lineno or statement.lineno
            texts = [comments[end]] if end in comments else []
            while end < len(lines) and lines[end].startswith("#"):
                texts.append(lines[end])
                end += 1
            stated += len(_claims(texts))
            yield ast.increment_lineno(statement, self.first_line - 1), _claims(texts)
        where = f"{self.page.name}:{self.first_line}"
        assert stated == len(_claims(list(comments.values()))), f"{where}: a comment states something of no statement"


_JUDGING = {"isinstance", "issubclass", "callable", "hasattr", "bool", "all", "any", "type"}
"""Functions that tell something about a value, and the same of many."""


def _judgements(shown: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands in an expression in place of the value that it is about.

    Conditions that choose what is shown (`[x for x in found if x > 0]`) are none, since the values are shown. A list of
    judgements, and one that is printed, is as bad as one.
    """
    match shown:
        case ast.Compare() | ast.BoolOp() | ast.IfExp() | ast.UnaryOp(op=ast.Not()) | ast.Assert():
            yield shown
            return
        case ast.Call(func=ast.Name(id=name)) if name in _JUDGING:
            yield shown
            return
        case ast.comprehension():
            parts: list[ast.AST] = [shown.iter]
        case ast.If() | ast.While():
            parts = [*shown.body, *shown.orelse]
        case ast.Lambda() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            parts = []
        case _:
            parts = list(ast.iter_child_nodes(shown))
    for part in parts:
        yield from _judgements(part)


def _is_hollow(statement: ast.stmt, claims: list[Claim]) -> bool:
    """Tell whether a statement shows a judgement, made on the spot or, if its name stands for a truth value, before."""
    shown = [str(claim) for claim in claims if claim.kind == "→"]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Name) and {*shown} & {"True", "False"}:
        return True
    return bool(shown or isinstance(statement, ast.Assert)) and any(_judgements(statement))


class Outcome(NamedTuple):
    """What a statement did."""

    value: str
    printed: str
    error: Exception | None
    warnings: list[str]


def _blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    open_at: int | None = None
    language, last_text, runs = "", "", True
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        fence = _FENCE.match(line)
        if open_at is None and fence:
            open_at, language, runs = number + 1, fence["language"], not _NOT_RUN.fullmatch(last_text)
        elif open_at is not None and line == "```":
            found.append(Block(page, open_at, language, "\n".join(lines[open_at - 1 : number - 1]), runs))
            open_at = None
        if line.strip():
            last_text = line.strip()
    assert open_at is None, f"{page}:{open_at}: the block is not closed"
    return found


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


def _claims(comments: list[str]) -> list[Claim]:
    """Return the claims of consecutive comments: one starts where a comment names its kind, and goes on from there."""
    claims: list[Claim] = []
    for comment in comments:
        match = _CLAIM.match(comment)
        if match:
            claims.append(Claim(match["kind"], (match["text"],) if match["text"] else ()))
        elif claims:
            claims[-1] = Claim(claims[-1].kind, (*claims[-1].lines, comment.removeprefix("#").removeprefix(" ")))
    return claims


def _execute(statement: ast.stmt, page: Path, namespace: dict[str, Any]) -> Outcome:
    value, error = None, None
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(io.StringIO()) as printed:
        warnings.simplefilter("always")
        try:
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), str(page), "eval"), namespace)  # noqa: S307
            else:
                exec(compile(ast.Module([statement], []), str(page), "exec"), namespace)  # noqa: S102
        except Exception as raised:  # noqa: BLE001  whatever the documentation shows
            error = raised
    given = [warning for warning in caught if not issubclass(warning.category, PackagedModelWarning)]
    shown = [f"{warning.category.__name__}: {warning.message}" for warning in given]
    return Outcome(repr(value), printed.getvalue(), error, shown)


def _check(outcome: Outcome, claims: list[Claim], where: str) -> None:
    stated = {kind: [claim for claim in claims if claim.kind == kind] for kind in ("→", "raises", "warns")}
    if outcome.error is not None and not stated["raises"]:
        outcome.error.add_note(f"in {where}")
        raise outcome.error
    error = f"{type(outcome.error).__name__}: {outcome.error}"
    for claim in stated["raises"]:
        assert outcome.error is not None, f"{where}: nothing was raised"
        assert _one_line(error).startswith(str(claim)), where
    assert len(outcome.warnings) == len(stated["warns"]), f"{where}: {outcome.warnings}"
    for warning, claim in zip(outcome.warnings, stated["warns"], strict=True):
        assert _one_line(warning).startswith(str(claim)), where
    for claim in stated["→"]:
        if outcome.printed:
            assert [line.rstrip() for line in outcome.printed.splitlines()] == list(claim.lines), where
        else:
            assert _one_line(outcome.value) == str(claim), where


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _outside_blocks(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _outside_blocks(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _section(page: Path, heading: str) -> str:
    """Return the text under a heading, up to the next heading that is no deeper."""
    text = page.read_text(encoding="utf-8")
    start = re.search(rf"^(#+) {re.escape(heading)}$", text, flags=re.MULTILINE)
    assert start is not None, f"{page.name} has no heading {heading!r}"
    after = text[start.end() :]
    end = re.search(rf"^#{{1,{len(start[1])}}} ", after, flags=re.MULTILINE)
    return after[: end.start()] if end else after


def _page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture(autouse=True)
def _demonstration_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the packaged model answer, whatever model the reader has named in the environment."""
    monkeypatch.delenv("STRUCTURED_MODEL", raising=False)


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES, ids=_page_name)
def test_examples_in_pages_do_what_their_comments_say(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each block runs after the ones above it, and each comment after an arrow is the value."""
    if page.stem in NEEDED:
        pytest.importorskip(NEEDED[page.stem], reason="An extra is not installed that the page is about.")
    monkeypatch.chdir(tmp_path)  # some write files
    namespace: dict[str, Any] = {"__name__": page.stem}
    for block in _blocks(page):
        if block.language != "python":
            continue
        for statement, claims in block.statements():
            where = f"{_page_name(page)}:{statement.lineno}"
            assert not _is_hollow(statement, claims), f"{where}: show the value, and not what is to be thought of it"
            if block.runs:
                outcome = _execute(statement, page, namespace)
                _check(outcome, claims, where)
                hidden = isinstance(statement, ast.Expr) and outcome.value != repr(None) and not claims
                assert not hidden, f"{where}: this is {outcome.value}, and no comment shows it"


@pytest.mark.parametrize(
    "hollow",
    [
        *("answer in ('a', 'b')", "answer is None or answer.missing == ()", "answer == answer", "len(answer) >= 0"),
        *(
            "not answer",
            "isinstance(answer, str)",
            "type(answer)",
            "bool(answer)",
            "any(answer)",
            "hasattr(answer, 'a')",
        ),
        *(
            "[answer != '']",
            "{'right': answer in Topic}",
            "print(answer in Topic)",
            "str(answer == 1)",
            "assert answer",
        ),
        *("[one in Topic for one in answers]", "'fine' if answer else 'fine'", "print('a' if answer else 'a')"),
        *("all(one.age for one in answers)", "found.append(answer in Topic)", "f'{answer in Topic}'", "is_right"),
    ],
)
def test_expectations_that_hide_the_answer_are_found(hollow: str) -> None:
    """Whatever form they have: a judgement, one inside of a value, one that is printed, one that was made before."""
    ((statement, claims),) = Block(README, 1, "python", f"{hollow}  # → True", runs=True).statements()
    assert _is_hollow(statement, claims)


@pytest.mark.parametrize(
    "shown",
    [
        *(
            "extract(bool, 'yes')",
            "answer.stated",
            "[one for one in answers if one.age > 1]",
            "len(answer)",
            "answer.missing",
        ),
        *("print(answer, end='')", "sorted(answers, key=lambda one: one.age == 3)", "{a: b for a, b in c if a in b}"),
        *("automaton.accepts(state)", "found[3]", "max(answers)", "def f(): return a == b"),
    ],
)
def test_expectations_that_show_the_answer_are_let_be(shown: str) -> None:
    """Conditions may choose what is shown, or stand in a body that is defined."""
    ((statement, claims),) = Block(README, 1, "python", f"{shown}  # → True", runs=True).statements()
    assert not _is_hollow(statement, claims)


def test_comments_that_state_nothing_are_found() -> None:
    """A claim inside a body, or after a blank line, would never be checked."""
    for source in ("def f():\n    g()  # → 1\n    h()", "1 + 1\n\n# → 2"):
        with pytest.raises(AssertionError, match="of no statement"):
            list(Block(README, 1, "python", source, runs=True).statements())


def test_wrong_comments_are_found() -> None:
    """The checker itself: each false or missing claim fails."""
    namespace: dict[str, Any] = {}
    for source in (
        "1 + 1  # → 3",
        "print('a')\n# → b",
        "int('x')  # raises ValueError: valid",
        "int('x')  # raises TypeError",
        "int('x')",
        "int('1')  # raises ValueError",
        "__import__('warnings').warn('Old.')",
        "1  # warns UserWarning",
    ):
        ((statement, claims),) = Block(README, 1, "python", source, runs=True).statements()
        outcome = _execute(statement, README, namespace)
        with pytest.raises((AssertionError, ValueError)):
            _check(outcome, claims, "here")


@pytest.mark.parametrize("page", [page for page in PAGES if page != DOCS / "log.md"], ids=_page_name)
def test_blocks_fit_the_column(page: Path) -> None:
    """No line of a block is longer than the column of the site."""
    lines = [line for block in _blocks(page) for line in block.source.splitlines()]
    assert [line for line in lines if len(line) > COLUMN] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=_page_name)
def test_links_lead_somewhere(page: Path) -> None:
    """Each relative link names a file or folder, and each anchor a heading in it."""
    for link in _LINK.finditer(_outside_blocks(page)):
        if "://" in link["target"]:
            continue
        target = (page.parent / link["target"]).resolve() if link["target"] else page
        assert target.is_relative_to(ROOT), link[0]
        assert target.exists(), link[0]
        if link["anchor"]:
            assert link["anchor"] in _anchors(target), link[0]


def test_modules_that_are_named_are_there() -> None:
    """A module in backquotes, `index/masks.py`, is one of the repository, by the end of its path."""
    folders = ("structured", "build_tools", "tests", "benchmarks", "training", "examples")
    modules = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    written = [*(DOCS / f"{name}.md" for name in ("contributing", "design")), *sorted(HOUSE.rglob("*.py"))]
    named = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in written
        for name in re.findall(r"`([a-z_0-9/]+\.py)`", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 50
    assert {(path, name) for path, name in named if not any(module.match(name) for module in modules)} == set()


def test_the_readme_gives_both_commands() -> None:
    """One line to install and try, one to install and test, each a block of its own or a line of one."""
    lines = [line for block in _blocks(README) for line in block.source.splitlines()]
    assert "pip install -c constraints.txt . && structured demo" in lines
    assert "pip install -c constraints.txt -e '.[test]' && pytest -n 2" in lines


def test_the_readme_is_short() -> None:
    """A newcomer reads it in ten minutes."""
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


def test_the_map_lists_every_package_in_order() -> None:
    """The README's map is the package on disk, in the order in which modules may import."""
    trees = [block.source for block in _blocks(README) if block.source.startswith("structured/\n")]
    (tree,) = trees
    names = re.findall(r"^[├└]── (\S+)", tree, flags=re.MULTILINE)
    assert tuple(name.removesuffix("/").removesuffix(".py") for name in names) == PACKAGES
    for name in names:
        assert (HOUSE / name).is_dir() if name.endswith("/") else (HOUSE / name).is_file()


def _referenced() -> list[str]:
    """Return the dotted names of which the reference page shows the docstrings."""
    return re.findall(r"^::: (\S+)$", (DOCS / "reference.md").read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_the_reference_has_every_public_name() -> None:
    """Each once; what it shows besides exists."""
    names = _referenced()
    assert len(names) == len({*names})
    assert {f"structured.{name}" for name in structured.__all__} <= {*names}
    assert all(pydoc.locate(name) is not None for name in names)


def test_the_tables_of_the_reference_are_those_of_the_docstrings() -> None:
    """A line for each option and for each name; `python tests/support/reference_page.py` writes them."""
    page = reference_page.PAGE.read_text(encoding="utf-8")
    assert page == reference_page.with_tables(page)
    listed = [name.strip("`") for name in re.findall(r"^\| (`\S+`) \|", page, flags=re.MULTILINE)]
    assert sorted(listed) == sorted(
        [*(name.removeprefix("structured.") for name in _referenced()), *Options.__annotations__]
    )


def test_the_examples_of_docstrings_are_true() -> None:
    """What stands after `>>>` in the package gives what stands below it."""
    paths = [path for path in sorted(HOUSE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(HOUSE.parent).with_suffix("").parts) for path in paths]
    results = {name: doctest.testmod(importlib.import_module(name.removesuffix(".__init__"))) for name in names}
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted for result in results.values()) > 0


@pytest.mark.parametrize("name", structured.__all__)
def test_docstrings_name_what_the_reference_should_show(name: str) -> None:
    """Of functions and classes each parameter, and of errors each attribute."""
    public = getattr(structured, name)
    documented = inspect.getdoc(public) or ""
    assert documented
    if inspect.isfunction(public) and "as `extract" not in documented and "what `extract" not in documented:
        assert all(re.search(rf"^    {parameter}: ", documented, re.MULTILINE) for parameter in _parameters(public))


def _parameters(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in Options.__annotations__]


def test_every_option_is_explained() -> None:
    """In the docstring, which `help` and the reference show, and in its order."""
    explained = re.findall(r"^    (\w+): \S", inspect.getdoc(Options) or "", flags=re.MULTILINE)
    assert explained == list(Options.__annotations__)


def test_the_navigation_has_every_page_once() -> None:
    """Under five tabs; the guides are in groups. Decisions and measurements of the past are not offered to users."""
    settings = (ROOT / ".mkdocs.yml").read_text(encoding="utf-8")
    navigation = settings.partition("\nnav:\n")[2].partition("\n\n")[0]
    pages = re.findall(r"\S+\.md$", navigation, re.MULTILINE)
    left_out = re.findall(r"^  /(\S+\.md)$", settings, re.MULTILINE)
    assert left_out == ["design.md", "log.md"]
    assert sorted(pages + left_out) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
    tabs = re.findall(r"^  - (\S+):$", navigation, re.MULTILINE)
    assert tabs == ["Start", "Guides", "Reference", "Measured", "Project"]


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """From all pages, all docstrings and all examples, without the network."""
    pytest.importorskip("mkdocs", reason="The extra docs builds the site.")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", ".mkdocs.yml", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    pages = [page.read_text(encoding="utf-8") for page in tmp_path.rglob("*.html")]
    assert pages
    assert not [
        page for page in pages if re.search(r'src="?https?:|<link[^>]* rel="?stylesheet"?[^>]* href="?https?:', page)
    ]


def test_the_changelog_knows_the_version() -> None:
    """Its first entry is the version that is being built."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entries = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert entries[0] == project["version"]
