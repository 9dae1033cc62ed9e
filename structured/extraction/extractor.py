"""A type, a model and options enter; an extractor leaves, which makes validated instances of prompts and documents."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Generic, Literal, Self, TypedDict, TypeVar, Unpack, cast, get_args, overload

from structured.decoding.generate import DEFAULT_BATCH_SIZE, Generation, stream
from structured.decoding.reasoning import Thinking
from structured.decoding.sampling import SAMPLING, Sampler
from structured.decoding.strategy import SEARCH, Choose, Search
from structured.errors import Attempt, BudgetError, OptionWarning, OutOfMemoryError, PromptError, StructuredError
from structured.errors.arguments import (
    anything,
    check_picklable,
    checked,
    count,
    flag,
    function,
    instance,
    one_of,
    or_none,
    pairs,
    paths,
    text,
)
from structured.errors.calling_line import warn
from structured.errors.values import shown
from structured.extraction.outcomes import Errors, Outcome
from structured.extraction.progress import showing
from structured.extraction.stream import Stream
from structured.extraction.task import Item, Task, common_beginning
from structured.index.compile import save_learned
from structured.json_schema.document.place import Optionals
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, check_whitespace
from structured.models import ModelSource, load_model
from structured.output_types.html import card, table, verbatim
from structured.output_types.json_output import Layout
from structured.output_types.optional_fields import Absent
from structured.output_types.output_type import OutputType
from structured.output_types.resolve import resolve_type

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
    examples: Sequence[tuple[str, object]]
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
    jump_forward: bool
    """Whether forced tokens, such as the names of fields, are appended without asking the model, and probable ones
    proposed ahead (speculation by prompt lookup); True by default. The texts are as likely as without."""
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
    """The most tokens, prompts and whole budgets counted, that are in the model's memory at once, unless one text (with
    beams: one search) has more; without limit by default. A batch that does not fit into the memory of a GPU is halved
    in any case."""
    observe: Callable[[int, Generation], object]
    """Called with the position of a document and each text that was written for it, rejected ones as well, as soon as
    the document's texts are written: with the log-probability of the text, and diagnostics."""
    cache: bool
    """Whether what is learned about the type is kept on disk for later processes, as it is by default."""


_CHECKS = {
    "model": anything,  # by `load_model`
    "instructions": or_none(text),
    "examples": pairs,
    "optional": one_of(get_args(Optionals)),
    "whitespace": check_whitespace,
    **SAMPLING,
    "jump_forward": flag,
    "thinking": or_none(instance(Thinking, "Thinking('</think>')")),
    **SEARCH,
    "max_tokens": count(1),
    "retries": count(0),
    "batch_size": count(1),
    "batch_tokens": or_none(count(1)),
    "observe": or_none(function),
    "cache": flag,
}
"""What each of the `Options` must be."""


check_absent = or_none(paths)


def check_batch(errors: Errors, progress: bool | None) -> None:
    """Check what a call for a batch takes besides. Raises TypeError for a wrong kind, ValueError for another name."""
    one_of(get_args(Errors))("errors", errors)
    or_none(flag)("progress", progress)


def checked_options(options: Options) -> Options:
    """Return options as they are kept. Raises TypeError for unknown names and wrong kinds, and ValueError."""
    return cast("Options", checked(_CHECKS, options))


