"""The device of tests marked `gpu`: the GPU where there is one, and the CPU in its place elsewhere.

So the same tests say that the code for devices is right, as far as that can be seen on the CPU, and that a GPU agrees.
"""

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from structured.models.transformers_model import HuggingFaceModel

DEVICE = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")


def moved(model: "HuggingFaceModel") -> "HuggingFaceModel":
    """Return a model on the device, where its tokens are sampled as well."""
    from structured.models.transformers_model import HuggingFaceModel

    network: Any = model.model
    there = HuggingFaceModel(network.to(DEVICE), model.tokenizer, name=model.name)
    there.samples_on_device = True
    return there
