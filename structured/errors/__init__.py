"""Every exception and warning of the library, in one tree.

    StructuredError
    ├── SchemaError        a type or a schema keyword that cannot be honoured exactly
    ├── PatternError       a regular expression that cannot be compiled
    ├── VocabularyError    a tokenizer whose tokens cannot be read as bytes, or cannot spell every text
    ├── PromptError        an empty prompt, or one that does not fit in the model's context
    ├── ModelError         a model that cannot be found, loaded or called
    │   └── OutOfMemoryError   not even one text fits on the model's device
    ├── BudgetError        max_tokens too small for even the shortest answer
    ├── IncompleteError    a loop that is not the library's own stopped in the middle of an answer
    ├── GenerationError    every attempt was rejected by the type's own validators
    └── BatchError         some documents of a batch failed; holds the results of the others

    StructuredWarning
    ├── DemonstrationWarning    no model was named: the small one in the package answers
    ├── OptionWarning           an option has no effect beside the others
    ├── BudgetWarning           max_tokens, or the context of the model, shortened answers
    └── CacheWarning            an entry of the cache on disk is not what the library writes, and is not used

Each message says what is wrong, where, and what to do. The facts are fields as well, so that a program can act on them.

All of them can be pickled and copied, with message, fields and notes; causes and tracebacks stay behind, as with every
exception of Python. A field may hold what cannot be pickled, such as an error of a validator's own: the pickled form
then has a stand-in in its place, for one that raises when it is read makes a `multiprocessing.Pool` wait for ever.
"""

import copy
import pickle
import reprlib
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import Any, NamedTuple, Self, TypeVar


class _Portable(BaseException):
    """An exception that is pickled and copied by its message and fields, not by the arguments that it was made with."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _bare, (type(self), self.args), _picklable(vars(self))

    def __str__(self) -> str:
        """Return the message; half of a character in it, which cannot be printed, as its escape."""
        return super().__str__().encode(errors="backslashreplace").decode()

    def __copy__(self) -> Self:
        twin = _bare(type(self), self.args)
        vars(twin).update(vars(self))
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self)] = twin = _bare(type(self), self.args)
        vars(twin).update(copy.deepcopy(vars(self), memo))
        return twin


class StructuredError(_Portable, Exception):
    """The base of every error that the library raises on purpose."""


class SchemaError(StructuredError):
    """A type or schema that cannot be honoured exactly.

    `schema_path` is a JSON Pointer into the JSON Schema ("" is its root), after a URI and `#` where the schema refers
    to another document; `keyword` is the keyword at fault, if one is.
    """

    def __init__(self, problem: str, *, schema_path: str = "", keyword: str | None = None, remedy: str) -> None:
        self.problem = problem
        self.schema_path = schema_path
        self.keyword = keyword
        self.remedy = remedy
        where = [f"at #{schema_path}" if schema_path.startswith("/") else f"at {schema_path}"] if schema_path else []
        where += [f"keyword {keyword!r}"] if keyword else []
        super().__init__(f"{problem} ({', '.join(where)}). {remedy}" if where else f"{problem}. {remedy}")


class PatternError(StructuredError):
    """A regular expression that cannot be compiled. `pattern` is its text."""

    def __init__(self, problem: str, *, pattern: str, remedy: str) -> None:
        self.problem = problem
        self.pattern = pattern
        self.remedy = remedy
        shown = pattern if len(pattern) <= 200 else f"{pattern[:200]}… ({len(pattern):,} characters)"
        super().__init__(f"{problem}, in the pattern {shown!r}. {remedy}")


class VocabularyError(StructuredError):
    """A tokenizer whose tokens cannot be read as bytes, or cannot spell every text."""


class PromptError(StructuredError):
    """A prompt that is empty, or longer than the model's context allows."""


class ModelError(StructuredError):
    """A model that cannot be found, loaded or called."""


class OutOfMemoryError(ModelError):
    """The device of a model has no memory left. Of several texts, fewer are tried; this is raised if it was one."""


