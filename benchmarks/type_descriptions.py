"""Forms of a prompt against each other: how a type is described, where it stands, and with which words.

`python -m benchmarks.type_descriptions --model smollm2` answers the gold documents that prompts are tuned on in each
form, and prints how many fields are right, with the standard error of the difference to the first form, document by
document. Each form differs from the first in one thing, or joins what did well. Answers are kept in a file as JSON
lines, and are not asked for again.

There are two measures. "read" shows the model the right answer token by token, and counts a field as right if the
model would have written it, given all before: one pass for a document, and no mistake spoils the fields behind it.
"written" has answers written. The first is for choosing among many forms, the second for the few that are left.
"""

import argparse
import inspect
import json
import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from benchmarks.gold import Record, Score, Split, records, score
from structured import Extractor, load_model
from structured.decoding.prompt_tokens import common_beginning
from structured.extraction.extractor import task_and_run
from structured.extraction.guided_task import GuidedTask
from structured.extraction.prompts import Conversation
from structured.extraction.task import Task
from structured.index.guide import Guide
from structured.index.masks import unpack
from structured.models import LanguageModel
from structured.models import checked_calls as calls
from structured.output_types.resolve import resolve_type
from structured.results.json_text import value_spans
from structured.vocabulary import Vocabulary

MAX_TOKENS = 256
"""More than any right answer has."""

TypeOf = type[BaseModel]


def sketch(output_type: TypeOf) -> str:
    """Return the description that the library writes."""
    return resolve_type(output_type).describe().text


def skeleton(output_type: TypeOf) -> str:
    """Return the library's description with names in quotes, in one line: what the answer looks like."""
    quoted = re.sub(r"^( *)(\w+): ", r'\1"\2": ', sketch(output_type), flags=re.MULTILINE)
    plain = re.sub(r" *//.*", "", quoted)
    return re.sub(r"([\w\"\)\}\]]) +(?=\")", r"\1, ", " ".join(plain.split())).replace("{ ", "{").replace(" }", "}")


def named(output_type: TypeOf) -> str:
    """Return the library's description below the name of the type."""
    return f"{output_type.__name__} = {sketch(output_type)}"


def formatted(output_type: TypeOf) -> str:
    """Return the library's description with the formats of dates and times."""
    shown = sketch(output_type)
    for name in [name for name, field in output_type.model_fields.items() if "time" in str(field.annotation)]:
        shown = re.sub(rf"({name}: )string", r"\1time", shown)
    return re.sub(r": (date|datetime|time)\b", lambda kind: f"{kind[0]} ({FORMATS[kind[1]]})", shown)


FORMATS = {"date": "YYYY-MM-DD", "datetime": "YYYY-MM-DDTHH:MM:SS", "time": "HH:MM:SS"}


def told(output_type: TypeOf) -> str:
    """Return the library's description, which says of optional fields when they are null."""
    return sketch(output_type).replace("| null", "| null (if not stated)")


def json_schema(output_type: TypeOf) -> str:
    """Return the JSON Schema, in one line."""
    return json.dumps(output_type.model_json_schema())


def python_class(output_type: TypeOf) -> str:
    """Return the source of a class, below that of the classes that it refers to."""
    own = [kind for kind in _mentioned(output_type) if issubclass(kind, BaseModel)]
    others = [kind for kind in _mentioned(output_type) if not issubclass(kind, BaseModel)]
    return "\n\n".join(inspect.getsource(kind).rstrip() for kind in [*others, *own, output_type])


def _mentioned(output_type: TypeOf) -> list[type]:
    """Return the classes of the module of a type that its fields mention."""
    annotations = [field.annotation for field in output_type.model_fields.values()]
    kinds = [one for annotation in annotations for one in (annotation, *get_args(annotation)) if inspect.isclass(one)]
    return [one for one in dict.fromkeys(kinds) if one.__module__ == output_type.__module__]


def python_words(output_type: TypeOf) -> str:
    """Return the library's description in the words of Python, its rules and comments kept."""
    shown = sketch(output_type)
    for word, name in {"string": "str", "integer": "int", "boolean": "bool", "number": "float"}.items():
        shown = re.sub(rf"(: |\[|\| ){word}\b", rf"\1{name}", shown)
    shown = re.sub(r"\[([^\[\]]*), \.\.\.\]", r"list[\1]", shown).replace("| null", "| None").replace("//", "#")
    return f"class {output_type.__name__}: {shown}"


def field_list(output_type: TypeOf) -> str:
    """Return a line for each field, with its type in words."""
    schema = output_type.model_json_schema()
    return "\n".join(_lines(schema, schema.get("$defs", {})))


