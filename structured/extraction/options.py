"""Options of a call: their names, their checks, and the warnings about those that do nothing."""

import dataclasses
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, cast, get_args

from structured.decoding.generate import DEFAULT_BATCH_SIZE
from structured.decoding.repetition import Repetition
from structured.decoding.requests import Thinking
from structured.decoding.sampling import SAMPLING, Sampler
from structured.decoding.strategy import Beams, Samples, Search, SearchMethod
from structured.errors import OptionWarning
from structured.errors.arguments import (
    anything,
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
from structured.errors.values import message, shown
from structured.extraction.documents.chunks import DEFAULT_CHUNKING, Chunking
from structured.extraction.events import Listener
from structured.models.load import OTHER_NAMES, ModelSource, load_model
from structured.output_types.json_output import DEFAULT_LAYOUT, JsonLayout
from structured.output_types.output_type import OutputType
from structured.output_types.paths import FieldSelection
from structured.output_types.python_type import type_name
from structured.results.evidence import Calibration

ErrorPolicy = Literal["raise", "return", "skip"]
"""How to treat the documents that fail: raise a BatchError in the end, return their errors in place of values, or skip
them."""

Repair = Literal["field", "told", "whole"]
"""What is written again after an answer was rejected: the values that were, and the model may be told why; or all."""

MIN_RETRIES_OF_TOLD = 2
"""The fewest retries with which `repair="told"` has an effect: the last retry writes the whole answer again."""


DEFAULTS: Mapping[str, Any] = {
    "layout": DEFAULT_LAYOUT,
    **{field.name: field.default for field in dataclasses.fields(Sampler) if field.default is not None},
    "repetition": Repetition(),
    "examples": (),
    "jump_forward": True,
    "search": Samples(1),
    "max_tokens": 1024,
    "retries": 3,
    "repair": "field",
    "batch_size": DEFAULT_BATCH_SIZE,
    "cache": True,
    "chunking": DEFAULT_CHUNKING,
}
"""What options are that nobody passes; the others are None."""


class Options(TypedDict, total=False):
    """The options of `extract`, `extract_batch`, `structured` and `Extractor`.

    A function of yours can pass them on with their types: `def mine(**options: Unpack[Options])`. Options are checked
    when they are passed. Numbers may be NumPy's; True and False are not numbers. None stands for the default if the
    type allows None.

    Attributes:
        model: The model, as `load_model` takes it, or the address of one behind a server, as `connect` takes it.
            Default: the model that STRUCTURED_MODEL names, or the packaged model.
        instructions: The task, in your own words; it stands before the document. Default: none.
        system: A system prompt: the first message for a model with a chat template, and the beginning of the prompt
            for any other model. Default: none.
        examples: Pairs of a document and the right answer, an instance of the type. Default: none.
        grounded: The values that the text has to state: strings that it contains as whole words, and numbers and dates
            that it contains in any form. True grounds every value except enums and booleans. Strings that may be
            null or are in lists are checked afterwards instead: they are removed if the text does not contain them,
            and so are surplus copies of list items. A list of paths, as for `allow_missing`, grounds these values
            alone; `tags[]` stands for the items of a list. Default: the values that the type marks as `Grounded`.
        allow_missing: The fields that the text may leave out. True allows it for every field that is neither optional
            nor a list and, in a `JsonSchema`, for every property that is not required. A list of paths, as
            `inspect_type` shows them, allows it for these fields alone: `["age", "lines[].price"]`. The fields that
            are left out have their defaults, and the result lists them in `missing`. Default: none.
        layout: The whitespace of JSON texts, and which optional properties they have: a `JsonLayout`. Default: spaced,
            as `json.dumps` writes, with all properties.
        temperature: How evenly tokens are sampled: from softmax(logits / temperature). Default: 0, which takes the
            likeliest token.
        top_k: The most tokens to sample from, the likeliest that are allowed. Default: no limit.
        top_p: Only the likeliest tokens that together have this probability are sampled. Default: 1.
        min_p: Only tokens that are at least this fraction as likely as the likeliest are sampled. Default: 0.
        repetition: How repetition is treated: a `Repetition`. Default: a string or a list that repeats itself at its
            end is closed.
        jump_forward: Whether tokens that the type determines, such as field names, are appended without asking the
            model, and probable tokens are proposed ahead (speculation). Default: True. Every answer stays possible;
            with a temperature, the same seed samples another one.
        thinking: Lets a reasoning model write freely, up to a marker, before its answer: a `Thinking`. Default: none.
        seed: Makes sampling repeatable. Each document and each attempt has random numbers of its own. Default:
            none.
        search: How an answer is searched for: `Beams(4)`, `Samples(5, vote=True)` or `Particles(16)`, each with the
            number of candidates. Default: one text, greedy or sampled.
        max_tokens: The most tokens in one answer. Default: 1,024; never more than the context leaves. A longer
            answer is completed as briefly as the type allows, with a BudgetWarning.
        retries: How often an answer that validators reject is sampled again. Default: 3. Retries of greedy
            answers and of beam search use temperature 0.7.
        repair: The part of a rejected answer that a retry writes again. "field" (default): the values that Pydantic's
            errors name; the other values are kept, and cost nothing. "told": the same, and the model is told the
            errors. "whole": the whole answer. The last retry writes the whole answer in any case, and so does a retry
            after an error of the whole answer.
        calibration: Turns confidences into shares of values that are right: a `Calibration`, or the path of one.
            Default: none; a confidence is then the probability that the model gave.
        batch_size: The most documents that go through the model at once. Default: 8.
        batch_tokens: The most tokens in the model's memory at once, prompts and whole budgets included, unless one text
            or one beam search needs more. Default: no limit. A batch that does not fit on a GPU is halved in any case.
        chunking: How a document that is too long is read in chunks, and how their answers are merged: a `Chunking`.
            Default: in chunks that fit the context.
        observe: A function that is called with each event of the call as it happens: see `events`. An error that it
            raises ends the call. Default: none.
        cache: Whether masks are kept on disk for later processes. Default: True.
    """

    model: ModelSource | None
    instructions: str | None
    system: str | None
    examples: Sequence[tuple[str, object]]
    grounded: FieldSelection | None
    allow_missing: FieldSelection | None
    layout: JsonLayout | None
    temperature: float
    top_k: int | None
    top_p: float
    min_p: float
    repetition: Repetition | None
    jump_forward: bool
    thinking: Thinking | None
    seed: int | None
    search: SearchMethod | None
    max_tokens: int
    retries: int
    repair: Repair
    calibration: Calibration | str | Path | None
    batch_size: int
    batch_tokens: int | None
    chunking: Chunking | None
    observe: Listener | None
    cache: bool


def _calibration(name: str, value: Any) -> Calibration:
    """Return a calibration, or that which a path leads to."""
    if isinstance(value, str | Path):
        try:
            return Calibration.load(value)
        except OSError as error:
            remedy = "Pass the path of a file that Calibration.save wrote."
            raise ValueError(f"{name} is {shown(value)}, and cannot be read: {message(error)}. {remedy}") from error
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    calibration: Calibration = instance(Calibration, "Calibration.load('calibration.json'), or a path")(name, value)
    return calibration


def _search_method(name: str, value: Any) -> SearchMethod:
    """Return a method of search."""
    if not isinstance(value, SearchMethod):
        *examples, last = (kind.EXAMPLE for kind in get_args(SearchMethod))
        raise TypeError(f"{name} is {shown(value)}; it must be {', '.join(examples)} or {last}, or None.")
    return value


def _listener(name: str, value: Any) -> Listener:
    """Return a function that can be called with one event."""
    listener: Listener = function(name, value)
    try:
        inspect.signature(listener).bind(None)
    except TypeError as error:
        raise TypeError(
            f"{name} is {shown(value)}; it is called with one event, and that is not what it takes: {message(error)}. "
            "Write it as def listener(event)."
        ) from None
    except ValueError:  # a function of C, which does not say
        pass
    return listener


_CHECKS = {
    "model": anything,  # by `load_model`
    "instructions": or_none(text),
    "system": or_none(text),
    "examples": pairs,
    "grounded": or_none(paths),
    "allow_missing": or_none(paths),
    "layout": or_none(instance(JsonLayout, "JsonLayout('compact')")),
    **SAMPLING,
    "repetition": or_none(instance(Repetition, "Repetition(penalty=1.2)")),
    "jump_forward": flag,
    "thinking": or_none(instance(Thinking, "Thinking('</think>')")),
    "search": or_none(_search_method),
    "max_tokens": count(1),
    "retries": count(0),
    "repair": one_of(get_args(Repair)),
    "calibration": or_none(_calibration),
    "batch_size": count(1),
    "batch_tokens": or_none(count(1)),
    "chunking": or_none(instance(Chunking, "Chunking(tokens=2000)")),
    "observe": or_none(_listener),
    "cache": flag,
}
"""What each of the `Options` must be."""


_HINTS = {
    **dict.fromkeys(("beam_width", "beams", "num_beams"), "Pass search=Beams(4)."),
    **dict.fromkeys(("best_of", "n", "num_return_sequences", "samples"), "Pass search=Samples(5)."),
    **dict.fromkeys(("choose", "vote"), "Pass search=Samples(5, vote=True)."),
    "particles": "Pass search=Particles(16).",
    **dict.fromkeys(
        ("frequency_penalty", "penalty", "presence_penalty", "repetition_penalty"),
        "Pass repetition=Repetition(penalty=…).",
    ),
    "no_repeat_ngram_size": "Pass repetition=Repetition(no_repeat_ngram_size=…).",
    "stop_repetition": "Pass repetition=Repetition(stop=…).",
    "stop": "An answer ends where its type does. Ask for Text(stop=…).",
    "chunk_tokens": "Pass chunking=Chunking(tokens=…).",
    "overlap": "Chunks overlap by themselves. Pass chunking=Chunking(tokens=…).",
    "merge_by": "Pass chunking=Chunking(merge_by=[…]).",
    "passes": "Pass chunking=Chunking(passes=…).",
    "prefer": "Pass chunking=Chunking(prefer=…).",
    "tokens": "Pass max_tokens, for the answer, or chunking=Chunking(tokens=…), for the text.",
    "max_new_tokens": "It is called max_tokens.",
    "max_retries": "It is called retries.",
    **dict.fromkeys(("response_model", "schema", "output_schema"), "Pass the type first: extract(Model, text)."),
    **dict.fromkeys(("few_shot", "fewshot"), "It is called examples."),
    **dict.fromkeys(("logprobs", "top_logprobs"), "Each result has its confidence: Extractor(…).result(text)."),
    "tools": "Pass functions(…) as the type.",
    "timeout": "An answer ends by max_tokens.",
    **dict.fromkeys(
        ("max_workers", "n_jobs", "num_workers"), "Pass batch_size: documents go through the model together."
    ),
    **dict.fromkeys(
        ("quantization", "load_in_4bit", "load_in_8bit"), "Pass a GGUF file, or (model, tokenizer), as the model."
    ),
    "absent": "It is called allow_missing.",
    "prompt": "It is called instructions.",
    "random_seed": "It is called seed.",
    "system_prompt": "It is called system.",
    "messages": "Pass them in place of the text.",
    **{
        other: f"Pass model=load_model(…, {name}=…)."
        for name in inspect.signature(load_model).parameters
        for other in (name, *(other for other, ours in OTHER_NAMES.items() if ours == name))
        if name != "source"
    },
    **dict.fromkeys(("model_id", "model_name", "model_path", "repo_id"), "It is called model."),
    **dict.fromkeys(("optional", "optional_properties"), "Pass layout=JsonLayout(optional_properties=…)."),
    "whitespace": "Pass layout=JsonLayout(…).",
    "errors": "errors belongs to extract_batch.",
    "progress": "progress belongs to a call: extract(…, progress=False), or extract_batch.",
    **dict.fromkeys(("output", "resume"), "Use write_results(…)."),
    "stream": "Use Extractor(...).stream(text).",
    "evidence": "Each result has it: Extractor(…).result(text), or extract_results(…).",
    "repair_below": "Nothing is written again for its confidence. Review what results have little confidence in.",
}
"""What to write in place of names that are no options: those of other calls, and those of other libraries."""

_NOT_SAMPLED = "classify samples nothing: it scores each value as a whole. Leave it out, or use extract."
_ONE_TEXT = "classify takes one text. Leave it out."
_ONE_ANSWER = "An answer in a draft is taken or rejected as a whole. Leave it out, or use extract."

CallWithOptions: TypeAlias = Literal["extract", "structured", "classify", "draft"]
"""The kinds of calls that take options, by the options that they refuse."""

_REFUSED: Mapping[CallWithOptions, Mapping[str, str]] = {
    "extract": {},
    "structured": {"evidence": "Annotate the function: -> Result[Model]."},
    "classify": {
        **dict.fromkeys((*SAMPLING, "repetition", "search", "jump_forward", "max_tokens", "observe"), _NOT_SAMPLED),
        **dict.fromkeys(("retries", "repair"), _NOT_SAMPLED),
        **dict.fromkeys(("batch_size", "batch_tokens", "errors", "progress"), _ONE_TEXT),
        "chunking": "classify reads a text as a whole.",
        "allow_missing": "Classify by a type that allows None: it says that nothing is stated.",
        "calibration": "Learn one from what classify says, and apply it: calibration.apply(answer.confidence).",
        "evidence": "A classification tells how probable each value is. Use extract for evidence.",
        "thinking": "classify scores what follows the prompt. Use extract, which lets the model think first.",
    },
    "draft": {
        **dict.fromkeys(("instructions", "system", "examples"), "A draft is the prompt itself: write it there."),
        **dict.fromkeys(("grounded", "layout", "allow_missing"), "Pass it with the type: Json(…)."),
        **dict.fromkeys(("search", "chunking"), "A draft is one text. Leave it out."),
        **dict.fromkeys(("batch_size", "batch_tokens", "errors", "progress"), "A draft is one text. Leave it out."),
        **dict.fromkeys(("repair", "calibration", "evidence"), _ONE_ANSWER),
        "thinking": "Let the model think in the draft: draft.ask(Text(stop='</think>')).",
        "observe": "Look at draft.text after each answer.",
    },
}
"""For each kind of call what to do in place of the options that it does not take."""

OPTION_TYPES: Mapping[str, str] = {name: type_name(annotation) for name, annotation in Options.__annotations__.items()}
"""The type of each option, as signatures and the reference show it."""


class _PlainText(str):
    """A type or a default in a signature: a text that is shown without quotation marks."""

    __slots__ = ()
    __repr__ = str.__str__


UNCHANGED = _PlainText("...")
"""The default of an option that stays as it is, in a signature."""


class _Signature(inspect.Signature):
    """A signature of which `help` shows one parameter in each line."""

    __slots__ = ()

    def __str__(self) -> str:
        lines: list[str] = []
        for kind, parameters in groupby(self.parameters.values(), lambda parameter: parameter.kind):
            lines += ["*"] if kind is inspect.Parameter.KEYWORD_ONLY else []
            lines += map(str, parameters)
            lines += ["/"] if kind is inspect.Parameter.POSITIONAL_ONLY else []
        return "".join(("(", *(f"\n    {line}," for line in lines), f"\n) -> {self.return_annotation!r}"))


F = TypeVar("F", bound=Callable[..., Any])


def with_listed_options(
    call: CallWithOptions = "extract", *, names: Collection[str] = OPTION_TYPES, defaults: Mapping[str, Any] = DEFAULTS
) -> Callable[[F], F]:
    """Return a decorator that lists the options of a call in the signature of a function that takes `**options`.

    So `help`, IPython and notebooks show each with its type and default. Type checkers know them by `Unpack[Options]`.
    """
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=_PlainText(text))
        for name, text in OPTION_TYPES.items()
        if name in names and name not in _REFUSED[call]
    ]

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        *parameters, _ = signature.parameters.values()
        listed = [*(one.replace(annotation=_type_text(one.annotation)) for one in parameters), *options]
        function.__signature__ = _Signature(listed, return_annotation=_type_text(signature.return_annotation))  # type: ignore[attr-defined]  # of functions
        return function

    return decorate


