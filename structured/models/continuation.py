"""Continuation: whether a model that reads a text in parts computes the same logits as in one pass.

With attention over kept keys and values it does, however the text is divided. A recurrence keeps one state in place of
its tokens, and implementations differ: some read one more token correctly, but start anew when several are appended,
and forget what stood before. So a model with such layers is tried on a few tokens first. Rejected: a list of
architectures that fail, since the next version of transformers may change it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from structured.errors import ModelError, StructuredError
from structured.errors.values import message

if TYPE_CHECKING:
    import torch

    from structured.models.kv_cache import TextCache

READ, MORE = 8, 4
"""Tokens that are read at once, and those that are appended."""

MAX_DIFFERENCE, MAX_UNITS = 0.02, 16
"""Of logits that are read token by token or padded, relative to their spread; in units of rounding, if that is more."""

MIN_FORGOTTEN, MIN_UNITS = 1e-3, 4
"""The same of tokens that are appended together, to say that something was forgotten.

One state that is forgotten may change little. To take a model for one that forgets costs time alone.
"""

Read = Callable[["TextCache", list[list[int]], int], "torch.Tensor"]
"""Runs the new tokens of each text, and returns the logits of its last places: see `Network.read`."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """How a model may be given more tokens of texts that it has begun."""

    takes_several: bool
    """Whether several tokens may be appended in one pass; if not, one after the other."""


def examined(name: str, cache: "Callable[[int], TextCache]", read: Read) -> Continuation:
    """Let a model read a text in one pass, token by token, in two parts, and padded beside a longer one.

    `cache` makes a cache for so many texts. Raises ModelError if token by token, or padded, it reads another text.
    """
    import torch

    text = list(range(READ + MORE))
    beginning, rest = text[:READ], text[READ:]
    try:
        expected = read(cache(1), [text], MORE - 1)[0]  # (MORE, width), as are the others
        alone, beside, together = cache(1), cache(2), cache(1)  # all begun first: some models keep the last text alone
        read(alone, [beginning], 0)
        read(beside, [text, beginning], 0)
        read(together, [beginning], 0)
        one_by_one = torch.cat([read(alone, [[token_id]], 0)[0] for token_id in rest])
        padded = torch.cat([read(beside, [[token_id]] * 2, 0)[1] for token_id in rest])
        at_once = read(together, [rest], MORE - 1)[0]
    except StructuredError:
        raise
    except Exception as error:
        what = f"does not go on with a text: {type(error).__name__}: {message(error).rstrip('.')}"
        raise _refusal(name, what) from error
    unit = torch.finfo(expected.dtype).eps
    tolerance = max(MAX_DIFFERENCE, MAX_UNITS * unit)
    if _difference(one_by_one, expected) > tolerance:
        raise _refusal(name, "has other logits for a text that it reads token by token than for the whole")
    if _difference(padded, one_by_one) > tolerance:
        raise _refusal(name, "has other logits for a text in a batch than for the text alone")
    return Continuation(takes_several=_difference(at_once, expected) <= max(MIN_FORGOTTEN, MIN_UNITS * unit))


def _difference(found: "torch.Tensor", expected: "torch.Tensor") -> float:
    """Return how far logits are from others, relative to the spread of these; the most in any row."""
    found, expected = found.float(), expected.float()
    spread = expected - expected.mean(dim=-1, keepdim=True)
    most = ((found - expected).norm(dim=-1) / spread.norm(dim=-1)).max()
    return float("inf") if most.isnan() else float(most)


def _refusal(name: str, what: str) -> ModelError:
    from transformers import __version__

    return ModelError(
        f"{name} cannot be used: in transformers {__version__}, it {what}. Use another version of transformers, or "
        "another model."
    )
