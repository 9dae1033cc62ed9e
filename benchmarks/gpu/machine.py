"""The machine: its device, the models that are made there, and clocks that wait for it."""

import copy
import gc
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Self, cast

import torch
import transformers

from benchmarks.documents import KINDS, documents
from benchmarks.end_to_end_worker import failure
from benchmarks.gpu.results import FAILED, SKIPPED, Row
from structured.extraction.prompts import completion_prompt
from structured.models.transformers_model import HuggingFaceModel
from structured.output_types.resolve import resolve_type

MAX_TOKENS = 128
"""Of an answer."""

Sizes = dict[str, Any]

_LLAMA: Sizes = {"num_key_value_heads": 8, "num_attention_heads": 32}
LARGE: dict[str, Sizes] = {
    "Llama 1 B": {
        **_LLAMA,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "tie_word_embeddings": True,
    },
    "Llama 8 B": {
        **_LLAMA,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "tie_word_embeddings": False,
    },
}
"""The shapes of Llama 3.2 1B and Llama 3.1 8B."""

_SMALL: Sizes = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2}
SMALL: dict[str, Sizes] = {
    "tiny Llama": {**_SMALL, "num_hidden_layers": 2, "tie_word_embeddings": True},
    "small Llama": {**_SMALL, "num_hidden_layers": 3, "tie_word_embeddings": False},
}
"""What stands for them where there is no GPU."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where everything runs, and how large it is."""

    device: torch.device
    machine: str
    small: bool
    tokenizer: Path
    """The folder of Llama 3's tokenizer."""

    @classmethod
    def found(cls, tokenizer: Path, *, small: bool = False) -> Self:
        """Return that of this machine: the first GPU, or the CPU with small shapes."""
        versions = f"torch {torch.__version__}, transformers {transformers.__version__}"
        if not torch.cuda.is_available():
            return cls(torch.device("cpu"), f"CPU, {torch.get_num_threads()} threads, {versions}", True, tokenizer)
        name = f"{torch.cuda.get_device_name(0)}, CUDA {torch.version.cuda}, {versions}"
        return cls(torch.device("cuda", 0), name, small, tokenizer)

    @property
    def batches(self) -> tuple[int, ...]:
        """The sizes of batches that are measured."""
        return (1, 2) if self.small else (1, 8, 64, 256)

    @property
    def shapes(self) -> dict[str, Sizes]:
        """The shapes of the random models."""
        return SMALL if self.small else LARGE

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types of which answers are written."""
        return ("Person",) if self.small else ("Person", "Event")

    def llama(self, shape: str, dtype: torch.dtype) -> HuggingFaceModel:
        """Make a model with random weights, the same every time, on the device: it never is in the host's memory.

        Raises FileNotFoundError if the tokenizer is not where it should be.
        """
        if not self.tokenizer.is_dir():
            raise FileNotFoundError(f"there is no tokenizer of Llama 3 in {self.tokenizer}: name its folder")
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(self.tokenizer)
        config = transformers.LlamaConfig(
            **self.shapes[shape],
            vocab_size=len(tokenizer),
            max_position_embeddings=8192,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=None,
        )
        torch.manual_seed(0)
        with self.device:
            network = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype)
        network.train(mode=False).requires_grad_(requires_grad=False)
        return self.sampling_there(HuggingFaceModel(network, tokenizer, name=shape))

    def sampling_there(self, model: HuggingFaceModel) -> HuggingFaceModel:
        """Let tokens be sampled where the logits are, which is the path of a GPU, on the CPU as well."""
        model.samples_on_device = True
        return model

    def copied(self, model: HuggingFaceModel, device: torch.device) -> HuggingFaceModel:
        """Return a copy of a model on another device; on the CPU tokens are sampled by the host."""
        network = copy.deepcopy(model.model).to(device)  # type: ignore[arg-type]  # transformers' own signature
        return HuggingFaceModel(network, model.tokenizer, name=model.name)

    def wait(self) -> None:
        """Wait until the device has done all that it was given."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def seconds(self, run: Callable[[], object]) -> float:
        """Return how long something takes, the device waited for before and after."""
        self.wait()
        started = perf_counter()
        run()
        self.wait()
        return perf_counter() - started

    def median(self, run: Callable[[], object], *, most: float = 2.0, repeats: int = 30) -> float:
        """Return the median time of something, warmed up, of as many repeats as take at most so many seconds."""
        warm = [self.seconds(run) for _ in range(3)][-1]
        count = max(3, min(repeats, int(most / max(warm, 1e-6))))
        return statistics.median(self.seconds(run) for _ in range(count))

    def release(self) -> None:
        """Let go of memory that nothing refers to."""
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


def prompts(model: HuggingFaceModel, kind: str, count: int) -> list[list[int]]:
    """Return the prompts of documents of a kind as token ids, plain, whether there is a chat template or not."""
    description = resolve_type(KINDS[kind][0]).describe()
    texts: Sequence[str] = [completion_prompt(description, text) for text in documents(kind, count)]
    return cast("list[list[int]]", cast("Any", model.tokenizer)(list(texts))["input_ids"])


def attempted(setting: Setting, name: str, run: Callable[[], Iterable[Row]]) -> Iterator[Row]:
    """Yield rows, and a reason in place of those that an error has cost."""
    try:
        yield from run()
    except (FileNotFoundError, ImportError) as error:
        yield {SKIPPED: f"{name}: {error}"}
    except Exception as error:  # noqa: BLE001  devices and engines fail in ways of their own
        yield {FAILED: f"{name}: {failure(error)['error']}"}
    setting.release()
