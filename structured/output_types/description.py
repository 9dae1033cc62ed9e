"""The description of a type that a prompt shows, as a person would note it down.

The style is that of a TypeScript interface. It has the shape of the answer, in the order of the answer. It is for
reading: rules that would take long to tell (`not`, what some regular expressions forbid) are left to the mask.

In the description of a JSON Schema, each part that is used more than once is described once, by name, unless it is
short. The types of Python are written out: the packaged models were trained on them so. To write out small schemas as
well was tried, and small models were right no more often.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from pydantic_core import to_jsonable_python

from structured.errors.recursion import deep
from structured.json_schema.document.location import Identity, Reading, Schema, Subschema
from structured.json_schema.document.references import REFERENCES
from structured.json_schema.nullable import may_be_left_out
from structured.output_types.schema_parts import (
    description_of,
    is_generated,
    is_object,
    known_targets,
    list_at,
    listed,
    parts_below,
    quoted,
    reached,
    remark,
    repeated,
    title_of,
)

_PLAIN_NAME = re.compile(r"[^\W\d]\w*")
_FORMAT_NAMES = {name: name for name in ("decimal", "date", "time", "duration")} | {"date-time": "datetime"}
_LAYOUTS = {"date": "YYYY-MM-DD", "date-time": "YYYY-MM-DDTHH:MM:SS", "time": "HH:MM:SS", "duration": "PnDTnHnMnS"}
_ANYTHING = "any"

MAX_LISTED = 20_000
"""Characters of listed values in one place, some 5,000 tokens; those beyond are counted, and the mask has them all."""


@deep
def describe(root: Subschema) -> str:
    """Return the description of a schema; a property that may be left out has a question mark.

    Of a JSON Schema, and of a type that is very large, parts that are used more than once are described once, by name.
    A type is otherwise written out, as the packaged models learned it.
    """
    if root.location.is_type:
        try:
            return _Describer().whole(root)
        except _TooLong:
            pass
    return _Compact(root).whole(root)


@deep
def layouts(root: Subschema) -> dict[str, str]:
    """Return how the dates and times in a type are written: `{"date": "YYYY-MM-DD"}`."""
    zones: dict[str, list[bool]] = {}
    for part in (root, *islice(reached(root), MAX_LOOKED_AT)):
        name = part.schema.get("format") if isinstance(part.schema, Mapping) else None
        if isinstance(name, str) and name in _LAYOUTS:
            zones.setdefault(name, []).append(_has_zone(part, name))
    kinds_there = [name for name in _LAYOUTS if name in zones]
    return {_FORMAT_NAMES.get(name, name): f"{_LAYOUTS[name]}{'Z' if all(zones[name]) else ''}" for name in kinds_there}


def _has_zone(part: Subschema, name: str) -> bool:
    """Tell whether a time must have an offset from UTC, as RFC 3339 §5.6 has it."""
    is_aware = part.schema.get("tz_constraint", "naive") != "naive"
    return name in {"date-time", "time"} and (is_aware or part.location.compilation.reading is not Reading.TYPE)


def kinds() -> Callable[[Subschema], str]:
    """Return a function that describes a schema in one line; types that have fields are written by name."""
    describer, by_name = _Describer(names_objects=True), _Describer(names_everything=True)

    @deep
    def kind(part: Subschema) -> str:
        try:
            return " ".join(describer.describe(part).split())
        except _TooLong:
            return " ".join(by_name.describe(part).split())

    return kind


class _Alternatives(str):
    """A piece that lists alternatives."""

    __slots__ = ()


class _TooLong(Exception):  # noqa: N818  not an error, a result
    """A description in which too much is written out."""


MAX_LOOKED_AT = 100_000
"""The most schemas that are visited for a description in which repeated parts are written out."""


class _Describer:
    """Describes a type. A part that contains itself is referred to by name, and described after the rest."""

    def __init__(self, *, names_objects: bool = False, names_everything: bool = False) -> None:
        self.names_objects = names_objects
        self.names_everything = names_everything
        self.looked_at = 0
        self.names: dict[Identity, str] = {}
        self.mentioned: list[Subschema] = []
        self._namesakes: Counter[str] = Counter()
        self._recursive: dict[Identity, bool] = {}

    def whole(self, root: Subschema) -> str:
        """Return the description of a schema, and below it what the names in it mean."""
        first = self.referred(root) if self.contains_itself(root) else self.describe(root)
        named = (f"{self.names[part.identity]} = {self.describe(part)}" for part in self.mentioned)  # which grows
        return "\n".join([f"{first}{_line(remark(root))}", *named])

    @deep
    def describe(self, part: Subschema, indent: str = "") -> str:
        """Return the description of a schema: of all that it says together."""
        self._look(10)  # as many as it counts that is written
        return self.written(part, indent)

    def written(self, part: Subschema, indent: str = "") -> str:
        """Return the description of a schema, written out."""
        if not isinstance(part.schema, Mapping):
            return "never" if part.schema is False else _ANYTHING
        pieces = [piece for piece in dict.fromkeys(self._pieces(part, indent)) if piece != _ANYTHING]
        if len(pieces) > 1:
            pieces = [f"({piece})" if self._is_grouped(piece) else piece for piece in pieces]
        return " & ".join(pieces) or _ANYTHING

    def _is_grouped(self, piece: str) -> bool:
        """Tell whether a piece has parentheses beside others; long ones have none in types, as models learned them."""
        return " | " in piece and "\n" not in piece

    def referred(self, target: Subschema) -> str:
        """Return the name of a type, which is described afterwards."""
        if target.identity not in self.names:
            name = self.name(target)
            free = name
            while free in self._namesakes:
                self._namesakes[name] += 1
                free = f"{name}{self._namesakes[name]}"
            self._namesakes[free] += 1
            self.names[target.identity] = free
            self.mentioned.append(target)
        return self.names[target.identity]

    def name(self, part: Subschema) -> str:
        """Return the name of a schema, which others may have, too."""
        return _name(part)

    def contains_itself(self, part: Subschema) -> bool:
        """Tell whether a schema leads back to itself."""
        if part.identity not in self._recursive:
            self._recursive[part.identity] = any(inner.identity == part.identity for inner in self._inside(part))
        return self._recursive[part.identity]

    def _inside(self, part: Subschema) -> Iterator[Subschema]:
        for inner in reached(part):
            self._look(1)
            yield inner

    def _look(self, weight: int) -> None:
        """Count a visited schema. Raises _TooLong if they are too many, and could be named."""
        self.looked_at += weight
        if self.looked_at > MAX_LOOKED_AT and not self.names_everything:
            raise _TooLong

    def _pieces(self, part: Subschema, indent: str) -> Iterator[str]:
        """Yield the descriptions that hold together."""
        schema = part.schema
        if not REFERENCES.keys().isdisjoint(schema):
            yield from (self._target(target, indent) for target in known_targets(part))
            if part.location.draft.ignores_siblings:
                return
        yield self._own(part, indent)
        for conjunct in listed(part, "allOf"):
            yield self.describe(conjunct, indent)
        for keyword in ("anyOf", "oneOf"):
            branches = [self.describe(branch, indent) for branch in listed(part, keyword)]
            if branches and not (_ANYTHING in branches and self._is_vague(part, keyword)):
                yield _Alternatives(" | ".join(dict.fromkeys(branches)))

    def _is_vague(self, _part: Subschema, _keyword: str) -> bool:
        """Tell whether a branch that allows anything makes its siblings meaningless."""
        return True

    def _target(self, target: Subschema, indent: str) -> str:
        by_name = self.names_objects and isinstance(target.schema, Mapping) and "properties" in target.schema
        if by_name or self.names_everything or self.contains_itself(target):
            return self.referred(target)
        return self.describe(target, indent)

    def _own(self, part: Subschema, indent: str) -> str:
        """Return the description of a schema without its branches and references."""
        schema = part.schema
        if "enum" in schema or "const" in schema:
            values = schema["enum"] if "enum" in schema else [schema["const"]]
            return _listed(values)
        named = schema.get("type", self._implied(schema))
        types = named if isinstance(named, list) else [named]
        return " | ".join(self._typed(part, str(name), indent) for name in types)

    def _implied(self, schema: Schema) -> str:
        """Return the type that is meant where none is named."""
        if schema.keys() & {"properties", "required", "additionalProperties", "patternProperties"}:
            return "object"
        return "array" if schema.keys() & {"items", "prefixItems"} else _ANYTHING

    def _typed(self, part: Subschema, name: str, indent: str) -> str:
        """Return the description of a schema for values of one type."""
        match name:
            case "object":
                return self._object(part, indent)
            case "array":
                name = f"[{self._items(part, indent)}]"
                rules = [*_limits(part.schema, "Items", " items"), *self._contained(part, indent)]
            case "string":
                name = _FORMAT_NAMES.get(str(part.schema.get("format")), name)
                rules = [*_text_rules(part.schema), *_limits(part.schema, "Length", " characters")]
            case "integer" | "number":
                rules = [*_limits(part.schema, "imum", ""), *_bounds(_mapping(part.schema, "decimal"))]
            case _:
                rules = []
        return f"{name} ({', '.join(rules)})" if rules else name

    def _items(self, part: Subschema, indent: str) -> str:
        keyword = "items" if isinstance(part.schema.get("items"), list) else "prefixItems"
        first = listed(part, keyword)
        shown = [self.describe(item, indent) for item in first]
        rest = "additionalItems" if keyword == "items" else "items"
        most = part.schema.get("maxItems")
        is_full = isinstance(most, int) and most <= len(first)
        if part.schema.get(rest, not first) is not False and not is_full:
            shown += [self.describe(part.subschema(rest), indent) if rest in part.schema else _ANYTHING, "..."]
        return ", ".join(shown)

    def _contained(self, _part: Subschema, _indent: str) -> Iterable[str]:
        return ()

    def _object(self, part: Subschema, indent: str) -> str:
        deeper = indent + "  "
        lines = [f"{deeper}{line}\n" for line in self._members(part, deeper)]
        others = list(self._others(part, deeper))
        if not lines:
            return f"{{{', '.join(others)}}}" if others or "properties" in part.schema else "object"
        comment = _line(description_of(part.schema)) if is_object(part) and not self.names_objects else ""
        return f"{{{comment}\n{''.join(lines)}{''.join(f'{deeper}{other}' + chr(10) for other in others)}{indent}}}"

    def _members(self, part: Subschema, indent: str) -> Iterator[str]:
        """Yield the properties that have names, each with its description."""
        listed, required = _mapping(part.schema, "properties"), list_at(part.schema, "required")
        for name in dict.fromkeys([*listed, *map(str, required)]):
            mark = "?" if name in listed and may_be_left_out(part, name) else ""
            inside = self.describe(part.subschema("properties", name), indent) if name in listed else _ANYTHING
            comment = self._comment(name, part.subschema("properties", name)) if name in listed else ""
            yield f"{_key(name)}{mark}: {inside}{comment}"

    def _comment(self, name: str, part: Subschema) -> str:
        """Return the comment on a property: `  // Title: description`, or nothing."""
        if not isinstance(part.schema, Mapping):
            return ""
        title = title_of(part)
        return _line(self._remark(part, "" if is_generated(title, name) else title))

    def _remark(self, part: Subschema, title: str) -> str:
        return remark(part, title)

    def _others(self, part: Subschema, indent: str) -> Iterator[str]:
        """Yield the properties that may have any name, or any that a regular expression finds."""
        for regex in _mapping(part.schema, "patternProperties"):
            yield f"[/{' '.join(regex.split())}/]: {self.describe(part.subschema('patternProperties', regex), indent)}"
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if part.schema.get(keyword, False) is not False:
                yield f"[string]: {self.describe(part.subschema(keyword), indent)}"


class _Compact(_Describer):
    """Describes a type. Repeated parts, unless they are short, and recursive ones are referred to by name."""

    def __init__(self, root: Subschema) -> None:
        super().__init__(names_everything=True)
        self._repeated = repeated(root)
        self._texts: dict[Identity, str] = {}
        self._open: set[Identity] = set()

    def whole(self, root: Subschema) -> str:
        """Return the description of a schema, and below it what the names in it mean, with what is said of them."""
        first = self.describe(root)
        lines = [f"{first}{_line(remark(root, seen=self.names))}"]
        for part in self.mentioned:
            name = self.names[part.identity]
            lines.append(f"{name} = {self._texts[part.identity]}{_line(self._remark_at(part, name))}")
        return "\n".join(lines)

    @deep
    def describe(self, part: Subschema, indent: str = "") -> str:
        """Return the name of a schema if it has one, or else its description."""
        identity = part.identity
        if identity not in self._texts:
            self._open.add(identity)
            self._texts[identity] = self.written(part)
            self._open.discard(identity)  # which an equal reference inside may have done
            if identity in self._repeated and self._is_long(part):
                self.referred(part)
        return self.names.get(identity) or self._texts[identity].replace("\n", f"\n{indent}")

    def name(self, part: Subschema) -> str:
        """Return the name of a schema, or of its reference's target; of a long name, the last word.

        `#/$defs/io.k8s.api.core.v1.Pod` → `Pod`. One that is called like a kind of values has a capital: `String`.
        """
        for _ in range(20):  # references to references
            part = next(iter(known_targets(part)), part) if isinstance(part.schema, Mapping) else part
        name = super().name(part)
        if len(name) > LONGEST_NAME and " " not in name:
            name = re.split(r"[./:]" if len(name) <= 2 * LONGEST_NAME else r"[./:_]", name)[-1] or name
        return _capital(name) if name in _WORDS else name

    def _implied(self, schema: Schema) -> str:
        """Return the type that is meant: `{"$ref": …, "maxLength": 3}` is about strings, too."""
        implied = super()._implied(schema)
        if implied == _ANYTHING and schema.keys() & _OF_TEXTS:
            return "string"
        return "number" if implied == _ANYTHING and schema.keys() & _OF_NUMBERS else implied

    def _is_grouped(self, piece: str) -> bool:
        return super()._is_grouped(piece) or isinstance(piece, _Alternatives)

    def _is_long(self, part: Subschema) -> bool:
        """Tell whether a name, used twice, is so much shorter than the description that looking it up pays."""
        name = self.name(part)
        return len(self._texts[part.identity]) + len(self._remark_at(part, name)) > 40 + 2 * len(name)

    def _pieces(self, part: Subschema, indent: str) -> Iterator[str]:
        yield from super()._pieces(part, indent)
        if "$ref" not in part.schema or not part.location.draft.ignores_siblings:
            yield from self._conditions(part, indent)

    def _conditions(self, part: Subschema, indent: str) -> Iterator[str]:
        """Yield the conditional rules: `if {kind: "box"} then {height: number}`."""
        parts = {word: self.describe(part.subschema(word), indent) for word in ("if", "then", "else") if part.has(word)}
        then, otherwise = (parts.get(word, _ANYTHING) for word in ("then", "else"))
        if "if" in parts and (then, otherwise) != (_ANYTHING, _ANYTHING):
            yield f"if {parts['if']} then {then}{f' else {otherwise}' if otherwise != _ANYTHING else ''}"
        for keyword in ("dependentSchemas", "dependencies"):
            for name, dependent in _mapping(part.schema, keyword).items():
                if isinstance(dependent, Mapping):
                    then = self.describe(part.subschema(keyword, name), indent)
                    yield _ANYTHING if then == _ANYTHING else f"if {{{_key(name)}: any}} then {then}"

    def _is_vague(self, part: Subschema, keyword: str) -> bool:
        """Tell whether none of the branches has properties, which would be worth showing."""
        return not any(
            is_object(target) for branch in parts_below(part, keyword) for target in (branch, *known_targets(branch))
        )

    def _contained(self, part: Subschema, indent: str) -> Iterator[str]:
        """Yield the rule for the items that an array must contain."""
        if part.has("contains"):
            least, most = part.schema.get("minContains", 1), part.schema.get("maxContains")
            ends = [] if least == 0 else ["one" if least == 1 and most is None else f"at least {least}"]
            ends += [] if most is None else [f"at most {most}"]
            if ends:
                yield f"{' and '.join(ends)} of them {self.describe(part.subschema('contains'), indent)}"

    def _target(self, target: Subschema, indent: str) -> str:
        return self.referred(target) if target.identity in self._open else self.describe(target, indent)

    def _remark(self, part: Subschema, title: str) -> str:
        return "" if part.identity in self.names else remark(part, title, self.names)

    def _remark_at(self, part: Subschema, name: str) -> str:
        """Return the remark on a part where its name is explained."""
        title = title_of(part)
        is_new = title != name and not is_generated(title, name)
        return remark(part, title if is_new else "", self.names.keys() - {part.identity})


def _mapping(schema: Schema, keyword: str) -> Mapping[str, Any]:
    value = schema.get(keyword)
    return value if isinstance(value, Mapping) else {}


def _listed(values: Sequence[object]) -> str:
    """Return values as they are written: `"a" | 1`; where there are very many, the first and how many more."""
    shown: list[str] = []
    left = MAX_LISTED
    for value in values:
        text = quoted(value)
        left -= len(text) + len(" | ")
        if shown and left < 0:
            return " | ".join([*shown, f"... ({len(values) - len(shown):,} more)"])
        shown.append(text)
    return " | ".join(shown)


def _key(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else quoted(name)


def _name(part: Subschema) -> str:
    """Return the name of a schema: that of its definition, its title, or that of the property that holds it."""
    keys = part.location.keys
    title = title_of(part)
    held = list(zip(("", *keys), keys, strict=False))[::-1]
    own = [str(key) for above, key in held[:1] if above in _DEFINITIONS]
    around = [_capital(str(key)) for above, key in held if above in ("properties", *_DEFINITIONS)]
    short = title if len(title) <= 60 else ""  # longer ones are sentences
    return next(filter(None, (" ".join(name.split()) for name in (*own, short, *around))), "Answer")


_DEFINITIONS = ("$defs", "definitions", "schemas")

_WORDS = frozenset({"any", "array", "boolean", "if", "integer", "never", "null", "number", "object", "string", "then"})
_WORDS |= frozenset(_FORMAT_NAMES.values())
"""The words of descriptions; the name of a definition that is one of them gets a capital."""

_OF_TEXTS = frozenset({"format", "maxLength", "minLength", "pattern"})
_OF_NUMBERS = frozenset({"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"})

LONGEST_NAME = 20
"""The most characters of a definition's name that is not shortened in the description of a JSON Schema."""


