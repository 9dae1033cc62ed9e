"""JSON Schemas of kinds that many people use, each with what makes compiling it slow where that is done naively."""

import json
from collections.abc import Iterable
from typing import Any

Schema = dict[str, Any]


def _parsed(schema: Schema) -> Schema:
    """Return a schema as a file would give it: no two of its objects are one."""
    parsed: Schema = json.loads(json.dumps(schema))
    return parsed


def _array(items: Schema, least: int | None = None) -> Schema:
    return {"type": "array", **({} if least is None else {"minItems": least}), "items": items}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


_NUMBER = {"type": "number"}
_STRING = {"type": "string"}
_POSITION = _array(_NUMBER, 2)
_COORDINATES = {
    "Point": _POSITION,
    "LineString": _array(_POSITION, 2),
    "Polygon": _array(_array(_POSITION, 4)),
    "MultiPoint": _array(_POSITION),
    "MultiLineString": _array(_array(_POSITION, 2)),
    "MultiPolygon": _array(_array(_array(_POSITION, 4))),
}


def geojson(*, is_tagged: bool = True) -> Schema:
    """Return a schema of RFC 7946: nine objects, told apart by a `type` that each requires or, if not, may lack."""

    def tagged(name: str, **properties: Schema) -> Schema:
        return {
            "type": "object",
            **({"required": ["type", *properties]} if is_tagged else {}),
            "properties": {"type": {"enum": [name]}, **properties, "bbox": _array(_NUMBER, 4)},
        }

    geometries = [tagged(name, coordinates=coordinates) for name, coordinates in _COORDINATES.items()]
    collection = tagged("GeometryCollection", geometries=_array({"oneOf": geometries}))
    feature = tagged(
        "Feature",
        properties={"oneOf": [{"type": "null"}, {"type": "object"}]},
        geometry={"oneOf": [{"type": "null"}, *geometries, collection]},
    )
    feature["properties"]["id"] = {"oneOf": [_NUMBER, _STRING]}
    features = tagged("FeatureCollection", features=_array(feature))
    outer = {} if is_tagged else {"type": "object", "required": ["type"]}
    return _parsed({"title": "GeoJSON", **outer, "oneOf": [*geometries, collection, feature, features]})


_KINDS = {
    "html": ("elements", "attributes", "events", "slots", "parts"),
    "css": ("properties", "pseudo-elements", "pseudo-classes", "functions", "classes"),
    "js": ("events", "symbols", "properties", "parameters", "decorators"),
}


