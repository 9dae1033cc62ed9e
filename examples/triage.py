"""Sort messages with a decorated function: its docstring is the prompt, its return annotation the type.

`python examples/triage.py` uses the packaged model. It is right on these messages, and often wrong on others.
`STRUCTURED_MODEL=… python examples/triage.py` uses another model.

    $ python examples/triage.py
    cancellation Please cancel my order of the desk.
    complaint    The kettle arrived broken and I am angry.
    question     Do you also deliver to Porto?
    order        I would like to order the BrewMaster.
"""

from typing import Literal

from structured import structured

Wish = Literal["order", "complaint", "question", "cancellation"]

MESSAGES = (
    "Please cancel my order of the desk.",
    "The kettle arrived broken and I am angry.",
    "Do you also deliver to Porto?",
    "I would like to order the BrewMaster.",
)


@structured
def wish(message: str) -> Wish:
    """What does the writer want? {message}"""
    raise NotImplementedError  # the body is never run


if __name__ == "__main__":
    for message in MESSAGES:
        print(f"{wish(message):12} {message}")
