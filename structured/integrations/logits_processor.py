"""A logits processor for the loops of transformers: answers follow a type.

`model.generate` of transformers, pipelines and loops like them call it before each token with all that is written and
the scores of what may follow. They sort rows as they like: beams fork and end, speculation rolls back. So nothing is
kept by the number of a row: the state of a text is found by the tokens of its answer, one step after a text that was
there before. A call in which some row is no such step is the first of another loop.
"""

import copy
from collections.abc import Iterable
from functools import partial
from hashlib import blake2b
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, Union, cast

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeVar

from structured.decoding.device_masks import DeviceMasks, apply_masks
from structured.decoding.generate import compile_type
from structured.decoding.prompt_lookup import PromptText
from structured.decoding.repetition import MAX_SEARCHED, repeated_by
from structured.errors import (
    Attempt,
    BatchError,
    GenerationError,
    IncompleteError,
    ModelError,
    SchemaError,
    StructuredError,
)
from structured.errors.arguments import check_picklable, count, flag
from structured.errors.calling_line import warn
from structured.extraction.batch_state import repetition_warning
from structured.index.compilation import save_learned
from structured.index.guide import Guide
from structured.index.masks import Mask, allows, mask_of
from structured.models import ModelSource, load_model
from structured.output_types.json_output import JsonLayout
from structured.output_types.resolve import TypeLike, resolve_type
from structured.results.result import read_answer
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

T = TypeVar("T", default=Any)

TokenizerSource: TypeAlias = Union["PreTrainedTokenizerBase", ModelSource]
"""A tokenizer of transformers, or a model as `load_model` takes it."""


