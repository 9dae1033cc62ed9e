"""Worker processes: servers behind one port, each with the model, and the process that hands connections to them.

The parent accepts a connection and passes it on to the next worker, in turn. Rejected: a socket that the workers share,
since the first to wake takes all connections that wait, and `SO_REUSEPORT`, which spreads them by chance: of four
clients, all may come to one worker, and stay there.
"""

import asyncio
import errno
import logging
import os
import pickle
import signal
import socket
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from ctypes import CDLL
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from uvicorn.config import LOGGING_CONFIG

from structured.errors import ModelError, StructuredError, StructuredWarning
from structured.integrations.server.app import create_app
from structured.integrations.server.connections import connection_class
from structured.integrations.server.limits import Limits
from structured.integrations.server.server_state import SHARED_METRICS
from structured.models.cpu_threads import available_cpus, environment_threads

if TYPE_CHECKING:
    from structured.models import LanguageModel

KEEP_ALIVE_SECONDS = 75
"""Seconds for which a connection without a request stays open: longer than in proxies, which then close it first."""

SWITCH_SECONDS = 0.001
"""Seconds for which a thread keeps the interpreter while others wait for it; Python's own are five times as many. While
one thread reads a large schema, all others wait so long for each of their steps."""

BACKLOG = 2048
"""Connections that wait to be accepted."""

RESTART_SECONDS = 1.0
"""Seconds before another worker is started in place of one that ended before it was ready."""

GRACE_SECONDS = 10.0
"""Seconds after the longest answer until workers that have not ended are killed."""

M_ARENA_MAX = -8
"""The parameter of `mallopt` for the number of heaps."""

END_SIGNALS = (signal.SIGINT, signal.SIGTERM, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()))
"""Signals that end a server: Ctrl-C, a request to end, and a terminal that is closed."""

LOGGERS = {**LOGGING_CONFIG["loggers"], "structured": {"handlers": ["default"], "level": "ERROR", "propagate": False}}
"""The logs of uvicorn, with the faults of this library beside them."""

