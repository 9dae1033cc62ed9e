"""Options that need what a server does not give: they are refused before anything is sent."""

from collections.abc import Mapping

from structured.decoding.strategy import Search
from structured.errors.values import shown
from structured.extraction.options import Options
from structured.models.remote.model import RemoteModel

_LOGITS = "It needs the model's logits, and a server gives texts."
_TOKENS = "A server does not say how many tokens a text has, so that none is split."
_REPETITION = "What is done about repetition is a setting of the server."
_ANY = object()

_REFUSED: Mapping[str, tuple[object, str]] = {
    "batch_tokens": (None, "The server plans its memory itself. Set batch_size: the requests under way at a time."),
    "beams": (1, f"{_LOGITS} Take samples."),
    "chunk_tokens": (None, _TOKENS),
    "jump_forward": (_ANY, _LOGITS),
    "merge_by": ([], _TOKENS),
    "no_repeat_ngram_size": (0, _REPETITION),
    "particles": (1, f"{_LOGITS} Take samples."),
    "passes": (1, _TOKENS),
    "prefer": (_ANY, _TOKENS),
    "repair_below": (0, "A server cannot go on with a part of an answer."),
    "repetition_penalty": (1, _REPETITION),
    "stop_repetition": (_ANY, _REPETITION),
    "thinking": (None, "Reasoning is a setting of the server."),
}
"""Options, each with the value that asks for nothing, and why others are refused."""


def refuse_options(model: RemoteModel, options: Options, search: Search) -> None:
    """Raise ValueError for options that a model behind a server cannot have."""
    for name, value in options.items():
        if name in _REFUSED and name not in model.form.options and value != _REFUSED[name][0]:
            raise ValueError(
                f"{name} is {shown(value)}, and {model.name} is a server. {_REFUSED[name][1]} Leave it out."
            )
    if options.get("repair") == "field":
        raise ValueError(
            f"repair is 'field', and {model.name} is a server, which cannot go on with a part of an answer. Take "
            "'told' (the model is told what was wrong, and writes all of it again) or 'whole'."
        )
    if options.get("whitespace", "any") != "any":
        raise ValueError(
            f"whitespace is {options['whitespace']!r}, and {model.name} lays JSON out itself. Leave it out."
        )
    _refuse_for_form(model, options, search)


def _refuse_for_form(model: RemoteModel, options: Options, search: Search) -> None:
    """Raise ValueError for options that one kind of server does not know."""
    form = model.form
    unknown = [name for name in search.sampler.chosen if name not in form.options]
    if unknown:
        raise ValueError(f"{form.server} does not know {' and '.join(unknown)}. Leave what it does not know out.")
    if search.samples > 1 and search.choose == "likeliest" and not form.tells_probabilities:
        raise ValueError(f"{form.server} does not say how likely a sample is. Pass choose='vote'.")
    if options.get("examples") and form.writes_prompts and model.enforced:
        raise ValueError(f"{form.server} makes the prompts itself, and takes no examples. Leave them out.")
