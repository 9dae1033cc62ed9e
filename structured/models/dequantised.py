"""The cache of dequantised GGUF files, as the safetensors and the tokenizer that transformers loads quickly.

The name of an entry has the SHA-256 of the GGUF file, which is computed at each load, a second for 1.5 GB. Rejected:
path, size and time of change, which would miss some replaced files. An entry that cannot be read is replaced, and so is
one that was made under another name. A checksum of the weights was rejected: at 357 MB it takes 0.8 s, loading 0.4 s.

A model is loaded again before it is saved for good: where weights, configuration or tokens differ in anything from the
dequantised model, nothing is saved, and the file is dequantised each time.
"""

import hashlib
import json
import logging
import shutil
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from structured.index.cache_folder import CacheFolder, usable_cache_folder

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    Loaded: TypeAlias = tuple[PreTrainedModel, PreTrainedTokenizerBase]

_LOGGER = logging.getLogger(__name__)

MAX_BYTES = 16 << 30
"""Size of all models together; a larger model is not cached."""

FORMAT = "3"
"""Version of the entries, part of their names."""

TOKENIZER, SETTINGS, KEY = "tokenizer.json", "tokenizer_settings.json", "key.txt"

_BESIDE = (
    *("added_tokens.json", "additional_chat_templates/*.jinja", "chat_template.jinja", "config.json", "merges.txt"),
    *("generation_config.json", "special_tokens_map.json", "spiece.model", "tekken.json", "tiktoken.model"),
    *("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "vocab.txt"),
)
"""Files that transformers may read in the folder of a GGUF file; the tokenizer may be theirs."""

_TOKENIZER_SETTINGS = ("chat_template", "model_max_length", "padding_side", "truncation_side")
"""Settings of a tokenizer beside its tokens."""

_UNCOMPARED = {"_name_or_path", "architectures", "dtype", "torch_dtype", "transformers_version", "quantization_config"}
"""Entries of a configuration about its origin, or that repeat the state of the model."""


@dataclass(frozen=True, slots=True)
class ModelCache(CacheFolder):
    """Dequantised models in one folder, each a folder by its key."""

    suffix: ClassVar[str] = ".model"
    max_bytes: int = MAX_BYTES

    def load(self, key: str, device_map: str | dict[str, Any] | None) -> "Loaded | None":
        """Return the model and the tokenizer of a key; None if they are missing or cannot be read."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            if (path / KEY).read_text(encoding="utf-8") != key:
                raise ValueError("it is the entry of another model.")  # noqa: TRY301  as what else is damaged
            loaded = _load(path, device_map)
        except Exception as error:  # noqa: BLE001  a damaged checkpoint may raise anything
            _LOGGER.info("%s is damaged, and replaced: %s", path, error)
            with suppress(OSError):
                self.remove(path)
            return None
        self.mark_as_read(path)
        return loaded

    def save(self, key: str, model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> None:
        """Cache a model and its tokenizer, unless they are too large, or would not be the same when loaded again."""
        try:
            for folder in (self.folder.parent, self.folder):  # parents would be made as the umask has it
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _bytes(model) <= min(self.max_bytes, shutil.disk_usage(self.folder).free // 2):
                self.write(key, lambda folder: _write(folder, key, model, tokenizer))
        except Exception as error:  # noqa: BLE001  the loaded model can be used all the same
            _LOGGER.info("the dequantised model is not cached: %s", error)


def model_cache() -> ModelCache | None:
    """Return the cache of dequantised models; None where STRUCTURED_CACHE is "off", or where there is no home."""
    folder = usable_cache_folder()
    return None if folder is None else ModelCache(folder / "dequantised")


def key_of(path: Path, dtype: str) -> str:
    """Return the key of a dequantised GGUF file: its SHA-256, and a digest of everything else that matters."""
    import torch

    facts = [FORMAT, dtype, str(torch.get_default_dtype()), *map(version, ("transformers", "gguf"))]
    for pattern in _BESIDE:
        facts += [f"{file.name} {_digest(file)}" for file in sorted(path.parent.glob(pattern)) if file.is_file()]
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    return f"{_digest(path)}-{digest[:16]}"


def _bytes(model: "PreTrainedModel") -> int:
    """Return the bytes of the tensors of a model. Raises ValueError if some are not in memory."""
    tensors = model.state_dict().values()
    if any(tensor.is_meta for tensor in tensors):
        raise ValueError("some of its tensors are not in memory.")
    return sum(tensor.nbytes for tensor in tensors)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _load(folder: Path, device_map: str | dict[str, Any] | None) -> "Loaded":
    """Return the model and the tokenizer of an entry."""
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / TOKENIZER), **settings)
    model = AutoModelForCausalLM.from_pretrained(
        folder, device_map=device_map, dtype="auto", use_safetensors=True, local_files_only=True
    )
    return model, tokenizer


def _write(folder: Path, key: str, model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> None:
    """Write an entry. Raises ValueError if it would not be the same when loaded."""
    dtype = model.config.dtype
    model.save_pretrained(folder)
    model.config.dtype = dtype  # which save_pretrained replaced by its name
    backend: Any = tokenizer.backend_tokenizer
    (folder / TOKENIZER).write_text(backend.to_str(), encoding="utf-8")
    (folder / KEY).write_text(key, encoding="utf-8")
    (folder / SETTINGS).write_text(json.dumps(_settings(tokenizer)), encoding="utf-8")
    again, tokens = _load(folder, None)
    if not _same_weights(model, again) or _facts(model, tokenizer) != _facts(again, tokens):
        raise ValueError("it would not be the same when loaded again.")


def _settings(tokenizer: "PreTrainedTokenizerBase") -> dict[str, Any]:
    return {**tokenizer.special_tokens_map, **{name: getattr(tokenizer, name) for name in _TOKENIZER_SETTINGS}}


def _facts(model: "PreTrainedModel", tokenizer: Any) -> list[Any]:
    """Return everything that determines how weights are used, and the tokens of a text."""
    facts = [type(model), tokenizer.backend_tokenizer.to_str(), _settings(tokenizer), tokenizer.all_special_ids]
    configurations: list[Any] = [model.config, model.generation_config]
    for configuration in filter(None, configurations):
        entries = configuration.to_dict()
        facts.append({name: entries[name] for name in entries.keys() - _UNCOMPARED})
    return facts


def _same_weights(first: "PreTrainedModel", second: "PreTrainedModel") -> bool:
    import torch

    tensors, others = first.state_dict(), second.state_dict()
    if tensors.keys() != others.keys() or any(tensors[name].dtype != others[name].dtype for name in tensors):
        return False
    return all(torch.equal(tensors[name].to("cpu"), others[name]) for name in tensors)
