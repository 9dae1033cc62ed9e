"""What stands in for the world in the tests: tokenizers, networks, functions as models, terminals."""

import io
import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from structured.decoding.requests import Generation
from structured.errors import MissingError
from structured.extraction import events
from structured.extraction.extractor import Extractor
from structured.extraction.options import checked_options
from structured.extraction.run import Run
from structured.index.index import Index
from structured.index.masks import unpack
from structured.models import load_model
from structured.output_types.resolve import resolve_type
from structured.results.evidence import Evidence
from structured.results.result import Provenance, Result, result_from_json
from structured.vocabulary import Vocabulary
from structured.vocabulary.vocabulary import BYTE_ALPHABET

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedModel

    from structured.models.transformers_model import HuggingFaceModel

Logits = NDArray[np.float32]
LogitsFunction = Callable[[Sequence[int]], Logits]

REAL_VOCABULARIES = Path(__file__).parents[3] / "shared" / "tokenizers"
"""Tokenizers of real models, kept beside the repository."""

REAL_NAMES = ("gpt2", "llama3", "tekken", "mistral-v1")

BOS, END, END_OF_TURN, HIDDEN = range(4)
"""The special tokens of the byte tokenizer."""

MERGED_TOKENS: tuple[bytes, ...] = (
    *(b'{"', b'"}', b'": "', b'": ', b'", "', b'"},', b'},{"', b'["', b'"]', b"[]", b"{}", b'""', b'\\"', b"\\\\"),
    *(b"  ", b"\n\n", b" a", b"ab", b"aa", b"aaaa", b"ba", b"abc", b"name", b'"name": "', b" Ana", b"Jason"),
    *(b"true", b"false", b"null", b"10", b"00", b"25", b"-1", b".5", b"e+", b"2024-"),
    *(text.encode() for text in ("é", "ß", "€", "日本", "🙂", "é€", "a🙂", "🙂b")),
    # The head of a character, the tail of one, the tail of one with the head of the next.
    *("€".encode()[:2], "€".encode()[1:], "🙂".encode()[:3], "🙂".encode()[2:], b"a\xe2", b'\xac"', b"\xac\xe2\x82"),
)
"""Tokens of more than one byte, many of them across the borders of JSON or of UTF-8."""

T = TypeVar("T")


def _byte_tokens() -> tuple[bytes | None, ...]:
    twins = (b"a", b'"', b'": "', "€".encode())
    return (None, None, None, None, *(bytes([byte]) for byte in range(256)), *MERGED_TOKENS, *twins, b"", None)


@dataclass(frozen=True)
class ByteTokenizer:
    """A tokenizer whose vocabulary is small and nasty; follows `structured.vocabulary.Tokenizer`.

    Some tokens cut characters, some have the bytes of another, one has no bytes, and two end an answer.
    """

    tokens: tuple[bytes | None, ...] = field(default_factory=_byte_tokens)
    end_token_ids: tuple[int, ...] = (END, END_OF_TURN)

    def encode(self, text: str) -> list[int]:
        """Return BOS and then, again and again, the longest token that fits."""
        ids = {token: token_id for token_id, token in enumerate(self.tokens) if token}
        longest = max(map(len, ids))
        data, token_ids = text.encode(), [BOS]
        while data:
            token = next(data[:length] for length in range(longest, 0, -1) if data[:length] in ids)
            token_ids.append(ids[token])
            data = data[len(token) :]
        return token_ids


def fast_tokenizer(backend: "Tokenizer", special_tokens: dict[str, Any]) -> Any:
    """Return a tokenizer of transformers around one of `tokenizers`; its own types are wider than what it returns."""
    from transformers import PreTrainedTokenizerFast

    make: Any = PreTrainedTokenizerFast
    tokenizer = make(tokenizer_object=backend)
    tokenizer.add_special_tokens(special_tokens)
    return tokenizer


