"""Prompts, guides and a model enter; texts leave. The loop in which everything meets.

Each turn: one mask for each text, one token drawn under it, one forward pass for all texts that go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structured.guide import Guide
from structured.models import LanguageModel
from structured.sampling import Sampler


@dataclass(frozen=True, slots=True)
class Generation:
    """A finished text. `log_probability` is that of its tokens among those the pattern allows, end token included."""

    text: str
    token_ids: tuple[int, ...]
    log_probability: float
    shortened: bool
    """Whether the token budget kept the model from a token it would have written; if not, the text is what a budget
    without end would have given."""


@dataclass(slots=True)
class _Draft:
    """A text being written."""

    guide: Guide
    generator: np.random.Generator
    token_ids: list[int]
    log_probability: float = 0.0
    shortened: bool = False

    def extend(self, logits: NDArray[np.float32], sampler: Sampler) -> int | None:
        """Draw the next token; return it, or None if the text is finished."""
        ample = self.guide.index.mask(self.guide.state)
        choice = sampler.choose(logits, ample, self.generator, within=self.guide.mask())
        self.log_probability += choice.log_probability
        self.shortened |= choice.steered
        if choice.token_id not in self.guide.index.vocabulary.end_token_ids:
            self.token_ids.append(choice.token_id)
        self.guide.advance(choice.token_id)
        return None if self.guide.finished else choice.token_id

    def finish(self) -> Generation:
        tokens = self.guide.index.vocabulary.tokens
        text = b"".join(tokens[token_id] or b"" for token_id in self.token_ids).decode()
        return Generation(text, tuple(self.token_ids), self.log_probability, self.shortened)


def generate(
    model: LanguageModel,
    prompts: Sequence[Sequence[int]],
    guides: Sequence[Guide],
    generators: Sequence[np.random.Generator],
    sampler: Sampler,
) -> list[Generation]:
    """Write one text for each prompt, all of them in one batch.

    `guides` and `generators` belong to the prompts one by one, and are used up. The guides may be of different types.
    """
    drafts = [_Draft(guide, generator, []) for guide, generator in zip(guides, generators, strict=True)]
    live = [draft for draft in drafts if not draft.guide.finished]
    if live:
        started = [prompt for prompt, draft in zip(prompts, drafts, strict=True) if not draft.guide.finished]
        texts = model.begin(started)
    while live:
        drawn = [draft.extend(logits, sampler) for draft, logits in zip(live, texts.logits, strict=True)]
        live = [draft for draft in live if not draft.guide.finished]
        if live:
            texts.append(drawn)
    return [draft.finish() for draft in drafts]
