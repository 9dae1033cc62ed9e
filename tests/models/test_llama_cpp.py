"""GGUF files by llama.cpp: tokens, prompts and texts as transformers has them, and batches in which each is as alone.

What needs llama-cpp-python runs only where it is installed, and what needs a model only where SmolLM2 has been fetched.
"""

import gc
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from doubles import REAL_NAMES, real_tokenizer, real_vocabulary
from effort import examples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from structured import Beams, extract, extract_batch, load_model
from structured.errors import ModelError, OutOfMemoryError, PromptError
from structured.models.llama_cpp import (
    BF16_PASS_COST,
    CPU_PASS_COST,
    GPU_PASS_COST,
    MAX_SEQUENCES,
    SHORT_CONTEXT,
    LlamaCppModel,
    is_installed,
)
from structured.models.llama_tokenizer import LlamaTokenizer, chat_template, metadata
from structured.models.prompt_encoding import PromptEncoder
from structured.models.protocol import MIN_SHARED

DOCUMENTS = (
    "Jason is 25 years old.",
    "Ana Brandt, 31, is a nurse. She lives in Köln with her two cats, and has done so since 2004.",
    "Tom Reed (42) runs the shop.",
    "Zoë, 7, likes 🙂 and 日本.",
)

PLAIN = (
    "Jason is 25 years old.",
    "Maria is 31 years old.",
    "Peter is 42 years old.",
    "Anna is 7 years old.",
)
"""Documents of which no two answers are nearly as likely: rounding decides nothing."""

MIN_CORRELATION = 0.996
"""Of logits that should be the same. llama.cpp rounds a pass over one token otherwise than one over many.

Measured on eight random tokens: at least 0.9979 where only the passes differ, at most 0.9935 where one token does.
"""

SPACED_DIGIT = re.compile(r"\s\s\d")


class Person(BaseModel):
    name: str = Field(max_length=40)
    age: int = Field(ge=0, le=120)
    mood: Literal["good", "bad"] | None


@pytest.fixture(scope="module")
def llama(real_model: Path) -> LlamaCppModel:
    """Return the real model, with room for few texts."""
    if not is_installed():
        pytest.skip("llama-cpp-python is not installed: pip install llama-cpp-python jinja2.")
    model = load_model(str(real_model), context_length=1024)
    assert isinstance(model, LlamaCppModel)
    return model


@pytest.fixture(scope="module")
def library() -> Any:
    return pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed.")


@pytest.fixture(scope="module")
def encoder() -> PromptEncoder:
    """Return what encodes prompts for the same model by transformers."""
    return PromptEncoder(real_tokenizer("smollm2"))


def messages(text: str) -> Any:
    return [{"role": "user", "content": f"Extract the person.\n\nText:\n{text}"}]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        "smollm2",
        "qwen3",
        *(pytest.param(one, marks=pytest.mark.slow) for one in (*REAL_NAMES, "gemma3", "deepseek-v3")),
    ],
)
def test_chat_templates_are_rendered_as_transformers_does(name: str) -> None:
    """With the control tokens that they name, whatever they use of the language."""
    tokenizer = real_tokenizer(name)
    if tokenizer.chat_template is None:
        pytest.skip(f"{name} has no chat template.")
    turns = [{"role": role, "content": f" a {role}'s\ntext "} for role in ("user", "assistant", "user")]
    render = chat_template(tokenizer.chat_template, tokenizer.special_tokens_map)
    assert render(turns) == tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)


def test_chat_template_is_code_that_is_kept_in() -> None:
    """It comes with a file from anywhere: it may neither reach out of the sandbox, nor stop but by an error."""
    hostile = "{{ ''.__class__.__mro__[1].__subclasses__() }}"
    with pytest.raises(Exception, match="unsafe"):
        chat_template(hostile, {})([])
    with pytest.raises(Exception, match="no such role"):
        chat_template("{{ raise_exception('no such role') }}", {})([])
    generated = "{% generation %}{{ messages[0]['content'] }}{% endgeneration %}{{ messages | tojson }}"
    assert chat_template(generated, {})([{"content": "<é>"}]) == '<é>[{"content": "<é>"}]'


def test_vocabulary_is_that_of_transformers(llama: LlamaCppModel) -> None:
    """Token by token; llama.cpp knows more tokens that end a text, none of which has bytes."""
    expected = real_vocabulary("smollm2")
    assert llama.vocabulary.tokens == expected.tokens
    assert llama.vocabulary.end_token_ids >= expected.end_token_ids
    assert llama.has_chat_template


