"""What the tests share: the settings of hypothesis, and vocabularies that are slow to read."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doubles import REAL_NAMES, ByteTokenizer, real_tokenizer, real_vocabulary
from hypothesis import settings
from real_model import NAME, REAL_MODEL, VARIABLE

from structured.vocabulary import Vocabulary

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests use torch themselves, for products that threads wait over

settings.register_profile("local", deadline=None, max_examples=20)  # others each time, so that many runs see many
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)  # pytest --hypothesis-profile=thorough
settings.load_profile("repeatable" if os.environ.get("CI") else "local")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `quick` what is neither `thorough` nor `slow`, before tests are chosen by their marks.

    Real vocabularies take seconds to read, and so does the real model: all that is tested with them is thorough. Tests
    in the folder `development` have that mark.
    """
    for item in items:
        if item.path.parent.name == "development":
            item.add_marker("development")
        fixtures = getattr(item, "fixturenames", ())
        if "real_model" in fixtures:
            item.add_marker("real_model")
        if "real_name" in fixtures or "real_model" in fixtures:
            item.add_marker("thorough")
        if not {"thorough", "slow", "development"} & {mark.name for mark in item.iter_markers()}:
            item.add_marker("quick")


@pytest.fixture(scope="session", autouse=True)
def _cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the cache of all tests, and of the processes that they start, out of the user's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("STRUCTURED_CACHE", raising=False)
        yield


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    """Return the vocabulary of the byte tokenizer."""
    return Vocabulary.from_tokenizer(ByteTokenizer())


@pytest.fixture(scope="session", params=REAL_NAMES)
def real_name(request: pytest.FixtureRequest) -> str:
    """Return the name of each real vocabulary in turn."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def real(real_name: str) -> Vocabulary:
    """Return each real vocabulary in turn."""
    return real_vocabulary(real_name)


@pytest.fixture(scope="session")
def tokenizer(real_name: str) -> Any:
    """Return the tokenizer of each real vocabulary in turn."""
    return real_tokenizer(real_name)


@pytest.fixture(scope="session")
def real_model() -> Path:
    """Return the GGUF file of the real model; the test is skipped where it is absent."""
    if not REAL_MODEL.is_file():
        pytest.skip(f"There is no {REAL_MODEL}: run `structured fetch {NAME}`, or name the file in {VARIABLE}.")
    return REAL_MODEL
