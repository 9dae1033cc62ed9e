"""A type, a model and options enter; an extractor leaves, which makes validated instances of prompts and documents."""

import functools
import itertools
import json
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypedDict, TypeVar, Unpack, cast, get_args, overload

from pydantic import ValidationError

from structured.ballots import Ballot, vote
from structured.compiler import compile_type, keep, known_type, type_to_pattern
from structured.decoding import DEFAULT_BATCH_SIZE, Generation, Request, stream
from structured.errors import (
    Attempt,
    BatchError,
    BudgetWarning,
    GenerationError,
    PromptError,
    StructuredError,
)
from structured.guide import Guide
from structured.healing import Healed, begun_index, heal
from structured.models import ModelSource, load_model
from structured.prompts import chat_messages, completion_prompt
from structured.sampling import Sampler
from structured.schema import DEFAULT_WHITESPACE, Absent, JsonSchema, Optionals
from structured.schema.missing import is_all_missing, stated
from structured.schema.paths import steps_to_path
from structured.search import Choose, Search
from structured.sketches import part_to_sketch
from structured.streams import Stream
from structured.thinking import Thinking, thinking_index

T = TypeVar("T")
U = TypeVar("U")

MAX_TOKENS = 1024
"""Tokens of one answer, unless the caller or the model's context says otherwise."""


class Options(TypedDict, total=False):
    """What `extract`, `extract_batch`, `structured` and `Extractor` take besides the type and the text."""

    model: ModelSource
    """What answers; see `load_model`. By default the one that STRUCTURED_MODEL names, or the demonstration model."""
    instructions: str
    """What to do, put before the document."""
    examples: Sequence[tuple[str, Any]]
    """Documents with the right answers, each an instance of the type, shown to the model."""
    optional: Optionals
    """What becomes of fields that need not be there: "written" (default) has all of them filled in, with null where the
    type allows it; "omittable" lets them be left out; "schema" lets be added, besides, whatever a JsonSchema allows."""
    whitespace: str
    """"spaced" (default), "compact", "indented", "flexible" or "any"; see `to_regex`."""
    temperature: float
    """0 (default) is greedy; above it, tokens are drawn from softmax(logits / temperature)."""
    top_k: int
    """Draws from so many tokens at most, the likeliest that are allowed."""
    top_p: float
    """Draws from the likeliest tokens that together have this probability."""
    min_p: float
    """Draws from tokens at least this share as likely as the likeliest."""
    forced_runs: bool
    """Whether tokens that are known, such as the names of fields, are appended without asking the model; True by
    default. The texts are as likely as without."""
    thinking: Thinking
    """Lets a model that reasons write freely before its answer, up to a marker."""
    seed: int
    """Makes drawn answers repeatable. Document i and attempt k have random numbers of their own."""
    beams: int
    """Searches for the likeliest answer with so many hypotheses at a time; 1, the default, is greedy. The first that
    the type's validators accept is the answer."""
    samples: int
    """How many answers are drawn for each document, at a temperature above 0; 1 by default."""
    choose: Choose
    """Which of the samples is the answer: "likeliest" (default), of those that the type's validators accept, or "vote":
    for each field, what most of these say."""
    max_tokens: int
    """The most tokens in one answer, 1,024 by default and never more than the context has room for. An answer that
    would be longer is steered to its shortest valid end, with a BudgetWarning."""
    retries: int
    """How often an answer that the type's validators reject is drawn anew; 3 by default."""
    batch_size: int
    """How many documents go through the model at once; 8 by default."""
    batch_tokens: int
    """The most tokens, prompts and whole budgets counted, that are in the model's memory at once; without limit by
    default. A batch that does not fit into the memory of a GPU is halved in any case."""
    cache: bool
    """Whether what is learned about the type is kept on disk for later processes, as it is by default."""


