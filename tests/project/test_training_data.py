"""The generated samples are right by construction; these tests hold the construction to it."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from training.generate import Sample, sample, samples
from training.records import HELD_OUT_KINDS, KINDS
from training.records.layouts import KEPT_STATIONERY, TRAIN_STATIONERY
from training.words import POOLS, Split

SPLITS: tuple[Split, ...] = get_args(Split)
COUNT = 400


@pytest.fixture(scope="module", params=SPLITS)
def drawn(request: pytest.FixtureRequest) -> list[Sample]:
    """A few hundred samples of each split."""
    return list(islice(samples(20_24, request.param), COUNT))


def strings(schema: dict[str, Any], answer: Any) -> Iterator[str]:
    """Yield the strings of an answer that are copied: neither enum members nor dates."""
    for branch in schema.get("anyOf", ()):
        if branch["type"] != "null":
            yield from strings(branch, answer)
    if isinstance(answer, dict):
        for name, value in answer.items():
            yield from strings(schema.get("properties", {}).get(name, {}), value)
    elif isinstance(answer, list):
        for value in answer:
            yield from strings(schema.get("items", {}), value)
    elif isinstance(answer, str) and schema.get("type") == "string" and not {"enum", "format"} & schema.keys():
        yield answer


@pytest.mark.thorough
def test_answers_are_valid(drawn: list[Sample]) -> None:
    """Every answer is an instance of its schema, and every schema is one."""
    for one in drawn:
        Draft202012Validator.check_schema(one.schema)
        Draft202012Validator(one.schema).validate(one.answer)


def test_strings_are_copied(drawn: list[Sample]) -> None:
    """A string in the answer stands in the document, character by character."""
    for one in drawn:
        for text in strings(one.schema, one.answer):
            assert text in one.document, (text, one)


def test_keys_follow_the_schema(drawn: list[Sample]) -> None:
    """The fields of an answer have the order of the properties, and none is left out."""

    def check(schema: dict[str, Any], answer: Any) -> None:
        if isinstance(answer, dict):
            assert list(answer) == list(schema["properties"])
            for name, value in answer.items():
                check(schema["properties"][name], value)
        elif isinstance(answer, list):
            for value in answer:
                check(schema.get("items", {}), value)

    for one in drawn:
        check(one.schema, one.answer)


def test_numbers_have_the_type_of_their_field(drawn: list[Sample]) -> None:
    """An integer is written without a decimal point, a number with one."""

    def check(schema: dict[str, Any], answer: Any) -> None:
        for branch in schema.get("anyOf", (schema,)):
            if branch.get("type") == "integer" and answer is not None:
                assert type(answer) is int
            if branch.get("type") == "number" and answer is not None:
                assert type(answer) is float
        for name, value in answer.items() if isinstance(answer, dict) else ():
            check(schema["properties"][name], value)

    for one in drawn:
        check(one.schema, one.answer)


@pytest.mark.parametrize("split", SPLITS)
def test_the_same_seed_gives_the_same_samples(split: Split) -> None:
    """Samples depend on the seed and the split alone."""
    first, again, other = (list(islice(samples(seed, split), 20)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.thorough
def test_samples_do_not_depend_on_the_process() -> None:
    """Python orders sets by chance in each process; the samples are the same all the same."""
    program = "from training.generate import samples as s; s = s(1, 'train'); print([next(s) for _ in range(60)])"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    assert len(printed) == 1


def test_sample_draws_from_the_source_it_is_given() -> None:
    """One sample can be drawn again from the same state of the random source."""
    assert sample(random.Random(7), "train") == sample(random.Random(7), "train")


@pytest.mark.thorough
def test_kept_kinds_are_kept() -> None:
    """Kinds of the split "kinds" occur there and nowhere else."""
    seen = {split: {one.kind for one in islice(samples(3, split), COUNT)} for split in SPLITS}
    assert seen["kinds"] == set(HELD_OUT_KINDS)
    assert seen["train"] & set(HELD_OUT_KINDS) == set()
    assert seen["phrasings"] <= seen["train"]
    assert len(seen["train"]) > 13
    assert set(KINDS) & set(HELD_OUT_KINDS) == set()


def test_pools_are_disjoint() -> None:
    """No word of a pool is used both in training and in the split "phrasings"."""
    for pool in fields(POOLS["train"]):
        train, kept = (set(getattr(POOLS[split], pool.name)) for split in ("train", "phrasings"))
        assert train
        assert kept
        assert not train & kept, pool.name


def test_the_commonest_pools_are_large() -> None:
    """There are too many names and places to learn them by heart."""
    pools = POOLS["train"]
    assert len(pools.given) >= 300
    assert len(pools.family) >= 295
    assert len(pools.cities) >= 200


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_templates_are_disjoint(kind: Any) -> None:
    """No template, label or aside of a kind is used both in training and in the split "phrasings"."""
    train, kept = kind.phrasings["train"], kind.phrasings["phrasings"]
    assert not set(train.together) & set(kept.together)
    assert not set(train.asides) & set(kept.asides)
    for name in ("alone", "wordings", "none"):
        for key, texts in getattr(train, name).items():
            assert not set(texts) & set(getattr(kept, name)[key]), (name, key)
    for key, one in kind.fields.items():
        stated = train.alone[key] or any(other == key for other, _ in train.wordings) or one.implied_by
        assert stated, f"no sentence states {key}"
        assert not kind.phrasings["train"].alone[key] or kept.alone[key], f"no kept sentence states {key}"
        if not any(other == key for other, _ in train.wordings) and not one.implied_by:
            assert len(train.alone[key]) >= 5, key


@pytest.mark.parametrize("kind", [*KINDS.values(), *HELD_OUT_KINDS.values()], ids=lambda kind: kind.name)
def test_names_tell_fields_apart(kind: Any) -> None:
    """No two fields of a kind may have the same name in a schema."""
    names = [name for names in kind.names.values() for name in names]
    assert len(names) == len(set(names)), sorted(name for name in set(names) if names.count(name) > 1)


def test_stationery_is_disjoint() -> None:
    """Greetings, bullets and introductions of the split "phrasings" are new; so are its separators."""
    for part in fields(TRAIN_STATIONERY):
        train, kept = (set(getattr(paper, part.name)) for paper in (TRAIN_STATIONERY, KEPT_STATIONERY))
        assert train
        assert kept
        assert not train & kept, part.name


@pytest.mark.thorough
def test_documents_are_short_but_not_empty() -> None:
    """The mean length, which the time of training depends on, stays in bounds."""
    words = [len(one.document.split()) for one in islice(samples(5, "train"), 1500)]
    assert 28 <= sum(words) / len(words) <= 50
    assert max(words) < 160


@pytest.mark.thorough
def test_proportions() -> None:
    """A fifth of the samples has invented fields; lists, classes and instructions have their share."""
    drawn = list(islice(samples(6, "train"), 2000))
    share = {
        "generic": sum(one.kind == "generic" for one in drawn),
        "list": sum(one.schema.get("type") == "array" for one in drawn),
        "bare": sum("properties" not in one.schema and one.schema.get("type") != "array" for one in drawn),
        "instructions": sum(one.instructions is not None for one in drawn),
        "null": sum("null" in json.dumps(one.answer) for one in drawn),
    }
    assert 0.15 < share["generic"] / len(drawn) < 0.26
    assert 0.02 < share["list"] / len(drawn) < 0.1
    assert 0.02 < share["bare"] / len(drawn) < 0.08
    assert 0.12 < share["instructions"] / len(drawn) < 0.25
    assert 0.2 < share["null"] / len(drawn) < 0.6