_LOGGER = logging.getLogger("uvicorn.error")  # beside uvicorn's own lines


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """What a server serves, and where. It is pickled for workers, which load the model and the types themselves."""

    model: "Callable[[], LanguageModel]"
    types: Callable[[], Mapping[str, Any]]
    limits: Limits
    api_key: str | None
    host: str
    port: int
    is_quiet: bool
    workers: int = 1

    @property
    def log_level(self) -> str:
        """The level of uvicorn's logs."""
        return "warning" if self.is_quiet else "info"

    def load(self) -> "LanguageModel":
        """Load the model, which shares the CPUs with those of other workers."""
        model = self.model()
        if model.threads is not None and environment_threads() is None:
            model.threads = min(model.threads, max(available_cpus() // self.workers, 1))
        return model

    def uvicorn_config(self, types: Mapping[str, Any]) -> uvicorn.Config:
        """Load the model, and return how uvicorn serves it."""
        return uvicorn.Config(
            create_app(self.load(), types=types, limits=self.limits, api_key=self.api_key),
            http=connection_class(self.limits.patience),
            host=self.host,
            port=self.port,
            log_config={**LOGGING_CONFIG, "loggers": LOGGERS},
            log_level=self.log_level,
            timeout_graceful_shutdown=int(self.limits.seconds) + 1,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            server_header=False,
        )

    def serve(self, types: Mapping[str, Any]) -> bool:
        """Serve in this process until a signal ends it; return whether it has served at all."""
        share_heaps()
        server = uvicorn.Server(self.uvicorn_config(types))
        sys.setswitchinterval(SWITCH_SECONDS)
        server.run()
        return server.started


def share_heaps() -> None:
    """Let threads share two heaps, where the C library is GNU's and `MALLOC_ARENA_MAX` is not set.

    With one for each thread, memory grows for as long as other requests come to other threads: what a large schema has
    left free in one heap is of no use in another.
    """
    with suppress(OSError, AttributeError):
        if "MALLOC_ARENA_MAX" not in os.environ:
            CDLL("libc.so.6").mallopt(M_ARENA_MAX, 2)


def check_port(host: str, port: int) -> None:
    """Raise OSError if nothing can listen there: it is tried before the model is loaded, which takes long."""
    for listener in bind_sockets(host, port):
        listener.close()


def bind_sockets(host: str, port: int) -> list[socket.socket]:
    """Return a socket for each address of a host, which does not listen yet. Raises OSError if a port is taken."""
    sockets: list[socket.socket] = []
    unavailable = None
    with ExitStack() as opened:
        try:
            for family, kind, protocol, _, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
                listener = opened.enter_context(socket.socket(family, kind, protocol))
                if os.name == "posix":  # as servers do: connections that have ended hold no port
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:  # another socket is for the other family
                    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                try:
                    listener.bind(where)
                    sockets.append(listener)
                except OSError as error:
                    listener.close()
                    if error.errno != errno.EADDRNOTAVAIL:  # that is of a family that this machine lacks
                        raise
                    unavailable = error
            if unavailable is not None and not sockets:
                raise unavailable
        except OSError as error:
            problem = f"Nothing can listen at port {port} of {host}: {error.strerror}. Pass another --port or --host."
            raise OSError(problem) from error
        opened.pop_all()
    return sockets


def serve_workers(config: ServerConfig) -> bool:
    """Serve with several workers until a signal ends them; return True.

    Raises ModelError if this system cannot pass connections on, and the error of the first worker if it cannot load.
    """
    if not hasattr(socket, "send_fds"):
        raise ModelError("This system passes no connections from process to process. Leave --workers out.")
    with ExitStack() as stack:
        stack.enter_context(_shared_metrics())
        listeners = [stack.enter_context(listener) for listener in bind_sockets(config.host, config.port)]
        signals = _Supervisor(config, listeners).supervise()
    for number in signals:  # as uvicorn ends
        signal.raise_signal(number)
    return True


@contextmanager
def _shared_metrics() -> Iterator[None]:
    """Have the workers share their figures, in a new folder unless the environment names one."""
    if SHARED_METRICS in os.environ:
        yield
        return
    with TemporaryDirectory(prefix="structured-metrics-") as folder:
        os.environ[SHARED_METRICS] = folder
        try:
            yield
        finally:
            del os.environ[SHARED_METRICS]


@dataclass(slots=True, eq=False)
class _Worker:
    """A worker as its parent sees it."""

    process: SpawnProcess
    connection_socket: socket.socket
    """The socket over which accepted connections are handed to it."""
    reports: Connection
    """Where it tells its warnings, and then None once it is ready, or the error that ends it."""
    is_ready: bool = False
    error: Exception | None = None

    @classmethod
    def start(cls, config: ServerConfig) -> "_Worker":
        """Start a process, which loads the model."""
        context = get_context("spawn")
        mine, theirs = socket.socketpair()
        reports, reported = context.Pipe(duplex=False)
        with theirs, reported:
            process = context.Process(target=_run_worker, args=(config, theirs, reported), name="structured worker")
            process.start()
        mine.setblocking(False)
        return cls(process, mine, reports)

    def close(self) -> None:
        """Release the resources of a process that has ended."""
        self.process.join()
        self.connection_socket.close()
        self.reports.close()


@dataclass(slots=True, eq=False)
class _Supervisor:
    """The process that accepts connections, and starts a worker for each that ends."""

    config: ServerConfig
    listeners: list[socket.socket]
    workers: deque[_Worker] = field(default_factory=deque)
    """The one whose turn is next comes first."""
    has_served: bool = False
    """Whether a worker was ever ready. Only then are the others started, so that an error is reported once."""
    signals: list[int] = field(default_factory=list)
    """The signals that end it."""
    next_start: float = 0.0

    def supervise(self) -> list[int]:
        """Serve until a signal comes and all workers end; return the signals. Raises the error of the first worker."""
        uvicorn.Config("", log_level=self.config.log_level)  # which configures the logs
        with ExitStack() as handlers:
            for number in END_SIGNALS:
                previous_handler = signal.signal(number, lambda number, _: self.signals.append(number))
                handlers.callback(signal.signal, number, previous_handler)
            try:
                while not self.signals:
                    self._step()
                self._end()
                deadline = time.monotonic() + self.config.limits.seconds + GRACE_SECONDS
                while self.workers and len(self.signals) == 1 and time.monotonic() < deadline:
                    self._step()
            finally:
                for worker in self.workers:  # after an error, another signal, or in vain
                    worker.process.kill()
                    worker.close()
        return self.signals

    def _end(self) -> None:
        """Accept no more connections, and let the workers finish what runs."""
        _LOGGER.info("Waiting for what runs to end. (Press CTRL+C again to end it now)")
        for listener in self.listeners:
            listener.close()
        for worker in self.workers:
            worker.process.terminate()

    def _step(self) -> None:
        """Start a worker if one lacks, wait for events, and call what handles them."""
        worker_count = 0 if self.signals else self.config.workers if self.has_served else 1
        if len(self.workers) < worker_count and time.monotonic() >= self.next_start:
            self._start()
        callbacks: dict[Any, Callable[[], None]] = {}
        for worker in self.workers:
            callbacks[worker.process.sentinel] = partial(self._remove, worker)
            if not worker.reports.closed:
                callbacks[worker.reports] = partial(self._read_report, worker)
        if any(worker.is_ready for worker in self.workers) and not self.signals:
            callbacks |= {listener: partial(self._hand_over, listener) for listener in self.listeners}
        for event in wait(list(callbacks), timeout=0.2):
            callbacks[event]()

    def _start(self) -> None:
        """Start a worker; where this cannot be done now, and others serve, try again later."""
        try:
            self.workers.append(_Worker.start(self.config))
        except OSError as error:
            if not self.has_served:
                raise
            _LOGGER.warning("No worker can be started now: %s. Is the memory full, or `ulimit -n` low?", error.strerror)
            self.next_start = time.monotonic() + RESTART_SECONDS

    def _read_report(self, worker: _Worker) -> None:
        """Take a report of a worker; listen once the first one is ready."""
        try:
            report = worker.reports.recv()
        except (EOFError, OSError):
            worker.reports.close()
            return
        if isinstance(report, Warning):
            warnings.warn(report, stacklevel=2)
        else:
            worker.error, worker.is_ready = report, report is None
        if worker.is_ready and not self.has_served:
            self.has_served = True
            for listener in self.listeners:
                listener.listen(BACKLOG)
                host, port = listener.getsockname()[:2]
                where = f"[{host}]" if listener.family == socket.AF_INET6 else host
                _LOGGER.info("Uvicorn running on http://%s:%d (Press CTRL+C to quit)", where, port)

    def _hand_over(self, listener: socket.socket) -> None:
        """Accept a connection, and pass it on to the first ready worker, which is the last one then."""
        try:
            connection, _ = listener.accept()
        except OSError:  # it was given up in the meantime
            return
        with connection:
            for worker in [worker for worker in self.workers if worker.is_ready]:
                self.workers.remove(worker)
                self.workers.append(worker)
                with suppress(OSError):  # it has ended, or does not read
                    socket.send_fds(worker.connection_socket, [b"."], [connection.fileno()])
                    return

    def _remove(self, worker: _Worker) -> None:
        """Remove a worker that has ended. Raises its error if none was ever ready."""
        while not worker.reports.closed and worker.reports.poll():
            self._read_report(worker)
        self.workers.remove(worker)
        worker.close()
        if self.signals:
            return
        code = worker.process.exitcode
        if not self.has_served:
            raise worker.error or ModelError(
                f"A worker ended before it was ready, with the code {code}. Serve with one worker to see why; a model "
                "takes memory in each."
            )
        _LOGGER.warning("Worker [%s] ended with the code %s; another is started.", worker.process.pid, code)
        if worker.error is not None:
            _LOGGER.error("%s: %s", type(worker.error).__name__, worker.error)
        self.next_start = time.monotonic() + (0 if worker.is_ready else RESTART_SECONDS)


class _Server(uvicorn.Server):
    """A server whose connections its parent has accepted."""

    def __init__(self, config: uvicorn.Config, connection_socket: socket.socket, reports: Connection) -> None:
        super().__init__(config)
        self._connection_socket = connection_socket
        self._reports = reports
        self._accepting: set[asyncio.Task[Any]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the application, and then tell that connections are taken."""
        await super().startup(sockets or [])
        self._connection_socket.setblocking(False)
        asyncio.get_running_loop().add_reader(self._connection_socket, self._take)
        self._reports.send(None)
        self._reports.close()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish the requests of the connections that have been passed on."""
        self._take()
        asyncio.get_running_loop().remove_reader(self._connection_socket)
        self._connection_socket.close()
        await asyncio.gather(*self._accepting, return_exceptions=True)
        await super().shutdown(sockets)

    def _take(self) -> None:
        """Take connections; without a parent, end."""
        try:
            received, descriptors, *_ = socket.recv_fds(self._connection_socket, 16, 16)
        except BlockingIOError:
            return
        except OSError:
            received, descriptors = b"", []
        if len(received) > len(descriptors):
            lost = len(received) - len(descriptors)
            _LOGGER.error("%d connections are lost, for this process may open no more files: see `ulimit -n`.", lost)
        loop, kind = asyncio.get_running_loop(), cast("Any", self.config.http_protocol_class)
        protocol = partial(kind, config=self.config, server_state=self.server_state, app_state=self.lifespan.state)
        if not received:
            self.should_exit = True
            loop.remove_reader(self._connection_socket)
        for descriptor in descriptors:
            connection = socket.socket(fileno=descriptor)
            connection.setblocking(False)
            task = loop.create_task(loop.connect_accepted_socket(protocol, connection))
            self._accepting.add(task)
            task.add_done_callback(self._accepting.discard)


def _run_worker(config: ServerConfig, connection_socket: socket.socket, reports: Connection) -> None:
    """Serve in a worker. An error that is expected is reported to the parent, which tells it."""
    share_heaps()
    show_by_default = warnings.showwarning

    def show(message: Any, category: Any, *where: Any, **more: Any) -> None:
        if not issubclass(category, StructuredWarning):
            show_by_default(message, category, *where, **more)
        elif not reports.closed:
            reports.send(message)

    warnings.showwarning = show
    for number in set(END_SIGNALS) - {signal.SIGINT, signal.SIGTERM}:  # which the parent gets as well, and acts on
        signal.signal(number, signal.SIG_IGN)
    with suppress(KeyboardInterrupt):
        try:
            server = _Server(config.uvicorn_config(config.types()), connection_socket, reports)
        except (StructuredError, OSError) as error:
            reports.send(_picklable(error))
            sys.exit(3)
        sys.setswitchinterval(SWITCH_SECONDS)
        server.run()


def _picklable(error: Exception) -> Exception:
    """Return an error as another process can read it."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  what was written a moment ago
    except Exception:  # noqa: BLE001  an error may hold whatever its library put there
        return ModelError(f"{type(error).__name__}: {error}")
    return error
