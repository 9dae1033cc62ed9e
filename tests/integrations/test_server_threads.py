"""The threads of a server: NumPy's products have one, unless the environment says otherwise."""

import pytest
from doubles import ByteTokenizer, random_logits
from threadpoolctl import threadpool_info, threadpool_limits

pytest.importorskip("fastapi", reason="The extra serve has the server.")

import uvicorn

from structured.integrations.server.limits import Limits
from structured.integrations.server.workers import ServerConfig
from structured.models import FunctionModel, LanguageModel

TOKENIZER = ByteTokenizer()


def model() -> LanguageModel:
    return FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)


def threads() -> set[int]:
    """The numbers of threads of the libraries for products, without that of torch."""
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


@pytest.mark.parametrize(("environment", "used"), [(None, 1), ("2", 2)])
def test_products_have_one_thread_unless_the_environment_says_otherwise(
    environment: str | None, used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if environment is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", environment)
    served: list[set[int]] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda _: served.append(threads()))
    config = ServerConfig(model, dict, Limits(), api_key=None, host="127.0.0.1", port=0, is_quiet=True)
    with threadpool_limits(2, "blas"):
        config.serve({})
        assert served == [{used}]
        assert threads() == {2}
