"""The training: its modules, its network, which is the one that is loaded, and runs that go on where they stopped."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, Lfm2Config, Lfm2ForCausalLM

import training
from structured.models.adapters import LowRank
from structured.models.lfm2 import PackagedModel
from training.average import average, mean_product
from training.network import Network, Shape
from training.tokenizer import train_tokenizer
from training.train import Settings, Training, save

SMALL = Settings(
    tokens=6_000,
    vocabulary=700,
    width=32,
    layers=2,
    heads=2,
    feed_forward=48,
    context=512,
    batch_tokens=1024,
    warm_up=2_000,
    workers=0,
)


def test_the_package_names_its_modules_in_the_order_of_their_imports():
    folder = Path(training.__file__).parent
    named = re.findall(r"`(\w+)`", training.__doc__)
    assert sorted(named) == sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    for position, name in enumerate(named):
        source = (folder / f"{name}.py").read_text(encoding="utf-8")
        imported = set(re.findall(r"^from training\.(\w+) import", source, re.MULTILINE))
        assert imported <= set(named[:position]), name


@pytest.mark.parametrize("tied", [True, False])
def test_the_network_computes_what_transformers_computes(tied):
    torch.manual_seed(3)
    network = Network(Shape(300, 64, 4, 2, 96, 128, tied=tied), compiled=False)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, mean=0.0 if parameter.ndim > 1 else 1.0, std=0.1)
    reference = Lfm2ForCausalLM(Lfm2Config(**network.shape.config()))
    reference.load_state_dict(network.state_dict(), strict=False)
    token_ids, wanted = torch.randint(0, 300, (3, 50)), torch.rand(3, 50) < 0.3
    with torch.no_grad():
        logits, expected = network(token_ids, wanted).float(), reference(token_ids).logits[wanted]
    assert (logits - expected).std() < 0.05 * expected.std()  # products are in bfloat16


def test_a_run_goes_on_where_it_stopped_and_its_model_loads(tmp_path, monkeypatch):
    monkeypatch.setattr("training.train.TOKENIZER_SAMPLES", 300)
    Training(SMALL, tmp_path / "run", compiled=False).finish(tmp_path / "out")
    longer = replace(SMALL, tokens=12_000, workers=1)
    Training(longer, tmp_path / "run", resume=True, compiled=False).finish(tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    first, second = (line["from_tokens"] for line in lines if "settings" in line)
    assert first == 0
    assert second >= SMALL.tokens
    assert PackagedModel(tmp_path / "out", name="trained").vocabulary.size == SMALL.vocabulary
    further = replace(SMALL, start=str(tmp_path / "out"), width=999)
    begun = Training(further, tmp_path / "further", compiled=False)
    trained = load_file(tmp_path / "out" / "model.safetensors")
    assert {name: tensor.bfloat16() for name, tensor in begun.network.state_dict().items()}.keys() == trained.keys()
    for name, tensor in begun.network.state_dict().items():
        assert torch.equal(tensor.bfloat16(), trained[name])


def test_weights_are_averaged_with_those_that_a_run_goes_on_from(tmp_path, monkeypatch):
    monkeypatch.setattr("training.train.TOKENIZER_SAMPLES", 300)
    Training(SMALL, tmp_path / "run", compiled=False).finish(tmp_path / "out")
    further = replace(SMALL, start=str(tmp_path / "out"), kept=0.25, seed=2)
    Training(further, tmp_path / "further", compiled=False).finish(tmp_path / "average")
    before, average = (load_file(tmp_path / name / "model.safetensors") for name in ("out", "average"))
    after = torch.load(tmp_path / "further" / "checkpoint.pt")["network"]
    for name, weight in average.items():
        assert not torch.equal(before[name], after[name].bfloat16())
        expected = 0.25 * before[name].float() + 0.75 * after[name].float()
        assert torch.allclose(weight.float(), expected, rtol=0.01, atol=1e-6)


def test_the_mean_of_models_is_one(tmp_path):
    """Each counts by its share; what is not a weight is that of the first."""
    tokenizer, folders = train_tokenizer(["Total: 5 EUR"] * 9, size=300), [tmp_path / name for name in "ab"]
    for seed, folder in enumerate(folders):
        torch.manual_seed(seed)
        network = Network(Shape(300, 64, 4, 2, 96, 128, tied=True), compiled=False)
        for parameter in network.parameters():
            torch.nn.init.normal_(parameter)
        save(network, tokenizer, folder)
    average({folders[0]: 3.0, folders[1]: 1.0}, tmp_path / "mean")
    first, second, mean = (load_file(folder / "model.safetensors") for folder in (*folders, tmp_path / "mean"))
    assert first.keys() == mean.keys()
    for name, weight in mean.items():
        expected = 0.75 * first[name].float() + 0.25 * second[name].float()
        assert torch.equal(weight, expected.to(weight.dtype))
    assert PackagedModel(tmp_path / "mean", name="mean").encode("Total") == list(tokenizer.encode("Total"))


@pytest.mark.parametrize("tied", [True, False])
def test_what_is_saved_is_what_the_library_and_transformers_load(tmp_path, tied):
    """With an output layer of its own as well."""
    tokenizer = train_tokenizer(["Total: 5 EUR"] * 9, size=300)
    network = Network(Shape(300, 64, 4, 2, 96, 128, tied=tied), compiled=False)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, mean=0.0 if parameter.ndim > 1 else 1.0, std=0.1)
    save(network, tokenizer, tmp_path)
    ours, theirs = PackagedModel(tmp_path, name="saved"), AutoModelForCausalLM.from_pretrained(tmp_path)
    token_ids = ours.encode("Total: 5 EUR")
    _, logits = ours.prefill([token_ids])
    expected = theirs.float()(torch.tensor([token_ids])).logits[0, -1].detach().numpy()
    assert np.abs(np.asarray(logits)[0] - expected).max() < 1e-4


def test_the_mean_of_adapters_is_the_nearest_product_of_their_rank():
    rng = np.random.default_rng(0)
    products = [
        LowRank(rng.normal(size=(4, 30)).astype(np.float32), rng.normal(size=(20, 4)).astype(np.float32), scale)
        for scale in (2.0, 0.5)
    ]
    exact = sum(
        weight * product.scale * product.b @ product.a for product, weight in zip(products, (0.7, 0.3), strict=True)
    )
    rows, values, columns = np.linalg.svd(exact)
    mean = mean_product(products, [0.7, 0.3])
    assert (mean.shape, len(mean.a), mean.scale) == ((20, 30), 4, 2.0)
    assert np.allclose(mean.scale * mean.b @ mean.a, rows[:, :4] * values[:4] @ columns[:4], atol=1e-4)
    alone = mean_product(products[:1], [1.0])
    assert np.allclose(alone.b @ alone.a, products[0].b @ products[0].a, atol=1e-4)
