"""The cards of the models that ship: what a hub reads of them is there, and is true."""

import json
import tomllib
from pathlib import Path

import pytest
from huggingface_hub import ModelCard
from package_map import HOUSE

from structured.models import PACKAGED_MODEL

ADAPTER = HOUSE / "models" / "smollm2_extract"
FOLDERS = (Path(PACKAGED_MODEL), ADAPTER)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_card_says_what_a_hub_asks_for(folder: Path) -> None:
    """The licence is the library's, and a title and a text follow."""
    card = ModelCard.load(folder / "README.md")
    project = tomllib.loads((HOUSE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert card.data.license == project["license"].lower()
    assert card.data.language == "en"
    assert card.data.library_name
    assert card.data.pipeline_tag == "text-generation"
    assert card.text.lstrip().startswith("# ")


def test_the_packaged_model_is_of_the_kind_that_its_card_says() -> None:
    """It was trained from nothing, so that it has no base."""
    data = ModelCard.load(Path(PACKAGED_MODEL) / "README.md").data
    assert json.loads((Path(PACKAGED_MODEL) / "config.json").read_text(encoding="utf-8"))["model_type"] in data.tags
    assert data.base_model is None


def test_the_adapter_names_its_base() -> None:
    """As its text does, and its files are of the format that its tags say."""
    card = ModelCard.load(ADAPTER / "README.md")
    assert card.data.base_model.rpartition("/")[2] in card.text
    assert card.data.base_model_relation == "adapter"
    assert {path.suffix.removeprefix(".") for path in ADAPTER.iterdir()} - {"md"} <= {*card.data.tags}