def _type_text(annotation: Any) -> Any:
    """Return an annotation as a signature shows it."""
    if annotation is inspect.Signature.empty:
        return annotation
    return _PlainText(annotation if isinstance(annotation, str) else type_name(annotation))


def check_progress(progress: bool | None) -> None:
    """Raise TypeError for what is neither a truth value nor None."""
    or_none(flag)("progress", progress)


def checked_options(options: Options, call: CallWithOptions = "extract") -> Options:
    """Return options as they are kept. Raises TypeError for unknown names and wrong kinds, and ValueError."""
    refused_names = _REFUSED[call]
    checks = {name: check for name, check in _CHECKS.items() if name not in refused_names}
    return cast("Options", checked(checks, options, {**_HINTS, **refused_names}))


def with_defaults(options: Options) -> Options:
    """Return options with the defaults of those that are left out, or None."""
    chosen = {name: value for name, value in options.items() if value is not None}
    return cast("Options", {**DEFAULTS, **chosen})


def search_of(options: Options) -> Search:
    """Return how answers are searched for. Raises ValueError for options that exclude each other."""
    values: Mapping[str, Any] = options
    sampler = Sampler(**{name: values[name] for name in SAMPLING if name in values})
    search = Search(sampler, options.get("search") or Samples(1))
    if options.get("thinking") is not None and isinstance(search.method, Beams):
        problem = f"search is {search.method}, which cannot be combined with thinking"
        raise ValueError(f"{problem}. Take Samples, and let them vote.")
    return search


