"""Models and tokenizers that transformers loads by name: from a folder, a GGUF file, the hub or its cache.

torch and transformers are imported when one is loaded, never before.
"""

import logging
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from structured.errors import ModelError
from structured.errors.values import nearest
from structured.models.checkpoints import EXPECTED, lacking, shown_name, why_not_hub
from structured.models.dequantised import key_of, model_cache

if TYPE_CHECKING:
    from structured.models.dequantised import Loaded
    from structured.vocabulary import Vocabulary

_PLACEMENTS = ("auto", "balanced", "balanced_low_0", "sequential", "cpu", "cuda", "mps")
"""Names that accelerate takes for a `device_map`, and the most common devices."""


def load_pretrained(name: str, path: Path | None, *, device_map: str | dict[str, Any] | None, dtype: str) -> "Loaded":
    """Load a model and its tokenizer from a local folder or GGUF file or, without one, by its hub id.

    The options are those of `load_model`. A model of the hub is downloaded, with bars; without a connection, the copy
    in the cache is loaded. Raises ModelError.
    """
    reason = why_not_hub(name) if path is None else None
    is_file = path is not None and path.is_file()
    if is_file and find_spec("gguf") is None:
        raise ModelError(
            f"{shown_name(name)} is a GGUF file. To run it as it is, quantised, install llama-cpp-python "
            "(pip install llama-cpp-python jinja2); to have transformers load it, dequantised, install gguf "
            "(pip install gguf)."
        )
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if device_map is None and torch.cuda.is_available():
        device_map = "auto"
    if isinstance(device_map, str) and device_map not in _PLACEMENTS:
        try:
            torch.device(device_map)
        except RuntimeError as error:
            raise ModelError(
                f"device_map is {device_map!r}, which is not a device of torch.{nearest(device_map, _PLACEMENTS)} "
                "Use 'auto', 'cpu', 'cuda', or 'cuda:1'."
            ) from error
    if not torch.cuda.is_available() and "cuda" in str(device_map):
        problem = f"device_map is {device_map!r}, and torch finds no CUDA device here"
        raise ModelError(f"{problem}. Leave device_map out, or use 'cpu'.")
    if not isinstance(dtype, str) or (dtype != "auto" and not isinstance(getattr(torch, dtype, None), torch.dtype)):
        raise ModelError(f"{dtype!r} is not a dtype of torch. Use 'auto', 'float32', 'bfloat16' or 'float16'.")
    logging.getLogger("transformers.integrations.hub_kernels").addFilter(_is_no_advice)
    options: dict[str, Any] = {"local_files_only": reason is not None, "trust_remote_code": False}
    try:
        with _without_loading_bars():
            if path is not None and is_file:
                model, tokenizer = _load_gguf(path, device_map, dtype)
            else:
                tokenizer = AutoTokenizer.from_pretrained(path or name, **options)
                # Files of other formats can hold code, which runs when they are read.
                model = AutoModelForCausalLM.from_pretrained(
                    path or name, device_map=device_map, dtype=dtype, use_safetensors=True, **options
                )
    except Exception as error:  # a damaged checkpoint may raise anything
        raise ModelError(_why_not_loaded(name, path, reason, error)) from error
    model.train(mode=False)
    return model, tokenizer


def folder_vocabulary(folder: Path, names: set[str]) -> "Vocabulary":
    """Read the vocabulary of a folder with files of these `names`. Raises ModelError, VocabularyError."""
    from transformers import AutoConfig, AutoTokenizer, GenerationConfig

    from structured.models.transformers_model import vocabulary_of

    ends: list[int | list[int] | None] = []
    width = None
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        if "config.json" in names:
            config = AutoConfig.from_pretrained(folder, trust_remote_code=False).get_text_config()
            ends, width = [config.eos_token_id], config.vocab_size
        if "generation_config.json" in names:
            ends.append(GenerationConfig.from_pretrained(folder).eos_token_id)
    except Exception as error:  # a damaged checkpoint may raise anything
        problem = f"The tokenizer in {shown_name(folder)} cannot be loaded"
        raise ModelError(f"{problem}. transformers says: {' '.join(str(error).split())}") from error
    return vocabulary_of(tokenizer, ends, width=width)


def _load_gguf(path: Path, device_map: str | dict[str, Any] | None, dtype: str) -> "Loaded":
    """Return the model and the tokenizer of a GGUF file, from the cache, or dequantised and saved there."""
    disk = model_cache()
    key = "" if disk is None else key_of(path, dtype)
    cached = None if disk is None else disk.load(key, device_map)
    if cached is not None:
        model, tokenizer = cached
        model.config.name_or_path = tokenizer.name_or_path = str(path.parent)  # as transformers calls a GGUF file
        return model, tokenizer
    model, tokenizer = _dequantise(path, device_map, dtype)
    if disk is not None:
        disk.save(key, model, tokenizer)
    return model, tokenizer


def _dequantise(path: Path, device_map: str | dict[str, Any] | None, dtype: str) -> "Loaded":
    """Return the model and the tokenizer that transformers makes of a GGUF file."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options: dict[str, Any] = {"gguf_file": path.name, "local_files_only": True, "trust_remote_code": False}
    tokenizer = AutoTokenizer.from_pretrained(path.parent, **options)
    gguf = vars(import_module("transformers.modeling_gguf_pytorch_utils"))
    bar, is_closed = gguf["tqdm"], sys.stderr is None or sys.stderr.closed
    gguf["tqdm"] = partial(bar, disable=is_closed or None)  # None: shown by a terminal alone
    try:
        model = AutoModelForCausalLM.from_pretrained(path.parent, device_map=device_map, dtype=dtype, **options)
    finally:
        gguf["tqdm"] = bar
    quantizer = getattr(model, "hf_quantizer", None)
    if quantizer is not None and not getattr(quantizer, "packed_modules", None):  # no weights are left quantised
        del model.hf_quantizer
        vars(model.config).pop("quantization_config", None)
    return model, tokenizer


def _why_not_loaded(name: str, path: Path | None, reason: str | None, error: Exception) -> str:
    """Return the message for a model that exists, at least in part, and cannot be loaded."""
    sentence = re.split(r"\.\s+(?=[A-Z])", " ".join(str(error).split()), maxsplit=1)[0]
    sentence = sentence.rstrip(".") or type(error).__name__
    if path is not None and path.is_file():
        where = "It is a GGUF file."
    elif path is not None:
        where = f"The folder {lacking(path) or 'has the files of one.'}"
    elif reason is not None:
        where = f"What is in the cache cannot be loaded, and {reason}."
    else:
        where = "The hub has it."
    return f"No model could be loaded from {shown_name(name)}. {where} transformers says: {sentence}. {EXPECTED}"


@contextmanager
def _without_loading_bars() -> Iterator[None]:
    """Hide the progress bars of transformers, but not those of downloads, which come from another library."""
    from transformers.utils import logging as transformers_logging

    def hidden(make: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return make(*args, **{**options, "disable": True})

    with _loading:  # the process has one hook
        before = transformers_logging.set_tqdm_hook(hidden)
        try:
            yield
        finally:
            transformers_logging.set_tqdm_hook(before)


_loading = RLock()


def _is_no_advice(record: logging.LogRecord) -> bool:
    """Filter out the advice to install a CUDA kernel, which transformers gives even without a GPU."""
    import torch

    return torch.cuda.is_available() or "falling back to its reference" not in record.getMessage()
