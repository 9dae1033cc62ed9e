"""Random types with grounded values, over random documents: whatever a model prefers, the document states it."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Annotated, Any

import pytest
from doubles import ByteTokenizer, json_hating_logits, random_logits
from effort import examples
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from structured import Extractor, Grounded, Repetition, Result
from structured.errors import NotStatedError, SchemaError
from structured.models import FunctionModel
from structured.output_types import Grounding
from structured.output_types.paths import Steps, steps_to_path
from structured.output_types.stated_dates import stated_dates, stated_datetimes, stated_times
from structured.output_types.stated_numbers import stated_numbers

pytestmark = [
    pytest.mark.filterwarnings("ignore::structured.errors.BudgetWarning"),  # keys of dictionaries are long
    pytest.mark.filterwarnings("ignore:.* can have no object at"),  # documents that state no value for an item
]

TOKENS = ByteTokenizer()

FRAGMENTS = st.sampled_from(
    [
        *(
            "Ana",
            "O'Hara",
            "A17",
            'the "Old" Mill',
            "B2",
            "naïve",
            "e\u0301",
            "日本",
            "a\\b",
            "👩‍🔬",
            "שלום",
            "\x00",
            "-",
        ),
        *("12", "1.250,00", "€40.5", "-7 %", "twenty-three", "½", "3.11.2", "1 250", "5k"),
        *("3 May 2024", "2024-05-03", "14.03.24", "2024-05-03T10:30Z", "at 9:40 am", "noon"),
    ]
)
DOCUMENTS = st.lists(st.tuples(FRAGMENTS, st.sampled_from([" ", ", ", "\n", " \r\n ", "\t", ". "])), max_size=9).map(
    lambda pairs: "".join(word + between for word, between in pairs)
)


def texts(mark: object) -> st.SearchStrategy[Any]:
    """Return types of grounded texts with rules of their own."""
    lengths = st.tuples(st.none() | st.integers(0, 3), st.none() | st.integers(3, 9))
    patterns = st.sampled_from([None, None, r"^\S+$", r"\d", r"^[A-Z]", r"^(Ana|naïve|B2)$", r"^.*a.*$"])
    return st.builds(
        lambda length, pattern: Annotated[
            str, mark, Field(min_length=length[0], max_length=length[1], pattern=pattern)
        ],
        lengths,
        patterns,
    )


def bounded(kind: type, least: Any, most: Any) -> st.SearchStrategy[Any]:
    """Return types of grounded numbers or dates with bounds or without."""
    return st.sampled_from(
        [Grounded[kind], Annotated[Grounded[kind], Field(ge=least)], Annotated[Grounded[kind], Field(lt=most)]]  # type: ignore[valid-type]
    )


LEAVES = st.one_of(
    texts(Grounding()),
    texts(Grounding("characters")),
    bounded(int, 0, 30),
    bounded(float, 0.5, 1000),
    bounded(Decimal, Decimal("1.5"), Decimal(99)),
    bounded(date, date(2000, 1, 1), date(2024, 4, 1)),
    bounded(datetime, datetime(2000, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)),
    st.just(Grounded[time]),
    st.just(bool),
)


def inside(types: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return types that hold others."""
    fields = st.dictionaries(st.sampled_from(["name", "price", "due", "an item"]), types, min_size=1, max_size=3)
    return st.one_of(
        types.map(lambda inner: inner | None),
        types.map(lambda inner: Annotated[list[inner], Field(max_length=2)]),  # type: ignore[valid-type]
        types.map(lambda inner: Annotated[dict[str, inner], Field(max_length=1)]),  # type: ignore[valid-type]
        st.tuples(types, types).map(lambda pair: tuple[pair]),  # type: ignore[valid-type]
        fields.map(lambda found: create_model("Record", **{name: (kind, ...) for name, kind in found.items()})),
    )


TYPES = st.recursive(LEAVES, inside, max_leaves=6)


def values(value: object, steps: Steps = ()) -> Iterator[tuple[str, object]]:
    """Yield the leaves of an instance by their paths."""
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from values(inner, (*steps, key))
    elif isinstance(value, (list, tuple)):
        for place, inner in enumerate(value):
            yield from values(inner, (*steps, place))
    else:
        yield steps_to_path(steps), value


def is_stated(value: object, quoted: str) -> bool:
    """Tell whether a part of a document states a value, and not less than all of that part."""
    if isinstance(value, str):
        return value in (quoted, re.sub(r"\s*\n\s*", " ", quoted))
    stated: Any = (
        stated_datetimes(quoted)
        if isinstance(value, datetime)
        else stated_dates(quoted)
        if isinstance(value, date)
        else stated_times(quoted)
        if isinstance(value, time)
        else stated_numbers(quoted)
    )
    whole = {reading for one in stated if one.span == (0, len(quoted)) for reading in one.values}
    return (Decimal(str(value)) if isinstance(value, (int, float)) else value) in whole


def check(found: Result[Any], document: str) -> None:
    """Check that each value of an extraction is stated where its evidence says."""
    for path, value in values(found.value):
        evidence = found.evidence.get(path)
        if evidence is None:  # an empty list has no evidence
            assert value in ([], {}), path
        elif isinstance(value, bool) or value is None:
            assert evidence.match in {"concluded", "exact", "absent"}, path
        else:
            assert evidence.match == "grounded", (path, value, document)
            assert evidence.span is not None
            assert is_stated(value, document[slice(*evidence.span)]), (path, value, evidence.span)


LAW = settings(deadline=None, suppress_health_check=list(HealthCheck))


def law(output_type: Any, document: str, seed: int, hates: bool) -> None:
    logits = json_hating_logits(TOKENS.tokens) if hates else random_logits(len(TOKENS.tokens), scale=3.0, seed=seed)
    try:
        found = Extractor(
            output_type,
            model=FunctionModel(logits, TOKENS),
            max_tokens=300,
            repetition=Repetition(stop=False),
            temperature=1.5,
            seed=seed,
        ).result(f"{document}.")
    except NotStatedError:
        event("not stated")
    except SchemaError as error:
        event(f"refused: {error}")
    else:
        event("found")
        check(found, f"{document}.")


@pytest.mark.thorough
@settings(LAW, max_examples=examples(60))
@given(TYPES, DOCUMENTS, st.integers(0, 10_000), st.booleans())
def test_every_grounded_value_is_stated_at_its_span(output_type: Any, document: str, seed: int, hates: bool) -> None:
    """Texts character for character, numbers and dates as one of the readings of all that stands there."""
    law(output_type, document, seed, hates)


@pytest.mark.slow
@settings(LAW, max_examples=1500)
@given(TYPES, DOCUMENTS, st.integers(0, 10_000), st.booleans())
def test_every_grounded_value_is_stated_at_its_span_at_length(
    output_type: Any, document: str, seed: int, hates: bool
) -> None:
    law(output_type, document, seed, hates)
