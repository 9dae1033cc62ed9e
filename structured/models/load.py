"""Loading: anything that may be passed as a model becomes a `LanguageModel`.

A model is named by a hub id, a folder, a GGUF file or the name of a fetched model; or it is a loaded `(model,
tokenizer)` of transformers, a loaded `llama_cpp.Llama`, a `(function, tokenizer)`, or an instance of the user's own
subclass of `LanguageModel`. Without any, the environment variable STRUCTURED_MODEL names the model; without that, the
packaged model answers, with a warning.
"""

import logging
import os
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import RLock
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias, Union, cast

from typing_extensions import TypeAliasType

from structured.errors import ModelError, PackagedModelWarning
from structured.errors.arguments import count, or_none, says_arguments, whole
from structured.errors.calling_line import warn
from structured.errors.values import described, shown
from structured.models.adapters import add_adapter, find_adapter
from structured.models.checked_calls import checked_model, has
from structured.models.checkpoints import FETCHABLE, fetched_path, find_checkpoint
from structured.models.cpu_threads import available_cpus, default_threads
from structured.models.function import FunctionModel, LogitsFunction
from structured.models.lfm2 import PackagedModel
from structured.models.llama_cpp import LlamaCppModel, is_installed, load_gguf
from structured.models.protocol import LanguageModel, Model
from structured.models.remote_model import connected
from structured.models.server_api import is_address
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from structured.models.llama_tokenizer import Llama
    from structured.vocabulary import Tokenizer

_LOGGER = logging.getLogger(__name__)

PACKAGED_MODEL = Path(__file__).parent / "demonstration"
"""The folder of the small model that ships with the package."""

PACKAGED_NAME = "the packaged model"
"""Its name in messages and results."""

PACKAGED_ID = "packaged"
"""Its name where users name a model."""

ModelSource = TypeAliasType(
    "ModelSource",
    "str | Path | Model | Llama | tuple[PreTrainedModel, PreTrainedTokenizerBase] | tuple[LogitsFunction, Tokenizer]",
)
"""A model, or its name, folder, file or address; see `load_model`."""


OTHER_NAMES = {
    **dict.fromkeys(("device", "devices"), "device_map"),
    **dict.fromkeys(("torch_dtype", "precision"), "dtype"),
    **dict.fromkeys(("n_gpu_layers", "num_gpu_layers", "num_gpu", "ngl"), "gpu_layers"),
    **dict.fromkeys(("n_ctx", "num_ctx", "ctx_size", "max_model_len", "max_seq_len"), "context_length"),
    **dict.fromkeys(("lora", "lora_path", "lora_adapter", "peft"), "adapter"),
    **dict.fromkeys(("n_threads", "num_threads", "num_thread"), "threads"),
    **dict.fromkeys(("model", "model_id", "model_name", "model_path", "repo_id"), "source"),
}
"""What other libraries call the arguments of `load_model`."""

_CONTEXT_LENGTH = or_none(count(1, "1 or greater, or None where there is no limit"))
MAX_THREADS = 256
"""The most threads that a caller may ask for, on a machine with fewer CPUs: OpenMP ends the process if it cannot start
them."""

_GPU_LAYERS = or_none(count(-1, "-1 for all, 0 or greater, or None for what is usual"))


