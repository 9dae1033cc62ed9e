"""Options of a call: their names, what each must be, and what follows from them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict, cast, get_args

from structured.decoding.generate import Generation
from structured.decoding.reasoning import Thinking
from structured.decoding.sampling import SAMPLING, Sampler
from structured.decoding.strategy import SEARCH, Choose, Search
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
from structured.json_schema.document.place import Optionals
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, check_whitespace
from structured.models import ModelSource
from structured.output_types.json_output import Layout

Errors = Literal["raise", "return"]
"""What becomes of the documents that fail: a BatchError in the end, or the error of each in place of its result."""

MAX_TOKENS = 1024
"""Tokens of one answer, unless the caller or the model's context says otherwise."""

RETRIES = 3
"""How often a rejected answer is sampled anew, unless the caller says otherwise."""


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


def layout_of(options: Options) -> Layout:
    """Return how the values of types and JSON Schemas are written."""
    return Layout(options.get("whitespace", DEFAULT_WHITESPACE), options.get("optional", "written"))


def search_of(options: Options) -> Search:
    """Return how answers are searched for. Raises ValueError for options that exclude each other."""
    given: Mapping[str, Any] = options
    sampler = Sampler(**{name: given[name] for name in SAMPLING if name in given})
    search = Search(sampler, **{name: given[name] for name in SEARCH if name in given})
    if options.get("thinking") is not None and search.beams > 1:
        raise ValueError(
            f"beams is {search.beams}, with thinking; a search would go for thoughts that differ in a word. "
            "Draw samples, and let them vote."
        )
    _warn_of_idle(sampler, options.get("retries", RETRIES))
    return search


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
