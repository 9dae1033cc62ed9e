"""Errors and warnings travel: pickled, copied, or raised in another process, they stay what they are."""

import copy
import importlib
import multiprocessing
import pickle
import pkgutil
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext, suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError, field_validator
from pydantic_core import PydanticCustomError

import structured
from structured import StructuredError
from structured.automata.product import EmptyProductError
from structured.errors import (
    Attempt,
    BatchError,
    BudgetError,
    GenerationError,
    GrammarError,
    IncompleteError,
    NotStatedError,
    OutputError,
    PatternError,
    SchemaError,
    ServerError,
    StandIn,
    StandInError,
    StructuredWarning,
)

if multiprocessing.parent_process() is None:  # the workers below need no more than what they are sent
    for module in pkgutil.walk_packages(structured.__path__, "structured."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError) if module.name.startswith("structured.integrations.") else nullcontext():
                importlib.import_module(module.name)  # but for what needs an engine that is not here


class Person(BaseModel):
    name: str


class OutOfReachError(ValueError):
    """An error that is pickled, and cannot be read again."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first}, {second}")


class ForgetfulError(ValueError):
    """An error that is read again, with another message."""

    def __init__(self, code: str, detail: str = "none") -> None:
        super().__init__(f"{code}: {detail}")


def rejected(error: Callable[[], Exception]) -> ValidationError:
    """Return Pydantic's error for a validator that raises some error."""

    class Picky(BaseModel):
        age: int

        @field_validator("age")
        @classmethod
        def reject(cls, _: int) -> int:
            raise error()

    with pytest.raises(ValidationError) as caught:
        Picky.model_validate_json('{"age": 1}')
    return caught.value


def mismatched() -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(list[int]).validate_python(["a", "b"])
    return caught.value


VALIDATION = (
    mismatched(),
    rejected(lambda: ValueError("a minor")),
    rejected(lambda: PydanticCustomError("age", "{age} is too young", {"age": 7})),
)
"""Errors of Pydantic that can be pickled."""

FOREIGN = (
    rejected(lambda: PydanticCustomError("age", "too young", {"key": lambda: 7})),
    rejected(lambda: OutOfReachError("too", "young")),
    OutOfReachError("too", "young"),
    ForgetfulError("too young", "by far"),
    type("LocalError", (ValueError,), {})("a minor"),
)
"""Errors of other code that cannot be pickled, or would come back as something else."""

ATTEMPTS = [Attempt(f"text {number}", error) for number, error in enumerate(VALIDATION)]

ARGUMENTS: dict[type[BaseException], Callable[..., Any]] = {
    SchemaError: lambda kind: kind("No", schema_path="/a", keyword="not", remedy="Do."),
    EmptyProductError: lambda kind: kind(),
    GrammarError: lambda kind: kind("No", text="a:", place=(1, 3), remedy="Do.") if kind is GrammarError else kind(),
    PatternError: lambda kind: kind("No", pattern="[" * 300, remedy="Do."),
    BudgetError: lambda kind: kind(max_tokens=1, shortest=2),
    GenerationError: lambda kind: kind(ATTEMPTS, document=3),
    NotStatedError: lambda kind: kind("no date", schema_path="/properties/due", document=3),
    IncompleteError: lambda kind: kind('{"na', document=1, tokens=2, max_tokens=9),
    BatchError: lambda kind: kind([Person(name="Ana"), None], {1: GenerationError(ATTEMPTS, document=1)}),
    OutputError: lambda kind: kind("The disk is full.", path="out.jsonl", kept=3),
    ServerError: lambda kind: kind("Busy.", address="vllm://host/x", status=503, is_passing=True, retry_after=2.0),
}
"""How each error with fields of its own is made; the others take a message."""


def kinds(base: type[BaseException]) -> list[type[BaseException]]:
    """Return a class of exceptions and all that are derived from it, here or in any module of the package."""
    return [base, *(found for derived in base.__subclasses__() for found in kinds(derived))]


KINDS = [*kinds(StructuredError), *kinds(StructuredWarning)]


def made(kind: type[BaseException]) -> BaseException:
    """Return an exception of a kind."""
    return next((ARGUMENTS[one](kind) for one in kind.__mro__ if one in ARGUMENTS), None) or kind("What happened. Do.")


def facts(error: BaseException) -> tuple[Any, ...]:
    """Return what must not be lost of an exception, in a form that can be compared."""
    fields = {name: _comparable(value) for name, value in vars(error).items()}
    return type(error), str(error), error.args, fields