def lacking(llama: LlamaCppModel) -> set[int]:
    """The bytes that no token of the vocabulary is."""
    return {byte for byte in range(256) if bytes([byte]) not in llama.vocabulary.tokens}


@settings(max_examples=examples(300), suppress_health_check=list(HealthCheck))
@given(text=st.text(max_size=30) | st.text("aé \n\t\r'0.1<|>", max_size=40))
def test_texts_are_encoded_as_transformers_does(llama: LlamaCppModel, encoder: PromptEncoder, text: str) -> None:
    """But for white space before digits, of which llama.cpp splits off the last character less often.

    A character of a byte that no token has is U+FFFD for llama.cpp, and less for transformers.
    """
    assume(not lacking(llama) & set(text.encode()))
    spelled = [b"".join(llama.vocabulary.tokens[i] or b"" for i in one.encode(text)) for one in (llama, encoder)]
    assert spelled[0] == spelled[1]
    if not SPACED_DIGIT.search(text):
        assert llama.encode(text) == encoder.encode(text)


@settings(max_examples=examples(100), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whole_prompts_are_encoded_as_transformers_does(
    llama: LlamaCppModel, encoder: PromptEncoder, data: st.DataObject
) -> None:
    """Template, control tokens and contents, also where these spell control tokens, or halves of them."""
    spelled = st.sampled_from([*llama._tokenizer.control_tokens.values(), "<|im_", "end|>", "\nuser\n", "<|"])
    parts = st.lists(spelled | st.text(max_size=8), min_size=1, max_size=6)
    turns = [
        {"role": role, "content": "".join(data.draw(parts))}
        for role in data.draw(st.sampled_from([["user"], ["system", "user"], ["user", "assistant", "user"]]))
    ]
    said = "".join(f"\n{turn['content']}" for turn in turns)  # the template puts a line end before each
    if not SPACED_DIGIT.search(said) and not lacking(llama) & set(said.encode()):
        assert llama.encode(turns) == encoder.encode(turns)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_harmless_prompts_are_what_llama_cpp_reads(llama: LlamaCppModel, library: Any, document: str) -> None:
    """Its own tokenizer has the same tokens for the whole text of a prompt, in which it looks for control tokens."""
    turns = messages(document)
    template = metadata(llama.llama, "tokenizer.chat_template")
    assert template is not None
    text = chat_template(template, {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"})(turns)
    ids = (library.llama_token * 4096)()
    vocabulary = library.llama_model_get_vocab(llama.llama.model)
    count = library.llama_tokenize(vocabulary, text.encode(), len(text.encode()), ids, 4096, True, True)
    assert llama.encode(turns) == list(ids[:count])


def test_words_that_llama_cpp_finds_in_any_text_are_cut(llama: LlamaCppModel) -> None:
    """`<think>` and the like are tokens of the user in a GGUF file, which it makes of text; not here."""
    tokenizer = LlamaTokenizer(llama.llama, "real")
    plain = tokenizer._tokenize

    def eager(text: str) -> list[int]:
        return (
            [7 if part == "<think>" else -1 for part in text.partition("<think>")] if "<think>" in text else plain(text)
        )

    tokenizer._tokenize = eager  # type: ignore[method-assign]
    tokenizer.control_tokens[7] = "<think>"
    tokenizer._ids["<think>"] = 7
    token_ids = tokenizer.encode_text("a <think> b")
    assert token_ids == plain("a <") + plain("think> b")
    tokenizer._tokenize = lambda _: [7]  # type: ignore[method-assign]
    with pytest.raises(PromptError, match=r"^The text spells control tokens of the model: '<think>'\."):
        tokenizer.encode_text("a <think> b")


def alone(model: LlamaCppModel, token_ids: Sequence[int]) -> NDArray[np.float32]:
    """Return the next logits by one pass over one text, of which nothing has been kept."""
    _, logits = model.prefill([token_ids])
    return logits[0]


@settings(max_examples=examples(3), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_happens_to_a_batch_each_text_is_read_as_alone(llama: LlamaCppModel, data: st.DataObject) -> None:
    """Texts share a beginning, get more tokens or fewer, are rolled back, leave, are doubled and join."""
    tokens = st.lists(st.integers(300, 9000), min_size=1, max_size=3)
    beginning = data.draw(st.lists(st.integers(300, 9000), min_size=MIN_SHARED, max_size=MIN_SHARED))

    def prefill() -> tuple[Any, list[list[int]]]:
        prompts = [beginning + rest for rest in data.draw(st.lists(tokens, min_size=1, max_size=3))]
        batch, logits = llama.prefill(prompts, shared=data.draw(st.sampled_from([0, len(beginning)])))
        check(prompts, logits)
        return batch, prompts

    def check(texts: list[list[int]], rows: Any) -> None:
        for text, logits in zip(texts, rows, strict=True):
            assert np.corrcoef(logits, alone(llama, text))[0, 1] > MIN_CORRELATION

    batch, texts = prefill()
    for _ in range(data.draw(st.integers(1, 3))):
        if data.draw(st.booleans()):
            others, more = prefill()
            batch.join(others)
            texts += more
        if data.draw(st.booleans()):
            chosen = data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=4))
            batch.select(chosen)
            texts = [texts[row] for row in chosen]
        window = data.draw(st.integers(0, 3))
        new = [data.draw(tokens) for _ in texts]
        proposed = [data.draw(st.lists(st.integers(300, 9000), max_size=window)) for _ in texts]
        rows = batch.forward([mine + hope for mine, hope in zip(new, proposed, strict=True)], window=window)
        texts = [text + mine for text, mine in zip(texts, new, strict=True)]
        check(texts, [np.atleast_2d(row)[-1 - len(hope)] for row, hope in zip(rows, proposed, strict=True)])
        batch.rollback(list(map(len, proposed)))


def test_tokens_are_read_once(llama: LlamaCppModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """What prompts share is read by the first of them, and by later ones no more; so is what is appended."""
    read: list[int] = []
    decode = llama.context._decode

    def counting(tokens: NDArray[np.int32], *others: Any) -> NDArray[np.float32]:
        read.append(len(tokens))
        return decode(tokens, *others)

    monkeypatch.setattr(llama.context, "_decode", counting)
    monkeypatch.setattr(llama.context, "tokens_at_once", 16)
    beginning = list(range(1000, 1040))
    batch, _ = llama.prefill([[*beginning, 7, *range(length)] for length in range(3, 6)], shared=len(beginning))
    assert sum(read) == len(beginning) + 4 + 5 + 6
    assert max(read) == 16
    read.clear()
    batch.forward([[8], [8, 9], [10]])
    llama.prefill([[*beginning, 9]], shared=len(beginning))
    assert read == [4, 1]


def test_kept_beginnings_fill_half_of_the_cache(llama: LlamaCppModel, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []
    decode = llama.context._decode

    def noted(tokens: NDArray[np.int32], *others: Any) -> Any:
        reads.append(len(tokens))
        return decode(tokens, *others)

    monkeypatch.setattr(llama.context, "_decode", noted)
    beginnings = [[first, *range(1000, 1099)] for first in range(300, 307)]
    for beginning in beginnings:
        llama.prefill([[*beginning, 2000]], shared=100)
    assert sum(map(len, llama.context._prefixes)) <= llama.context_length // 2
    reads.clear()
    for beginning in beginnings[-5:]:
        llama.prefill([[*beginning, 2000]], shared=100)
    assert reads == [1] * 5, "the last five are kept"
    llama.prefill([[*beginnings[0], 2000]], shared=100)
    assert reads[5:] == [100, 1]


def test_texts_whose_beginning_is_not_read_leave_no_trace(
    llama: LlamaCppModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    gc.collect()
    monkeypatch.setattr(llama.context, "_decode", interrupted)
    with pytest.raises(KeyboardInterrupt):
        llama.prefill([[*range(2000, 2100), 300]] * 3, shared=100)
    assert len(llama.context._free) + len(llama.context._prefixes) == MAX_SEQUENCES


@pytest.mark.parametrize(("tokens", "may_be"), [(SHORT_CONTEXT, True), (SHORT_CONTEXT + 1, False)])
def test_small_contexts_are_quick(real_model: Path, llama: LlamaCppModel, tokens: int, may_be: bool) -> None:
    """Where the processor multiplies BF16. What is read is the same."""
    library = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed.")
    model = load_model(str(real_model), context_length=tokens)
    assert isinstance(model, LlamaCppModel)
    quick = may_be and b"AVX512_BF16 = 1" in library.llama_print_system_info() and model.pass_cost != GPU_PASS_COST
    assert model.context.has_bf16_cache == quick
    assert model.pass_cost == (BF16_PASS_COST if quick else CPU_PASS_COST)
    prompt = model.encode(DOCUMENTS[1])
    assert np.corrcoef(alone(model, prompt), alone(llama, prompt))[0, 1] > MIN_CORRELATION


def test_texts_that_are_gone_make_room(llama: LlamaCppModel) -> None:
    """A batch that nobody holds leaves its room to others; one that does not fit is refused, and leaves none behind."""
    small = LlamaCppModel(llama.llama, name="small", context_length=256)
    more_than_half = list(range(1000, 1140))
    for _ in range(2):
        batch, _ = small.prefill([more_than_half])
        del batch
        gc.collect()
    with pytest.raises(OutOfMemoryError, match=r"^small has no room .* is 256 tokens\. Raise context_length"):
        small.prefill([more_than_half, more_than_half[::-1]])
    with pytest.raises(OutOfMemoryError, match="at most 72 texts"):
        small.prefill([[5]] * 100)
    small.prefill([more_than_half])


def test_batches_that_do_not_fit_are_halved(llama: LlamaCppModel) -> None:
    """Three documents, of which the context has room for some."""
    small = LlamaCppModel(llama.llama, context_length=256)
    documents = [f"Jason is {20 + number} years old. {'He likes tea. ' * 15}" for number in range(3)]
    assert sum(len(small.encode(messages(document))) for document in documents) > 256
    found = extract_batch(Person, documents, model=small, batch_size=3)
    assert [person.age for person in found] == [20, 21, 22]


@pytest.fixture(scope="module")
def one_by_one(llama: LlamaCppModel) -> list[Person]:
    """Return what is extracted from plain documents, each alone."""
    return [extract(Person, document, model=llama) for document in PLAIN]


@pytest.mark.parametrize("options", [{"jump_forward": False}, {"batch_size": 3}], ids=repr)
def test_texts_do_not_depend_on_how_they_are_written(
    llama: LlamaCppModel, one_by_one: list[Person], options: dict[str, Any]
) -> None:
    """On plain documents: where two tokens are close, the split into passes may round either to the front."""
    assert [person.age for person in one_by_one] == [25, 31, 42, 7]
    assert extract_batch(Person, PLAIN, model=llama, **options) == one_by_one


def test_beam_search(llama: LlamaCppModel) -> None:
    """Beams fork and leave in one context."""
    assert extract(Person, DOCUMENTS[0], model=llama, search=Beams(3)).age == 25


def test_loaded_llama_is_a_model(
    llama: LlamaCppModel, library: Any, real_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the options that it was loaded with; it can be used for itself meanwhile."""
    plain = library.llama_model_default_params()
    plain.use_extra_bufts = False  # see Weights
    monkeypatch.setattr(library.llama_cpp, "llama_model_default_params", lambda: plain)
    own = library.Llama(str(real_model), n_ctx=700, verbose=False)
    model = load_model(own)
    assert isinstance(model, LlamaCppModel)
    assert (model.context_length, model.name) == (700, str(real_model))
    own.eval([1, 2, 3])
    assert extract(Person, DOCUMENTS[0], model=model) == extract(Person, DOCUMENTS[0], model=llama)
    assert own.n_tokens == 3
    with pytest.raises(PromptError, match="700"):
        extract(Person, DOCUMENTS[0], instructions="word " * 800, model=model)
    own.close()
    with pytest.raises(ModelError, match=r"was closed\. Load it again\.$"):
        model.prefill([[5]])


def test_options_of_two_libraries(llama: LlamaCppModel, real_model: Path) -> None:
    assert load_model(str(real_model), context_length=1024) is llama
    with pytest.raises(ModelError, match=r"Leave out device_map and dtype, which are for transformers\.$"):
        load_model(real_model, gpu_layers=0, dtype="float32")
    with pytest.raises(ModelError, match=r"context_length is 9,000, and .* was trained for 1 to 8,192 tokens\.$"):
        load_model(real_model, context_length=9000)


def test_damaged_file(llama: LlamaCppModel, real_model: Path, tmp_path: Path) -> None:
    assert llama
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(real_model.read_bytes()[: 1 << 20])
    with pytest.raises(ModelError, match=r"^llama\.cpp cannot load .* the file is damaged"):
        load_model(damaged)


@pytest.mark.slow
def test_transformers_writes_the_same(llama: LlamaCppModel, real_model: Path) -> None:
    """Dequantised, from plain documents; its tokens are the same for all."""
    pytest.importorskip("gguf", reason="transformers reads GGUF files with the package gguf.")
    dequantised = load_model(str(real_model), dtype="float32")
    assert dequantised.vocabulary.tokens == llama.vocabulary.tokens
    for text in (*DOCUMENTS, "A <|im_end|> in a text.", "<|im_start|>system\n"):
        assert dequantised.encode(messages(text)) == llama.encode(messages(text))
    found = [[extract(Person, text, model=model) for text in PLAIN] for model in (dequantised, llama)]
    assert found[0] == found[1]
