"""Results as annotations of a text, for LangExtract, Label Studio and spaCy, and corrected annotations as gold.

In each of them a value is a span with a label: the path of its field, `lines[].price`. Values without a place in the
document have no span: LangExtract lists them without one, the others leave them out.
"""

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from xml.sax.saxutils import quoteattr

from structured.errors.values import message
from structured.output_types.inspection import inspect_type
from structured.output_types.paths import Steps, path_to_steps, steps_to_field
from structured.output_types.stated_dates import stated_dates, stated_datetimes, stated_times
from structured.output_types.stated_numbers import Statement, stated_numbers
from structured.results.result import Result

_ALIGNMENT_STATUSES: Mapping[str, str] = {"exact": "match_exact", "grounded": "match_exact"}
"""The alignment of LangExtract for a match; any other with a place is fuzzy."""


def to_langextract(result: Result[Any]) -> dict[str, Any]:
    """Return a result as an annotated document of LangExtract, a line of the files that its `visualize` opens.

        with open("people.jsonl", "w") as file:
            for result in extract_results(Person, documents):
                print(json.dumps(to_langextract(result)), file=file)

    The class of an extraction is the path of its field; its attributes are the path and the value. Values of one record
    of a list are of one group. A result with an error has no extractions.
    """
    groups: dict[Steps, int] = {}
    extractions = []
    for index, (label, steps, row) in enumerate(_rows(result)):
        record = next((steps[: place + 1] for place, step in enumerate(steps) if isinstance(step, int)), ())
        has_span = row["start"] is not None
        extractions.append({
            "extraction_class": label,
            "extraction_text": row["quote"] if has_span else _value_to_text(row["value"]),
            "char_interval": {"start_pos": row["start"], "end_pos": row["end"]} if has_span else None,
            "alignment_status": _ALIGNMENT_STATUSES.get(row["match"], "match_fuzzy") if has_span else None,
            "extraction_index": index + 1,
            "group_index": groups.setdefault(record, len(groups)),
            "description": None,
            "attributes": {"path": row["path"], "value": _value_to_text(row["value"])},
        })  # fmt: skip
    return {"extractions": extractions, "text": result.document, "document_id": result.id}


def label_studio_config(output_type: object) -> str:
    """Return the labeling configuration of a Label Studio project for a type: a label for each of its fields.

    Raises SchemaError for what is no type.
    """
    labels = "".join(f"\n    <Label value={quoteattr(name)}/>" for name in _labels(output_type))
    text = '<Text name="text" value="$text"/>'
    return f'<View>\n  <Labels name="label" toName="text">{labels}\n  </Labels>\n  {text}\n</View>'


def to_label_studio(result: Result[Any]) -> dict[str, Any]:
    """Return a result as a task of Label Studio: its document, and its values as a prediction to correct.

    Import a list of them as JSON, into a project with `label_studio_config`. A result with an error has no prediction.
    Values without a place in the document are in the data of the task, as `unplaced`.
    """
    task: dict[str, Any] = {"data": {"text": result.document, "id": result.id}, "predictions": []}
    if result.error is not None:
        return task
    rows = _rows(result)
    unplaced = {row["path"]: row["value"] for _, _, row in rows if row["start"] is None and row["value"] is not None}
    if unplaced:
        task["data"]["unplaced"] = unplaced
    regions = [
        {
            "id": row["path"] or "value",
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {"start": row["start"], "end": row["end"], "text": row["quote"], "labels": [label]},
            "score": row["confidence"],
            "meta": {"value": row["value"], "quote": row["quote"]},
        }
        for label, _, row in rows
        if row["start"] is not None
    ]
    model = "" if result.provenance is None else result.provenance.model
    return {**task, "predictions": [{"model_version": model, "score": result.confidence, "result": regions}]}


def from_label_studio(task: Mapping[str, Any], output_type: object) -> dict[str, Any]:
    """Return a task that people have annotated as gold: a line of the files that `evaluate` reads.

        with open("gold.jsonl", "w") as file:
            for task in json.loads(Path("export.json").read_text()):
                print(json.dumps(from_label_studio(task, Person)), file=file)

    The last annotation that was not skipped counts. A region that a prediction had, with the same text, keeps its
    value; the value of any other is its text, read as a number, a date or a time if the field is one. A region that a
    person added to a list of records goes to the first record that has no such field yet, or to a new one. Values
    without a place are as they were predicted. Other fields without a region are missing, and lists empty.

    Raises ValueError if there is no annotation, a label is no field of the type, or a text is no value of its field.
    """
    try:
        return _gold(task, output_type)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"This is no task of Label Studio with annotations of texts: {message(error)}.") from error