class GuidedLogitsProcessor(Generic[T]):
    """A logits processor that makes `generate` of transformers, and loops like it, write instances of one type.

        processor = GuidedLogitsProcessor(Person, (model, tokenizer), max_tokens=200)
        written = model.generate(**inputs, logits_processor=[processor], max_new_tokens=201)
        processor.read(written)  # [Person(name='Jason', age=25)]

    It follows `transformers.LogitsProcessor` without being one, so that torch is not imported before it is needed. It
    serves one loop at a time: greedy, sampling, beams, several prompts padded on the left.

    Parameters:
        output_type: As for `extract`.
        source: The tokenizer, `(model, tokenizer)`, or what `load_model` takes or returns. A model also says which
            tokens it ends at; there are often more of them than the tokenizer knows.
        max_tokens: The most tokens of one answer, its end token not counted; each answer is completed within the
            budget. The loop must not stop before: set `max_new_tokens` to one more.
        layout: As for `extract`.
        stop_repetition: As `stop` of `Repetition`. The likeliest token is judged: where that repeats the text, only
            the way out of the string or the list is allowed. `read` warns of such answers.
        cache: As for `extract`.

    Raises:
        SchemaError: A part of the type cannot be enforced exactly.
        VocabularyError: The tokenizer cannot be used, or cannot spell any answer of the type.
        ModelError: The model cannot be loaded. Later: the loop wrote a token that was masked out.
        BudgetError: The shortest answer takes more tokens than `max_tokens`.
    """

    def __init__(  # noqa: PLR0913  the options of `extract`
        self,
        output_type: TypeLike[T],
        source: TokenizerSource,
        *,
        max_tokens: int,
        layout: JsonLayout | None = None,
        stop_repetition: bool = True,
        cache: bool = True,
    ) -> None:
        self.output_type = resolve_type(output_type, layout=layout)
        if self.output_type.depends_on_document:
            problem = f"{self.output_type.name} depends on the document, and a logits processor knows only tokens"
            raise SchemaError(problem, remedy="Use extract or extract_batch.")
        self.max_tokens = max_tokens = count(1)("max_tokens", max_tokens)
        self.stop_repetition = stop_repetition = flag("stop_repetition", stop_repetition)
        self.cache = cache = flag("cache", cache)
        options = {"max_tokens": max_tokens, "layout": layout, "stop_repetition": stop_repetition, "cache": cache}
        self._arguments: dict[str, Any] = {"output_type": output_type, "source": source, **options}
        vocabulary = _vocabulary(source)
        self.index = compile_type(self.output_type, vocabulary, cache=cache)
        self._start = _TextState(Guide(self.index, max_tokens=max_tokens))
        self._end_mask = self.index.table.intern(mask_of(vocabulary.end_token_ids, vocabulary.size))
        self._prompts: torch.Tensor | None = None
        self._states: dict[bytes, _TextState] = {}
        self._suppressed: dict[_TextState, int] = {}
        """The states in which only the way out was allowed, with the tokens that would have repeated the texts."""
        self._prompt_texts: dict[int, bytes] = {}
        """The bytes of prompts in which a repetition was looked up, by their rows."""

    def __repr__(self) -> str:
        return f"GuidedLogitsProcessor({self.output_type.name}, max_tokens={self.max_tokens})"

    def __reduce__(self) -> tuple[Any, ...]:
        check_picklable(repr(self), self._arguments)
        return partial(type(self), **self._arguments), ()

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self), _states=self._states.copy(), _suppressed=self._suppressed.copy())
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy.copy(self)  # its parts never change, but for the known states

    def __call__(self, input_ids: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        """Return the scores with -inf for whatever may not follow.

        `input_ids` has shape (rows, width) and holds prompts and answers so far, `scores` (rows, vocabulary or more).
        Where other processors have ruled out all that may follow, it is all equally likely.

        Raises ModelError if a score that counts is NaN, or if no row holds what was allowed.
        """
        states = self._states_of_rows(input_ids)
        masks = [self._end_mask if state.guide is None else state.guide.mask() for state in states]
        vocabulary = self.index.vocabulary
        if scores.shape[1] < vocabulary.size:
            raise ModelError(
                f"There are scores for {scores.shape[1]} tokens, and the tokenizer has {vocabulary.size}. Make the "
                "processor for (model, tokenizer), so that it knows which tokens the model has."
            )
        allowed = DeviceMasks.of(self.index.table, scores.device).gather(masks)  # (rows, words)
        guided = apply_masks(scores, allowed)
        if self.stop_repetition and self._suppress_repetitions(states, guided.max(dim=1).indices.tolist(), masks):
            allowed = DeviceMasks.of(self.index.table, scores.device).gather(masks)
            guided = apply_masks(scores, allowed)
        best_scores = guided.amax(dim=1)
        if not bool(best_scores.isfinite().all()):
            if bool(best_scores.isnan().any()):
                raise ModelError("The score of an allowed token is NaN. Load the model in a wider dtype.")
            ruled_out = best_scores == -np.inf
            guided[ruled_out] = apply_masks(scores[ruled_out].zero_(), allowed[ruled_out])
        if self.cache and any(state.may_end for state in states):
            save_learned(self.index)
        return guided

    def _suppress_repetitions(self, states: "list[_TextState]", likeliest: list[int], masks: list[Mask]) -> bool:
        """Put the way out in place of the mask of each row whose likeliest token repeats its text; tell if any does."""
        is_repetitive = False
        for row, (state, token_id) in enumerate(zip(states, likeliest, strict=True)):
            if state.guide is not None and self._repeats(row, state.guide, state.written, token_id):
                is_repetitive, masks[row] = True, state.guide.shortest_completion_mask()
                if not allows(masks[row], token_id):
                    self._suppressed[state] = token_id
        return is_repetitive

    def _repeats(self, row: int, guide: Guide, written: bytes, token_id: int) -> bool:
        """Tell whether a token repeats the text of a row once too often, and its prompt does not have that as well."""
        repeated = repeated_by(guide, written, token_id)
        if repeated is not None and row not in self._prompt_texts:
            prompt: list[int] = cast("torch.Tensor", self._prompts)[row].tolist()
            self._prompt_texts[row] = PromptText.from_tokens(prompt, self.index.vocabulary).text
        return repeated is not None and repeated not in self._prompt_texts[row]

    def texts(self, sequences: "torch.Tensor") -> list[str]:
        """Return the answers in the last sequences of a loop, prompts included; shape (rows, width)."""
        return [_decode(self.index.vocabulary, answer) for answer in self._answers(sequences)]

    def read(self, sequences: "torch.Tensor") -> list[T]:
        """Return the instances in the last sequences of a loop, prompts included; shape (rows, width).

        Raises BatchError, which holds the others, if some are none. Its `errors` tell why: IncompleteError where the
        loop stopped too early, ModelError where it wrote what was forbidden, and GenerationError where the type's own
        validators rejected an answer.
        """
        results: list[Any] = []
        errors: dict[int, StructuredError] = {}
        answers = self._answers(sequences)
        repetitive = [row for row, answer in enumerate(answers) if self._was_repetitive(answer)]
        if repetitive:
            warn(repetition_warning(repetitive, len(answers), [self.output_type.how_to_limit], noun="rows"))
        for row, answer in enumerate(answers):
            instance = read_answer(self.output_type, _decode(self.index.vocabulary, answer))
            error = self._error_of(row, answer)
            if isinstance(instance, Attempt):
                errors[row] = error or GenerationError([instance], document=row)
            elif isinstance(error, IncompleteError):  # as "3" is, where "31" was being written
                errors[row] = error
            results.append(None if row in errors else instance)
        if errors:
            raise BatchError(results, errors)
        return results

    def _was_repetitive(self, answer: list[int]) -> bool:
        """Tell whether an answer repeated itself, as far as this loop has written it."""
        written = np.array(answer, dtype=np.int64)
        for end, token_id in enumerate(answer if self._suppressed else ()):
            state = self._states.get(_digests(written[: end + 1])[0])
            if state in self._suppressed and self._suppressed[state] != token_id:
                return True  # they are equal in a row whose prompt repeats it, too
        return False

    def _answers(self, sequences: "torch.Tensor") -> list[list[int]]:
        """Return the tokens behind the prompts in the last sequences of a loop."""
        if self._prompts is None or sequences.ndim != 2 or sequences.shape[1] < self._prompts.shape[1]:
            remedy = f"Pass what generate() returned for {self!r}, prompts included."
            raise ModelError(f"These are no rows that begin with the prompts of the last call. {remedy}")
        answers: list[list[int]] = sequences[:, self._prompts.shape[1] :].tolist()
        return answers

    def _error_of(self, row: int, answer: list[int]) -> StructuredError | None:
        """Return the error of an answer that was cut off, or that holds a masked token; None for others."""
        vocabulary, state = self.index.vocabulary, self._start
        for position, token_id in enumerate(answer):
            before, state = state, state.after(token_id)
            if not state.is_invalid:
                continue
            if any(other < vocabulary.size and vocabulary.tokens[other] for other in answer[position:]):
                return ModelError(
                    f"The answer in row {row} holds a token that {self!r} masked out, after "
                    f"{_decode(vocabulary, answer[:position])[-60:]!r}. Put the processor last, and of sampled beams, "
                    "which fill up with such texts, take the best."
                )
            answer, state = answer[:position], before  # the rest is padding
            break
        if state.guide is None or state.guide.finished or (state.may_end and not state.guide.tokens_left):
            return None
        text = _decode(vocabulary, answer)
        return IncompleteError(text, document=row, tokens=len(answer), max_tokens=self.max_tokens)

    def _states_of_rows(self, input_ids: "torch.Tensor") -> "list[_TextState]":
        """Return the state of each row. Rows of which one is no step after an earlier row are prompts.

        So they are if none is a text of the type after the last prompts. Beam search has single rows that are not, and
        drops them.
        """
        prompts = input_ids[:, :0] if self._prompts is None else self._prompts
        width = prompts.shape[1]
        if 0 < width < input_ids.shape[1] and input_ids[:, :width].equal(prompts):
            answers = input_ids[:, width:].cpu().numpy()
            digests = [_digests(answer) for answer in answers]
            if all(parent in self._states for parent, _ in digests):
                for (parent, key), answer in zip(digests, answers, strict=True):
                    if key not in self._states:
                        self._states[key] = self._states[parent].after(int(answer[-1]))
                states = [self._states[key] for _, key in digests]
                if not all(state.is_invalid for state in states):
                    return states
                if answers.shape[1] > 1:
                    raise ModelError(
                        f"Every row holds a token that {self!r} masked out: something after it changes the scores, or "
                        "the loop tries what was not allowed. Put the processor last, and make one for each loop."
                    )
        self._prompts = input_ids.clone()
        self._states = {blake2b(digest_size=16).digest(): self._start}
        self._suppressed, self._prompt_texts = {}, {}
        return [self._start] * len(input_ids)


class _TextState:
    """The state of a text: within its guide, after its end, or invalid. It never changes."""

    __slots__ = ("guide", "is_invalid", "may_end", "written")

    def __init__(self, guide: Guide | None, written: bytes = b"", *, is_invalid: bool = False) -> None:
        self.guide = guide
        self.written = written
        """The last bytes of the text, in which repetition is looked for."""
        self.is_invalid = is_invalid
        self.may_end = guide is not None and guide.index.automaton.accepts(guide.state)

    def after(self, token_id: int) -> "_TextState":
        """Return the state after one more token."""
        if self.guide is None:
            return self
        if self.may_end and token_id in self.guide.index.vocabulary.end_token_ids:
            return _TextState(None)
        twin = self.guide.copy()
        try:
            twin.advance(token_id)
        except ValueError:
            return _TextState(None, is_invalid=True)
        written = self.written + (twin.index.vocabulary.tokens[token_id] or b"")
        return _TextState(twin, written[-MAX_SEARCHED:])


def _digests(answer: NDArray[np.int64]) -> tuple[bytes, bytes]:
    """Return the digests of an answer without its last token, and of the whole answer."""
    digest = blake2b(answer[:-1].tobytes(), digest_size=16)
    parent = digest.digest()
    digest.update(answer[-1:].tobytes())
    return parent, digest.digest()


def _vocabulary(source: TokenizerSource) -> Vocabulary:
    if hasattr(source, "backend_tokenizer"):
        return Vocabulary.from_transformers(cast("PreTrainedTokenizerBase", source))
    return load_model(source).vocabulary


def _decode(vocabulary: Vocabulary, answer: Iterable[int]) -> str:
    written = takewhile(lambda token_id: token_id not in vocabulary.end_token_ids, answer)
    tokens = (vocabulary.tokens[token_id] if token_id < vocabulary.size else None for token_id in written)
    return b"".join(token or b"" for token in tokens).decode(errors="replace")
