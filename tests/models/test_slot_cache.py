"""Texts in slots, for the architectures that people run; `test_models` has random courses of a batch."""

import inspect

import numpy as np
import pytest
from devices import DEVICE
from doubles import byte_level_tokenizer, tiny

from structured.decoding.text_in_progress import to_host

ARCHITECTURES = (
    *(
        "llama",
        "qwen2",
        "qwen3",
        "gemma",
        "phi",
        "phi3",
        "gpt2",
        "gpt_neox",
        "gptj",
        "olmo2",
        "glm4",
        "opt",
        "stablelm",
    ),
    *("starcoder2", "smollm3", "granite", "nemotron", "cohere", "mixtral", "qwen3_moe", "deepseek_v3", "lfm2"),
)
"""Names of transformers."""

OTHERS = ("bloom", "mistral", "gemma2", "mamba", "roberta")
"""Models that have no positions, sliding windows, recurrences, or positions of their own."""


@pytest.mark.gpu
@pytest.mark.thorough
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_texts_of_any_architecture_are_read_as_alone(name):
    """Uneven texts, some with tokens that are rolled back, some that leave: the logits are those of each text alone."""
    import torch

    from structured.models.transformers_model import HuggingFaceModel

    tokenizer = byte_level_tokenizer()
    model = HuggingFaceModel(tiny(name, len(tokenizer)).to(DEVICE), tokenizer)
    assert model.can_roll_back

    def assert_right(found, written):
        for logits, token_ids in zip(to_host(found), written, strict=True):
            with torch.inference_mode():
                read = model.model(input_ids=torch.tensor([token_ids], device=DEVICE), use_cache=False)
            alone = read.logits[0, -1].cpu().numpy()
            np.testing.assert_allclose(logits, alone, atol=2e-3 * float(alone.std()) + 1e-5)

    rng = np.random.default_rng(0)

    def some(count):
        return rng.integers(5, 200, count).tolist()

    written = [some(count) for count in (7, 3, 12)]
    batch, found = model.prefill(written)
    assert_right(found, written)
    for counts in ((1, 1, 1), (2, 1, 3), (1, 4, 1)):
        new = [some(count) for count in counts]
        found = batch.forward([[*one, *some(2)] for one in new], window=2)
        written = [[*before, *one] for before, one in zip(written, new, strict=True)]
        assert_right(found[:, 0], written)
        batch.rollback([2, 2, 2])
    first, _, last = written
    batch.select([0, 2])
    assert_right(batch.forward([[9], [9, 8]]), [[*first, 9], [*last, 9, 8]])


@pytest.mark.parametrize("name", OTHERS)
def test_what_cannot_be_in_slots_is_not(name):
    """Architectures that place tokens in a way of their own keep the caches of transformers."""
    from structured.models.slot_cache import has_slots

    network = tiny(name, 300)
    assert not has_slots(network, frozenset(inspect.signature(network.forward).parameters))


@pytest.mark.parametrize(("texts", "columns", "window"), [(1, 5, 0), (1, 5, 2), (3, 4, 0)])
def test_no_pass_copies_the_matrix_of_the_last_layer(texts, columns, window):
    """On a CPU, PyTorch copies frozen weights in half precision where some of the new tokens are given as a view."""
    import torch

    from structured.models.transformers_model import HuggingFaceModel

    width = 20_000
    network = tiny("llama", width, hidden_size=64).to(torch.bfloat16).requires_grad_(requires_grad=False)
    batch, _ = HuggingFaceModel(network, byte_level_tokenizer()).prefill([[5] * 40] * texts)
    with torch.profiler.profile(record_shapes=True) as profile:
        batch.forward([[9] * columns] * texts, window=window)
    events = profile.key_averages(group_by_input_shape=True)
    copied = [event.input_shapes[0] for event in events if event.key == "aten::copy_"]
    assert copied
    assert not [shape for shape in copied if width in shape and 64 in shape]
