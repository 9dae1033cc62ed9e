"""`structured serve --workers`: several processes behind one port."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from odd_requests import user
from serving import is_listening, process_serving, wait_until

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows passes no connections from process to process."),
]

BODIES = [
    {"schema": {"type": "object", "properties": {"name": {"type": "string"}}}, "text": "Jason is 25 years old."},
    {"fields": "name: str, age: int | None", "text": "Ana is 31 years old."},
    {"fields": "age: int", "text": "Nobody says how old Mei is.", "temperature": 1.0, "seed": 5},
    {"fields": "no: list of", "text": "The fields cannot be read."},
]


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with two workers, which are both ready."""
    with process_serving(tmp_path_factory.mktemp("workers") / "cache", "--workers", "2") as (_, address):
        wait_until(lambda: len(workers(address, 2)) == 2)
        yield address


def workers(address: str, connections: int = 4) -> list[int]:
    """The processes that some new connections come to, without those that come to one again."""
    with ExitStack() as stack:
        clients = [stack.enter_context(httpx.Client(timeout=60)) for _ in range(connections)]
        return sorted({worker(client, address) for client in clients})


def worker(client: httpx.Client, address: str) -> int:
    """The process that a client is connected to."""
    found = re.search(r'structured_live_texts\{worker="(\d+)"\}', client.get(f"{address}/metrics").text)
    assert found is not None
    return int(found[1])


def answers(client: httpx.Client, address: str) -> list[tuple[int, Any]]:
    found = [client.post(f"{address}/v1/extract", json=body, timeout=120) for body in BODIES]
    return [(answer.status_code, answer.json()) for answer in found]


def test_each_worker_answers_as_a_server_alone(two_workers: str, tmp_path: Path) -> None:
    with process_serving(tmp_path / "cache") as (_, address), httpx.Client() as client:
        expected = answers(client, address)
    assert [status for status, _ in expected] == [200, 200, 200, 400]
    with httpx.Client() as one, httpx.Client() as other:
        assert answers(one, two_workers) == answers(other, two_workers) == expected
        assert worker(one, two_workers) != worker(other, two_workers)


def test_connections_come_to_the_workers_in_turn(two_workers: str) -> None:
    """Of many clients at once, each worker has as many as the others."""
    with ExitStack() as stack:
        clients = [stack.enter_context(httpx.Client(timeout=60)) for _ in range(8)]
        found = [worker(client, two_workers) for client in clients]
        assert found == [*found[:2]] * 4
        assert len(set(found)) == 2
        assert [worker(client, two_workers) for client in clients] == found, "a connection stays where it is"


def test_the_workers_count_together(two_workers: str) -> None:
    """Whichever is asked tells the requests of both."""

    def counted(client: httpx.Client) -> int:
        text = client.get(f"{two_workers}/metrics").text
        return sum(int(float(number)) for number in re.findall(r'requests_total\{path="/v1/models".* (\S+)', text))

    with httpx.Client() as one, httpx.Client() as other:
        before = counted(one)
        for client in (one, other):
            client.get(f"{two_workers}/v1/models")
        wait_until(lambda: counted(one) == before + 2)  # a request counts once its answer is sent
        assert counted(other) == before + 2


def test_a_killed_worker_is_replaced_while_the_other_goes_on(two_workers: str) -> None:
    with httpx.Client(timeout=60) as one, httpx.Client(timeout=60) as other:
        killed, left = worker(one, two_workers), worker(other, two_workers)
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: not Path(f"/proc/{killed}").exists() or not is_running(killed))
        assert workers(two_workers) == [left]
        assert worker(other, two_workers) == left
        assert answers(other, two_workers)[0][0] == 200
        wait_until(lambda: len(workers(two_workers)) == 2)
        assert killed not in workers(two_workers)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_sigterm_lets_each_worker_finish(tmp_path: Path) -> None:
    """Two streams, one of each worker, go on to their ends while nobody else is let in; then all processes end."""
    body = {"messages": user("a"), "guided_regex": "[ab]{800}", "stream": True}
    with process_serving(tmp_path / "cache", "--workers", "2") as (server, address), ExitStack() as stack:
        wait_until(lambda: len(workers(address, 2)) == 2)
        running = workers(address)
        post = f"{address}/v1/chat/completions"
        streams = [stack.enter_context(httpx.stream("POST", post, json=body, timeout=120)) for _ in range(2)]
        lines = [stream.iter_lines() for stream in streams]
        read = [[next(some)] for some in lines]
        server.send_signal(signal.SIGTERM)
        wait_until(lambda: not is_listening(address))
        for first, others in zip(read, lines, strict=True):
            written = [*first, *others]
            pieces = [json.loads(line.removeprefix("data: ")) for line in written if line.startswith("data: {")]
            assert len("".join(piece["choices"][0]["delta"].get("content", "") for piece in pieces)) == 800
            assert "data: [DONE]" in written
        assert server.wait(60) in (0, -signal.SIGTERM)
        wait_until(lambda: not any(map(is_running, running)))


def test_without_room_for_another_worker_the_others_serve_and_a_second_signal_ends_what_hangs(tmp_path: Path) -> None:
    """The process in front may open no more files; once it may, the worker that was killed is replaced."""
    resource = pytest.importorskip("resource", reason="This system has no limits of processes.")
    if not hasattr(resource, "prlimit"):
        pytest.skip("This system sets no limits of other processes.")
    with process_serving(tmp_path / "cache", "--workers", "2") as (server, address):
        wait_until(lambda: len(workers(address, 2)) == 2)
        killed, left = workers(address)
        soft, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        open_files = max(int(path.name) for path in Path(f"/proc/{server.pid}/fd").iterdir()) + 1
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (open_files, hard))
        os.kill(killed, signal.SIGKILL)
        time.sleep(3)
        assert server.poll() is None
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (soft, hard))
        wait_until(lambda: len(workers(address, 2)) == 2)
        os.kill(left, signal.SIGSTOP)
        server.send_signal(signal.SIGTERM)
        time.sleep(1)
        assert server.poll() is None
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == -signal.SIGTERM
        wait_until(lambda: not is_running(left))


def test_a_terminal_that_is_closed_ends_them_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    with process_serving(tmp_path / "cache", "--workers", "2") as (server, address):
        running = workers(address)
        assert list(folder.glob("structured-metrics-*"))
        for process in (*running, server.pid):
            os.kill(process, signal.SIGHUP)
        assert server.wait(60) == -signal.SIGHUP
        wait_until(lambda: not any(map(is_running, running)))
    assert not list(folder.glob("structured-metrics-*"))


def test_control_c_ends_them(tmp_path: Path) -> None:
    """A terminal sends it to all processes of the command."""
    with process_serving(tmp_path / "cache", "--workers", "2") as (server, address):
        running = workers(address)
        for process in (*running, server.pid):
            os.kill(process, signal.SIGINT)
        assert server.wait(60) == 130
        wait_until(lambda: not any(map(is_running, running)))


def test_a_model_that_cannot_be_loaded_is_told_once(tmp_path: Path) -> None:
    """By the first worker; the others are not started."""
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    command = [sys.executable, "-m", "structured", "serve", "--port", "0", "--workers", "3", "--model", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 3, ended.stderr
    assert ended.stderr.count("ModelError") == 1, ended.stderr
    assert "Traceback" not in ended.stderr