class Extractor(Generic[T]):
    """A type and a model made ready: call it with a prompt, or its `batch` with documents.

    With `absent`, and for the type `Extraction[Model]`, the answers are `Extraction`.

    It is pickled as the type and the options, and made ready where it is read; copies share the model.

    Raises TypeError for an unknown option or one of a wrong kind, ValueError for a value that makes no sense, and
    SchemaError, VocabularyError or ModelError if type and model cannot work together; all of them at once.
    """

    @overload
    def __init__(self, output_type: type[T], **options: Unpack[Options]) -> None: ...
    @overload
    def __init__(
        self: "Extractor[Any]", output_type: object, *, absent: Absent | None = ..., **options: Unpack[Options]
    ) -> None: ...
    def __init__(self, output_type: object, *, absent: Absent | None = None, **options: Unpack[Options]) -> None:
        options = checked_options(options)
        absent = check_absent("absent", absent)
        self._given = (output_type, absent, options)
        layout = Layout(options.get("whitespace", DEFAULT_WHITESPACE), options.get("optional", "written"))
        wanted = resolve_type(output_type, absent, layout)
        given: Mapping[str, Any] = options
        sampler = Sampler(**{name: given[name] for name in SAMPLING if name in given})
        self.search = Search(sampler, **{name: given[name] for name in SEARCH if name in given})
        self.batch_tokens = options.get("batch_tokens")
        self.jump_forward = options.get("jump_forward", True)
        self.retries = options.get("retries", 3)
        _warn_of_idle(sampler, self.retries)
        thinking = options.get("thinking")
        if thinking is not None and self.search.beams > 1:
            raise ValueError(
                f"beams is {self.search.beams}, with thinking; a search would go for thoughts that differ in a word. "
                "Draw samples, and let them vote."
            )
        max_tokens = options.get("max_tokens", MAX_TOKENS)
        self.batch_size = options.get("batch_size", DEFAULT_BATCH_SIZE)
        self.observe = options.get("observe")
        self.cache = options.get("cache", True)
        examples = [
            (document, _written(wanted, value, f"examples[{position}]"))
            for position, (document, value) in enumerate(options.get("examples", ()))
        ]
        wanted.check()  # before a model is loaded
        model = load_model(options.get("model"))
        self.task = Task(
            wanted, model, wanted.describe(), options.get("instructions"), examples, thinking, max_tokens, self.cache
        )
        if not wanted.depends_on_document:
            self.task.index("")

    def __repr__(self) -> str:
        return f"Extractor({self.task.output_type.name}, model={self.task.model.name!r})"

    def _repr_html_(self) -> str:
        """Return the model, how answers are looked for, and the type as the prompt shows it."""
        task, (_, absent, _) = self.task, self._given
        facts = {
            "model": task.model.name,
            "search": str(self.search),
            "max_tokens": f"{task.max_tokens:,}",
            "retries": f"{self.retries:,}",
            "instructions": task.instructions,
            "examples": f"{len(task.examples):,}" if task.examples else None,
            "absent": None if absent is None else str(absent),
        }
        rows = [(name, fact) for name, fact in facts.items() if fact is not None]
        return card("Extractor", task.output_type.name, table((), rows), verbatim(self.description))

    def __reduce__(self) -> tuple[Any, ...]:
        output_type, absent, options = self._given
        check_picklable(repr(self), {"output_type": output_type, **options})
        return _made_ready, (type(self), output_type, absent, options)

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy.copy(self)  # nothing in it changes, and the model is not to be had twice

    @property
    def description(self) -> str:
        """The type, as the prompt shows it."""
        return self.task.description.text

    def __call__(self, prompt: str, *, instructions: str | None = None) -> T:
        """Return what the prompt says, as an instance of the type.

        `instructions` are of this call alone, and come after those of the extractor. Raises PromptError, BudgetError,
        GenerationError.
        """
        return cast("T", self._outcome([self.task.asking(instructions)], [prompt]).only())

    @overload
    def batch(
        self, documents: Iterable[str], *, errors: Literal["raise"] = ..., progress: bool | None = ...
    ) -> list[T]: ...
    @overload
    def batch(
        self, documents: Iterable[str], *, errors: Literal["return"], progress: bool | None = ...
    ) -> list[T | StructuredError]: ...
    def batch(self, documents: Iterable[str], *, errors: Errors = "raise", progress: bool | None = None) -> list[Any]:
        """Return what each document says, in their order.

        A document that fails costs no other its result: it is empty, no text or too long (PromptError), its budget is
        too small (BudgetError), it is alone too much for the device (OutOfMemoryError), or validators rejected every
        answer (GenerationError). Raises BatchError in the end, which holds the results and the errors; with
        `errors="return"` nothing is raised, and the errors stand in place of the results.

        Where the model itself cannot go on, its error is that of every document that was not finished. It is raised as
        it is if there are no results.

        `progress` shows a bar on stderr or in a notebook: by default where a person may be waiting, after two seconds.
        """
        check_batch(errors, progress)
        listed = listed_documents(documents)
        return self._outcome([self.task] * len(listed), listed, progress=progress).all(errors)

    def stream(self, prompt: str) -> Stream[T]:
        """Return the answer to a prompt while it is written; see `Stream`. Raises PromptError, BudgetError."""
        if self.search.is_of_several:
            raise ValueError("An answer can be streamed if it is the only one. Leave out beams and samples.")
        item = self.task.item(0, prompt)
        request = self.task.request(item, self.search.sampler, 0, self.task.beginning)

        def read(generation: Generation) -> T:
            outcome = Outcome(1)
            if not self._accept(item, [generation], outcome):
                outcome.reject([item])
            self._keep([item])
            return cast("T", outcome.only())

        pieces = stream(self.task.model, request, self.search.sampler, force=self.jump_forward)
        return Stream(pieces, self.task.output_type, read)

    def prompt(self, document: str) -> str | list[dict[str, str]]:
        """Return what the model is given for a document: chat messages if it has a chat template, else plain text."""
        return self.task.prompt(document)

    def _outcome(self, tasks: Sequence[Task], documents: Sequence[str], *, progress: bool | None = False) -> Outcome:
        """Return what becomes of documents, each of its own task."""
        outcome = Outcome(len(documents))
        try:
            with showing(outcome, progress):
                self._run(self._items(tasks, documents, outcome), outcome)
        except BaseException as error:
            outcome.note_loss(error)
            raise
        return outcome

    @staticmethod
    def _items(tasks: Sequence[Task], documents: Sequence[str], outcome: Outcome) -> list[Item]:
        """Return the documents made ready; of some there can be no answer, and they fail."""
        items: list[Item] = []
        for position, (task, document) in enumerate(zip(tasks, documents, strict=True)):
            try:
                items.append(task.item(position, document))
            except (PromptError, BudgetError) as error:
                outcome.fail(position, error)
        return items

    def _run(self, items: list[Item], outcome: Outcome) -> None:
        """Look for answers until there is one for each item, or no attempt is left, or the model cannot go on."""
        pending = {item.position: item for item in items}
        for attempt in range(self.retries + 1):
            for item, candidates in self._candidates(list(pending.values()), attempt, outcome):
                if isinstance(candidates, OutOfMemoryError):
                    outcome.fail(item.position, candidates)
                    del pending[item.position]
                elif self._accept(item, candidates, outcome):
                    del pending[item.position]
        if outcome.stopped is None:
            outcome.reject(pending.values())
        self._keep(items)

    def _keep(self, items: Iterable[Item]) -> None:
        """Save what was learned while some items were answered."""
        if self.cache:
            for index in {index for item in items for index in (item.index, item.healed_index)}:
                save_learned(index)

    def _candidates(
        self, items: list[Item], attempt: int, outcome: Outcome
    ) -> Iterator[tuple[Item, list[Generation] | OutOfMemoryError]]:
        """Yield the candidates for each item as soon as they are written; none after what stops the model."""
        if outcome.stopped is not None or not items:
            return
        search = self.search.again if attempt else self.search
        shared = common_beginning([task.beginning for task in {item.task for item in items}])
        requests = [item.task.request(item, self.search.sampler, attempt, shared) for item in items]
        try:
            for place, candidates in search.candidates(
                self.task.model,
                requests,
                batch_size=self.batch_size,
                batch_tokens=self.batch_tokens,
                force=self.jump_forward,
            ):
                yield items[place], candidates
        except Exception as error:  # noqa: BLE001  a model of the user's own raises what it likes
            outcome.stopped = error

    def _accept(self, item: Item, candidates: list[Generation], outcome: Outcome) -> bool:
        """Take the answer of an item, and tell whether there is one among the candidates."""
        valid: list[tuple[Generation, Any]] = []
        for generation in candidates:
            outcome.tokens += len(generation.token_ids)
            if self.observe is not None:
                self.observe(item.position, generation)
        for generation in candidates:
            try:
                valid.append((generation, item.task.output_type.parse(generation.text)))
            except Exception as error:  # noqa: BLE001  validators are the user's own code
                item.attempts.append(Attempt(generation.text, error))
            if valid and self.search.choose == "likeliest":
                break
        if not valid:
            return False
        result = item.task.read_vote(valid) if len(valid) > 1 else valid[0][1]
        outcome.accept(item, result, shortened=any(generation.shortened for generation, _ in valid))
        return True


