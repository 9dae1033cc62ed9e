"""An extractor: a type, a model and options, ready for prompts and documents."""

import copy
import dataclasses
import functools
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from contextvars import copy_context
from typing import Any, Generic, Literal, Self, Unpack, cast, get_args, overload

from typing_extensions import TypeVar

from structured.decoding.requests import Generation
from structured.decoding.sampling import SAMPLING
from structured.errors import PromptError, SchemaError, StructuredError, error_of_one
from structured.errors.arguments import check_picklable, one_of
from structured.errors.calling_line import calling_line, warnings_at
from structured.errors.values import described, message_in_one_line, shown
from structured.extraction.batch_state import BatchState
from structured.extraction.documents.document import (
    AsyncDocuments,
    Documents,
    TextLike,
    count_of,
    each_document,
    read_document,
    warn_of_path,
)
from structured.extraction.guided_task import GuidedTask
from structured.extraction.options import (
    UNCHANGED,
    ErrorPolicy,
    Options,
    check_progress,
    checked_options,
    warn_of_stream,
    with_listed_options,
)
from structured.extraction.prompts import Conversation
from structured.extraction.run import Run, save_indexes
from structured.extraction.stream import Stream
from structured.extraction.task import Task
from structured.models import LanguageModel, Model, find_model
from structured.output_types.html import card, table, verbatim
from structured.output_types.keys import check_merge_by
from structured.output_types.output_type import OutputType, check_interface, description_of
from structured.output_types.python_type import USUAL_TYPES
from structured.output_types.resolve import TypeLike, resolve_type
from structured.results.result import Provenance, Result

T = TypeVar("T", default=Any)

_SAMPLING_OPTIONS = {*SAMPLING, "max_tokens", "observe", "repetition", "retries", "search"}
"""The options that say how answers are sampled."""


