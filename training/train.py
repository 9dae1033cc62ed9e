"""Train the packaged model: `python -m training.train`.

Samples are made while training goes on, so that each is seen once. A GPU is used where there is one. The learning rate
is constant at first and falls to zero over the last part, so that a run can be stopped and gone on with, and be made
longer as long as it has not begun to fall (Hu et al., "MiniCPM", 2024, section 4). `--resume` goes on from the last
checkpoint.
"""

import argparse
import itertools
import json
import math
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import GenerationConfig, Lfm2Config, Lfm2ForCausalLM, PreTrainedTokenizerFast

from structured.models.lfm2 import WEIGHTS
from training.examples import Batch, batches, mixed, prompt_and_answer, read_samples
from training.generate import samples
from training.muon import Muon
from training.network import Network, Shape
from training.prefetching import prefetched
from training.progress import CHECKPOINT_SECONDS, Course, load_checkpoint, save_checkpoint, share_of_rate, write_log
from training.tokenizer import END, START, train_tokenizer
from training.word_vectors import WordVectors

TOKENIZER_SAMPLES = 20_000


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what comes out."""

    tokens: int = 100_000_000
    seconds: float = 0.0
    """How long the run takes, whatever it reads; with 0, until its tokens are read."""
    decay: float = 0.3
    """The share of the run over which the learning rate falls."""
    tokenizer: str = ""
    """A folder with a tokenizer that there is; without one, it is trained on samples."""
    vocabulary: int = 6144
    width: int = 256
    layers: int = 6
    heads: int = 4
    feed_forward: int = 704
    context: int = 2048
    batch_tokens: int = 4096
    learning_rate: float = 3e-3
    warm_up: int = 400_000
    """Tokens over which the learning rate rises."""
    word_vectors: str = ""
    """A GGUF file whose embedding the words begin with; without one they begin at random."""
    start: str = ""
    """A folder with a trained model to go on from; its sizes and tokenizer are kept. Without one, a new model."""
    kept: float = 0.0
    """How much of the weights that it goes on from is in those that are saved: the rest is what training made of them.
    What was known before is then kept, and what is new is there (Wortsman et al., "Robust fine-tuning", 2022)."""
    others: str = ""
    """A file of other samples, as JSON lines with `schema`, `document` and `answer`: your own, or of another make."""
    share: float = 0.5
    """How many of the samples are others, if there are any."""
    seed: int = 1
    workers: int = 1
    """Processes that make samples; with none, the training makes them itself."""


def main() -> None:
    """Read the settings from the command line, train, and save the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=Path, help="folder for model and tokenizer; without it, `model` in that of the run"
    )
    runs = Path(__file__).parent / "runs"
    parser.add_argument("--run", type=Path, default=runs / "latest", help="folder for log and checkpoints")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint of the run")
    parser.add_argument("--eager", action="store_true", help="do not compile the network")
    for name, value in asdict(Settings()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    arguments = vars(parser.parse_args())
    out, run, resume, eager = (arguments.pop(name) for name in ("out", "run", "resume", "eager"))
    Training(Settings(**arguments), run, resume=resume, compiled=not eager).finish(out or run / "model")


class Training:
    """A run: network, optimizers, tokenizer and how far it has come."""

    def __init__(self, settings: Settings, run: Path, *, resume: bool = False, compiled: bool = True) -> None:
        """Begin a run, or go on with one; log and checkpoints are in its folder."""
        run.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(settings.seed)
        self.settings, self.run = settings, run
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        vectors = WordVectors.read(Path(settings.word_vectors)) if settings.word_vectors else None
        if resume or settings.start:
            self.tokenizer = PreTrainedTokenizerFast.from_pretrained(run if resume else settings.start)
        else:
            self.tokenizer = _tokenizer(settings, vectors)
        self.tokenizer.save_pretrained(run)
        self.network = Network(_shape(settings, tied=vectors is None), compiled=compiled)
        if settings.start:
            self.network.load_state_dict(load_file(Path(settings.start) / WEIGHTS))
        elif vectors is not None:
            self.network.words.data.copy_(vectors.embedding(self.tokenizer, settings.width))
        torch.nn.Module.to(self.network, self.device)
        self.optimizers = _optimizers(self.network, settings)
        self.seen = self.steps = 0
        self.done = 0.0
        if resume:
            self._restore(load_checkpoint(run, self.device))

    def finish(self, out: Path) -> None:
        """Train until all tokens are read, and save the model."""
        saved = time.monotonic()
        losses: list[Tensor] = []
        with (self.run / "log.jsonl").open("a") as log:
            parameters = sum(parameter.numel() for parameter in self.network.parameters())
            write_log(log, settings=asdict(self.settings), parameters=parameters, from_tokens=self.seen)
            definition = self.tokenizer.backend_tokenizer.to_str()
            stream = prefetched(Completions(definition, self.settings), self.settings.workers, self.steps)
            course = Course(self.settings.tokens, self.settings.seconds)
            for batch in stream:
                self.done = course.done(self.seen)
                losses.append(self._step(batch))
                if len(losses) == 50:
                    mean = torch.stack(losses).mean().item()
                    write_log(log, time=round(time.time()), step=self.steps, tokens=self.seen, loss=round(mean, 5))
                    if not math.isfinite(mean):
                        raise RuntimeError("The loss is not finite any more. Lower --learning-rate.")
                    losses.clear()
                if course.done(self.seen) >= 1:
                    break
                if time.monotonic() - saved > CHECKPOINT_SECONDS:
                    self._checkpoint()
                    saved = time.monotonic()
        self._checkpoint()
        self._keep()
        save(self.network, self.tokenizer, out)

    def _keep(self) -> None:
        """Average the weights with those that the run has gone on from, if there are any."""
        if self.settings.start:
            before = load_file(Path(self.settings.start) / WEIGHTS, device=str(self.device))
            with torch.no_grad():
                for name, weight in self.network.state_dict().items():
                    weight.lerp_(before[name].to(weight.dtype), self.settings.kept)

    def _step(self, batch: Batch) -> Tensor:
        """Take one step; return the mean loss over the learned tokens."""
        token_ids = torch.from_numpy(batch.token_ids).to(self.device)  # (texts, width)
        learned = torch.from_numpy(batch.learned).to(self.device).roll(-1, 1)  # (texts, width), of the token before
        loss = cross_entropy(self.network(token_ids, learned).float(), token_ids.roll(-1, 1)[learned])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        settings = self.settings
        rate = share_of_rate(self.seen, self.done, warm_up=settings.warm_up, decay=settings.decay)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["highest_lr"] * rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.seen += batch.token_ids.size
        self.steps += 1
        return loss.detach()

    def _checkpoint(self) -> None:
        state = {
            "network": self.network.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "seen": self.seen,
            "steps": self.steps,
        }
        save_checkpoint(self.run, state)

    def _restore(self, state: dict[str, Any]) -> None:
        self.network.load_state_dict(state["network"])
        for optimizer, kept in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(kept)
        self.seen, self.steps = state["seen"], state["steps"]


def save(network: Network, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write model and tokenizer to a folder, in bfloat16: half the size, and as exact as the training was."""
    folder.mkdir(parents=True, exist_ok=True)
    special = {"bos_token_id": tokenizer.get_vocab()[START], "eos_token_id": tokenizer.eos_token_id}
    special["pad_token_id"] = tokenizer.eos_token_id
    model = Lfm2ForCausalLM(Lfm2Config(**network.shape.config(**special)))
    model.load_state_dict({name: tensor.cpu() for name, tensor in network.state_dict().items()}, strict=False)
    model.generation_config = GenerationConfig(eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.eos_token_id)
    torch.nn.Module.to(model, torch.bfloat16)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _tokenizer(settings: Settings, vectors: WordVectors | None) -> PreTrainedTokenizerFast:
    if settings.tokenizer:
        tokenizer: PreTrainedTokenizerFast = PreTrainedTokenizerFast.from_pretrained(settings.tokenizer)
        return tokenizer
    rng, stream = random.Random(settings.seed), samples(settings.seed, "train")
    if settings.others:
        stream = mixed(stream, read_samples(Path(settings.others)), settings.share, rng)
    first = itertools.islice(stream, TOKENIZER_SAMPLES)
    texts = ("".join(prompt_and_answer(sample, rng)) for sample in first)
    words = vectors.words() if vectors else ()
    return train_tokenizer(itertools.chain(texts, words), size=settings.vocabulary)


def _shape(settings: Settings, *, tied: bool) -> Shape:
    """Return the sizes of the network: those of the model that it goes on from, if there is one."""
    if not settings.start:
        sizes = (settings.width, settings.layers, settings.heads, settings.feed_forward, settings.context)
        return Shape(settings.vocabulary, *sizes, tied=tied)
    config = json.loads((Path(settings.start) / "config.json").read_text(encoding="utf-8"))
    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    vocabulary, width, layers, heads, feed_forward = (config[name] for name in names)
    return Shape(
        vocabulary, width, layers, heads, feed_forward, settings.context, tied=config.get("tie_word_embeddings", True)
    )


def _optimizers(network: Network, settings: Settings) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for embeddings and gains; words that know something learn slowly."""
    layers = [parameter for parameter in network.model["layers"].parameters() if parameter.ndim == 2]
    others = [parameter for parameter in network.parameters() if all(parameter is not taken for taken in layers)]
    groups: list[dict[str, Any]] = [{"params": others}]
    if settings.word_vectors:
        others = [parameter for parameter in others if parameter is not network.words]
        groups = [{"params": others}, {"params": [network.words], "lr": settings.learning_rate / 30}]
    optimizers: list[torch.optim.Optimizer] = [
        Muon(layers, lr=settings.learning_rate, weight_decay=0.05),
        torch.optim.AdamW(groups, lr=settings.learning_rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["highest_lr"] = group["lr"]
    return optimizers


@dataclass(frozen=True, slots=True)
class Completions:
    """Batches for the tokenizer of a definition, of prompts without a chat template."""

    definition: str
    settings: Settings

    def __call__(self, offset: int) -> Iterator[Batch]:
        """Return batches without end, of samples whose seed is that of the settings and an offset."""
        settings, tokenizer = self.settings, Tokenizer.from_str(self.definition)
        end = tokenizer.token_to_id(END)
        assert end is not None, "the tokenizer was trained with it"

        def encode(texts: list[str]) -> list[list[int]]:
            return [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]

        return batches(
            encode,
            end,
            seed=settings.seed + offset,
            split="train",
            tokens=settings.batch_tokens,
            context=settings.context,
            others=read_samples(Path(settings.others)) if settings.others else (),
            share=settings.share,
        )


if __name__ == "__main__":
    main()