def _gold(task: Mapping[str, Any], output_type: object) -> dict[str, Any]:
    document = task["data"]["text"]
    name = f"The task {task.get('data', {}).get('id', task.get('id'))!r}"
    annotations = [entry for entry in task.get("annotations", ()) if not entry.get("was_cancelled")]
    if not annotations:
        raise ValueError(f"{name} has no annotation. Export tasks that people have submitted, as JSON.")
    labels = _labels(output_type)
    values: dict[Steps, Any] = {}
    added_values: list[tuple[str, Any]] = []
    regions = [region for region in annotations[-1]["result"] if region.get("type") == "labels"]
    for region in sorted(regions, key=lambda region: region["value"]["start"]):
        [label] = region["value"]["labels"]
        if label not in labels and not any(label.startswith(f"{path}.") for path in labels if labels[path][:1] == "{"):
            raise ValueError(f"{name} has the label {label!r}, which is no field of the type.")
        start, end = region["value"]["start"], region["value"]["end"]
        if not 0 <= start < end <= len(document):
            raise ValueError(f"{name} has a region from {start} to {end}, in a text of {len(document):,} characters.")
        prediction, quote = region.get("meta", {}), document[start:end]
        is_predicted = prediction.get("quote") == quote
        kind, where = labels.get(label, ""), f"{name}, {label}"
        value = prediction.get("value") if is_predicted else _text_to_value(quote, kind, where)
        path = region.get("id", "")
        steps = path_to_steps("" if path == "value" else path)
        if (steps_to_field(steps) or "value") != label or steps in values:  # no place of the field
            added_values.append((label, value))
        else:
            values[steps] = value
    for label, value in added_values:
        path = "" if label == "value" else label
        places = (path_to_steps(path.replace("[]", f"[{index}]")) for index in itertools.count())
        values[next(steps for steps in places if steps not in values or "[]" not in label)] = value
    for path, value in task["data"].get("unplaced", {}).items():
        steps = path_to_steps(path)
        item = max((place for place, step in enumerate(steps, 1) if isinstance(step, int)), default=0)
        if any(other[:item] == steps[:item] for other in values) or not item:  # its record is still there
            values.setdefault(steps, value)
    gold = _nested(values)
    if isinstance(gold, dict):
        lists = {label.partition("[]")[0] for label in labels if "[]" in label}
        gold = {**{path: [] for path in lists if path.isidentifier()}, **gold}
    return {"id": str(task["data"].get("id", task.get("id", ""))), "document": document, "value": gold}


_READERS: Mapping[str, Callable[[str], Sequence[Statement[Any]]]] = {
    **dict.fromkeys(("integer", "number", "decimal"), stated_numbers),
    "date": stated_dates,
    "datetime": stated_datetimes,
    "time": stated_times,
}
"""The readers of numbers, dates and times, which texts write in many forms."""


def _text_to_value(quote: str, kind: str, where: str) -> Any:
    """Return the value that a marked text states; the longest, if it states several. Raises ValueError for none."""
    kinds = {part.strip(" .]") for part in re.split(r"[|,]", kind)}
    readers = [(name, reader) for name, reader in _READERS.items() if name in kinds]
    if "string" in kinds or not (readers or "boolean" in kinds):
        return quote
    for name, reader in readers:
        for statement in sorted(reader(quote), key=lambda statement: statement.span[0] - statement.span[1])[:1]:
            value = statement.values[0]
            if not isinstance(value, Decimal):
                return value.isoformat()
            return float(value) if name == "number" else int(value) if value == int(value) else str(value)
    raise ValueError(f"{where}: {quote!r} is marked, which is no {kind}. Mark the value alone, or correct the gold.")


def _labels(output_type: object) -> dict[str, str]:
    """Return the label of each field whose values hold no others, with the kind of these: `lines[].tags[]`: string."""
    fields = inspect_type(output_type).fields
    labels = {}
    for field in fields:
        has_inner_fields = any(other.path.startswith((f"{field.path}.", f"{field.path}[")) for other in fields)
        if not has_inner_fields and (field.path or len(fields) == 1):
            kind = field.kind.lstrip("[")
            labels[field.path + "[]" * (len(field.kind) - len(kind)) or "value"] = kind
    return labels


def _nested(values: Mapping[Steps, Any]) -> Any:
    """Return values by their places as data; gaps in lists are closed."""
    if () in values:
        return values[()]
    groups: dict[str | int, dict[Steps, Any]] = {}
    for steps, value in values.items():
        groups.setdefault(steps[0], {})[steps[1:]] = value
    members = {step: _nested(group) for step, group in groups.items()}
    numbers = sorted(step for step in members if isinstance(step, int))
    return [members[number] for number in numbers] if numbers else members


def to_spacy(result: Result[Any], nlp: Any, *, key: str = "structured") -> Any:
    """Return a result as a `Doc` of a pipeline of spaCy, whose `doc.spans[key]` are the places of its values.

        DocBin(docs=[to_spacy(result, nlp) for result in results]).to_disk("people.spacy")

    The label of a span is the path of its field, and its id the path of the value. A span that begins or ends within a
    token is widened to whole tokens. A result with an error has no spans.
    """
    doc = nlp.make_doc(result.document)
    doc.spans[key] = [
        doc.char_span(row["start"], row["end"], label, span_id=row["path"], alignment_mode="expand")
        for label, _, row in _rows(result)
        if row["start"] is not None and row["start"] < row["end"]
    ]
    return doc


def _rows(result: Result[Any]) -> list[tuple[str, Steps, dict[str, Any]]]:
    """Return each value of a result with its label, its place and its evidence; none for an error."""
    rows = [] if result.error is not None else [(path_to_steps(row["path"]), row) for row in result.rows()]
    return [(steps_to_field(steps) or "value", steps, row) for steps, row in rows]


def _value_to_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