def byte_level_tokenizer(*, chat_template: str | None = None) -> Any:
    """Return a tokenizer of transformers, made in memory: byte-level BPE that merges up to `MERGED_TOKENS`."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    spelling = {byte: character for character, byte in BYTE_ALPHABET.items()}
    pieces = {"<s>": 0, "</s>": 1, "<turn>": 2} | {spelling[byte]: 3 + byte for byte in range(256)}
    merges: list[tuple[str, str]] = []
    for token in MERGED_TOKENS:
        spelled = "".join(spelling[byte] for byte in token)
        for length in range(1, len(spelled)):
            if spelled[: length + 1] not in pieces:
                pieces[spelled[: length + 1]] = len(pieces)
                merges.append((spelled[:length], spelled[length]))
    backend = Tokenizer(models.BPE(vocab=pieces, merges=merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 0)])
    special = {"bos_token": "<s>", "eos_token": "</s>", "additional_special_tokens": ["<turn>"]}
    tokenizer = fast_tokenizer(backend, special)
    tokenizer.chat_template = chat_template
    return tokenizer


@cache
def real_tokenizer(name: str) -> Any:
    """Return one of the tokenizers beside the repository; the test is skipped where it is absent."""
    if not (REAL_VOCABULARIES / name).is_dir():
        pytest.skip(f"The tokenizer {name} is not beside the repository, in shared/tokenizers.")
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(REAL_VOCABULARIES / name)


@cache
def real_vocabulary(name: str) -> Vocabulary:
    """Return the vocabulary of one of the tokenizers beside the repository."""
    return Vocabulary.from_transformers(real_tokenizer(name))


_SIZES = {
    **dict.fromkeys(("hidden_size", "n_embd", "word_embed_proj_dim"), 32),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "moe_intermediate_size"), 48),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "num_experts_per_tok"), 2),
    **dict.fromkeys(("num_attention_heads", "num_key_value_heads", "n_head", "num_experts", "rotary_dim"), 4),
    **dict.fromkeys(("n_routed_experts", "num_local_experts"), 4),
    **dict.fromkeys(("n_group", "topk_group", "first_k_dense_replace"), 1),
    **dict.fromkeys(("kv_lora_rank", "q_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"), 8),
    **dict.fromkeys(("pad_token_id", "bos_token_id"), 0),
    "eos_token_id": 1,
    **dict.fromkeys(("max_position_embeddings", "n_positions"), 512),
}
"""What architectures call their sizes."""


def tiny(name: str, width: int, **options: Any) -> "PreTrainedModel":
    """Return a network of an architecture of transformers with random weights, two layers deep."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    known = AutoConfig.for_model(name)
    sizes = {key: size for key, size in _SIZES.items() if hasattr(known, key)}
    if name == "lfm2":
        sizes["layer_types"] = ["conv", "full_attention"]
    torch.manual_seed(0)
    config = AutoConfig.for_model(name, **{**sizes, "vocab_size": width, **options})
    made: PreTrainedModel = AutoModelForCausalLM.from_config(config).float().train(mode=False)
    return made


def tiny_llama(width: int) -> "PreTrainedModel":
    """Return a network with rotary positions and shared key-value heads."""
    return tiny("llama", width, num_key_value_heads=2, initializer_range=0.5)


def tiny_gpt2(width: int) -> "PreTrainedModel":
    """Return a network with learned positions."""
    return tiny("gpt2", width, initializer_range=0.5)


def tiny_lfm2(width: int) -> "PreTrainedModel":
    """Return a network of convolutions beside attention, whose state has no room for padding."""
    return tiny("lfm2", width, num_key_value_heads=2, initializer_range=0.5)


def tiny_mistral(width: int) -> "PreTrainedModel":
    """Return a network in which a token sees the last few alone."""
    return tiny("mistral", width, num_key_value_heads=2, sliding_window=24, initializer_range=0.5)


def in_memory(make: "Callable[[int], PreTrainedModel]", *, chat_template: str | None = None) -> "HuggingFaceModel":
    """Return a tiny model with its tokenizer, and with a few more logits than that has tokens."""
    from structured.models.transformers_model import HuggingFaceModel

    tokenizer = byte_level_tokenizer(chat_template=chat_template)
    return HuggingFaceModel(make(len(tokenizer) + 13), tokenizer)


def save(model: "HuggingFaceModel", folder: Path) -> None:
    """Write a model and its tokenizer into a folder, as those of the hub come."""
    model.model.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)


class Terminal(io.StringIO):
    """A terminal that keeps all that is written to it."""

    def isatty(self) -> bool:
        return True


def each_generation(call: Callable[[int, Generation], object]) -> events.Listener:
    """Return a listener that calls a function with each text that is written, and the position of its document."""

    def listener(event: events.Event) -> None:
        if isinstance(event, events.AttemptWritten):
            for generation in event.generations:
                call(event.position, generation)

    return listener


def random_logits(width: int, *, scale: float = 1.0, seed: int = 0) -> LogitsFunction:
    """Return a model without preferences: normal logits, always the same after the same text. Large scales peak."""

    def logits(token_ids: Sequence[int]) -> Logits:
        text = zlib.crc32(np.array(token_ids, dtype=np.int32).tobytes())
        return np.random.default_rng([seed, text]).normal(scale=scale, size=width).astype(np.float32)

    return logits


