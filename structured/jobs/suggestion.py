"""Suggested types: the fields that a model proposes for some documents, merged, and tried on the same documents."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from keyword import iskeyword
from typing import Annotated, Any, Literal
from unicodedata import normalize

from pydantic import BaseModel, Field, create_model

from structured.errors import ModelError, PromptError, StructuredWarning
from structured.errors.calling_line import warn
from structured.extraction.documents.document import Documents, each_document, read_document
from structured.extraction.extractor import Extractor
from structured.models.load import ModelSource

FieldKind = Literal["int", "float", "bool", "date", "str", "list[str]"]
"""The types of fields, as Python writes them."""

_TYPES: dict[str, Any] = {"int": int, "float": float, "bool": bool, "date": date, "str": str, "list[str]": list[str]}

NAME = "Record"
"""The name of the class, as `--fields` calls it."""

MAX_FIELDS = 12


class ProposedField(BaseModel):
    """A field that documents like this one have."""

    name: Annotated[str, Field(pattern="^[a-z]{2,15}(_[a-z]{2,15}){0,2}$")]
    kind: FieldKind
    description: Annotated[str, Field(max_length=60)]
    optional: bool


class Proposal(BaseModel):
    """The fields of a form for documents like this one."""

    fields: Annotated[list[ProposedField], Field(max_length=MAX_FIELDS)]


@dataclass(frozen=True, slots=True)
class SuggestedField:
    """A field of a suggested type.

    Attributes:
        name: An identifier of Python.
        kind: Its type.
        description: What it is, as the model says it.
        is_optional: Whether it is null where a document does not state it.
        documents: How many documents of the sample have it.
    """

    name: str
    kind: FieldKind
    description: str
    is_optional: bool
    documents: int = 0

    @property
    def annotation(self) -> str:
        """The type as Python writes it: `int | None`."""
        return f"{self.kind} | None" if self.is_optional else self.kind


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A type as a start to edit.

    Attributes:
        fields: Its fields, those that most documents have first.
        documents: How many documents the sample has.
        model: The name of the model.
    """

    fields: tuple[SuggestedField, ...]
    documents: int
    model: str

    def to_fields(self) -> str:
        """Return the type as a list of fields: `payer: str = "who pays", amount: float | None = "…"`."""
        return ", ".join(f"{one.name}: {one.annotation} = {one.description!r}" for one in self.fields)

    def to_python(self) -> str:
        """Return a module of Python with the type as a class of Pydantic."""
        imports = "from datetime import date\n\n" if any(one.kind == "date" for one in self.fields) else ""
        fields = "\n".join(
            f"    {one.name}: {one.annotation} = Field(description={one.description!r})"
            f"  # in {one.documents} of {self.documents}"
            for one in self.fields
        )
        return f"{imports}from pydantic import BaseModel, Field\n\n\nclass {NAME}(BaseModel):\n{fields}\n"


def suggest(documents: Documents, wish: str, *, model: ModelSource) -> Suggestion:
    """Return a type for documents like some: the model proposes fields for each, and is asked for all of them in each.

    A field that hardly any document has (a quarter, or none) is dropped, and one that not all have is optional.

    Parameters:
        documents: A sample, such as ten, of which 2,000 characters each are read. A warning names the unreadable ones.
        wish: What the type is for: `"who pays what by when"`.
        model: As for `extract`.

    Raises:
        PromptError: There is no document, or none that can be read.
        ModelError: The model proposes no field, or none that the documents have.
    """
    texts: list[str] = []
    failures: list[PromptError] = []
    for document in each_document(documents):
        try:
            texts.append(str(read_document(document).text)[:2000].strip())
        except PromptError as error:
            failures.append(error)
    texts = [text for text in texts if text]
    if not texts:
        reason = "There is no document with a text. Pass some of those that the type is for."
        raise failures[0] if failures else PromptError(reason)
    for failure in failures:
        warn(StructuredWarning(f"{failure} The sample goes on without it."))
    instructions = (
        f"Design a form for documents like this one. It says {wish.strip() or 'what they are about'}. List the fields "
        "of the form: general names, such as payer or amount, and no values of this document."
    )
    proposer = Extractor(Proposal, model=model, instructions=instructions)
    results = sorted(proposer.results(texts, progress=False), key=lambda result: result.position)
    proposals = [result.value.fields for result in results if result.error is None]
    merged = merge_proposals(proposals)
    fields = try_fields(merged, texts, proposer.model) if merged else []
    if not fields:
        proposed = f"Of the fields {', '.join(one.name for one in merged)}, the documents state none." if merged else ""
        raise ModelError(
            f"{proposer.model.name} has no sensible type for these documents. {proposed} Say in the wish what you look "
            "for, or name a larger model.".replace(".  ", ". ")
        )
    return Suggestion(tuple(fields), len(texts), proposer.model.name)


def merge_proposals(proposals: Sequence[Sequence[ProposedField]]) -> tuple[SuggestedField, ...]:
    """Return the fields of several proposals, each once: its widest type, and optional if one proposal lacks it."""
    by_name: dict[str, list[ProposedField]] = {}
    for proposal in proposals:
        for name in dict.fromkeys(identifier(one.name) for one in proposal):
            by_name.setdefault(name, []).append(next(one for one in proposal if identifier(one.name) == name))
    by_name.pop("", None)
    names = sorted(by_name, key=lambda name: -len(by_name[name]))[:MAX_FIELDS]
    return tuple(
        SuggestedField(
            name,
            widest_kind([one.kind for one in by_name[name]]),
            next((one.description for one in by_name[name] if one.description), name.replace("_", " ")),
            len(by_name[name]) < len(proposals) or any(one.optional for one in by_name[name]),
        )
        for name in names
    )


def identifier(name: str) -> str:
    """Return a name as Python and Pydantic allow it: `"Due date"` → `due_date`, `"class"` → `class_`."""
    letters = normalize("NFKC", name.casefold())  # as Python reads names
    cleaned = "".join(letter if f"a{letter}".isidentifier() else "_" for letter in letters)
    cleaned = re.sub("_+", "_", cleaned.lstrip("".join({*cleaned} - {*filter(str.isalpha, cleaned)}))).strip("_")
    return f"{cleaned}_" if iskeyword(cleaned) or hasattr(BaseModel, cleaned) else cleaned


def widest_kind(kinds: Sequence[FieldKind]) -> FieldKind:
    """Return the type that holds the values of several: `int`, `float` → `float`; `date`, `int` → `str`."""
    if "list[str]" in kinds or len({*kinds}) == 1:
        return "list[str]" if "list[str]" in kinds else kinds[0]
    return "float" if {*kinds} == {"int", "float"} else "str"


def try_fields(fields: Sequence[SuggestedField], texts: Sequence[str], model: ModelSource) -> list[SuggestedField]:
    """Return the fields that documents have, each with their number, those of most documents first."""
    members: dict[str, Any] = {one.name: (_TYPES[one.kind], Field(description=one.description)) for one in fields}
    output_type = create_model(NAME, __config__={"protected_namespaces": ()}, **members)
    extractor = Extractor(output_type, model=model, allow_missing=True, grounded=True)
    rows = [result.data or {} for result in extractor.results(texts, progress=False)]
    tried = [replace(one, documents=sum(row.get(one.name) not in (None, [], "") for row in rows)) for one in fields]
    kept = sorted((one for one in tried if 4 * one.documents > len(texts)), key=lambda one: -one.documents)
    return [replace(one, is_optional=one.documents < len(texts)) for one in kept]
