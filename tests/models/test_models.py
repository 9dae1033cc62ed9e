"""What can be a model: functions, and tiny models of transformers with random weights, made in memory."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from doubles import (
    BOS,
    MERGED_TOKENS,
    ByteTokenizer,
    byte_level_tokenizer,
    in_memory,
    random_logits,
    save,
    tiny_gpt2,
    tiny_lfm2,
    tiny_llama,
    tiny_mistral,
    widened,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from structured.errors import ModelError, PackagedModelWarning
from structured.models import FunctionModel, LanguageModel, load, load_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from structured.models.transformers_model import HuggingFaceModel

CHAT_TEMPLATE = (
    "<s>{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}<turn>{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)

PROMPTS = ("a", "Jason is 25 years old, his sister Ana 31.", "日本 🙂", '{"name": "')
"""Prompts of different lengths, so that a batch of them is padded."""

SIZE = len(ByteTokenizer().tokens)


def eager(width: int) -> "PreTrainedModel":
    """Return the tiny Llama with its attention written out."""
    network = tiny_llama(width)
    network.set_attn_implementation("eager")
    return network


def padded(make: "Callable[[int], PreTrainedModel]") -> "HuggingFaceModel":
    """Return a tiny model, the texts of which are padded and not in slots."""
    made = in_memory(make)
    made.network.has_slots = made.can_roll_back = False
    return made


KINDS = {
    **{make.__name__: partial(in_memory, make) for make in (tiny_llama, tiny_gpt2, tiny_lfm2, tiny_mistral, eager)},
    **{f"padded {make.__name__}": partial(padded, make) for make in (tiny_llama, tiny_lfm2)},
}


@pytest.fixture(scope="module", params=KINDS.values(), ids=KINDS)
def model(request: pytest.FixtureRequest) -> "HuggingFaceModel":
    """Return each tiny model in turn."""
    made: HuggingFaceModel = request.param()
    return made


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep transformers from asking the hub."""
    import huggingface_hub.constants

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def whole_pass(model: "HuggingFaceModel", token_ids: Sequence[int]) -> NDArray[np.float32]:
    """Return the next logits by one plain pass over one text: no batch, no padding, no cache."""
    import torch

    with torch.inference_mode():
        output = model.model(input_ids=torch.tensor([list(token_ids)]), use_cache=False)
    logits: NDArray[np.float32] = output.logits[0, -1].numpy()
    return logits


@pytest.mark.thorough
def test_padded_batch_equals_each_text_alone(model: "HuggingFaceModel") -> None:
    """Prompts of different lengths in one batch, and tokens appended to them, get the logits of each text alone."""
    written = [model.encode(prompt) for prompt in PROMPTS]
    assert len(set(map(len, written))) > 2
    batch, found = model.prefill(written)
    for step in range(4):
        assert found.shape == (len(written), model.model.config.vocab_size)
        for logits, token_ids in zip(found, written, strict=True):
            np.testing.assert_allclose(logits, whole_pass(model, token_ids), atol=1e-4)
        appended = [5 + 7 * step + row for row in range(len(written))]
        found = batch.forward([[token_id] for token_id in appended])
        written = [[*token_ids, token_id] for token_ids, token_id in zip(written, appended, strict=True)]


@pytest.mark.thorough
def test_dropped_texts_leave_the_others_right(model: "HuggingFaceModel") -> None:
    """As texts finish one after the other, those that remain keep their own cache, mask and positions."""
    written = [model.encode(prompt) for prompt in PROMPTS]
    batch, _ = model.prefill(written)
    for dropped in (2, 0, None, 1):
        rows = [row for row in range(len(written)) if row != dropped]
        batch.select(rows)
        written = [[*written[row], 10 + row] for row in rows]
        found = batch.forward([[token_ids[-1]] for token_ids in written]) if rows else []
        for logits, token_ids in zip(found, written, strict=True):
            np.testing.assert_allclose(logits, whole_pass(model, token_ids), atol=1e-4)


