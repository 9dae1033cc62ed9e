"""Tasks for language models: what may be written is an index over the model's vocabulary, and each text has a guide."""

import functools
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from structured.automata.byte_automaton import accepts_text
from structured.decoding.generate import compiled_type, stream
from structured.decoding.prompt_tokens import HealedPrompt, common_beginning, heal, prefixed_index
from structured.decoding.requests import Generation, Request, thinking_index
from structured.decoding.sampling import Sampler
from structured.decoding.strategy import Search
from structured.errors import PromptError
from structured.extraction.options import Options
from structured.extraction.prompts import Conversation
from structured.extraction.task import InputDocument, Item, Task
from structured.index.compilation import RenewedIndex
from structured.index.guide import Guide
from structured.index.index import Index
from structured.models import LanguageModel
from structured.models import checked_calls as calls
from structured.results.attribution import KeptAnswer


@dataclass(frozen=True, eq=False)
class GuidedTask(Task):
    """A task for a language model, which is guided while it writes."""

    model: LanguageModel

    def with_options(self, options: Options) -> Self:
        """Return the task under other options, with the index and the prefixes of prompts that it has computed."""
        twin = super().with_options(options)
        learned: dict[str, object] = {"prompt_prefix": self.prompt_prefix}
        if self.model.has_chat_template:
            learned["chat_prompt_prefix"] = self.chat_prompt_prefix
        if not self.output_type.depends_on_document:
            learned["_shared_index"] = self._shared_index
        vars(twin).update(learned)
        return twin

    def make_ready(self, search: Search) -> None:  # noqa: ARG002  any search can be guided
        """Make the index of the answers, if it is the same for all documents."""
        if not self.output_type.depends_on_document:
            self.index("")

    def stream(self, item: Item, search: Search, *, jump_forward: bool) -> Generator[str, None, Generation]:
        """Return the pieces of an answer as they are written."""
        assert isinstance(item, GuidedItem), "it is of this task"
        request = self.request(item, search.sampler, 0, item.prompt_prefix)
        return stream(self.model, request, search.sampler, jump_forward=jump_forward)

    def prepared(self, document: InputDocument) -> "GuidedItem":
        """Return an item for a document that was read. Raises as `item`."""
        conversation, name, is_single = document.conversation, document.name, document.is_single
        try:
            token_ids = calls.encode(self.model, self.prompt(conversation))
        except PromptError as error:
            if is_single:
                raise
            raise PromptError(f"{name[0].upper()}{name[1:]}: {error}") from error.__cause__
        max_tokens, context = self.max_tokens, self.model.context_length
        if context is not None:
            thinking = self.thinking_tokens
            max_tokens = min(max_tokens, context - len(token_ids) - thinking)
            if max_tokens <= 0:
                raise PromptError(
                    f"The prompt for {name} takes {len(token_ids)} tokens"
                    f"{f', thinking up to {thinking}' if thinking else ''}, and the context of {self.model.name} has "
                    f"{context}. {self._how_to_shorten(conversation)}, or use a model with a longer context."
                )
        index = self.index(conversation.document)
        _ = Guide(index, max_tokens=max_tokens)  # raises BudgetError before the model runs
        _ = self._thinking_guide  # and so does this
        healed = self._heal(token_ids, index)
        start = AttemptStart.of(index, healed, max_tokens)
        return GuidedItem(self, document, max_tokens, index=index, whole_start=start, next_start=start)

    def _how_to_shorten(self, conversation: Conversation) -> str:
        """Return how to shorten the prompt for a conversation, by its longest part."""
        parts = {
            "text": "\n".join((*(turn["content"] for turn in conversation.earlier_turns), conversation.text)),
            # As one: a server gets them as one message.
            "instructions and system": "\n\n".join(
                filter(None, (self.system or conversation.system, self.instructions))
            ),
            "examples": "\n".join(map("\n".join, self.examples)),
            "the description of the type": self.description.text,
        }
        tokens = {name: len(calls.encode(self.model, part)) for name, part in parts.items() if part}
        longest = max(tokens, key=tokens.__getitem__)
        if self.is_verbatim or longest == "text":
            return "Shorten or split the text"
        return f"{tokens[longest]} of them are those of {longest}. Shorten that"

    def healed(self, conversation: Conversation, index: Index) -> HealedPrompt:
        """Return the prompt for a conversation, healed for the answers of an index."""
        return self._heal(calls.encode(self.model, self.prompt(conversation)), index)

    def _heal(self, token_ids: list[int], index: Index) -> HealedPrompt:
        if not self.thinking_tokens and not self.model.has_chat_template:
            return heal(token_ids, index)
        return HealedPrompt(token_ids)

    def request(self, item: "GuidedItem", sampler: Sampler, attempt: int, shared: Sequence[int]) -> Request:
        """Return what is to be written for a document; most prompts of the batch begin with `shared` tokens."""
        healed, guide, _ = item.next_start
        return Request(
            healed.token_ids,
            guide.copy(),
            sampler.generator(item.position, attempt),
            len(common_beginning([shared, healed.token_ids])),
            None if self._thinking_guide is None else self._thinking_guide.copy(),
            len(healed.required_prefix),
            self.options["repetition"],
            healed.removed_tokens,
            self.alternatives,
        )

    @functools.cached_property
    def prompt_prefix(self) -> tuple[int, ...]:
        """The tokens with which most of its prompts for texts begin."""
        return self._common_prefix(())

    @functools.cached_property
    def chat_prompt_prefix(self) -> tuple[int, ...]:
        """The tokens with which its prompts for chats begin that have no system message of their own."""
        return self._common_prefix(("user", "assistant"))

    def _common_prefix(self, roles: Sequence[str]) -> tuple[int, ...]:
        """Return the common prefix of the prompts for two conversations that share nothing but the roles."""
        conversations = [Conversation(text, [{"role": role, "content": text} for role in roles]) for text in ("a", "7")]
        return common_beginning([calls.encode(self.model, self.prompt(conversation)) for conversation in conversations])

    def index(self, document: str) -> Index:
        """Return the index of the answers to a document."""
        return (self._compiled(document) if self.output_type.depends_on_document else self._shared_index).index()

    @functools.cached_property
    def _shared_index(self) -> RenewedIndex:
        """The index of the answers to all documents, held here since `compiled_type` keeps a limited number."""
        return self._compiled(None)

    @property
    def memory(self) -> int:
        """The bytes of its index, roughly."""
        return self._shared_index.memory if "_shared_index" in vars(self) else 0

    def _compiled(self, document: str | None) -> RenewedIndex:
        return compiled_type(self.output_type, self.model.vocabulary, document=document, cache=self.options["cache"])

    @functools.cached_property
    def _thinking_guide(self) -> Guide | None:
        """The guide of the thinking before an answer, to be copied. Raises BudgetError if no thinking fits."""
        thinking = self.options.get("thinking")
        if thinking is None:
            return None
        return Guide(thinking_index(thinking.marker, self.model.vocabulary), max_tokens=thinking.max_tokens)

    @property
    def thinking_tokens(self) -> int:
        """The most tokens of the thinking before an answer; 0 without any."""
        thinking = self.options.get("thinking")
        return 0 if thinking is None else thinking.max_tokens


