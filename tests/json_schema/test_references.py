"""References: they lead to where the specification says, in whichever document, and nowhere else."""

import json
from functools import cache
from typing import Any

import pytest
from effort import examples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator
from walks import read

from structured.automata import DEAD, RegularAutomaton
from structured.errors import SchemaError
from structured.json_schema.document import location
from structured.json_schema.document.drafts import SchemaDraft
from structured.json_schema.document.library import Library
from structured.json_schema.document.location import Reading
from structured.json_schema.schema_compiler import schema_to_pattern

ONE, TWO = {"const": 1}, {"const": 2}


def compiled(schema: Any, **known: Any) -> RegularAutomaton:
    return RegularAutomaton(schema_to_pattern(schema, "compact", reading=Reading.SPECIFICATION, **known))


def accepted(schema: Any, *values: object, **known: Any) -> list[object]:
    """Return those of some values that a schema accepts."""
    automaton = compiled(schema, **known)
    states = [(read(automaton, json.dumps(value, separators=(",", ":")).encode()), value) for value in values]
    return [value for state, value in states if state != DEAD and automaton.accepts(state)]


DEFINED = {
    "$id": "http://example.org/dir/a",
    "$defs": {"b": {"$id": "b", "$anchor": "n", "$defs": {"c/%": ONE}, **TWO}},
}


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("#/$defs/b", 2),
        ("#/$defs/b/$defs/c~1%25", 1),
        ("b", 2),
        ("./x/../b", 2),
        ("/dir/b#", 2),
        ("http://example.org/dir/b", 2),
        ("b#n", 2),
        ("b#/$defs/c~1%25", 1),
        ("http://example.org/dir/a#/$defs/b", 2),
    ],
)
def test_references_are_relative_to_the_resource(reference: str, value: int) -> None:
    """By a URI that is resolved against the identifier around it, and then by a pointer or a name."""
    assert accepted({**DEFINED, "$ref": reference}, 1, 2) == [value]


def test_a_resource_has_a_base_of_its_own() -> None:
    """Inside it `#` is the resource, and relative URIs begin there; outside it is the document."""
    inner = {"$id": "http://example.org/x/", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"$ref": "y"}}}
    schema = {
        "type": "array",
        "prefixItems": [{"$ref": "#/$defs/a"}, inner],
        "$defs": {"a": ONE, "y": {"$id": "http://example.org/x/y", **TWO}},
    }
    assert accepted(schema, [1, [2]], [2, [2]], [1, [1]]) == [[1, [2]]]


@pytest.mark.parametrize("draft", [SchemaDraft.DRAFT_4, SchemaDraft.DRAFT_6, SchemaDraft.DRAFT_7])
def test_fragments_were_names_up_to_draft_7(draft: SchemaDraft) -> None:
    """As an identifier, alone or after a URI; a pointer is no name."""
    key, value = draft.identifier, {"enum": [1]}
    base = {key: "http://example.org/a", "definitions": {"x": {key: "#n", **value}, "y": {key: "b#n", "enum": [2]}}}
    assert accepted({**base, "allOf": [{"$ref": "#n"}]}, 1, 2, draft=draft) == [1]
    assert accepted({**base, "allOf": [{"$ref": "b#n"}]}, 1, 2, draft=draft) == [2]
    pointed = {"definitions": {"x": {key: "#/definitions/z", "allOf": [{"$ref": "#/definitions/y"}]}, "y": value}}
    assert accepted({**pointed, "allOf": [{"$ref": "#/definitions/x"}]}, 1, 2, draft=draft) == [1]


def test_an_identifier_beside_a_reference_counts_since_2019() -> None:
    """Before, everything there is ignored, and the reference belongs to the resource around it."""
    schema = {
        "allOf": [{"$id": "http://example.org/a/", "$ref": "n"}],
        "definitions": {
            "x": {"$id": "http://example.org/n", "enum": [1]},
            "y": {"$id": "http://example.org/a/n", "enum": [2]},
        },
        "$id": "http://example.org/",
    }
    assert accepted(schema, 1, 2, draft=SchemaDraft.DRAFT_7) == [1]
    assert accepted(schema, 1, 2, draft=SchemaDraft.DRAFT_2019_09) == [2]