def warn_of_search(sampler: Sampler, options: Options) -> None:
    """Warn of options that were chosen where they do nothing; a seed counts where an answer may be sampled again."""
    retries = options.get("retries", DEFAULTS["retries"])
    exception = ", unless validators reject an answer and it is sampled again" if retries else ""
    unused = [name for name in sampler.unused_fields if name != "seed" or not retries]
    why = f"at temperature 0, where the likeliest token is taken{exception}"
    _warn(unused, why, "Set a temperature, such as 0.7,")
    if retries < MIN_RETRIES_OF_TOLD:
        why = f"with retries={retries}, since the last retry writes the whole answer again"
        _warn(_told_repair(options), why, f"Set retries, to {MIN_RETRIES_OF_TOLD} or more,")


def warn_of_type(options: Options, output_type: OutputType[Any], *, wants_confidence: bool) -> None:
    """Warn of options that do nothing for a type, or where no confidence is returned."""
    if options.get("calibration") is not None and not wants_confidence:
        remedy = "Take results, by extract_results or Extractor(…).result(text),"
        _warn(["calibration"], "where no confidence is returned", remedy)
    if output_type.root is None:
        answers, remedy = f"on {output_type.name}, whose answers are no JSON and", "Ask for a type of Pydantic,"
        _warn(_told_repair(options), f"{answers} are written again as a whole", remedy)
        _warn(_chosen(options, "chunking"), f"{answers} cannot be merged", remedy)


def warn_of_stream(options: Options) -> None:
    """Warn of options that do nothing where an answer is streamed, which has been shown when it is rejected."""
    unused = _chosen(options, "retries", "repair")
    _warn(unused, "on a stream, which is not written again", "Call the extractor,")
    _warn(_chosen(options, "chunking"), "on a stream, which reads its text at once", "Call the extractor,")


def _chosen(options: Options, *names: str) -> list[str]:
    return [name for name in names if options.get(name)]


def _told_repair(options: Options) -> list[str]:
    return ["repair='told'"] if options.get("repair") == "told" else []


def _warn(names: Sequence[str], why: str, remedy: str) -> None:
    """Warn of options that were chosen and do nothing, if there are any."""
    if not names:
        return
    have = "has" if len(names) == 1 else "have"
    left_out = f"or leave {' and '.join(names)} out."
    warn(OptionWarning(f"{', '.join(names)} {have} no effect {why}. {remedy} {left_out}"))
