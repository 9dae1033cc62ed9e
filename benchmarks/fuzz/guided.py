"""What the families of constrained answers share: answers are sampled and judged, and texts of a judge are read."""

import warnings
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeAlias, TypeVar

from benchmarks.fuzz import ROOT, support
from benchmarks.fuzz.cases import Trial
from benchmarks.fuzz.writing import WRITERS, Pen, StuckError, written
from structured import Extractor
from structured.automata import Automaton
from structured.automata.byte_automaton import accepts_text
from structured.decoding.generate import compile_type, drop_indexes
from structured.errors import BudgetError, StructuredError
from structured.index.guide import Guide
from structured.models import FunctionModel
from structured.output_types.output_type import OutputType
from structured.vocabulary import Vocabulary

T = TypeVar("T")

Judge: TypeAlias = Callable[[str], bool | None]
"""Tells whether a text is one of the case's; None where that cannot be told."""

Explain: TypeAlias = Callable[[str], str | None]
"""The documented restriction by which a valid text is not written; None if there is none."""

ANSWERS = 32
"""Answers of a case under guides."""

LONGEST = 240
"""Tokens of the shortest answer beyond which none are sampled."""

VOCABULARIES = ("bytes", "smollm2", "bytes", "mistral-v1", "bytes", "llama3", "bytes", "qwen3")
"""The vocabulary of a case, by its seed: that of the tests' byte tokenizer, or a real one beside the repository."""

_LIBRARY_SHARE = 6
"""One case in so many is also written by the whole library, with a model that is a function."""


def drawn(strategy: Any, seed: int, count: int = 3) -> list[Any]:
    """Return what a strategy of hypothesis draws by a seed: up to `count` values, the simplest first."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    found: list[Any] = []

    @seeded(seed)
    @settings(
        max_examples=count,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def take(value: Any) -> None:
        found.append(value)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        take()
    return found


@cache
def pen_of(name: str) -> Pen:
    """Return what writes with a vocabulary; the bytes' where the tokenizer is not beside the repository."""
    doubles = support("doubles")
    if name == "bytes" or not (ROOT.parent / "shared" / "tokenizers" / name).is_dir():
        return Pen(Vocabulary.from_tokenizer(doubles.ByteTokenizer()))
    vocabulary: Vocabulary = doubles.real_vocabulary(name)
    return Pen(vocabulary)


def load_vocabularies() -> None:
    """Load all vocabularies, which takes a while, so that no case has to."""
    for name in VOCABULARIES:
        pen_of(name)


def write_answers(trial: Trial, output_type: OutputType[Any], judge: Judge) -> None:
    """Let writers of all kinds write answers of a type; each has to be one of the judge's, and of the type's parser."""
    rng = trial.case.random("answers")
    pen = pen_of(VOCABULARIES[trial.case.seed % len(VOCABULARIES)])
    try:
        index = compile_type(output_type, pen.vocabulary)
        shortest = index.shortest_completion(index.automaton.start)
        for number in range(ANSWERS if shortest <= LONGEST else 0):
            budget = shortest + rng.choice([0, 0, 1, 2, rng.randrange(20), 40, 40, 120])
            writer = WRITERS[number % len(WRITERS)]
            try:
                guide = Guide(index, max_tokens=budget)
                data = written(guide, pen, writer, rng, forced=number % 3 == 0)
            except BudgetError as error:
                trial.fail("dead end", f"{budget} tokens do not suffice for {shortest}: {error}")
                return
            except StuckError as error:
                trial.fail("dead end", str(error))
                return
            check_answer(trial, output_type, judge, data)
        if trial.case.seed % _LIBRARY_SHARE == 0 and shortest <= LONGEST:
            _write_by_library(trial, output_type, judge)
    finally:
        drop_indexes()


def check_answer(trial: Trial, output_type: OutputType[Any], judge: Judge, data: bytes) -> None:
    """Judge an answer."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        trial.answers += 1
        trial.fail("invalid", "the answer is not UTF-8", answer=repr(data))
        return
    valid = judge(text)
    trial.answers += valid is not None
    if valid is False:
        trial.fail("invalid", "the judge refuses the answer", answer=text)
        return
    try:
        output_type.parse(text)
    except ValueError as error:
        trial.fail("invalid", f"the library does not read its own answer: {error}"[:500], answer=text)


def read_texts(trial: Trial, automaton: Automaton, texts: Iterable[str], judge: Judge, explain: Explain) -> None:
    """Read texts: those that the judge accepts have to be accepted, unless a restriction explains it, and no others."""
    for text in texts:
        if not _is_unicode(text) or (valid := judge(text)) is None:
            continue
        trial.texts += 1
        accepted = accepts_text(automaton, text)
        if accepted and not valid:
            trial.fail("invalid", "a text is accepted that the judge refuses", answer=text)
        elif valid and not accepted:
            reason = explain(text)
            if reason is None:
                trial.fail("unexplained refusal", "a text of the judge is not accepted", answer=text)
            else:
                trial.explained[reason] += 1


def never(_: str) -> None:
    """Explain nothing: all texts of the type are written."""


def near(texts: Iterable[str], trial: Trial, count: int = 1) -> list[str]:
    """Return texts near some others: a few characters dropped, doubled, replaced or slipped in."""
    rng, mutated = trial.case.random("near"), support("random_patterns").mutated
    found = []
    for text in texts:
        for _ in range(count):
            found.append(mutated(text, rng))
            if rng.random() < 0.3 and text:
                start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
                found.append(text[:start] + text[start:end] * 2 + text[end:])
    return found


def _write_by_library(trial: Trial, output_type: OutputType[Any], judge: Judge) -> None:
    """Let models write that are functions, by the whole library: some have peaks, some hate JSON, one has no limits."""
    doubles, seed = support("doubles"), trial.case.seed
    tokenizer = doubles.ByteTokenizer()
    width = len(tokenizer.tokens)
    functions = (
        doubles.random_logits(width, scale=2.0, seed=seed),
        doubles.random_logits(width, scale=50.0, seed=seed),
        doubles.json_hating_logits(tokenizer.tokens),
    )
    for number, function in enumerate(functions):
        model = FunctionModel(function, tokenizer)
        extractor: Any = Extractor(
            output_type, model=model, max_tokens=LONGEST + 60, retries=0, temperature=(0.0, 1.0, 3.0)[number], seed=seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for result in extractor.results(["text", "Ana is 31."]):
                if result.error is None:
                    check_answer(trial, output_type, judge, result.text.encode())
                elif isinstance(result.error, StructuredError):
                    trial.refuse(result.error)
                else:
                    raise result.error


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
