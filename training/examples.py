"""Samples enter; token ids and the part of them to learn leave, in batches of like length."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structured.extraction.prompts import completion_prompt
from structured.output_types.description import describe_schema
from structured.output_types.json_output import type_description
from training.generate import Sample, samples
from training.words import Split

STYLES = (("spaced", 0.8), ("compact", 0.1), ("indented", 0.1))
"""Whitespace of the answers: mostly the library's default, the others often enough to be known."""

PREFIXED = 0.4
"""How many of the instructions stand inside the document, as they do in the docstring of a decorated function."""

POOL = 1024
"""Samples that are encoded together."""

WIDTHS = (192, 256, 320, 384, 512, 768, 1280, 2048)
"""Lengths of the texts of a batch, in tokens. They are few, since a compiled network is compiled for each."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts padded on the right. `learned` marks the tokens to be predicted, those of the answers and their ends."""

    token_ids: NDArray[np.int64]  # (texts, width)
    learned: NDArray[np.bool_]  # (texts, width)


def prompt_and_answer(sample: Sample, rng: random.Random) -> tuple[str, str]:
    """Return the prompt that the library would make of a sample, and the JSON text that answers it."""
    document, instructions = sample.document, sample.instructions
    if instructions is not None and rng.random() < PREFIXED:
        between = ":\n" if "\n" in document else ": "
        document, instructions = f"{instructions.rstrip('.:')}{between}{document}", None
    prompt = completion_prompt(type_description(describe_schema(sample.schema)), document, instructions=instructions)
    return prompt, answer_text(sample.answer, _style(rng))


def answer_text(answer: object, style: str) -> str:
    """Return the answer as JSON text in one of the library's ways to write whitespace."""
    match style:
        case "compact":
            return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
        case "indented":
            return json.dumps(answer, ensure_ascii=False, indent=2)
        case _:
            return json.dumps(answer, ensure_ascii=False)


def batches(
    encode: Callable[[list[str]], list[list[int]]], end: int, *, seed: int, split: Split, tokens: int, context: int
) -> Iterator[Batch]:
    """Yield batches of about `tokens` token ids, padding included, without end; texts beyond `context` are left out.

    A text waits until there are enough others of about its length.
    """
    rng = random.Random(seed)
    stream = samples(seed, split)
    waiting: dict[int, list[tuple[list[int], int]]] = {width: [] for width in WIDTHS if width <= context}
    while True:
        pairs = [prompt_and_answer(next(stream), rng) for _ in range(POOL)]
        prompts = encode([prompt for prompt, _ in pairs])
        answers = encode([answer for _, answer in pairs])
        for prompt, answer in zip(prompts, answers, strict=True):
            text = prompt + answer + [end]
            width = next((width for width in waiting if len(text) <= width), None)
            if width is not None:
                waiting[width].append((text, len(prompt)))
                if len(waiting[width]) == max(1, tokens // width):
                    yield _padded(waiting[width], width, end)
                    waiting[width] = []


def _padded(chunk: list[tuple[list[int], int]], width: int, padding: int) -> Batch:
    token_ids = np.full((len(chunk), width), padding, dtype=np.int64)
    learned = np.zeros((len(chunk), width), dtype=np.bool_)
    for row, (text, prompt_length) in enumerate(chunk):
        token_ids[row, : len(text)] = text
        learned[row, prompt_length : len(text)] = True
    return Batch(token_ids, learned)


def _style(rng: random.Random) -> str:
    return rng.choices([style for style, _ in STYLES], [share for _, share in STYLES])[0]
