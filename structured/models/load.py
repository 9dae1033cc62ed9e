"""Loading: anything that may be passed as a model becomes a `LanguageModel`.

A hub id, a folder, a GGUF file or the name of a fetched model; a loaded `(model, tokenizer)` of transformers, or a
loaded `llama_cpp.Llama`; a `(function, tokenizer)`; or a model of the user's own, which is derived from
`LanguageModel`. An adapter may be added to what is named. With none named, the environment variable STRUCTURED_MODEL
decides; without that the packaged model answers, and says so once.
"""

import logging
import os
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import RLock
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from structured.errors import ModelError, PackagedModelWarning
from structured.errors.arguments import Check, count, flag, number, or_none, text
from structured.errors.calling_line import warn
from structured.errors.values import described, shown
from structured.models.adapters import add_adapter, find_adapter
from structured.models.checkpoints import find_checkpoint
from structured.models.fetched import FETCHABLE, fetched_path
from structured.models.function import FunctionModel, LogitsFunction
from structured.models.llama_cpp import LlamaCppModel, is_installed, load_gguf
from structured.models.packaged import PackagedModel
from structured.models.protocol import LanguageModel, Model
from structured.models.remote.address import is_address
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from structured.models.llama_tokenizer import Llama
    from structured.vocabulary import Tokenizer

_LOGGER = logging.getLogger(__name__)

PACKAGED_MODEL = Path(__file__).parent / "demonstration"
"""The folder of the small model that ships with the package."""

PACKAGED_NAME = "the packaged model"
"""What messages and results call it in place of its folder."""

PACKAGED_ID = "packaged"
"""What it is called where a model is named."""

ModelSource: TypeAlias = (
    "str | Path | Model | Llama | tuple[PreTrainedModel, PreTrainedTokenizerBase] | tuple[LogitsFunction, Tokenizer]"
)


_CONTEXT_LENGTH = or_none(count(1, "1 or greater, or None where there is no limit"))
_GPU_LAYERS = or_none(count(-1, "-1 for all, 0 or greater, or None for what is usual"))


def load_model(  # noqa: PLR0913  what can be said of loading
    source: "ModelSource | None" = None,
    *,
    device_map: str | dict[str, Any] | None = None,
    dtype: str = "auto",
    cuda_graphs: bool = False,
    gpu_layers: int | None = None,
    context_length: int | None = None,
    adapter: str | Path | None = None,
) -> LanguageModel:
    """Load a model, or wrap a loaded one.

    A name is loaded once in a process. The hub is asked once, for a few seconds at most; then the copy in its cache is
    loaded. Code that comes with a checkpoint never runs.

    A GGUF file is run by llama.cpp, quantised, where the package llama-cpp-python is installed. Without it, or with one
    of `device_map`, `dtype` and `cuda_graphs`, transformers loads it dequantised, for which it needs the package gguf.

    Parameters:
        source: A hub id, a local folder, a GGUF file, the name of a model fetched by `structured fetch`, or "packaged";
            `(model, tokenizer)` of transformers; a `llama_cpp.Llama`; `(function, tokenizer)`, where the function takes
            token ids and returns logits of shape (width,), and the tokenizer follows
            `structured.vocabulary.Tokenizer`; or a `LanguageModel`, which is returned as it is. None stands for the
            environment variable STRUCTURED_MODEL or, if that is not set, for the packaged model.
        device_map: For accelerate; default: the GPU, if there is one. This and the following apply to names.
        dtype: The name of a torch type; default: that of the checkpoint.
        cuda_graphs: Records forward passes on one GPU and replays them. Only for models in which every layer attends.
        gpu_layers: For llama.cpp: the layers that go to the GPU, -1 for all; default: all, if it was built for one.
        context_length: For llama.cpp: the tokens that it takes memory for, of all texts of a batch together; default:
            what the model was trained for, at most 8,192.
        adapter: A LoRA adapter for the model: a GGUF file, or a folder that PEFT wrote. llama.cpp keeps it beside the
            weights; transformers gets it added to them, without the package peft. Also for a `llama_cpp.Llama`.

    Raises:
        ModelError: There is no such model or adapter, it cannot be loaded, it does not fit, or passes cannot be
            recorded.
        VocabularyError: The tokenizer cannot be used.
    """
    if not isinstance(adapter, str | Path | None):
        raise TypeError(f"adapter is {shown(adapter)}; it must be the path of a GGUF file or of a folder.")
    options = _Options(device_map, dtype, cuda_graphs, gpu_layers, context_length)
    source, is_of_environment = _meant(source)
    _refuse_server(source)
    if isinstance(source, str | os.PathLike) and isinstance(os.fspath(source), str):
        load = _load_by_name if isinstance(device_map, dict) else _load_once
        try:
            path = find_checkpoint(source)
            options = replace(options, adapter=_adapter(os.fspath(source), path, adapter))
            with _loading:  # of several threads, one loads a name
                return load(os.fspath(source), path, options)
        except ModelError as error:
            if not is_of_environment:
                raise
            raise ModelError(f"STRUCTURED_MODEL names the model. {error}") from error.__cause__
    if _is_llama(source):
        return LlamaCppModel(cast("Llama", source), adapter=None if adapter is None else find_adapter(adapter))
    if adapter is not None:
        raise ModelError(
            f"An adapter is added to a model that is loaded by its name, or to a llama_cpp.Llama, and not to "
            f"{described(source)}. Add it yourself, as with peft."
        )
    if isinstance(source, tuple) and len(source) == 2:
        return _from_pair(*source)
    if isinstance(source, LanguageModel):
        return _checked(source)
    raise ModelError(
        f"{described(source)} is not a model. Pass a hub id, a folder, a GGUF file, (model, tokenizer), (function, "
        "tokenizer), a llama_cpp.Llama or an instance of a class derived from structured.models.LanguageModel."
        f"{_hint(source)}"
    )


