"""The model in the package, as a newcomer meets it."""

import math
import os
import re
import subprocess
import sys
import warnings
from datetime import date, datetime
from itertools import islice
from pathlib import Path

import pytest
from typer.testing import CliRunner

from structured import Extractor, extract, load_model
from structured.cli.commands import app
from structured.cli.demo_command import (
    SHOWCASES,
    BikeRental,
    Flight,
    Invoice,
    JobPost,
    LineItem,
    MedicalNote,
    Medication,
    Person,
    Priority,
    Ticket,
    Weather,
)
from structured.errors import PackagedModelWarning
from structured.models import PACKAGED_MODEL, LanguageModel
from training.evaluate import RESULTS, evaluate
from training.generate import samples

EXPECTED = {
    "A short biography": Person(name="Marta Lindqvist", age=34, occupation="marine biologist", city="Bergen"),
    "An invoice": Invoice(
        invoice_number="INV-2024-0117",
        vendor="Northwind Paper",
        issue_date=date(2024, 3, 3),
        due_date=date(2024, 4, 2),
        items=[
            LineItem(description="notebooks", quantity=12, unit_price=4.5),
            LineItem(description="desk lamps", quantity=2, unit_price=39.0),
        ],
        total=132.0,
        paid=False,
    ),
    "A support ticket": Ticket(
        customer="Daniel Osei", product="BrewMaster", priority=Priority.URGENT, order_number="BM-88213"
    ),
    "A flight confirmation": Flight(
        flight_number="LH 1823",
        airline="Lufthansa",
        origin="Munich",
        destination="Porto",
        departure=datetime(2025, 6, 14, 9, 40),  # noqa: DTZ001  the document names no time zone
        gate="G21",
        seat="14C",
    ),
    "A doctor's note": MedicalNote(
        patient="Rosa Delgado",
        age=58,
        diagnosis="hypertension",
        medications=[Medication(name="lisinopril", dose="10 mg"), Medication(name="amlodipine", dose="5 mg")],
        allergies=["penicillin"],
        follow_up=date(2025, 5, 12),
    ),
    "A job advertisement": JobPost(
        title="Firmware Engineer",
        company="Halden Robotics",
        location="Gothenburg",
        salary=72000,
        remote=True,
        skills=["C++", "Rust", "Linux"],
    ),
    "Several people at once": [
        Person(name="Ana", age=31, occupation="nurse", city="York"),
        Person(name="Jason", age=25, occupation="cook", city="Leeds"),
    ],
    "A bike rental": BikeRental(
        customer="Tom Okafor", shop="Canal Cycles", rented_on=date(2025, 6, 14), days=3, deposit=150, price=84
    ),
    "The weather of a day": Weather(city="Turin", highest=17, lowest=6, wind_direction="north-west", wind_speed=22),
    "What kind of message is it?": "billing",
}


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return load_model(PACKAGED_MODEL)


@pytest.mark.thorough
@pytest.mark.parametrize("showcase", SHOWCASES, ids=lambda showcase: showcase.title)
def test_the_objects_of_the_demo_are_right(model, showcase):
    assert extract(showcase.output_type, showcase.document, model=model) == EXPECTED[showcase.title]


@pytest.mark.thorough
@pytest.mark.parametrize("showcase", SHOWCASES, ids=lambda showcase: showcase.title)
def test_the_objects_of_the_demo_are_right_in_half_precision_too(showcase):
    """Each has a margin: on another processor, or a GPU, the same objects come out."""
    model = load_model(PACKAGED_MODEL, dtype="bfloat16")
    assert extract(showcase.output_type, showcase.document, model=model) == EXPECTED[showcase.title]


@pytest.mark.thorough
def test_some_fields_of_unseen_phrasings_are_right(model):
    """Without any skill, hardly a field would be right."""
    total = evaluate(model, islice(samples(5, "phrasings"), 32)).total
    assert total.fields_right / total.fields > 0.4


def test_the_weights_are_small_and_load_plainly():
    from transformers import AutoModelForCausalLM, AutoTokenizer

    assert sum(path.stat().st_size for path in PACKAGED_MODEL.glob("*.safetensors")) <= 16_000_000
    loaded = AutoModelForCausalLM.from_pretrained(PACKAGED_MODEL)
    tokenizer = AutoTokenizer.from_pretrained(PACKAGED_MODEL)
    assert math.isfinite(loaded(**tokenizer("Type:", return_tensors="pt")).logits.sum().item())


def test_the_model_card_has_results():
    card = (PACKAGED_MODEL / "README.md").read_text(encoding="utf-8")
    assert "| Unseen kinds of record |" in card.split(RESULTS)[1]


@pytest.mark.thorough
def test_the_demonstration_model_says_so_once():
    """In a process of its own, two calls without a model give one warning."""
    program = (
        "import warnings; from structured import extract\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    extract(bool, 'It is true.'); extract(bool, 'It is true.')\n"
        "print([w.category.__name__ for w in caught])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "STRUCTURED_MODEL"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True, env=environment)
    assert done.stdout.strip() == "['PackagedModelWarning']"


def test_the_packaged_model_is_shown_by_its_name():
    """And not by the folder where it is installed."""
    extractor = Extractor(bool, model=PACKAGED_MODEL)
    assert repr(extractor) == "Extractor(bool, model='the packaged model')"
    assert "<td>the packaged model" in re.sub(r" style='[^']*'", "", extractor._repr_html_())


def test_the_environment_names_the_default_model(monkeypatch):
    monkeypatch.setenv("STRUCTURED_MODEL", str(PACKAGED_MODEL))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PackagedModelWarning)
        assert load_model() is load_model(str(PACKAGED_MODEL))


@pytest.mark.thorough
@pytest.mark.parametrize("columns", ["60", "140"])
def test_the_demo_shows_every_document_type_and_object(columns, monkeypatch):
    monkeypatch.setenv("STRUCTURED_MODEL", str(PACKAGED_MODEL))
    monkeypatch.setenv("COLUMNS", columns)
    result = CliRunner().invoke(app, ["demo"])
    assert result.exit_code == 0
    shown = "".join(character for character in result.output if character.isalnum())
    for showcase in SHOWCASES:
        assert showcase.title in result.output
        first_word = showcase.document.split()[0]
        assert first_word.strip(":,") in result.output
    for text in ("MartaLindqvist", "classInvoiceBaseModel", "lisinopril", "FirmwareEngineer", "10documentsin"):
        assert text in shown


def test_the_demo_tells_an_unknown_model_in_one_line(tmp_path: Path):
    result = CliRunner().invoke(app, ["demo", "--model", str(tmp_path)])
    assert result.exit_code == 3
    assert " ".join(result.output.split()).startswith("ModelError: The folder ")
    assert "is empty, or may not be read. Name a folder with config.json" in " ".join(result.output.split())
