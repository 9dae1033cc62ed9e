"""An extractor: a type, a model and options, ready for prompts and documents."""

import copy
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from contextvars import copy_context
from dataclasses import replace
from typing import Any, Generic, Literal, Self, TypeVar, Unpack, cast, overload

from structured.decoding.compiled_types import load_grammars
from structured.decoding.requests import Generation
from structured.errors import PromptError, SchemaError, StructuredError
from structured.errors.arguments import check_picklable
from structured.errors.calling_line import calling_line, warnings_at
from structured.errors.values import described, message_in_one_line, shown
from structured.extraction.conversation import Conversation, TextOrChat
from structured.extraction.documents.document import (
    AsyncDocuments,
    Documents,
    count_of,
    each_document,
)
from structured.extraction.guided_task import GuidedTask
from structured.extraction.idle_options import warn_of_stream, warn_of_types
from structured.extraction.options import (
    MAX_TOKENS,
    Errors,
    Options,
    check_absent,
    check_batch,
    check_evidence,
    checked_options,
    layout_of,
    repetition_of,
)
from structured.extraction.outcomes import BatchResult, Outcome
from structured.extraction.output.batch import BatchSummary, Output, write_batch
from structured.extraction.output.journal import Resume
from structured.extraction.run import Run
from structured.extraction.stream import Stream
from structured.extraction.task import Task
from structured.models import LanguageModel, Model, find_model
from structured.output_types.extraction import Extraction
from structured.output_types.functions.call import Call, Function
from structured.output_types.html import card, table, verbatim
from structured.output_types.interface import check_interface, description_of
from structured.output_types.keys import check_merge_by
from structured.output_types.optional_fields import Absent
from structured.output_types.output_type import OutputType
from structured.output_types.resolve import asks_for_evidence, resolve_type

T = TypeVar("T")
U = TypeVar("U")


