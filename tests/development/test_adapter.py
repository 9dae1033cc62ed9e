"""The adapter: only it learns, a run goes on where it stopped, and merged it computes what it computed beside."""

import itertools
import json
import random
from datetime import date, datetime
from enum import Enum
from typing import Literal

import pytest
import torch
from doubles import byte_level_tokenizer, tiny
from pydantic import BaseModel, Field
from torch.nn.functional import scaled_dot_product_attention
from transformers import AutoModelForCausalLM

from structured import Extractor, load_model
from structured.models.adapters import Heads, read_adapter
from training.adapter import Adapted, Settings, Training, adapt, causal_attention
from training.evaluate import evaluate
from training.examples import chat_and_answer
from training.generate import Sample, samples
from training.progress import share_of_rate
from training.shrink import shrink

CHAT = "{% for turn in messages %}<turn>{{ turn.content }}{% endfor %}<turn>"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A folder with a random chat model."""
    folder = tmp_path_factory.mktemp("base")
    tokenizer = byte_level_tokenizer(chat_template=CHAT)
    tiny(
        "llama", len(tokenizer), max_position_embeddings=2048, num_key_value_heads=2, initializer_range=0.3
    ).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def settings(base, **others):
    return Settings(**{"base": str(base), "rank": 4, "warm_up": 1, "learning_rate": 0.02, **others})


@pytest.mark.thorough
def test_the_loss_falls_and_only_the_adapter_changes(base, tmp_path):
    training = Training(settings(base, learning_rate=0.05, batch_tokens=1), tmp_path)
    before = {name: tensor.clone() for name, tensor in training.model.state_dict().items()}
    batch = next(training._batches())
    losses = [training._step(batch).item() for _ in range(10)]
    assert losses[-1] < losses[0] - 0.5
    for name, tensor in training.model.state_dict().items():
        assert torch.equal(tensor, before[name]) != ("lora_" in name)


@pytest.mark.thorough
def test_a_run_goes_on_as_if_it_had_not_stopped(base, tmp_path):
    one = Training(settings(base), tmp_path)
    for batch in itertools.islice(one._batches(), 3):
        one._step(batch)
    one._checkpoint()
    other = Training(settings(base), tmp_path, resume=True)
    batches = [next(training._batches()) for training in (one, other)]
    assert (batches[0].token_ids == batches[1].token_ids).all()
    assert one._step(batches[0]) == other._step(batches[1])
    assert all(map(torch.equal, one.learning, other.learning))
    assert (one.seen, one.steps) == (other.seen, other.steps)


@pytest.mark.parametrize(("seen", "done", "share"), [(0, 0.0, 0.1), (9, 0.5, 1.0), (99, 0.8, 0.5), (99, 1.2, 0.0)])
def test_the_rate_rises_with_tokens_and_falls_with_the_run(seen, done, share):
    assert share_of_rate(seen, done, warm_up=10, decay=0.4) == pytest.approx(share)


@pytest.mark.thorough
def test_a_run_by_the_clock_reads_what_another_process_makes(base, tmp_path):
    """Its rate has fallen when the time is over; the time until the first batch does not count."""
    training = Training(settings(base, seconds=4.0, workers=1, batch_tokens=1), tmp_path)
    training.finish(tmp_path / "adapter.gguf")
    assert training.steps > 1
    assert training.optimizer.param_groups[0]["lr"] < 0.02
    assert read_adapter(tmp_path / "adapter.gguf", model_type="llama", heads=Heads(4, 2))


@pytest.mark.thorough
def test_a_run_ends_when_nothing_makes_its_samples(base, tmp_path, monkeypatch):
    monkeypatch.setattr("training.prefetching.PATIENCE", 1)
    training = Training(settings(base, workers=1, others=str(tmp_path / "none.jsonl")), tmp_path)
    with pytest.raises(RuntimeError, match="has ended, with 1"):
        training.finish(tmp_path / "adapter.gguf")


@pytest.mark.thorough
def test_what_is_saved_is_the_model_with_the_adapter(base, tmp_path):
    """Merged, as a model that the library loads; by itself, as an adapter that the library adds to the model."""
    run, out, file = tmp_path / "run", tmp_path / "out", tmp_path / "adapter.gguf"
    Training(settings(base, tokens=4000), run).finish(file, out)
    Training(settings(base, tokens=0), run, resume=True).finish(tmp_path / "again.gguf")
    assert file.read_bytes() == (tmp_path / "again.gguf").read_bytes()

    state = torch.load(run / "checkpoint.pt")["adapter"]
    beside = AutoModelForCausalLM.from_pretrained(base)
    plain = beside(torch.arange(40)[None]).logits
    adapt(beside, 4, 2.0)
    assert beside.load_state_dict(state, strict=False).unexpected_keys == []
    expected = beside(torch.arange(40)[None]).logits
    merged, added = load_model(out), load_model(base, adapter=file)
    for model, margin in ((merged, 1e-4), (added, 1e-2)):  # the file is in float16
        assert (model.model(torch.arange(40)[None]).logits - expected).abs().max() < margin
    assert (plain - expected).abs().max() > 3e-2

    assert merged.has_chat_template
    short = (sample for sample in samples(7, "train", difficulty=0) if len(sample.document) < 100)
    assert evaluate(merged, itertools.islice(short, 2)).total.objects == 2


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


class Visit(BaseModel):
    """A visit to somebody."""

    day: date
    time: datetime | None
    host: str = Field(description="Who was visited", max_length=40)


class Trip(BaseModel):
    number: int = Field(ge=0)
    price: float
    is_paid: bool
    mood: Mood | None
    tags: list[str]
    visits: list[Visit]
    kind: Literal["long", "short"] = "long"


@pytest.mark.parametrize("instructions", [None, "Extract the trip."])
@pytest.mark.parametrize("document", ["Nowhere.", "Text:\nType: x\n\nJSON:\n{}"])
def test_the_chat_is_what_the_library_asks(base, instructions, document):
    """An adapter that has read other prompts than those it is given has learned for nothing."""
    model = load_model(base)
    assert model.has_chat_template
    for asked in (Visit, Trip):
        sample = Sample("trip", asked.model_json_schema(), document, {}, instructions)
        expected = Extractor(asked, model=model, instructions=instructions).prompt(document)
        assert chat_and_answer(sample, Never())[0] == expected


class Never(random.Random):
    """Never puts instructions into the document, as decorated functions do."""

    def random(self):
        return 1.0


def test_the_prompts_are_those_of_the_library(base, tmp_path):
    """A batch has the chat through the model's template, and the answer with its end, which alone is learned."""
    training = Training(settings(base), tmp_path)
    batch = next(training._batches()).trimmed()
    learned = [row[marks].tolist() for row, marks in zip(batch.token_ids, batch.learned, strict=True)]
    assert all(row[-1] == training.tokenizer.eos_token_id for row in learned)
    for row in learned:
        json.loads(training.tokenizer.decode(row[:-1]))  # or it raises
    text = training.tokenizer.decode(batch.token_ids[0])
    assert text.startswith("<turn>")
    assert "Extract the values of this type from the text" in text
    assert batch.tokens <= batch.token_ids.size


