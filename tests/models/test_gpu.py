"""Whole texts on a device: the same as on the host, however its passes are run; on the GPU where there is one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest
import torch
from devices import DEVICE, moved
from doubles import in_memory, tiny

from benchmarks.documents import KINDS, documents, is_valid
from structured.decoding.generate import compile_type, generate
from structured.decoding.requests import Generation, Request
from structured.decoding.sampling import Sampler
from structured.extraction.prompts import completion_prompt
from structured.index.guide import Guide
from structured.models.load import PACKAGED_MODEL, load_model
from structured.output_types.resolve import resolve_type

if TYPE_CHECKING:
    from structured.models.transformers_model import HuggingFaceModel

pytestmark = [pytest.mark.gpu, pytest.mark.thorough if DEVICE.type == "cuda" else pytest.mark.slow]


def written(
    model: "HuggingFaceModel",
    *,
    batch_size: int = 8,
    jump_forward: bool = True,
    sampler: Sampler | None = None,
    max_tokens: int = 120,
    kinds: Iterable[str] = KINDS,
) -> dict[str, list[Generation]]:
    """Return the answers to two documents of each type, all types in one batch."""
    sampler = sampler or Sampler()
    requests: dict[str, list[Request]] = {}
    for kind in kinds:
        resolved = resolve_type(KINDS[kind][0])
        index = compile_type(resolved, model.vocabulary)
        prompts = [completion_prompt(resolved.describe(), text) for text in documents(kind, 2)]
        requests[kind] = [
            Request(model.encode(prompt), Guide(index, max_tokens=max_tokens), sampler.generator(row, 0), 0)
            for row, prompt in enumerate(prompts)
        ]
    every = [request for several in requests.values() for request in several]
    done = iter(generate(model, every, sampler, batch_size=batch_size, jump_forward=jump_forward))
    return {kind: [next(done) for _ in several] for kind, several in requests.items()}


def texts(found: dict[str, list[Generation]]) -> dict[str, list[str]]:
    return {kind: [one.text for one in several] for kind, several in found.items()}


@pytest.fixture(scope="module")
def host() -> "HuggingFaceModel":
    """Return the packaged model on the host."""
    model: HuggingFaceModel = load_model(PACKAGED_MODEL, device_map={"": "cpu"})
    return model


@pytest.fixture(scope="module")
def device() -> "HuggingFaceModel":
    """Return the packaged model on the device."""
    return moved(load_model(PACKAGED_MODEL, device_map={"": "cpu"}))


@pytest.fixture(scope="module")
def expected(host: "HuggingFaceModel") -> dict[str, list[str]]:
    return texts(written(host))


@pytest.mark.parametrize("batch_size", [1, 8])
def test_a_device_writes_the_texts_of_the_host(
    device: "HuggingFaceModel", expected: dict[str, list[str]], batch_size: int
) -> None:
    """In single precision, one by one and in batches."""
    assert device.model.device == DEVICE
    assert texts(written(device, batch_size=batch_size)) == expected


def test_what_is_read_ahead_on_a_device_changes_no_text(
    device: "HuggingFaceModel", expected: dict[str, list[str]]
) -> None:
    """Proposed tokens are rolled back where they are wrong, and save passes where they are right."""
    assert device.can_roll_back
    plain, ahead = written(device, jump_forward=False), written(device)
    assert texts(plain) == texts(ahead) == expected

    def passes(found: dict[str, list[Generation]]) -> int:
        return sum(one.diagnostics.passes for several in found.values() for one in several)

    assert passes(ahead) < passes(plain)


def test_a_device_samples_what_the_host_samples(host: "HuggingFaceModel", device: "HuggingFaceModel") -> None:
    """From the same seed, in single precision."""
    sampler = Sampler(0.8, seed=3, top_p=0.9)
    assert texts(written(device, sampler=sampler)) == texts(written(host, sampler=sampler))


def test_half_precision_on_a_device_is_valid() -> None:
    """Texts may differ from those in single precision; they are of their types all the same."""
    model: HuggingFaceModel = load_model(PACKAGED_MODEL, device_map={"": "cpu"}, dtype="bfloat16")
    found = texts(written(moved(model)))
    assert all(is_valid(kind, text) for kind, several in found.items() for text in several)


SIZES = {
    "llama": {"num_key_value_heads": 2, "max_position_embeddings": 4096},
    "gpt2": {"n_positions": 4096, "max_position_embeddings": 4096},
}
"""With room for long prompts of a byte tokenizer."""


@pytest.mark.parametrize("name", SIZES)
def test_batches_of_any_size_write_the_same_texts(name: str) -> None:
    """Alone and in batches that texts leave and join."""
    model = in_memory(lambda width: tiny(name, width, initializer_range=0.5, **SIZES[name]))
    options: Any = {"kinds": ["Person", "Ticket"], "max_tokens": 96}
    expected = texts(written(model, **options))
    there = moved(model)
    for batch_size in (1, 3):
        assert texts(written(there, batch_size=batch_size, **options)) == expected


@pytest.mark.skipif(DEVICE.type != "cuda", reason="there is no GPU")
def test_no_pass_plans_a_kernel_of_attention(device: "HuggingFaceModel") -> None:
    """cuDNN plans anew for each length; the setting of the program is as before afterwards."""
    was_enabled = torch.backends.cuda.cudnn_sdp_enabled()
    batch, _ = device.prefill([[5] * 40])
    with torch.profiler.profile() as profile:
        for columns in (1, 2, 5):
            batch.forward([[9] * columns])
    names = {event.key for event in profile.key_averages()}
    assert any("attention" in name for name in names)
    assert not [name for name in names if "cudnn_attention" in name]
    assert torch.backends.cuda.cudnn_sdp_enabled() == was_enabled