def _lines(schema: dict[str, Any], definitions: dict[str, Any], indent: str = "") -> Iterator[str]:
    for name, field in schema["properties"].items():
        said = f": {field['description']}" if "description" in field else ""
        yield f"{indent}- {name} ({_words(field, definitions)}){said}"
        for part in (field, field.get("items", {})):
            target = definitions.get(part.get("$ref", "").rpartition("/")[2], {})
            if "properties" in target:
                yield from _lines(target, definitions, f"{indent}  ")


_WORDS = {"integer": "whole number", "string": "text", "boolean": "true or false", "date": "date, YYYY-MM-DD"}
_WORDS |= {"date-time": "date and time, YYYY-MM-DDTHH:MM:SS", "time": "time, HH:MM:SS", "number": "number"}


def _words(field: dict[str, Any], definitions: dict[str, Any]) -> str:
    target = definitions.get(field.get("$ref", "").rpartition("/")[2], field)
    if "enum" in target:
        return "one of " + ", ".join(json.dumps(value) for value in target["enum"])
    if "anyOf" in target:
        kinds = [_words(one, definitions) for one in target["anyOf"] if one.get("type") != "null"]
        has_null = any(one.get("type") == "null" for one in target["anyOf"])
        return " or ".join(dict.fromkeys(kinds)) + ("; null if not stated" if has_null else "")
    if target.get("type") == "array":
        of = definitions.get(target["items"].get("$ref", "").rpartition("/")[2], target["items"])
        return "list of objects with" if "properties" in of else f"list of {_words(of, definitions)}s"
    if "properties" in target:
        return "object with"
    return _WORDS.get(target.get("format", ""), _WORDS.get(target.get("type", ""), "any"))


NOW = "Fill in the type from the text, as JSON. Where the text states no value, write null if the type allows it."


