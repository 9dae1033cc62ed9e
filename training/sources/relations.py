"""Relations between two names of a sentence: `data/val_wiki.json` of thunlp/FewRel."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import Slot, fields


def samples(rng: random.Random, repository: Path, *, each: int = 250) -> Iterator[Sample]:
    """Yield so many samples for each relation: its two names with the relation, or what is related to one of them."""
    said = json.loads((repository / "data/pid2name.json").read_text(encoding="utf-8"))
    found = json.loads((repository / "data/val_wiki.json").read_text(encoding="utf-8"))
    names = {relation: said[relation][0] for relation in found}
    for relation, sentences in found.items():
        for sentence in rng.sample(sentences, min(each, len(sentences))):
            document = " ".join(sentence["tokens"])
            head, tail = (_name(sentence["tokens"], sentence[end][2][0]) for end in ("h", "t"))
            if rng.random() < 0.5:
                yield _triple(rng, document, head, names[relation], tail, list(names.values()))
            else:
                about = said[relation][1].partition(".")[0]
                slot = Slot(names[relation].replace(" ", "_").replace("/", "_"), about)
                schema, answer = fields(rng, [slot], {slot.name: tail}, required=0.5)
                schema["description"] = f"What the sentence says of {head}."
                yield Sample("relations", schema, document, answer, None)


def _name(tokens: list[str], places: list[int]) -> str:
    return " ".join(tokens[places[0] : places[-1] + 1])


_ENDS = (("subject", "relation", "object"), ("head", "relation", "tail"), ("of", "what", "is"))
"""What the ends of a relation and the relation itself may be called."""


def _triple(rng: random.Random, document: str, head: str, relation: str, tail: str, every: list[str]) -> Sample:
    """Return a sample that asks for both names and for the relation, which is one of several."""
    others = rng.sample([name for name in every if name != relation], rng.randint(2, 7))
    choices = rng.sample([relation, *others], len(others) + 1)
    first, middle, last = rng.choice(_ENDS)
    slots = [Slot(first), Slot(middle, values=tuple(choices)), Slot(last)]
    values: dict[str, Any] = {first: head, middle: relation, last: tail}
    schema, answer = fields(rng, slots, values, required=1.0)
    return Sample("relations", schema, document, answer, None)
