"""Texts in slots, for the architectures that people run; `test_models` has random courses of a batch."""

import inspect
from unittest.mock import Mock

import numpy as np
import pytest
from devices import DEVICE, make_recording
from doubles import byte_level_tokenizer, tiny
from reruns import Recordable, Rerun

from structured.decoding.sequence import to_host
from structured.errors import ModelError, OutOfMemoryError, StructuredWarning

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


@pytest.mark.gpu
@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if name != "lfm2"])
def test_passes_of_any_architecture_can_be_recorded(name):
    """They read and write the same memory each time, wait for no number, and find what is found without."""
    from structured.models.cuda_graphs import RecordingPool
    from structured.models.transformers_model import HuggingFaceModel

    tokenizer = byte_level_tokenizer()
    network = tiny(name, len(tokenizer)).to(DEVICE)
    plain, recorded = HuggingFaceModel(network, tokenizer), HuggingFaceModel(network, tokenizer)
    made = []

    def make(*arguments):
        recording = make_recording(*arguments)
        recording.replay = Mock(wraps=recording.replay)
        made.append(recording)
        return recording

    recorded.recordings = RecordingPool(network, make)
    rng = np.random.default_rng(0)

    def write():
        prompts = [rng.integers(5, 200, count).tolist() for count in (70, 3, 12)]
        batches = plain.prefill(prompts)[0], recorded.prefill(prompts)[0]
        for counts in ((1, 1, 1), (2, 1, 3), (1, 1, 1), (4, 1, 1), (1, 1, 1), (1, None, 1), (1, 3)):
            rows = [row for row, count in enumerate(counts) if count is not None]
            new = [rng.integers(5, 200, counts[row]).tolist() for row in rows]
            for one in batches:
                one.select(rows)
            expected, found = (to_host(one.forward(new)) for one in batches)
            np.testing.assert_allclose(found, expected, atol=2e-3 * float(expected.std()) + 1e-5)

    write()
    write()
    count, replayed = len(made), sum(one.replay.call_count for one in made)
    write()  # one batch after the other has the same slots, and this one no shape that is new
    assert sum(one.replay.call_count for one in made) > replayed
    assert len(made) == count


WAITING = {
    "item": lambda x: x.sum().item(),
    "truth": lambda x: bool(x.any()),
    "nonzero": lambda x: x.nonzero(),
    "where": lambda x: torch_where(x > 0),
    "unique": lambda x: x.unique(),
    "mask": lambda x: x[x > 0],
    "write by mask": lambda x: x.__setitem__(x > 0, 0),
    "repeats": lambda x: x.repeat_interleave(x.long().abs()),
}
"""What a graph cannot hold."""


def torch_where(condition):
    import torch

    return torch.where(condition)


@pytest.mark.parametrize("name", WAITING)
def test_what_waits_for_the_device_is_no_recording(name):
    """The double of a graph refuses it, in inference mode as well."""
    import torch

    x = torch.arange(-3.0, 3.0)
    with torch.inference_mode(), Recordable(), pytest.raises(AssertionError, match="a graph cannot hold"):
        WAITING[name](x)
    with torch.inference_mode(), Recordable():
        assert len(x.repeat_interleave(2)) == 12


def recorded_llama(make=Rerun):
    from structured.models.cuda_graphs import RecordingPool
    from structured.models.transformers_model import HuggingFaceModel

    tokenizer = byte_level_tokenizer()
    model = HuggingFaceModel(tiny("llama", len(tokenizer)), tokenizer)
    model.recordings = RecordingPool(model.model, make)
    return model


def test_a_model_that_cannot_be_recorded_goes_on_without():
    """The first failure is the last: passes are run as they are."""
    asked = []

    def fail(*arguments):
        asked.append(arguments)
        raise RuntimeError("operation not permitted when stream is capturing")

    model = recorded_llama(fail)
    expected, _ = recorded_llama().prefill([[5, 6, 7]])
    batch, _ = model.prefill([[5, 6, 7]])

    def write(token_id):
        np.testing.assert_allclose(batch.forward([[token_id]]), expected.forward([[token_id]]), atol=1e-4)

    write(8)
    with pytest.warns(StructuredWarning, match="cannot be recorded: operation not permitted"):
        write(9)
    for token_id in range(10, 14):
        write(token_id)  # a second warning would be an error
    assert len(asked) == 1


def test_slots_are_lent_to_one_batch_at_a_time():
    """What one gives back the next gets, cleaned, unless it is far larger than what the next needs."""
    import torch

    model = recorded_llama()
    first, second = model.prefill([[5, 6]])[0], model.prefill([[5, 6]])[0]
    assert first.cache is not second.cache
    cache = first.cache
    for _ in range(3):
        first.forward([[7]])
    with torch.inference_mode():
        for kept in cache.layers[0].kept:
            kept.fill_(torch.nan)
    del first, second
    third, _ = model.prefill([[5, 6]])
    assert third.cache is cache
    assert np.isfinite(third.forward([[8]])).all()
    third.cache.reserve(2, 4096)
    for _ in range(2):
        third.forward([[9]])
    del third
    assert model.prefill([[5, 6]])[0].cache is not cache


def test_what_was_too_much_memory_is_not_lent_again():
    """A batch for which there is no memory takes its slots with it."""
    import torch

    model = recorded_llama()
    batch, _ = model.prefill([[5, 6]])
    cache = batch.cache

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model.model, "forward", Mock(side_effect=torch.OutOfMemoryError("full")))
        with pytest.raises(OutOfMemoryError):
            batch.forward([[7]])
    del batch
    assert model.prefill([[5, 6]])[0].cache is not cache


def test_graphs_need_a_gpu():
    """To ask for them without one, or for layers that cannot be recorded, is an error that says what to do."""
    from structured.models.transformers_model import HuggingFaceModel

    tokenizer = byte_level_tokenizer()
    with pytest.raises(ModelError, match=r"cuda_graphs is for a model on one GPU, and .* is on cpu\. Leave it out"):
        HuggingFaceModel(tiny("llama", len(tokenizer)), tokenizer, cuda_graphs=True)
    for name in ("lfm2", "gemma2"):
        with pytest.raises(ModelError, match=r"cuda_graphs is for models all layers of which attend to all that came"):
            HuggingFaceModel(tiny(name, len(tokenizer)), tokenizer, cuda_graphs=True)


@pytest.mark.parametrize("name", OTHERS)
def test_what_cannot_be_in_slots_is_not(name):
    """Architectures that place tokens in a way of their own keep the caches of transformers."""
    from structured.models.slot_cache import has_slots

    network = tiny(name, 300)
    assert not has_slots(network, frozenset(inspect.signature(network.forward).parameters))
