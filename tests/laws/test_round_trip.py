"""What the pattern of a type writes, Pydantic accepts; and what Pydantic writes, the pattern matches."""

import json
import random
import re

import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import WHITESPACES, random_text, typed

from structured import JsonLayout
from structured.json_schema.schema_compiler import schema_to_pattern
from structured.output_types.regex import to_regex
from structured.output_types.resolve import resolve_type

STYLES = {
    "compact": {"separators": (",", ":")},
    "spaced": {},
    "indented": {"indent": 2},
}
SLOW_TYPES = settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.thorough
@SLOW_TYPES
@given(drawn=typed(), whitespace=st.sampled_from(WHITESPACES), seed=st.integers(0, 2**32))
def test_every_text_of_the_pattern_is_valid(drawn, whitespace, seed):
    """Whatever the pattern of a type writes, Pydantic accepts, and the printed pattern matches."""
    output_type = resolve_type(drawn.type)
    pattern = schema_to_pattern(output_type.schema, whitespace)
    printed = re.compile(to_regex(drawn.type, layout=JsonLayout(whitespace)))
    source = random.Random(seed)
    for _ in range(10):
        text = random_text(pattern, source)
        output_type.parse(text)
        assert printed.fullmatch(text), text


@pytest.mark.thorough
@SLOW_TYPES
@given(data=st.data(), drawn=typed(), style=st.sampled_from(sorted(STYLES)))
def test_every_instance_can_be_written(data, drawn, style):
    """The canonical JSON text of an instance matches the pattern of its type, in its style and the flexible one."""
    value = data.draw(drawn.values)
    adapter = resolve_type(drawn.type).adapter
    text = json.dumps(json.loads(adapter.dump_json(value, by_alias=True)), ensure_ascii=False, **STYLES[style])
    assert re.fullmatch(to_regex(drawn.type, layout=JsonLayout(style)), text), text
    assert re.fullmatch(to_regex(drawn.type, layout=JsonLayout("flexible")), text), text
