"""Train the packaged model: `python -m training.train`.

Samples are made while training goes on, so that each is seen once. A GPU is used where there is one; without, 105
minutes on two CPU cores give the model that ships. The learning rate falls to zero over the given time, whatever the
machine.
"""

import argparse
import itertools
import json
import math
import multiprocessing
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

import torch
from torch.nn.functional import cross_entropy
from transformers import GenerationConfig, Lfm2Config, Lfm2ForCausalLM, PreTrainedTokenizerFast

from structured.models import PACKAGED_MODEL
from training.attention import SHORT_CAUSAL
from training.examples import Batch, batches, prompt_and_answer
from training.generate import samples
from training.muon import Muon
from training.tokenizer import END, START, train_tokenizer

TOKENIZER_SAMPLES = 20_000


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what comes out."""

    minutes: float = 105.0
    vocabulary: int = 3072
    width: int = 192
    layers: int = 6
    heads: int = 4
    feed_forward: int = 512
    context: int = 1024
    batch_tokens: int = 4096
    learning_rate: float = 3e-3
    warm_up: float = 0.01
    seed: int = 1
    workers: int = 1


def main() -> None:
    """Read the settings from the command line, train, and save the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=PACKAGED_MODEL, help="folder for model and tokenizer")
    runs = Path(__file__).parent / "runs"
    parser.add_argument("--run", type=Path, default=runs / "latest", help="folder for log and checkpoints")
    for name, value in asdict(Settings()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    arguments = vars(parser.parse_args())
    out, run = arguments.pop("out"), arguments.pop("run")
    train(Settings(**arguments), out=out, run=run)


def train(settings: Settings, *, out: Path, run: Path) -> None:
    """Train with these settings; write a log and checkpoints to `run`, and model and tokenizer to `out`."""
    run.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(settings.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tokenizer = _tokenizer(settings)
    model = _model(settings, tokenizer)
    torch.nn.Module.to(model, device)
    if device.type == "cpu":
        model.set_attn_implementation(SHORT_CAUSAL)
    optimizers = _optimizers(model, settings)
    with (run / "log.jsonl").open("w") as log:
        _write(log, settings=asdict(settings), parameters=model.num_parameters())
        started = saved = time.monotonic()
        seen = 0
        losses: list[float] = []
        for step, batch in enumerate(_prefetched(tokenizer, settings)):
            progress = (time.monotonic() - started) / (60 * settings.minutes)
            if progress >= 1:
                break
            rate = min(1.0, progress / settings.warm_up) * (1 - progress)
            losses.append(_step(model, batch, optimizers, rate, device))
            seen += batch.token_ids.size
            if step % 50 == 49:
                _write(log, step=step + 1, tokens=seen, progress=round(progress, 4), loss=sum(losses) / len(losses))
                losses.clear()
            if time.monotonic() - saved > 300:
                save(model, tokenizer, run / "checkpoint")
                saved = time.monotonic()
        _write(log, steps=step, tokens=seen)
    save(model, tokenizer, out)


def save(model: Lfm2ForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write model and tokenizer to a folder, in bfloat16: half the size, and as exact as the training was."""
    folder.mkdir(parents=True, exist_ok=True)
    copy = Lfm2ForCausalLM(model.config)
    copy.set_attn_implementation("sdpa")
    copy.load_state_dict(model.state_dict())
    torch.nn.Module.to(copy, torch.bfloat16)
    copy.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _tokenizer(settings: Settings) -> PreTrainedTokenizerFast:
    rng = random.Random(settings.seed)
    first = itertools.islice(samples(settings.seed, "train"), TOKENIZER_SAMPLES)
    return train_tokenizer(("".join(prompt_and_answer(sample, rng)) for sample in first), size=settings.vocabulary)


def _model(settings: Settings, tokenizer: PreTrainedTokenizerFast) -> Lfm2ForCausalLM:
    """Return a model of short convolutions and attention by turns: to copy, a token must know the one before it."""
    config = Lfm2Config(
        vocab_size=settings.vocabulary,
        hidden_size=settings.width,
        intermediate_size=settings.feed_forward,
        block_auto_adjust_ff_dim=False,
        num_hidden_layers=settings.layers,
        layer_types=["conv", "full_attention"] * (settings.layers // 2),
        num_attention_heads=settings.heads,
        num_key_value_heads=settings.heads,
        max_position_embeddings=settings.context,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.get_vocab()[START],
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.eos_token_id,
    )
    model = Lfm2ForCausalLM(config)
    model.generation_config = GenerationConfig(eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.eos_token_id)
    return model


def _optimizers(model: Lfm2ForCausalLM, settings: Settings) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for embeddings and gains."""
    layers = [parameter for parameter in model.model.layers.parameters() if parameter.ndim == 2]
    others = [parameter for parameter in model.parameters() if all(parameter is not taken for taken in layers)]
    optimizers: list[torch.optim.Optimizer] = [
        Muon(layers, lr=settings.learning_rate, weight_decay=0.05),
        torch.optim.AdamW(others, lr=settings.learning_rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["highest_lr"] = group["lr"]
    return optimizers


def _step(
    model: Lfm2ForCausalLM, batch: Batch, optimizers: list[torch.optim.Optimizer], rate: float, device: torch.device
) -> float:
    """Take one step; return the mean loss over the learned tokens. Only their positions go through the output layer."""
    token_ids = torch.from_numpy(batch.token_ids).to(device)  # (texts, width)
    learned = torch.from_numpy(batch.learned).to(device)[:, 1:]  # (texts, width - 1)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        hidden = model.model(input_ids=token_ids[:, :-1], use_cache=False).last_hidden_state
        logits = model.lm_head(hidden[learned])  # (learned tokens, vocabulary)
    loss = cross_entropy(logits.float(), token_ids[:, 1:][learned])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group["highest_lr"] * rate
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    value = loss.item()
    if not math.isfinite(value):
        raise RuntimeError("The loss is not finite any more. Lower --learning-rate.")
    return value


def _prefetched(tokenizer: PreTrainedTokenizerFast, settings: Settings) -> Iterator[Batch]:
    """Yield batches made by other processes, so that making them costs the training nothing but a core's share.

    One makes some 150,000 tokens a second; a GPU takes more.
    """
    context = multiprocessing.get_context("spawn")
    queue: multiprocessing.Queue[Batch] = context.Queue(maxsize=64)
    definition = tokenizer.backend_tokenizer.to_str()
    workers = [
        context.Process(target=_produce, args=(queue, definition, settings, number), daemon=True)
        for number in range(settings.workers)
    ]
    for worker in workers:
        worker.start()
    try:
        while True:
            yield queue.get(timeout=300)
    finally:
        for worker in workers:
            worker.terminate()


def _produce(queue: "multiprocessing.Queue[Batch]", definition: str, settings: Settings, worker: int) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(definition)
    end = tokenizer.token_to_id(END)
    assert end is not None, "the tokenizer was trained with it"

    def encode(texts: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]

    size = {"tokens": settings.batch_tokens, "context": settings.context}
    for batch in batches(encode, end, seed=settings.seed + 1_000 * worker, split="train", **size):
        queue.put(batch)


def _write(log: TextIO, **record: object) -> None:
    line = json.dumps(record)
    print(line, flush=True)
    log.write(line + "\n")
    log.flush()


if __name__ == "__main__":
    main()
