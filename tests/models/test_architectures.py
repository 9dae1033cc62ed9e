"""The architectures that people run: texts do not depend on how they are written, and what cannot work is refused."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import numpy as np
import pytest
from doubles import byte_level_tokenizer, real_tokenizer, tiny
from pydantic import BaseModel, Field

from structured import Beams, Extractor, Repetition, extract, extract_batch
from structured.errors import ModelError, OutOfMemoryError
from structured.integrations.logits_processor import GuidedLogitsProcessor
from structured.models.transformers_model import can_append_several

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from structured.extraction.extractor import Options
    from structured.models.transformers_model import HuggingFaceModel

CHAT_TEMPLATE = "{% for m in messages %}<turn>{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}<turn>assistant:"

DOCUMENTS = ("Jason is 25 years old.", "0123456789" * 3, "Ana Brandt, 31, is a nurse: alpha gamma.")


class Entry(BaseModel):
    """A type with what is forced, what is chosen and what is free."""

    name: Annotated[str, Field(max_length=10)]
    age: Annotated[int, Field(ge=0, le=999)]
    kind: Literal["alpha beta", "alpha gamma"]


_HEADS: dict[str, Any] = {"num_key_value_heads": 2, "max_position_embeddings": 2048}
_SLIDING: dict[str, Any] = {**_HEADS, "head_dim": 8, "sliding_window": 24}
_MAMBA_2: dict[str, Any] = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_n_groups": 1, "mamba_d_state": 8}
_LINEAR: dict[str, Any] = {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8}
_MIXED: dict[str, Any] = {"layer_types": ["linear_attention", "full_attention"], "linear_value_head_dim": 8, **_LINEAR}

ATTENTION: dict[str, dict[str, Any]] = {
    "llama": _HEADS,
    "mistral": {**_HEADS, "sliding_window": 24},
    "gemma3_text": {**_SLIDING, "layer_types": ["sliding_attention", "full_attention"]},
    "deepseek_v3": {"max_position_embeddings": 2048},
    "gpt2": {"n_positions": 2048},
    "gemma2": {**_SLIDING, "layer_types": ["sliding_attention", "full_attention"]},
    "phi3": _HEADS,
    "qwen2": _HEADS,
    "qwen3": {**_HEADS, "head_dim": 8},
    "gpt_neox": {"max_position_embeddings": 2048},
    "falcon": {"max_position_embeddings": 2048},
    "bloom": {},
    "gpt_oss": _SLIDING,
}

RECURRENT: dict[str, dict[str, Any]] = {
    "mamba": {"state_size": 8, "time_step_rank": 4},
    "jamba": {**_HEADS, "attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 8, "mamba_dt_rank": 4},
    "falcon_mamba": {"state_size": 8, "time_step_rank": 4},
    "mamba2": {"state_size": 8, "num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 16},
    "granitemoehybrid": {**_HEADS, **_MAMBA_2, "layer_types": ["mamba", "attention"], "num_experts_per_tok": 1},
    "bamba": {**_HEADS, **_MAMBA_2, "attn_layer_indices": [1]},
    "qwen3_next": {**_HEADS, **_MIXED, "head_dim": 8, "shared_expert_intermediate_size": 16},
}
"""Architectures that keep a state in place of some keys and values."""

FORGETFUL = {"mamba", "falcon_mamba", "jamba"}
"""Those that forgot a text, at the time of writing, when several tokens were appended to it."""


def network(name: str, width: int) -> "PreTrainedModel":
    """Return a network with weights that prefer some tokens clearly, so that rounding decides nothing."""
    return tiny(name, width, initializer_range=0.5, **ATTENTION.get(name, RECURRENT.get(name, {})))


def with_tokenizer(name: str, tokenizer: Any) -> "HuggingFaceModel":
    from structured.models.transformers_model import HuggingFaceModel

    return HuggingFaceModel(network(name, len(tokenizer) + 13), tokenizer)


def by_generate(model: "HuggingFaceModel") -> list[Entry]:
    """Return what the loop of transformers writes greedily from the same prompts, one by one."""
    import torch

    extractor, found = Extractor(Entry, model=model), []
    for document in DOCUMENTS:
        ids = torch.tensor([model.encode(extractor.prompt(document))])
        processor = GuidedLogitsProcessor(Entry, model, max_tokens=60)
        written = model.model.generate(  # type: ignore[operator]
            ids,
            attention_mask=torch.ones_like(ids),
            logits_processor=[processor],
            max_new_tokens=61,
            do_sample=False,
            pad_token_id=0,
        )
        found += processor.read(written)
    return found


def assert_texts_do_not_depend_on_the_way(model: "HuggingFaceModel") -> None:
    """Compare one by one with batches, a shared instruction, no forced tokens, beams, and the loop of transformers."""
    options: Options = {"model": model, "max_tokens": 60, "retries": 0, "repetition": Repetition(stop=False)}
    expected = [extract(Entry, document, **options) for document in DOCUMENTS]
    assert len(set(map(str, expected))) > 1 or model.model.config.model_type in RECURRENT  # some forget a document soon
    assert extract_batch(Entry, DOCUMENTS, batch_size=2, **options) == expected
    assert extract_batch(Entry, DOCUMENTS, jump_forward=False, **options) == expected
    assert by_generate(model) == expected
    for more in ({"instructions": "Be exact. " * 12}, {"search": Beams(2)}):
        alone = [extract(Entry, document, **options, **more) for document in DOCUMENTS[:2]]
        assert extract_batch(Entry, DOCUMENTS[:2], **options, **more) == alone


QUICK = ("llama", "gemma3_text", "jamba")


@pytest.mark.parametrize(
    "name",
    [*QUICK, *(pytest.param(one, marks=pytest.mark.slow) for one in (*ATTENTION, *RECURRENT) if one not in QUICK)],
)
@pytest.mark.thorough
def test_texts_do_not_depend_on_how_they_are_written(name: str) -> None:
    assert_texts_do_not_depend_on_the_way(with_tokenizer(name, byte_level_tokenizer(chat_template=CHAT_TEMPLATE)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tokenizer", "name"),
    [
        ("llama3", "llama"),
        ("mistral-v1", "mistral"),
        ("tekken", "mistral"),
        ("qwen3", "qwen3"),
        ("gemma3", "gemma3_text"),
        ("deepseek-v3", "deepseek_v3"),
        ("smollm2", "llama"),
        ("gpt2", "gpt2"),
    ],
)
def test_texts_of_real_tokenizers_do_not_depend_on_how_they_are_written(tokenizer: str, name: str) -> None:
    """Each with the architecture that it was made for, and random weights."""
    assert_texts_do_not_depend_on_the_way(with_tokenizer(name, real_tokenizer(tokenizer)))


@pytest.mark.thorough
@pytest.mark.parametrize("name", RECURRENT)
def test_recurrences_are_read_as_a_whole(name: str) -> None:
    """What prompts share, uneven prompts, and several tokens at once: the logits are those of one pass."""
    import torch

    model = with_tokenizer(name, byte_level_tokenizer())
    assert model.network.can_append_several_tokens == (name not in FORGETFUL)
    rng = np.random.default_rng(0)

    def some(count: int) -> list[int]:
        return rng.integers(5, 200, count).tolist()

    def assert_right(found: Any, written: Sequence[Sequence[int]]) -> None:
        for logits, token_ids in zip(found, written, strict=True):
            with torch.inference_mode():
                alone = model.model(input_ids=torch.tensor([token_ids]), use_cache=False).logits[0, -1].numpy()
            np.testing.assert_allclose(logits, alone, atol=2e-3 * float(alone.std()))

    beginning = some(40)
    for shared, counts in ((0, (7, 3, 12)), (len(beginning), (3, 3, 3)), (len(beginning), (5, 1, 3))):
        written = [beginning + some(count) for count in counts]
        batch, found = model.prefill(written, shared=shared)
        assert_right(found, written)
        for count in (1, 4, 1):
            new = [some(count) for _ in written]
            written = [[*before, *more] for before, more in zip(written, new, strict=True)]
            assert_right(batch.forward(new), written)


class Text:
    """A cache of texts for a model that is made of functions of all tokens so far."""

    def __init__(self, rows: int) -> None:
        self.rows: list[list[int]] = [[] for _ in range(rows)]


State = Callable[[list[int], int, int], list[int]]
"""From all tokens of a text, how many of them were there before the pass, and how many are new, to those it knows."""


def reader(state: State) -> Callable[..., Any]:
    """Return what reads as a model would whose logits depend on what `state` leaves of a text."""
    import torch

    def logits(known: Sequence[int]) -> Any:
        return torch.randn(50, generator=torch.Generator().manual_seed(hash(tuple(known))))

    def read(cache: Text, token_ids: Sequence[Sequence[int]], window: int) -> Any:
        found = []
        for row, new in zip(cache.rows, token_ids, strict=True):
            before = len(row)
            row.extend(new)
            ends = range(len(row) - window, len(row) + 1)
            found.append(torch.stack([logits(state(row[:end], before, len(new))) for end in ends]))
        return torch.stack(found)

    return read


def test_a_model_that_forgets_is_found_out() -> None:
    """One that keeps all takes several tokens; one that forgets for several, one; others are refused by name."""
    cache: Any = Text
    assert can_append_several("Whole", cache, reader(lambda row, *_: row))
    assert not can_append_several("Several", cache, reader(lambda row, before, new: row if new == 1 else row[before:]))
    message = r"^One cannot be used: in transformers .* a text that it reads token by token than for the whole\. Use "
    with pytest.raises(ModelError, match=message):
        can_append_several("One", cache, reader(lambda row, before, _: row[before:]))
    whole = reader(lambda row, *_: row)
    with pytest.raises(ModelError, match=r"has other logits for a text in a batch than for the text alone\."):
        can_append_several("Batch", cache, lambda texts, *others: whole(texts, *others) * (3 - 2 * len(texts.rows)))  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match=r"it does not go on with a text: ZeroDivisionError: .* zero\. Use another"):
        can_append_several("Failing", cache, reader(lambda row, *_: row[: 1 // 0]))


REFUSED = {
    "bert": r"^BertLMHeadModel is an encoder, each token of which sees those after it, and only causal",
    "roberta": r"^RobertaForCausalLM is an encoder",
    "rwkv": r"^RwkvForCausalLM takes no cache of transformers",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_models_of_other_kinds_are_refused(name: str) -> None:
    with pytest.raises(ModelError, match=REFUSED[name]):
        with_tokenizer(name, byte_level_tokenizer())


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("minimax", {"layer_types": ["linear_attention", "full_attention"], "head_dim": 8, "block_size": 16}),
        ("recurrent_gemma", {"block_types": ["recurrent", "attention"], "lru_width": 32, "attention_window_size": 24}),
    ],
)
def test_models_that_go_on_with_no_text_are_refused(name: str, options: dict[str, Any]) -> None:
    """One has a cache of its own, the other keeps its state beside the cache, where another text overwrites it."""
    from structured.models.transformers_model import HuggingFaceModel

    tokenizer = byte_level_tokenizer()
    model = HuggingFaceModel(tiny(name, len(tokenizer), **options), tokenizer)
    with pytest.raises(ModelError, match=r"ForCausalLM cannot be used: in transformers .* Use another version of"):
        model.prefill([[5, 6, 7]])


def test_encoder_with_a_decoder_is_refused() -> None:
    from transformers import T5Config, T5ForConditionalGeneration

    from structured.models.transformers_model import HuggingFaceModel

    tokenizer = byte_level_tokenizer()
    config = T5Config(vocab_size=len(tokenizer), d_model=16, d_kv=4, d_ff=16, num_layers=1, num_heads=2)
    with pytest.raises(ModelError, match=r"^T5ForConditionalGeneration has an encoder and a decoder, and only causal"):
        HuggingFaceModel(T5ForConditionalGeneration(config), tokenizer)  # type: ignore[arg-type]


class Wrapper:
    """What PEFT makes of a model: its forward pass hides the arguments of the model inside."""

    def __init__(self, inside: Any, *, is_prompt_learning: bool) -> None:
        self.inside = inside
        self.peft_config = {"default": SimpleNamespace(is_prompt_learning=is_prompt_learning)}

    def get_base_model(self) -> Any:
        return self.inside

    def forward(self, *_: Any, **__: Any) -> Any:
        raise AssertionError


def test_adapters_of_peft() -> None:
    """Those that change weights are in the model inside, which is used; others are refused."""
    from structured.models.transformers_model import HuggingFaceModel

    tokenizer = byte_level_tokenizer()
    inside = network("llama", len(tokenizer))
    wrapped: Any = Wrapper(inside, is_prompt_learning=False)
    assert HuggingFaceModel(wrapped, tokenizer).model is inside
    wrapped = Wrapper(inside, is_prompt_learning=True)
    with pytest.raises(ModelError, match=r"^The model has an adapter of PEFT \(SimpleNamespace\) that puts tokens"):
        HuggingFaceModel(wrapped, tokenizer)


def test_a_prefix_that_exceeds_the_memory_is_too_large_for_the_batch() -> None:
    """Whatever a device has no memory for in a prefill, the batch is halved."""
    import torch

    from structured.models.transformers_model import HuggingFaceModel

    def exceed(_: object) -> None:
        raise torch.OutOfMemoryError("full")

    model = object.__new__(HuggingFaceModel)
    model.network = cast("Any", SimpleNamespace(can_append_several_tokens=True, prefix=exceed))
    model.pass_cost = 1.0
    with pytest.raises(OutOfMemoryError):
        model.prefill([[0] * 100, [0] * 101], shared=64)
