"""What servers can be asked to enforce: a JSON Schema, a regular expression, a choice, a grammar, or any of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from structured.errors import SchemaError
from structured.regex import Pattern, Reference, nodes_of, printed

MAX_EXPRESSION = 8_000
"""Characters of a regular expression that is sent in place of the one that was written."""


@dataclass(frozen=True, slots=True)
class JsonConstraint:
    """The JSON texts of a JSON Schema, in any layout."""

    kind: ClassVar[str] = "a JSON Schema"
    schema: Mapping[str, Any]
    name: str

    @property
    def is_object(self) -> bool:
        """Whether the schema says by itself that every answer is an object, as OpenAI wants it."""
        return self.schema.get("type") == "object" and "properties" in self.schema


@dataclass(frozen=True, slots=True)
class RegexConstraint:
    """The texts that a regular expression matches as a whole."""

    kind: ClassVar[str] = "a regular expression"
    pattern: Pattern
    """The expression, without lookaround."""
    common: str | None
    """How it is written, if it means the same to Python, Rust and JavaScript."""

    @property
    def portable(self) -> str:
        r"""An expression that means the same in every dialect. Raises SchemaError if there is no short one.

        What dialects read differently, such as `\d`, is written out: as a class of all the characters that it means.
        """
        if self.common is not None:
            return self.common
        found = None if any(isinstance(node, Reference) for node in nodes_of(self.pattern)) else printed(self.pattern)
        if found is None or len(found) > MAX_EXPRESSION or "\\U" in found:
            raise SchemaError(
                "The regular expression has no short form that means the same in the dialects of servers",
                remedy="Leave lookaround out, and write classes out, as [0-9] in place of \\d, or pass flags=re.ASCII.",
            )
        return found


@dataclass(frozen=True, slots=True)
class ChoiceConstraint:
    """One of some texts."""

    kind: ClassVar[str] = "a choice"
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GrammarConstraint:
    """The texts of a grammar, in GBNF (the language of llama.cpp) or in Lark's."""

    text: str
    language: Literal["GBNF", "Lark"]

    @property
    def kind(self) -> str:
        """What it is called in messages."""
        return f"a grammar in {self.language}{'' if self.language == 'GBNF' else chr(39) + 's language'}"


@dataclass(frozen=True, slots=True)
class DescribedConstraint:
    """An output type as this library alone reads it, with nothing left out; see `plain_data.py`."""

    kind: ClassVar[str] = "a described type"
    data: Mapping[str, Any]


Constraint: TypeAlias = JsonConstraint | RegexConstraint | ChoiceConstraint | GrammarConstraint | DescribedConstraint
