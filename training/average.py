"""Average trained weights: `python -m training.average 2:first 2:second 1:start --out folder`.

Runs that go on from one model and read different samples end near each other, and their mean is often better than each
(Wortsman et al., "Model soups", 2022).

With `--base`, the weights are adapters in GGUF files, and so is the mean. What is averaged are the summands of the
matrices, not their factors: the mean of the factors is another summand. The mean is cut to the rank of the first.
"""

import argparse
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig

from structured.models.adapters import LowRank, read_adapter, write_gguf_adapter
from structured.models.lfm2 import WEIGHTS
from training.adapter import gguf_architecture, heads_of


def main() -> None:
    """Read folders and their shares from the command line, and write a folder with the mean of their weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", metavar="SHARE:FOLDER", help="a trained model and how much of it is taken")
    parser.add_argument("--out", type=Path, required=True, help="folder for the mean, with the rest of the first model")
    parser.add_argument("--base", type=Path, help="the model of adapters: these are files, and so is --out")
    arguments = parser.parse_args()
    pairs = [model.split(":", 1) for model in arguments.models]
    shares = {Path(path): float(share) for share, path in pairs}
    if arguments.base:
        average_adapters(shares, arguments.base, arguments.out)
    else:
        average(shares, arguments.out)


def average(shares: Mapping[Path, float], out: Path) -> None:
    """Write the mean of the weights of some folders, each by its share, and what else the first one holds."""
    first, whole = next(iter(shares)), sum(shares.values())
    mean: dict[str, torch.Tensor] = {}
    for folder, share in shares.items():
        for name, weight in load_file(folder / WEIGHTS).items():
            mean[name] = mean.get(name, torch.zeros(())) + weight.float() * (share / whole)
    shutil.copytree(first, out, dirs_exist_ok=True)
    precision = next(iter(load_file(first / WEIGHTS).values())).dtype
    save_file({name: weight.to(precision) for name, weight in mean.items()}, out / WEIGHTS, metadata={"format": "pt"})


def average_adapters(shares: Mapping[Path, float], base: Path, out: Path) -> None:
    """Write the mean of some adapters of a model, each by its share, as a GGUF file in float16."""
    config, whole = AutoConfig.from_pretrained(base), sum(shares.values())
    heads, weights = heads_of(config), [share / whole for share in shares.values()]
    adapters = [read_adapter(path, model_type=config.model_type, heads=heads) for path in shares]
    mean = {name: mean_product([adapter[name] for adapter in adapters], weights) for name in adapters[0]}
    write_gguf_adapter(out, mean, architecture=gguf_architecture(config.model_type), heads=heads, dtype=np.float16)


def mean_product(products: Sequence[LowRank], weights: Sequence[float]) -> LowRank:
    """Return the product nearest to a weighted mean of products, with the rank and scale of the first.

    It is the mean's truncated singular value decomposition (Eckart & Young, 1936), found from the factors alone: with
    B = Q R and Aᵀ = P S, the mean is Q (R Sᵀ) Pᵀ, whose middle has few rows and columns.
    """
    rank, scale = len(products[0].a), products[0].scale
    parts = zip(products, weights, strict=True)
    left = np.concatenate([weight * product.scale * product.b for product, weight in parts], axis=1)
    right = np.concatenate([product.a for product in products])
    (q, r), (p, s) = np.linalg.qr(left.astype(np.float64)), np.linalg.qr(right.astype(np.float64).T)
    rows, values, columns = np.linalg.svd(r @ s.T)
    root = np.sqrt(values[:rank])
    a, b = (p @ columns[:rank].T * root).T, q @ rows[:, :rank] * (root / scale)
    return LowRank(a.astype(np.float32), b.astype(np.float32), scale)


if __name__ == "__main__":
    main()
