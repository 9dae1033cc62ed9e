"""Warnings point to the line of the user that called the library, from every entrance."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from doubles import ByteTokenizer, json_hating_logits

import structured
from structured import Extractor, aextract, aextract_batch, extract, extract_batch, load_model
from structured.errors import BudgetWarning, ModelError, PackagedModelWarning
from structured.integrations.logits_processor import GuidedLogitsProcessor
from structured.models import load


@structured.structured
def number(text: str) -> int:
    """How many? {text}"""
    raise NotImplementedError


@structured.structured
async def later(text: str) -> int:
    """How many? {text}"""
    raise NotImplementedError


async def several(*coroutines: Coroutine[Any, Any, Any]) -> None:
    await asyncio.gather(*coroutines)


async def awaited(make: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    await make()


ENTRANCES: dict[str, Callable[[], Any]] = {
    "load_model": lambda: load_model(),  # noqa: PLW0108  its own line is what is looked for
    "extract": lambda: extract(int, "x"),
    "extract_batch": lambda: extract_batch(int, ["x"]),
    "Extractor": lambda: structured.Extractor(int),
    "absent": lambda: Extractor(int, allow_missing=True).result("x"),
    "structured": lambda: number("x"),
    "async structured": lambda: asyncio.run(later("x")),
    "aextract": lambda: asyncio.run(aextract(int, "x")),
    "awaited": lambda: asyncio.run(awaited(lambda: aextract(int, "x"))),
    "aextract_batch": lambda: asyncio.run(aextract_batch(int, ["x"])),
    "gathered": lambda: asyncio.run(several(aextract(int, "x"), aextract(int, "y"))),
    "processor": lambda: GuidedLogitsProcessor(int, None, max_tokens=9),  # type: ignore[call-overload]
    "mapped": lambda: list(map(number, ["x"])),
}


@pytest.fixture
def demonstration(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the demonstration warn, and then not be loaded."""

    def fail(*_: object, **__: object) -> None:
        raise ModelError("not here")

    monkeypatch.delenv("STRUCTURED_MODEL", raising=False)
    monkeypatch.setattr(load, "_load_once", fail)
    load._packaged_model.cache_clear()
    yield
    load._packaged_model.cache_clear()


@pytest.mark.parametrize("entrance", ENTRANCES.values(), ids=ENTRANCES)
@pytest.mark.usefixtures("demonstration")
def test_demonstration_points_to_the_line_of_the_user(entrance):
    """From every entrance, and where the model is loaded in a thread as well."""
    with pytest.warns(PackagedModelWarning) as caught, pytest.raises(ModelError):
        entrance()
    lines = {(warning.filename, warning.lineno) for warning in caught}
    awaiting = awaited.__code__.co_firstlineno + 1
    mine = entrance.__code__.co_firstlineno
    assert lines <= {(__file__, mine), (__file__, awaiting)}
    assert len(caught) == 1


@pytest.mark.parametrize("names", [{"__name__": "__main__"}, {}, {"__name__": None}], ids=repr)
@pytest.mark.usefixtures("demonstration")
def test_demonstration_points_to_the_cell_of_a_notebook(names):
    """Code that is in no file is told by the name it was compiled with, whatever its module is called."""
    cell = compile("import structured\n\nstructured.extract(int, 'x')", "<cell 7>", "exec")
    with pytest.warns(PackagedModelWarning) as caught, pytest.raises(ModelError):
        exec(cell, names)  # noqa: S102  as a notebook does
    assert [(warning.filename, warning.lineno) for warning in caught] == [("<cell 7>", 3)]


def test_budget_points_to_the_line_that_awaits():
    """Though the answer is written in a thread."""
    tokenizer = ByteTokenizer()
    model = (json_hating_logits(tokenizer.tokens), tokenizer)

    async def ask() -> None:
        await aextract(str, "x", model=model, max_tokens=9)

    with pytest.warns(BudgetWarning) as caught:
        asyncio.run(ask())
    line = ask.__code__.co_firstlineno + 1
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line)]