class Extractor(Generic[T]):
    """A type and a model, prepared for many calls.

    `Extractor(Person)("Jason is 25 years old.")` does what `extract` does, without preparing the type again. Several
    threads may call an extractor. It is pickled as type and options; copies share the model. The type
    `Extraction[Model]` is the same as `evidence=True`.

    Parameters:
        output_type: As for `extract`.
        absent: As for `extract`; the results are then `Extraction`.
        evidence: As for `extract`; the results are then `Extraction`.
        options: See `Options`.

    Raises:
        TypeError: An option is unknown or of the wrong kind.
        ValueError: An option has a value that is not allowed.
        SchemaError: A part of the type cannot be enforced exactly.
        ModelError: The model cannot be loaded.
        VocabularyError: The tokenizer cannot be used, or cannot spell any answer of the type.
    """

    @overload
    def __init__(
        self, output_type: type[T] | OutputType[T], *, absent: None = ..., **options: Unpack[Options]
    ) -> None: ...
    @overload
    def __init__(
        self: "Extractor[Extraction[U]]",
        output_type: type[U] | OutputType[U],
        *,
        absent: Absent,
        **options: Unpack[Options],
    ) -> None: ...
    @overload
    def __init__(
        self: "Extractor[Extraction[U]]",
        output_type: type[U] | OutputType[U],
        *,
        absent: Absent | None = ...,
        evidence: Literal[True],
        **options: Unpack[Options],
    ) -> None: ...
    @overload
    def __init__(
        self: "Extractor[Call[U]]", output_type: Function[U], *, absent: None = ..., **options: Unpack[Options]
    ) -> None: ...
    @overload
    def __init__(
        self: "Extractor[Extraction[Call[U]]]",
        output_type: Function[U],
        *,
        absent: Absent,
        **options: Unpack[Options],
    ) -> None: ...
    @overload
    def __init__(
        self: "Extractor[Extraction[Call[U]]]",
        output_type: Function[U],
        *,
        absent: Absent | None = ...,
        evidence: Literal[True],
        **options: Unpack[Options],
    ) -> None: ...
    @overload
    def __init__(
        self: "Extractor[Any]",
        output_type: object,
        *,
        absent: Absent | None = ...,
        evidence: bool = ...,
        **options: Unpack[Options],
    ) -> None: ...
    def __init__(
        self, output_type: object, *, absent: Absent | None = None, evidence: bool = False, **options: Unpack[Options]
    ) -> None:
        options = checked_options(options)
        absent = check_absent("absent", absent)
        check_evidence("evidence", evidence)
        self._given = (output_type, absent, evidence, options)
        wanted = resolve_type(output_type, absent, layout_of(options), grounded=options.get("grounded"))
        self.run = Run.of(options)
        if options.get("cache", True):
            load_grammars(wanted)
        check_interface(wanted)  # before a model is loaded
        check_merge_by(wanted, options.get("merge_by", ()))
        examples = [
            (document, _written(wanted, value, f"examples[{position}]"))
            for position, (document, value) in enumerate(options.get("examples", ()))
        ]
        description = description_of(wanted)
        model = find_model(options.get("model"))
        self.task: Task = _kind_of_task(model)(
            wanted,
            model,
            description,
            options.get("instructions"),
            examples,
            options.get("thinking"),
            options.get("max_tokens", MAX_TOKENS),
            self.run.cache,
            repetition_of(options),
            options.get("system"),
            evidence or asks_for_evidence(output_type),
            options,
        )
        self.task.make_ready(self.run.search)

    def __repr__(self) -> str:
        return f"Extractor({self.task.output_type.name}, model={self.task.model.name!r})"

    def _repr_html_(self) -> str:
        """Return the model, how answers are looked for, and the type as the prompt shows it."""
        task, (_, absent, _, _) = self.task, self._given
        facts = {
            "model": task.model.name,
            "search": str(self.run.search),
            "max_tokens": f"{task.max_tokens:,}",
            "retries": f"{self.run.acceptance.retries:,}",
            "system": task.system,
            "instructions": task.instructions,
            "examples": f"{len(task.examples):,}" if task.examples else None,
            "absent": None if absent is None else str(absent),
        }
        rows = [(name, fact) for name, fact in facts.items() if fact is not None]
        return card("Extractor", task.output_type.name, table((), rows), verbatim(self.description))

    def __reduce__(self) -> tuple[Any, ...]:
        output_type, _, _, options = self._given
        check_picklable(repr(self), {"output_type": output_type, **options})
        return _made_ready, (type(self), *self._given)

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy.copy(self)  # nothing in it changes, and the model is not to be had twice

    @property
    def description(self) -> str:
        """The type, as the prompt describes it."""
        return self.task.description.text

    def __call__(self, text: TextOrChat, *, instructions: str | None = None) -> T:
        """Extract one instance from a text, or from the messages of a chat.

        `instructions` apply to this call alone, and follow those of the extractor. Raises PromptError, BudgetError or
        GenerationError.
        """
        task = self.task.with_instructions(instructions)
        warn_of_types([task])
        return cast("T", self.run.outcome([(task, text)], total=1, named="the text").only())

    @overload
    def batch(
        self, documents: Documents, *, errors: Literal["raise", "skip"] = ..., progress: bool | None = ...
    ) -> list[T]: ...
    @overload
    def batch(
        self, documents: Documents, *, errors: Literal["return"], progress: bool | None = ...
    ) -> list[T | StructuredError]: ...
    @overload
    def batch(
        self,
        documents: Documents,
        *,
        output: Output,
        resume: Resume = ...,
        evidence: bool = ...,
        errors: Errors = ...,
        progress: bool | None = ...,
    ) -> BatchSummary: ...
    @overload
    def batch(
        self,
        documents: Documents,
        *,
        evidence: Literal[True],
        errors: Literal["raise", "skip"] = ...,
        progress: bool | None = ...,
    ) -> list[Extraction[T]]: ...
    @overload
    def batch(
        self,
        documents: Documents,
        *,
        evidence: Literal[True],
        errors: Literal["return"],
        progress: bool | None = ...,
    ) -> list[Extraction[T] | StructuredError]: ...
    def batch(  # noqa: PLR0913  what tells the type of the results
        self,
        documents: Documents,
        *,
        evidence: bool = False,
        errors: Errors = "raise",
        progress: bool | None = None,
        output: Output | None = None,
        resume: Resume = "continue",
    ) -> list[Any] | BatchSummary:
        """Extract one instance from each document, and return them in order; see `extract_batch`.

        Parameters:
            documents: The texts; each may also be a list of messages.
            evidence: Whether the results are `Extraction`, with evidence; for an extractor made with `evidence`, and
                for `Extraction[Model]`, they are anyway.
            errors: As for `extract_batch`.
            progress: As for `extract_batch`.
            output: As for `extract_batch`.
            resume: As for `extract_batch`.

        Raises:
            OutputError, ImportError: As for `extract_batch`.
            BatchError: Some documents failed, with `errors="raise"`. Its `errors` are PromptError (empty, not text, too
                long), BudgetError, OutOfMemoryError (the document alone is too large) or GenerationError. If the model
                fails, its error is that of every unfinished document; it is raised as it is if there is no
                result.
        """
        check_batch(errors, progress)
        check_evidence("evidence", evidence)
        given = each_document(documents)
        task = self._task_with(evidence)
        warn_of_types([task])
        if output is not None:
            return write_batch(
                self.run,
                task,
                given,
                output,
                total=count_of(documents),
                absent=self._given[1],
                resume=resume,
                errors=errors,
                progress=progress,
            )
        work = ((task, document) for document in given)
        return self.run.outcome(work, total=count_of(documents), progress=progress).all(errors)

    @overload
    def stream_batch(
        self, documents: Documents, *, evidence: Literal[True], errors: Errors = ..., progress: bool | None = ...
    ) -> Iterator[BatchResult[Extraction[T]]]: ...
    @overload
    def stream_batch(
        self, documents: Documents, *, evidence: bool = ..., errors: Errors = ..., progress: bool | None = ...
    ) -> Iterator[BatchResult[T]]: ...
    def stream_batch(
        self, documents: Documents, *, evidence: bool = False, errors: Errors = "raise", progress: bool | None = None
    ) -> Iterator[BatchResult[Any]]:
        """Extract one instance from each document, and yield each as soon as it is there, in any order.

        The documents are read as they are needed and forgotten when they are done, so that there may be any number.

            for result in extractor.stream_batch(Path("letters")):
                print(result.document, result.value)

        Parameters:
            documents: As for `extract_batch`.
            evidence: As for `batch`.
            errors: `"raise"` raises the error of the first document that fails, `"return"` yields a result with the
                error, `"skip"` yields none.
            progress: As for `extract_batch`.

        Raises:
            ModelError: The model failed; what was finished before has been yielded. Whatever else `batch` raises.
        """
        check_batch(errors, progress)
        check_evidence("evidence", evidence)
        given, task = each_document(documents), self._task_with(evidence)
        warn_of_types([task])
        return self._streamed(given, Outcome(count_of(documents)), task, errors, progress)

    def _streamed(
        self, given: Iterator[Any], outcome: Outcome, task: Task, errors: Errors, progress: bool | None
    ) -> Iterator[BatchResult[Any]]:
        work = ((task, document) for document in given)
        with closing(self.run.finished(work, outcome, progress=progress)) as finished:  # before an error is raised
            for position, _, document in finished:
                value, error, _ = outcome.results.pop(position)
                if error is None or errors == "return":
                    yield BatchResult(position, document, value, error)
                elif errors == "raise":
                    raise error
        outcome.warn()
        outcome.check_stopped()

    async def astream_batch(
        self,
        documents: AsyncDocuments,
        *,
        evidence: bool = False,
        errors: Errors = "raise",
        progress: bool | None = None,
    ) -> AsyncIterator[BatchResult[Any]]:
        """Do what `stream_batch` does in a thread, so that the event loop is not blocked.

            async for result in extractor.astream_batch(documents):
                print(result.document, result.value)

        The documents may also be an asynchronous iterable, as for `aextract_batch`. Where the loop over the results is
        left or cancelled, the model stops after the documents that it is at.
        """
        from structured.extraction.documents.async_documents import each_in_thread, readable  # with asyncio

        with warnings_at(calling_line()):
            context = copy_context()
        async with readable(documents) as given:
            results = self.stream_batch(given, evidence=evidence, errors=errors, progress=progress)
            async with aclosing(each_in_thread(results, context)) as found:
                async for result in found:
                    yield result

    def _task_with(self, evidence: bool) -> Task:
        return replace(self.task, evidence=True) if evidence and not self.task.evidence else self.task

    def stream(self, text: TextOrChat) -> Stream[T]:
        """Return the answer to a text or messages as a `Stream`. Raises PromptError, BudgetError."""
        if self.run.search.is_of_several:
            raise ValueError("An answer can be streamed if it is the only one. Leave out beams, samples and particles.")
        warn_of_types([self.task])
        warn_of_stream(self.task.options)
        run = self.run.once
        item = self.task.item(0, text, named="the text")

        def read(generation: Generation) -> T:
            outcome = Outcome(1)
            with outcome.observed(run.observe):
                outcome.start([(0, self.task, text)])
                if not run.accept(item, [generation], outcome):
                    outcome.fail(item.position, item.rejection())
            run.save([item])
            return cast("T", outcome.only())

        pieces = self.task.stream(item, run.search, jump_forward=run.jump_forward)
        return Stream(pieces, self.task.output_type, read)

    def prompt(self, document: TextOrChat) -> str | list[dict[str, str]]:
        """Return the prompt for a document: chat messages if the model has a chat template, else plain text.

        Raises PromptError for what is no document.
        """
        return self.task.prompt(Conversation.read(document))


