"""The path of a value: what leads to it can be read from it again."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from structured.output_types.paths import Steps, leaves, path_to_steps, steps_to_field, steps_to_path

NAMES = st.text(st.sampled_from('a.b[]"\\\n0*é🙂\ud800\u2028') | st.characters(), max_size=6)


@given(st.lists(NAMES | st.integers(0, 99), max_size=5).map(tuple))
def test_a_path_says_its_steps(steps: Steps) -> None:
    """Whatever the names are."""
    assert path_to_steps(steps_to_path(steps)) == steps


@given(st.recursive(st.none() | st.integers(), lambda inside: st.lists(inside) | st.dictionaries(NAMES, inside)))
def test_leaves_are_where_their_steps_lead(data: Any) -> None:
    """Each once, and each a value that holds no others."""
    found = list(leaves(data))
    assert len({steps for steps, _ in found}) == len(found)
    for steps, value in found:
        inside = data
        for step in steps:
            inside = inside[step]
        assert inside is value
        assert not isinstance(value, dict | list)


def test_values_of_a_list_belong_to_one_field() -> None:
    assert [steps_to_field(("lines", index, "a b")) for index in (0, 7)] == ['lines[]."a b"'] * 2
