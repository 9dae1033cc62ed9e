"""Classification: how probable each of some values is, and not only which one is the likeliest.

Where a type has few values, each can be scored: the probability that the model gives to its text, as a share of that of
all of them. Sampling under a mask gives other shares, since there each token is chosen before the rest is known: a text
that begins likely and ends unlikely is taken too often. What texts begin with is read once for all of them.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Unpack

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeVar

from structured.automata import DEAD, ROW_COMPLETE, Automaton
from structured.decoding.sampling import log_softmax
from structured.decoding.text_in_progress import to_host
from structured.errors import Attempt, GenerationError, ModelError, PromptError, SchemaError
from structured.errors.values import shown
from structured.extraction.documents.document import TextLike, warn_of_path
from structured.extraction.extractor import Extractor, task_and_run
from structured.extraction.guided_task import GuidedItem, GuidedTask
from structured.extraction.options import Options, checked_options, with_listed_options
from structured.extraction.task import InputDocument
from structured.index.compilation import save_learned
from structured.models import LanguageModel
from structured.models import checked_calls as calls
from structured.output_types.resolve import TypeLike
from structured.results.result import read_answer

T = TypeVar("T", default=Any)

MAX_VALUES = 1_000
"""Texts that are scored for one type."""

MAX_VALUE_BYTES = 10_000
"""Of one of them."""

MAX_SCORED_TOGETHER = 64
"""Texts that are scored side by side."""

_END = -1
"""Stands for whichever token ends a text."""


@dataclass(frozen=True, slots=True)
class Classification(Generic[T]):
    """The values of a type, and how probable each is.

    Attributes:
        value: The most probable one.
        probabilities: Each value with its probability, the most probable first. The sum is 1.
        legal_mass: The probability that the model would write one of the values at all. Where it is small, no
            distribution over them says much.
    """

    value: T
    probabilities: dict[T, float]
    legal_mass: float

    @property
    def confidence(self) -> float:
        """The probability of the value."""
        return self.probabilities[self.value]


@with_listed_options("classify")
def classify(output_type: TypeLike[T], text: TextLike, **options: Unpack[Options]) -> Classification[T]:
    """Return how probable each value of a type is for a text.

    `classify(Literal["billing", "sales"], "My invoice is wrong.")`

    Parameters:
        output_type: A type of at most 1,000 values: a `Literal`, an `Enum`, `bool`, a small range of integers, a tuple
            of these.
        text: As for `extract`.
        options: Those of `Options` that say what the prompt is and which values there are: `model`, `instructions`,
            `system`, `examples`, `grounded`, `allow_missing`, `layout`, `cache`. The others are refused, since nothing
            is sampled.

    Raises:
        TypeError: An option is unknown or of the wrong kind, or belongs to sampling.
        SchemaError: The type has more values, or values that have no hash. Whatever else `extract` raises.
        GenerationError: Validators rejected every value.
        ModelError: The model rules out every value.
    """
    checked: Options = {**checked_options(options, "classify"), "max_tokens": MAX_VALUE_BYTES}
    extractor = Extractor[Any](output_type, **checked)
    task, _ = task_and_run(extractor)
    if not isinstance(task, GuidedTask):
        raise ModelError(
            f"classify needs the scores that a model gives to each value, and {task.model.name} is a server, which "
            "gives texts. Use extract, or a model that runs here."
        )
    warn_of_path(text)
    item = task.prepared(InputDocument.read(0, text, "the text"))
    name, index = task.output_type.name, item.index
    texts = list(_accepted_texts(index.automaton, name))
    answers = [read_answer(task.output_type, one) for one in texts]
    accepted = [(one, value) for one, value in zip(texts, answers, strict=True) if not isinstance(value, Attempt)]
    if not accepted:
        raise GenerationError([one for one in answers if isinstance(one, Attempt)])
    scores = _log_probabilities(task.model, item, [one for one, _ in accepted])
    save_learned(index)
    if not np.isfinite(scores).any():
        model = task.model.name
        raise ModelError(
            f"{model} rules out every value of {name}, so that none is more probable than another. Ask a model that "
            f"gives scores to values; a ScriptedModel writes one, such as {accepted[0][0]!r}."
        )
    log_shares, log_total = log_softmax(scores)
    probabilities: dict[Any, float] = {}
    for position in np.argsort(-log_shares, kind="stable").tolist():
        value = accepted[position][1]
        try:
            probabilities[value] = min(probabilities.get(value, 0.0) + float(np.exp(log_shares[position])), 1.0)
        except TypeError as error:
            remedy = "Ask for values such as str, int or an Enum, or for frozen models."
            raise SchemaError(f"{shown(value)} has no hash", remedy=remedy) from error
    types_of_0_and_1 = {type(value) for _, value in accepted if value in (0, 1)}
    if len(types_of_0_and_1) > 1:
        remedy = "Ask for values that differ in more than their types, such as texts."
        raise SchemaError(f"{name} has values that Python calls equal, such as 1 and True", remedy=remedy)
    ranked = dict(sorted(probabilities.items(), key=lambda pair: -pair[1]))
    return Classification(next(iter(ranked)), ranked, min(float(np.exp(log_total)), 1.0))


def _accepted_texts(automaton: Automaton, name: str) -> Iterator[str]:
    """Yield all texts that an automaton accepts. Raises SchemaError where there are too many."""
    count = 0
    stack = [(automaton.start, b"")]
    while stack:
        state, text = stack.pop()
        if automaton.accepts(state):
            count += 1
            yield text.decode()
        automaton.expand(state)
        row = automaton.table[state][:ROW_COMPLETE]
        stack += [(int(row[byte]), text + bytes((byte,))) for byte in np.flatnonzero(row > DEAD)[::-1].tolist()]
        if count > MAX_VALUES or len(stack) > 256 * MAX_VALUES or len(text) > MAX_VALUE_BYTES:
            raise SchemaError(
                f"{name} has more than {MAX_VALUES:,} values, or very long ones",
                remedy="Classify by a Literal, an Enum or bool, in the default whitespace; or use extract.",
            )


def _log_probabilities(model: LanguageModel, item: GuidedItem, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the log-probability that a model gives to each text as the answer, shape (texts,)."""
    spelled = [item.index.forced.spelling(item.next_start.healed.required_prefix + text.encode()) for text in texts]
    longest, tokens_left = max(map(len, spelled)), item.next_start.guide.tokens_left
    if longest > tokens_left:
        raise PromptError(
            f"A value takes {longest:,} tokens, and the prompt leaves {tokens_left:,} of the context of {model.name}. "
            "Shorten the prompt, or use a model with a longer context."
        )
    if any(one == other[: len(one)] for one, other in itertools.pairwise(sorted(spelled))):
        spelled = [(*one, _END) for one in spelled]  # one text begins another, so that its end has to be scored too
    ordered = sorted(set(spelled))
    scores: dict[tuple[int, ...], float] = {}
    for start in range(0, len(ordered), MAX_SCORED_TOGETHER):
        scores |= _scores(model, item.next_start.healed.token_ids, ordered[start : start + MAX_SCORED_TOGETHER])
    return np.array([scores.get(one, -np.inf) for one in spelled])


def _scores(model: LanguageModel, prompt: list[int], texts: list[tuple[int, ...]]) -> dict[tuple[int, ...], float]:
    """Return the log-probability of each beginning of some texts; what the model rules out is left out."""
    scores: dict[tuple[int, ...], float] = {(): 0.0}
    rows: list[tuple[int, ...]] = [()]
    batch, logits = calls.prefill(model, [prompt])
    while rows:
        length = len(rows[0])
        log_shares = {prefix: log_softmax(to_host(logits[row]))[0] for row, prefix in enumerate(rows)}
        extended = sorted({one[: length + 1] for one in texts if len(one) > length and one[:length] in log_shares})
        for one in extended:
            token_ids = list(model.vocabulary.end_token_ids) if one[-1] == _END else [one[-1]]
            scores[one] = scores[one[:-1]] + float(np.logaddexp.reduce(log_shares[one[:-1]][token_ids]))
        prefixes = {one[: length + 1] for one in texts if len(one) > length + 1}
        unfinished = [one for one in extended if one in prefixes and scores[one] > -np.inf]
        if unfinished:
            batch.select([rows.index(one[:-1]) for one in unfinished])
            logits = calls.forward(model, batch, [[one[-1]] for one in unfinished])
        rows = unfinished
    return scores
