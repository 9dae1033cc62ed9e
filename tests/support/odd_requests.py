"""Requests of each path of the server, and what may stand in a member of one though nobody means it."""

from typing import Any


def user(text: str) -> list[dict[str, str]]:
    """Return a chat of one message."""
    return [{"role": "user", "content": text}]


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": True}}
FORM = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"enum": [1]}}}
FIELDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "chat/completions": (
        {"messages": user("a")},
        {
            "model": "default", "temperature": 1, "top_p": 0.5, "top_k": 3, "min_p": 0.1, "seed": 1, "n": 2,
            "max_tokens": 40, "max_completion_tokens": 30, "stop": ["x"], "stream": True, "user": "u",
            "stream_options": {"include_usage": True}, "frequency_penalty": 0, "presence_penalty": None,
            "repetition_penalty": 1, "logit_bias": {}, "structured_outputs": {"constraint": {"regex": "a"}},
            "guided_json": {"enum": [1]}, "guided_regex": "a", "guided_choice": ["a"], "guided_grammar": 'start: "a"',
            "response_format": FORM, "tools": [TOOL], "tool_choice": "auto", "parallel_tool_calls": True,
            "logprobs": True, "top_logprobs": 0, "store": True, "metadata": {}, "service_tier": "auto",
        },
    ),
    "completions": (
        {"prompt": "a"},
        {"logprobs": 1, "echo": False, "best_of": 1, "suffix": None, "stream": True, "guided_regex": "a"},
    ),
    "extract": (
        {"text": "a", "schema": {"enum": [1, "a"]}},
        {
            "type": "order", "documents": ["a"], "instructions": "i", "system": "s", "temperature": 0.5, "seed": 3,
            "max_tokens": 30, "evidence": True, "grounded": ["name"],
        },
    ),
    "choose": ({"text": "a", "choices": ["a", "b"]}, {"model": "default"}),
    "regex": ({"text": "a", "regex": "a"}, {"dialect": "rust"}),
    "grammar": ({"text": "a", "grammar": 'start: "a"'}, {"start": "start"}),
}  # fmt: skip
"""What a request of each path must have, and may have."""

NASTY: list[Any] = [
    *(None, True, False, 0, 1, -1, 1.5, 1e308, 10**30, float("nan"), float("inf")),
    *("", "a", "\ud800", "\x00", "\ufeff", "é€🙂", "</s>", "x" * 3000, "(", "[", "a{5}", "a" * 50, "<a>"),
    *("start: start", 'start: "a"', "start: /(/", "%import python.file_input", "%import common.INT\nstart: INT"),
    *([], [1], [None], [[]], ["a"], ["\ud800"], [{}], [TOOL] * 129, [{"type": "function", "function": {"name": ""}}]),
    *({}, {"a": 1}, {"\ud800": 1}, {"type": "object"}, {"type": 1}, {"$ref": "#"}, {"const": float("nan")}),
    *({"type": "json_schema"}, {"regex": "("}, {"json": {"type": 1}}, {"json": "{"}, {"type": "text"}),
    *(user(""), user("\ud800"), [{"role": "system", "content": "a"}], [{"role": "assistant", "content": "a"}]),
    *([{"role": "tool", "content": "a", "tool_call_id": "b"}], {"type": "function", "function": {"name": "g"}}),
]
