"""Random JSON Schemas, and values of which they have something to say."""

import re
from functools import cache
from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "b", "ab", 'q"', "é")
ODD_NAMES = ("a", "b", "", "x y", "$id2", "ä", "kind")
SCALARS = st.sampled_from([None, True, False, 0, 1, -3, 25, 0.5, "", "a", "ab", "é", '"'])
SMALL = st.integers(0, 3)
REGEXES = ("a", "^a", "b$", "^[ab]*$", "^(?!a)", "é|q", "^.{2}$")
FORMATS = ("date", "ipv4", "uri", "no-such-format")
TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")

Schemas = st.SearchStrategy[Any]


@cache
def values(names: tuple[str, ...] = (*NAMES, "z")) -> Schemas:
    """Return JSON values with few keys, so that a random schema often has something to say about them."""
    return st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(names), inner, max_size=3),
        max_leaves=4,
    )


def subsets(**keywords: Schemas) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of some of these keywords."""
    return st.fixed_dictionaries({}, optional=keywords)


def typed_schemas(inner: Schemas, names: tuple[str, ...] = NAMES) -> list[st.SearchStrategy[dict[str, Any]]]:
    """Return schemas that say something of one type each, and perhaps which."""
    name, regex = st.sampled_from(names), st.sampled_from(REGEXES)
    several = st.lists(inner, min_size=1, max_size=2)
    return [
        subsets(type=st.just("string"), minLength=SMALL, maxLength=SMALL, pattern=regex),
        subsets(type=st.sampled_from(["integer", "number"]), minimum=st.integers(-3, 2), maximum=st.integers(-1, 30)),
        subsets(type=st.just("array"), items=inner, prefixItems=several, minItems=SMALL),
        subsets(type=st.just("array"), items=inner, maxItems=SMALL, contains=inner, unevaluatedItems=inner),
        subsets(prefixItems=several, contains=inner, minContains=SMALL, maxContains=SMALL),
        subsets(
            properties=st.dictionaries(name, inner, max_size=2),
            patternProperties=st.dictionaries(regex, inner, max_size=2),
            propertyNames=inner,
            minProperties=SMALL,
            maxProperties=SMALL,
        ),
        subsets(
            dependentRequired=st.dictionaries(name, st.lists(name, max_size=2, unique=True)),
            dependentSchemas=st.dictionaries(name, inner, max_size=1),
            unevaluatedProperties=inner,
        ),
        subsets(
            type=st.just("object"),
            properties=st.dictionaries(name, inner, max_size=3),
            required=st.lists(name, max_size=2, unique=True),
            additionalProperties=st.booleans() | inner,
        ),
    ]


def rarer_schemas(inner: Schemas, names: tuple[str, ...]) -> list[st.SearchStrategy[dict[str, Any]]]:
    """Return schemas of which not all that they allow can be written."""
    name = st.sampled_from(names)
    return [
        subsets(type=st.just("array"), uniqueItems=st.booleans(), items=inner, minItems=SMALL, maxItems=SMALL),
        subsets(uniqueItems=st.just(True), prefixItems=st.lists(inner, min_size=1, max_size=2), items=inner),
        subsets(type=st.just("string"), format=st.sampled_from(FORMATS), maxLength=st.just(40)),
        subsets(type=st.just("number"), multipleOf=st.sampled_from([2, 3, 0.5]), exclusiveMinimum=st.integers(-3, 2)),
        st.builds(lambda required: {"required": required}, st.lists(name, min_size=1, max_size=2, unique=True)),
        st.builds(lambda names: {"propertyNames": {"enum": names}}, st.lists(name, min_size=1, unique=True)),
    ]


@cache
def schemas(names: tuple[str, ...] = NAMES, *, with_rarer: bool = False, max_leaves: int = 6) -> Schemas:
    """Return schemas of all keywords that are supported, references to definitions included."""
    listed = values((*names, "z"))
    plain = st.one_of(
        st.booleans(),
        st.just({}),
        st.builds(lambda names: {"type": names}, st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True)),
        st.builds(lambda listed: {"enum": listed}, st.lists(listed, min_size=1, max_size=3)),
        st.builds(lambda value: {"const": value}, listed),
        st.sampled_from([{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}, {"$ref": "#"}]),
    )

    def larger(inner: Schemas) -> Schemas:
        several = st.lists(inner, min_size=1, max_size=3)
        applied = subsets(
            allOf=several, anyOf=several, oneOf=several, **{"not": inner, "if": inner, "then": inner, "else": inner}
        )
        typed = st.one_of(typed_schemas(inner, names) + (rarer_schemas(inner, names) if with_rarer else []))
        return typed | st.builds(lambda left, right: {**left, **right}, typed, applied)

    return st.recursive(plain, larger, max_leaves=max_leaves)


@st.composite
def documents(
    draw: st.DrawFn, names: tuple[str, ...] = NAMES, *, with_rarer: bool = False, max_leaves: int = 6
) -> dict[str, Any]:
    """Return a whole schema with two definitions."""
    drawn = schemas(names, with_rarer=with_rarer, max_leaves=max_leaves)
    root = draw(drawn)
    start = root if isinstance(root, dict) else {"allOf": [root]}
    return {**start, "$defs": {"A": draw(drawn), "B": draw(drawn)}}


OBJECT_NAMES = ("a", "b", "ab", "c", "xa")
OBJECT_REGEXES = ("a", "^a", "b$", "^[ab]$", "^[a-z]$", "^x:", "^y:")
VALUES: Schemas = st.sampled_from([None, True, False, 0, 1, 2, "x", "y", [], {}])
VALUE_SCHEMAS = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"enum": [0, 1]},
        {"const": "x"},
        {"enum": ["x", "y"]},
        {"minimum": 1},
        {"type": ["string", "null"]},
        {"type": "boolean"},
        {"pattern": "^x"},
        True,
        False,
    ]
)
SOME_NAMES = st.lists(st.sampled_from(OBJECT_NAMES), min_size=1, max_size=2, unique=True)


def objects() -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of objects with a few names in common, so that several often hold together."""
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.just("object"),
            "properties": st.dictionaries(st.sampled_from(OBJECT_NAMES), VALUE_SCHEMAS, min_size=1, max_size=3),
            "patternProperties": st.dictionaries(st.sampled_from(OBJECT_REGEXES), VALUE_SCHEMAS, max_size=2),
            "additionalProperties": st.just(False) | VALUE_SCHEMAS,
            "required": SOME_NAMES,
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(0, 3),
            "propertyNames": st.sampled_from([{"pattern": "a"}, {"enum": ["a", "b", "xa"]}, {"maxLength": 1}]),
            "dependentRequired": st.dictionaries(st.sampled_from(OBJECT_NAMES), SOME_NAMES, max_size=2),
            "dependentSchemas": st.dictionaries(
                st.sampled_from(OBJECT_NAMES),
                st.builds(lambda name, one: {"properties": {name: one}}, st.sampled_from(OBJECT_NAMES), VALUE_SCHEMAS),
                max_size=2,
            ),
        },
    )


