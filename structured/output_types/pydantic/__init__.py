"""The JSON Schema of a Pydantic type, with the rules that Pydantic enforces but leaves out of it.

`Annotated[date, Field(ge=...)]`, `AwareDatetime`, Enum members that no JSON value equals: a text may follow Pydantic's
own schema and be rejected. Each such rule is written here as a keyword under its Pydantic name. Those that can be
enforced are read in `json_schema/`; the others are refused there, with their place in the schema. Reading the core
schema beside the JSON Schema was rejected: `GenerateJsonSchema` walks it already, and is meant to be extended by one
method for each kind.

Functions that the author of a type wrote to check or change its values are named as well, under `validators`. Since
they are run on the finished answer, that keyword is no more than a note. The functions of Pydantic itself are known:
either a format says what they accept, or they are refused.
"""

from structured.output_types.pydantic.generator import CompleteJsonSchema

__all__ = ["CompleteJsonSchema"]