class Extractor(Generic[T]):
    """A type and a model, prepared for many calls.

    `Extractor(Person)("Jason is 25 years old.")` does what `extract` does, without preparing the type again. Several
    threads may call an extractor. It is pickled as type and options; copies share the model.

    Parameters:
        output_type: As for `extract`.
        options: See `help(structured.extraction.Options)`.

    Raises:
        TypeError: An option is unknown or of the wrong kind.
        ValueError: An option has a value that is not allowed.
        SchemaError: A part of the type cannot be enforced exactly.
        ModelError: The model cannot be loaded.
        VocabularyError: The tokenizer cannot be used, or cannot spell any answer of the type.
    """

    @with_listed_options()
    def __init__(self, output_type: TypeLike[T], **options: Unpack[Options]) -> None:
        options = checked_options(options)
        self._arguments = (output_type, options)
        missing, grounded = options.get("allow_missing"), options.get("grounded")
        resolved_type = resolve_type(output_type, missing, options.get("layout"), grounded=grounded)
        self._run = Run.of(options)
        check_interface(resolved_type)  # before a model is loaded
        if output_type is None or output_type is type(None):
            raise SchemaError("The type is None, so there is nothing to extract", remedy=f"Pass {USUAL_TYPES}.")
        chunking = options.get("chunking")
        if chunking and chunking.merge_by:
            check_merge_by(resolved_type, chunking.merge_by)
        examples = [
            (document, _answer_text(resolved_type, value, f"examples[{position}]"))
            for position, (document, value) in enumerate(options.get("examples", ()))
        ]
        description = description_of(resolved_type)
        model = find_model(options.get("model"))
        kind: type[Task] = GuidedTask
        if not isinstance(model, LanguageModel):
            from structured.extraction.remote_task import RemoteTask  # with what only servers need

            kind = RemoteTask
        self._task: Task = kind(resolved_type, model, description, options.get("instructions"), examples, options)
        self._task.make_ready(self._run.search)

    def __repr__(self) -> str:
        return f"Extractor({self._task.output_type.name}, model={self._task.model.name!r})"

    def _repr_html_(self) -> str:
        """Return the model, how answers are looked for, and the type as the prompt shows it."""
        task, missing = self._task, self._arguments[1].get("allow_missing")
        facts = {
            "model": task.model.name,
            "search": str(self._run.search),
            "max_tokens": f"{task.max_tokens:,}",
            "retries": f"{self._run.options['retries']:,}",
            "system": task.system,
            "instructions": task.instructions,
            "examples": f"{len(task.examples):,}" if task.examples else None,
            "allow_missing": None if missing is None else str(missing),
        }
        rows = [(name, fact) for name, fact in facts.items() if fact is not None]
        return card("Extractor", task.output_type.name, table((), rows), verbatim(self.description))

    def __reduce__(self) -> tuple[Any, ...]:
        output_type, options = self._arguments
        check_picklable(repr(self), {"output_type": output_type, **options})
        return functools.partial(type(self), output_type, **options), ()

    def __copy__(self) -> Self:
        return self._twin()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy.copy(self)  # nothing in it changes, and the model is not to be had twice

    @with_listed_options(names=_SAMPLING_OPTIONS, defaults=dict.fromkeys(_SAMPLING_OPTIONS, UNCHANGED))
    def with_options(self, **options: Unpack[Options]) -> Self:
        """Return the extractor under other options, which say only how answers are sampled; the type stays prepared.

        These are `max_tokens`, `observe`, `retries`, `repetition`, `search` and the options of sampling. Raises
        TypeError for others.
        """
        output_type, options_before = self._arguments
        others = sorted(options.keys() - _SAMPLING_OPTIONS)
        if others:
            raise TypeError(
                f"with_options does not take {', '.join(others)}, which the type, its prompt or the batches depend on. "
                "Make another Extractor."
            )
        checked = checked_options(cast("Options", {**options_before, **options}))
        return self._twin(
            _arguments=(output_type, checked), _run=Run.of(checked), _task=self._task.with_options(checked)
        )

    def verbatim(self) -> Self:
        """Return the extractor whose prompt is the text or the chat itself, without a word of the library's."""
        return self._twin(_task=dataclasses.replace(self._task, is_verbatim=True))

    def with_alternatives(self, count: int) -> Self:
        """Return the extractor that records the likeliest tokens beside each sampled one, in `generations`."""
        return self._twin(_task=dataclasses.replace(self._task, alternatives=count))

    def _twin(self, **members: Any) -> Self:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self), **members)
        return twin

    @property
    def memory(self) -> int:
        """The bytes that the index of its answers takes, roughly; 0 where none is made yet, or a server has it."""
        return self._task.memory if isinstance(self._task, GuidedTask) else 0

    @property
    def output_type(self) -> OutputType[Any]:
        """The type, as the library reads it."""
        return self._task.output_type

    @property
    def model(self) -> Model:
        """The model."""
        return self._task.model

    @property
    def provenance(self) -> Provenance:
        """The type, the model, the prompt and the options that decide its answers."""
        return self._task.provenance

    @property
    def description(self) -> str:
        """The type, as the prompt describes it."""
        return self._task.description.text

    def __call__(self, text: TextLike, *, instructions: str | None = None, progress: bool | None = None) -> T:
        """Extract one instance from a text, or from whatever else `extract` takes as one.

        `instructions` apply to this call alone, and follow those of the extractor. `progress` is as for `extract`.
        Raises PromptError, BudgetError, GenerationError or MissingError.
        """
        name = "the text"
        return result_for(self, text, instructions, document_name=name, wants_confidence=False, progress=progress).value

    def result(self, text: TextLike, *, instructions: str | None = None, progress: bool | None = None) -> Result[T]:
        """Extract one instance from a text, and return it with its evidence; see `Result`.

        Raises PromptError, BudgetError or GenerationError.
        """
        return result_for(self, text, instructions, document_name="the text", progress=progress)

    def results(
        self, documents: Documents, *, progress: bool | None = None, document_name: str | None = None
    ) -> Iterator[Result[T]]:
        """Extract one instance from each document, and yield each result as soon as it is there, in any order.

        The documents are read as they are needed and forgotten when they are done, so that there may be any number.

            for result in extractor.results(Path("letters")):
                print(result.id, result.error or result.value)

        Parameters:
            documents: As for `extract_batch`.
            progress: As for `extract_batch`.
            document_name: What errors call each document, such as "the text"; by default, they name its id or position.

        Raises:
            PromptError: `documents` is one text, or one list of messages.
            ModelError: The model failed; what was finished before has been yielded.
        """
        check_progress(progress)
        work = ((self._task.with_confidence, document) for document in each_document(documents))
        self._task.with_confidence.warn_of_unused()
        return self._run.results(work, BatchState(count_of(documents)), progress=progress, document_name=document_name)

    async def aresults(
        self, documents: AsyncDocuments, *, progress: bool | None = None
    ) -> AsyncGenerator[Result[T], None]:
        """Do what `results` does in a thread, so that the event loop is not blocked.

            async for result in extractor.aresults(documents):
                print(result.id, result.error or result.value)

        The documents may also be an asynchronous iterable. Where the loop over the results is left or cancelled, the
        model stops after the documents that it is at.
        """
        from structured.extraction.documents.async_documents import each_in_thread, readable  # with asyncio

        with warnings_at(calling_line()):
            context = copy_context()
        async with (
            readable(documents) as readable_documents,
            aclosing(each_in_thread(self.results(readable_documents, progress=progress), context)) as results,
        ):
            async for result in results:
                yield result

    @overload
    def batch(
        self, documents: Documents, *, errors: Literal["raise", "skip"] = ..., progress: bool | None = ...
    ) -> list[T]: ...
    @overload
    def batch(
        self, documents: Documents, *, errors: Literal["return"], progress: bool | None = ...
    ) -> list[T | StructuredError]: ...
    def batch(self, documents: Documents, *, errors: ErrorPolicy = "raise", progress: bool | None = None) -> list[Any]:
        """Extract one instance from each document, and return them in order; see `extract_batch`.

        Raises:
            BatchError: Some documents failed, with `errors="raise"`. Its `errors` are PromptError (empty, not text, too
                long), BudgetError, OutOfMemoryError (the document alone is too large), GenerationError, MissingError,
                or a StructuredError whose `__cause__` is any other exception. If the model fails, its error is that of
                every unfinished document; it is raised as it is if there is no value.
        """
        one_of(get_args(ErrorPolicy))("errors", errors)
        check_progress(progress)
        waiting_documents = ((self._task, document) for document in each_document(documents))
        self._task.warn_of_unused()
        return self._run.values(waiting_documents, total=count_of(documents), errors=errors, progress=progress)

    def stream(self, text: TextLike) -> Stream[T]:
        """Return the answer to a text or messages as a `Stream`. Raises PromptError, BudgetError."""
        if self._run.search.is_of_several:
            raise ValueError("An answer can be streamed if it is the only one. Leave out search.")
        task, run = self._task.with_confidence, self._run
        task.warn_of_unused()
        warn_of_stream(task.passed_options)
        warn_of_path(text)
        try:
            item = task.item(0, text, document_name="the text")
            pieces = task.stream(item, run.search, jump_forward=run.options["jump_forward"])
        except StructuredError:
            raise
        except Exception as error:
            raise error_of_one(error, "Reading the text") from error

        def read(generation: Generation) -> Result[T]:
            state = BatchState(1)
            with state.observed(run.options.get("observe")):
                state.start_document(0, task, text)
                if not run.accept(item, [generation], state):
                    state.add_failure(item.position, text, item.rejection())
            save_indexes([item])
            state.warn()
            (result,) = state.take_results()
            if result.error is not None:
                raise result.error
            return result

        return Stream(pieces, task.output_type, read)

    def prompt(self, document: TextLike) -> str | list[dict[str, str]]:
        """Return the prompt for a document: chat messages if the model has a chat template, else plain text.

        Raises PromptError for what is no document.
        """
        return self._task.prompt(Conversation.read(read_document(document).text))