@says_arguments(OTHER_NAMES)
def load_model(  # noqa: PLR0913  the options of loading
    source: "ModelSource | None" = None,
    *,
    device_map: str | dict[str, Any] | None = None,
    dtype: str = "auto",
    gpu_layers: int | None = None,
    context_length: int | None = None,
    adapter: str | Path | None = None,
    threads: int | None = None,
) -> LanguageModel:
    """Load a model, or wrap a loaded one.

    A name is loaded once in a process. The hub is asked once, for a few seconds at most; then the copy in its cache is
    loaded. Code that comes with a checkpoint never runs.

    A GGUF file is run by llama.cpp, quantised, where the package llama-cpp-python is installed. Without it, or with one
    of `device_map` and `dtype`, transformers loads it dequantised, for which it needs the package gguf.

    Parameters:
        source: A hub id, a local folder, a GGUF file, the name of a model fetched by `structured fetch`, or "packaged";
            `(model, tokenizer)` of transformers; a `llama_cpp.Llama`; `(function, tokenizer)`, where the function takes
            token ids and returns logits of shape (width,), and the tokenizer follows
            `structured.vocabulary.Tokenizer`; or a `LanguageModel`, which is returned as it is. None stands for the
            environment variable STRUCTURED_MODEL or, if that is not set, for the packaged model.
        device_map: For accelerate; default: the GPU, if there is one. This and the following apply to names.
        dtype: The name of a torch type; default: that of the checkpoint.
        gpu_layers: For llama.cpp: the layers that go to the GPU, -1 for all; default: all, if it was built for one.
        context_length: For llama.cpp: the tokens that it reserves memory for, in all texts of a batch together;
            default: the length that the model was trained for, at most 8,192.
        adapter: A LoRA adapter for the model: a GGUF file, or a folder that PEFT wrote. llama.cpp keeps it beside the
            weights; for transformers, it is added to them, without the package peft. Also for a `llama_cpp.Llama`.
        threads: For transformers and llama.cpp on a CPU: the threads that a pass computes with; default: those that
            OMP_NUM_THREADS or MKL_NUM_THREADS sets; without them one for a model of up to 200 million parameters,
            and as many as this process has CPUs for a larger one. A model that you loaded yourself keeps its own.
            All who load a model by one name share it, and the last number passed counts.

    Raises:
        ModelError: There is no such model or adapter, it cannot be loaded, or it does not fit.
        VocabularyError: The tokenizer cannot be used.
    """
    if not isinstance(adapter, str | Path | None):
        raise TypeError(f"adapter is {shown(adapter)}; it must be the path of a GGUF file or of a folder.")
    if threads is not None:
        most = max(MAX_THREADS, available_cpus())
        threads = whole(1, f"from 1 to {most}", most)("threads", threads)
    options = _Options(device_map, dtype, gpu_layers, context_length)
    source, is_from_environment = _named(source)
    _refuse_server(source)
    if isinstance(source, str | os.PathLike) and isinstance(os.fspath(source), str):
        load = _load_by_name if isinstance(device_map, dict) else _load_once
        try:
            path = find_checkpoint(source)
            options = replace(options, adapter=_adapter_of(os.fspath(source), path, adapter))
            with _loading:  # several threads load a name once
                return _with_threads(load(os.fspath(source), path, options), threads)
        except ModelError as error:
            if not is_from_environment:
                raise
            raise ModelError(f"STRUCTURED_MODEL names the model. {error}") from error.__cause__
    library: Any = sys.modules.get("llama_cpp")  # imported if this is a model of llama-cpp-python
    if library is not None and isinstance(source, library.Llama):
        adapter_path = None if adapter is None else find_adapter(adapter)
        return _with_threads(LlamaCppModel(cast("Llama", source), adapter=adapter_path), threads)
    if adapter is not None:
        raise ModelError(
            f"An adapter can be added to a model that is loaded by its name, or to a llama_cpp.Llama, and not to "
            f"{described(source)}. Add it yourself, as with peft."
        )
    if isinstance(source, tuple) and len(source) == 2:
        return _with_threads(_from_pair(*source), threads)
    if isinstance(source, LanguageModel):
        return _with_threads(checked_model(source), threads)
    raise ModelError(
        f"{described(source)} is not a model. Pass a hub id, a folder, a GGUF file, (model, tokenizer), (function, "
        "tokenizer), a llama_cpp.Llama or an instance of a class derived from structured.models.LanguageModel."
        f"{_hint(source)}"
    )


def find_model(source: "ModelSource | None" = None) -> Model:
    """Return the model that writes answers: loaded, or behind a server. Raises as `load_model` and `connect`."""
    address = os.environ.get("STRUCTURED_MODEL") if source is None else source
    if isinstance(address, str) and is_address(address):
        return connected(address)
    return source if isinstance(source, Model) and not isinstance(source, LanguageModel) else load_model(source)


def _named(source: "ModelSource | None") -> "tuple[ModelSource, bool]":
    """Return the model to load, and whether the environment names it."""
    name = os.environ.get("STRUCTURED_MODEL") if source is None else None
    model = name or (_packaged_model() if source is None else source)
    return PACKAGED_MODEL if isinstance(model, str) and model == PACKAGED_ID else model, bool(name)


def _refuse_server(source: object) -> None:
    """Raise ModelError for a model behind a server, which gives no scores of tokens."""
    is_remote = isinstance(source, Model) and not isinstance(source, LanguageModel)
    if is_remote or (isinstance(source, str) and is_address(source)):
        raise ModelError(
            f"{getattr(source, 'name', source)} is a model behind a server, which gives texts, and the scores of "
            "tokens are needed here. Pass it to extract, extract_batch or Extractor, or name a model that runs here."
        )


def _hint(source: object) -> str:
    """Return a hint, after a blank, for an object that is not a model."""
    if isinstance(source, type):
        return f" {source.__name__} is a class: pass an instance."
    if isinstance(source, list) and len(source) == 2:
        return " A pair is a tuple: write (…), not […]."
    if callable(source) or has(source, "generation_config"):
        return " This one lacks its tokenizer."
    return " Derive its class from LanguageModel." if has(source, "prefill") else ""


