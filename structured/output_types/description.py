"""The description of a type that a prompt shows, as a person would note it down.

The style is that of a TypeScript interface. It has the shape of the answer, in the order of the answer. It is for
reading: rules that would take long to tell (`not`, what some regular expressions forbid) are left to the mask.

In the description of a JSON Schema, each part that is used more than once is described once, by name, unless it is
short. The types of Python are written out: the packaged models were trained on them so. To write out small schemas as
well was tried, and small models were right no more often.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic_core import to_jsonable_python

from structured.errors.recursion import deep
from structured.json_schema.document.location import Identity, Schema, Subschema
from structured.json_schema.document.references import REFERENCES
from structured.json_schema.nullable import may_be_left_out
from structured.json_schema.numbers.number_patterns import DECIMAL
from structured.output_types.schema_parts import (
    description_of,
    has_fields,
    is_generated_title,
    known_targets,
    list_at,
    listed_schemas,
    object_schemas,
    reachable_schemas,
    remark,
    repeated_schemas,
    title_of,
    to_json_line,
)

_PLAIN_NAME = re.compile(r"[^\W\d]\w*")
_FORMAT_NAMES = {name: name for name in ("decimal", "date", "time", "duration")} | {"date-time": "datetime"}
_ANY = "any"

MAX_LISTED_CHARACTERS = 20_000
"""Characters of listed values in one place, some 5,000 tokens; those beyond are counted, and the mask has them all."""


@deep
def describe(root: Subschema) -> str:
    """Return the description of a schema; a property that may be left out has a question mark.

    Of a JSON Schema, and of a type that is very large, parts that are used more than once are described once, by name.
    A type is otherwise written out, as the packaged models learned it.
    """
    if root.location.is_type:
        try:
            return _TypeDescriber().describe_root(root)
        except _DescriptionTooLong:
            pass
    return _CompactDescriber(root).describe_root(root)


def one_line_describer() -> Callable[[Subschema], str]:
    """Return a function that describes a schema in one line; types that have fields are written by name."""
    describer, naming_describer = _TypeDescriber(names_objects=True), _TypeDescriber(names_everything=True)

    @deep
    def describe_in_one_line(part: Subschema) -> str:
        try:
            return " ".join(describer.describe(part).split())
        except _DescriptionTooLong:
            return " ".join(naming_describer.describe(part).split())

    return describe_in_one_line


class _AlternativesText(str):
    """The description of a union, which gets parentheses beside others; an enumeration, with `|` too, may get none."""

    __slots__ = ()


class _DescriptionTooLong(Exception):  # noqa: N818  not an error, a result
    """A description in which too much is written out."""


MAX_VISITED_SCHEMAS = 100_000
"""The most schemas that are visited for a description in which repeated parts are written out."""


class _TypeDescriber:
    """Describes a type. A part that contains itself is referred to by name, and described after the rest."""

    def __init__(self, *, names_objects: bool = False, names_everything: bool = False) -> None:
        self.names_objects = names_objects
        self.names_everything = names_everything
        self.visited_schemas = 0
        self.names: dict[Identity, str] = {}
        self.named_parts: list[Subschema] = []
        self._uses_of_names: Counter[str] = Counter()
        self._recursive: dict[Identity, bool] = {}

    def describe_root(self, root: Subschema) -> str:
        """Return the description of a schema, and below it what the names in it mean."""
        first = self.reference_to(root) if self.contains_itself(root) else self.describe(root)
        parts = self.named_parts  # which grows
        definitions = (f"{self.names[part.identity]} = {self.describe(part)}" for part in parts)
        return "\n".join([f"{first}{_comment_text(remark(root))}", *definitions])

    @deep
    def describe(self, part: Subschema, indent: str = "") -> str:
        """Return the description of a schema: of all that it says together."""
        self._count_visits(10)  # as many as it counts that is written
        return self.describe_in_full(part, indent)

    def describe_in_full(self, part: Subschema, indent: str = "") -> str:
        """Return the description of a schema, written out."""
        if not isinstance(part.schema, Mapping):
            return "never" if part.schema is False else _ANY
        pieces = [piece for piece in dict.fromkeys(self._pieces(part, indent)) if piece != _ANY]
        if len(pieces) > 1:
            pieces = [f"({piece})" if self._is_grouped(piece) else piece for piece in pieces]
        return " & ".join(pieces) or _ANY

    def _is_grouped(self, piece: str) -> bool:
        """Tell whether a piece has parentheses beside others; long ones have none in types, as models learned them."""
        return " | " in piece and "\n" not in piece

    def reference_to(self, target: Subschema) -> str:
        """Return the name of a type, which is described afterwards."""
        if target.identity not in self.names:
            name = self.name(target)
            free = name
            while free in self._uses_of_names:
                self._uses_of_names[name] += 1
                free = f"{name}{self._uses_of_names[name]}"
            self._uses_of_names[free] += 1
            self.names[target.identity] = free
            self.named_parts.append(target)
        return self.names[target.identity]

    def name(self, part: Subschema) -> str:
        """Return the name of a schema: that of its definition, its title, or that of the property that holds it."""
        pointer = part.location.keys
        path = list(zip(("", *pointer), pointer, strict=False))[::-1]
        definition_names = [str(key) for keyword, key in path[:1] if keyword in _DEFINITIONS]
        holder_names = [_capital(str(key)) for keyword, key in path if keyword in ("properties", *_DEFINITIONS)]
        title = title_of(part)
        short_title = title if len(title) <= 60 else ""  # longer ones are sentences
        names = (" ".join(name.split()) for name in (*definition_names, short_title, *holder_names))
        return next(filter(None, names), "Answer")

    def contains_itself(self, part: Subschema) -> bool:
        """Tell whether a schema leads back to itself."""
        if part.identity not in self._recursive:
            self._recursive[part.identity] = any(inner.identity == part.identity for inner in self._inside(part))
        return self._recursive[part.identity]

    def _inside(self, part: Subschema) -> Iterator[Subschema]:
        for inner in reachable_schemas(part):
            self._count_visits(1)
            yield inner

    def _count_visits(self, weight: int) -> None:
        """Count a visited schema. Raises _DescriptionTooLong if there are too many, and they could be named."""
        self.visited_schemas += weight
        if self.visited_schemas > MAX_VISITED_SCHEMAS and not self.names_everything:
            raise _DescriptionTooLong

    def _pieces(self, part: Subschema, indent: str) -> Iterator[str]:
        """Yield the descriptions that hold together."""
        schema = part.schema
        if not REFERENCES.keys().isdisjoint(schema):
            yield from (self._describe_target(target, indent) for target in known_targets(part))
            if part.location.draft.ignores_siblings:
                return
        yield self._describe_own_keywords(part, indent)
        for conjunct in listed_schemas(part, "allOf"):
            yield self.describe(conjunct, indent)
        for keyword in ("anyOf", "oneOf"):
            branches = [self.describe(branch, indent) for branch in listed_schemas(part, keyword)]
            if branches and not (_ANY in branches and self._is_vague(part, keyword)):
                yield _AlternativesText(" | ".join(dict.fromkeys(branches)))

    def _is_vague(self, _part: Subschema, _keyword: str) -> bool:
        """Tell whether a branch that allows anything makes its siblings meaningless."""
        return True

    def _describe_target(self, target: Subschema, indent: str) -> str:
        is_named = self.names_objects and isinstance(target.schema, Mapping) and "properties" in target.schema
        if is_named or self.names_everything or self.contains_itself(target):
            return self.reference_to(target)
        return self.describe(target, indent)

    def _describe_own_keywords(self, part: Subschema, indent: str) -> str:
        """Return the description of a schema without its branches and references."""
        schema = part.schema
        if "enum" in schema or "const" in schema:
            values = schema["enum"] if "enum" in schema else [schema["const"]]
            return _values_text(values)
        declared_type = schema.get("type", self._implied_type(schema))
        types = declared_type if isinstance(declared_type, list) else [declared_type]
        return " | ".join(self._describe_as_type(part, str(name), indent) for name in types)

    def _implied_type(self, schema: Schema) -> str:
        """Return the type that is meant where none is named."""
        if schema.keys() & {"properties", "required", "additionalProperties", "patternProperties"}:
            return "object"
        return "array" if schema.keys() & {"items", "prefixItems"} else _ANY

    def _describe_as_type(self, part: Subschema, name: str, indent: str) -> str:
        """Return the description of a schema for values of one type."""
        match name:
            case "object":
                return self._object(part, indent)
            case "array":
                name = f"[{self._items(part, indent)}]"
                rules = [*_rules(part.schema, _ITEM_LIMITS), *self._contains_rules(part, indent)]
            case "string":
                name = _FORMAT_NAMES.get(str(part.schema.get("format")), name)
                rules = [*_text_rules(part.schema), *_rules(part.schema, _LENGTH_LIMITS)]
            case "integer" | "number":
                rules = [*_rules(part.schema, _NUMBER_LIMITS), *_rules(_mapping_at(part.schema, DECIMAL), _BOUNDS)]
            case _:
                rules = []
        return f"{name} ({', '.join(rules)})" if rules else name

    def _items(self, part: Subschema, indent: str) -> str:
        keyword = "items" if isinstance(part.schema.get("items"), list) else "prefixItems"
        leading_items = listed_schemas(part, keyword)
        descriptions = [self.describe(item, indent) for item in leading_items]
        tail_keyword = "additionalItems" if keyword == "items" else "items"
        if leading_items and tail_keyword not in part.schema:
            tail_keyword = "unevaluatedItems"
        is_open = not leading_items or not part.location.is_type
        maximum = part.schema.get("maxItems")
        has_no_further = isinstance(maximum, int) and maximum <= len(leading_items)
        if part.schema.get(tail_keyword, is_open) is not False and not has_no_further:
            tail = self.describe(part.subschema(tail_keyword), indent) if tail_keyword in part.schema else _ANY
            descriptions += [tail, "..."]
        return ", ".join(descriptions)

    def _contains_rules(self, part: Subschema, indent: str) -> Iterator[str]:
        """Yield the rule for the items that an array must contain."""
        if part.has("contains"):
            minimum, maximum = part.schema.get("minContains", 1), part.schema.get("maxContains")
            limits = [] if minimum == 0 else ["one" if minimum == 1 and maximum is None else f"at least {minimum}"]
            limits += [] if maximum is None else [f"at most {maximum}"]
            if limits:
                yield f"{' and '.join(limits)} of them {self.describe(part.subschema('contains'), indent)}"

    def _object(self, part: Subschema, indent: str) -> str:
        inner_indent = indent + "  "
        lines = [f"{inner_indent}{line}\n" for line in self._named_properties(part, inner_indent)]
        open_properties = list(self._open_properties(part, inner_indent))
        if not lines:
            return f"{{{', '.join(open_properties)}}}" if open_properties or "properties" in part.schema else "object"
        comment = _comment_text(description_of(part.schema)) if has_fields(part) and not self.names_objects else ""
        lines += [f"{inner_indent}{line}\n" for line in open_properties]
        return f"{{{comment}\n{''.join(lines)}{indent}}}"

    def _named_properties(self, part: Subschema, indent: str) -> Iterator[str]:
        """Yield the properties that have names, each with its description."""
        properties, required = _mapping_at(part.schema, "properties"), list_at(part.schema, "required")
        for name in dict.fromkeys([*properties, *map(str, required)]):
            if name not in properties:
                yield f"{_key(name)}: {_ANY}"
                continue
            member, question_mark = part.subschema("properties", name), "?" if may_be_left_out(part, name) else ""
            description = f"{_key(name)}{question_mark}: {self.describe(member, indent)}"
            yield f"{description}{self._property_comment(name, member)}"  # by then, the member may have a name

    def _property_comment(self, name: str, part: Subschema) -> str:
        """Return the comment on a property: `  // Title: description`, or nothing."""
        title = title_of(part)
        return _comment_text(self._remark(part, "" if is_generated_title(title, name) else title))

    def _remark(self, part: Subschema, title: str) -> str:
        return remark(part, title)

    def _open_properties(self, part: Subschema, indent: str) -> Iterator[str]:
        """Yield the properties that may have any name, or any that a regular expression finds."""
        for regex in _mapping_at(part.schema, "patternProperties"):
            yield f"[/{' '.join(regex.split())}/]: {self.describe(part.subschema('patternProperties', regex), indent)}"
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if part.schema.get(keyword, False) is not False:
                yield f"[string]: {self.describe(part.subschema(keyword), indent)}"


class _CompactDescriber(_TypeDescriber):
    """Describes a type. Repeated parts, unless they are short, and recursive ones are referred to by name."""

    def __init__(self, root: Subschema) -> None:
        super().__init__(names_everything=True)
        self._repeated_parts = repeated_schemas(root)
        self._descriptions: dict[Identity, str] = {}
        self._ancestors: set[Identity] = set()

    def describe_root(self, root: Subschema) -> str:
        """Return the description of a schema, and below it what the names in it mean, with what is said of them."""
        description = self.describe(root)
        lines = [f"{description}{_comment_text(remark(root, seen=self.names))}"]
        for part in self.named_parts:
            name = self.names[part.identity]
            lines.append(f"{name} = {self._descriptions[part.identity]}{_comment_text(self._remark_at(part, name))}")
        return "\n".join(lines)

    @deep
    def describe(self, part: Subschema, indent: str = "") -> str:
        """Return the name of a schema if it has one, or else its description."""
        identity = part.identity
        if identity not in self._descriptions:
            self._ancestors.add(identity)
            self._descriptions[identity] = self.describe_in_full(part)
            self._ancestors.discard(identity)  # which an equal reference inside may have done
            if identity in self._repeated_parts and self._is_long(part):
                self.reference_to(part)
        return self.names.get(identity) or self._descriptions[identity].replace("\n", f"\n{indent}")

    def name(self, part: Subschema) -> str:
        """Return the name of a schema, or of its reference's target; of a long name, the last word.

        `#/$defs/io.k8s.api.core.v1.Pod` → `Pod`. One that is called like a kind of values has a capital: `String`.
        """
        for _ in range(20):  # references to references
            part = next(iter(known_targets(part)), part) if isinstance(part.schema, Mapping) else part
        name = super().name(part)
        if len(name) > LONGEST_NAME and " " not in name:
            name = re.split(r"[./:]" if len(name) <= 2 * LONGEST_NAME else r"[./:_]", name)[-1] or name
        return _capital(name) if name in _TERMS else name

    def _implied_type(self, schema: Schema) -> str:
        """Return the type that is meant: `{"$ref": …, "maxLength": 3}` is about strings, too."""
        implied = super()._implied_type(schema)
        if implied == _ANY and schema.keys() & _STRING_KEYWORDS:
            return "string"
        return "number" if implied == _ANY and schema.keys() & _NUMBER_KEYWORDS else implied

    def _is_grouped(self, piece: str) -> bool:
        return super()._is_grouped(piece) or isinstance(piece, _AlternativesText)

    def _is_long(self, part: Subschema) -> bool:
        """Tell whether a name, used twice, is so much shorter than the description that looking it up pays."""
        name = self.name(part)
        return len(self._descriptions[part.identity]) + len(self._remark_at(part, name)) > 40 + 2 * len(name)

    def _pieces(self, part: Subschema, indent: str) -> Iterator[str]:
        yield from super()._pieces(part, indent)
        if "$ref" not in part.schema or not part.location.draft.ignores_siblings:
            yield from self._conditions(part, indent)

    def _conditions(self, part: Subschema, indent: str) -> Iterator[str]:
        """Yield the conditional rules: `if {kind: "box"} then {height: number}`."""
        parts = {word: self.describe(part.subschema(word), indent) for word in ("if", "then", "else") if part.has(word)}
        then, otherwise = (parts.get(word, _ANY) for word in ("then", "else"))
        if "if" in parts and (then, otherwise) != (_ANY, _ANY):
            yield f"if {parts['if']} then {then}{f' else {otherwise}' if otherwise != _ANY else ''}"
        for keyword in ("dependentSchemas", "dependencies"):
            for name, dependent in _mapping_at(part.schema, keyword).items():
                if isinstance(dependent, Mapping):
                    then = self.describe(part.subschema(keyword, name), indent)
                    yield _ANY if then == _ANY else f"if {{{_key(name)}: any}} then {then}"

    def _is_vague(self, part: Subschema, keyword: str) -> bool:
        """Tell whether none of the branches has properties, which would be worth showing."""
        branches = object_schemas(part, keyword)
        return not any(has_fields(target) for branch in branches for target in (branch, *known_targets(branch)))

    def _describe_target(self, target: Subschema, indent: str) -> str:
        return self.reference_to(target) if target.identity in self._ancestors else self.describe(target, indent)

    def _remark(self, part: Subschema, title: str) -> str:
        return "" if part.identity in self.names else remark(part, title, self.names)

    def _remark_at(self, part: Subschema, name: str) -> str:
        """Return the remark on a part where its name is explained."""
        title = title_of(part)
        is_new = title != name and not is_generated_title(title, name)
        return remark(part, title if is_new else "", self.names.keys() - {part.identity})


def _mapping_at(schema: Schema, keyword: str) -> Mapping[str, Any]:
    value = schema.get(keyword)
    return value if isinstance(value, Mapping) else {}


def _values_text(values: Sequence[object]) -> str:
    """Return values as they are written: `"a" | 1`; where there are very many, the first and how many more."""
    texts: list[str] = []
    characters_left = MAX_LISTED_CHARACTERS
    for value in values:
        text = to_json_line(value)
        characters_left -= len(text) + len(" | ")
        if texts and characters_left < 0:
            return " | ".join([*texts, f"... ({len(values) - len(texts):,} more)"])
        texts.append(text)
    return " | ".join(texts)


def _key(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else to_json_line(name)


_DEFINITIONS = ("$defs", "definitions", "schemas")

_TERMS = frozenset({"any", "array", "boolean", "if", "integer", "never", "null", "number", "object", "string", "then"})
_TERMS |= frozenset(_FORMAT_NAMES.values())
"""The words of descriptions; the name of a definition that is one of them gets a capital."""

_STRING_KEYWORDS = frozenset({"format", "maxLength", "minLength", "pattern"})
_NUMBER_KEYWORDS = frozenset({"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"})

LONGEST_NAME = 20
"""The most characters of a definition's name that is not shortened in the description of a JSON Schema."""


