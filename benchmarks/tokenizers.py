"""Tokenizers of several families, in one table: `python -m benchmarks.tokenizers FOLDER ...`.

For the packaged model's tokenizer and for each that is named, a folder or hub id: whether the bytes of its tokens are
those of the text that it encodes, whether special tokens that a document spells stay text, what it cannot spell, how
often its own tokens are those that masks offer, and what it costs to prepare.
"""

import argparse
import json
import random
import statistics
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from time import perf_counter
from typing import Any

from pydantic import BaseModel
from transformers import AutoTokenizer

from benchmarks.documents import Event, Invoice, Item, Person
from structured.decoding.generate import compile_type
from structured.index.forced_tokens import ForcedTokens
from structured.index.masks import unpack
from structured.index.trie_walks import Walks
from structured.models import PACKAGED_MODEL
from structured.models.prompt_encoding import PromptEncoder
from structured.output_types.resolve import resolve_type
from structured.vocabulary import Vocabulary

COUNT = 1000
"""Random texts."""

BLOCKS = (
    *((0x20, 0x7E), (0, 0x7F), (0xA0, 0x24F), (0x300, 0x36F), (0x400, 0x4FF), (0x590, 0x6FF), (0x900, 0x97F)),
    *((0xE00, 0xE7F), (0x1100, 0x11FF), (0x2000, 0x206F), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3)),
    *((0xF900, 0xFFFF), (0x1F300, 0x1FAFF), (0x10000, 0x10FFFF)),
)
"""Ranges of characters of many scripts, and of all planes."""

ANSWERS: tuple[BaseModel, ...] = (
    Person(name="Ana Brandt", age=31, occupation="marine biologist", city=None),
    Person(name="Zoë Lindqvist", age=7, occupation=None, city="København"),
    Invoice(
        number="INV-4411",
        vendor="Castle Tools",
        issue_date=date(2024, 5, 2),
        due_date=None,
        items=[Item(description="desk lamps", quantity=12)],
        currency="EUR",
        total=890,
        paid=False,
    ),
    Event(
        title="Bread and Time", day=date(2024, 11, 9), place="Oslo", speakers=["Paul Osei", "Lena Stern"], online=True
    ),
)
"""What masks are compared on: values as a model writes them."""

SHORT_TYPES: dict[str, Any] = {kind.__name__: kind for kind in (Person, Invoice, Event)}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizers", nargs="*", help="folders or hub ids")
    parser.add_argument("--count", type=int, default=COUNT, help="random texts")
    arguments = parser.parse_args()
    print(HEADER)
    for name in [str(PACKAGED_MODEL), *arguments.tokenizers]:
        shown = "the packaged model" if name == str(PACKAGED_MODEL) else Path(name).name
        print(row(shown, AutoTokenizer.from_pretrained(name), arguments.count), flush=True)


COLUMNS = (
    *("tokenizer", "tokens", "texts changed", "by its normaliser", "for absent bytes", "otherwise"),
    *(
        "special tokens that stay text",
        "absent bytes",
        "own tokens offered",
        "vocabulary, s",
        "tries, s",
        "first mask, ms",
    ),
)
HEADER = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


