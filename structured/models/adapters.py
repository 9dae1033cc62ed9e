"""Low-rank adapters: products of two thin matrices that are added to the matrices of a model.

Hu et al., "LoRA" (2021). They are read from GGUF files, as llama.cpp has them, and from the folders that PEFT writes;
each is converted into the other where the names of the matrices and the order of their rows are known. An adapter that
could only be read in part is refused. torch is imported when a folder is read or a model of transformers is changed,
never before. Rejected: the package `peft`, which adds folders to models of transformers, and nothing else of this.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from structured.errors import ModelError
from structured.models.checkpoints import is_gguf, shown_name
from structured.models.gguf_file import Floats, GgufFile, write_gguf

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from transformers import PreTrainedModel

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
"""The files of an adapter in the format of PEFT."""

EXPECTED = f"Name a GGUF file with a LoRA adapter, or a folder with {CONFIG} and {WEIGHTS}, as PEFT writes it."


@dataclass(frozen=True, slots=True)
class LowRank:
    """The summand for a matrix: scale · B A."""

    a: Floats  # (rank, columns of the matrix)
    b: Floats  # (rows of the matrix, rank)
    scale: float

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return len(self.b), self.a.shape[1]


ARCHITECTURES: Mapping[str, frozenset[str]] = {
    "llama": frozenset({"llama", "mistral"}),
    "qwen2": frozenset({"qwen2"}),
    "qwen3": frozenset({"qwen3"}),
}
"""The architectures whose adapters are converted: their names in transformers, by their names in GGUF files."""

PERMUTED = frozenset({"llama"})
"""Those whose GGUF files sort the rows of queries and keys to rotate pairs of neighbours, not halves of a head."""

_PEFT_NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""Matrices of a layer by their names in GGUF files."""

_GGUF_NAMES = {name: gguf for gguf, name in _PEFT_NAMES.items()}

_ALPHA = "adapter.lora.alpha"
"""The scale of an adapter times its ranks; 0 or missing where products are not scaled."""

_HARMLESS = {
    *("auto_mapping", "base_model_name_or_path", "exclude_modules", "inference_mode", "layers_pattern"),
    *("layers_to_transform", "lora_alpha", "lora_dropout", "megatron_core", "peft_type", "peft_version"),
    *("qalora_group_size", "r", "revision", "target_modules", "task_type", "use_rslora"),
}
"""Options of PEFT that are read here, or that do not affect a trained adapter."""

_NEUTRAL = {"bias": ("none",), "init_lora_weights": (True, "gaussian")}
"""Other options, with values that do not affect it; nor do empty values."""


class Heads(NamedTuple):
    """The numbers of attention heads."""

    queries: int
    keys: int


def find_adapter(name: str | Path) -> Path:
    """Return the GGUF file or the folder of an adapter. Raises ModelError if there is none."""
    path = Path(name).expanduser()
    if path.is_dir():
        lacks = [file for file in (CONFIG, WEIGHTS) if not (path / file).is_file()]
        if lacks:
            problem = f"The folder {shown_name(name)} is not an adapter: it lacks {' and '.join(lacks)}"
            raise ModelError(f"{problem}. {EXPECTED}")
        return path
    if is_gguf(path):
        return path
    what = "is a file of another kind" if path.is_file() else "does not exist"
    problem = f"The adapter {shown_name(name)} {what}"
    raise ModelError(f"{problem}. {EXPECTED} An adapter of the hub has to be downloaded first.")


def gguf_adapter(path: Path) -> GgufFile:
    """Open the GGUF file of a LoRA adapter. Raises ModelError for any other file."""
    file = GgufFile(path)
    facts = {key: file.metadata.get(key) for key in ("general.type", "adapter.type", "general.architecture")}
    if facts["general.type"] != "adapter" or facts["adapter.type"] != "lora":
        raise ModelError(
            f"{str(path)!r} is not a LoRA adapter: its general.type is {facts['general.type']!r} and its adapter.type "
            f"{facts['adapter.type']!r}. {EXPECTED}"
        )
    if not isinstance(facts["general.architecture"], str) or not isinstance(file.metadata.get(_ALPHA, 0.0), float):
        raise ModelError(f"{str(path)!r} lacks its architecture, or its scale. {EXPECTED}")
    if "adapter.alora.invocation_tokens" in file.metadata:
        raise ModelError(f"{str(path)!r} begins at tokens of its own (activated LoRA), which is not supported.")
    return file


