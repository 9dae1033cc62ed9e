"""The library against the official test suite of JSON Schema: `python -m benchmarks.json_schema_suite SUITE.ZIP`.

Each schema of the suite is compiled, and each instance is read by its automaton. What the suite calls valid should be
accepted and nothing else; a schema that is refused is the lesser evil, and an invalid instance that is accepted the
greatest. What is not right is listed in a file beside the tests, so that nothing that once was right is lost.
"""

import argparse
import hashlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from structured.automata import DEAD, RegularAutomaton
from structured.errors import PatternError, SchemaError, UnsatisfiableError
from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.document.location import Compilation, Reading
from structured.json_schema.schema_compiler import compiled
from structured.json_schema.whitespace import read_whitespace

ROOT = Path(__file__).parent.parent
SUITE = ROOT.parent / "shared" / "json-schema-test-suite" / "suite.zip"
"""Kept beside the repository."""

BASELINE = ROOT / "tests" / "json_schema" / "json_schema_suite.txt"
SUPPORT = ROOT / "docs" / "support.md"

DRAFTS = {
    "draft4": SchemaDraft.DRAFT_4,
    "draft6": SchemaDraft.DRAFT_6,
    "draft7": SchemaDraft.DRAFT_7,
    "draft2019-09": SchemaDraft.DRAFT_2019_09,
    "draft2020-12": SchemaDraft.DRAFT_2020_12,
}
"""By the suite's names of them."""

REMOTES = "http://localhost:1234/"
"""Where the suite has its folder of documents that schemas refer to."""

RIGHT, REFUSED, REJECTS_VALID, ACCEPTS_INVALID = GRADES = ("right", "refused", "rejects valid", "accepts invalid")
"""From the best to the worst."""

Place = tuple[str, int, int]
"""Where a test stands: the file, as `draft7/optional/format/date`, the group's number in it and the test's in that."""

Fault = tuple[str, str, str]
"""A file, a grade that is not right, and where: `3.1` is test 1 of group 3, and `3` is the group, refused whole."""


@dataclass(frozen=True, slots=True)
class Group:
    """A schema of the suite with its tests, and where it stands."""

    file: str
    number: int
    schema: Any
    tests: list[dict[str, Any]]
    documents: Mapping[str, Any] = field(default_factory=dict)

    @property
    def draft(self) -> str:
        """The suite's name of the draft."""
        return self.file.partition("/")[0]


def kind_of(file: str) -> str:
    """Return what the tests of a file are: `"draft7/optional/format/date"` → `"format"`."""
    inner = file.partition("/")[2]
    return "format" if inner.startswith("optional/format/") else inner.partition("/")[0] if "/" in inner else "required"


def main() -> None:
    """Grade the tests and print the table, or write the list of what is not right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("zip", type=Path, nargs="?", default=SUITE, help="a zip file with the folder `tests`")
    parser.add_argument("--update", action="store_true", help="write down what is not right, for the tests")
    parser.add_argument("--by-keyword", action="store_true", help="one row for each file of the suite")
    arguments = parser.parse_args()
    grades = {place: grade for group in groups(arguments.zip) for place, grade in graded(group).items()}
    if arguments.update:
        BASELINE.write_text(faults_to_text(faults(grades), edition(arguments.zip)), encoding="utf-8")
        SUPPORT.write_text(with_figures(SUPPORT.read_text(encoding="utf-8"), grades), encoding="utf-8")
    print(table(grades, by_keyword if arguments.by_keyword else by_draft))


def groups(suite: Path, drafts: Iterable[str] = DRAFTS) -> Iterator[Group]:
    """Yield the groups of some drafts."""
    with zipfile.ZipFile(suite) as archive:
        texts = {name: archive.read(name) for name in sorted(archive.namelist()) if name.endswith(".json")}
    documents = {
        REMOTES + name.removeprefix("remotes/"): json.loads(text)
        for name, text in texts.items()
        if name.startswith("remotes/")
    }
    for draft in drafts:
        for name, text in texts.items():
            if name.startswith(f"tests/{draft}/"):
                file = name.removeprefix("tests/").removesuffix(".json")
                for number, group in enumerate(json.loads(text)):
                    yield Group(file, number, group["schema"], group["tests"], documents)


def edition(suite: Path) -> str:
    """Return what tells this edition of the suite from others, in which the numbers may be others."""
    return hashlib.sha256(suite.read_bytes()).hexdigest()[:16]


def graded(group: Group) -> dict[Place, str]:
    """Return the grade of each test of a group, apart from those whose instance cannot be written as UTF-8."""
    tests = {number: test for number, test in enumerate(group.tests) if _is_writable(test["data"])}
    try:
        automaton = _automaton(group)
        kinds = () if group.file.endswith("zeroTerminatedFloats") else (float, int)
        grades = {number: _grade(automaton, test, kinds) for number, test in tests.items()}
    except (SchemaError, PatternError):
        grades = dict.fromkeys(tests, REFUSED)
    return {(group.file, group.number, number): grade for number, grade in grades.items()}


def _is_writable(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _automaton(group: Group) -> RegularAutomaton | None:
    """Return the automaton of a group's schema; None if nothing is valid."""
    try:
        compilation = Compilation(
            group.schema,
            read_whitespace("compact"),
            Reading.SPECIFICATION,
            optional_properties="schema",
            asserts_formats=kind_of(group.file) != "required",  # where they are annotations, says the suite
            documents=group.documents,
            draft=DRAFTS[group.draft],
        )
        return RegularAutomaton(compiled(compilation))
    except UnsatisfiableError:
        return None


