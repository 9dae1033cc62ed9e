"""Conjunctions: what schemas that hold together say of a value, and which choices they leave.

The references and `allOf` of a schema are followed at once, and so is a choice of one; choices between more are kept,
to be made by whoever asks for the conjunction.
"""

from collections.abc import Mapping
from typing import NamedTuple

from structured.errors.recursion import deep
from structured.json_schema.assertions import UNEVALUATED
from structured.json_schema.document.location import (
    ANNOTATIONS,
    GROUNDED,
    Complement,
    Elsewhere,
    Identity,
    Subschema,
    Subschemas,
    check_shape,
)
from structured.json_schema.document.references import REFERENCES, ignores_siblings, targets
from structured.json_schema.logic.choices import CHOICES
from structured.json_schema.logic.complements import ways_to_fail
from structured.json_schema.logic.emptiness import NO_CONTEXT, Context, context_of, surely_empty, types_left

_SAYS_NOTHING = ANNOTATIONS - {GROUNDED} | {"$defs", "definitions", *REFERENCES}
"""Keywords of which nothing is left once references are followed. A mark of what has to be stated is for all that its
schema leads to."""

_CHOOSING = frozenset(CHOICES)
_GLANCE = 3
"""How deep options are looked at before they are tried."""


class Choice(NamedTuple):
    """Conjunctions of schemas of which one has to hold, and the keyword that says so.

    Where they are the ways to fail a schema, that is `denied`.
    """

    part: Subschema
    keyword: str
    options: list[Subschemas]
    denied: Subschema | None = None


