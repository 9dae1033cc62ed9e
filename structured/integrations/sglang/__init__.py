"""A grammar backend for SGLang: attention, batching and parallelism are SGLang's, the constraint is this library's.

    engine = sglang.Engine(model_path=model, grammar_backend="structured")
    output = engine.generate(prompt, constraint(Person, max_tokens=200) | {"temperature": 0})
    read(Person, output["text"])

SGLang finds the backend by itself where both are installed: the package has an entry point of the group
`sglang.srt.plugins`, whose function, `register`, SGLang calls in each of its processes. A grammar backend was chosen
over a custom logit processor, for which requests send pickled code, and SGLang must be told to run it.

A grammar is not told how many tokens a request may take. So the budget stands in the constraint as well, and
`constraint` writes both. Plain requests for structured outputs (`response_format`, `json_schema`, `regex`, `ebnf`) go
to the backend, too: their answers keep to the rules, but SGLang may cut them off.

It is written against SGLang 0.5.23, and tested with the parts of its source that fill masks and advance grammars, and
with a scheduler of the tests; not in a whole engine, which needs a GPU.
"""

import json
from typing import TYPE_CHECKING, Any

from structured.errors.arguments import count
from structured.integrations.engines.members import BUDGET, KEY
from structured.integrations.engines.reading import read
from structured.json_schema.document.location import Optionals
from structured.json_schema.whitespace import DEFAULT_WHITESPACE, WhitespaceName
from structured.output_types.constraints.plain_data import type_to_text
from structured.output_types.json_output import JsonLayout

if TYPE_CHECKING:
    from structured.integrations.sglang.backend import GuideBackend

__all__ = ["GuideBackend", "constraint", "read", "register"]

NAME = "structured"
"""What SGLang calls the backend: `--grammar-backend structured`."""


def constraint(
    output_type: object,
    *,
    max_tokens: int,
    whitespace: WhitespaceName = DEFAULT_WHITESPACE,
    optional: Optionals = "written",
) -> dict[str, Any]:
    """Return the sampling parameters of a request to SGLang that say what its answer is.

    `json_schema` is text in which other backends see a schema that allows everything, and this one the constraint.

    Parameters:
        output_type: A type, a `JsonSchema`, a `Regex`, a `Choice` or a `Grammar`.
        max_tokens: The most tokens of the answer, which is whole within it.
        whitespace: As for `extract`.
        optional: As for `extract`.

    Raises:
        SchemaError: A part of the type cannot be enforced exactly, or depends on the document.
    """
    text = type_to_text(output_type, JsonLayout(whitespace, optional))
    budget = count(1)("max_tokens", max_tokens)
    return {"json_schema": json.dumps({KEY: text, BUDGET: budget}), "max_new_tokens": budget}


def register() -> None:
    """Tell SGLang of the backend, in the process that calls this."""
    from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices
    from sglang.srt.constrained.base_grammar_backend import register_grammar_backend

    from structured.integrations.sglang.backend import make_backend

    register_grammar_backend(NAME, make_backend)
    if NAME not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([NAME])


def __getattr__(name: str) -> Any:
    if name != "GuideBackend":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from structured.integrations.sglang.backend import GuideBackend

    return GuideBackend