def outcome_of_each(
    output_types: Sequence[object],
    documents: Iterable[str],
    absent: Absent | None,
    options: Options,
    *,
    progress: bool | None = None,
) -> Outcome:
    """Return what becomes of documents, each asked for an instance of its own type; all go through the model together.

    Raises ValueError if there are more of one than of the other, and for examples and paths of what may be absent,
    which are of one type; everything else as `Extractor.batch`.
    """
    listed = listed_documents(documents)
    if len(output_types) != len(listed):
        raise ValueError(f"There are {len(output_types)} types for {len(listed)} documents. Pass one for each.")
    for name, given in (("examples", options.get("examples")), ("absent", absent)):
        if given and given is not True and len(set(map(id, output_types))) > 1:
            raise ValueError(f"{name} is {shown(given)}, and there are several types. Pass it with one type at a time.")
    options = {**options, "model": load_model(options.get("model"))}
    extractors: dict[int, Extractor[Any]] = {}
    for output_type in output_types:
        if id(output_type) not in extractors:
            extractors[id(output_type)] = make_extractor(output_type, absent, options)
    if not listed:
        return Outcome(0)
    tasks = [extractors[id(output_type)].task for output_type in output_types]
    return extractors[id(output_types[0])]._outcome(tasks, listed, progress=progress)  # noqa: SLF001  of this module


