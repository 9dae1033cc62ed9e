"""A draft: one text that a program and a model write in turns.

What the model has read and written stays in its cache, so that loops and conditions between two questions are plain
Python, and cost nothing. The prompt of each question is the text so far, as it stands: it usually begins with the text
of the last call, so that only the rest is read. For another text, the model begins anew.
"""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, NoReturn, Self, Unpack

from typing_extensions import TypeVar

from structured.decoding.generate import compile_type, generate
from structured.decoding.prompt_tokens import heal
from structured.decoding.requests import Generation, Request
from structured.errors import Attempt, BudgetWarning, GenerationError, PromptError
from structured.errors.arguments import count
from structured.errors.calling_line import warn
from structured.errors.values import described
from structured.extraction.guided_task import AttemptStart
from structured.extraction.options import Options, checked_options, search_of, with_defaults, with_listed_options
from structured.extraction.prompts import check_characters
from structured.index.compilation import save_learned
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import checked_calls as calls
from structured.models import load_model
from structured.models.protocol import DecodingBatch, LanguageModel, Logits, Messages, WrappedModel
from structured.output_types.combining.parts import to_part
from structured.output_types.output_type import OutputType, check_interface
from structured.output_types.resolve import TypeLike
from structured.results.result import read_answer


class IncrementalModel(WrappedModel):
    """A wrapped model for successive texts, each of which begins with the text before it."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self._kept_batch: IncrementalBatch | None = None

    def prefill(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        shared: int = 0,  # noqa: ARG002  the whole text is kept
        window: int = 0,
    ) -> "tuple[IncrementalBatch, Logits]":
        """Read the new part of the only prompt."""
        (prompt,) = prompts
        kept_batch, self._kept_batch = self._kept_batch, None  # nothing is kept if the model fails
        logits = None if kept_batch is None else kept_batch.read_new_part(prompt, window)
        if kept_batch is None or logits is None:
            batch, logits = self.model.prefill([prompt], window=window)
            kept_batch = IncrementalBatch(batch, list(prompt), logits)
        self._kept_batch = kept_batch
        return kept_batch, logits


class IncrementalBatch(DecodingBatch):
    """The text of an `IncrementalModel`, with its tokens."""

    is_ragged = True

    def __init__(self, batch: DecodingBatch, token_ids: list[int], logits: Logits) -> None:
        self.batch = batch
        self.token_ids = token_ids
        self.logits = logits
        """The logits of the last pass, without the rolled-back ones; shape (1, width) or (1, places, width)."""

    def read_new_part(self, prompt: Sequence[int], window: int) -> Logits | None:
        """Read the new part of a prompt; return None if it does not begin with this text."""
        count = len(self.token_ids)
        if list(prompt[:count]) != self.token_ids or (len(prompt) == count and window):
            return None
        if len(prompt) > count:
            return self.forward([prompt[count:]], window=window)
        return self.logits if self.logits.ndim == 2 else self.logits[:, -1]

    def forward(self, token_ids: Sequence[Sequence[int]], *, window: int = 0) -> Logits:
        """Append new tokens."""
        self.logits = self.batch.forward(token_ids, window=window)
        self.token_ids += token_ids[0]
        return self.logits

    def select(self, rows: Sequence[int]) -> None:
        """Keep the text."""
        self.batch.select(rows)

    def finish(self, row: int, token_ids: Sequence[int]) -> None:
        """Note that an answer is finished, after which the text may go on."""
        self.batch.pause(row, token_ids)

    def rollback(self, counts: Sequence[int]) -> None:
        """Forget some of the last tokens."""
        self.batch.rollback(counts)
        self.token_ids = self.token_ids[: len(self.token_ids) - counts[0]]
        self.logits = self.logits[:, : self.logits.shape[1] - counts[0]] if counts[0] else self.logits


T = TypeVar("T", default=Any)


class Draft:
    r"""A text that a program and a model write in turns: the program by `+=`, the model where it is asked.

        draft = Draft("Colours of the rainbow:\n", model="…")
        draft += "1. "
        colour = draft.ask(Choice(["red", "blue"]))
        if colour == "red":
            draft += ", as in "
            draft.ask(Text(stop="\n"), name="example")
        draft["example"], draft.text

    What is asked for is written at the end of the text, and goes on from exactly what stands there; where the last
    token of it may have been cut short, the model may choose another (token healing). The model does not read again
    what it has read, unless a validator rejects an answer. An answer ends where its type does: a model that is in the
    middle of a text seldom ends it, so give free text a stop phrase, `Text(stop="\n")`.
    """

    @with_listed_options("draft")
    def __init__(self, text: str | Messages = "", **options: Unpack[Options]) -> None:
        """Begin a draft.

        Parameters:
            text: How it begins. Or the messages of a chat, for a model with a chat template: the draft is then the
                answer to them, which is still empty.
            options: Those of `Options` that say how one text is written: `model`, `temperature`, `top_k`, `top_p`,
                `min_p`, `seed`, `repetition`, `jump_forward`, `max_tokens` (of each answer), `retries`, `cache`. The
                others are refused.

        Raises:
            TypeError: An option is unknown or of the wrong kind, or belongs to documents.
            ValueError: An option has a value that is not allowed.
            ModelError: The model cannot be loaded, or has no chat template for messages.
            PromptError: The text is none.
        """
        self._options = with_defaults(checked_options(options, "draft"))
        self._search = search_of(self._options)
        self._model = IncrementalModel(load_model(self._options.get("model")))
        self._text = ""
        self._tokens: list[int] = []
        self._settled_token_count = 0
        """How many of the tokens stay: those up to the last answer, which the model has mostly read."""
        self._untokenised_text = ""
        """The end of the text, of which there are no tokens yet."""
        self._answer_count = 0
        self._values: dict[str, Any] = {}
        if isinstance(text, str):
            self.append(text)
        else:
            self._tokens = calls.encode(self._model, text)
            self._settled_token_count = len(self._tokens)

    @property
    def text(self) -> str:
        """The text so far; of a chat, the answer so far."""
        return self._text

    @property
    def values(self) -> MappingProxyType[str, Any]:
        """The values of the answers that have names."""
        return MappingProxyType(self._values)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Draft({self._text!r}, model={self._model.name!r})"

    def __getitem__(self, name: str) -> Any:
        """Return the value of the answer of a name. Raises KeyError if there is none."""
        return self._values[name]

    def __iadd__(self, text: str) -> Self:
        """Write some text at the end."""
        self.append(text)
        return self

    def __add__(self, text: str) -> NoReturn:
        """Refuse to make another draft, which would need a cache of its own. Raises TypeError."""
        raise TypeError("A draft is one text, which grows. Write draft += text, or str(draft) + text for a text.")

    def append(self, text: str) -> None:
        """Write some text at the end. Raises PromptError if it is none."""
        if not isinstance(text, str):
            raise PromptError(f"A draft gets text, not {described(text)}. Write it as text: str(…).")
        check_characters(text, "The text of the draft")
        self._text += text
        self._untokenised_text += text

    def ask(self, output_type: TypeLike[T], *, name: str | None = None, max_tokens: int | None = None) -> T:
        """Let the model write an answer at the end of the text, and return its value.

        Parameters:
            output_type: An output type, or a Python type, whose values are written as JSON. The document of a type that
                depends on one is the text so far.
            name: The name under which `draft[name]` has the value from now on.
            max_tokens: The most tokens of this answer; if not given, that of the draft.

        Raises:
            SchemaError: A part of the type cannot be enforced exactly.
            PromptError: The text is empty, or longer than the context of the model.
            BudgetError: No answer is short enough.
            GenerationError: Validators rejected every answer; the text is as it was.
            ValueError: The name has been used.
        """
        if name in self._values:
            raise ValueError(f"The draft has a value {name!r} already. Give each answer a name of its own.")
        resolved_type = to_part(output_type, "The type")
        cache = self._options["cache"]
        check_interface(resolved_type)
        if max_tokens is None:
            max_tokens = self._options["max_tokens"]
        document = self._text if resolved_type.depends_on_document else None
        index = compile_type(resolved_type, self._model.vocabulary, document=document, cache=cache)
        attempt_start = self._attempt_start(index, count(1)("max_tokens", max_tokens))
        value: T
        value, generation = self._answer(resolved_type, attempt_start)
        if generation.shortened:
            problem = "max_tokens or the context of the model shortened an answer; it is valid but may be incomplete"
            warn(BudgetWarning(f"{problem}. Raise max_tokens, or limit the type.", documents=[0]))
        if cache:
            save_learned(index)
        self._tokens = [*attempt_start.healed.token_ids, *generation.token_ids]
        self._settled_token_count = len(self._tokens)
        self._text += generation.text
        if name is not None:
            self._values[name] = value
        return value

    def _attempt_start(self, index: Index, max_tokens: int) -> AttemptStart:
        """Return the start of an answer, healed behind the last one. Raises PromptError or BudgetError for none."""
        if not self._tokens:
            if not self._untokenised_text:
                raise PromptError("The draft is empty, so that the model has nothing to go on from. Write some text.")
            self._tokens = calls.encode(self._model, self._untokenised_text)
        elif self._untokenised_text:
            self._tokens += index.forced.spelling(self._untokenised_text.encode())
        self._untokenised_text = ""
        settled_count = max(self._settled_token_count - 1, 0)  # the first token of what is healed stays
        healed = heal(self._tokens[settled_count:], index)
        healed = healed._replace(token_ids=[*self._tokens[:settled_count], *healed.token_ids])
        context = self._model.context_length
        if context is not None:
            max_tokens = min(max_tokens, context - len(healed.token_ids) - healed.removed_tokens)
            if max_tokens <= 0:
                raise PromptError(
                    f"The draft takes {len(healed.token_ids):,} tokens, and the context of {self._model.name} has "
                    f"{context:,}. Use a model with a longer context."
                )
        _ = Guide(index, max_tokens=max_tokens)  # which says by itself if no answer fits
        return AttemptStart.of(index, healed, max_tokens)

    def _answer(self, output_type: OutputType[Any], start: AttemptStart) -> tuple[Any, Generation]:
        """Return an answer that validators accept, and its value. Raises GenerationError if there is none."""
        rejected_attempts: list[Attempt] = []
        position, self._answer_count = self._answer_count, self._answer_count + 1
        jump_forward = self._options["jump_forward"]
        for attempt in range(self._options["retries"] + 1):
            sampler = (self._search.for_retries if attempt else self._search).sampler
            generator = sampler.generator(position, attempt)
            request = Request(
                start.healed.token_ids,
                start.guide.copy(),
                generator,
                prefix_length=len(start.healed.required_prefix),
                repetition=self._options["repetition"],
                removed_tokens=start.healed.removed_tokens,
            )
            (generation,) = generate(self._model, [request], sampler, batch_size=1, jump_forward=jump_forward)
            value = read_answer(output_type, generation.text)
            if not isinstance(value, Attempt):
                return value, generation
            rejected_attempts.append(value)
        error = GenerationError(rejected_attempts)
        error.__cause__ = rejected_attempts[-1].error
        raise error