def _capital(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}"


def _comment_text(text: str) -> str:
    return f"  // {text}" if text else ""


_ITEM_LIMITS = {"minItems": ">= {} items", "maxItems": "<= {} items"}
_LENGTH_LIMITS = {"minLength": ">= {} characters", "maxLength": "<= {} characters"}
_NUMBER_LIMITS = {"minimum": ">= {}", "exclusiveMinimum": "> {}", "maximum": "<= {}", "exclusiveMaximum": "< {}"}
_NUMBER_LIMITS |= {"multipleOf": "a multiple of {}"}
_BOUNDS = {"ge": ">= {}", "gt": "> {}", "le": "<= {}", "lt": "< {}", "multiple_of": "a multiple of {}"}
_BOUNDS |= {"max_digits": "<= {} digits", "decimal_places": "<= {} decimal places"}
"""The rules of dates, times and decimals."""


def _rules(schema: Schema, texts: Mapping[str, str]) -> list[str]:
    """Return the rules of a schema for which there are texts, in their order: `{"minimum": 0}` → `>= 0`."""
    keywords = [keyword for keyword in texts if not isinstance(schema.get(keyword, True), bool)]  # a flag of draft 4
    return [texts[keyword].format(to_jsonable_python(schema[keyword])) for keyword in keywords]


def _text_rules(schema: Schema) -> list[str]:
    """Return the rules for a string but for its length: bounds, and a short pattern; the mask has longer ones, too."""
    pattern = schema.get("pattern")
    is_short = isinstance(pattern, str) and len(pattern) <= 60 and pattern.isprintable()
    now_rule = [f"in the {schema['now_op']}"] if isinstance(schema.get("now_op"), str) else []
    return [*([f"/{pattern}/"] if is_short else []), *_rules(schema, _BOUNDS), *now_rule]