def read_adapter(path: Path, *, model_type: str, heads: Heads) -> dict[str, LowRank]:
    """Read an adapter by the names that matrices have in transformers. Raises ModelError unless all of it fits."""
    if path.is_dir():
        return _read_folder(path)
    file = gguf_adapter(path)
    name = file.metadata["general.architecture"]
    if name not in ARCHITECTURES:
        raise ModelError(
            f"{str(path)!r} is for the architecture {name!r}, and transformers is given GGUF adapters for "
            f"{_listed(ARCHITECTURES)} alone. Name the folder that PEFT wrote, or run a GGUF model with llama.cpp."
        )
    if model_type not in ARCHITECTURES[name]:
        raise ModelError(f"{str(path)!r} is for models of the architecture {name!r}, and this one is {model_type!r}.")
    alpha = file.metadata.get(_ALPHA)
    tensors = {tensor: file.floats(tensor) for tensor in file.tensors}
    adapter = {}
    for matrix, (a, b) in _pairs(path, tensors, r"(.+)\.weight\.lora_([ab])").items():
        renamed = _renamed(path, matrix, r"blk\.(\d+)\.(.+)", "model.layers.{}.{}", _PEFT_NAMES)
        product = LowRank(a, b, alpha / len(a) if alpha else 1.0)
        adapter[renamed] = _permuted(product, matrix, heads, to_transformers=True) if name in PERMUTED else product
    return adapter


def write_gguf_adapter(
    path: Path, adapter: Mapping[str, LowRank], *, architecture: str, heads: Heads, dtype: type[np.floating[Any]]
) -> None:
    """Write an adapter as a GGUF file, in float32 or float16. Raises ModelError for what has no known name there."""
    if architecture not in ARCHITECTURES:
        raise ModelError(
            f"Adapters are written as GGUF files for the architectures {_listed(ARCHITECTURES)} alone, and the model "
            f"is of {architecture!r}. Convert it with convert_lora_to_gguf.py of llama.cpp."
        )
    tensors: dict[str, NDArray[Any]] = {}
    alphas = {product.scale * len(product.a) for product in adapter.values()}
    for name, product in adapter.items():
        matrix = _renamed(path, name, r"model\.layers\.(\d+)\.(.+)", "blk.{}.{}", _GGUF_NAMES)
        written = _permuted(product, matrix, heads) if architecture in PERMUTED else product
        tensors[f"{matrix}.weight.lora_a"] = written.a.astype(dtype)
        tensors[f"{matrix}.weight.lora_b"] = written.b.astype(dtype)
    [alpha] = alphas
    metadata = {"general.type": "adapter", "general.architecture": architecture, "adapter.type": "lora"}
    write_gguf(path, {**metadata, _ALPHA: alpha}, tensors)


def add_adapter(model: "PreTrainedModel", path: Path) -> None:
    """Add an adapter to the matrices of a loaded model, in their precision. Raises ModelError if it does not fit."""
    import torch
    from torch import nn

    config = model.config.get_text_config()
    queries = getattr(config, "num_attention_heads", 1)
    heads = Heads(queries, getattr(config, "num_key_value_heads", None) or queries)
    adapter = read_adapter(path, model_type=config.model_type, heads=heads)
    modules = dict(model.named_modules())
    tied = getattr(model.get_input_embeddings(), "weight", None)
    for name, product in adapter.items():
        layer = modules.get(name)
        if not isinstance(layer, nn.Linear):
            fault = "is another layer" if layer else "is missing"
        elif layer.weight is tied:
            fault = "is its table of embeddings too"
        elif not layer.weight.is_floating_point() or layer.weight.device.type == "meta":
            fault = "is quantised, or not in memory"
        elif tuple(layer.weight.shape) != product.shape:
            fault = f"has the shape {tuple(layer.weight.shape)} and not {product.shape}"
        else:
            a, b = (torch.from_numpy(part).to(layer.weight.device) for part in (product.a, product.b))
            with torch.no_grad():
                layer.weight.add_((product.scale * b @ a).to(layer.weight.dtype))
            continue
        raise ModelError(
            f"The adapter {str(path)!r} does not fit this {type(model).__name__}, in which {name} {fault}. Use the "
            "model that it was trained on, or load both with peft and pass (PeftModel, tokenizer)."
        )