@pytest.mark.parametrize("keyword", ["const", "enum", "x-unknown", "default"])
def test_identifiers_in_data_are_none(keyword: str) -> None:
    """What looks like a schema in a value, or under a keyword that is not known, has neither a URI nor a name."""
    data = {"$id": "http://example.org/b", "$anchor": "n", **TWO}
    schema = {"$defs": {"data": {keyword: [data]}, "b": {"$id": "http://example.org/b", "$anchor": "m", **ONE}}}
    assert accepted({**schema, "$ref": "http://example.org/b"}, 1, 2) == [1]
    with pytest.raises(SchemaError, match="no schema with the name 'n'"):
        compiled({**schema, "$ref": "#n"})


def test_properties_called_like_identifiers_are_properties() -> None:
    """Also on the way of a pointer."""
    schema = {"properties": {"$id": {"$ref": "#/$defs/a"}, "id": {"$ref": "#/properties/$id"}}, "$defs": {"a": ONE}}
    assert accepted(schema, {"$id": 1, "id": 1}, {"$id": 2}, {"id": 2}) == [{"$id": 1, "id": 1}]


def test_the_draft_is_that_of_the_resource() -> None:
    """An embedded one may be written for another than the document, which may be told from outside."""
    old = {"$id": "urn:x:old", "$schema": "http://json-schema.org/draft-07/schema#", "$defs": {}}
    siblings = {"$ref": "#/definitions/one", "enum": [2], "definitions": {"one": {"enum": [1, 2]}}}
    for schema, draft, values in (
        (siblings, SchemaDraft.DRAFT_2020_12, [2]),
        (siblings, SchemaDraft.DRAFT_7, [1, 2]),
        ({**siblings, "$schema": SchemaDraft.DRAFT_2019_09.metaschema}, SchemaDraft.DRAFT_7, [2]),
        (
            {"allOf": [{**old, "allOf": [{**siblings, "$ref": "#/allOf/0/definitions/one"}]}]},
            SchemaDraft.DRAFT_2020_12,
            [1, 2],
        ),
    ):
        assert accepted(schema, 1, 2, 3, draft=draft) == values


def test_documents_are_found_by_the_uris_that_they_are_handed_in_with() -> None:
    """And by those that they give themselves; what lies in them can be referred to, and refers within them."""
    documents = {
        "http://example.org/a#": {"$ref": "#/$defs/x", "$defs": {"x": {"items": {"$ref": "b#n"}, "type": "array"}}},
        "http://example.org/b": {"$id": "urn:x:b", "$defs": {"m": {"$anchor": "n", **ONE}, "s": {"$ref": "#n"}}},
        "http://example.org/c": True,
    }
    assert accepted({"$ref": "http://example.org/a"}, [1], [2], documents=documents) == [[1]]
    assert accepted({"$ref": "urn:x:b#/$defs/s"}, 1, 2, documents=documents) == [1]
    assert accepted({"$id": "http://example.org/x/y", "$ref": "../c"}, 1, documents=documents) == [1]


def test_of_two_with_a_uri_the_nearest_counts() -> None:
    """What lies in the schema itself, then the document that is handed in with it, then what lies in another."""
    uri = "http://example.org/a"
    claims = {"http://example.org/b": {"$id": uri, **TWO}}
    assert accepted({"$ref": uri}, 1, 2, documents=claims) == [2]
    assert accepted({"$ref": uri}, 1, 2, documents={**claims, uri: ONE}) == [1]
    own = {"$defs": {"a": {"$id": uri, "const": 3}}, "$ref": uri}
    assert accepted(own, 1, 2, 3, documents={**claims, uri: ONE}) == [3]


def test_a_schema_may_have_a_name_twice() -> None:
    """As a plain and as a dynamic one."""
    assert accepted({"$ref": "#n", "$defs": {"a": {"$anchor": "n", "$dynamicAnchor": "n", **ONE}}}, 1, 2) == [1]