@st.composite
def combined_objects(draw: st.DrawFn) -> dict[str, Any]:
    """Return a schema in which some such schemas are denied, or exclude each other."""
    branches = draw(st.lists(objects(), min_size=2, max_size=4))
    start = draw(st.sampled_from([{}, {"type": "object"}]) | objects())
    choice: dict[str, Any] = draw(
        st.sampled_from(
            [
                {"oneOf": branches},
                {"not": {"anyOf": branches}},
                {"anyOf": branches[:1], "not": branches[1]},
                {"allOf": [{"anyOf": branches[:2]}, {"anyOf": branches[1:]}]},
                {"if": branches[0], "then": branches[1], "else": branches[-1]},
            ]
        )
    )
    return {**start, **choice}


@cache
def choices_of(inner: Schemas) -> Schemas:
    """Return choices between schemas, of one level."""
    some = st.lists(inner, min_size=2, max_size=3)
    keyword = st.sampled_from(["allOf", "anyOf", "oneOf"])
    return st.one_of(
        st.builds(lambda keyword, branches: {keyword: branches}, keyword, some),
        inner.map(lambda denied: {"not": denied}),
        st.fixed_dictionaries({"if": inner}, optional={"then": inner, "else": inner}),
        st.builds(lambda left, right: {**left, **right}, inner.filter(_is_object), inner.filter(_is_object)),
    )


def _is_object(schema: Any) -> bool:
    return isinstance(schema, dict)


@cache
def chosen_schemas(names: tuple[str, ...] = ODD_NAMES) -> Schemas:
    """Return two or three levels of choices between small schemas: of listed values, types, and rules for members."""
    flat = st.sampled_from([True, False, {"type": "integer"}, {"type": "string"}, {"type": ["array", "object"]}])
    listed = st.lists(values((*names, "z")), min_size=1, max_size=3).map(lambda found: {"enum": found})
    small = st.one_of(flat, listed, *typed_schemas(flat | listed, names), *rarer_schemas(flat | listed, names))
    once = choices_of(small)
    return choices_of(small | once) | choices_of(once | choices_of(small | once))


@cache
def ruled_objects(names: tuple[str, ...] = ODD_NAMES) -> Schemas:
    """Return conjunctions of choices between listed objects and rules about which properties there are."""
    name = st.sampled_from(names)
    some_names = st.lists(name, min_size=1, max_size=2, unique=True)
    objects = st.dictionaries(name, st.sampled_from([1, "a", []]), max_size=2)
    listed = st.lists(objects, min_size=1, max_size=3).map(lambda found: {"enum": found})
    rule = st.one_of(
        some_names.map(lambda found: {"required": found}),
        some_names.map(lambda found: {"not": {"required": found}}),
        st.dictionaries(name, some_names, min_size=1, max_size=2).map(lambda found: {"dependentRequired": found}),
        st.dictionaries(name, st.just(False) | listed, min_size=1).map(lambda found: {"properties": found}),
    )
    kind = st.sampled_from([{"type": "object"}, {"type": ["array", "object"]}, {"type": "integer"}])
    one = st.builds(
        lambda keyword, *branches: {keyword: [*branches]}, st.sampled_from(["anyOf", "oneOf"]), listed, kind
    )
    parts = st.lists(rule | choices_of(listed | rule | kind), min_size=1, max_size=3)
    return st.builds(lambda one, others, last: {"allOf": [one, *others, last]}, one, parts, kind | rule)


def in_python(schema: Any) -> Any:
    r"""Return the schema with its regular expressions as Python reads them: `b$` → `b\Z`."""
    if isinstance(schema, list):
        return [in_python(one) for one in schema]
    if isinstance(schema, dict):
        return {in_python(name): in_python(one) for name, one in schema.items()}
    is_regex = isinstance(schema, str) and schema in (*REGEXES, *OBJECT_REGEXES)
    return re.sub(r"\$$", r"\\Z", schema) if is_regex else schema
