"""Keep some layers of a chat model: `python -m training.shrink --base FOLDER --layers 0 4 8 --out FOLDER`.

What is left is healed by `python -m training.adapter --base FOLDER --rank 0 --out FOLDER`, which trains all weights. An
adapter is added to the weights first, so that nothing of it is lost (Men et al., "ShortGPT", 2024, drop layers alike).
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import nn
from transformers import PreTrainedModel

from structured.models.pretrained import load_pretrained
from training.adapter import save_model


def shrink(model: PreTrainedModel, layers: Sequence[int]) -> None:
    """Keep some layers of a model, in their order. Raises ValueError for one that is not there."""
    network: Any = model.base_model
    known = network.layers
    missing = [number for number in layers if not 0 <= number < len(known)]
    if missing or list(layers) != sorted({*layers}):
        raise ValueError(f"The layers are {list(layers)}; name some of the {len(known)} from 0 on, in their order.")
    network.layers = nn.ModuleList(known[number] for number in layers)
    for number, layer in enumerate(network.layers):
        layer.self_attn.layer_idx = number
    model.config.num_hidden_layers = len(layers)
    if getattr(model.config, "layer_types", None):
        model.config.layer_types = [model.config.layer_types[number] for number in layers]


def main() -> None:
    """Read the command line, and write the smaller model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="folder with a chat model and its tokenizer")
    parser.add_argument("--layers", type=int, nargs="+", required=True, help="the layers to keep, from 0")
    parser.add_argument("--out", type=Path, required=True, help="folder for the smaller model")
    arguments = parser.parse_args()
    model, tokenizer = load_pretrained(str(arguments.base), arguments.base, device_map=None, dtype="auto")
    shrink(model, arguments.layers)
    save_model(model, tokenizer, arguments.out)


if __name__ == "__main__":
    main()