def test_metaschemas_are_at_hand() -> None:
    """Schemas of schemas may refer to those of the specification."""
    automaton = compiled({"$ref": "https://json-schema.org/draft/2020-12/meta/meta-data#/properties/deprecated"})
    assert automaton.accepts(read(automaton, b"true"))
    assert read(automaton, b"1") == DEAD


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("http://example.org/nowhere", "nothing is downloaded"),
        ("#nowhere", "no schema with the name 'nowhere'"),
        ("#/$defs/nowhere", "there is no 'nowhere'"),
        ("#/$defs/list/01", "there is no '01'"),
        ("#twice", "two schemas have the name 'twice'"),
        ("urn:x:twice", "two schemas have that URI"),
        ("http://[", "nothing is downloaded"),
        ("urn:x:true#a", "no schema with the name 'a'"),
    ],
)
def test_references_that_lead_nowhere_are_refused(reference: str, reason: str) -> None:
    """With the place and the keyword."""
    twice = {"$id": "urn:x:twice"}
    defs = {"a": {"$anchor": "twice"}, "b": {"$anchor": "twice"}, "c": twice, "d": {**twice}, "list": {"enum": [1, 2]}}
    with pytest.raises(SchemaError, match="does not exist") as caught:
        compiled({"properties": {"a": {"$ref": reference}}, "$defs": defs}, documents={"urn:x:true": True})
    assert caught.value.schema_path == "/properties/a"
    assert caught.value.keyword == "$ref"
    assert reason in caught.value.problem


def test_errors_in_other_documents_say_in_which() -> None:
    """The path begins with the URI."""
    documents = {"http://example.org/a": {"$defs": {"b": {"type": "no such"}}}}
    with pytest.raises(SchemaError, match=r"at http://example\.org/a#/\$defs/b") as caught:
        compiled({"$ref": "http://example.org/a#/$defs/b"}, documents=documents)
    assert caught.value.schema_path == "http://example.org/a#/$defs/b"


LIST: dict[str, Any] = {
    "$id": "list",
    "type": "array",
    "items": {"$dynamicRef": "#item"},
    "$defs": {"default": {"$dynamicAnchor": "item", "type": ["integer", "array"]}},
}


def test_a_dynamic_reference_means_the_first_on_the_way() -> None:
    """The same list is one of whatever the schema that led there says; where it says nothing, of the default."""
    ones = {"$id": "ones", "$ref": "list", "$defs": {"one": {"$dynamicAnchor": "item", **ONE}}}
    twos = {"$id": "twos", "$ref": "list", "$defs": {"two": {"$dynamicAnchor": "item", **TWO}}}
    defs = {"list": LIST, "ones": ones, "twos": twos}
    pair = {"prefixItems": [{"$ref": "ones"}, {"$ref": "twos"}, {"$ref": "list"}], "$defs": defs}
    right = [[1, 1], [2], [1, 2, []]]
    assert accepted(pair, right, [[2], [], []], [[], [1], []], [[], [], ["a"]]) == [right]
    both = {"allOf": [{"$ref": "ones"}, {"$ref": "twos"}], "$defs": defs}
    assert accepted(both, [], [1], [2]) == [[]]
    assert accepted({"$ref": "#/$defs/ones", "$defs": defs}, [1], [2]) == [[1]]


def test_a_dynamic_reference_is_a_plain_one_without_a_dynamic_name() -> None:
    """To a plain name, or by a pointer."""
    other = {"$dynamicAnchor": "item", **TWO}
    for reference, anchor in (("#item", "$anchor"), ("#/$defs/default", "$dynamicAnchor")):
        inner = {**LIST, "items": {"$dynamicRef": reference}, "$defs": {"default": {anchor: "item", **ONE}}}
        assert accepted({"$ref": "list", "$defs": {"list": inner, "other": other}}, [1], [2]) == [[1]]


def test_trees_are_extended() -> None:
    """A recursive schema refers to the one that extends it, at every depth."""
    tree = {
        "$id": "tree",
        "$dynamicAnchor": "node",
        "properties": {"below": {"type": "array", "items": {"$dynamicRef": "#node"}}},
    }
    closed = {**tree, "$id": "closed", "additionalProperties": False}
    schema = {"$dynamicAnchor": "node", "$ref": "tree", "required": ["below"], "$defs": {"t": tree, "c": closed}}
    leaf: dict[str, Any] = {"below": []}
    assert accepted(schema, leaf, {"below": [leaf, leaf]}, {}, {"below": [{}]}) == [leaf, {"below": [leaf, leaf]}]
    assert accepted({**schema, "$ref": "#/$defs/t"}, {"below": [{}]}) == []
    assert accepted({"$ref": "tree", "$defs": {"t": tree}}, {"below": [{}]}, {"below": [1]}) == [
        {"below": [{}]},
        {"below": [1]},
    ]


