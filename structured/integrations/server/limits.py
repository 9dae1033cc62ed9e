"""What a server takes from those who ask it, and how much at a time."""

from dataclasses import dataclass

from structured.errors.arguments import check_fields, count, number

_POSITIVE = number(lambda value: value > 0, "a positive number")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a request may ask for, and how many may wait.

    Attributes:
        running: Requests that are answered at a time; the texts of all of them share one batch.
        waiting: Requests that wait for these. Whoever comes then gets 429, with `Retry-After`.
        body: Bytes of a request.
        schema: Characters of a schema, a pattern or a grammar.
        documents: Documents of a request.
        characters: Characters of the texts of a request, all together; each message of a chat counts as 16 more.
        max_tokens: Tokens that an answer may have at most, and has if the request does not say. Whoever asks for more
            gets 400.
        seconds: How long a request may take once it is its turn; then it gets 504.
        patience: Seconds in which a body has to come, or the request gets 408. `structured serve` also closes
            connections whose head does not come so soon, or whose client does not read for so long.
    """

    running: int = 32
    waiting: int = 256
    body: int = 4_000_000
    schema: int = 200_000
    documents: int = 256
    characters: int = 200_000
    max_tokens: int = 1024
    seconds: float = 300.0
    patience: float = 60.0

    def __post_init__(self) -> None:
        counts = ("running", "body", "schema", "documents", "characters", "max_tokens")
        check_fields(
            self, {**dict.fromkeys(counts, count(1)), "waiting": count(0), "seconds": _POSITIVE, "patience": _POSITIVE}
        )
