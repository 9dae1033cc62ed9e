"""Options that need what a server does not give: they are refused before anything is sent."""

from collections.abc import Mapping

from structured.decoding.repetition import Repetition
from structured.decoding.strategy import Beams, Particles, Search
from structured.errors.values import shown
from structured.extraction.options import Options
from structured.models.remote.model import RemoteModel
from structured.output_types.json_output import DEFAULT_LAYOUT

_LOGITS = "It needs the model's logits, and a server gives texts."
_ANY = object()

_REFUSED: Mapping[str, tuple[object, str]] = {
    "batch_tokens": (None, "The server plans its memory itself. Set batch_size: the requests under way at a time."),
    "chunking": (None, "A server does not say how many tokens a text has, so that none is split."),
    "jump_forward": (_ANY, _LOGITS),
    "repair_below": (0, "A server cannot go on with a part of an answer."),
    "repetition": (None, "What is done about repetition is a setting of the server."),
    "thinking": (None, "Reasoning is a setting of the server."),
}
"""Options, each with the value that asks for nothing, and why others are refused."""


def refuse_options(model: RemoteModel, options: Options, search: Search) -> None:
    """Raise ValueError for options that a model behind a server cannot have."""
    for name, value in options.items():
        if name in _REFUSED and value != _REFUSED[name][0] and not (name == "repetition" and _is_known(model, value)):
            raise ValueError(
                f"{name} is {shown(value)}, and {model.name} is a server. {_REFUSED[name][1]} Leave it out."
            )
    if options.get("repair") == "field":
        raise ValueError(
            f"repair is 'field', and {model.name} is a server, which cannot go on with a part of an answer. Take "
            "'told' (the model is told what was wrong, and writes all of it again) or 'whole'."
        )
    if isinstance(search.method, Beams | Particles) and search.is_of_several:
        raise ValueError(f"search is {search.method}, and {model.name} is a server. {_LOGITS} Take Samples.")
    layout = options.get("layout", DEFAULT_LAYOUT)
    if layout.whitespace not in (DEFAULT_LAYOUT.whitespace, "any"):
        raise ValueError(f"layout is {layout}, and {model.name} lays JSON out itself. Leave its whitespace out.")
    _refuse_for_form(model, options, search)


def _is_known(model: RemoteModel, repetition: object) -> bool:
    """Tell whether a server takes what is asked about repetition."""
    is_stop_alone = repetition in (None, Repetition(), Repetition(stop=False))
    return is_stop_alone and "stop_repetition" in model.form.options


def _refuse_for_form(model: RemoteModel, options: Options, search: Search) -> None:
    """Raise ValueError for options that one kind of server does not know."""
    form = model.form
    unknown = [name for name in search.sampler.chosen if name not in form.options]
    if unknown:
        raise ValueError(f"{form.server} does not know {' and '.join(unknown)}. Leave what it does not know out.")
    if search.samples > 1 and not search.is_vote and not form.tells_probabilities:
        raise ValueError(f"{form.server} does not say how likely a sample is. Pass vote=True to Samples.")
    if options.get("examples") and form.writes_prompts and model.enforced:
        raise ValueError(f"{form.server} makes the prompts itself, and takes no examples. Leave them out.")
