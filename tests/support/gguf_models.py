"""GGUF files of tiny models, written by the package gguf."""

import json
from pathlib import Path
from typing import Any

import numpy as np

_PARTS = {
    "embed_tokens": "token_embd",
    "lm_head": "output",
    "norm": "output_norm",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    **{f"{part}_proj": f"attn_{part}" for part in "qkv"},
    "o_proj": "attn_output",
    **{f"{part}_proj": f"ffn_{part}" for part in ("gate", "up", "down")},
}

_BLOCK = 32
"""Numbers of a row that are quantised together."""


def write_llama(folder: Path, path: Path, *, quantised: bool = False) -> Path:
    """Write a tiny Llama of a folder as a GGUF file, in float32 or, where rows can be, quantised to Q8_0."""
    import gguf
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    writer = gguf.GGUFWriter(path, "llama")
    for key, number in (("context_length", 256), ("embedding_length", 32), ("feed_forward_length", 48)):
        writer.add_uint32(f"llama.{key}", number)
    for key, number in (("block_count", 2), ("attention.head_count", 4), ("attention.head_count_kv", 2)):
        writer.add_uint32(f"llama.{key}", number)
    writer.add_float32("llama.attention.layer_norm_rms_epsilon", model.config.rms_norm_eps)
    _add_tokens(writer, json.loads((folder / "tokenizer.json").read_text())["model"])
    for name, tensor in model.state_dict().items():
        array = _in_pairs(name, tensor.float().numpy())
        if quantised and array.ndim == 2 and array.shape[1] % _BLOCK == 0:
            stored = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(_gguf_name(name), gguf.quants.quantize(array, stored), raw_dtype=stored)
        else:
            writer.add_tensor(_gguf_name(name), array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokens(writer: Any, backend: dict[str, Any]) -> None:
    tokens = sorted(backend["vocab"], key=backend["vocab"].get)
    writer.add_string("tokenizer.ggml.model", "gpt2")
    writer.add_string("tokenizer.ggml.pre", "gpt-2")
    writer.add_array("tokenizer.ggml.tokens", tokens)
    writer.add_array("tokenizer.ggml.merges", [" ".join(pair) for pair in backend["merges"]])
    writer.add_array("tokenizer.ggml.token_type", [3 if index < 3 else 1 for index in range(len(tokens))])
    writer.add_uint32("tokenizer.ggml.eos_token_id", 1)


def _in_pairs(name: str, array: Any) -> Any:
    """Return a matrix with the rows that rotary positions turn together beside each other."""
    heads = {"q_proj": 4, "k_proj": 2}.get(name.split(".")[-2])
    if heads:
        array = array.reshape(heads, 2, -1, 32).swapaxes(1, 2).reshape(array.shape)
    return np.ascontiguousarray(array)


def _gguf_name(name: str) -> str:
    parts = name.split(".")
    layer = f"blk.{parts[2]}." if "layers" in parts else ""
    return f"{layer}{_PARTS[parts[-2]]}.weight"
