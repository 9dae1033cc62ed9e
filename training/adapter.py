"""Train a low-rank adapter for a chat model on the same samples: `python -m training.adapter --base FOLDER`.

The model stays as it is; beside each of its matrices stands a product of two thin ones, which alone learn (Hu et al.,
"LoRA", 2021). What is learned is saved by itself, as a GGUF file that `load_model(…, adapter=…)` and llama.cpp read;
with `--out` also added to the matrices, as a model like any other. `--start` begins with an adapter that there is, in
place of one that adds nothing. `--resume` goes on from the last checkpoint; with fewer `--tokens` than before, the
learning rate begins to fall at once, and with no more than were read, what is learned is saved as it is:
`--resume --tokens 0` makes the GGUF file from a checkpoint.
"""

import argparse
import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear
from transformers import (
    AttentionInterface,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from structured.errors import ModelError
from structured.models.adapters import ARCHITECTURES, Heads, LowRank, read_adapter, write_gguf_adapter
from structured.models.pretrained import folder_vocabulary, load_pretrained
from structured.models.prompt_encoding import PromptEncoder
from training.examples import Batch, chat_batches, read_samples
from training.prefetching import prefetched
from training.progress import CHECKPOINT_SECONDS, Course, load_checkpoint, save_checkpoint, share_of_rate, write_log

QUERIES = 128
"""Places whose attention is computed together."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what comes out."""

    base: str
    """A folder with a chat model and its tokenizer."""
    start: str = ""
    """An adapter to begin with, of the same rank; without one, nothing is added at first."""
    tokens: int = 1_000_000
    """Of prompts and answers, without padding."""
    seconds: float = 0.0
    """How long the run takes, whatever it reads; with 0, until its tokens are read."""
    decay: float = 0.3
    """The share of the run over which the learning rate falls."""
    rank: int = 16
    """With 0 there is no adapter, and the weights of the model learn themselves: see `training.shrink`."""
    scale: float = 2.0
    """What the product is multiplied by before it is added."""
    dtype: str = "bfloat16"
    """The type that the model computes in. A processor without AMX is two to eight times as fast in float32."""
    context: int = 2048
    batch_tokens: int = 2048
    learning_rate: float = 5e-4
    warm_up: int = 30_000
    """Tokens over which the learning rate rises."""
    others: str = ""
    """A file of other samples, as JSON lines with `schema`, `document` and `answer`; see `training.sources.mixture`."""
    share: float = 0.5
    """How many of the samples are others, if there are any."""
    seed: int = 1
    workers: int = 0
    """Processes that make samples; with none, the training makes them itself."""


class Adapted(nn.Module):
    """A matrix that stays as it is, and beside it a product of two thin ones: W x + scale · B A x."""

    def __init__(self, matrix: nn.Linear, rank: int, scale: float) -> None:
        super().__init__()
        self.matrix, self.scale = matrix, scale
        device = matrix.weight.device
        self.lora_A = nn.Parameter(torch.empty(rank, matrix.in_features, device=device))
        self.lora_B = nn.Parameter(torch.zeros(matrix.out_features, rank, device=device))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def forward(self, states: Tensor) -> Tensor:
        """Return W x + scale · B A x."""
        thin = linear(states, self.lora_A.to(states.dtype)) * self.scale
        return self.matrix(states) + linear(thin, self.lora_B.to(states.dtype))  # type: ignore[no-any-return]

    def merge(self) -> None:
        """Add the product to the matrix, and begin anew beside it."""
        with torch.no_grad():
            self.matrix.weight += (self.scale * self.lora_B @ self.lora_A).to(self.matrix.weight.dtype)
            self.lora_B.zero_()


def adapt(model: PreTrainedModel, rank: int, scale: float) -> dict[str, Adapted]:
    """Put a low-rank product beside each matrix of the layers, and return them by the names of the matrices.

    Nothing else of the model learns any more.
    """
    model.requires_grad_(requires_grad=False)
    head = model.get_output_embeddings()
    found = {name: one for name, one in model.named_modules() if isinstance(one, nn.Linear) and one is not head}
    made = {name: Adapted(matrix, rank, scale) for name, matrix in found.items()}
    for name, one in made.items():
        model.set_submodule(name, one)
    return made


def main() -> None:
    """Read the settings from the command line, train, and save the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="folder for log and checkpoint")
    parser.add_argument("--adapter", type=Path, help="GGUF file for the adapter; default: adapter.gguf of the run")
    parser.add_argument("--out", type=Path, help="folder for the model with the adapter merged into it")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint of the run")
    parser.add_argument("--base", required=True, help="folder with a chat model and its tokenizer")
    for name, value in asdict(Settings("")).items():
        if name != "base":
            parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    arguments = vars(parser.parse_args())
    out, run, resume, adapter = (arguments.pop(name) for name in ("out", "run", "resume", "adapter"))
    Training(Settings(**arguments), run, resume=resume).finish(adapter or run / "adapter.gguf", out)


class Training:
    """A run: model, adapter, optimizer and how far it has come."""

    def __init__(self, settings: Settings, run: Path, *, resume: bool = False) -> None:
        """Begin a run, or go on with one; log and checkpoint are in its folder."""
        run.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(settings.seed)
        self.settings, self.run = settings, run
        self.model, self.tokenizer = _loaded(settings)
        self.adapter = adapt(self.model, settings.rank, settings.scale) if settings.rank else {}
        if settings.start:
            self._begin_with(Path(settings.start))
        rate = settings.learning_rate
        self.learning = [one for one in self.model.parameters() if one.requires_grad]
        self.optimizer = torch.optim.AdamW(self.learning, lr=rate, betas=(0.9, 0.98), weight_decay=0.0)
        self.seen = self.steps = 0
        self.done = 0.0
        if resume:
            self._restore(load_checkpoint(run, self.model.device))

    def finish(self, file: Path, out: Path | None = None) -> None:
        """Train until all tokens are read; save the adapter and, if there is a folder for it, the adapted model."""
        saved = time.monotonic()
        losses: list[Tensor] = []
        with (self.run / "log.jsonl").open("a") as log:
            parameters = sum(parameter.numel() for parameter in self.learning)
            write_log(log, settings=asdict(self.settings), parameters=parameters, from_tokens=self.seen)
            course = Course(self.settings.tokens, self.settings.seconds)
            for batch in self._batches() if course.seconds or course.done(self.seen) < 1 else ():
                self.done = course.done(self.seen)
                losses.append(self._step(batch))
                if len(losses) == 10:
                    mean = torch.stack(losses).mean().item()
                    write_log(log, time=round(time.time()), step=self.steps, tokens=self.seen, loss=round(mean, 5))
                    losses.clear()
                is_last = course.done(self.seen) >= 1
                if is_last or time.monotonic() - saved > CHECKPOINT_SECONDS:
                    self._checkpoint()
                    saved = time.monotonic()
                if is_last:
                    break
        if self.adapter:
            save_adapter(self.adapter, self.model.config, file)
        if out is not None:
            save_merged(self.adapter, self.settings, out) if self.adapter else save_model(
                self.model, self.tokenizer, out
            )

    def _batches(self) -> Iterator[Batch]:
        """Return the batches that have not been read yet.

        Where other processes make them, they are others than before; else those before are made again and skipped.
        """
        made, workers = Chats(self.settings), self.settings.workers
        return prefetched(made, workers, self.steps) if workers else itertools.islice(made(0), self.steps, None)

    def _step(self, batch: Batch) -> Tensor:
        """Take one step; return the mean loss over the learned tokens."""
        loss = self.loss(batch)
        loss.backward()
        nn.utils.clip_grad_norm_(self.learning, 1.0)
        settings = self.settings
        rate = share_of_rate(self.seen, self.done, warm_up=settings.warm_up, decay=settings.decay)
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.seen += batch.tokens
        self.steps += 1
        return loss.detach()

    def loss(self, batch: Batch) -> Tensor:
        """Return the mean loss over the learned tokens; there are logits for them alone.

        Padding stands behind the texts, where nothing that counts attends to it: there is no need for a mask.
        """
        batch = batch.trimmed()
        token_ids = torch.from_numpy(batch.token_ids).to(self.model.device)  # (texts, width)
        learned = torch.from_numpy(batch.learned).to(self.model.device).roll(-1, 1)  # (texts, width), of the one before
        states = self.model.base_model(token_ids, use_cache=False).last_hidden_state[learned]
        logits = self.model.get_output_embeddings()(states)
        return cross_entropy(logits.float(), token_ids.roll(-1, 1)[learned])

    def _checkpoint(self) -> None:
        state = {
            "adapter": {name: one.detach() for name, one in self._parameters()},
            "optimizer": self.optimizer.state_dict(),
            "seen": self.seen,
            "steps": self.steps,
        }
        save_checkpoint(self.run, state)

    def _restore(self, state: dict[str, Any]) -> None:
        with torch.no_grad():
            for name, one in self._parameters():
                one.copy_(state["adapter"][name])
        self.optimizer.load_state_dict(state["optimizer"])
        self.seen, self.steps = state["seen"], state["steps"]

    def _begin_with(self, adapter: Path) -> None:
        config = self.model.config
        products = read_adapter(adapter, model_type=config.model_type, heads=heads_of(config))
        with torch.no_grad():
            for name, one in self.adapter.items():
                one.lora_A.copy_(torch.from_numpy(products[name].a))
                one.lora_B.copy_(torch.from_numpy(products[name].b * (products[name].scale / one.scale)))

    def _parameters(self) -> list[tuple[str, nn.Parameter]]:
        return [(name, one) for name, one in self.model.named_parameters() if one.requires_grad]


@dataclass(frozen=True, slots=True)
class Chats:
    """Batches for the chat template and the tokenizer of a model's folder."""

    settings: Settings

    def __call__(self, offset: int) -> Iterator[Batch]:
        """Return batches without end, of samples whose seed is that of the settings and an offset."""
        settings, folder = self.settings, Path(self.settings.base)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        vocabulary = folder_vocabulary(folder, {path.name for path in folder.iterdir()})
        assert vocabulary.encode is not None, "it comes from a tokenizer"
        return chat_batches(
            PromptEncoder(tokenizer, vocabulary).encode,
            vocabulary.encode,
            tokenizer.eos_token_id,
            seed=settings.seed + offset,
            split="train",
            others=read_samples(Path(settings.others)) if settings.others else (),
            share=settings.share,
            tokens=settings.batch_tokens,
            context=settings.context,
        )


def save_adapter(adapter: dict[str, Adapted], config: PretrainedConfig, file: Path) -> None:
    """Write an adapter by itself, in float16, as a GGUF file."""
    products = {
        name: LowRank(one.lora_A.detach().cpu().numpy(), one.lora_B.detach().cpu().numpy(), one.scale)
        for name, one in adapter.items()
    }
    architecture = gguf_architecture(config.model_type)
    write_gguf_adapter(file, products, architecture=architecture, heads=heads_of(config), dtype=np.float16)


def save_model(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Write a model with its tokenizer."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def heads_of(config: PretrainedConfig) -> Heads:
    """Return the heads of the attention, of queries and of keys."""
    return Heads(config.num_attention_heads, config.num_key_value_heads)


def gguf_architecture(model_type: str) -> str:
    """Return the name in GGUF files of an architecture of transformers. Raises ModelError for one without a name."""
    names = [name for name, model_types in ARCHITECTURES.items() if model_type in model_types]
    if not names:
        raise ModelError(f"Adapters are trained for {', '.join(ARCHITECTURES)}, and the model is of {model_type!r}.")
    return names[0]


def save_merged(adapter: dict[str, Adapted], settings: Settings, folder: Path) -> None:
    """Write the model with an adapter added to its matrices, as precise as the model is."""
    model, tokenizer = load_pretrained(settings.base, Path(settings.base), device_map=None, dtype="auto")
    for name, merged in adapt(model, settings.rank, settings.scale).items():
        merged.load_state_dict(
            {part: getattr(adapter[name], part).detach() for part in ("lora_A", "lora_B")}, strict=False
        )
        merged.merge()
        model.set_submodule(name, merged.matrix)
    save_model(model, tokenizer, folder)


def causal_attention(
    _module: nn.Module,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    _mask: object,
    *,
    scaling: float,
    **_others: object,
) -> tuple[Tensor, None]:
    """Attend by plain products, some places at a time, and none to what comes after; for transformers.

    PyTorch's fused kernel for CPUs takes two to three times as long, backwards above all.
    """
    texts, heads, tokens, size = queries.shape
    groups = keys.shape[1]
    keys, values = (part.reshape(texts * groups, tokens, size) for part in (keys, values))
    future = torch.full((tokens, tokens), float("-inf"), dtype=queries.dtype, device=queries.device).triu(1)
    attended = []
    for start in range(0, tokens, QUERIES):
        end = min(start + QUERIES, tokens)
        asking = queries[:, :, start:end].reshape(texts * groups, -1, size)
        mask = future[start:end, :end].repeat(heads // groups, 1)
        shares = torch.baddbmm(mask, asking, keys[:, :end].mT, alpha=scaling).softmax(-1)
        attended.append(torch.bmm(shares, values[:, :end]).view(texts, heads, end - start, size))
    return torch.cat(attended, 2).transpose(1, 2), None


def _loaded(settings: Settings) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return the model to be adapted. It does not change, so bfloat16 loses nothing by and by."""
    model, tokenizer = load_pretrained(settings.base, Path(settings.base), device_map=None, dtype=settings.dtype)
    if tokenizer.chat_template is None:
        raise ValueError(f"{settings.base} has no chat template. Use a chat model.")
    gguf_architecture(model.config.model_type)  # or it raises, before anything is trained
    if model.device.type == "cpu":
        AttentionInterface.register("causal_attention", causal_attention)
        model.set_attn_implementation("causal_attention")
    return model, tokenizer


if __name__ == "__main__":
    main()
