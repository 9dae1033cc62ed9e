"""Low-rank adapters: what they add is scale · B A, in every format and on every road; what does not fit is refused."""

import json
import os
import struct
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from doubles import byte_level_tokenizer, random_logits, tiny
from effort import examples
from gguf_models import write_llama
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from safetensors.torch import save_file

from structured import extract, load_model
from structured.errors import ModelError
from structured.models import ByteTokenizer, LanguageModel
from structured.models.adapters import Heads, LowRank, add_adapter, read_adapter, write_gguf_adapter
from structured.models.checkpoints import FETCHABLE
from structured.models.gguf_file import GgufFile, write_gguf
from structured.models.llama_cpp import LlamaCppModel, is_installed

gguf = pytest.importorskip("gguf", reason="Adapters in GGUF files are dequantised by the package gguf.")

HEADS = Heads(4, 2)

SHAPES = {
    "self_attn.q_proj": (32, 32),
    "self_attn.k_proj": (16, 32),
    "self_attn.v_proj": (16, 32),
    "self_attn.o_proj": (32, 32),
    "mlp.gate_proj": (48, 32),
    "mlp.up_proj": (48, 32),
    "mlp.down_proj": (32, 48),
}
"""Of the matrices of a layer of the tiny model."""

TEXT = [*range(3, 40), 7, 7, 5]

Adapter = dict[str, LowRank]


class Person(BaseModel):
    name: str
    age: int


def random_adapter(*, rank: int = 4, scale: float = 2.0, matrices: Mapping[str, tuple[int, int]] = SHAPES) -> Adapter:
    rng = np.random.default_rng(1)
    return {
        f"model.layers.{layer}.{name}": LowRank(
            rng.normal(size=(rank, columns)).astype(np.float32),
            rng.normal(scale=0.1, size=(rows, rank)).astype(np.float32),
            scale,
        )
        for layer in range(2)
        for name, (rows, columns) in matrices.items()
    }


