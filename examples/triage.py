"""Sort messages with a decorated function: its docstring is the prompt, its return annotation the answer.

`python examples/triage.py` uses the demonstration model; `STRUCTURED_MODEL=… python examples/triage.py` another.
"""

from typing import Literal

from structured import structured

Topic = Literal["billing", "technical", "shipping", "other"]

MESSAGES = (
    "I was charged twice for my subscription this month. Please refund the second payment.",
    "The app crashes every time I open the settings.",
    "My parcel was due on Monday and still has not arrived.",
)


@structured
def topic(message: str) -> Topic:
    """What is this message about? {message}"""
    raise NotImplementedError  # the body is never run


if __name__ == "__main__":
    for message in MESSAGES:
        print(f"{topic(message):10} {message}")
