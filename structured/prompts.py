"""A JSON Schema and a document enter; the prompt leaves, as plain text or as chat messages.

The type is shown to the model as a sketch in the style of a TypeScript interface, not as the JSON Schema itself: the
sketch has the shape of the answer, in the order of the answer, and takes about a quarter of the tokens. What comes
before the document depends on the type alone, so that prompts for many documents share a prefix.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

TASK = "Fill in the type from the text, as JSON. Where the text states no value, write null if the type allows it."

_PLAIN_NAME = re.compile(r"[^\W\d]\w*")
_FORMAT_NAMES = {"decimal": "decimal", "date": "date", "date-time": "datetime"}

JsonSchema = Mapping[str, Any]
Example = tuple[str, str]
"""A document and the JSON text that answers it."""


def schema_to_sketch(schema: JsonSchema) -> str:
    """Return the type that a JSON Schema describes, as a person would note it down.

    `{"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}` → `integer (>= 0) | null`
    """
    sketcher = _Sketcher(schema.get("$defs", {}))
    lines = [sketcher.sketch(schema), *(f"{name} = {text}" for name, text in sketcher.named())]
    return "\n".join(lines)


def kinds_of(definitions: JsonSchema) -> Callable[[object], str]:
    """Return a function from a schema to its sketch in a line, where types that have fields are written by name."""
    sketcher = _Sketcher(definitions)
    sketcher.by_name |= {name for name, definition in definitions.items() if "properties" in definition}
    return lambda schema: " ".join(sketcher.sketch(schema).split())


def completion_prompt(
    schema: JsonSchema, document: str, *, instructions: str | None = None, examples: Sequence[Example] = ()
) -> str:
    """Return the prompt for a model without a chat template; the JSON text is what continues it."""
    head = [instructions] if instructions else []
    head.append(f"Type:\n{schema_to_sketch(schema)}")
    shown = [f"Text:\n{text}\n\nJSON:\n{answer}" for text, answer in examples]
    return "\n\n".join([*head, *shown, f"Text:\n{document}\n\nJSON:\n"])


def chat_messages(
    schema: JsonSchema, document: str, *, instructions: str | None = None, examples: Sequence[Example] = ()
) -> list[dict[str, str]]:
    """Return the prompt for a model with a chat template: one user message, earlier turns for the examples."""
    head = f"{instructions or TASK}\n\nType:\n{schema_to_sketch(schema)}"
    messages: list[dict[str, str]] = []
    for text, answer in examples:
        messages.append({"role": "user", "content": f"{head}\n\nText:\n{text}"})
        messages.append({"role": "assistant", "content": answer})
    messages.append({"role": "user", "content": f"{head}\n\nText:\n{document}"})
    return messages


class _Sketcher:
    """Writes types down; one that contains itself is written by name, and what the name means afterwards."""

    def __init__(self, definitions: JsonSchema) -> None:
        self.definitions = definitions
        self.by_name = {name for name in definitions if name in self._reached(definitions[name])}
        self.mentioned: list[str] = []

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the sketch of each type that was written by name."""
        for name in self.mentioned:  # which grows on the way
            yield name, self.sketch(self.definitions[name])

    def sketch(self, schema: object, indent: str = "") -> str:
        """Return the sketch of a schema."""
        if not isinstance(schema, Mapping):
            return "any"
        if "$ref" in schema:
            name: str = schema["$ref"].rpartition("/")[2]
            if name in self.definitions and name not in self.by_name:
                return self.sketch(self.definitions[name], indent)
            if name not in self.mentioned:
                self.mentioned.append(name)
            return name
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return " | ".join(self.sketch(branch, indent) for branch in schema[keyword])
        if "enum" in schema or "const" in schema:
            values = schema["enum"] if "enum" in schema else [schema["const"]]
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
        if "properties" in schema:
            return self._object(schema["properties"], indent)
        if schema.get("type") == "array":
            return f"[{self.sketch(schema.get('items', {}), indent)}, ...]{_bounds(schema)}"
        plain = _FORMAT_NAMES.get(schema.get("format", ""), schema.get("type", "any"))
        return f"{plain}{_bounds(schema)}"

    def _object(self, properties: JsonSchema, indent: str) -> str:
        deeper = indent + "  "
        lines = []
        for name, value in properties.items():
            shown = name if _PLAIN_NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False)
            description = " ".join(value.get("description", "").split())
            comment = f"  // {description}" if description else ""
            lines.append(f"{deeper}{shown}: {self.sketch(value, deeper)}{comment}\n")
        return f"{{\n{''.join(lines)}{indent}}}" if lines else "{}"

    def _reached(self, schema: object) -> set[str]:
        """Return the names of the definitions that a schema leads to."""
        reached: set[str] = set()
        open_ends = [schema]
        while open_ends:
            part = open_ends.pop()
            if isinstance(part, Mapping):
                name = str(part.get("$ref", "")).rpartition("/")[2]
                if name in self.definitions and name not in reached:
                    reached.add(name)
                    open_ends.append(self.definitions[name])
                open_ends.extend(part.values())
            elif isinstance(part, list):
                open_ends.extend(part)
        return reached


def _bounds(schema: JsonSchema) -> str:
    """Return the limits of a value as ` (>= 0, < 10)`, or nothing where there are none."""
    limits = [
        f"{sign} {schema[keyword]}{unit}"
        for keyword, sign, unit in (
            ("minimum", ">=", ""),
            ("exclusiveMinimum", ">", ""),
            ("maximum", "<=", ""),
            ("exclusiveMaximum", "<", ""),
            ("multipleOf", "a multiple of", ""),
            ("minLength", ">=", " characters"),
            ("maxLength", "<=", " characters"),
            ("minItems", ">=", " items"),
            ("maxItems", "<=", " items"),
        )
        if keyword in schema
    ]
    return f" ({', '.join(limits)})" if limits else ""
