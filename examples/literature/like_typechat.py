"""Ask for a typed sentiment, validate it, and have it repaired, as in TypeChat.

TypeChat puts types into the prompt, validates the answer, and asks again with what was wrong. Here the type is enforced
while the answer is written, so only what a type cannot say is left to validate: how many stars fit the sentiment. What
is rejected is written again, here with the reason in the prompt (`repair="told"`). The packaged model writes.

    $ python examples/literature/like_typechat.py
    It was great to see you again!
      written:  {"sentiment": "positive", "stars": 1}
      rejected: Value error, a positive review has 4 to 5 stars, not 1
      written:  {"sentiment": "positive", "stars": 4}
      accepted: sentiment='positive' stars=4
    The room was lovely, and the staff were kind.
      written:  {"sentiment": "positive", "stars": 1}
      rejected: Value error, a positive review has 4 to 5 stars, not 1
      written:  {"sentiment": "positive", "stars": 4}
      accepted: sentiment='positive' stars=4
"""

from typing import Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from structured import extract
from structured.extraction import events


class Review(BaseModel):
    sentiment: Literal["negative", "neutral", "positive"]
    stars: int = Field(ge=1, le=5)

    @field_validator("stars")
    @classmethod
    def fit_the_sentiment(cls, stars: int, review: ValidationInfo) -> int:
        sentiment = review.data["sentiment"]
        fewest, most = {"negative": (1, 2), "neutral": (3, 3), "positive": (4, 5)}[sentiment]
        if not fewest <= stars <= most:
            raise ValueError(f"a {sentiment} review has {fewest} to {most} stars, not {stars}")
        return stars


def show(event: events.Event) -> None:
    if isinstance(event, events.AttemptWritten):
        print("  written: ", event.generations[0].text)
        for answer in event.rejected:
            print("  rejected:", str(answer.error).splitlines()[2].split(" [")[0].strip())


if __name__ == "__main__":
    for text in ("It was great to see you again!", "The room was lovely, and the staff were kind."):
        print(text)
        print("  accepted:", extract(Review, text, repair="told", seed=0, observe=show))
