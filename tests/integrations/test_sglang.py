"""Inside SGLang: its scheduler asks the backend for masks, and each answer is the one that it would be alone."""

import json
import random
import tomllib
from importlib.metadata import EntryPoint
from typing import Any, Literal

import numpy as np
import pytest
from doubles import random_logits, spell
from engines import HAS_SGLANG, REGISTERED, EngineTokenizer, engine_config, scores
from hypothesis import given, settings
from hypothesis import strategies as st
from package_map import HOUSE
from pydantic import BaseModel
from sglang.srt.constrained.base_grammar_backend import GrammarRow

from structured import Choice, Grammar, JsonSchema, Regex
from structured.decoding.compiled_types import compile_type
from structured.decoding.generate import generate
from structured.decoding.requests import Request
from structured.decoding.sampling import Sampler
from structured.index.guide import Guide
from structured.integrations.sglang import constraint, read, register
from structured.integrations.sglang.backend import UNBOUNDED, make_backend
from structured.models import FunctionModel
from structured.output_types.resolve import resolve_type


class Person(BaseModel):
    name: str
    age: int


TYPES: tuple[Any, ...] = (
    *(Person, list[int], Literal["true", "tree", "é€"], dict[str, bool]),
    *(Regex(r"\d{4}-\d\d"), Choice(["yes", "no"]), JsonSchema({"type": "array", "maxItems": 3})),
    Grammar.from_gbnf('root ::= "(" root ")" | "x"'),
)

TOKENIZER = EngineTokenizer()
ENDS = TOKENIZER.end_token_ids
CONFIG = engine_config().model_config
WIDTH = CONFIG.get_vocab_size()
MODEL = FunctionModel(random_logits(WIDTH, scale=20.0), TOKENIZER)


def backend() -> Any:
    return make_backend(None, CONFIG.tokenizer, WIDTH, {1, 2})


def grammar_of(made: Any, kind: str, text: str) -> Any:
    """Return the grammar of a request, as SGLang gets and keeps it."""
    found, is_known = made.get_cached_or_future_value((kind, text), False)
    if not is_known:
        found = found.result()
        made.set_cache((kind, text), found.copy() if hasattr(found, "copy") else found)
    return found


