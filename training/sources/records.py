"""Records of the repository thedataquarry/structured-outputs: clinical notes, financial news, personal data, claims."""

import ast
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import MAX_CHARACTERS, Slot, record, some

KEPT_NOTES = 600
"""The first notes are those of the public measure; they are not trained on."""

_NULL = {"type": "null"}


def notes(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield a sample for each clinical note beyond those of the measure: of the patient, or of a part of the record."""
    folder = repository / "src/patient_notes/data"
    written = json.loads((folder / "note.json").read_text(encoding="utf-8"))
    right = {one["record_id"]: one for one in json.loads((folder / "gold.json").read_text(encoding="utf-8"))}
    for note in written[KEPT_NOTES:]:
        document, gold = note["note"].strip(), right[note["record_id"]]
        if len(document) <= MAX_CHARACTERS:
            yield _patient(rng, document, {name: gold.get(name) for name in _PATIENT})


_PATIENT: dict[str, Any] = {
    "name": {"family": "", "given": [], "prefix": ""},
    "gender": "",
    "birthDate": "",
    "phone": "",
    "email": "",
    "maritalStatus": "",
    "primaryLanguage": "",
    "address": {"line": "", "city": "", "state": "", "postalCode": "", "country": ""},
}
"""The parts of a patient: a text is "", a list of texts []."""

_RENAMED = {
    "family": ("family_name", "surname", "last_name"),
    "given": ("given_names", "first_names"),
    "prefix": ("title",),
    "birthDate": ("birth_date", "date_of_birth", "born"),
    "maritalStatus": ("marital_status",),
    "primaryLanguage": ("language", "primary_language"),
    "postalCode": ("postal_code", "zip_code", "zip"),
    "line": ("street", "street_address"),
    "phone": ("phone_number", "telephone"),
    "email": ("email_address",),
    "gender": ("sex",),
}


def _patient(rng: random.Random, document: str, gold: Mapping[str, Any]) -> Sample:
    whole = rng.random() < 0.5
    is_renamed = not whole and rng.random() < 0.5
    schema, answer = _part(rng, _PATIENT, gold, whole=whole, is_renamed=is_renamed)
    schema |= {"title": "Patient", "description": "The patient that a clinical note describes."} if whole else {}
    return Sample("notes", schema, document, answer, None)


def _part(
    rng: random.Random, shape: Mapping[str, Any], gold: Mapping[str, Any], *, whole: bool, is_renamed: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema and the answer of a part of a record, of which some fields are asked for."""
    asked = [slot.name for slot in some(rng, [Slot(name) for name in shape], gold, all_share=float(whole))]
    properties: dict[str, Any] = {}
    answer: dict[str, Any] = {}
    for field in asked:
        name = rng.choice(_RENAMED[field]) if is_renamed and field in _RENAMED else field
        value = gold.get(field)
        if isinstance(shape[field], dict):
            inside, held = _part(rng, shape[field], value or {}, whole=whole, is_renamed=is_renamed)
            properties[name] = {"anyOf": [inside, _NULL]}
            answer[name] = held if value is not None else None
        elif isinstance(shape[field], list):
            properties[name] = {"anyOf": [{"type": "array", "items": {"type": "string"}}, _NULL]}
            answer[name] = value
        else:
            properties[name] = {"anyOf": [{"type": "string"}, _NULL]}
            answer[name] = value
    return {"type": "object", "properties": properties, "required": list(properties)}, answer


def finance(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield a sample for each sentence of financial news, with names and amounts of seven kinds."""
    for document, gold in _rows(repository / "src/financial_ner/data/financial_ner.parquet", "text"):
        slots = [Slot(name, is_list=True, other_names=(name.lower(), f"{name.lower()}_names")) for name in gold]
        values = {name: _in_order(document, value) for name, value in gold.items()}
        yield record(rng, "finance", document, slots, values, about="What a sentence of financial news names.")


def _in_order(document: str, value: str | list[str] | None) -> list[str]:
    """Return values in the order in which a text states them."""
    return [value] if isinstance(value, str) else sorted(value or [], key=document.find)


def personal_data(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield a sample for each text with personal data, of which some kinds are asked for."""
    for document, gold in _rows(repository / "src/pii/data/pii.parquet", "text"):
        stated = [name for name, value in gold.items() if isinstance(value, str)]
        others = rng.sample([name for name in gold if name not in stated], rng.randint(2, 8))
        names = rng.sample([*stated, *others], len(stated) + len(others))
        yield record(rng, "pii", document, [Slot(name) for name in names], gold, about="Personal data in a text.")


def _rows(path: Path, column: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the texts of a table, each with its right answer, which is written as Python writes a dictionary."""
    from pyarrow import parquet

    table = parquet.read_table(path).to_pydict()
    for document, written in zip(table[column], table["ground_truth"], strict=True):
        if len(document) <= MAX_CHARACTERS:
            yield document, ast.literal_eval(written)