class Conjunction:
    """The schemas that a value has to satisfy, with those that their `$ref` and `allOf` lead to, and the choices left.

    `schemas` are read without the keywords of `CHOICES`; `denied` are those that the value must fail. `context` has the
    schemas that were there when it was last settled.
    """

    __slots__ = ("choices", "context", "denied", "followed", "schemas", "seen")

    def __init__(self) -> None:
        self.schemas: Subschemas = []
        self.choices: list[Choice] = []
        self.followed: Subschemas = []
        self.denied: dict[Identity, Subschema] = {}
        self.seen: dict[Identity, frozenset[Identity]] = {}
        self.context = NO_CONTEXT

    @deep
    def add(self, part: Subschema) -> None:
        """Take a schema, and all that it leads to. Raises `UnsatisfiableError` if it contradicts what is there."""
        schema, location, scopes = part
        if isinstance(schema, Elsewhere):
            self._deny(part, Subschema(schema.schema, schema.location.at_depth(location.depth)))
            return
        if schema is True or (part.identity in self.seen and scopes <= self.seen[part.identity]):
            return
        if schema is False:
            raise location.unsatisfiable("nothing is allowed here", keyword=None)
        check_shape(part)
        if part.identity in self.denied:
            raise location.unsatisfiable("what has to hold must not", keyword="not")
        self._add_new(part._replace(scopes=self._noted(part)))

    def _noted(self, part: Subschema) -> frozenset[Identity]:
        """Note that a schema is taken; return its scopes, with those that it had if it was taken before."""
        identity, scopes = part.identity, part.scopes
        if identity in self.seen:
            scopes |= self.seen[identity]
            self.schemas = [one for one in self.schemas if one.identity != identity]
            self.choices = [choice for choice in self.choices if choice.part.identity != identity]
        self.seen[identity] = scopes
        return scopes if UNEVALUATED.isdisjoint(part.schema) else scopes | {identity}

    def _add_new(self, part: Subschema) -> None:
        schema = part.schema
        for target in targets(part):
            self.followed.append(target)
            self.add(target._replace(scopes=part.scopes))
        if ("$ref" in schema and ignores_siblings(part.location)) or schema.keys() <= _SAYS_NOTHING:
            return
        self.schemas.append(part)
        for index in range(len(schema.get("allOf", []))):
            self.add(part.below("allOf", index)._replace(scopes=part.scopes))
        if not _CHOOSING.isdisjoint(schema):
            for keyword in CHOICES:
                if part.has(keyword):
                    self._choose(part, keyword)

    def _choose(self, part: Subschema, keyword: str) -> None:
        """Take what a keyword leaves to choose; a choice of one is none."""
        for options in CHOICES[keyword](part, self.schemas):
            chosen = [[one._replace(scopes=one.scopes | part.scopes) for one in option] for option in options]
            if len(chosen) == 1:
                for one in chosen[0]:
                    self.add(one)
            else:
                self.choices.append(Choice(part, keyword, chosen))

    def _deny(self, part: Subschema, target: Subschema) -> None:
        """Take a schema that the value must fail."""
        if target.schema is False or target.identity in self.denied:
            return
        if target.schema is True or target.identity in self.seen:
            raise target.location.unsatisfiable("what must not hold does", keyword="not")
        self.denied[target.identity] = target
        if isinstance(target.schema, Mapping) and not target.schema.keys().isdisjoint(REFERENCES):
            self.followed.append(target)
        ways = ways_to_fail(target)
        if not ways:
            raise target.location.unsatisfiable("what must not hold always does", keyword="not")
        if len(ways) == 1:
            for one in ways[0]:
                self.add(one)
        else:
            self.choices.append(Choice(part, "not", ways, target))

    @property
    def is_one_choice(self) -> bool:
        """Whether there is nothing but one choice, of single schemas."""
        if len(self.choices) != 1:
            return False
        _, keyword, options, _ = self.choices[0]
        return (
            all(len(option) == 1 for option in options)
            and len(self.denied) <= (keyword == "not")
            and all(not _says_more(other, keyword) for other in self.schemas)
        )

    def settle(self) -> None:
        """Drop the choices that what is there has made, and the options that it has ruled out."""
        is_settled = False
        self.context = context_of(self.schemas, self.context)
        while not is_settled:
            is_settled = True
            for choice in self.choices:
                if self._settle(choice, self.context):
                    is_settled = False
                    self.context = context_of(self.schemas, self.context)

    def _settle(self, choice: Choice, context: Context) -> bool:
        """Do so with one choice; tell whether that added a schema, which may settle others."""
        if not any(choice is other for other in self.choices):
            return False
        if choice.denied is not None and surely_empty([choice.denied], context, _GLANCE):
            self.choices = [other for other in self.choices if other is not choice]
            return False
        options = [option for option in choice.options if not surely_empty(option, context, _GLANCE)]
        types = types_left(options)
        if options and types < context.rules.types:
            self.add(_of_types(choice.part, types))
            return True
        if len(options) == len(choice.options):
            return False
        if not options:
            raise choice.part.location.unsatisfiable("no branch is possible", keyword=choice.keyword)
        self.choices = [other for other in self.choices if other is not choice]
        if len(options) > 1:
            self.choices.append(choice._replace(options=options))
            return False
        for one in options[0]:
            self.add(one)
        return True

    def with_option(self, option: Subschemas) -> "Conjunction":
        """Return the same with the first choice made."""
        chosen = Conjunction()
        chosen.schemas, chosen.choices = list(self.schemas), self.choices[1:]
        chosen.seen, chosen.denied, chosen.context = dict(self.seen), dict(self.denied), self.context
        for part in option:
            chosen.add(part)
        return chosen


def _of_types(part: Subschema, types: frozenset[str]) -> Subschema:
    """Return a schema of the compiler's own that allows some types, the same each time."""
    made = part.location.compilation.made
    key = "of types", types
    if key not in made:
        made[key] = Complement({"type": sorted(types)})
    return Subschema(made[key], part.location)


def _says_more(part: Subschema, choice: str) -> bool:
    """Tell whether a schema says anything beside its choice."""
    return bool(part.schema.keys() - _SAYS_NOTHING - {choice, "allOf", "discriminator"})
