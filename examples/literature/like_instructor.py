"""Give a response model with field descriptions, and retry what its validators reject, as in Instructor.

Instructor passes a Pydantic model to an API, validates the answer, and sends the error back (`max_retries`). Here the
types and bounds hold from the first token on, descriptions stand in the prompt, and only the rejected value is written
again (`repair="told"`: with the error in the prompt). Retries are sampled, so a seed makes them repeatable.

    $ python examples/literature/like_instructor.py
    written:  {"day": "Sunday", "hour": 10}
    rejected: Value error, closed on Sunday
    written:  {"day": "Monday", "hour": 10} day
    accepted: day='Monday' hour=10
"""

from typing import Literal

from pydantic import BaseModel, Field, field_validator

from structured import extract
from structured.extraction import events

Day = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class Meeting(BaseModel):
    """A visit that a guest proposes."""

    day: Day = Field(description="a day that suits the guest")
    hour: int = Field(ge=0, le=23, description="when it begins")

    @field_validator("day")
    @classmethod
    def is_open(cls, day: str) -> str:
        if day == "Sunday":
            raise ValueError("closed on Sunday")
        return day


def show(event: events.Event) -> None:
    if isinstance(event, events.AttemptWritten):
        print("written: ", event.generations[0].text, *event.repaired)
        for answer in event.rejected:
            print("rejected:", str(answer.error).splitlines()[2].split(" [")[0].strip())


if __name__ == "__main__":
    text = "Sunday or Monday at 10 would suit me."
    meeting = extract(Meeting, text, model="smollm2-extract", repair="told", retries=5, seed=0, observe=show)
    print("accepted:", meeting)