def find_model(source: "ModelSource | None" = None) -> Model:
    """Return what writes answers: a model behind a server for an address or what `connect` returned, else a loaded one.

    Raises as `load_model` and `connect`.
    """
    address = os.environ.get("STRUCTURED_MODEL") if source is None else source
    if isinstance(address, str) and is_address(address):
        from structured.models.remote.model import connected  # with what only servers need

        return connected(address)
    return source if isinstance(source, Model) and not isinstance(source, LanguageModel) else load_model(source)


def _meant(source: "ModelSource | None") -> "tuple[ModelSource, bool]":
    """Return the model that is meant, and whether the environment names it."""
    named = os.environ.get("STRUCTURED_MODEL") if source is None else None
    found = named or (_packaged_model() if source is None else source)
    return PACKAGED_MODEL if found == PACKAGED_ID else found, bool(named)


def _refuse_server(source: object) -> None:
    """Raise ModelError for a model behind a server, where the scores of tokens are needed."""
    is_remote = isinstance(source, Model) and not isinstance(source, LanguageModel)
    if is_remote or is_address(source):
        raise ModelError(
            f"{getattr(source, 'name', source)} is a model behind a server, which gives texts, and the scores of "
            "tokens are needed here. Pass it to extract, extract_batch or Extractor, or name a model that runs here."
        )


def _hint(source: object) -> str:
    """Return what may have been meant by something that is not a model."""
    if isinstance(source, type):
        return f" {source.__name__} is a class: pass an instance."
    if isinstance(source, list) and len(source) == 2:
        return " A pair is a tuple: write (…), not […]."
    if callable(source) or _has(source, "generation_config"):
        return " This one lacks its tokenizer."
    return " Derive its class from LanguageModel." if _has(source, "prefill") else ""


def _checked(model: LanguageModel) -> LanguageModel:
    """Return a model of the user's own if the facts that it states are of the right kind."""
    lacks = [f"`{name}`" for name in ("name", "vocabulary") if not _has(model, name)]
    if lacks:
        raise ModelError(f"{described(model)} lacks {' and '.join(lacks)}. Set them when it is made.")
    try:
        vocabulary = model.vocabulary
    except Exception as error:
        raise ModelError(f"The `vocabulary` of {described(model)} raises {type(error).__name__}: {error}") from error
    if not isinstance(vocabulary, Vocabulary):
        raise ModelError(
            f"The `vocabulary` of {described(model)} is {described(vocabulary)}. It must be a "
            "structured.vocabulary.Vocabulary."
        )
    for name, check in _FACTS.items():
        try:
            check(f"The `{name}` of {described(model)}", getattr(model, name))
        except (TypeError, ValueError) as error:
            raise ModelError(str(error)) from error
    return model


_COST = number(lambda value: 0 <= value < float("inf"), "0 or greater, and finite")
_FACTS: dict[str, Check[Any]] = {
    "name": text,
    "context_length": _CONTEXT_LENGTH,
    "pass_cost": _COST,
    "logits_cost": _COST,
}
"""What a model of the user's own states, beside its vocabulary."""


def _has(source: object, name: str) -> bool:
    """Tell whether there is an attribute, even if it raises an error of its own."""
    try:
        return hasattr(source, name)
    except Exception:  # noqa: BLE001  it is raised again when the attribute is read
        return True


def _from_pair(model: Any, tokenizer: Any) -> LanguageModel:
    is_of_transformers = _has(tokenizer, "backend_tokenizer")
    tells = [name for name in _TOLD if _has(tokenizer, name)]
    if callable(model) and ("tokens" in tells or (tells and not is_of_transformers)):
        return FunctionModel(model, tokenizer)
    if is_of_transformers and _has(model, "generation_config"):
        from structured.models.transformers import HuggingFaceModel

        return HuggingFaceModel(model, tokenizer)
    is_swapped = callable(tokenizer) and any(_has(model, name) for name in _TOLD)
    raise ModelError(
        f"({type(model).__name__}, {type(tokenizer).__name__}) is not a (model, tokenizer) pair. The tokenizer must be "
        "a fast one of transformers, with its model, or have `tokens`, `end_token_ids` and `encode`, with a function."
        f"{' Are the two in the wrong order?' if is_swapped else ''}"
    )


