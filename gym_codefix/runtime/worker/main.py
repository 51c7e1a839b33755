"""The server: waits for jobs and forks a process tree for each.

*base* has imported pytest and the dependencies; the ``tiers``, forked from it on demand, have let
pytest go on from there. With ``preload`` off, base has imported nothing: a job in it is a fresh
process but for the fork.
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import protocol, unconfined

if TYPE_CHECKING:
    from . import jailer


class Server:
    """Forks for every message; ``office``: who makes the jails (None: there are none)."""

    def __init__(self, office: jailer.Jailer | None) -> None:
        self._office = office

    def serve(
        self, channel: socket.socket, prepare: protocol.Prepare = lambda job: None
    ) -> protocol.Taken | protocol.Promoted | None:
        """Returns in the fork, and None when the driver is gone.

        ``prepare`` is called with every job, ahead of its fork.
        """
        forks = self._forks(channel)
        while True:
            forks.wait()
            try:
                message, descriptors = protocol.receive(channel)
            except (protocol.Closed, OSError):
                return None
            if message["kind"] == "tier":
                if os.fork() == 0:
                    channel.close()
                    forks.abandon()
                    return protocol.Promoted(message["tier"], socket.socket(fileno=descriptors[0]))
                os.close(descriptors[0])
                continue
            job = message["job"]
            result_fd, status_fd = descriptors
            if forks.fork(job, result_fd, status_fd, prepare):
                return protocol.Taken(job, result_fd)

    def _forks(self, channel: socket.socket) -> unconfined.Forks | jailer.Forks:
        if self._office is None:
            return unconfined.Forks(channel)
        from . import jailer

        return jailer.Forks(channel, self._office)


def _preload(modules: list[str]) -> None:
    for name in modules:
        try:
            importlib.import_module(name)
        except BaseException:
            continue


def holds_modules_of(places: Sequence[str]) -> bool:
    """Whether this process imported one of these files, or a file below one of these folders."""
    below = tuple(place + os.sep for place in places)
    files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    return any(file in places or file.startswith(below) for file in files)


def main() -> None:
    """Serve on the socket whose descriptor is argv[1]; does not return."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    spec, _ = protocol.receive(channel)
    sys.argv = ["pytest"]
    sys.path[:] = [path for path in sys.path if path != spec["worker"]]
    sys.path_importer_cache.clear()
    # The server's own standard streams are the driver's: nothing may write there.
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(null, standard)
    os.close(null)
    if not spec["isolated"]:
        from _pytest.assertion import rewrite

        rewrite.PYC_TAIL = ".unused"  # the cached ones name the path that only a sandbox has
    office = None
    if spec["isolated"]:
        from . import jail, jailer

        jail.own_a_home()
        office = jailer.start(channel)  # while this process is small
    if spec["preload"]:
        import pytest  # noqa: F401

        from . import reduce, suite, swap, tiers, tracing  # noqa: F401

        _preload(spec["modules"])
    if spec["isolated"] and spec["preload"]:
        from . import linux

        try:
            linux.unmount(os.path.dirname(os.path.abspath(__file__)))
        except OSError:
            pass  # bubblewrap keeps its mounts: read-only, and no secret
    gc.collect()
    gc.freeze()
    # Pytest may import the repository itself for what it needs.
    protocol.send(channel, {"ready": True, "tainted": holds_modules_of([spec["repo"]])})
    serve = Server(office).serve
    taken = serve(channel)
    if isinstance(taken, protocol.Promoted):
        from . import tiers

        tiers.main(spec, taken, serve)
    if isinstance(taken, protocol.Taken):
        from . import suite

        suite.run(spec, *taken)
    os._exit(0)