def _comparable(value: object) -> object:
    if isinstance(value, StructuredError):
        return facts(value)
    if isinstance(value, Attempt):
        return value.text, type(value.error), str(value.error), getattr(value.error, "__notes__", [])
    if isinstance(value, tuple):
        return [_comparable(one) for one in value]
    return {key: _comparable(one) for key, one in value.items()} if isinstance(value, dict) else value


def pickled(value: Any, protocol: int | None = None) -> Any:
    """Return what comes out of a pickle."""
    return pickle.loads(pickle.dumps(value, protocol))  # noqa: S301  what was written here


WAYS: dict[str, Callable[[Any], Any]] = {
    **{
        f"protocol {number}": lambda error, number=number: pickled(error, number)
        for number in range(pickle.HIGHEST_PROTOCOL + 1)
    },
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_error_survives(kind: type[BaseException], way: str) -> None:
    """With its type, message, fields and notes, twice in a row."""
    error = made(kind)
    error.add_note("seen on Monday")
    once = WAYS[way](error)
    assert once is not error
    assert facts(once) == facts(WAYS[way](once)) == facts(error)
    assert once.__notes__ == ["seen on Monday"]


@pytest.mark.thorough
@given(
    message=st.text(st.characters(exclude_categories=[])),
    path=st.text(),
    keyword=st.none() | st.text(),
    notes=st.lists(st.text()),
    way=st.sampled_from(sorted(WAYS)),
)
def test_whatever_it_says(message: str, path: str, keyword: str | None, notes: list[str], way: str) -> None:
    error = SchemaError(message, schema_path=path, keyword=keyword, remedy=message)
    for note in notes:
        error.add_note(note)
    assert facts(WAYS[way](error)) == facts(error)


@pytest.mark.parametrize("error", VALIDATION, ids=str)
def test_errors_of_pydantic_keep_what_they_tell(error: ValidationError) -> None:
    """And their notes, which Pydantic forgets."""
    error.add_note("in the second line")
    attempt = pickled(Attempt("text", error))
    assert attempt.error.__notes__ == error.__notes__
    assert attempt.error.errors(include_context=False) == error.errors(include_context=False)
    del error.__notes__


@pytest.mark.parametrize("error", FOREIGN, ids=lambda error: type(error).__name__)
def test_what_cannot_be_pickled_has_a_stand_in(error: Exception) -> None:
    """Only in the pickled form, and only it: the text and the other attempts are what they were."""
    error.add_note("in the second line")
    failed = GenerationError([*ATTEMPTS, Attempt("last", error)])
    back = pickled(BatchError([None, lambda: 7, Person(name="Ana")], {0: failed}))
    assert str(back.errors[0]) == str(failed)
    assert facts(back.errors[0])[3]["attempts"][:-1] == facts(failed)[3]["attempts"][:-1]
    attempt = back.errors[0].attempts[-1]
    assert (attempt.text, str(attempt.error), type(attempt.error)) == ("last", str(error), StandInError)
    assert attempt.error.kind.endswith(type(error).__qualname__)
    assert attempt.error.__notes__ == ["in the second line"]
    assert facts(pickled(back.errors[0])) == facts(back.errors[0])
    assert isinstance(back.results[1], StandIn)
    assert "<lambda>" in back.results[1].shown
    assert back.results[2] == Person(name="Ana")
    assert copy.copy(failed).attempts[-1].error is copy.deepcopy(failed).attempts[-1].error is error


def test_copies_do_not_share_what_can_change() -> None:
    error = BatchError([[1], None], {1: BudgetError(max_tokens=1, shortest=2)})
    representative = copy.deepcopy(error)
    representative.results[0].append(2)
    representative.errors.clear()
    assert error.results[0] == [1]
    assert list(error.errors) == [1]


def fail(error: Exception) -> None:
    """Raise an error, in another process."""
    raise error


@pytest.mark.thorough
def test_errors_cross_processes() -> None:
    """A pool of either kind raises what its worker did; before, one waited for ever, and the other broke."""
    unlucky = GenerationError([*ATTEMPTS, *(Attempt("foreign", error) for error in FOREIGN)], document=3)
    errors = [*map(made, KINDS), unlucky]
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        for error in errors:
            with pytest.raises(type(error)) as caught:
                pool.apply_async(fail, (error,)).get(timeout=60)
            assert str(caught.value) == str(error)
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        for error in errors:
            with pytest.raises(type(error)) as caught:
                executor.submit(fail, error).result(timeout=60)
            assert facts(caught.value)[:3] == facts(error)[:3]
