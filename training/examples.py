"""Batches: token ids of prompts and answers of about one length, with marks at the part to be learned."""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.extraction.prompts import chat_messages, completion_prompt
from structured.json_schema.document.location import Compilation, Location, Reading, Subschema
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, read_whitespace
from structured.models.protocol import Messages
from structured.output_types.description import describe
from structured.output_types.json_output import type_description
from structured.output_types.output_type import Description
from training.generate import Sample, samples
from training.splits import Split

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

    @property
    def tokens(self) -> int:
        """How many tokens the texts have, without padding: each ends with a learned one."""
        return int((self.learned.shape[1] - self.learned[:, ::-1].argmax(1)).sum())

    def trimmed(self) -> "Batch":
        """Return the batch as wide as its longest text."""
        width = int(np.flatnonzero(self.learned.any(0))[-1]) + 1
        return Batch(self.token_ids[:, :width], self.learned[:, :width])


def prompt_and_answer(sample: Sample, rng: random.Random) -> tuple[str, str]:
    """Return the prompt that the library would make of a sample, and the JSON text that answers it."""
    document, instructions = _read(sample, rng)
    prompt = completion_prompt(description_of(sample.schema), document, instructions=instructions)
    return prompt, answer_text(sample.answer, _style(rng))


def chat_and_answer(sample: Sample, rng: random.Random) -> tuple[Messages, str]:
    """Return what the library would ask a chat model for a sample, and the JSON text that answers it."""
    document, instructions = _read(sample, rng)
    chat = chat_messages(description_of(sample.schema), document, instructions=instructions)
    return chat, answer_text(sample.answer, _style(rng))


def _read(sample: Sample, rng: random.Random) -> tuple[str, str | None]:
    """Return a document and its instructions, which may stand inside it."""
    document, instructions = sample.document, sample.instructions
    if instructions is None or rng.random() >= PREFIXED:
        return document, instructions
    between = ":\n" if "\n" in document else ": "
    return f"{instructions.rstrip('.:')}{between}{document}", None


def description_of(schema: Mapping[str, Any]) -> Description:
    """Return the description of the type that a JSON Schema describes."""
    compilation = Compilation(schema, read_whitespace(DEFAULT_WHITESPACE), Reading.TYPE, "written")
    root = Subschema(schema, Location(compilation))
    return type_description(describe(root), root)


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
    encode: Callable[[list[str]], list[list[int]]],
    end: int,
    *,
    seed: int,
    split: Split,
    tokens: int,
    context: int,
    others: Sequence[Sample] = (),
    share: float = 0.5,
) -> Iterator[Batch]:
    """Yield batches for a model that completes texts, without end; see `gathered`. Some of the samples are others."""

    def pairs() -> Iterator[tuple[list[int], list[int]]]:
        rng = random.Random(seed)
        stream = mixed(samples(seed, split), others, share, rng) if others else samples(seed, split)
        while True:
            texts = [prompt_and_answer(next(stream), rng) for _ in range(POOL)]
            prompts = encode([prompt for prompt, _ in texts])
            yield from zip(prompts, encode([answer for _, answer in texts]), strict=True)

    return gathered(pairs(), end, tokens=tokens, context=context)


def mixed(stream: Iterator[Sample], others: Sequence[Sample], share: float, rng: random.Random) -> Iterator[Sample]:
    """Yield the samples of a stream, and in place of a share of them some others, drawn at random."""
    while True:
        yield rng.choice(others) if rng.random() < share else next(stream)


def read_samples(path: Path) -> list[Sample]:
    """Return the samples of a file of JSON lines: `schema`, `document` and `answer`, and perhaps `instructions`."""
    found: list[Sample] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            one = json.loads(line)
            found.append(Sample("other", one["schema"], one["document"], one["answer"], one.get("instructions")))
    return found


def chat_batches(
    encode_chat: Callable[[Messages], list[int]],
    encode: Callable[[str], Sequence[int]],
    end: int,
    *,
    seed: int,
    split: Split,
    tokens: int,
    context: int,
    others: Sequence[Sample] = (),
    share: float = 0.5,
) -> Iterator[Batch]:
    """Yield batches for a chat model, without end; see `gathered`. Some of the samples are others."""
    rng = random.Random(seed)
    stream = mixed(samples(seed, split), others, share, rng) if others else samples(seed, split)
    asked = (chat_and_answer(sample, rng) for sample in stream)
    pairs = ((encode_chat(chat), list(encode(answer))) for chat, answer in asked)
    return gathered(pairs, end, tokens=tokens, context=context)


def gathered(pairs: Iterable[tuple[list[int], list[int]]], end: int, *, tokens: int, context: int) -> Iterator[Batch]:
    """Yield batches of about `tokens` token ids, padding included; texts beyond `context` are left out.

    A prompt, its answer and the end are one text. It waits until there are enough others of about its length.
    """
    waiting: dict[int, list[tuple[list[int], int]]] = {width: [] for width in WIDTHS if width <= context}
    for prompt, answer in pairs:
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
