"""One sandboxed server process and the jobs that it forks."""

from __future__ import annotations

import itertools
import os
import select
import socket
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from . import _isolation, _spawn, _wire
from ._job import Job, Start, Verdict
from .worker import protocol

_READY_TIMEOUT_S = 120.0
_STOP_TIMEOUT_S = 5.0
_LAST_WORDS_S = 1.0
_slots = itertools.count(os.getpid() * 64)


class ServerDied(RuntimeError):
    """The server process is gone or did not come up: a fault of ours, never the agent's."""


@dataclass(frozen=True)
class ServerSpec:
    """What a server serves: a tree, its environment and how its tests run."""

    tree: Path
    environment: Path
    source: tuple[str, ...]
    paths: tuple[str, ...]
    import_paths: tuple[str, ...]
    pytest_args: tuple[str, ...]
    modules: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Tier:
    """``channel`` is None where the tier is impossible; ``failure`` says why."""

    channel: socket.socket | None
    ids: tuple[str, ...] = ()
    failure: str | None = None


class Server:
    """Starts the process; ``run`` is safe to call from several threads at once."""

    def __init__(self, spec: ServerSpec, *, level: str, hash_seed: int, preload: bool) -> None:
        self.level, self.tree = level, spec.tree
        self._lock = threading.Lock()
        self._preload = preload
        self._configured_tier: _Tier | None = None
        self._template_asked: socket.socket | None = None
        self._template_tier: _Tier | None = None
        ours, theirs = socket.socketpair()
        with theirs:
            sandbox = _spawn.SandboxSpec(
                tree=spec.tree,
                environment=spec.environment,
                import_paths=spec.import_paths,
                hash_seed=hash_seed,
                outer_id=_isolation.outer_id(next(_slots)),
                code=_spawn.worker_code(level, "main"),
                arguments=(str(theirs.fileno()),),
                descriptors=(theirs.fileno(),),
            )
            self._process = subprocess.Popen(
                _spawn.command(level, sandbox),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._channel = ours
        ours.settimeout(_READY_TIMEOUT_S)
        document = {
            "repo": _spawn.repo_path(level, spec.tree),
            "worker": _spawn.worker_path(level),
            "isolated": level != _isolation.PROCESS,
            "preload": preload,
            "source": list(spec.source),
            "paths": list(spec.paths),
            "pytest_args": list(spec.pytest_args),
            "modules": list(spec.modules),
        }
        try:
            protocol.send(ours, document)
            answer, _ = protocol.receive(ours)
        except (OSError, EOFError) as error:
            raise ServerDied(f"the worker did not start: {self._last_words()}") from error
        self.tainted: bool = answer["tainted"]  # preloading imported the repository itself

    @property
    def pid(self) -> int:
        """The outermost process of the server."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def template_ids(self) -> tuple[str, ...]:
        """The node ids that the template collected (starts it; raises ServerDied)."""
        return self._template().ids

    def run(self, job: Job) -> Verdict:
        """Run one job (raises ServerDied when the server, not the job, is gone)."""
        channel = self._channel
        if job.start is Start.TEMPLATE:
            template = self._template()
            if template.channel is None:
                return Verdict(refused=template.failure)
            channel = template.channel
        elif self._preload and not (job.coverage or job.date or job.cwd):
            channel = self._configured().channel or channel
        result_in, result_out = os.pipe()
        status_in, status_out = os.pipe()
        try:
            try:
                with self._lock:
                    message = {"kind": "job", "job": job.to_json()}
                    protocol.send(channel, message, (result_out, status_out))
            except OSError as error:
                raise ServerDied(f"the worker is gone: {self._last_words()}") from error
            finally:
                os.close(result_out)
                os.close(status_out)
            return _wire.read_verdict(result_in, status_in, job)
        finally:
            os.close(result_in)
            os.close(status_in)

    def _configured(self) -> _Tier:
        with self._lock:
            if self._configured_tier is None:
                asked = self._ask_for(protocol.CONFIGURED, self._channel)
                self._configured_tier = self._answer_of(protocol.CONFIGURED, asked)
                # It collects while the first jobs run, since sooner or later one will want it.
                above = self._configured_tier.channel or self._channel
                self._template_asked = self._ask_for(protocol.TEMPLATE, above)
            return self._configured_tier

    def _template(self) -> _Tier:
        self._configured()
        with self._lock:
            if self._template_asked is not None:
                asked, self._template_asked = self._template_asked, None
                self._template_tier = self._answer_of(protocol.TEMPLATE, asked)
            if self._template_tier is None:
                raise ServerDied("no template tier: it failed before")
            return self._template_tier

    def _ask_for(self, tier: str, above: socket.socket) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.settimeout(_READY_TIMEOUT_S)
        try:
            with theirs:
                protocol.send(above, {"kind": "tier", "tier": tier}, (theirs.fileno(),))
        except OSError as error:
            ours.close()
            raise ServerDied(f"no {tier} tier: {self._last_words()}") from error
        return ours

    def _answer_of(self, tier: str, asked: socket.socket) -> _Tier:
        try:
            answer, _ = protocol.receive(asked)
        except (OSError, EOFError) as error:
            asked.close()
            raise ServerDied(f"no {tier} tier: {self._last_words()}") from error
        if answer["ready"]:
            return _Tier(asked, tuple(answer["ids"]))
        asked.close()
        return _Tier(None, failure=answer["why"])

    def _last_words(self) -> str:
        self._process.kill()
        code = self._process.wait()
        assert self._process.stderr is not None
        words = b""
        if not self._process.stderr.closed:
            # Something that outlives the process may hold the pipe's other end.
            while select.select([self._process.stderr], [], [], _LAST_WORDS_S)[0]:
                part = os.read(self._process.stderr.fileno(), 10_000)
                if not part:
                    break
                words = (words + part)[-10_000:]
        lines = words.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit {code}"

    def _channels(self) -> list[socket.socket]:
        tiers = (self._template_tier, self._configured_tier)
        found = [tier.channel for tier in tiers if tier is not None and tier.channel is not None]
        asked = [self._template_asked] if self._template_asked is not None else []
        return [*found, *asked, self._channel]

    def abandon(self) -> None:
        """Close our ends in a forked child: the process belongs to the parent."""
        for channel in self._channels():
            channel.close()

    def close(self) -> None:
        """End the server and everything in it; may be called twice."""
        for channel in self._channels():
            channel.close()
        try:
            self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