def task_and_run(extractor: Extractor[Any]) -> tuple[Task, Run]:
    """Return how an extractor reads a document, and how it looks for answers."""
    return extractor._task, extractor._run  # noqa: SLF001  for the other calls of this package alone


def result_for(  # noqa: PLR0913  what a call of one text may say, by name
    extractor: Extractor[T],
    document: TextLike,
    instructions: str | None,
    *,
    document_name: str,
    wants_confidence: bool = True,
    progress: bool | None = None,
) -> Result[T]:
    """Return the result for a document that errors call by a name; its evidence tells confidences if asked to."""
    task, run = task_and_run(extractor)
    task = (task.with_confidence if wants_confidence else task).with_instructions(instructions)
    task.warn_of_unused()
    warn_of_path(document)
    check_progress(progress)
    (result,) = run.results([(task, document)], BatchState(1), progress=progress, document_name=document_name)
    if result.error is not None:
        raise result.error
    return result


def _answer_text(output_type: OutputType[Any], value: object, name: str) -> str:
    """Return an example's answer as the model would have to write it."""
    try:
        text: object = output_type.write(value)
    # What a validator of the type's author raises, and what no text says.
    except Exception as error:
        raise PromptError(
            f"The answer of {name}, {shown(value)}, is not of type {output_type.name}: {message_in_one_line(error)}. "
            "Correct the example."
        ) from error
    if not isinstance(text, str):
        raise SchemaError(
            f"`write` of {output_type.name} returned {described(text)} for {name}", remedy="Return the text, a str."
        )
    return text
