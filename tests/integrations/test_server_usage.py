"""What a request took: the tokens of its prompts and of its answers, as the model has them."""

from typing import Any

import httpx
import pytest
from odd_requests import user
from serving import served

from structured.models.load import PACKAGED_MODEL, load_model

PROMPTS = ["a", "hello wor", "b c d e f g h i j k l m n o p q r s t", "The invoice is numb"]
"""The packaged model has no chat template, so that the end of a prompt is healed where a token may go on from it."""


@pytest.fixture(scope="module")
def address() -> Any:
    with served(PACKAGED_MODEL) as found:
        yield found


def completed(address: str, **asked: Any) -> Any:
    return httpx.post(f"{address}/v1/completions", json={"max_tokens": 2, **asked}, timeout=60).json()


@pytest.mark.parametrize("tokens", [1, 2, 3, 5])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_free_text_has_no_more_tokens_than_were_asked_for(address: str, prompt: str, tokens: int) -> None:
    """Those in the place of the end of the prompt are the prompt's."""
    usage = completed(address, prompt=prompt, max_tokens=tokens)["usage"]
    assert usage["completion_tokens"] <= tokens
    assert usage["prompt_tokens"] == len(load_model(PACKAGED_MODEL).encode(prompt))
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_each_prompt_is_counted_and_its_answers_are(address: str) -> None:
    """Several answers to one prompt cost the prompt once."""
    alone = [completed(address, prompt=prompt)["usage"] for prompt in PROMPTS]
    together = completed(address, prompt=PROMPTS)["usage"]
    assert together == {name: sum(one[name] for one in alone) for name in together}
    thrice = completed(address, prompt=PROMPTS, n=3)["usage"]
    assert thrice["prompt_tokens"] == together["prompt_tokens"]
    assert thrice["completion_tokens"] == 3 * together["completion_tokens"]
    asked = {"messages": user("Jason is 25."), "guided_regex": "[0-9]{2}"}
    chats = [httpx.post(f"{address}/v1/chat/completions", json={**asked, "n": n}, timeout=60).json() for n in (1, 3)]
    assert chats[0]["usage"]["prompt_tokens"] == chats[1]["usage"]["prompt_tokens"]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_log_probabilities_spell_a_completion(address: str, prompt: str) -> None:
    """And nothing of the prompt, also where it was healed; what was sampled is not certain."""
    [choice] = completed(address, prompt=prompt, max_tokens=20, logprobs=1, temperature=1, seed=1)["choices"]
    told = choice["logprobs"]
    assert "".join(told["tokens"]) == choice["text"]
    for start, token in zip(told["text_offset"], told["tokens"], strict=True):
        assert choice["text"].startswith(token, start)
    assert all(one <= 0 for one in told["token_logprobs"])
    assert any(one < 0 for one in told["token_logprobs"])
    assert [len(one) for one in told["top_logprobs"]] == [1] * len(told["tokens"])