def _read_folder(folder: Path) -> dict[str, LowRank]:
    """Read an adapter in the format of PEFT, by the names of its matrices."""
    from safetensors.torch import load_file

    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        kind = config["peft_type"]
        scale = config["lora_alpha"] / config["r"] ** (0.5 if config.get("use_rslora") else 1) if kind == "LORA" else 0
        tensors = {name: tensor.float().numpy() for name, tensor in load_file(folder / WEIGHTS).items()}
    except Exception as error:  # damaged files may raise anything
        raise ModelError(f"The adapter {str(folder)!r} cannot be read: {type(error).__name__}: {error}") from error
    if kind != "LORA":
        raise ModelError(f"{str(folder)!r} is an adapter of the kind {kind!r}, and only LORA is supported.")
    for key, value in config.items():
        if value and key not in _HARMLESS and value not in _NEUTRAL.get(key, ()):
            problem = f"{str(folder)!r} says {key}={value!r} in {CONFIG}, which is not supported"
            raise ModelError(f"{problem}. Load model and adapter with peft, and pass (PeftModel, tokenizer).")
    adapter = {}
    for matrix, (a, b) in _pairs(folder, tensors, r"base_model\.model\.(.+)\.lora_([AB])\.weight").items():
        if len(a) != config["r"]:
            raise ModelError(f"{str(folder)!r} has the rank {config['r']} in {CONFIG}, and {len(a)} in {WEIGHTS}.")
        adapter[matrix] = LowRank(a, b, scale)
    return adapter


def _pairs(path: Path, tensors: Mapping[str, Floats], form: str) -> dict[str, tuple[Floats, Floats]]:
    """Return the two thin matrices for each matrix, given tensors whose names contain it and the side, a or b."""
    parts: dict[str, dict[str, Floats]] = {}
    for name, tensor in tensors.items():
        match = re.fullmatch(form, name)
        if match is None or tensor.ndim != 2:
            raise ModelError(f"{str(path)!r} has {name}, which is not part of a low-rank product beside a matrix.")
        parts.setdefault(match[1], {})[match[2].lower()] = tensor
    if not parts:
        raise ModelError(f"{str(path)!r} has no tensors.")
    for matrix, pair in parts.items():
        if pair.keys() != {"a", "b"} or not 0 < len(pair["a"]) == pair["b"].shape[1]:
            shapes = ", ".join(f"{part.upper()} {tensor.shape}" for part, tensor in sorted(pair.items()))
            raise ModelError(f"{str(path)!r} has no two thin matrices with a product for {matrix}: {shapes}.")
    return {matrix: (pair["a"], pair["b"]) for matrix, pair in parts.items()}


def _renamed(path: Path, name: str, form: str, other: str, names: Mapping[str, str]) -> str:
    """Return the name of a matrix in the other format. Raises ModelError for an unknown name."""
    match = re.fullmatch(form, name)
    if match is None or match[2] not in names:
        raise ModelError(f"{str(path)!r} is for {name}, and only {_listed(names)} of the layers are supported.")
    return other.format(match[1], names[match[2]])


def _permuted(product: LowRank, matrix: str, heads: Heads, *, to_transformers: bool = False) -> LowRank:
    """Return a product for queries or keys with its rows in the order of GGUF, or back in that of transformers.

    The numbers of a head are rotated in pairs: transformers has all first numbers before all second ones, GGUF pair by
    pair.
    """
    count = {"attn_q": heads.queries, "attn_k": heads.keys}.get(matrix.rpartition(".")[2])
    if count is None:
        return product
    pairs, rest = divmod(len(product.b), 2 * count)
    if rest:
        raise ModelError(f"The adapter has {len(product.b)} rows for {matrix}, which are not those of {count} heads.")
    sizes = (count, pairs, 2) if to_transformers else (count, 2, pairs)
    return replace(product, b=product.b.reshape(*sizes, product.b.shape[1]).swapaxes(1, 2).reshape(product.b.shape))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