def test_recursive_references_of_2019() -> None:
    """They mean the outermost resource that asks for it, if the one that they are in does."""
    draft = SchemaDraft.DRAFT_2019_09

    def lists(*, inner: bool, outer: bool) -> dict[str, Any]:
        base = {
            "$id": "base",
            "$recursiveAnchor": inner,
            "anyOf": [{"type": "integer"}, {"type": "array", "items": {"$recursiveRef": "#"}}],
        }
        return {"$recursiveAnchor": outer, "type": "array", "$ref": "base", "$defs": {"base": base}}

    assert accepted(lists(inner=True, outer=True), [], [[]], [1], 1, draft=draft) == [[], [[]]]
    assert accepted(lists(inner=True, outer=False), [[1]], 1, draft=draft) == [[[1]]]
    assert accepted(lists(inner=False, outer=True), [[1]], 1, draft=draft) == [[[1]]]


def test_first_items_of_a_later_draft_are_no_rule() -> None:
    """Before draft 2020-12 `items` is about every item: the first was taken for one of `prefixItems`, unchecked."""
    schema = {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}}
    values = ["x"], ["x", 1], [1]
    assert accepted(schema, *values, draft=SchemaDraft.DRAFT_7) == [[1]]
    assert accepted(schema, *values, draft=SchemaDraft.DRAFT_2020_12) == [["x"], ["x", 1]]


def test_first_items_of_a_later_draft_are_no_rule_where_items_are_denied() -> None:
    """The first item was taken for one of `prefixItems`, and so could not be the one that fails `items`."""
    items = {"type": "array", "prefixItems": [{}], "items": {"type": "integer"}}
    schema = {"type": "array", "not": items}
    values = ["x"], [1, "x"], [1]
    assert accepted(schema, *values, draft=SchemaDraft.DRAFT_7) == [["x"], [1, "x"]]
    assert accepted(schema, *values, draft=SchemaDraft.DRAFT_2020_12) == [[1, "x"]]


def test_references_of_other_drafts_are_refused() -> None:
    """Rather than ignored: whoever wrote them meant something."""
    for keyword, draft in (("$recursiveRef", SchemaDraft.DRAFT_2020_12), ("$dynamicRef", SchemaDraft.DRAFT_2019_09)):
        with pytest.raises(SchemaError, match="is not a keyword of this draft") as caught:
            compiled({keyword: "#"}, draft=draft)
        assert caught.value.keyword == keyword


def metaschema(**vocabularies: bool) -> dict[str, Any]:
    named = {
        uri if "/" in uri else f"https://json-schema.org/draft/2020-12/vocab/{uri}": v
        for uri, v in vocabularies.items()
    }
    return {"$schema": SchemaDraft.DRAFT_2020_12.metaschema, "$vocabulary": named}


def test_vocabularies_that_are_left_out_are_never_enforced() -> None:
    """A schema with a keyword of one is refused; so is one with a vocabulary that is required and not known."""
    uri = "http://example.org/meta"
    schema = {"$schema": uri, "items": {"minimum": 3}}
    known = {"core": True, "applicator": True}
    assert accepted(schema, [3], [2], documents={uri: metaschema(**known, validation=False)}) == [[3]]
    assert accepted(schema, [3], [2], documents={uri: metaschema(**known, validation=True, **{"urn:/x": False})}) == [
        [3]
    ]
    for vocabularies, reason in (
        (known, "leaves out the vocabulary of 'minimum'"),
        ({**known, "validation": True, "urn:/x": True}, "The required vocabulary 'urn:/x' is unknown"),
    ):
        with pytest.raises(SchemaError, match=reason) as caught:
            compiled(schema, documents={uri: metaschema(**vocabularies)})
        assert caught.value.keyword == "$schema"
    assert accepted({**schema, "items": {}}, [2], documents={uri: metaschema(**known)}) == [[2]]


