"""Runs jobs on warm servers: starts them, keeps the recently used ones, replaces dead ones."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
import weakref
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path, PurePosixPath

from . import _isolation
from ._job import Job, Start, Verdict
from ._server import Server, ServerDied
from ._snapshot import Snapshot
from ._store import Store
from .worker.bytecode import bytecode_of

_CONTAINER_MEMORY = Path("/sys/fs/cgroup/memory.max")
_SERVER_BYTES = 64 << 20
_FEWEST_SERVERS, _MOST_SERVERS = 8, 128

_Key = tuple[str, int, bool]
_runtimes: weakref.WeakSet[Runtime] = weakref.WeakSet()


def _servers_that_fit() -> int:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        memory = min(memory, int(_CONTAINER_MEMORY.read_text()))
    except (OSError, ValueError):
        pass  # no container, or one without a limit ("max")
    share = memory // 2 // (os.cpu_count() or 1)
    return max(_FEWEST_SERVERS, min(_MOST_SERVERS, share // _SERVER_BYTES))


class Runtime:
    """Thread-safe; one for a process is enough (``default_runtime``).

    ``isolation``: see ``ISOLATION_CHOICES``; ``max_servers``: how many idle servers are kept (by
    default what fits into half of the memory when one process per core does the same).
    Raises IsolationUnavailable, ValueError.
    """

    def __init__(
        self,
        store: Store | None = None,
        isolation: str = "auto",
        max_servers: int | None = None,
    ) -> None:
        if max_servers is None:
            max_servers = _servers_that_fit()
        if max_servers < 1:
            raise ValueError(f"max_servers must be at least 1, not {max_servers}")
        self.store = store or Store()
        self.isolation = _isolation.choose(isolation)
        self._max_servers = max_servers
        self._start_empty()
        atexit.register(self.close)
        _runtimes.add(self)

    def _start_empty(self) -> None:
        self._lock = threading.Lock()
        self._servers: OrderedDict[_Key, Server] = OrderedDict()
        self._users: dict[_Key, int] = {}
        self._starting: dict[_Key, threading.Lock] = {}

    def _forget_parent(self) -> None:
        """In a forked child: two processes must not talk to one server."""
        for server in self._servers.values():
            server.abandon()
        self._start_empty()

    def run(self, snapshot: Snapshot, job: Job) -> Verdict:
        """Run a job; a server that died is replaced once, then ``failure`` says so.

        Raises ValueError for edits that leave the tree.
        """
        for path in job.edits:
            pure = PurePosixPath(path)
            if pure.is_absolute() or ".." in pure.parts:
                raise ValueError(f"an edit leaves the tree: {path!r}")
        in_copy = self.isolation == _isolation.PROCESS and bool(job.edits)
        if not in_copy and snapshot.baseline.tainted and job.start is Start.TEMPLATE:
            return Verdict(refused="pytest itself imports this repository")
        for last in (False, True):
            try:
                run = self._run_in_copy if in_copy else self._run
                verdict = run(snapshot, job)
            except ServerDied as error:
                verdict = Verdict(failure=str(error))
            if verdict.failure is None or last:
                return verdict
        raise AssertionError("unreachable")

    def _run(self, snapshot: Snapshot, job: Job) -> Verdict:
        if job.start is Start.FRESH:
            return self._run_cold(snapshot, job)
        key = (snapshot.key, job.hash_seed, not snapshot.baseline.tainted)
        server = self._borrow(key, snapshot)
        try:
            return server.run(job)
        except ServerDied:
            self._discard(key, server)
            raise
        finally:
            self._give_back(key, server)

    def _run_cold(self, snapshot: Snapshot, job: Job) -> Verdict:
        server = self._start(snapshot, job.hash_seed, preload=False)
        try:
            return server.run(job)
        finally:
            server.close()

    def _start(self, snapshot: Snapshot, hash_seed: int, *, preload: bool) -> Server:
        spec = snapshot.server_spec()
        return Server(spec, level=self.isolation, hash_seed=hash_seed, preload=preload)

    def _borrow(self, key: _Key, snapshot: Snapshot) -> Server:
        with self._lock:
            starting = self._starting.setdefault(key, threading.Lock())
        with starting:
            with self._lock:
                server = self._servers.get(key)
                if server is not None and server.alive():
                    self._servers.move_to_end(key)
                    self._users[key] = self._users.get(key, 0) + 1
                    return server
                dead = self._servers.pop(key, None)
            if dead is not None:
                dead.close()
            server = self._start(snapshot, key[1], preload=key[2])
            with self._lock:
                self._servers[key] = server
                self._users[key] = 1
                retired = self._take_surplus()
        for old in retired:
            old.close()
        return server

    def _take_surplus(self) -> list[Server]:
        """Idle servers beyond the limit, longest unused first; the lock is held."""
        idle = [key for key in self._servers if not self._users.get(key)]
        surplus = max(0, len(self._servers) - self._max_servers)
        return [self._servers.pop(key) for key in idle[:surplus]]

    def _discard(self, key: _Key, server: Server) -> None:
        """Let nobody borrow a server that failed, even if its process has not ended yet."""
        with self._lock:
            if self._servers.get(key) is server:
                del self._servers[key]

    def _give_back(self, key: _Key, server: Server) -> None:
        with self._lock:
            if self._servers.get(key) is server:
                self._users[key] -= 1
                retired = self._take_surplus()
            else:
                retired = [server]
        for old in retired:
            old.close()

    def _run_in_copy(self, snapshot: Snapshot, job: Job) -> Verdict:
        """Without namespaces an edit needs a tree of its own."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            tree = Path(name) / "tree"
            shutil.copytree(snapshot.tree, tree)
            for path, text in job.edits.items():
                place = tree / path
                place.parent.mkdir(parents=True, exist_ok=True)
                with open(place, "w", encoding="utf-8", newline="") as file:
                    file.write(text)
            for path in bytecode_of(str(tree), job.edits):
                (tree / path).unlink()
            plain = replace(job, edits={}, swap={}, start=Start.FRESH)
            return self._run_cold(replace(snapshot, tree=tree), plain)

    def server_pids(self) -> list[int]:
        """The outermost processes of the servers that are kept."""
        with self._lock:
            return [server.pid for server in self._servers.values()]

    def close(self) -> None:
        """End every server; the runtime may be used again afterwards."""
        with self._lock:
            servers = list(self._servers.values())
            self._servers.clear()
            self._users.clear()
        for server in servers:
            server.close()


def _after_fork() -> None:
    global _default_lock
    _default_lock = threading.Lock()
    for runtime in list(_runtimes):
        runtime._forget_parent()


os.register_at_fork(after_in_child=_after_fork)

_default_lock = threading.Lock()
_defaults: dict[tuple[str, Path], Runtime] = {}


def default_runtime(isolation: str = "auto") -> Runtime:
    """The process-wide runtime of this isolation and of the store that the environment names."""
    store = Store()
    with _default_lock:
        key = (isolation, store.home)
        if key not in _defaults:
            _defaults[key] = Runtime(store, isolation)
        return _defaults[key]