class AttemptStart(NamedTuple):
    """The start of an attempt: a healed prompt, and what is written behind it."""

    healed: HealedPrompt
    guide: Guide
    """The guide of the removed end of the prompt, and of the answer behind it; to be copied."""
    kept_answer: KeptAnswer | None
    """What is kept of an earlier answer; None if all is written again."""

    @classmethod
    def of(cls, index: Index, healed: HealedPrompt, max_tokens: int, kept_answer: KeptAnswer | None = None) -> Self:
        """Return the start of an attempt; tokens that healing removed from the prompt do not count as the answer's."""
        guide = Guide(prefixed_index(index, healed.required_prefix), max_tokens=max_tokens + healed.removed_tokens)
        return cls(healed, guide, kept_answer)


@dataclass(slots=True, eq=False)
class GuidedItem(Item):
    """A document on its way to an answer that is guided."""

    task: GuidedTask
    index: Index = field(kw_only=True)
    """The index of its answers."""
    whole_start: AttemptStart = field(kw_only=True)
    """The start of an attempt at the whole answer."""
    next_start: AttemptStart = field(kw_only=True)
    """The start of the next attempt."""
    is_reset: bool = False
    """Whether its answer was begun again, in an index for itself."""

    @property
    def prompt_tokens(self) -> int:
        """The tokens of its prompt in this attempt, as it was before it was healed."""
        return len(self.next_start.healed.token_ids) + self.next_start.healed.removed_tokens

    @property
    def kept_answer(self) -> KeptAnswer | None:
        """What this attempt keeps of an earlier answer."""
        return self.next_start.kept_answer

    def drop_kept_answer(self) -> None:
        """Keep nothing of earlier answers in the next attempt."""
        self.next_start = self.whole_start

    def fault(self, generation: Generation) -> str | None:
        """Return why a text cannot be the answer: not all of it fits what was kept."""
        if self.kept_answer is not None and not accepts_text(self.index.automaton, generation.text):
            return "What was written again does not fit what was kept of the answer."
        return None

    def reset(self) -> None:
        """Begin its answer again, in an index whose automaton is not exhausted."""
        self.index = self.task.index(self.document)
        self.whole_start = self.next_start = AttemptStart.of(self.index, self.whole_start.healed, self.max_tokens)
        self.is_reset = True

    @property
    def prompt_prefix(self) -> tuple[int, ...]:
        """The tokens that prompts like its own begin with."""
        return self.task.chat_prompt_prefix if self.input.conversation.earlier_turns else self.task.prompt_prefix
