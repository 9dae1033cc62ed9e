"""Regular expressions in Python's dialect, judged by `re.fullmatch`."""

import random
import re
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from benchmarks.fuzz import support
from benchmarks.fuzz.cases import Trial
from benchmarks.fuzz.guided import Judge, near, never, read_texts, write_answers
from structured import Regex
from structured.errors import PatternError
from structured.output_types.output_type import automaton_of

LITERALS: tuple[str, ...] = (*"abAé_ -\n0", r"\.", "🙂", "ab", r"\x41", r"\t")
CLASSES: tuple[str, ...] = (
    *("[ab]", "[^a]", "[a-c0-9]", ".", r"\d", r"\w", r"\W", r"\s", r"\S", "[^\\W\\d_]", "[é-ü]", r"[\s\S]", "[]^-]"),
    *("[🙂-🙃a]", r"[^\n\r]", r"[\d.-]", "[A-z]", r"\D"),
)
ANCHORS = ("^", "$", r"\b", r"\B", r"\A", r"\Z", "(?m:^)", "(?m:$)")
QUANTIFIERS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,3}?", "{2,}", "{,2}", "*+", "++", "?+", "{1,3}+")
OPENINGS = ("(?:", "(?:", "(", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?s:", "(?a:", "(?-i:", "(?x:")
FLAGS = (0, 0, 0, 0, re.IGNORECASE, re.MULTILINE, re.DOTALL, re.ASCII, re.IGNORECASE | re.MULTILINE)
ALPHABET = "abABé_ -\n0.🙂1cK\u212a\r"
JUDGED_WITHIN = 0.5
"""Seconds in which `re` has to judge a text."""


def try_expression(trial: Trial) -> None:
    """Try a random expression, or one of those of the tests with changes."""
    rng = trial.case.random()
    expression, flags = _expression(rng)
    trial.shown = f"re.compile({expression!r}, {flags})"
    compiled = _compiled(expression, flags)
    if compiled is None:
        return
    judge = judge_of(compiled)
    made = [text for _ in range(16) if (text := sampled(compiled, rng)) is not None]
    try:
        output_type = Regex(expression, flags=flags)
        automaton = automaton_of(output_type, None)
    except PatternError as error:
        if error.problem == "No text matches" and any(map(judge, made)):
            trial.fail("unexplained refusal", f"an expression that matches texts: {error.problem}")
        raise
    wild = ["".join(rng.choices(ALPHABET, k=rng.randrange(6))) for _ in range(6)]
    read_texts(trial, automaton, ["", *made, *near(made, trial), *wild], judge, never)
    write_answers(trial, output_type, judge)


def random_expression(rng: random.Random, depth: int = 3) -> str:
    """Return an expression, mostly one that `re` reads."""
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return rng.choice(LITERALS if rng.random() < 0.6 else CLASSES)
    if kind < 0.3:
        return rng.choice(ANCHORS)
    if kind < 0.55:
        return "".join(random_expression(rng, depth - 1) for _ in range(rng.randint(2, 4)))
    if kind < 0.72:
        return f"(?:{random_expression(rng, depth - 1)}){rng.choice(QUANTIFIERS)}"
    if kind < 0.84:
        return f"(?:{'|'.join(random_expression(rng, depth - 1) for _ in range(rng.randint(2, 3)))})"
    return f"{rng.choice(OPENINGS)}{random_expression(rng, depth - 1)})"


def judge_of(compiled: "re.Pattern[str]") -> Judge:
    """Return the judge by an expression; it does not tell where `re` takes long."""

    def judge(text: str) -> bool | None:
        try:
            with within(JUDGED_WITHIN):
                return compiled.fullmatch(text) is not None
        except TimeoutError:
            return None

    return judge


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError where a judge takes longer."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)  # again, where a destructor swallows it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def sampled(compiled: "re.Pattern[str]", rng: random.Random) -> str | None:
    """Return a text that may match, by a walk down the tree that `re` makes; None where it is too long."""
    parser = import_module("re._parser")
    groups: dict[int, str] = {}
    tree = parser.parse(compiled.pattern, compiled.flags)
    text = "".join(_piece(str(op), argument, rng, groups, 12) for op, argument in tree)
    return text if len(text) <= 80 else None


def _piece(op: str, argument: Any, rng: random.Random, groups: dict[int, str], depth: int) -> str:  # noqa: C901  one case for each operation
    """Return a text of one node."""

    def inside(items: Any) -> str:
        return "".join(_piece(str(op), argument, rng, groups, depth - 1) for op, argument in items)

    if depth == 0:
        return ""
    match op:
        case "LITERAL":
            return str(rng.choice((chr(argument), chr(argument), chr(argument).swapcase())))
        case "NOT_LITERAL" | "ANY":
            return rng.choice(ALPHABET)
        case "IN":
            return _member(argument, rng)
        case "BRANCH":
            return inside(rng.choice(argument[1]))
        case "SUBPATTERN":
            text = inside(argument[3])
            if argument[0] is not None:
                groups[argument[0]] = text
            return text
        case "ATOMIC_GROUP":
            return inside(argument)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most = int(argument[0]), min(int(argument[1]), int(argument[0]) + 3)
            return "".join(inside(argument[2]) for _ in range(rng.randint(least, most))) if least < 40 else ""
        case "GROUPREF":
            return groups.get(argument, "")
        case "GROUPREF_EXISTS":
            return inside((argument[1] if argument[0] in groups else argument[2]) or ())
        case "ASSERT":
            return inside(argument[1]) if rng.random() < 0.3 else ""
    return ""


def _member(items: Any, rng: random.Random) -> str:
    """Return a character of a class, or any other."""
    op, argument = rng.choice(items)
    match str(op):
        case "LITERAL":
            return chr(argument)
        case "RANGE":
            return chr(rng.choice((*argument, rng.randint(*argument))))
        case "CATEGORY":
            samples = {"DIGIT": "07٣", "SPACE": " \n\t", "WORD": "aé_9K"}
            name = str(argument).removeprefix("CATEGORY_").removeprefix("UNI_")
            return rng.choice(samples.get(name, "-. a"))
    return rng.choice(ALPHABET)


def _expression(rng: random.Random) -> tuple[str, int]:
    if rng.random() < 0.6:
        return random_expression(rng, rng.choice((2, 3, 3, 4))), rng.choice(FLAGS)
    known: Any = rng.choice(support("python_patterns").PATTERNS)
    expression, flags = known if isinstance(known, tuple) else (known, 0)
    other = rng.choice(support("python_patterns").PATTERNS)
    other = other[0] if isinstance(other, tuple) else other
    changes = (
        expression,
        f"(?:{expression})(?:{other})",
        f"(?:{expression}|{other})",
        f"(?:{expression}){rng.choice(QUANTIFIERS)}",
        f"(?={expression}){other}",
        f"{expression[: len(expression) // 2]}{other}",
        f"(?:{expression})(?<={other})",
        f"(?!{expression})(?:{other})",
    )
    return rng.choice(changes), flags


def _compiled(expression: str, flags: int) -> "re.Pattern[str] | None":
    """Return a compiled expression; None where `re` does not read it, as most halves of two."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(expression, flags)
    except (re.error, OverflowError, RecursionError):
        return None
