"""What an answer may take of a client: seconds and bytes, whatever a server sends.

HTTPX has a timeout for each read, which a server never reaches that sends a byte now and then. So each read of a
connection gets the seconds that are left of the whole answer.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

LONGEST_ANSWER = 2**26
"""Bytes of an answer: a token takes up to 500 in a stream with probabilities, and models write up to 2**17 of them."""

SENT_AT_ONCE = 2**16
"""Bytes of a request that are sent before the time is looked at again."""


class TooLong(Exception):  # noqa: N818  it is the answer that is
    """An answer of more bytes than any that a model writes."""


class Allowance:
    """The seconds and the bytes that are left of an answer; the clock starts when it is made."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._bytes = LONGEST_ANSWER

    def seconds(self) -> float:
        """Return the seconds that are left. Raises TimeoutError if there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def spend(self, size: int) -> None:
        """Count bytes that were read. Raises TooLong if there are more than any answer has."""
        self._bytes -= size
        if self._bytes < 0:
            raise TooLong

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock, while it is not the server that is waited for."""
        before = time.monotonic()
        try:
            yield
        finally:
            self._end += time.monotonic() - before

    def extensions(self, connect_seconds: float) -> dict[str, Any]:
        """Return the extensions of a request of HTTPX by which it is kept, head and body of the answer alike."""
        seconds = {"connect": connect_seconds, "read": self, "write": self, "pool": None}
        return {"timeout": seconds, "trace": _limit}


def _limit(event: str, told: Mapping[str, Any]) -> None:  # noqa: ARG001  called by name for each event
    """Let a connection that was made keep to the allowances of its requests, which it gets in place of timeouts."""
    stream: Any = told.get("return_value")
    if not hasattr(stream, "start_tls"):  # a NetworkStream of HTTPCore
        return
    read, write = stream.read, stream.write

    def read_some(max_bytes: int, timeout: Any = None) -> bytes:
        is_ours = isinstance(timeout, Allowance)
        data: bytes = read(max_bytes, timeout.seconds() if is_ours else timeout)
        if is_ours:
            timeout.spend(len(data))
        return data

    def write_all(buffer: bytes, timeout: Any = None) -> None:
        for start in range(0, len(buffer), SENT_AT_ONCE):
            seconds = timeout.seconds() if isinstance(timeout, Allowance) else timeout
            write(buffer[start : start + SENT_AT_ONCE], seconds)

    stream.read, stream.write = read_some, write_all
