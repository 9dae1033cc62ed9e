"""Prompts: what is in them, in which order."""

from structured.extraction.prompts import chat_messages
from structured.output_types.output_type import Description

WANTED = Description("Pattern", "[0-9]{4}", answer="Year", task="Find the year.")


def test_instructions_stand_beside_the_task():
    """They took its place, and a chat model was not told how to answer."""
    [message] = chat_messages(WANTED, "In 1932.", instructions="Read the announcement.")
    assert message["content"] == "Read the announcement.\n\nFind the year.\n\nPattern:\n[0-9]{4}\n\nText:\nIn 1932."


def test_examples_are_earlier_turns():
    turns = chat_messages(WANTED, "In 1932.", examples=[("Since 1901.", "1901")])
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert turns[0]["content"] == turns[2]["content"].replace("In 1932.", "Since 1901.")
    assert turns[1]["content"] == "1901"