def test_a_schema_has_one_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled once more by itself, here items that must differ, does not make another, which takes long."""
    roots: list[Any] = []

    def counted(root: Any, *options: Any) -> Library:
        roots.append(root)
        return Library(root, *options)

    monkeypatch.setattr(location, "Library", counted)
    schema = {
        "type": "array",
        "items": {"properties": {"a": {"type": "integer"}}, "type": "object"},
        "uniqueItems": True,
    }
    compiled(schema)
    assert roots.count(schema) == 1


def test_listed_values_are_checked_where_they_stand() -> None:
    """With the references of their own resource, draft and documents."""
    documents = {
        "http://example.org/a": {
            "$defs": {"few": {"maxItems": 1}, "all": {"items": {"$ref": "#/$defs/one"}, "enum": [[1], [2]]}, "one": ONE}
        }
    }
    assert accepted({"$ref": "http://example.org/a#/$defs/all"}, [1], [2], documents=documents) == [[1]]
    inner = {"$id": "http://example.org/x", "enum": [[1], [2]], "items": {"$ref": "a#/$defs/one"}}
    assert accepted({"$defs": {"x": inner}, "$ref": "#/$defs/x"}, [1], [2], documents=documents) == [[1]]
    old = {
        "enum": [[1], [2], ["a"]],
        "items": [{"$ref": "#/definitions/a", "const": 2}],
        "definitions": {"a": {"type": "integer"}},
    }
    assert accepted(old, [1], [2], ["a"], draft=SchemaDraft.DRAFT_7) == [[1], [2]]


REFERENCES = ("#", "#x", "#y", "a", "a#x", "a#y", "b", "b#x", "b#y")


@cache
def subschemas(draft: SchemaDraft, *, dynamic: bool = False) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of nested lists that refer to the resources `a` and `b`, and to the names `x` and `y`.

    Two mistakes of `jsonschema` are avoided: it takes every reference to a dynamic name, here `y`, for a dynamic one,
    and what a dynamic one leads to it reads as if it stood in the resource that was named.
    """
    leaf = st.sampled_from([{"type": "integer"}, {"enum": [1]}, {"type": "array"}, {"enum": [2, []]}])
    new = draft is SchemaDraft.DRAFT_2020_12
    plain = [{"$ref": uri} for uri in REFERENCES if not (new and uri.endswith("y"))]
    listed = plain + [{"$dynamicRef": uri} for uri in REFERENCES if new]
    reference = st.sampled_from([ref for ref in listed if not (dynamic and set(ref.values()) & {"#", "#x", "#y"})])

    def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
        several = st.lists(inner, min_size=1, max_size=2)
        applied = st.fixed_dictionaries({}, optional={"items": inner, "allOf": several, "anyOf": several})
        return applied | st.builds(lambda left, right: {**left, **right}, applied, reference)

    return st.recursive(leaf | reference | reference.map(lambda schema: {"items": schema}), larger, max_leaves=4)


@st.composite
def bundles(draw: st.DrawFn, draft: SchemaDraft) -> dict[str, Any]:
    """Return a schema with two resources in it, one perhaps in the other, each with both names."""
    inside, named = subschemas(draft), subschemas(draft, dynamic=True)

    def resource(uri: str, *embedded: dict[str, Any]) -> dict[str, Any]:
        found = draw(inside)
        if draft is SchemaDraft.DRAFT_7:
            names = {name: {"$id": f"#{name}", "allOf": [draw(inside)]} for name in ("x", "y")}
            return {"$id": uri, "allOf": [found], "definitions": names | {inner["$id"]: inner for inner in embedded}}
        definitions = {"y": {**draw(named), "$dynamicAnchor": "y"}, "x": {**draw(inside), "$anchor": "x"}}
        return {"$id": uri, **found, "$defs": definitions | {inner["$id"]: inner for inner in embedded}}

    second = resource("b")
    if draw(st.booleans()):
        return resource("root", resource("a", second))
    return resource("root", resource("a"), second)


LISTS = st.recursive(st.sampled_from([1, 2, "a"]), lambda inner: st.lists(inner, max_size=2), max_leaves=4)


@pytest.mark.thorough
@settings(deadline=None, max_examples=examples(120), suppress_health_check=list(HealthCheck))
@given(
    st.data(),
    st.sampled_from([SchemaDraft.DRAFT_7, SchemaDraft.DRAFT_2020_12]),
    st.lists(LISTS, min_size=3, max_size=6),
)
def test_references_mean_what_another_library_says(data: st.DataObject, draft: SchemaDraft, values: list[Any]) -> None:
    """Whatever refers to whatever: resources, names and dynamic names."""
    schema = data.draw(bundles(draft))
    kind = Draft7Validator if draft is SchemaDraft.DRAFT_7 else Draft202012Validator
    try:
        automaton = compiled(schema, draft=draft)
    except SchemaError:
        assume(False)
    for value in values:
        try:
            valid = kind(schema).is_valid(value)
        except RecursionError:  # a schema that is its own branch says nothing
            assume(False)
        state = read(automaton, json.dumps(value, separators=(",", ":")).encode())
        assert (state != DEAD and automaton.accepts(state)) == valid, value