class Form(NamedTuple):
    """How a prompt is made."""

    describe: Callable[[TypeOf], str] = sketch
    task: str | None = None
    """None is the usual one: `NOW` for chat models, nothing for others."""
    label: str = "Type"
    turn: Literal["user", "system"] = "user"
    document: Literal["last", "first"] = "last"
    examples: int = 0
    as_built: bool = False
    """Whether the task is the one that the library writes."""

    def messages(self, output_type: TypeOf, document: str, examples: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
        """Return the chat messages; an example is an earlier turn."""
        head, text = self._head(output_type, self._usual(output_type)), f"Text:\n{document}"
        asked = f"{text}\n\n{head}" if self.document == "first" else f"{head}\n\n{text}"
        turns: list[dict[str, str]] = []
        if self.turn == "system":
            turns, asked = [{"role": "system", "content": head}], text
        for question, answer in examples:
            turns.append({"role": "user", "content": asked.replace(text, f"Text:\n{question}")})
            turns.append({"role": "assistant", "content": answer})
        return [*turns, {"role": "user", "content": asked}]

    def plain(self, output_type: TypeOf, document: str, examples: Sequence[tuple[str, str]]) -> str:
        """Return the prompt of a model without a chat template."""
        head = self._head(output_type, "")
        shown = [f"Text:\n{text}\n\nJSON:\n{answer}" for text, answer in [*examples, (document, "")]]
        if self.document == "first":
            shown = [f"Text:\n{document}\n\n{head}\n\nJSON:\n"]
            return "\n\n".join(shown)
        return "\n\n".join([head, *shown])

    def _usual(self, output_type: TypeOf) -> str:
        return resolve_type(output_type).describe().task if self.as_built else NOW

    def _head(self, output_type: TypeOf, usual: str) -> str:
        task = usual if self.task is None else self.task
        return "\n\n".join(filter(None, (task, f"{self.label}:\n{self.describe(output_type)}")))


COPY = (
    "Extract the values of this type from the text, and answer with JSON only. Copy names and words as they stand in "
    "the text. Write null for what the text does not state."
)
EXTRACT = (
    "Extract the values of this type from the text, and answer with JSON only. Write null for what the text does not "
    "state, if the type allows it."
)
SHORT = "Extract this from the text, as JSON."

FORMS: dict[str, Form] = {
    "before": Form(),
    "layouts beside each date": Form(formatted),
    "null if not stated": Form(told),
    "name of the type": Form(named),
    "skeleton": Form(skeleton),
    "JSON Schema": Form(json_schema),
    "field list": Form(field_list),
    "Python class": Form(python_class),
    "words of Python": Form(python_words),
    "system turn": Form(turn="system"),
    "document first": Form(document="first"),
    "no task": Form(task=""),
    "short task": Form(task=SHORT),
    "copying task": Form(task=COPY),
    "extracting task": Form(task=EXTRACT),
    "extracting task, layouts of dates in it (as built)": Form(as_built=True),
    "Python class, below the task as built": Form(python_class, as_built=True),
    "two examples": Form(examples=2),
}


class Answer(NamedTuple):
    """What was answered to a document, as it is kept in the file."""

    model: str
    split: str
    measure: str
    form: str
    document: str
    answer: Any
    right: int
    fields: int
    nats: float | None
    """Minus the log probability of the right answer among the texts that the type allows."""


def examples_for(record: Record, all_of: Sequence[Record], count: int) -> tuple[Record, ...]:
    """Return as many records of the same type: the last ones, or for one of these, the first."""
    same = [one for one in all_of if type(one.value) is type(record.value)]
    last = tuple(same[len(same) - count :])
    return tuple(same[:count]) if record in last else last


class Batch(NamedTuple):
    """Records of one type that are asked for in one way."""

    extractor: Extractor[Any]
    records: tuple[Record, ...]


def batches(model: LanguageModel, form: Form, asked: Sequence[Record]) -> Iterator[Batch]:
    """Yield the records in batches, each with an extractor, while prompts are made in a form."""
    known = records("tune")

    def shown(record: Record) -> tuple[Record, ...]:
        return examples_for(record, known, form.examples)

    while asked:
        first, examples = asked[0], shown(asked[0])
        batch = tuple(one for one in asked if type(one.value) is type(first.value) and shown(one) == examples)
        asked = [one for one in asked if one not in batch]
        output_type = type(first.value)
        pairs = [(record.document, written(record.value)) for record in examples]
        build = form.messages if model.has_chat_template else form.plain

        def prompt(_: Task, asked: Conversation, of: Any = (build, output_type, pairs)) -> str | list[dict[str, str]]:
            build, output_type, pairs = of
            made: str | list[dict[str, str]] = build(output_type, asked.text, pairs)
            return made

        with patch.object(Task, "prompt", prompt):
            yield Batch(Extractor(output_type, model=model, max_tokens=MAX_TOKENS, batch_size=16), batch)


def written(value: BaseModel) -> str:
    """Return a value as a model has to write it."""
    return resolve_type(type(value)).write(value)


def write(batch: Batch) -> Iterator[tuple[Any, Score, None]]:
    """Yield what is answered to each document, greedily, and its score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = batch.extractor.batch([record.document for record in batch.records])
    for record, answer in zip(batch.records, found, strict=True):
        yield answer.model_dump(mode="json"), score(record.value, answer), None


def read(batch: Batch) -> Iterator[tuple[None, Score, float]]:
    """Yield how many fields of each right answer the model would have written, and how improbable the answer is."""
    task, _ = task_and_run(batch.extractor)
    assert isinstance(task, GuidedTask), "the model runs here"
    for at in range(0, len(batch.records), READ_AT_ONCE):
        group = batch.records[at : at + READ_AT_ONCE]
        prompts = [list(calls.encode(task.model, batch.extractor.prompt(record.document))) for record in group]
        texts = [task.output_type.write(record.value) for record in group]
        tokens = [spelled(task.model.vocabulary, text) for text in texts]
        window = max(map(len, tokens)) - 1
        whole = [prompt + answer[:-1] for prompt, answer in zip(prompts, tokens, strict=True)]
        _, scores = task.model.prefill(whole, shared=len(common_beginning(prompts)), window=window)
        for record, text, answer, logits in zip(group, texts, tokens, np.asarray(scores), strict=True):
            guide = Guide(task.index(record.document), max_tokens=4 * MAX_TOKENS)
            yield None, *_read(guide, text, answer, logits[window + 1 - len(answer) :])


READ_AT_ONCE = 4


def spelled(vocabulary: Vocabulary, text: str) -> list[int]:
    """Return the tokens of a text as the tokenizer splits it, without those that it puts around."""
    assert vocabulary.encode is not None, "models that have a tokenizer"
    return [token_id for token_id in vocabulary.encode(text) if vocabulary.tokens[token_id] is not None]


def _read(guide: Guide, text: str, answer: Sequence[int], logits: NDArray[np.float32]) -> tuple[Score, float]:
    """Follow an answer token by token. A token is right if the text goes on with it, however the text is split."""
    vocabulary = guide.index.vocabulary
    written_bytes, spans = text.encode(), _spans(text)
    wrong: set[int] = set()
    nats, place = 0.0, 0
    for token_id, scores in zip(answer, logits[:, : vocabulary.size], strict=True):
        legal = np.flatnonzero(unpack(guide.mask(), vocabulary.size))
        own = vocabulary.tokens[token_id] or b""
        if token_id in legal:
            among = scores[legal].astype(np.float64)
            nats += float(np.logaddexp.reduce(among) - scores[token_id])
        said, left = (vocabulary.tokens[legal[scores[legal].argmax()]] or b"").lower(), written_bytes[place:].lower()
        if not (left.startswith(said) and said):
            wrong |= {number for number, (start, end) in enumerate(spans) if place < end and start < place + len(own)}
        guide.advance(token_id)
        place += len(own)
    return Score(len(spans) - len(wrong), len(spans)), nats


def _spans(text: str) -> list[tuple[int, int]]:
    """Return where the bytes of each leaf of a JSON text begin and end, with the character that ends it."""
    leaves = [span for _, *span in value_spans(text) if text[span[0]] not in "[{" or span[1] - span[0] == len("[]")]
    return [(len(text[:start].encode()), len(text[:end].encode()) + 1) for start, end in leaves]


MEASURES = {"read": read, "written": write}


def measure(model: LanguageModel, split: Split, how: str, name: str, file: Path) -> None:
    """Answer what is not in the file yet, and append it."""
    done = {
        one.document
        for one in kept(file)
        if (one.model, one.split, one.measure, one.form) == (model.name, split, how, name)
    }
    left = [record for record in records(split) if record.document not in done]
    for batch in batches(model, FORMS[name], left):
        with file.open("a", encoding="utf-8") as lines:
            for record, (answer, (right, fields), nats) in zip(batch.records, MEASURES[how](batch), strict=True):
                line = Answer(model.name, split, how, name, record.document, answer, right, fields, nats)
                lines.write(json.dumps(line._asdict(), ensure_ascii=False) + "\n")


def kept(file: Path) -> list[Answer]:
    """Return the answers that a file has."""
    if not file.exists():
        return []
    return [Answer(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def row(name: str, answers: dict[str, Answer], first: dict[str, Answer]) -> str:
    """Return a row of the table: right fields, and their difference to the first form with its standard error."""
    documents = [one for one in first if one in answers]
    share, influence = _share([answers[one] for one in documents])
    other, others_influence = _share([first[one] for one in documents])
    error = sqrt(sum((mine - its) ** 2 for mine, its in zip(influence, others_influence, strict=True)))
    nats = [answers[one].nats for one in documents]
    shown = f"{sum(one or 0 for one in nats) / len(nats):.2f}" if None not in nats else ""
    return f"| {name} | {share:.1%} | {100 * (share - other):+.1f} ± {100 * error:.1f} | {shown} | {len(documents)} |"


def _share(answers: Sequence[Answer]) -> tuple[float, list[float]]:
    """Return the share of right fields, and what each document does to it (the linearised ratio)."""
    fields = sum(one.fields for one in answers)
    share = sum(one.right for one in answers) / fields
    return share, [(one.right - share * one.fields) / fields for one in answers]


def table(file: Path, model: str, split: str, how: str) -> str:
    """Return the table of a model."""
    found: dict[str, dict[str, Answer]] = {}
    for one in kept(file):
        if (one.model, one.split, one.measure) == (model, split, how):
            found.setdefault(one.form, {})[one.document] = one
    first = next(iter(found.values()))
    head = f"| {model}, {how} | fields right | to the first | nats | documents |\n|---|---|---|---|---|"
    return "\n".join([head, *(row(name, of, first) for name, of in found.items())])


def main() -> None:
    """Measure the forms with one model, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="as load_model takes it; by default the model of the package")
    parser.add_argument("--split", default="tune", choices=get_args(Split))
    parser.add_argument("--measure", default="read", choices=MEASURES)
    parser.add_argument("--forms", nargs="*", default=list(FORMS), choices=list(FORMS), metavar="FORM")
    parser.add_argument("--results", type=Path, default=Path("type_descriptions.jsonl"))
    parser.add_argument("--dtype", default="auto", help="of a checkpoint: bfloat16 is fastest on recent processors")
    asked = parser.parse_args()
    model = load_model(asked.model, dtype=asked.dtype)
    for name in asked.forms:
        start = time.perf_counter()
        measure(model, asked.split, asked.measure, name, asked.results)
        line = table(asked.results, model.name, asked.split, asked.measure).splitlines()[-1]
        print(line, f"{time.perf_counter() - start:.0f} s", flush=True)
    print(f"\n{table(asked.results, model.name, asked.split, asked.measure)}")


if __name__ == "__main__":
    main()