class Scheduler:
    """What SGLang does between two forward passes, as grammars see it; tokens are proposed and refused."""

    def __init__(self, requests: list[tuple[Any, list[int], int]], chance: random.Random) -> None:
        self.requests = requests
        self.grammars = [None if grammar is None else grammar for grammar, _, _ in requests]
        self.written: list[list[int]] = [[] for _ in requests]
        self.chance = chance

    def is_done(self, place: int) -> bool:
        grammar, _, budget = self.requests[place]
        written = self.written[place]
        ended = bool(written) and (written[-1] in ENDS or len(written) >= budget)
        return ended or (grammar is not None and grammar.is_terminated())

    def run(self) -> None:
        """Write all answers."""
        while live := [place for place in range(len(self.requests)) if not self.is_done(place)]:
            self._step(self.chance.sample(live, self.chance.randint(1, len(live))))

    def _step(self, batch: list[int]) -> None:
        import torch

        logits = scores(MODEL.function, [self.requests[place][1] + self.written[place] for place in batch])
        before = logits.clone()
        guided = [GrammarRow(row, self.grammars[place]) for row, place in enumerate(batch) if self.grammars[place]]
        if guided:
            first = guided[0].grammar
            mask = first.allocate_vocab_mask(vocab_size=WIDTH, batch_size=len(batch), device="cpu")
            assert (mask.dtype, tuple(mask.shape)) == (torch.int32, (len(batch), -(-WIDTH // 32)))
            first.fill_vocab_mask_batched(guided, mask)
            alone = torch.full_like(mask, -1)
            for row, grammar in guided:
                grammar.fill_vocab_mask(alone, row)
            assert torch.equal(mask, alone)
            first.apply_vocab_mask(logits=logits, vocab_mask=first.move_vocab_mask(mask, torch.device("cpu")))
            first.reset_vocab_mask(mask)
            assert bool((mask == -1).all())
        for row, (place, token_id) in enumerate(zip(batch, logits.argmax(dim=1).tolist(), strict=True)):
            grammar = self.grammars[place]
            if grammar is None:
                assert torch.equal(logits[row], before[row])
            else:
                self._propose(grammar)
                grammar.accept_token(token_id)
            self.written[place].append(token_id)
            if grammar is not None:
                grammar.finished = self.is_done(place)

    def _propose(self, grammar: Any) -> None:
        """Go through tokens that are allowed, and take them back, as trees of proposed tokens are read."""
        import torch

        count = 0
        while count < 3 and self.chance.random() < 0.4 and not grammar.is_terminated():
            mask = grammar.allocate_vocab_mask(vocab_size=WIDTH, batch_size=1, device="cpu")
            grammar.fill_vocab_mask(mask, 0)
            allowed = torch.zeros(1, WIDTH)
            grammar.apply_vocab_mask(logits=allowed, vocab_mask=mask)
            grammar.accept_token(self.chance.choice(allowed[0].isfinite().nonzero()[:, 0].tolist()))
            count += 1
        grammar.rollback(count)


def text_of(written: list[int]) -> str:
    return spell(TOKENIZER.tokens, [token_id for token_id in written if token_id not in ENDS]).decode()


@pytest.mark.thorough
@given(
    asked=st.lists(
        st.tuples(
            st.sampled_from([*TYPES, None]), st.lists(st.integers(3, 200), min_size=1, max_size=5), st.integers(20, 50)
        ),
        min_size=1,
        max_size=5,
    ),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=20)
def test_each_answer_is_the_one_that_it_would_be_alone(asked: list[Any], seed: int) -> None:
    """Requests share batches, and tokens are proposed and taken back: each is valid, in time, untouched by others."""
    made = backend()
    requests = []
    for output_type, prompt, budget in asked:
        grammar = None
        if output_type is not None:
            sampling = constraint(output_type, max_tokens=budget)
            assert sampling["max_new_tokens"] == budget
            grammar = grammar_of(made, "json", sampling["json_schema"])
        requests.append((grammar, prompt, budget))
    scheduler = Scheduler(requests, random.Random(seed))
    scheduler.run()
    for (output_type, prompt, budget), written in zip(asked, scheduler.written, strict=True):
        if output_type is not None:
            guide = Guide(compile_type(resolve_type(output_type), MODEL.vocabulary), max_tokens=budget)
            request = Request(prompt, guide, np.random.default_rng(0))
            [own] = generate(MODEL, [request], Sampler(), jump_forward=False)
            assert text_of(written) == own.text
            read(output_type, text_of(written))


PLAIN = {
    "a schema": (
        "json",
        '{"type": "array", "items": {"type": "integer"}, "maxItems": 2}',
        JsonSchema({"type": "array"}),
    ),
    "any object": ("json", "$$ANY$$", JsonSchema({"type": "object"})),
    "an expression": ("regex", "[0-9]{4}", Regex("[0-9]{4}")),
    "GBNF": ("ebnf", 'root ::= "x" | "(" root ")"', Grammar.from_gbnf('root ::= "x" | "(" root ")"')),
}


@pytest.mark.parametrize("case", PLAIN)
def test_plain_requests_for_structured_outputs_are_kept_to(case: str) -> None:
    """What any client of SGLang sends is a constraint as well, without a budget."""
    kind, text, output_type = PLAIN[case]
    scheduler = Scheduler([(grammar_of(backend(), kind, text), [3], 400)], random.Random(0))
    scheduler.run()
    [written] = scheduler.written
    if written[-1] in ENDS:  # else SGLang has cut it off
        read(output_type, text_of(written))
    assert len(written) <= 400 < UNBOUNDED


REFUSED = {
    "too small a budget": ("json", constraint(Person, max_tokens=5)["json_schema"], "The shortest answer of this type"),
    "no expression": ("regex", "(", "Missing ), unterminated subpattern"),
    "no JSON": ("json", "{", "The schema is not JSON: "),
    "no constraint": ("json", '{"structured": 1}', "'structured' must be the text of a constraint"),
    "no budget": ("json", json.dumps({"structured": '{"json": {}}'}), "'structured' must be the text of a constraint"),
    "a structural tag": ("structural_tag", "{}", "The grammar backend 'structured' reads no structural tags"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_requests_are_aborted_with_the_message(case: str) -> None:
    """SGLang aborts a request whose grammar is invalid, and answers its message."""
    kind, text, message = REFUSED[case]
    assert grammar_of(backend(), kind, text).error_message.startswith(message)


def test_a_token_that_was_masked_out_aborts_the_request() -> None:
    """SGLang aborts a request when its grammar raises ValueError for a token."""
    grammar = grammar_of(backend(), "regex", "[0-9]+")
    with pytest.raises(ValueError, match=r"^Token \d+ \('?.*a.*\) is not allowed here: Guide"):
        grammar.accept_token(TOKENIZER.encode("a")[-1])


def test_sglang_finds_the_backend() -> None:
    """The entry point of the package leads to `register`, which puts the backend among the choices."""
    project = tomllib.loads((HOUSE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = project["entry-points"]["sglang.srt.plugins"]["structured"]
    assert EntryPoint("structured", named, "sglang.srt.plugins").load() is register
    from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES

    for _ in range(2):
        register()
    assert GRAMMAR_BACKEND_CHOICES.count("structured") == 1
    if not HAS_SGLANG:
        assert REGISTERED["structured"] is make_backend