def _from_pair(model: Any, tokenizer: Any) -> LanguageModel:
    is_of_transformers = has(tokenizer, "backend_tokenizer")
    own = [name for name in _TOKENIZER_MEMBERS if has(tokenizer, name)]
    if callable(model) and ("tokens" in own or (own and not is_of_transformers)):
        return FunctionModel(model, tokenizer)
    if is_of_transformers and has(model, "generation_config"):
        from structured.models.transformers_model import HuggingFaceModel

        return HuggingFaceModel(model, tokenizer)
    is_swapped = callable(tokenizer) and any(has(model, name) for name in _TOKENIZER_MEMBERS)
    raise ModelError(
        f"({type(model).__name__}, {type(tokenizer).__name__}) is not a (model, tokenizer) pair. The tokenizer must be "
        "a fast one of transformers, with its model, or have `tokens`, `end_token_ids` and `encode`, with a function."
        f"{' Are the two in the wrong order?' if is_swapped else ''}"
    )


_TOKENIZER_MEMBERS = ("tokens", "end_token_ids", "encode")
"""The members of a `Tokenizer`, for a function."""


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


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of loading a model by its name."""

    device_map: str | dict[str, Any] | None = None
    dtype: str = "auto"
    gpu_layers: int | None = None
    context_length: int | None = None
    adapter: Path | None = None

    def __post_init__(self) -> None:
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


def _adapter_of(name: str, path: Path | None, adapter: str | Path | None) -> Path | None:
    """Return the adapter to load with a model: the one passed, or the one that its name includes."""
    own = FETCHABLE[name].adapter if name in FETCHABLE and path == fetched_path(name) else None
    if adapter is None:
        return own
    if own is not None:
        raise ModelError(f"{name!r} has an adapter of its own. Name the model without it: {FETCHABLE[name].base!r}.")
    return find_adapter(adapter)


def _load_by_name(name: str, path: Path | None, options: _Options) -> LanguageModel:
    started = perf_counter()
    is_packaged, adapter = name == str(PACKAGED_MODEL), options.adapter
    own = FETCHABLE[name].adapter if name in FETCHABLE else None
    shown_name = (PACKAGED_NAME if is_packaged else name) + ("" if adapter in {None, own} else f" with {adapter}")
    gguf_file = path if path is not None and path.is_file() else None
    for_llama_cpp = {"gpu_layers": options.gpu_layers, "context_length": options.context_length}
    if gguf_file is not None and is_installed() and options.device_map is None and options.dtype == "auto":
        model: LanguageModel = load_gguf(str(gguf_file), name=shown_name, adapter=adapter, **for_llama_cpp)
    elif is_packaged and options == _Options():
        model = PackagedModel(PACKAGED_MODEL, name=PACKAGED_NAME)
    elif any(value is not None for value in for_llama_cpp.values()):
        remedy = "Leave out device_map and dtype, which are for transformers."
        if gguf_file is None:
            remedy = "Leave them out."
        elif not is_installed():
            remedy = "Install llama-cpp-python: pip install llama-cpp-python jinja2."
        raise ModelError(
            f"gpu_layers and context_length are for GGUF files that llama.cpp runs, and {name!r} is loaded by "
            f"transformers. {remedy}"
        )
    else:
        from torch import get_num_threads

        from structured.models.pretrained import load_pretrained
        from structured.models.transformers_model import HuggingFaceModel

        # Sums of bfloat16 differ from processor to processor, and with them close answers.
        dtype = "float32" if is_packaged and options.dtype == "auto" else options.dtype
        network, tokenizer = load_pretrained(name, path, device_map=options.device_map, dtype=dtype)
        if adapter is not None:
            add_adapter(network, adapter)
        model = HuggingFaceModel(network, tokenizer, name=shown_name)
        if network.device.type == "cpu":  # where the program that imports torch may have lowered the number
            model.threads = min(default_threads(network.num_parameters()), get_num_threads())
    _LOGGER.info("loaded %s in %.1f s", model.name, perf_counter() - started)
    return model


def _with_threads(model: LanguageModel, threads: int | None) -> LanguageModel:
    """Set the threads of a model, if any number is passed. Raises ModelError if the model does not take one."""
    if threads is not None:
        if not model.takes_threads:
            raise ModelError(
                f"threads is {threads}, and {model.name} does not take a number of threads: transformers and llama.cpp "
                "do. The packaged model computes on one. Leave threads out."
            )
        model.threads = threads
    return model


_load_once = cache(_load_by_name)
_loading = RLock()


VocabularySource: TypeAlias = Union[ModelSource, Vocabulary]  # noqa: UP007  ModelSource is a text


def load_vocabulary(source: "VocabularySource | None" = None) -> Vocabulary:
    """Return a vocabulary, or that of a model, the one that its answers are decoded with. Raises as `load_model`.

    Of a folder, only the tokenizer is read, with config.json and generation_config.json where they exist; other models
    are loaded.
    """
    if isinstance(source, Vocabulary):
        return source
    name = os.environ.get("STRUCTURED_MODEL") if source is None else source
    if isinstance(name, str | os.PathLike):
        folder = Path(name).expanduser()
        names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        if "tokenizer.json" in names and "adapter_config.json" not in names and folder.resolve() != PACKAGED_MODEL:
            from structured.models.pretrained import folder_vocabulary

            return folder_vocabulary(folder, names)
    return load_model(source).vocabulary
