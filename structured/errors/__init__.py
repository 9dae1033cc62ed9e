"""Every exception and warning of the library, in one tree.

    StructuredError
    ├── SchemaError        a type or a schema keyword that cannot be enforced exactly
    │   ├── UnsatisfiableError   a part that allows no value
    │   └── GrammarError         a grammar that cannot be read or enforced exactly
    ├── PatternError       a regular expression that cannot be compiled
    ├── VocabularyError    a tokenizer whose tokens cannot be read as bytes, or cannot spell a type
    ├── PromptError        an empty text, or a prompt that does not fit in the model's context
    ├── ModelError         a model that cannot be found, loaded or called
    │   ├── OutOfMemoryError   not even one text fits on the model's device
    │   └── ServerError        a server with a model that cannot be reached, or refused a request
    ├── BudgetError        max_tokens too small for even the shortest answer
    ├── IncompleteError    a loop outside the library stopped in the middle of an answer
    ├── MissingError       a document does not state fields that the type requires
    ├── GenerationError    validators of the type rejected every attempt
    ├── BatchError         some documents of a batch failed; holds the results of the others
    └── OutputError        a file of results that cannot be written, read or continued

    StructuredWarning
    ├── PackagedModelWarning    no model was named; the packaged model answers
    ├── OptionWarning           an option has no effect, or not the intended one
    ├── BudgetWarning           max_tokens, or the context of the model, shortened answers
    ├── RepetitionWarning       answers repeated the same text, and the string or list was closed
    └── CacheWarning            a damaged file of the cache is ignored

Each message says what is wrong, where, and what to do. The facts are fields as well, so that a program can act on them.
All of them can be pickled and copied; see `values.py`.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from traceback import format_tb
from typing import Any, Self

from structured.errors.values import (
    Portable,
    StandIn,
    StandInError,
    excerpt,
    message,
    message_in_one_line,
    picklable,
)

__all__ = [
    "Attempt",
    "BatchError",
    "BudgetError",
    "BudgetWarning",
    "CacheWarning",
    "GenerationError",
    "GrammarError",
    "IncompleteError",
    "MissingError",
    "ModelError",
    "NotStatedError",
    "OptionWarning",
    "OutOfMemoryError",
    "OutputError",
    "PackagedModelWarning",
    "PatternError",
    "PromptError",
    "RepetitionWarning",
    "SchemaError",
    "ServerError",
    "StandIn",
    "StandInError",
    "StructuredError",
    "StructuredWarning",
    "UnsatisfiableError",
    "VocabularyError",
]


class StructuredError(Portable, Exception):
    """The base of every error that the library raises on purpose; itself, an unexpected exception for one document."""


_LOGGER = logging.getLogger("structured.extraction")


def concerns_all(error: Exception) -> bool:
    """Tell whether an error of a model concerns all texts of a batch; fewer texts may fit into its memory."""
    return isinstance(error, ModelError) and not isinstance(error, OutOfMemoryError)


def error_of_one(error: Exception, doing: str) -> StructuredError:
    """Return what was raised for one document as an error of the library, and log where it was raised.

    `KeyError("x")`, "Reading document 3" → StructuredError("Reading document 3 raised KeyError: 'x'. …")

    An error of the library stays as it is. The log has no message of an exception, which may quote the document.
    """
    if isinstance(error, StructuredError):
        return error
    trace: list[str] = []
    seen: set[int] = set()
    raised: BaseException | None = error
    while raised is not None and id(raised) not in seen:
        seen.add(id(raised))
        trace += [f"{type(raised).__qualname__}\n", *reversed(format_tb(raised.__traceback__))]
        raised = raised.__cause__ or raised.__context__
    _LOGGER.error("%s raised %s:\n%s", doing, type(error).__qualname__, "".join(reversed(trace)))
    text = excerpt(message_in_one_line(error), MAX_ATTEMPT_CHARACTERS)
    wrapped = StructuredError(
        f"{doing} raised {type(error).__name__}: {text}. The traceback went to the logger {_LOGGER.name}. Correct "
        "the code that raised it, or report it if that is the library's."
    )
    wrapped.__cause__ = error
    return wrapped


class SchemaError(StructuredError):
    """A type or schema that cannot be enforced exactly.

    Attributes:
        problem: What is wrong.
        schema_path: Where: a JSON Pointer into the JSON Schema ("" is its root), after a URI and `#` where the schema
            refers to another document.
        keyword: The keyword at fault, if one is.
        remedy: What to do.
    """

    def __init__(self, problem: str, *, schema_path: str = "", keyword: str | None = None, remedy: str) -> None:
        self.problem = problem
        self.schema_path = schema_path
        self.keyword = keyword
        self.remedy = remedy
        where = [f"at #{schema_path}" if schema_path.startswith("/") else f"at {schema_path}"] if schema_path else []
        where += [f"keyword {keyword!r}"] if keyword else []
        super().__init__(f"{problem} ({', '.join(where)}). {remedy}" if where else f"{problem}. {remedy}")


class UnsatisfiableError(SchemaError):
    """A part of a type or schema that allows no value, such as an integer above 3 and below 2."""


class GrammarError(SchemaError):
    """A grammar that cannot be read or enforced exactly.

    Attributes:
        problem: What is wrong.
        place: The line and the column in the grammar, from 1; None where there is no single place.
        remedy: What to do.
    """

    def __init__(self, problem: str, *, text: str = "", place: tuple[int, int] | None = None, remedy: str) -> None:
        where = lines = ""
        if place is not None:
            line, column = place
            shown = "".join(text.split("\n")[line - 1 : line])
            where = f", at line {line}, column {column}"
            lines = f"\n{_under_caret(shown, column - 1)}"
        super().__init__(f"{problem}{where}", remedy=f"{remedy}{lines}")
        self.problem = problem
        self.place = place
        self.remedy = remedy


class PatternError(StructuredError):
    """A regular expression that cannot be compiled.

    Attributes:
        problem: What is wrong.
        pattern: The regular expression, or the combination; "" if unknown.
        position: The index of the character at fault; None for all of it.
        remedy: What to do.
    """

    def __init__(self, problem: str, *, pattern: str, remedy: str, position: int | None = None) -> None:
        self.problem = problem
        self.pattern = pattern
        self.position = position
        self.remedy = remedy
        shown = pattern if len(pattern) <= 200 else f"{pattern[:200]}… ({len(pattern):,} characters)"
        lines = "" if position is None else f"\n{_under_caret(pattern, position)}"
        where = f", in the pattern {shown!r}" if pattern else ""
        super().__init__(f"{problem}{where}. {remedy}{lines}")


def _under_caret(text: str, position: int) -> str:
    """Return the text around a position, on one line, with a caret below it."""
    first = max(position - 40, 0)
    shown = "".join(character if character.isprintable() else "·" for character in text[first : position + 40])
    return f"    {shown}\n    {' ' * (position - first)}^"


class VocabularyError(StructuredError):
    """A tokenizer whose tokens cannot be read as bytes, or cannot spell any answer of a type."""


class PromptError(StructuredError):
    """A text that is empty, a prompt longer than the model's context, or a docstring that is not a template.

    Attributes:
        id: The name of a document without a text, such as a row of a table; "" for others.
    """

    def __init__(self, problem: str = "", *, id: str = "") -> None:  # noqa: A002  as in Document
        self.id = id
        super().__init__(problem)


class ModelError(StructuredError):
    """A model that cannot be found, loaded or called."""


class OutOfMemoryError(ModelError):
    """A single text that does not fit on the model's device. A batch that does not fit is halved first."""