def test_the_question_says_how_dates_are_written():
    asked = [chat_and_answer(sample, random.Random(1))[0] for sample in itertools.islice(samples(1, "train"), 50)]
    assert any("Write dates as YYYY-MM-DD" in chat[0]["content"] for chat in asked)


@pytest.mark.parametrize("tokens", [1, 128, 300])
def test_plain_attention_is_attention(tokens):
    torch.manual_seed(1)
    queries, keys, values = (torch.randn(2, heads, tokens, 8) for heads in (6, 2, 2))
    found, _ = causal_attention(None, queries, keys, values, None, scaling=8**-0.5)
    expected = scaled_dot_product_attention(queries, keys, values, is_causal=True, enable_gqa=True)
    assert (found.transpose(1, 2) - expected).abs().max() < 1e-5


def test_a_merged_matrix_is_the_sum():
    matrix = torch.nn.Linear(6, 5, bias=False)
    one = Adapted(matrix, 2, 3.0)
    torch.nn.init.normal_(one.lora_B)
    states = torch.randn(4, 6)
    before = one(states)
    one.merge()
    assert torch.allclose(matrix(states), before, atol=1e-5)
    assert torch.equal(one(states), matrix(states))


def test_a_smaller_model_is_the_layers_that_are_kept(base):
    """With all of them it computes the same; with some, what these do one behind another, also with a cache."""
    model = AutoModelForCausalLM.from_pretrained(base).eval()
    ids = torch.arange(40)[None]
    whole, layers = model(ids).logits, list(model.model.layers)
    shrink(model, range(len(layers)))
    assert torch.equal(model(ids).logits, whole)
    shrink(model, [len(layers) - 1])
    assert [*model.model.layers] == [layers[-1]]
    assert model.config.num_hidden_layers == 1
    few = model(ids).logits
    assert not torch.allclose(few, whole)
    first = model(ids[:, :30], use_cache=True)
    assert torch.allclose(model(ids[:, 30:], past_key_values=first.past_key_values).logits, few[:, 30:], atol=1e-4)
    for wrong in ([1], [-1], [0, 0]):
        with pytest.raises(ValueError, match="from 0 on"):
            shrink(model, wrong)


@pytest.mark.thorough
def test_all_weights_learn_without_an_adapter(base, tmp_path):
    """A rank of 0: the saved model is the trained one, and there is no file of an adapter."""
    run, out = tmp_path / "run", tmp_path / "out"
    Training(settings(base, rank=0, tokens=2000, learning_rate=1e-3), run).finish(run / "adapter.gguf", out)
    before, after = (AutoModelForCausalLM.from_pretrained(folder).state_dict() for folder in (base, out))
    assert not any(torch.equal(before[name], after[name]) for name in before if "proj" in name)
    assert not (run / "adapter.gguf").exists()
    assert load_model(str(out)).has_chat_template