def make_extractor(output_type: object, absent: Absent | None, options: Options) -> Extractor[Any]:
    """Return an extractor for a type, or for what may be absent of it."""
    if absent is None:
        return Extractor[Any](output_type, **options)
    return Extractor(output_type, absent=absent, **options)


def listed_documents(documents: Iterable[str]) -> list[str]:
    """Return documents as a list. Raises PromptError for what is a single one, or not several texts in an order."""
    match documents:
        case str() | bytes() | bytearray():
            kind = type(documents).__name__
            raise PromptError(f"The documents are one {kind}, and would be read letter by letter. Pass a list: [text].")
        case Path():
            raise PromptError("The documents are a path. Pass a list of what is in the files: [path.read_text()].")
        case Mapping():
            raise PromptError("The documents are a mapping, and would be its keys. Pass list(documents.values()).")
        case AbstractSet():
            raise PromptError("The documents are a set, and have no order for the answers. Pass a list.")
        case Iterable():
            return list(documents)
    raise PromptError(f"The documents are {shown(documents)}. Pass a list of texts.")


def _made_ready(kind: Any, output_type: object, absent: Absent | None, options: Options) -> Any:
    """Return an extractor that was pickled."""
    return kind(output_type, absent=absent, **options)


def _warn_of_idle(sampler: Sampler, retries: int) -> None:
    """Warn of ways to sample that were chosen where nothing is sampled; a seed counts where an answer may be again."""
    idle = [name for name in sampler.idle if name != "seed" or not retries]
    if idle:
        again = ", unless validators reject an answer and it is sampled again" if retries else ""
        warn(
            OptionWarning(
                f"{', '.join(idle)} {'has' if len(idle) == 1 else 'have'} no effect at temperature 0, where the "
                f"likeliest token is taken{again}. Set a temperature, such as 0.7, or leave {' and '.join(idle)} out."
            )
        )


def _written(wanted: OutputType[Any], value: object, name: str) -> str:
    """Return an example's answer as the model would have to write it."""
    try:
        return wanted.write(value)
    # What a validator of the type's author raises, and what no text says.
    except Exception as error:
        raise PromptError(
            f"The answer of {name}, {shown(value)}, is no {wanted.name}: {error}. Correct the example."
        ) from error
