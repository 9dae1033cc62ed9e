"""Options that were chosen and do nothing: a warning says which, why, and what they would need."""

from collections.abc import Sequence

from structured.decoding.sampling import Sampler
from structured.errors import OptionWarning
from structured.errors.calling_line import warn
from structured.extraction.options import MIN_TOLD, RETRIES, Options
from structured.extraction.task import Task


def warn_of_search(sampler: Sampler, options: Options) -> None:
    """Warn of options that were chosen where they do nothing; a seed counts where an answer may be sampled again."""
    retries = options.get("retries", RETRIES)
    idle = [name for name in sampler.idle if name != "seed" or not retries]
    if idle:
        again = ", unless validators reject an answer and it is sampled again" if retries else ""
        why = f"at temperature 0, where the likeliest token is taken{again}"
        _warn(idle, why, "Set a temperature, such as 0.7,")
    if options.get("repair_below") and not retries:
        _warn(["repair_below"], "with retries=0, where nothing is written again", "Set retries, to 1 say,")
    if options.get("repair") == "told" and retries < MIN_TOLD:
        why = f"with retries={retries}, since the last retry writes the whole answer again"
        _warn(["repair='told'"], why, f"Set retries, to {MIN_TOLD} or more,")


def warn_of_types(tasks: Sequence[Task]) -> None:
    """Warn of options that do nothing for the types of some tasks, which have the same."""
    if not tasks:
        return
    options, types = tasks[0].options, [task.output_type for task in tasks]
    repair_below = options.get("repair_below", 0.0)
    if options.get("calibration") is not None and not (tasks[0].is_weighed or repair_below):
        remedy = "Take results, by extract_results or Extractor(…).result(text),"
        _warn(["calibration"], "where no confidence is returned", remedy)
    if all(one.root is None for one in types):
        told = options.get("repair") == "told"
        names = ["repair_below"] * bool(repair_below) + ["repair='told'"] * told
        for idle, hence in ((names, "are written again as a whole"), (_chunking(options), "cannot be merged")):
            if idle:
                _warn(idle, f"on {types[0].name}, whose answers are no JSON and {hence}", "Ask for a type of Pydantic,")


def warn_of_stream(options: Options) -> None:
    """Warn of options that do nothing where an answer is streamed, which has been shown when it is rejected."""
    idle = [name for name in ("retries", "repair", "repair_below") if options.get(name)]
    if idle:
        _warn(idle, "on a stream, which is not written again", "Call the extractor,")
    idle = _chunking(options)
    if idle:
        _warn(idle, "on a stream, which reads its text at once", "Call the extractor,")


def _chunking(options: Options) -> list[str]:
    return ["chunking"] if options.get("chunking") else []


def _warn(names: Sequence[str], why: str, remedy: str) -> None:
    """Warn of options that were chosen and do nothing."""
    have = "has" if len(names) == 1 else "have"
    left_out = f"or leave {' and '.join(names)} out."
    warn(OptionWarning(f"{', '.join(names)} {have} no effect {why}. {remedy} {left_out}"))