def _capital(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}"


def _line(said: str) -> str:
    return f"  // {said}" if said else ""


_SIGNS = {"min": ">=", "exclusiveMin": ">", "max": "<=", "exclusiveMax": "<"}


def _limits(schema: Schema, suffix: str, unit: str) -> list[str]:
    """Return the limits of a value, each with its sign: `>= 0`."""
    signs = {f"{prefix}{suffix}": sign for prefix, sign in _SIGNS.items()}
    signs |= {"multipleOf": "a multiple of"} if suffix == "imum" else {}
    return [
        f"{sign} {schema[keyword]}{unit}"
        for keyword, sign in signs.items()
        if keyword in schema and not isinstance(schema[keyword], bool)  # a flag of draft 4
    ]


_BOUND_SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<", "multiple_of": "a multiple of"}


def _text_rules(schema: Schema) -> list[str]:
    """Return the rules for a string but for its length: bounds, and a short pattern; the mask has longer ones, too."""
    pattern = schema.get("pattern")
    is_short = isinstance(pattern, str) and len(pattern) <= 60 and pattern.isprintable()
    times = [f"in the {schema['now_op']}"] if isinstance(schema.get("now_op"), str) else []
    return [*([f"/{pattern}/"] if is_short else []), *_bounds(schema), *times]


def _bounds(rules: Mapping[str, Any]) -> list[str]:
    """Return the bounds of a date, time or decimal, and how many digits a decimal has."""
    bounds = [f"{sign} {to_jsonable_python(rules[key])}" for key, sign in _BOUND_SIGNS.items() if key in rules]
    return bounds + [f"<= {rules[key]} {unit}" for key, unit in _DIGITS.items() if key in rules]


_DIGITS = {"max_digits": "digits", "decimal_places": "decimal places"}