def row(name: str, tokenizer: Any, count: int) -> str:
    """Return the row of a tokenizer of transformers."""
    seconds, vocabulary = timed(lambda: Vocabulary.from_transformers(tokenizer))
    laying_out, _ = timed(lambda: (vocabulary.trie, vocabulary.nonplain_trie))
    changed = changes(vocabulary, tokenizer, texts(count))
    kept, spelled = kept_as_text(tokenizer)
    agreeing, tokens = agreement(vocabulary)
    masks = [first_mask(kind, vocabulary) for kind in SHORT_TYPES.values()]
    cells = (
        f"{vocabulary.size:,}",
        f"{sum(changed)} of {count}",
        *map(str, changed),
        f"{kept} of {spelled}",
        str(len(vocabulary.absent_bytes)),
        f"{agreeing / tokens:.1%}",
        f"{seconds:.2f}",
        f"{laying_out:.2f}",
        f"{statistics.median(masks) * 1000:.1f}",
    )
    return f"| {name} | {' | '.join(cells)} |"


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that something takes, and what it returns."""
    started = perf_counter()
    found = run()
    return perf_counter() - started, found


def texts(count: int) -> list[str]:
    """Return texts of all scripts, a third as they are, a third as JSON, and a third as lines of code."""
    rng = random.Random(0)

    def plain() -> str:
        low, high = rng.choice(BLOCKS)
        codes = [rng.randint(low, high) for _ in range(rng.randint(1, 16))]
        return "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000) or "a"

    def as_json() -> str:
        value = {plain(): [rng.random(), plain(), None, f"  {plain()}"], "b": {"c": rng.random() < 0.5}}
        return json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 2, "\t"]))

    lines = Path(__file__).read_text().split("\n\n")
    kinds = (
        lambda: "".join(plain() for _ in range(3)),
        as_json,
        lambda: rng.choice(lines) + rng.choice(["", "\n\n\t"]),
    )
    return [kinds[number % 3]() for number in range(count)]


def changes(vocabulary: Vocabulary, tokenizer: Any, some: Iterable[str]) -> tuple[int, int, int]:
    """Return of how many texts the tokens have other bytes: by the normaliser, for absent bytes, and otherwise."""
    by_normaliser = by_absence = otherwise = 0
    for text in some:
        found = b"".join(vocabulary.tokens[one] or b"" for one in vocabulary.encode(text)) if vocabulary.encode else b""
        if found == text.encode():
            continue
        meant = normalised(tokenizer, text)
        if found == meant.encode():
            by_normaliser += 1
        elif found == bytes(byte for byte in meant.encode() if byte not in vocabulary.absent_bytes):
            by_absence += 1
        else:
            otherwise += 1
    return by_normaliser, by_absence, otherwise


def normalised(tokenizer: Any, text: str) -> str:
    """Return what a tokenizer makes of a text before it divides it."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    if normalizer is None:
        return text
    found: str = normalizer.normalize_str(text)
    # SentencePiece writes spaces so; where a tokenizer does not, it leaves them alone.
    return found.replace("▁", " ") if "▁" in normalizer.normalize_str(" ") else found


def kept_as_text(tokenizer: Any) -> tuple[int, int]:
    """Return how many special tokens stay text in a document, and how many there are: each alone in one prompt."""
    encoder = PromptEncoder(tokenizer)
    special = encoder.control_tokens

    def control_ids(document: str) -> Sequence[int]:
        has_template = tokenizer.chat_template is not None
        prompt = [{"role": "user", "content": f"Text:\n{document}"}] if has_template else document
        return [one for one in encoder.encode(prompt) if one in special]

    usual = control_ids("a text")
    return sum(control_ids(f"a {spelling} text") == usual for spelling in special.values()), len(special)


def agreement(vocabulary: Vocabulary) -> tuple[int, int]:
    """Return how many of the tokens that the tokenizer itself spells answers with are offered by masks, of how many."""
    agreeing = total = 0
    for answer in ANSWERS:
        index = compile_type(resolve_type(type(answer)), vocabulary, cache=False)
        state = index.automaton.start
        for token_id in ForcedTokens(Walks(index.automaton, vocabulary)).spelled(
            json.dumps(answer.model_dump(mode="json"), ensure_ascii=False).encode()
        ):
            total += 1
            agreeing += bool(unpack(index.canonical_mask(state), vocabulary.size)[token_id])
            state = index.step(state, token_id)
    return agreeing, total


def first_mask(kind: Any, vocabulary: Vocabulary) -> float:
    """Return the seconds to compile a type that is new to the process, and to compute its first mask."""
    new: Any = type(kind.__name__, (kind,), {})  # equal types are compiled once
    started = perf_counter()
    index = compile_type(resolve_type(new), vocabulary, cache=False)
    index.mask(index.automaton.start)
    return perf_counter() - started


if __name__ == "__main__":
    main()