@pytest.mark.thorough
@given(st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_happens_to_a_batch_each_text_is_read_as_alone(model: "HuggingFaceModel", data: st.DataObject) -> None:
    """Texts share a beginning, get more tokens or fewer, leave and join; their logits are those of each alone."""
    tokens = st.lists(st.integers(5, 200), min_size=1, max_size=6)
    beginning = data.draw(st.lists(st.integers(5, 200), min_size=16, max_size=20))

    def proposed() -> tuple[int, st.SearchStrategy[list[int]]]:
        most = data.draw(st.integers(0, 3)) if model.can_roll_back else 0
        return most, st.lists(st.integers(5, 200), max_size=most)

    def prefill() -> tuple[Any, list[Any], list[tuple[list[int], list[int]]]]:
        prompts = [beginning + rest for rest in data.draw(st.lists(tokens, min_size=1, max_size=3))]
        (most, hope), shared = proposed(), data.draw(st.sampled_from([0, len(beginning)]))
        found = [(prompt, data.draw(hope)) for prompt in prompts]
        batch, logits = model.prefill([prompt + hope for prompt, hope in found], shared=shared, window=most)
        return batch, list(logits), found

    batch, rows_of_logits, found = prefill()
    for _ in range(data.draw(st.integers(1, 5))):
        if batch.can_join and data.draw(st.booleans()):
            others, more_logits, more = prefill()
            batch.join(others)
            rows_of_logits += more_logits
            found += more
        for row, (token_ids, hope) in enumerate(found):
            for count in range(len(hope) + 1):
                places = np.atleast_2d(rows_of_logits[row])
                logits = places[-1 - (len(hope) - count)]
                np.testing.assert_allclose(logits, whole_pass(model, token_ids + hope[:count]), atol=2e-4)
        right = [data.draw(st.integers(0, len(hope))) for _, hope in found]
        wrong = [len(hope) - count for (_, hope), count in zip(found, right, strict=True)]
        if any(wrong):
            batch.rollback(wrong)
        written = [token_ids + hope[:count] for (token_ids, hope), count in zip(found, right, strict=True)]
        if data.draw(st.booleans()):
            chosen = data.draw(st.lists(st.integers(0, len(written) - 1), min_size=1, max_size=4))
            batch.select(chosen)
            written = [written[row] for row in chosen]
        count = data.draw(st.integers(1, 5))
        rows = st.lists(st.integers(5, 200), min_size=1 if batch.is_ragged else count, max_size=count)
        appended = [data.draw(rows) for _ in written]
        most, hope = proposed()
        hopes = [data.draw(hope) for _ in written]
        rows_of_logits = list(
            batch.forward([new + more for new, more in zip(appended, hopes, strict=True)], window=most)
        )
        pairs = zip(written, appended, hopes, strict=True)
        found = [([*token_ids, *new], more) for token_ids, new, more in pairs]


@pytest.mark.thorough
def test_what_prompts_share_is_read_once(model: "HuggingFaceModel", monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the layers, and whatever the lengths; a sliding window aside, which keeps no beginning."""
    from structured.models.transformers_model import Network

    model.prefill([[5, 6]])  # the first pass of a network is preceded by some that examine it
    read: list[int] = []
    plain = Network.read

    def counting(network: Network, cache: Any, token_ids: Sequence[Sequence[int]], window: int = 0) -> Any:
        read.append(len(token_ids) * max(map(len, token_ids)))
        return plain(network, cache, token_ids, window)

    monkeypatch.setattr(Network, "read", counting)
    beginning = list(range(5, 105))
    prompts = [beginning + [7 + length] * length for length in (3, 1, 3, 5, 1)]
    _, found = model.prefill(prompts, shared=len(beginning))
    for logits, token_ids in zip(found, prompts, strict=True):
        np.testing.assert_allclose(logits, whole_pass(model, token_ids), atol=2e-4)
    if model.model.config.model_type != "mistral":
        assert sum(read) <= len(beginning) + 5 * len(prompts)


def test_vocabulary_of_a_loaded_model(model: "HuggingFaceModel") -> None:
    """A loaded model knows the bytes of its tokens, which are no more than its logits, and how long it can read."""
    assert set(MERGED_TOKENS) <= set(model.vocabulary.tokens)
    assert model.vocabulary.end_token_ids == {1}
    assert model.context_length == 512
    assert model.prefill([[5]])[1].shape[1] > model.vocabulary.size
    assert isinstance(model, LanguageModel)


def test_every_declared_end_token_ends() -> None:
    """Ends are what the tokenizer, the model's configuration or its generation settings call an end."""
    import torch

    torch.manual_seed(0)
    tokenizer = byte_level_tokenizer()
    width = len(tokenizer)
    network = tiny_llama(width).train(mode=False)
    assert network.generation_config is not None
    network.generation_config.eos_token_id = [tokenizer.convert_tokens_to_ids("<turn>"), width + 7]
    assert load_model((network, tokenizer)).vocabulary.end_token_ids == {1, 2}  # one that has no logit is left out


def test_model_narrower_than_its_tokenizer() -> None:
    """Tokens that the model has no logits for do not exist."""
    tokenizer = byte_level_tokenizer()
    width = len(tokenizer) - 4
    assert load_model((tiny_llama(width), tokenizer)).vocabulary.size == width


def test_chat_template_is_used_where_there_is_one() -> None:
    """Messages go through the template, whose special tokens are read as such and not doubled."""
    chatty = in_memory(tiny_llama, chat_template=CHAT_TEMPLATE)
    assert chatty.has_chat_template
    token_ids = chatty.encode([{"role": "user", "content": "aé"}])
    plain = chatty.encode("user: aé"), chatty.encode("assistant:")
    assert [text[0] for text in plain] == [0, 0]
    assert token_ids == [0, *plain[0][1:], 2, *plain[1][1:]]
    assert not in_memory(tiny_llama).has_chat_template


@pytest.mark.thorough
@pytest.mark.usefixtures("offline")
def test_model_saved_to_a_folder_is_the_same_model(model: "HuggingFaceModel", tmp_path: Path) -> None:
    """A model that is loaded from its folder gives the logits of the one that was saved, and is loaded once."""
    save(model, tmp_path)
    loaded = load_model(tmp_path)
    assert loaded.vocabulary.tokens == model.vocabulary.tokens
    assert loaded.vocabulary.end_token_ids == model.vocabulary.end_token_ids
    assert loaded.name == str(tmp_path)
    prompts = [model.encode(prompt) for prompt in PROMPTS]
    assert prompts == [loaded.encode(prompt) for prompt in PROMPTS]
    np.testing.assert_allclose(loaded.prefill(prompts)[1], model.prefill(prompts)[1], atol=1e-4)
    assert load_model(str(tmp_path)) is loaded


@pytest.mark.usefixtures("offline")
def test_environment_variable_names_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no model named, STRUCTURED_MODEL decides, and nothing is said about the packaged one."""
    save(in_memory(tiny_llama), tmp_path)
    monkeypatch.setenv("STRUCTURED_MODEL", str(tmp_path))
    assert load_model().name == str(tmp_path)


@pytest.mark.usefixtures("offline")
def test_demonstration_model_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no model named anywhere, the packaged one answers; the first time it warns, the second it does not."""
    monkeypatch.delenv("STRUCTURED_MODEL", raising=False)
    load._packaged_model.cache_clear()
    with pytest.warns(PackagedModelWarning, match=r"^No model was named, so the packaged model"):
        first = load_model()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert load_model() is first
        assert load_model("packaged") is first
        monkeypatch.setenv("STRUCTURED_MODEL", "packaged")
        assert load_model() is first
    assert not caught
    load._packaged_model.cache_clear()


@pytest.mark.parametrize("nonsense", [42, (random_logits(SIZE),), (1, 2, 3), random_logits(SIZE)])
def test_nonsense_is_no_model(nonsense: Any) -> None:
    """Whatever is no model is shown in the message, with the things that are."""
    with pytest.raises(
        ModelError, match=r" is not a model\. Pass a hub id, a folder, a GGUF file, \(model, tokenizer\)"
    ):
        load_model(nonsense)


@pytest.mark.parametrize(
    ("pair", "kinds"),
    [(("a", "b"), r"\(str, str\)"), ((42, ByteTokenizer()), r"\(int, ByteTokenizer\)")],
    ids=["names", "no function"],
)
def test_pair_that_is_no_model_with_its_tokenizer(pair: Any, kinds: str) -> None:
    """A pair of the wrong things is told by the kinds of both."""
    with pytest.raises(ModelError, match=f"^{kinds} is not a \\(model, tokenizer\\) pair"):
        load_model(pair)


def test_function_and_tokenizer_are_a_model() -> None:
    """A function from token ids to logits is given each text from its start, the prompt's tokens included."""
    seen: list[list[int]] = []

    def logits(token_ids: Sequence[int]) -> list[float]:
        seen.append(list(token_ids))
        return [float(len(token_ids))] * SIZE

    model = load_model((logits, ByteTokenizer()))
    assert isinstance(model, FunctionModel)
    assert isinstance(model, LanguageModel)
    assert load_model(model) is model
    assert model.name == "logits"
    prompts = [model.encode("a"), model.encode("")]
    assert prompts[1] == [BOS]
    batch, _ = model.prefill(prompts)
    batch.forward([[40], [41]])
    batch.select([1])
    logits_of_one = batch.forward([[42]])
    assert seen == [prompts[0], [BOS], [*prompts[0], 40], [BOS, 41], [BOS, 41, 42]]
    assert logits_of_one.tolist() == [[3.0] * SIZE]


def test_function_model_may_be_wider_than_its_tokenizer() -> None:
    """Of more logits than tokens only those of the tokens count, even if there are more for one text than another."""
    plain = random_logits(SIZE)
    model = FunctionModel(lambda token_ids: widened(plain, len(token_ids))(token_ids), ByteTokenizer())
    prompts = [[BOS], [BOS, 40, 41]]
    np.testing.assert_array_equal(model.prefill(prompts)[1], [plain(prompt) for prompt in prompts])


@pytest.mark.parametrize("shape", [(SIZE - 1,), (1, SIZE), ()], ids=repr)
def test_function_with_logits_of_the_wrong_shape(shape: tuple[int, ...]) -> None:
    """Too few logits, or a batch of them, are an error that tells the shape that came and the one that should."""
    model = FunctionModel(lambda token_ids: np.zeros(shape), ByteTokenizer())  # noqa: ARG005
    with pytest.raises(ModelError) as caught:
        model.prefill([[BOS]])
    assert str(caught.value) == (
        f"<lambda> returned logits of shape {shape}. One number for each of the {SIZE} tokens is needed: a list, a "
        "NumPy array or a torch tensor of floats or integers, shape (width,) with width at least that."
    )


def test_function_model_has_no_chat_template() -> None:
    """Messages for a model without a template are an error, and not silently joined."""
    model = FunctionModel(random_logits(SIZE), ByteTokenizer())
    assert not model.has_chat_template
    with pytest.raises(ModelError, match=r"^logits has no chat template\. Give it a plain prompt\.$"):
        model.encode([{"role": "user", "content": "a"}])
