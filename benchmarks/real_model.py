"""A real model on documents with gold answers: right fields and documents a second, `python -m benchmarks.real_model`.

Each way gets the same model, the same prompts and the same budget, and takes the likeliest tokens. The documents are
those that nothing was tuned on. Seconds are those of this process alone, for one thread (`OMP_NUM_THREADS=1`).
Outlines is one of the ways where it is installed (`benchmarks/requirements.txt`).
"""

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from time import process_time
from typing import Any, cast
from unittest.mock import patch

from pydantic import BaseModel, ValidationError

from benchmarks.gold import Record, Score, records, score
from benchmarks.gold.types import TYPES
from structured import Extractor, Repetition, load_model
from structured.errors import StructuredWarning
from structured.index.index import Index
from structured.models import LanguageModel

MAX_TOKENS = 256

Answers = Callable[[LanguageModel, type[BaseModel], Sequence[str]], list[BaseModel | None]]
"""A way to answer: from a model, a type and documents to an answer for each, None where it is not valid."""


def structured(
    model: LanguageModel, output_type: type[BaseModel], documents: Sequence[str], *, batch_size: int, **options: Any
) -> list[BaseModel | None]:
    """Answer with this library."""
    extractor = Extractor(output_type, model=model, max_tokens=MAX_TOKENS, batch_size=batch_size, **options)
    if batch_size == 1:
        return [extractor(document) for document in documents]
    return [*extractor.batch(documents)]


def without_canonical_tokens(
    model: LanguageModel, output_type: type[BaseModel], documents: Sequence[str]
) -> list[BaseModel | None]:
    """Answer with this library, whatever the spelling of what the type determines."""
    with whole_masks():
        return structured(model, output_type, documents, batch_size=16, cache=False)


@contextmanager
def whole_masks() -> Iterator[None]:
    """Let every spelling of what the type determines be written, and not only that of the tokenizer."""
    with (
        patch.object(Index, "canonical_mask", Index.mask),
        patch.object(Index, "canonical_mask_for_budget", Index.mask_for_budget),
    ):
        yield


def outlines(
    model: LanguageModel, output_type: type[BaseModel], documents: Sequence[str], *, batch_size: int
) -> list[BaseModel | None]:
    """Answer with Outlines, in the `generate` of transformers."""
    import torch

    from benchmarks.logits_processors import Outlines

    loaded = cast("Any", model)
    extractor = Extractor(output_type, model=model)
    make = Outlines(loaded.model, loaded.tokenizer).compile(output_type.model_json_schema())
    answers: list[BaseModel | None] = []
    for start in range(0, len(documents), batch_size):
        prompts = [model.encode(extractor.prompt(one)) for one in documents[start : start + batch_size]]
        width = max(map(len, prompts))
        with torch.inference_mode():
            written = loaded.model.generate(
                torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in prompts]),
                attention_mask=torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]),
                max_new_tokens=MAX_TOKENS,
                do_sample=False,
                logits_processor=[make()],
            )
        texts = loaded.tokenizer.batch_decode(written[:, width:], skip_special_tokens=True)
        answers += [_read(output_type, text) for text in texts]
    return answers


def _read(output_type: type[BaseModel], text: str) -> BaseModel | None:
    try:
        return output_type.model_validate_json(text)
    except ValidationError:
        return None


WAYS: dict[str, Answers] = {
    "structured, one by one": partial(structured, batch_size=1),
    "structured, batches of 16": partial(structured, batch_size=16),
    "Outlines, one by one": partial(outlines, batch_size=1),
    "Outlines, batches of 16": partial(outlines, batch_size=16),
    "without canonical tokens": without_canonical_tokens,
    "without repetition control": partial(structured, batch_size=16, repetition=Repetition(stop=False)),
}
"""The last two are batches of 16 as well."""


@dataclass
class Result:
    """What one way has done with documents of one type."""

    way: str
    output_type: str
    documents: int
    right: int
    fields: int
    invalid: int
    seconds: float
    answers: list[str | None]


def measure(model: LanguageModel, way: str, output_type: type[BaseModel], some: Sequence[Record]) -> Result:
    """Answer documents of one type in one way, once the type is known."""
    answer = WAYS[way]
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", StructuredWarning)
        answer(model, output_type, ["A short text."])
        started = process_time()
        answers = answer(model, output_type, [record.document for record in some])
        seconds = process_time() - started
    scores = [_score(record, given) for record, given in zip(some, answers, strict=True)]
    shown = [None if given is None else given.model_dump_json() for given in answers]
    right, fields = (sum(column) for column in zip(*scores, strict=True))
    return Result(way, output_type.__name__, len(some), right, fields, answers.count(None), seconds, shown)


def _score(record: Record, answer: BaseModel | None) -> Score:
    return Score(0, score(record.value, record.value).fields) if answer is None else score(record.value, answer)


def table(results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines of a table, a row for each way."""
    yield "| | documents | right fields | invalid | documents/s | against Outlines one by one | in batches of 16 |"
    yield "|---" * 7 + "|"
    by_way = {way: list(some) for way, some in groupby(sorted(results, key=_by_way), key=lambda one: one.way)}
    rates = {way: _rate(some) for way, some in by_way.items()}
    for way, some in by_way.items():
        right, fields = sum(one.right for one in some), sum(one.fields for one in some)
        ratios = (
            f"{rates[way] / rates[other]:.2f} ×" if other in rates else ""
            for other in ("Outlines, one by one", "Outlines, batches of 16")
        )
        yield (
            f"| {way} | {sum(one.documents for one in some)} | {right} of {fields} ({right / fields:.1%}) | "
            f"{sum(one.invalid for one in some)} | {rates[way]:.3f} | {' | '.join(ratios)} |"
        )


def _by_way(result: Result) -> int:
    return list(WAYS).index(result.way)


def _rate(some: Sequence[Result]) -> float:
    return sum(one.documents for one in some) / sum(one.seconds for one in some)


def main() -> None:
    """Measure what is not in the file of results yet, type after type, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2", help="a name, folder or GGUF file")
    parser.add_argument("--dtype", default="float32", help="auto: llama.cpp for a GGUF file, where it is installed")
    parser.add_argument("--context-length", type=int, help="for llama.cpp")
    parser.add_argument("--documents", type=int, default=110, help="at most, of all types together")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--out", type=Path, help="a file of results, one a line; what it has is not measured again")
    arguments = parser.parse_args()
    known = _known(arguments.out)
    chosen = records("held_out")[: arguments.documents]
    context = {"context_length": arguments.context_length} if arguments.context_length else {}
    model = load_model(arguments.model, dtype=arguments.dtype, **context)  # by default as Outlines runs it
    for output_type in TYPES:
        some = [record for record in chosen if type(record.value) is output_type]
        for way in arguments.ways:
            can_run = "Outlines" not in way or (find_spec("outlines") and arguments.dtype != "auto")
            if not can_run or not some:
                continue
            if not any(
                (one.way, one.output_type, one.documents) == (way, output_type.__name__, len(some)) for one in known
            ):
                known.append(measure(model, way, output_type, some))
                if arguments.out:
                    with arguments.out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(known[-1])) + "\n")
    print("\n".join(table([one for one in known if one.way in arguments.ways])))


def _known(path: Path | None) -> list[Result]:
    if path is None or not path.exists():
        return []
    return [Result(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
