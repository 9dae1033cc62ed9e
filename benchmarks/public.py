"""Right, not only valid: documents with right answers that others wrote, `python -m benchmarks.public FOLDER`.

The folder has a module `types.py` and files of JSON lines, one file a set. A line has an `id`, the `text` of a
document, its right answer as `gold`, and as `type` the name of a class: in the mapping `TYPES` of the module, or in the
module itself. Answers are compared by `structured.evaluate`, with case and white space folded: of all values that are
stated, recall, precision and F1, and the share of documents that are right as a whole.

With `--out`, answers are kept in a file, and what it has is not asked again; `--read` prints the table of such a file.
"""

import argparse
import json
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import groupby
from math import sqrt
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, ValidationError

from structured import Extractor, StructuredError, evaluate, load_model
from structured.errors import StructuredWarning
from structured.errors.values import message
from structured.jobs import Evaluation
from structured.jobs.figures import Figure
from structured.models import LanguageModel

COUNT = 60
"""Documents of each set."""

AT_ONCE = 16
"""Documents that are given to the library or the peer together."""

MAX_TOKENS = 1024
"""What the library allows an answer by default, and so the peer, too."""

TypeOf = type[BaseModel]


class Document(NamedTuple):
    """A document with its right answer."""

    set: str
    id: str
    type: str
    text: str
    gold: Any


@dataclass(frozen=True)
class Answer:
    """What one way has answered to a document, as a line of the file says it.

    Attributes:
        way: `structured`, or the peer.
        model: What the model is called.
        set: The name of the set.
        id: The id of the document.
        data: The answer as plain JSON; None if there is none.
        error: Why there is none.
        seconds: How long it took on the wall, with the others that were asked for together.
    """

    way: str
    model: str
    set: str
    id: str
    data: Any
    error: str | None
    seconds: float


def read_types(folder: Path) -> Mapping[str, TypeOf]:
    """Return the types of a folder by their names."""
    spec = spec_from_file_location("types_of_public_documents", folder / "types.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    named: Mapping[str, TypeOf] = getattr(module, "TYPES", vars(module))
    return named


def read_documents(folder: Path, sets: Sequence[str], count: int) -> list[Document]:
    """Return so many documents of each set, drawn at random: always the same ones, of which fewer are the first."""
    documents = []
    for path in sorted(folder.glob("*.jsonl")):
        if not sets or path.stem in sets:
            records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            random.Random(0).shuffle(records)
            documents += [
                Document(path.stem, record["id"], record["type"], record["text"], record["gold"])
                for record in records[:count]
            ]
    return documents


Way = Callable[[LanguageModel, TypeOf, Sequence[str]], list[BaseModel | Exception]]
"""A way to answer: from a model, a type and documents to an answer or an error for each."""


def structured(model: LanguageModel, output_type: TypeOf, documents: Sequence[str]) -> list[BaseModel | Exception]:
    """Answer with this library, as it is without options."""
    answers: list[BaseModel | Exception] = []
    answers += Extractor(output_type, model=model).batch(documents, errors="return", progress=False)
    return answers


def grounded(model: LanguageModel, output_type: TypeOf, documents: Sequence[str]) -> list[BaseModel | Exception]:
    """Answer with this library, with what the documents state."""
    answers: list[BaseModel | Exception] = []
    answers += Extractor(output_type, model=model, grounded=True).batch(documents, errors="return", progress=False)
    return answers


def outlines(model: LanguageModel, output_type: TypeOf, documents: Sequence[str]) -> list[BaseModel | Exception]:
    """Answer with Outlines in the `generate` of transformers, with the same prompts, one by one."""
    import torch

    from benchmarks.logits_processors import Outlines

    loaded = cast("Any", model)
    extractor = Extractor(output_type, model=model)
    try:
        make = Outlines(loaded.model, loaded.tokenizer).compile(output_type.model_json_schema())
    except Exception as error:  # noqa: BLE001  peers fail in ways of their own
        return [error] * len(documents)
    answers: list[BaseModel | Exception] = []
    for document in documents:
        prompt = torch.tensor([model.encode(extractor.prompt(document))])
        with torch.inference_mode():
            written = loaded.model.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                max_new_tokens=MAX_TOKENS,
                do_sample=False,
                logits_processor=[make()],
            )
        text = loaded.tokenizer.decode(written[0, prompt.shape[1] :], skip_special_tokens=True)
        try:
            answers.append(output_type.model_validate_json(text))
        except ValidationError as error:
            answers.append(error)
    return answers


WAYS: Mapping[str, Way] = {"structured": structured, "structured, grounded": grounded, "Outlines": outlines}


def answered(
    way: str, model: LanguageModel, types: Mapping[str, TypeOf], documents: Sequence[Document]
) -> Iterator[Answer]:
    """Yield the answers to documents, some at once."""
    for (name, kind), of_kind in groupby(sorted(documents, key=attrgetter("set", "type")), attrgetter("set", "type")):
        same = list(of_kind)
        for start in range(0, len(same), AT_ONCE):
            some = same[start : start + AT_ONCE]
            started = perf_counter()
            found = WAYS[way](model, types[kind], [one.text for one in some])
            seconds = (perf_counter() - started) / len(some)
            for one, value in zip(some, found, strict=True):
                error = f"{type(value).__name__}: {message(value)}" if isinstance(value, Exception) else None
                data = None if isinstance(value, Exception) else value.model_dump(mode="json")
                yield Answer(way, model.name, name, one.id, data, error, seconds)


class Row(NamedTuple):
    """A row of the table: the evaluation of one set."""

    set: str
    evaluation: Evaluation
    seconds: float