class ServerError(ModelError):
    """A server that cannot be reached, refused a request, or gave an unreadable answer.

    Attributes:
        address: The address of the model, without a key.
        status: The status of HTTP; None without a readable answer.
        is_passing: Whether the same request may succeed later.
        is_for_all: Whether every other request would fail likewise: the server cannot be reached, or refuses the key
            or the name of the model.
        retry_after: The seconds after which the server accepts another request; None if it names none.
    """

    def __init__(  # noqa: PLR0913  the facts
        self,
        problem: str,
        *,
        address: str,
        status: int | None = None,
        is_passing: bool = False,
        is_for_all: bool = False,
        retry_after: float | None = None,
    ) -> None:
        self.address = address
        self.status = status
        self.is_passing = is_passing
        self.is_for_all = is_for_all
        self.retry_after = retry_after
        super().__init__(problem)


class BudgetError(StructuredError):
    """A token budget that is smaller than the shortest answer. It is raised before anything is generated.

    Attributes:
        max_tokens: The budget.
        shortest: The tokens of the shortest answer.
    """

    def __init__(self, *, max_tokens: int, shortest: int) -> None:
        self.max_tokens = max_tokens
        self.shortest = shortest
        super().__init__(
            f"The shortest answer of this type takes {shortest} tokens, and only {max_tokens} are allowed. "
            f"Raise max_tokens to {shortest} or more, or shorten the prompt if the context is full."
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One generated text and the reason why it was rejected."""

    text: str
    error: Exception

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled_attempt, (self.text, picklable(self.error), getattr(self.error, "__notes__", ()))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def _unpickled_attempt(text: str, error: Exception, notes: Sequence[str]) -> Attempt:
    """Return an unpickled attempt, with the notes that Pydantic's errors lose."""
    for note in [] if getattr(error, "__notes__", ()) else notes:
        error.add_note(note)
    return Attempt(text, error)


MAX_ATTEMPT_CHARACTERS = 2_000
"""Characters of a rejected answer, and of the reason, in a message: a server may write millions."""

_REMEDY = "Allow more retries, raise the temperature, or state the rule in the prompt."


class GenerationError(StructuredError):
    """Validators of the type rejected every attempt. The message shows the beginning of long ones.

    Attributes:
        attempts: Each whole `text` with its `error`.
        document: The position of the document in the batch; None for a single text.
    """

    def __init__(self, attempts: Sequence[Attempt], *, document: int | None = None, remedy: str = _REMEDY) -> None:
        self.attempts = tuple(attempts)
        self.document = document
        shown = "\n".join(
            f"  {number}. {excerpt(attempt.text, MAX_ATTEMPT_CHARACTERS)}\n     {_one_line(attempt.error)}"
            for number, attempt in enumerate(attempts, 1)
        )
        tried = f"All {len(self.attempts)} attempts" if len(self.attempts) > 1 else "The only attempt"
        super().__init__(
            f"{tried}{'' if document is None else f' at document {document}'} failed validators that the mask cannot "
            f"enforce:\n{shown}\n{remedy}"
        )


class NotStatedError(GenerationError):
    """A document that does not state a value that an answer has to quote. It is raised before anything is generated.

    Attributes:
        attempts: None.
        document: The position of the document in the batch; None for a single text.
        problem: The value that is missing.
        schema_path: The place of the value: a JSON Pointer into the JSON Schema.
    """

    def __init__(self, problem: str, *, schema_path: str, document: int | None = None) -> None:
        self.attempts = ()
        self.document = document
        self.problem = problem
        self.schema_path = schema_path
        which = "The document" if document is None else f"Document {document}"
        StructuredError.__init__(
            self,
            f"{which} does not state a value that has to be grounded: {problem} (at #{schema_path}). Let it be "
            "null (None in its type) or missing (the option allow_missing), or do not ground it.",
        )

    def at(self, document: int) -> Self:
        """Return the error of a document of a batch."""
        return type(self)(self.problem, schema_path=self.schema_path, document=document)


class MissingError(StructuredError):
    """A document does not state fields that the type requires, so that there is no instance.

    Attributes:
        missing: The paths of the missing fields.
        document: The id of the document.

    The message names those that are `needed`, if that is known, and otherwise all.
    """

    def __init__(
        self, missing: Sequence[str], *, needed: Sequence[str] = (), type_name: str = "", document: str = ""
    ) -> None:
        self.missing = tuple(missing)
        self.document = document
        paths = ", ".join(path or "any value" for path in needed or self.missing)
        super().__init__(
            f"The document does not state {paths}, and {type_name or 'the type'} lacks a default. Take `data` "
            "and `missing` of the result, or give the fields defaults: `age: int | None = None`."
        )


class IncompleteError(StructuredError):
    """A loop outside the library stopped in the middle of an answer.

    Attributes:
        text: The beginning of the answer.
        document: Its row in the batch.
        tokens: The number of its tokens.
        max_tokens: The maximum of tokens in the whole answer, without the end token.
    """

    def __init__(self, text: str, *, document: int, tokens: int, max_tokens: int) -> None:
        self.text = text
        self.document = document
        self.tokens = tokens
        self.max_tokens = max_tokens
        shown = text if len(text) <= 60 else f"…{text[-60:]}"
        super().__init__(
            f"The answer in row {document} is incomplete: the loop stopped after {tokens} of its tokens, after "
            f"{shown!r}. Set max_new_tokens to {max_tokens + 1}, one more than the max_tokens of the processor, and "
            "remove whatever else stops the loop before."
        )


class BatchError(StructuredError):
    """Some documents of a batch failed.

    Attributes:
        results: The results in the order of the documents, None for those that failed.
        errors: The error of each document that failed, by its position.
    """

    def __init__(self, results: Sequence[Any], errors: Mapping[int, StructuredError]) -> None:
        self.results: tuple[Any, ...] = tuple(results)
        self.errors = dict(errors)
        first = next(iter(self.errors.values()))
        failed, total = len(self.errors), len(self.results)
        which, others = f"{failed} of {total} documents", ", and `results` for the others"
        if failed == total:
            which, others = f"All {total} documents" if total > 1 else "The only document", ""
        super().__init__(f"{which} failed; see `errors`{others}. The first: {first}")


class OutputError(StructuredError):
    """A file of results that cannot be written, read or continued. Its content is kept.

    Attributes:
        path: The file.
        kept: The number of whole records in it; None if they were not counted.
    """

    def __init__(self, problem: str, *, path: str, kept: int | None = None) -> None:
        self.path = path
        self.kept = kept
        super().__init__(problem)


def _one_line(error: Exception) -> str:
    text = excerpt(" ".join(message(error).split()), MAX_ATTEMPT_CHARACTERS)
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"


class StructuredWarning(Portable, UserWarning):
    """The base of every warning that the library gives.

    Attributes:
        documents: The positions in the batch of the documents that it is about, if it is about any.
    """

    def __init__(self, message: str, *, documents: Sequence[int] = ()) -> None:
        self.documents = tuple(documents)
        super().__init__(message)


class PackagedModelWarning(StructuredWarning):
    """No model was named, so the packaged model answers. Given once in a process."""


class OptionWarning(StructuredWarning):
    """An argument without its usual effect: `top_p` where nothing is sampled, the name of a file as a text."""


class BudgetWarning(StructuredWarning):
    """`max_tokens` or the model's context shortened some answers. They are valid, but may be incomplete."""


class RepetitionWarning(StructuredWarning):
    """Answers repeated the same text, and the string or the list was closed. They are valid, but may be incomplete.

    Attributes:
        fields: The paths of the fields in which they did, as far as these are known: `("lines[].text",)`.
    """

    def __init__(self, message: str, *, documents: Sequence[int] = (), fields: Sequence[str] = ()) -> None:
        self.fields = tuple(fields)
        super().__init__(message, documents=documents)


class CacheWarning(StructuredWarning):
    """A file of the cache is damaged. It is ignored, and its content computed again."""