class BudgetError(StructuredError):
    """The token budget is smaller than the shortest answer. Raised before anything is generated."""

    def __init__(self, *, max_tokens: int, shortest: int) -> None:
        self.max_tokens = max_tokens
        self.shortest = shortest
        super().__init__(
            f"The shortest answer of this type takes {shortest} tokens, and only {max_tokens} are allowed. "
            f"Raise max_tokens to {shortest} or more, or shorten the prompt if the context is full."
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One generated text and the reason why the type rejected it."""

    text: str
    error: Exception

    def __reduce__(self) -> tuple[Any, ...]:
        return _attempt, (self.text, _picklable(self.error), getattr(self.error, "__notes__", ()))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class GenerationError(StructuredError):
    """Every attempt at an answer was valid for the schema but rejected by the type's own validators.

    `attempts` holds each text with its validation error; `document` is the position in the batch.
    """

    def __init__(self, attempts: Sequence[Attempt], *, document: int = 0) -> None:
        self.attempts = tuple(attempts)
        self.document = document
        shown = "\n".join(
            f"  {number}. {attempt.text}\n     {_one_line(attempt.error)}" for number, attempt in enumerate(attempts, 1)
        )
        tried = f"All {len(self.attempts)} attempts" if len(self.attempts) > 1 else "The only attempt"
        super().__init__(
            f"{tried} at document {document} failed validators that the mask cannot enforce:\n{shown}\n"
            "Allow more retries, raise the temperature, or state the rule in the prompt."
        )


class IncompleteError(StructuredError):
    """A loop that is not the library's own stopped in the middle of an answer. `document` is its row in the batch.

    `text` is what there is of it, in `tokens` tokens; all of it would take `max_tokens` at most, and an end token.
    """

    def __init__(self, text: str, *, document: int, tokens: int, max_tokens: int) -> None:
        self.text = text
        self.document = document
        self.tokens = tokens
        self.max_tokens = max_tokens
        shown = text if len(text) <= 60 else f"…{text[-60:]}"
        super().__init__(
            f"The answer in row {document} is incomplete: the loop stopped after {tokens} of its tokens, behind "
            f"{shown!r}. Let it go on: set max_new_tokens to {max_tokens + 1}, one more than the max_tokens of the "
            "processor, and leave out what else stops it before."
        )


class BatchError(StructuredError):
    """Some documents of a batch failed. `results` are in input order, None where `errors` has the reason."""

    def __init__(self, results: Sequence[object], errors: Mapping[int, StructuredError]) -> None:
        self.results = tuple(results)
        self.errors = dict(errors)
        first = next(iter(self.errors.values()))
        failed, total = len(self.errors), len(self.results)
        found = (
            f"{failed} of {total} documents failed; the others are in `results`"
            if failed < total
            else (f"All {total} documents failed" if total > 1 else "The only document failed")
        )
        super().__init__(f"{found}, the reasons in `errors`. The first: {first}")


def _one_line(error: Exception) -> str:
    shown = " ".join(str(error).split())
    return shown if isinstance(error, ValueError) else f"{type(error).__name__}: {shown}"


def described(value: object) -> str:
    """Return what a message says of a wrong value: its kind and, shortened, how it is written."""
    try:
        written = " ".join(reprlib.repr(value).split())
    except ValueError:  # an integer with more digits than Python writes
        written = "…"
    return written if value is None else f"{type(value).__name__} {written}"


class StructuredWarning(_Portable, UserWarning):
    """The base of every warning that the library gives."""


class DemonstrationWarning(StructuredWarning):
    """No model was named, and the small demonstration model of the package answers."""


class OptionWarning(StructuredWarning):
    """An option has no effect beside the others, such as `top_p` where nothing is drawn."""


class BudgetWarning(StructuredWarning):
    """`max_tokens` or the model's context shortened answers: they may lack what the model still meant to write.

    `documents` are their positions in the batch.
    """

    def __init__(self, message: str, *, documents: Sequence[int] = ()) -> None:
        self.documents = tuple(documents)
        super().__init__(message)


class CacheWarning(StructuredWarning):
    """An entry of the cache on disk is not what the library writes. It is not used; what it held is computed."""


class Line(NamedTuple):
    """A line of a program, as `warnings.warn_explicit` takes it."""

    filename: str
    number: int
    module: str
    registry: dict[Any, Any]


_SKIPPED = {"structured", "asyncio", "typing"}
"""What a call of the library runs through: itself, the event loop, and `Extractor[Person](…)`."""

_awaiting: ContextVar[Line | None] = ContextVar("_awaiting", default=None)


def calling_line() -> Line:
    """Return the line of the user's program from which the library was called; the outermost if all are of others."""
    frame = sys._getframe(1)  # noqa: SLF001  what warnings do as well
    while frame.f_back is not None and _module(frame).partition(".")[0] in _SKIPPED:
        frame = frame.f_back
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    return Line(frame.f_code.co_filename, frame.f_lineno, _module(frame), registry)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


@contextmanager
def warnings_at(line: Line) -> Iterator[None]:
    """Let warnings point to a line meanwhile, also those of another thread, on whose stack that line is not."""
    token = _awaiting.set(line)
    try:
        yield
    finally:
        _awaiting.reset(token)


def warn(warning: StructuredWarning) -> None:
    """Give a warning that points to the line of the user's program from which the library was called."""
    line = _awaiting.get() or calling_line()
    warnings.warn_explicit(warning, None, line.filename, line.number, line.module, line.registry)


class StandInError(ValueError):
    """What a pickled `Attempt` has in place of an error that cannot be pickled: its message, and its `kind` by name."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message, kind)
        self.kind = kind

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class StandIn:
    """What a pickled error has in place of a value that cannot be pickled: its `kind` by name, and how it is shown."""

    kind: str
    shown: str


E = TypeVar("E", bound=BaseException)


def _bare(kind: type[E], args: tuple[Any, ...]) -> E:
    """Return an exception with its arguments, none of its own code having been run."""
    return kind.__new__(kind, *args)


def _attempt(text: str, error: Exception, notes: Sequence[str]) -> Attempt:
    """Return an attempt that was pickled. Pydantic's errors would have lost their notes."""
    for note in [] if getattr(error, "__notes__", ()) else notes:
        error.add_note(note)
    return Attempt(text, error)


def _picklable(value: Any) -> Any:
    """Return what is pickled of a value: the value, or a stand-in if it would not come back as it is."""
    if value is None or type(value) in (str, int, float, bool) or isinstance(value, _Portable | Attempt):
        return value
    if type(value) is tuple:
        return tuple(map(_picklable, value))
    if type(value) is dict:
        return {key: _picklable(member) for key, member in value.items()}
    try:
        same = pickle.loads(pickle.dumps(value))  # noqa: S301  what was written here
        returns = type(same) is type(value) and (not isinstance(value, Exception) or str(same) == str(value))
    except Exception:  # noqa: BLE001  the value's own code may raise anything
        returns = False
    if returns:
        return value
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    return StandInError(str(value), kind) if isinstance(value, Exception) else StandIn(kind, _shown(value))


def _shown(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  the value's own code may raise anything
        return object.__repr__(value)
