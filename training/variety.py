"""How much the generated documents differ, and how fast they are made: `python -m training.variety`.

A skeleton is a document without its values: what the answer holds, numbers, words of the pools and rare words are
masked. The more different skeletons, the less a model can learn by heart.
"""

import argparse
import itertools
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from training.examples import description_of
from training.generate import samples
from training.splits import SPLITS
from training.words import POOLS

_WORDS = re.compile(r"\d[\d.,:'/-]*|[^\W\d_][\w'’-]*")
_POOLED = frozenset(
    word.lower()
    for pools in POOLS.values()
    for one in fields(pools)
    for entry in getattr(pools, one.name)
    for word in entry.split()
)
COMMON = 20
"""So many documents have to have a word, written small, for it not to be masked."""


def main() -> None:
    """Print the figures of a split, or samples to read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="print so many samples instead")
    arguments = parser.parse_args()
    stream = samples(arguments.seed, arguments.split)
    for one in itertools.islice(stream, arguments.show):
        answer = json.dumps(one.answer, ensure_ascii=False)
        print(f"{description_of(one.schema).text}\n{one.instructions or ''}\n{one.document}\n=> {answer}\n")
    if arguments.show:
        return
    started = time.perf_counter()
    drawn = list(itertools.islice(stream, arguments.count))
    seconds = time.perf_counter() - started
    counts = Counter(word for one in drawn for word in set(re.findall(r"\b[a-z][a-z'-]*", one.document)))
    common = frozenset(word for word, count in counts.items() if count >= COMMON) - _POOLED
    shapes = [skeleton(one.document, one.answer, common) for one in drawn]
    sentences = Counter(text for shape in shapes for text in re.split(r"(?<=[.!?])\s+|\n+", shape))
    texts = [set(re.split(r"(?<=[.!?])\s+|\n+", shape)) for shape in shapes]
    before = set().union(*texts[: -len(texts) // 10])
    last = [text for one in texts[-len(texts) // 10 :] for text in one]
    fresh = sum(text not in before for text in last) / len(last)
    covered = sum(count for _, count in sentences.most_common(1000)) / sentences.total()
    types = {description_of(one.schema).text for one in drawn[: arguments.count // 10]}
    names = {name for one in drawn for name in field_names(one.schema)}
    words = sum(len(one.document.split()) for one in drawn) / len(drawn)
    print(f"{len(drawn):,} samples of {words:.0f} words on average, {len(drawn) / seconds:,.0f} a second")
    print(f"{len(set(shapes)):,} skeletons of documents, {len(sentences):,} of sentences and lines")
    print(f"{covered:.0%} of the sentences and lines have one of the 1,000 commonest skeletons")
    print(f"{fresh:.0%} of those of the last tenth have a skeleton that did not occur before")
    print(f"{len(names):,} names of fields, {len(types):,} types among the first {arguments.count // 10:,}")


def skeleton(document: str, answer: Any, common: frozenset[str]) -> str:
    """Return a document with its values, names and numbers masked: "Ana is 31." → "_ is _."."""
    for value in sorted({leaf for leaf in leaves(answer) if isinstance(leaf, str) and leaf}, key=len, reverse=True):
        document = document.replace(value, "_")
    masked = _WORDS.sub(lambda found: found[0].lower() if found[0].lower() in common else "_", document)
    return re.sub(r"_(?:[ ,&'-]*_)+", "_", masked)


def leaves(answer: Any) -> Iterator[Any]:
    """Yield the values inside an answer."""
    if isinstance(answer, dict | list):
        for inner in answer.values() if isinstance(answer, dict) else answer:
            yield from leaves(inner)
    else:
        yield answer


def field_names(schema: Any) -> Iterator[str]:
    """Yield the names of the fields of a schema, at any depth."""
    for branch in schema.get("anyOf", ()):
        yield from field_names(branch)
    if "items" in schema:
        yield from field_names(schema["items"])
    for name, inner in schema.get("properties", {}).items():
        yield name
        yield from field_names(inner)


if __name__ == "__main__":
    main()