@dataclass(frozen=True, slots=True)
class Extraction(Generic[T]):
    """What a text says, where it may not say everything.

    `value` is the instance; None if something is missing that the type requires. `data` is what was stated, as plain
    JSON values. `missing` are the paths of the fields that were not stated, such as `"lines[2].price"`; of those, the
    type's defaults stand in `value`.
    """

    value: T | None
    data: Any
    missing: tuple[str, ...]


class Extractor(Generic[T]):
    """A type and a model made ready: call it with a prompt, or its `batch` with documents.

    With `absent`, the answers are `Extraction`.

    Raises SchemaError, VocabularyError or ModelError at once if they cannot work together.
    """

    @overload
    def __init__(
        self: "Extractor[Extraction[U]]", output_type: type[U], *, absent: Absent, **options: Unpack[Options]
    ) -> None: ...
    @overload
    def __init__(
        self: "Extractor[Extraction[Any]]", output_type: object, *, absent: Absent, **options: Unpack[Options]
    ) -> None: ...
    @overload
    def __init__(self: "Extractor[Any]", output_type: JsonSchema, **options: Unpack[Options]) -> None: ...
    @overload
    def __init__(self, output_type: type[T], **options: Unpack[Options]) -> None: ...
    @overload
    def __init__(self: "Extractor[Any]", output_type: object, **options: Unpack[Options]) -> None: ...
    def __init__(self, output_type: object, *, absent: Absent | None = None, **options: Unpack[Options]) -> None:
        unknown = options.keys() - Options.__annotations__.keys()
        if unknown:
            known = ", ".join(Options.__annotations__)
            raise TypeError(f"Unknown option {', '.join(sorted(unknown))}. The options are {known}.")
        self.output_type = known_type(output_type, absent)
        self.absent = absent
        self.whitespace = options.get("whitespace", DEFAULT_WHITESPACE)
        self.optional = _one_of(get_args(Optionals), "optional", options.get("optional", "written"))
        self.instructions = options.get("instructions")
        sampler = Sampler(
            options.get("temperature", 0.0),
            options.get("seed"),
            options.get("top_k"),
            options.get("top_p", 1.0),
            options.get("min_p", 0.0),
        )
        self.search = Search(
            sampler, options.get("beams", 1), options.get("samples", 1), options.get("choose", "likeliest")
        )
        self.batch_tokens = options.get("batch_tokens")
        if self.batch_tokens is not None:
            _at_least(1, "batch_tokens", self.batch_tokens)
        self.forced_runs = options.get("forced_runs", True)
        self.thinking = options.get("thinking")
        if self.thinking is not None and self.search.beams > 1:
            raise ValueError(
                f"beams is {self.search.beams}, with thinking; a search would go for thoughts that differ in a word. "
                "Draw samples, and let them vote."
            )
        self.max_tokens = _at_least(1, "max_tokens", options.get("max_tokens", MAX_TOKENS))
        self.retries = _at_least(0, "retries", options.get("retries", 3))
        self.batch_size = _at_least(1, "batch_size", options.get("batch_size", DEFAULT_BATCH_SIZE))
        self.examples = [(document, self._to_json(value)) for document, value in options.get("examples", ())]
        self.sketch = part_to_sketch(self.output_type.root(self.whitespace, self.optional))
        type_to_pattern(
            self.output_type, whitespace=self.whitespace, optional=self.optional
        )  # before a model is loaded
        self.model = load_model(options.get("model"))
        self.cache = options.get("cache", True)
        self.index = compile_type(
            self.output_type,
            self.model.vocabulary,
            whitespace=self.whitespace,
            optional=self.optional,
            cache=self.cache,
        )

    def __repr__(self) -> str:
        return f"Extractor({self.output_type.name}, model={self.model.name!r})"

    def __call__(self, prompt: str) -> T:
        """Return what the prompt says, as an instance of the type. Raises PromptError, BudgetError, GenerationError."""
        results, errors = self._run([prompt])
        for error in errors.values():
            raise error
        (result,) = results
        return cast("T", result)

    def batch(self, documents: Iterable[str]) -> list[T]:
        """Return what each document says, in their order.

        Raises PromptError or BudgetError before anything is generated, and BatchError, which holds the other results,
        if the type's validators rejected every attempt at some document.
        """
        if isinstance(documents, str):
            raise PromptError("The documents are one str, and would be read letter by letter. Pass a list: [text].")
        results, errors = self._run(list(documents))
        if errors:
            raise BatchError(results, errors)
        return results

    def stream(self, prompt: str) -> Stream[T]:
        """Return the answer to a prompt while it is written; see `Stream`. Raises PromptError, BudgetError."""
        if self.search.is_of_several:
            raise ValueError("An answer can be streamed if it is the only one. Leave out beams and samples.")
        item = self._prepare(0, prompt)
        (request,) = self._requests([item], 0)

        def read(generation: Generation) -> T:
            results: list[Any] = [None]
            if not self._accept(item, [generation], results):
                raise GenerationError(item.attempts, document=0)
            return cast("T", results[0])

        pieces = stream(self.model, request, self.search.sampler, force=self.forced_runs)
        return Stream(pieces, self.output_type, read)

    def prompt(self, document: str) -> str | list[dict[str, str]]:
        """Return what the model is given for a document: chat messages if it has a chat template, else plain text."""
        build = chat_messages if self.model.has_chat_template else completion_prompt
        return build(self.sketch, document, instructions=self.instructions, examples=self.examples)

    def _run(self, documents: list[str]) -> tuple[list[Any], dict[int, StructuredError]]:
        items = [self._prepare(position, document) for position, document in enumerate(documents)]
        results: list[Any] = [None] * len(items)
        pending = items
        for attempt in range(self.retries + 1):
            rejected: list[_Item] = []
            for item, candidates in zip(pending, self._candidates(pending, attempt), strict=True):
                if not self._accept(item, candidates, results):
                    rejected.append(item)
            pending = rejected
        if self.cache:
            keep(self.index)
        return results, {item.position: GenerationError(item.attempts, document=item.position) for item in pending}

    def _prepare(self, position: int, document: str) -> "_Item":
        if not isinstance(document, str):
            raise PromptError(f"Document {position} is {type(document).__name__}, not text. Pass a str.")
        if not document.strip():
            raise PromptError(f"Document {position} is empty. There is nothing to extract from; leave it out.")
        token_ids = self.model.encode(self.prompt(document))
        max_tokens, context = self.max_tokens, self.model.context_length
        if context is not None:
            thinking = 0 if self.thinking is None else self.thinking.max_tokens
            max_tokens = min(max_tokens, context - len(token_ids) - thinking)
            if max_tokens <= 0:
                raise PromptError(
                    f"The prompt for document {position} takes {len(token_ids)} tokens"
                    f"{f', thinking up to {thinking}' if thinking else ''}, and the context of {self.model.name} has "
                    f"{context}. Shorten or split the document, or use a model with a longer one."
                )
        Guide(self.index, max_tokens=max_tokens)  # raises BudgetError before the model runs
        if self.thinking is not None:
            self._thinking_guide(self.thinking)
        healed = Healed(token_ids, b"")
        if self.thinking is None and not self.model.has_chat_template:
            healed = heal(token_ids, self.index)
        return _Item(position, healed, max_tokens + len(token_ids) - len(healed.prompt))

    def _candidates(self, items: "list[_Item]", attempt: int) -> list[list[Generation]]:
        search = self.search.again if attempt else self.search
        requests = self._requests(items, attempt)
        return search.candidates(
            self.model,
            requests,
            batch_size=self.batch_size,
            batch_tokens=self.batch_tokens,
            force=self.forced_runs,
        )

    def _requests(self, items: "list[_Item]", attempt: int) -> list[Request]:
        return [
            Request(
                item.healed.prompt,
                Guide(begun_index(self.index, item.healed.begun), max_tokens=item.max_tokens),
                self.search.sampler.generator(item.position, attempt),
                self._shared,
                None if self.thinking is None else self._thinking_guide(self.thinking),
                len(item.healed.begun),
            )
            for item in items
        ]

    def _thinking_guide(self, thinking: Thinking) -> Guide:
        return Guide(thinking_index(thinking.marker, self.model.vocabulary), max_tokens=thinking.max_tokens)

    @functools.cached_property
    def _shared(self) -> int:
        """How many tokens all prompts begin with."""
        first, second = (self.model.encode(self.prompt(document)) for document in ("a", "7"))
        pairs = zip(first, second, strict=False)
        return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))

    def _accept(self, item: "_Item", candidates: list[Generation], results: list[Any]) -> bool:
        """Put the answer in its place, and tell whether there is one among the candidates."""
        valid: list[tuple[Generation, Any]] = []
        for generation in candidates:
            try:
                valid.append((generation, self._read(generation.text)))
            except ValueError as error:
                item.attempts.append(Attempt(generation.text, error))
            if valid and self.search.choose == "likeliest":
                break
        if not valid:
            return False
        results[item.position] = self._voted(valid) if len(valid) > 1 else valid[0][1]
        if any(generation.shortened for generation, _ in valid):
            warnings.warn(
                f"The answer for document {item.position} was brought to an end by its budget of {item.max_tokens} "
                "tokens; it is valid but may be incomplete. Raise max_tokens.",
                BudgetWarning,
                stacklevel=5,
            )
        return True

    def _voted(self, valid: list[tuple[Generation, Any]]) -> Any:
        """Return what most answers say, given with what is read of them."""
        ballots = [Ballot(json.loads(generation.text), generation.log_probability) for generation, _ in valid]
        outcome = vote(ballots, self._is_valid)
        return self._read(json.dumps(outcome.data)) if outcome.position is None else valid[outcome.position][1]

    def _is_valid(self, data: Any) -> bool:
        try:
            self._read(json.dumps(data))
        except ValueError:
            return False
        return True

    def _read(self, text: str) -> Any:
        """Return what an answer says. Raises ValueError if the type's validators reject it."""
        if self.absent is None:
            return self.output_type.validate_json(text)
        left, missing = stated(self.output_type.root(), text)
        data = json.loads(left)
        value = None
        try:
            value = self.output_type.validate_json(left)
        except ValidationError as error:
            if () not in missing and not is_all_missing(error.errors(), data, missing):
                raise
        return Extraction(value, data, tuple(map(steps_to_path, missing)))

    def _to_json(self, value: object) -> str:
        """Return an example's answer as the model would have to write it."""
        adapter = self.output_type.adapter
        try:
            plain = adapter.dump_python(adapter.validate_python(value), mode="json", by_alias=True)
        except ValueError as error:
            raise PromptError(
                f"The answer of an example, {value!r}, is no {self.output_type.name}: {error}. Correct the example."
            ) from error
        if self.whitespace == "indented":
            return json.dumps(plain, ensure_ascii=False, indent=2)
        separators = (",", ":") if self.whitespace == "compact" else (", ", ": ")
        return json.dumps(plain, ensure_ascii=False, separators=separators)


@dataclass(slots=True)
class _Item:
    """One document on its way through a batch."""

    position: int
    healed: Healed
    max_tokens: int
    attempts: list[Attempt] = field(default_factory=list)


def _one_of(names: tuple[Optionals, ...], option: str, name: Optionals) -> Optionals:
    if name not in names:
        raise ValueError(f"{option} is {name!r}; it must be one of {', '.join(map(repr, names))}.")
    return name


def _at_least(minimum: int, name: str, value: int) -> int:
    if value < minimum:
        raise ValueError(f"{name} is {value}; it must be {minimum} or greater.")
    return value