_TOLD = ("tokens", "end_token_ids", "encode")
"""What a tokenizer of one's own tells."""


@cache
def _packaged_model() -> Path:
    """Return the packaged model; being cached, it warns once in a process."""
    warn(
        PackagedModelWarning(
            "No model was named, so the packaged model answers. It is small, and made to try the "
            "library with; for real work pass model='…' or set STRUCTURED_MODEL."
        )
    )
    return PACKAGED_MODEL


def _is_llama(source: object) -> bool:
    """Tell whether this is a model of llama-cpp-python, which is imported if there is one."""
    library: Any = sys.modules.get("llama_cpp")
    return library is not None and isinstance(source, library.Llama)


@dataclass(frozen=True, slots=True)
class _Options:
    """How a model is loaded that is named."""

    device_map: str | dict[str, Any] | None = None
    dtype: str = "auto"
    cuda_graphs: bool = False
    gpu_layers: int | None = None
    context_length: int | None = None
    adapter: Path | None = None

    def __post_init__(self) -> None:
        flag("cuda_graphs", self.cuda_graphs)
        if not isinstance(self.dtype, str):
            raise TypeError(
                f"dtype is {shown(self.dtype)}; it must be a name, such as 'auto', 'bfloat16' or 'float32'."
            )
        if not isinstance(self.device_map, str | dict | None):
            raise TypeError(
                f"device_map is {shown(self.device_map)}; it must be a name, such as 'auto', 'cpu' or 'cuda:0', or a "
                "dict of modules and their devices."
            )
        _GPU_LAYERS("gpu_layers", self.gpu_layers)
        _CONTEXT_LENGTH("context_length", self.context_length)

    @property
    def are_of_transformers(self) -> bool:
        return self.device_map is not None or self.dtype != "auto" or self.cuda_graphs

    @property
    def are_of_llama_cpp(self) -> bool:
        return self.gpu_layers is not None or self.context_length is not None


def _adapter(name: str, path: Path | None, adapter: str | Path | None) -> Path | None:
    """Return the adapter to load with a model: the given one, or the one that its name stands for."""
    own = FETCHABLE[name].adapter if name in FETCHABLE and path == fetched_path(name) else None
    if adapter is None:
        return own
    if own is not None:
        raise ModelError(f"{name!r} has an adapter of its own. Name the model without it: {FETCHABLE[name].base!r}.")
    return find_adapter(adapter)


def _load_by_name(name: str, path: Path | None, options: _Options) -> LanguageModel:
    started = perf_counter()
    is_file = path is not None and path.is_file()
    if path is not None and is_file and is_installed() and not options.are_of_transformers:
        model: LanguageModel = load_gguf(
            str(path),
            name=_called(name, options.adapter),
            gpu_layers=options.gpu_layers,
            context_length=options.context_length,
            adapter=options.adapter,
        )
    elif name == str(PACKAGED_MODEL) and options == _Options():
        model = PackagedModel(PACKAGED_MODEL, name=PACKAGED_NAME)
    elif options.are_of_llama_cpp:
        raise ModelError(
            f"gpu_layers and context_length are for GGUF files that llama.cpp runs, and {name!r} is loaded by "
            f"transformers. {_why_not_llama_cpp(is_file)}"
        )
    else:
        model = _from_transformers(name, path, options)
    _LOGGER.info("loaded %s in %.1f s", model.name, perf_counter() - started)
    return model


def _called(name: str, adapter: Path | None) -> str:
    """Return what messages and results call a model that was loaded by a name."""
    model = PACKAGED_NAME if name == str(PACKAGED_MODEL) else name
    own = FETCHABLE[name].adapter if name in FETCHABLE else None
    return model if adapter in {None, own} else f"{model} with {adapter}"


def _why_not_llama_cpp(is_file: bool) -> str:
    if not is_file:
        return "Leave them out."
    if not is_installed():
        return "Install llama-cpp-python: pip install llama-cpp-python jinja2."
    return "Leave out device_map, dtype and cuda_graphs, which are for transformers."


def _from_transformers(name: str, path: Path | None, options: _Options) -> LanguageModel:
    from structured.models.pretrained import load_pretrained
    from structured.models.transformers import HuggingFaceModel

    # Sums of bfloat16 differ from processor to processor, and with them close answers.
    dtype = "float32" if name == str(PACKAGED_MODEL) and options.dtype == "auto" else options.dtype
    model, tokenizer = load_pretrained(name, path, device_map=options.device_map, dtype=dtype)
    if options.adapter is not None:
        add_adapter(model, options.adapter)
    return HuggingFaceModel(model, tokenizer, name=_called(name, options.adapter), cuda_graphs=options.cuda_graphs)


_load_once = cache(_load_by_name)
_loading = RLock()