def text_logits(tokens: Sequence[bytes | None], *, scale: float = 1.0, seed: int = 0) -> LogitsFunction:
    """Return a model of bytes: a token is as likely as its bytes one after the other, whatever tokens were before.

    So what it writes does not depend on how that is spelled. Longer tokens are never likelier than their beginnings.
    """

    @cache
    def bytes_after(text: bytes) -> Logits:
        scores = np.random.default_rng([seed, *text]).normal(scale=scale, size=257)
        return (scores - np.log(np.exp(scores).sum())).astype(np.float32)

    @cache
    def after(text: bytes) -> Logits:
        found = np.full(len(tokens), -1e4, dtype=np.float32)
        found[[END, END_OF_TURN]] = bytes_after(text)[256], -1e4
        for token_id, token in enumerate(tokens):
            if token:
                found[token_id] = sum(bytes_after(text + token[:read])[byte] for read, byte in enumerate(token))
        return found

    return lambda token_ids: after(spell(tokens, token_ids))


def json_hating_logits(tokens: Sequence[bytes | None]) -> LogitsFunction:
    """Return a model that wants to write prose for ever: no punctuation of JSON, no digits, no end."""
    rng = np.random.default_rng(0)
    hated = [token is None or not set(token).isdisjoint(b'{}[]",:0123456789-\n') for token in tokens]
    scores = (np.where(hated, -30.0, 30.0) + rng.normal(size=len(tokens))).astype(np.float32)
    return lambda token_ids: scores  # noqa: ARG005  the same whatever has been written


@dataclass(frozen=True)
class LawBreaker:
    """A model that knows the rule and prefers every token that breaks it, by `margin` (may be infinite)."""

    index: Index
    prompt_length: int
    margin: float

    def __call__(self, token_ids: Sequence[int]) -> Logits:
        state = self.index.automaton.start
        for token_id in token_ids[self.prompt_length :]:
            state = self.index.step(state, token_id)
        size = self.index.vocabulary.size
        legal = unpack(self.index.mask(state), size)
        noise = np.random.default_rng(list(token_ids)).normal(size=size)
        return np.where(legal, -self.margin, noise).astype(np.float32)


def widened(function: LogitsFunction, extra: int) -> LogitsFunction:
    """Return the model with `extra` logits beyond its tokenizer, all of them higher than any other."""
    return lambda token_ids: np.append(function(token_ids), np.full(extra, 1e6, dtype=np.float32))


def spell(tokens: Sequence[bytes | None], token_ids: Iterable[int]) -> bytes:
    """Return the bytes of some tokens."""
    return b"".join(tokens[token_id] or b"" for token_id in token_ids)


_TOKENS = ByteTokenizer().tokens
_SIZE = len(_TOKENS)

LOGITS_FUNCTIONS: dict[str, LogitsFunction] = {
    "uniform": random_logits(_SIZE),
    "peaked": random_logits(_SIZE, scale=50.0),
    "hates JSON": json_hating_logits(_TOKENS),
    "wider": widened(random_logits(_SIZE), 19),
    "rules out everything": lambda token_ids: np.full(_SIZE, -np.inf, dtype=np.float32),  # noqa: ARG005
    "same for all": lambda token_ids: np.zeros(_SIZE, dtype=np.float32),  # noqa: ARG005
}


def in_order(results: Iterable[Result[T]]) -> list[Result[T]]:
    """Return results in the order of their documents."""
    return sorted(results, key=lambda result: result.position)


def extract_each(
    types: Sequence[object], documents: Sequence[Any], *, errors: Any = "raise", **options: Any
) -> list[Any]:
    """Extract an instance of its own type from each document, all in one batch, as a server does."""
    model = load_model(options.pop("model"))
    each = {id(one): one for one in types}
    tasks = {key: Extractor[Any](one, model=model, **options)._task for key, one in each.items()}
    work = [(tasks[id(one)], document) for one, document in zip(types, documents, strict=True)]
    return Run.of(checked_options({**options, "model": model})).values(work, total=len(work), errors=errors)


def made_result(
    value: Any,
    data: Any,
    missing: Sequence[str] = (),
    evidence: Mapping[str, Evidence] | None = None,
    document: str = "",
    *,
    name: str = "0",
    provenance: Provenance | None = None,
) -> Result[Any]:
    """Return a result with its data and evidence, which no model has written."""
    unmade = ValueError("a required field is missing") if value is None and data is not None and missing else None
    result: Result[Any] = Result(
        name, 0, document, text="", missing=tuple(missing), _instance=value, _missing_error=unmade
    )
    vars(result).update(data=data, evidence=dict(evidence or {}), provenance=provenance)
    return result


def said(result: Result[Any]) -> tuple[Any, Any, tuple[str, ...]]:
    """Return the value of a result, None if none can be made, its data, and the missing fields."""
    try:
        value = result.value
    except MissingError:
        value = None
    return value, result.data, result.missing


def read_back(result: Result[Any], output_type: object, allow_missing: Any = None) -> Result[Any]:
    """Return a result that was written as JSON, and read as a type."""
    record = json.loads(json.dumps({"id": result.id, **result.to_dict()}))
    wanted = None if output_type is Any else resolve_type(output_type, allow_missing)
    return result_from_json(record, result.position, wanted, result.provenance)
