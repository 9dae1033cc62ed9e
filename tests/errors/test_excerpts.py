"""Messages show rejected answers, and not at any length."""

from hypothesis import given
from hypothesis import strategies as st

from structured.errors import MAX_ATTEMPT_CHARACTERS, Attempt, GenerationError


@given(
    st.lists(st.builds(Attempt, st.text(), st.builds(ValueError, st.text())), min_size=1, max_size=3),
    st.integers(1, 100_000),
)
def test_rejected_answers_of_any_length_are_shown_in_a_message_that_is_printed(
    attempts: list[Attempt], times: int
) -> None:
    long = [Attempt(one.text * times, ValueError(str(one.error) * times)) for one in attempts]
    failed = GenerationError(long, document=3)
    assert failed.attempts == tuple(long)
    assert len(str(failed)) <= 500 + len(long) * 2 * len("\\U0010ffff") * MAX_ATTEMPT_CHARACTERS
    assert all(line.isprintable() for line in str(failed).split("\n"))


@given(st.lists(st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=40), min_size=1, max_size=40))
def test_rejected_answers_are_shown_as_they_are_if_they_are_short(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert f"  1. {text}\n     wrong\n" in str(GenerationError([Attempt(text, ValueError("wrong"))]))