def _grade(automaton: RegularAutomaton | None, test: dict[str, Any], kinds: Iterable[type[int | float]]) -> str:
    """Return the grade of a test. Whole numbers may be of each of some kinds: 2.0 is 2, which has one spelling."""
    values = [test["data"], *(_respelled(test["data"], kind) for kind in kinds)]
    accepted = automaton is not None and any(accepts(automaton, value) for value in values)
    if accepted == test["valid"]:
        return RIGHT
    return ACCEPTS_INVALID if accepted else REJECTS_VALID


def _respelled(value: object, kind: type[int | float]) -> object:
    """Return a value with each whole number as an integer or as a float."""
    if isinstance(value, list):
        return [_respelled(item, kind) for item in value]
    if isinstance(value, dict):
        return {key: _respelled(member, kind) for key, member in value.items()}
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 2**53 or value % 1:
        return value
    return kind(value)


def accepts(automaton: RegularAutomaton, value: object) -> bool:
    """Tell whether a value is accepted with its keys in some order: objects of JSON have none, those of a text do."""
    return any(automaton.accepts(state) for state in _after(automaton, {automaton.start}, value))


def _after(automaton: RegularAutomaton, states: set[int], value: object) -> set[int]:
    """Return the states after the compact texts of a value, one for each order of its keys."""
    if isinstance(value, list):
        states = _read(automaton, states, "[")
        for position, item in enumerate(value):
            states = _after(automaton, _read(automaton, states, "," if position else ""), item)
        return _read(automaton, states, "]")
    if isinstance(value, dict):
        return _read(automaton, _after_members(automaton, _read(automaton, states, "{"), value), "}")
    return _read(automaton, states, json.dumps(value, ensure_ascii=False))


def _after_members(automaton: RegularAutomaton, states: set[int], value: dict[str, object]) -> set[int]:
    """Return the states after the members of an object, by way of those after each set of as many of them."""
    reached = {frozenset[str](): states}
    for count in range(len(value)):
        longer: dict[frozenset[str], set[int]] = {}
        for written, before in reached.items():
            for key in value.keys() - written:
                named = _read(automaton, before, ("," if count else "") + json.dumps(key, ensure_ascii=False) + ":")
                after = _after(automaton, named, value[key])
                if after:
                    longer.setdefault(written | {key}, set()).update(after)
        reached = longer
    return reached.get(frozenset(value), set())


def _read(automaton: RegularAutomaton, states: set[int], text: str) -> set[int]:
    """Return the states after a text."""
    for byte in text.encode():
        states = {automaton.step(state, byte) for state in states} - {DEAD}
    return states


def faults(grades: Mapping[Place, str]) -> list[Fault]:
    """Return what is not right, in order, refused groups as one."""
    found = {
        (file, grade, str(group) if grade == REFUSED else f"{group}.{test}"): None
        for (file, group, test), grade in grades.items()
        if grade != RIGHT
    }
    return sorted(found, key=lambda fault: (fault[:2], [*map(int, fault[2].split("."))]))


def faults_to_text(found: Iterable[Fault], suite: str) -> str:
    """Return a list of faults in one edition of the suite, a line for each file and grade."""
    numbers: dict[str, list[str]] = {}
    for file, grade, number in found:
        numbers.setdefault(f"{file}, {grade}", []).append(number)
    return "\n".join([f"edition: {suite}", *(f"{key}: {' '.join(listed)}" for key, listed in numbers.items()), ""])


def text_to_faults(text: str) -> tuple[list[Fault], str]:
    """Return the faults that are listed, and the edition of the suite."""
    (_, suite), *lines = (line.split(": ") for line in text.splitlines())
    return [(*_file_and_grade(key), number) for key, numbers in lines for number in numbers.split()], suite


def _file_and_grade(key: str) -> tuple[str, str]:
    file, grade = key.split(", ")
    return file, grade


def table(grades: Mapping[Place, str], row: Callable[[str], str]) -> str:
    """Return as Markdown how many tests have each grade, by the row that their file belongs to."""
    counts: dict[str, Counter[str]] = {}
    for (file, _, _), grade in grades.items():
        counts.setdefault(row(file), Counter())[grade] += 1
    lines = [f"| | tests | {' | '.join(GRADES)} | supported |", "|---" * (len(GRADES) + 3) + "|"]
    for name, found in counts.items():
        supported = 1 - found[REFUSED] / found.total()
        numbers = [found.total(), *(found[grade] for grade in GRADES)]
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} | {supported:.1%} |")
    return "\n".join(lines)


def with_figures(page: str, grades: Mapping[Place, str]) -> str:
    """Return the page of what is supported with the figures of each file of the suite that it names up to date.

    A row ends in the name of a file, and before it, once it is filled in, how many of its tests are right.
    """
    counts: dict[str, Counter[str]] = {}
    for (file, _, _), grade in grades.items():
        counts.setdefault(by_keyword(file), Counter())[grade] += 1

    def figures(row: re.Match[str]) -> str:
        found = counts.get(row["file"])
        return row[0] if found is None else f"| {found[RIGHT]} of {found.total()}, {row['file']} |"

    return re.sub(r"\| (?:\d+ of \d+, )?(?P<file>[-\w/]+) \|$", figures, page, flags=re.MULTILINE)


def by_draft(file: str) -> str:
    """Return the row of a file where drafts are told apart: `draft7, format`."""
    return f"{file.partition('/')[0]}, {kind_of(file)}"


def by_keyword(file: str) -> str:
    """Return the row of a file where drafts are taken together: `optional/format/date`."""
    return file.partition("/")[2]


if __name__ == "__main__":
    main()
