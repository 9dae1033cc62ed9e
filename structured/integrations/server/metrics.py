"""Metrics of a server, for Prometheus."""

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from structured.decoding.running_batch import RunningBatch
from structured.integrations.server.limits import Admission


class Metrics:
    """The figures of one server."""

    def __init__(self, running: RunningBatch, admission: Admission) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "structured_requests", "Requests, by path and status.", ("path", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "structured_request_seconds",
            "From the request to the end of the answer.",
            ("path",),
            registry=self.registry,
            buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
        )
        self.tokens = Counter(
            "structured_tokens", "Tokens: of prompts, sampled, and known without the model.", ("kind",),
            registry=self.registry,
        )  # fmt: skip
        self.registry.register(_Now(running, admission))

    def text(self) -> bytes:
        """Return all figures in Prometheus's text format."""
        return generate_latest(self.registry)

    def count_tokens(self, *, prompt: int, sampled: int, forced: int) -> None:
        """Count the tokens of one answer."""
        for kind, number in (("prompt", prompt), ("sampled", sampled), ("forced", forced)):
            self.tokens.labels(kind).inc(number)


class _Now(Collector):
    """Gauges of the texts and requests at the moment of collection."""

    def __init__(self, running: RunningBatch, admission: Admission) -> None:
        self.running, self.admission = running, admission

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges."""
        figures: Iterable[tuple[str, str, int]] = (
            ("structured_live_texts", "Texts in the batch.", self.running.live),
            ("structured_waiting_texts", "Texts that wait for the batch.", self.running.waiting),
            ("structured_waiting_requests", "Requests that wait for their turn.", self.admission.waiting),
        )
        for name, what, number in figures:
            yield GaugeMetricFamily(name, what, value=number)