def _kind_of_task(model: Model) -> type[Task]:
    """Return the class of tasks for a model: it is guided here, or asked where it is."""
    if isinstance(model, LanguageModel):
        return GuidedTask
    from structured.extraction.remote_task import RemoteTask  # with what only servers need

    return RemoteTask


def make_extractor(
    output_type: object, absent: Absent | None, options: Options, *, evidence: bool = False
) -> Extractor[Any]:
    """Return an extractor for a type, or for what may be absent of it."""
    return Extractor[Any](output_type, absent=absent, evidence=evidence, **options)


def _made_ready(kind: Any, output_type: object, absent: Absent | None, evidence: bool, options: Options) -> Any:
    """Return an extractor that was pickled."""
    return kind(output_type, absent=absent, evidence=evidence, **options)


def _written(wanted: OutputType[Any], value: object, name: str) -> str:
    """Return an example's answer as the model would have to write it."""
    try:
        written: object = wanted.write(value)
    # What a validator of the type's author raises, and what no text says.
    except Exception as error:
        raise PromptError(
            f"The answer of {name}, {shown(value)}, is not of type {wanted.name}: {message_in_one_line(error)}. "
            "Correct the example."
        ) from error
    if not isinstance(written, str):
        raise SchemaError(
            f"`write` of {wanted.name} returned {described(written)} for {name}", remedy="Return the text, a str."
        )
    return written
