"""The chat template of a GGUF file: messages as the text that the model was trained on.

A template is code in the language of Jinja, written for the environment that transformers gives it. Here is that
environment, without transformers: what it may call, and a sandbox, since the file may come from anybody.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any


def chat_template(source: str, control_tokens: Mapping[str, str]) -> Callable[[Sequence[Mapping[str, str]]], str]:
    """Return the function from messages to their text, up to where the answer begins.

    `control_tokens` are spellings that the template may use, by names such as `bos_token`. Importing jinja2, which
    comes with llama-cpp-python, is left until then. Raises an error of jinja2 for what is no template.
    """
    from jinja2 import nodes
    from jinja2.exceptions import TemplateError
    from jinja2.ext import Extension
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """`{% generation %}`: marks what an assistant wrote, for training; here it is text like any other."""

        tags = {"generation"}  # noqa: RUF012  as jinja2 declares it

        def parse(self, parser: Any) -> nodes.Node:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.Scope(body, lineno=line)

    def refuse(message: str) -> None:
        raise TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)  # noqa: DTZ005  the user's day
    template = environment.from_string(source)
    return lambda messages: template.render(messages=messages, add_generation_prompt=True, tools=None, **control_tokens)


def _to_json(value: object, **options: Any) -> str:
    """Return JSON as it is, where the filter of jinja2 would escape it for HTML."""
    return json.dumps(value, **{"ensure_ascii": False, **options})