def save_folder(adapter: Adapter, folder: Path, **options: Any) -> Path:
    """Write an adapter as PEFT does."""
    folder.mkdir(exist_ok=True)
    parts = {f"base_model.model.{name}": one for name, one in adapter.items()}
    tensors = {f"{name}.lora_A.weight": torch.from_numpy(one.a) for name, one in parts.items()}
    tensors |= {f"{name}.lora_B.weight": torch.from_numpy(one.b) for name, one in parts.items()}
    save_file(tensors, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "bias": "none", "init_lora_weights": True, **options}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def save_gguf(adapter: Adapter, path: Path, *, architecture: str = "llama") -> Path:
    write_gguf_adapter(path, adapter, architecture=architecture, heads=HEADS, dtype=np.float32)
    return path


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tiny model with random weights."""
    folder = tmp_path_factory.mktemp("base")
    tokenizer = byte_level_tokenizer()
    tiny("llama", len(tokenizer), num_key_value_heads=2, initializer_range=0.3).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def adapters(tmp_path: Path) -> dict[str, Path]:
    """Return the same adapter in both formats."""
    adapter = random_adapter()
    return {
        "folder": save_folder(adapter, tmp_path / "adapter"),
        "gguf": save_gguf(adapter, tmp_path / "adapter.gguf"),
    }


def logits(model: LanguageModel) -> Any:
    """Return the next logits after a text."""
    _, scores = model.prefill([TEXT])
    return np.asarray(scores[0])


def by_hand(base: Path, adapter: Adapter) -> Any:
    """Return the same logits, of the plain model with the products computed beside each matrix."""
    model: Any = load_model(base, dtype="float32")

    def beside(one: LowRank) -> Callable[..., Any]:
        a, b = torch.from_numpy(one.a), torch.from_numpy(one.b)
        return lambda _, given, found: found + one.scale * (given[0] @ a.T @ b.T)

    hooks = [model.model.get_submodule(name).register_forward_hook(beside(one)) for name, one in adapter.items()]
    try:
        with torch.inference_mode():
            return model.model(torch.tensor([TEXT])).logits[0, -1].numpy()
    finally:
        for hook in hooks:
            hook.remove()


@pytest.mark.parametrize("form", ["folder", "gguf"])
def test_transformers_computes_what_stands_beside_the_matrices(
    base: Path, adapters: dict[str, Path], form: str
) -> None:
    adapted = load_model(base, adapter=adapters[form])
    assert adapted.name == f"{base} with {adapters[form]}"
    assert np.abs(logits(adapted) - by_hand(base, random_adapter())).max() < 1e-4
    assert np.abs(logits(adapted) - logits(load_model(base))).max() > 0.1


@pytest.mark.parametrize(("given", "scale"), [({}, 2.0), ({"use_rslora": True}, 4.0), ({"lora_alpha": 4}, 1.0)])
def test_the_scale_is_that_of_the_configuration(tmp_path: Path, given: dict[str, Any], scale: float) -> None:
    folder = save_folder(random_adapter(), tmp_path / "adapter", **given)
    assert {one.scale for one in read_adapter(folder, model_type="llama", heads=HEADS).values()} == {scale}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")
@pytest.mark.parametrize("use_rslora", [False, True])
def test_folders_that_peft_writes_are_computed_as_peft_does(base: Path, tmp_path: Path, use_rslora: bool) -> None:
    peft = pytest.importorskip("peft", reason="peft is not installed.")
    from transformers import AutoModelForCausalLM

    config = peft.LoraConfig(r=4, target_modules=["q_proj", "up_proj"], use_rslora=use_rslora, init_lora_weights=False)
    wrapped = peft.get_peft_model(AutoModelForCausalLM.from_pretrained(base).eval(), config)
    wrapped.save_pretrained(tmp_path)
    with torch.inference_mode():
        expected = wrapped(torch.tensor([TEXT])).logits[0, -1].numpy()
    assert np.abs(logits(load_model(base, adapter=tmp_path)) - expected).max() < 1e-4


@settings(max_examples=examples(30))
@given(data=st.data())
def test_gguf_files_keep_every_number(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Also where rows are permuted: what is read back is what was written."""
    keys, groups, half = (data.draw(st.integers(1, 4)) for _ in range(3))
    heads, size = Heads(keys * groups, keys), keys * groups * 2 * half
    shapes = {"self_attn.q_proj": (size, 12), "self_attn.k_proj": (size // groups, 12), "mlp.up_proj": (7, 12)}
    adapter = random_adapter(rank=data.draw(st.integers(1, 5)), scale=0.5, matrices=shapes)
    architecture = data.draw(st.sampled_from(["llama", "qwen2", "qwen3"]))
    path = tmp_path_factory.mktemp("gguf") / "adapter.gguf"
    write_gguf_adapter(path, adapter, architecture=architecture, heads=heads, dtype=np.float32)
    found = read_adapter(path, model_type=architecture, heads=heads)
    assert found.keys() == adapter.keys()
    for name, one in adapter.items():
        assert found[name].scale == one.scale
        assert np.array_equal(found[name].a, one.a)
        assert np.array_equal(found[name].b, one.b)


def test_rows_of_queries_and_keys_stand_pair_by_pair(tmp_path: Path) -> None:
    """In a head of eight rows, rotary positions turn rows 0 and 4 together: in GGUF they are neighbours."""
    file = GgufFile(save_gguf(random_adapter(), tmp_path / "adapter.gguf"))
    for matrix, name, heads in (("attn_q", "q_proj", 4), ("attn_k", "k_proj", 2)):
        b = random_adapter()[f"model.layers.1.self_attn.{name}"].b
        order = [8 * head + row for head in range(heads) for pair in range(4) for row in (pair, pair + 4)]
        assert np.array_equal(file.floats(f"blk.1.{matrix}.weight.lora_b"), b[order])


def test_the_package_gguf_reads_what_is_written(adapters: dict[str, Path]) -> None:
    reader, file = gguf.GGUFReader(adapters["gguf"]), GgufFile(adapters["gguf"])
    assert {tensor.name for tensor in reader.tensors} == file.tensors.keys()
    for tensor in reader.tensors:
        assert np.array_equal(tensor.data, file.floats(tensor.name))
    for key, value in file.metadata.items():
        assert reader.fields[key].contents() == value


@pytest.mark.parametrize("kind", ["F32", "F16", "BF16", "Q8_0", "Q4_1"])
def test_tensors_are_read_as_the_package_gguf_stores_them(tmp_path: Path, kind: str) -> None:
    """With metadata of every kind before them, which have to be skipped byte by byte."""
    numbers = np.random.default_rng(1).normal(size=(3, 64)).astype(np.float32)
    writer = gguf.GGUFWriter(tmp_path / "one.gguf", "llama")
    writer.add_array("texts", ["a", "bé"])
    writer.add_array("numbers", [1, -2])
    writer.add_bool("flag", True)
    writer.add_float64("double", 0.5)
    writer.add_int16("short", -3)
    stored = gguf.GGMLQuantizationType[kind]
    writer.add_tensor("t", gguf.quants.quantize(numbers, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    file = GgufFile(tmp_path / "one.gguf")
    expected = gguf.quants.dequantize(gguf.quants.quantize(numbers, stored), stored)
    assert np.array_equal(file.floats("t"), expected)
    assert file.metadata["texts"] == ["a", "bé"]
    assert [file.metadata[key] for key in ("numbers", "flag", "double", "short")] == [[1, -2], True, 0.5, -3]


def test_a_gguf_file_without_alignment_is_damaged(tmp_path: Path) -> None:
    """Nothing stands at a multiple of zero."""
    write_gguf(tmp_path / "one.gguf", {"general.alignment": 0}, {})
    with pytest.raises(ModelError, match=r"one\.gguf' cannot be read as a GGUF file: .*by zero"):
        GgufFile(tmp_path / "one.gguf")


@pytest.mark.parametrize("kind", [0, 5, 10])
def test_a_list_longer_than_its_gguf_file_is_refused_at_once(tmp_path: Path, kind: int) -> None:
    """Of bytes or numbers: none of those that the file has in their place is read, however large it is."""
    path = tmp_path / "one.gguf"
    entry = struct.pack("<Q", 1) + b"a" + struct.pack("<IIQ", 9, kind, 1 << 40)
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + entry)
    os.truncate(path, 1 << 32)
    started = time.process_time()
    with pytest.raises(ModelError, match=r"one\.gguf' cannot be read as a GGUF file: .*Download it again"):
        GgufFile(path)
    assert time.process_time() - started < 1


def test_numbers_that_cannot_be_dequantised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a kind that the package gguf does not know or read, or without the package."""
    path = tmp_path / "one.gguf"
    write_gguf(path, {}, {"t": np.ones((2, 3), np.float32)})
    content, shape, kind = path.read_bytes(), struct.pack("<QQ", 3, 2), struct.pack("<I", 0)
    for number, reason in ((24, "Dequantization for I8 is not yet"), (4, "4 is not a valid"), (8, "cannot reshape")):
        path.write_bytes(content.replace(shape + kind, shape + struct.pack("<I", number)))
        with pytest.raises(ModelError, match=rf"^t in .*one\.gguf' cannot be read: {reason}.*Download or convert it"):
            GgufFile(path).floats("t")
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(ModelError, match=r"one\.gguf' need the package gguf: pip install gguf\.$"):
        GgufFile(path).floats("t")


def test_an_adapter_of_rank_zero_is_refused(tmp_path: Path) -> None:
    """Its scale is divided by the rank."""
    metadata = {"general.type": "adapter", "general.architecture": "llama", "adapter.type": "lora"}
    sides = {"a": np.zeros((0, 8), np.float32), "b": np.zeros((8, 0), np.float32)}
    tensors = {f"blk.0.attn_v.weight.lora_{side}": tensor for side, tensor in sides.items()}
    write_gguf(tmp_path / "a.gguf", {**metadata, "adapter.lora.alpha": 4.0}, tensors)
    with pytest.raises(ModelError, match=r"has no two thin matrices with a product for blk\.0\.attn_v: A \(0, 8\)"):
        read_adapter(tmp_path / "a.gguf", model_type="llama", heads=HEADS)


@settings(max_examples=examples(100))
@given(data=st.data())
def test_damaged_files_are_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Wherever a file is cut or a byte is changed, it is read or there is a ModelError."""
    path = tmp_path_factory.mktemp("damaged") / "adapter.gguf"
    save_gguf(random_adapter(matrices={"self_attn.v_proj": (3, 5)}), path)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(5, len(content) - 1)) :]
    else:
        content[data.draw(st.integers(4, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        read_adapter(path, model_type="llama", heads=HEADS)
    except ModelError:
        return


V = "base_model.model.model.layers.0.self_attn.v_proj"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"use_dora": True}, r"says use_dora=True in adapter_config\.json, which is not supported\. Load model and"),
        ({"bias": "all"}, r"says bias='all'"),
        ({"modules_to_save": ["lm_head"]}, r"says modules_to_save="),
        ({"alpha_pattern": {"q_proj": 3}}, r"says alpha_pattern="),
        ({"init_lora_weights": "pissa"}, r"says init_lora_weights='pissa'"),
        ({"an_option_of_tomorrow": 1}, r"says an_option_of_tomorrow=1"),
        ({"peft_type": "IA3"}, r"is an adapter of the kind 'IA3', and only LORA"),
        ({"r": 8}, r"has the rank 8 in adapter_config\.json, and 4 in adapter_model\.safetensors"),
        ({"lora_alpha": None}, r"cannot be read: TypeError"),
    ],
)
def test_options_of_peft_that_would_be_left_out(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    folder = save_folder(random_adapter(), tmp_path / "adapter", **options)
    with pytest.raises(ModelError, match=message):
        read_adapter(folder, model_type="llama", heads=HEADS)


def shaped(name: str, rows: int, columns: int, *, layer: int = 0) -> Adapter:
    return {f"model.layers.{layer}.{name}": LowRank(np.ones((4, columns)), np.ones((rows, 4)), 2.0)}


@pytest.mark.parametrize(
    ("adapter", "message"),
    [
        (shaped("self_attn.q_proj", 32, 31), r"in which model\.layers\.0\.self_attn\.q_proj has the shape \(32, 32\)"),
        (shaped("self_attn.q_proj", 32, 32, layer=9), r"in which model\.layers\.9\.self_attn\.q_proj is missing"),
        (shaped("self_attn", 32, 32), r"in which model\.layers\.0\.self_attn is another layer"),
    ],
)
def test_adapters_of_another_model(base: Path, tmp_path: Path, adapter: Adapter, message: str) -> None:
    with pytest.raises(ModelError, match=rf"does not fit this LlamaForCausalLM, {message}"):
        load_model(base, adapter=save_folder(adapter, tmp_path / "adapter"))


def test_a_matrix_that_is_the_table_of_embeddings_too(tmp_path: Path) -> None:
    """What is added to one would be added to the other."""
    model = tiny("llama", 50, tie_word_embeddings=True)
    folder = save_folder({"lm_head": LowRank(np.ones((4, 32)), np.ones((50, 4)), 1.0)}, tmp_path / "adapter")
    with pytest.raises(ModelError, match="lm_head is its table of embeddings too"):
        add_adapter(model, folder)


@pytest.mark.parametrize(
    ("metadata", "names", "message"),
    [
        ({"general.type": "model"}, "v", r"is not a LoRA adapter: its general\.type is 'model'"),
        ({"adapter.type": "control_vector"}, "v", r"its adapter\.type 'control_vector'"),
        ({"adapter.alora.invocation_tokens": 1}, "v", r"activated LoRA"),
        ({"general.architecture": "qwen2"}, "v", r"for models of the architecture 'qwen2', and this one is 'llama'"),
        ({"general.architecture": "bloom"}, "v", r"for the architecture 'bloom', and transformers is given"),
        ({}, "x", r"is for blk\.0\.attn_x, and only 'attn_q', 'attn_k'"),
        ({}, "", r"has no tensors"),
    ],
)
def test_gguf_files_that_are_no_adapter_for_the_model(
    base: Path, tmp_path: Path, metadata: dict[str, Any], names: str, message: str
) -> None:
    known = {"general.type": "adapter", "adapter.type": "lora", "general.architecture": "llama"}
    tensors = {
        f"blk.0.attn_{name}.weight.lora_{part}": np.ones(shape, np.float32)
        for name in names
        for part, shape in (("a", (4, 32)), ("b", (16, 4)))
    }
    write_gguf(tmp_path / "one.gguf", {**known, **metadata}, tensors)
    with pytest.raises(ModelError, match=message):
        load_model(base, adapter=tmp_path / "one.gguf", dtype="float32")


def test_what_has_no_pair_is_refused(tmp_path: Path) -> None:
    folder = save_folder(random_adapter(), tmp_path / "adapter")
    for tensors, message in (
        ({f"{V}.lora_A.weight": torch.ones(4, 32)}, r"no two thin matrices .*v_proj: A \(4, 32\)\."),
        ({f"{V}.lora_magnitude_vector.weight": torch.ones(4)}, "which is not part of a low-rank product"),
    ):
        save_file(tensors, folder / "adapter_model.safetensors")
        with pytest.raises(ModelError, match=message):
            read_adapter(folder, model_type="llama", heads=HEADS)


def test_names_that_are_no_adapter(base: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("GGML")
    for name, message in (
        (
            tmp_path,
            r"is not an adapter: it lacks adapter_config\.json and adapter_model\.safetensors\. Name a GGUF file",
        ),
        ("owner/adapter", r"^The adapter 'owner/adapter' does not exist\. .* of the hub has to be downloaded first"),
        (tmp_path / "text", "is a file of another kind"),
    ):
        with pytest.raises(ModelError, match=message):
            load_model(base, adapter=name)
    with pytest.raises(TypeError, match=r"^adapter is 5; it must be the path"):
        load_model(base, adapter=5)  # type: ignore[arg-type]
    loaded = (random_logits(len(ByteTokenizer().tokens)), ByteTokenizer())
    with pytest.raises(ModelError, match=r"loaded by its name, or to a llama_cpp\.Llama, and not to tuple"):
        load_model(loaded, adapter=tmp_path)


@pytest.fixture(scope="module")
def gguf_base(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the tiny model as a GGUF file, in float32."""
    if not is_installed():
        pytest.skip("llama-cpp-python is not installed: pip install llama-cpp-python jinja2.")
    return write_llama(base, tmp_path_factory.mktemp("gguf") / "base.gguf")


def close(found: Any, expected: Any, limit: float = 0.02) -> bool:
    """Tell whether logits are the same; llama.cpp keeps keys and values in float16."""
    return bool(np.abs(found - expected).max() < limit)


@pytest.mark.parametrize("form", ["folder", "gguf"])
def test_llama_cpp_computes_what_transformers_does(
    base: Path, gguf_base: Path, adapters: dict[str, Path], form: str
) -> None:
    """With the adapter and without, each beside the other: one file is loaded once with each."""
    plain, adapted = load_model(gguf_base), load_model(gguf_base, adapter=adapters[form])
    assert isinstance(adapted, LlamaCppModel)
    limit = 0.16 if adapted.context.has_bf16_cache else 0.02  # bfloat16 has three bits less
    assert close(logits(plain), logits(load_model(base)), limit)
    assert close(logits(adapted), by_hand(base, random_adapter()), limit)
    assert not close(logits(plain), logits(adapted), limit)


def test_a_gguf_file_with_an_adapter_by_transformers(base: Path, gguf_base: Path, adapters: dict[str, Path]) -> None:
    adapted = load_model(gguf_base, adapter=adapters["gguf"], dtype="float32")
    assert np.abs(logits(adapted) - by_hand(base, random_adapter())).max() < 1e-3


def test_a_loaded_llama_keeps_its_adapter(base: Path, gguf_base: Path, adapters: dict[str, Path]) -> None:
    """By its scale, and another is added to it."""
    llama_cpp = pytest.importorskip("llama_cpp")
    llama = llama_cpp.Llama(str(gguf_base), lora_path=str(adapters["gguf"]), lora_scale=0.5, verbose=False)
    half = {name: LowRank(one.a, one.b, one.scale / 2) for name, one in random_adapter().items()}
    assert close(logits(load_model(llama)), by_hand(base, half))
    thrice = {name: LowRank(one.a, one.b, one.scale * 1.5) for name, one in random_adapter().items()}
    assert close(logits(load_model(llama, adapter=adapters["folder"])), by_hand(base, thrice))


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("architecture", r"is for models of the architecture 'qwen2', and .* is 'llama'\."),
        ("shape", r"^llama\.cpp cannot add the adapter .*missing there, or has another shape\. Use the model that it"),
        ("matrix", r"is for lm_head, and only 'self_attn\.q_proj'"),
    ],
)
def test_what_does_not_fit_is_refused_by_llama_cpp(gguf_base: Path, tmp_path: Path, form: str, message: str) -> None:
    path = tmp_path / "adapter"
    if form == "architecture":
        save_gguf(random_adapter(), path, architecture="qwen2")
    elif form == "shape":
        save_folder(shaped("self_attn.v_proj", 16, 31), path)
    else:
        save_folder({"lm_head": LowRank(np.ones((4, 32)), np.ones((50, 4)), 1.0)}, path)
    with pytest.raises(ModelError, match=message):
        load_model(gguf_base, adapter=path)


def test_the_packaged_adapter_is_read(tmp_path: Path) -> None:
    """It is for SmolLM2: nine heads of queries, three of keys, all matrices of thirty layers."""
    adapter = FETCHABLE["smollm2-extract"].adapter
    assert adapter is not None
    found = read_adapter(adapter, model_type="llama", heads=Heads(9, 3))
    assert len(found) == 30 * 7
    assert found["model.layers.29.mlp.down_proj"].shape == (576, 1536)
    with pytest.raises(ModelError, match=r"^'smollm2-extract' has an adapter of its own\. .* without it: 'smollm2'\.$"):
        _with_fetched_file(tmp_path, adapter)


def _with_fetched_file(folder: Path, adapter: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRUCTURED_CACHE_DIR", str(folder))
        file = folder / "models" / "smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
        file.parent.mkdir(parents=True)
        file.write_bytes(b"GGUF")
        load_model("smollm2-extract", adapter=adapter)


@pytest.fixture(scope="module")
def adapted(real_model: Path) -> LanguageModel:
    """Return the real model with the packaged adapter, by llama.cpp."""
    if not is_installed():
        pytest.skip("llama-cpp-python is not installed: pip install llama-cpp-python jinja2.")
    return load_model(real_model, adapter=FETCHABLE["smollm2-extract"].adapter, context_length=1024)


def test_the_real_thing(adapted: LanguageModel) -> None:
    assert extract(Person, "Jason is 25 years old.", model=adapted) == Person(name="Jason", age=25)
    said = "Ticket: Ana Brandt (31) called twice about the broken lift."
    assert extract(Person, said, model=adapted) == Person(name="Ana Brandt", age=31)