def web_types() -> Schema:
    """Return a schema of some 20 KB of the parts of web frameworks, in which names that start otherwise lead on."""
    base = {
        "name": {"type": "string", "minLength": 1},
        "description": {"oneOf": [_STRING, _array(_STRING)]},
        "doc-url": {"type": "string", "pattern": "^https?://"},
        "icon": {"type": "string", "pattern": "\\.(svg|png)$"},
        "deprecated": {"anyOf": [{"type": "boolean"}, _STRING]},
        "priority": {"enum": ["lowest", "low", "normal", "high", "highest"]},
        "pattern": _ref("pattern"),
    }
    definitions: Schema = {
        "pattern": {
            "oneOf": [
                {"type": "string", "format": "regex"},
                {
                    "type": "object",
                    "properties": {
                        "regex": _STRING,
                        "required": {"type": "boolean"},
                        "or": _array(_ref("pattern")),
                        "items": _ref("reference"),
                    },
                    "additionalProperties": False,
                },
            ]
        },
        "reference": {"anyOf": [{"type": "string", "pattern": "^/(html|css|js)/"}, _array(_ref("reference"), 1)]},
        "value": {"anyOf": [_STRING, _NUMBER, {"type": "boolean"}, {"type": "object"}, _array(_ref("value"))]},
        "contributions": {"anyOf": [_ref("contribution"), _array(_ref("contribution"))]},
        "contribution": {
            "type": "object",
            "properties": base,
            "patternProperties": {
                "^(?!(?:name|description|doc-url|icon|deprecated|priority|pattern)$).+$": _ref("value"),
                "^[a-z]+(-[a-z]+)*s$": _ref("contributions"),
            },
        },
    }
    for language, kinds in _KINDS.items():
        for kind in kinds:
            name = f"{language}-{kind}"
            own = "|".join([*base, *kinds])
            definitions[name] = {
                "type": "object",
                "required": ["name"],
                "properties": {
                    **base,
                    **{other: {"anyOf": [_ref(f"{language}-{other}"), _array(_ref(f"{language}-{other}"))]}
                       for other in kinds},
                },
                "patternProperties": {
                    f"^(?!(?:{own})$)[a-z]+(?:-[a-z]+)*$": _ref("contributions"),
                    "^x-": _ref("value"),
                    f"^(?:{language})/[a-z-]+$": _ref("reference"),
                },
                "additionalProperties": False,
            }  # fmt: skip
    hosts = {
        language: {
            "type": "object",
            "properties": {kind: _array(_ref(f"{language}-{kind}")) for kind in kinds},
            "patternProperties": {f"^(?!(?:{'|'.join(kinds)})$).*s$": _ref("contributions")},
            "additionalProperties": False,
        }
        for language, kinds in _KINDS.items()
    }
    return _parsed(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "required": ["name", "version", "contributions"],
            "properties": {
                "name": _STRING,
                "version": {"type": "string", "pattern": "^[0-9]+\\.[0-9]+"},
                "framework": {"enum": ["vue", "angular", "svelte"]},
                "contributions": {"type": "object", "properties": hosts, "additionalProperties": False},
            },
            "definitions": definitions,
        }
    )


def _but(names: Iterable[str], name: str) -> Schema:
    """Return what asks for one of some properties, and for none of the others."""
    return {"required": [name], "not": {"anyOf": [{"required": [other]} for other in names if other != name]}}


def statement() -> Schema:
    """Return a schema of who did what, in which exactly one of four properties tells who."""
    identifiers = {
        "mbox": {"type": "string", "pattern": "^mailto:"},
        "mbox_sha1sum": {"type": "string", "pattern": "^[0-9a-f]{40}$"},
        "openid": {"type": "string", "format": "uri"},
        "account": {
            "type": "object",
            "required": ["homePage", "name"],
            "properties": {"homePage": {"type": "string", "format": "uri"}, "name": _STRING},
            "additionalProperties": False,
        },
    }
    definitions: Schema = {f"by {name}": {**_but(identifiers, name), "properties": {name: value}}
                           for name, value in identifiers.items()}  # fmt: skip
    definitions["identified"] = {"oneOf": [_ref(f"by {name}") for name in identifiers]}
    definitions["agent"] = {
        "type": "object",
        "allOf": [_ref("identified")],
        "properties": {"objectType": {"enum": ["Agent"]}, "name": _STRING, **{name: {} for name in identifiers}},
        "additionalProperties": False,
    }
    group: Schema = {"objectType": {"enum": ["Group"]}, "name": _STRING, "member": _array(_ref("agent"))}
    definitions["anonymous group"] = {
        "type": "object",
        "required": ["objectType", "member"],
        "properties": group,
        "not": {"anyOf": [{"required": [name]} for name in identifiers]},
    }
    definitions["identified group"] = {
        "type": "object",
        "allOf": [_ref("identified")],
        "required": ["objectType"],
        "properties": group,
    }
    definitions["group"] = {"oneOf": [_ref("anonymous group"), _ref("identified group")]}
    definitions["actor"] = {"oneOf": [_ref("agent"), _ref("group")]}
    definitions["activity"] = {
        "type": "object",
        "required": ["id"],
        "properties": {
            "objectType": {"enum": ["Activity"]},
            "id": {"type": "string", "format": "uri"},
            "definition": {"type": "object", "properties": {"name": _ref("texts"), "description": _ref("texts")}},
        },
    }
    definitions["texts"] = {"type": "object", "patternProperties": {"^[a-z]{2}(-[A-Z]{2})?$": _STRING},
                            "additionalProperties": False}  # fmt: skip
    definitions["reference"] = {
        "type": "object",
        "required": ["objectType", "id"],
        "properties": {"objectType": {"enum": ["StatementRef"]}, "id": {"type": "string", "format": "uuid"}},
        "additionalProperties": False,
    }
    definitions["statement"] = {
        "type": "object",
        "required": ["actor", "verb", "object"],
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "actor": _ref("actor"),
            "verb": {"type": "object", "required": ["id"], "properties": {"id": _STRING, "display": _ref("texts")}},
            "object": {"oneOf": [_ref(name) for name in ("activity", "agent", "group", "reference", "inner")]},
            "timestamp": {"type": "string", "format": "date-time"},
        },
    }
    inner = {"required": ["objectType"], "properties": {"objectType": {"enum": ["SubStatement"]}}}
    definitions["inner"] = {
        "allOf": [_ref("statement")],
        "required": ["objectType"],
        "properties": {"objectType": {"enum": ["SubStatement"]}, "object": {"not": inner}},
        "not": {"anyOf": [{"required": [name]} for name in ("id", "stored", "version", "authority")]},
    }
    return _parsed(
        {"$schema": "http://json-schema.org/draft-07/schema#", **_ref("statement"), "definitions": definitions}
    )


