"""The threads of a server's workers, which share the CPUs."""

import pytest
from doubles import in_memory, tiny_llama

pytest.importorskip("fastapi", reason="The extra serve has the server.")

from structured.integrations.server import workers
from structured.integrations.server.limits import Limits
from structured.integrations.server.workers import ServerConfig
from structured.models.cpu_threads import VARIABLES


@pytest.mark.parametrize(
    ("threads", "count", "environment", "expected"),
    [(8, 1, None, 8), (8, 3, None, 2), (1, 3, None, 1), (8, 20, None, 1), (5, 3, "5", 5), (None, 3, None, None)],
)
def test_workers_share_the_cpus(
    threads: int | None, count: int, environment: str | None, expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the environment sets the threads, or the engine has its own; a model never gets more than alone."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    if environment is not None:
        monkeypatch.setenv(VARIABLES[0], environment)
    monkeypatch.setattr(workers, "available_cpus", lambda: 8)
    model = in_memory(tiny_llama)
    model.threads = threads
    config = ServerConfig(
        lambda: model, dict, Limits(), api_key=None, host="127.0.0.1", port=0, is_quiet=True, workers=count
    )
    assert config.load().threads == expected
