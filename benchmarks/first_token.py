"""Time to the first sampled token, with a new type and with a prepared one: `python -m benchmarks.first_token`.

A new type has a field that no type before had, so that its automaton and its masks are made within the time, but not
the machine code of the library. The prepared type is that of an extractor that has answered before. Both get the same
documents in turn. The time ends where the model is handed the first token that was sampled, or has an answer. Pass
`--dtype float32` for transformers in place of llama.cpp.
"""

import argparse
import statistics
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import Any
from unittest.mock import patch

from pydantic import BaseModel, create_model

from benchmarks.gold import records
from structured import Extractor, load_model
from structured.errors import StructuredWarning
from structured.models import LanguageModel, checked_calls


class _Sampled(Exception):  # noqa: N818  no error: the first token is there
    """The model is to read the first token that was sampled."""


@contextmanager
def _until_a_token() -> Iterator[list[float]]:
    """Note when the prompt has been read, and end where the model is handed a token after it."""
    read: list[float] = []
    prefill = checked_calls.prefill

    def noted(*arguments: Any, **options: Any) -> Any:
        result = prefill(*arguments, **options)
        read.append(perf_counter())
        return result

    def ended(*_: Any, **__: Any) -> Any:
        raise _Sampled

    with patch.object(checked_calls, "prefill", noted), patch.object(checked_calls, "forward", ended):
        yield read


def first_token(extractor: Extractor[Any], document: str) -> tuple[float, float]:
    """Return when the first token was sampled, and how long that was after the prompt had been read."""
    with _until_a_token() as read, suppress(_Sampled):
        extractor(document)
    sampled = perf_counter()
    return sampled, sampled - read[0]


def renamed(output_type: type[BaseModel], number: int) -> type[BaseModel]:
    """Return a type with another field, which nobody has asked for before."""
    extra: Any = {f"note_{number}": (str | None, ...)}
    return create_model(f"{output_type.__name__}{number}", __base__=output_type, **extra)


def main() -> None:
    """Measure, and print a row for each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--count", type=int, default=30, help="documents")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", StructuredWarning)
    model: LanguageModel = load_model(asked.model, dtype=asked.dtype)
    documents = [(type(record.value), record.document) for record in records("tune")[: asked.count]]
    prepared = {kind: Extractor(renamed(kind, 0), model=model, max_tokens=256, cache=False) for kind, _ in documents}
    for kind, document in documents:
        prepared[kind](document)
    times: dict[str, list[float]] = {"new": [], "prepared": [], "new, after the prompt": [], "prepared, after it": []}
    for number, (kind, document) in enumerate(documents, start=1):
        started = perf_counter()
        fresh = Extractor(renamed(kind, number), model=model, max_tokens=256, cache=False)
        sampled, after = first_token(fresh, document)
        times["new"].append(sampled - started)
        times["new, after the prompt"].append(after)
        started = perf_counter()
        sampled, after = first_token(prepared[kind], document)
        times["prepared"].append(sampled - started)
        times["prepared, after it"].append(after)
    print("| milliseconds | p50 | p90 | most |\n|---|---|---|---|")
    for name, seconds in times.items():
        tenths = statistics.quantiles(seconds, n=10)
        print(f"| {name} | {1e3 * statistics.median(seconds):.1f} | {1e3 * tenths[8]:.1f} | {1e3 * max(seconds):.1f} |")
    ratios = [new / known for new, known in zip(times["new"], times["prepared"], strict=True)]
    print(f"\nnew to prepared: {statistics.median(ratios):.3f} (median of {len(ratios)} pairs)")


if __name__ == "__main__":
    main()