def rows(documents: Sequence[Document], answers: Sequence[Answer]) -> list[Row]:
    """Return a row for each set that has answers, of the documents that have one."""
    by_id = {(one.set, one.id): one for one in documents}
    found = []
    for name, some in groupby(sorted(answers, key=attrgetter("set")), attrgetter("set")):
        pairs = [(by_id[name, one.id], one) for one in some if (name, one.id) in by_id]
        if pairs:
            given = [one.data if one.error is None else StructuredError(one.error) for _, one in pairs]
            evaluation = evaluate(given, [(one.text, one.gold) for one, _ in pairs], compare="folded")
            found.append(Row(name, evaluation, fmean(one.seconds for _, one in pairs)))
    return found


COLUMNS = {"recall": "recall", "precision": "precision", "f1": "F1 (95 % interval)"}
COLUMNS |= {"documents": "all right", "wrong_but_valid": "wrong but valid"}
"""The figures of the table, and their headings."""


def table(found: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table in Markdown: a row for each set, and their mean."""
    yield f"| set | documents | {' | '.join(COLUMNS.values())} | errors | seconds a document |"
    yield "|---" * (len(COLUMNS) + 4) + "|"
    for row in found:
        errors = len(row.evaluation.failed)
        yield _line(row.set, len(row.evaluation.documents), row.evaluation.figures, errors, row.seconds)
    if found:
        totals = [sum(len(part(row)) for row in found) for part in (_documents, _failed)]
        figures = {name: mean([row.evaluation.figures[name] for row in found]) for name in COLUMNS}
        yield _line("**mean**", totals[0], figures, totals[1], fmean(row.seconds for row in found))


def _documents(row: Row) -> Sequence[Any]:
    return row.evaluation.documents


def _failed(row: Row) -> Sequence[Any]:
    return row.evaluation.failed


def mean(figures: Sequence[Figure]) -> Figure:
    """Return the mean of the figures of sets; one that is undefined counts as 0.

    Documents of different sets have nothing to do with each other, so that the squares of the widths of the intervals
    are added.
    """
    value = fmean(figure.value or 0 for figure in figures)
    half = sqrt(sum(((figure.high or 0) - (figure.low or 0)) ** 2 for figure in figures)) / 2 / len(figures)
    return Figure(value, max(0, value - half), min(1, value + half))


def _line(name: str, documents: int, figures: Mapping[str, Figure], errors: int, seconds: float) -> str:
    shown = [f"{figures[one].value or 0:.0%}" + (_interval(figures[one]) if one == "f1" else "") for one in COLUMNS]
    return f"| {name} | {documents} | {' | '.join(shown)} | {errors} | {seconds:.2f} |"


def _interval(figure: Figure) -> str:
    return f" ({(figure.low or 0):.0%} to {(figure.high or 0):.0%})"


def read_answers(path: Path | None) -> list[Answer]:
    """Return the answers that a file has."""
    if path is None or not path.exists():
        return []
    return [Answer(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def ask(arguments: argparse.Namespace, documents: Sequence[Document]) -> list[Answer]:
    """Return all answers, those of the file and new ones, which are written to it."""
    known = read_answers(arguments.out)
    ways = [
        "structured, grounded" if arguments.grounded else "structured",
        *(["Outlines"] if arguments.outlines and find_spec("outlines") else []),
    ]
    if arguments.outlines and len(ways) == 1:
        print("Outlines is left out: it is not installed (pip install outlines==1.3.3).\n")
    dtype = "float32" if arguments.outlines else "auto"  # with one, transformers runs the model, as Outlines needs it
    model = load_model(arguments.model, adapter=arguments.adapter, dtype=dtype)
    types = read_types(arguments.folder)
    answers = []
    for way in ways:
        has = {(one.set, one.id): one for one in known if (one.way, one.model) == (way, model.name)}
        answers += [has[one.set, one.id] for one in documents if (one.set, one.id) in has]
        for answer in answered(way, model, types, [one for one in documents if (one.set, one.id) not in has]):
            answers.append(answer)
            if arguments.out:
                with arguments.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(answer)) + "\n")
    return answers


def main() -> None:
    """Answer what is not in the file yet, and print a table for each way and model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the documents: files *.jsonl and the module types.py")
    parser.add_argument("--model", default="packaged", help="as load_model takes it; default: the packaged model")
    parser.add_argument("--adapter", type=Path, help="a LoRA adapter for the model: a GGUF file, or a folder of PEFT")
    parser.add_argument("--count", type=int, default=COUNT, help=f"documents of each set; default: {COUNT}")
    parser.add_argument("--sets", default="", help="names of sets, with commas between them; default: all")
    parser.add_argument("--grounded", action="store_true", help="answer with grounded=True, in place of no options")
    parser.add_argument("--outlines", action="store_true", help="answer with Outlines, too; for both, by transformers")
    parser.add_argument("--out", type=Path, help="a file of answers, one a line; what it has is not asked again")
    parser.add_argument("--read", type=Path, help="ask nothing: print the tables of what --out has written")
    arguments = parser.parse_args()
    sets = [name for name in arguments.sets.split(",") if name]
    documents = read_documents(arguments.folder, sets, arguments.count)
    if not documents:
        parser.error(f"{arguments.folder} has no documents{f' of {arguments.sets}' if sets else ''}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuredWarning)
        answers = read_answers(arguments.read) if arguments.read else ask(arguments, documents)
    of_way = attrgetter("way", "model")
    for (way, model), some in groupby(sorted(answers, key=of_way), of_way):
        print(f"\n{way}, {model}\n")
        print("\n".join(table(rows(documents, list(some)))), flush=True)


if __name__ == "__main__":
    main()
