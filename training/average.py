"""Average trained weights: `python -m training.average 2:first 2:second 1:start --out folder`.

Runs that go on from one model and read different samples end near each other, and their mean is often better than each
(Wortsman et al., "Model soups", 2022).
"""

import argparse
import shutil
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from structured.models.lfm2 import WEIGHTS


def main() -> None:
    """Read folders and their shares from the command line, and write a folder with the mean of their weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", metavar="SHARE:FOLDER", help="a trained model and how much of it is taken")
    parser.add_argument("--out", type=Path, required=True, help="folder for the mean, with the rest of the first model")
    arguments = parser.parse_args()
    pairs = [model.split(":", 1) for model in arguments.models]
    average({Path(folder): float(share) for share, folder in pairs}, arguments.out)


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


if __name__ == "__main__":
    main()