def services() -> Schema:
    """Return a schema of services that are built, pulled or run, of which exactly one of some properties tells how."""
    name = "^[a-zA-Z0-9._-]+$"
    pairs = {
        "oneOf": [
            {"type": "object", "patternProperties": {".+": {"type": ["string", "number", "null"]}},
             "additionalProperties": False},
            {"type": "array", "items": _STRING, "uniqueItems": True},
        ]
    }  # fmt: skip
    port = {"oneOf": [
        {"type": "number"}, {"type": "string", "pattern": "^[0-9]+(:[0-9]+)?$"},
        {"type": "object", "properties": {"target": {"type": "integer"}, "mode": _STRING},
         "additionalProperties": False},
    ]}  # fmt: skip
    ways = ("image", "project", "executable", "dockerFile", "include", "repository")
    service = {
        "type": "object",
        "oneOf": [{"required": [way]} for way in ways],
        "properties": {
            **dict.fromkeys(ways, _STRING),
            "build": {"oneOf": [
                _STRING, {"type": "object", "properties": {"context": _STRING, "args": _ref("pairs")}},
            ]},
            "command": {"oneOf": [_STRING, _array(_STRING)]},
            "environment": _ref("pairs"),
            "labels": _ref("pairs"),
            "ports": {"type": "array", "items": port, "uniqueItems": True},
            "depends_on": {"oneOf": [
                {"type": "array", "items": _STRING, "uniqueItems": True},
                {"type": "object", "patternProperties": {name: {"type": "object", "required": ["condition"],
                 "properties": {"condition": {"enum": ["service_started", "service_healthy"]}}}}},
            ]},
            "replicas": {"type": "integer", "minimum": 0},
            "liveness": _ref("probe"),
            "readiness": _ref("probe"),
        },
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }  # fmt: skip
    probe = {
        "type": "object",
        "required": ["http"],
        "properties": {
            "http": {"type": "object", "properties": {"path": _STRING, "port": {"type": "integer"},
                     "headers": _array({"type": "object", "required": ["name"], "properties": {"name": _STRING}})}},
            "timeout": {"type": "integer", "minimum": 1},
        },
    }  # fmt: skip
    return _parsed(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "name": {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]*$"},
                "services": {"type": "object", "patternProperties": {name: _ref("service")},
                             "additionalProperties": False},
                "networks": {"type": "object", "patternProperties": {name: {"type": ["object", "null"]}}},
            },
            "patternProperties": {"^x-": {}},
            "definitions": {"pairs": pairs, "probe": probe, "service": service},
        }
    )  # fmt: skip


FAMILIAR = {"geojson": geojson, "web_types": web_types, "statement": statement, "services": services}
