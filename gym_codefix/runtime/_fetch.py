"""Fetching pinned files with the ordinary package client."""

from __future__ import annotations

import errno
import os
import ssl
import subprocess
import threading
import tomllib
import urllib.request
from collections.abc import Sequence

from uv import find_uv_bin

from gym_codefix.catalog import Release

from ._errors import PrepareError
from ._store import Store

_TIMEOUT_S = 120
_HEAD_LINES = 5
_TAIL_LINES = 10
_OFFLINE = "check the network and the index that uv is configured to use, then run prepare again"
_OTHER_FILE = "the index gives another file than the pinned one: trust it only after a new pin"
_FULL_DISK = "free some space, then run prepare again"
# It asks sysconfig, which gives a second thread half of its variables while the first fills them.
_finding = threading.Lock()


def run_uv(
    arguments: Sequence[str],
    store: Store,
    *,
    stage: str,
    stdin: str | None = None,
    timeout_s: int = 10 * _TIMEOUT_S,
    advice: str = _OFFLINE,
) -> str:
    """Run uv with the store's cache; its output (raises PrepareError with the log's tail)."""
    cache = store.path("uv", "x").parent
    try:
        with _finding:
            program = find_uv_bin()
    except FileNotFoundError as error:
        raise PrepareError(
            stage, f"uv is not installed: {error}", advice="pip install uv, as gym_codefix asks for"
        ) from error
    command = [program, "--quiet", "--no-progress", "--cache-dir", str(cache)]
    try:
        done = subprocess.run(
            [*command, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            env=trusting_what_we_trust(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PrepareError(stage, f"uv {arguments[0]}: {error}") from error
    if done.returncode:
        if os.strerror(errno.ENOSPC) in done.stderr:
            advice = _FULL_DISK
        elif "hash mismatch" in done.stderr.lower():
            advice = _OTHER_FILE
        what = f"uv {' '.join(arguments[:2])} failed"
        raise PrepareError(stage, what, log_tail=_trimmed(done.stderr), advice=advice)
    return done.stdout


def trusting_what_we_trust() -> dict[str, str]:
    """Our environment, and the certificates of the system where uv would take its own.

    pip and urllib take the system's: a machine whose index only these can vouch for must not fail
    halfway. A system without any leaves uv its own.
    """
    system = ssl.get_default_verify_paths()
    if system.cafile is None and not (system.capath and any(os.scandir(system.capath))):
        return dict(os.environ)
    return {"UV_SYSTEM_CERTS": "1", **os.environ}


def _trimmed(log: str) -> str:
    """Both ends of a log: uv names the fault first, and lists every hash after it."""
    lines = log.strip().splitlines()
    left_out = len(lines) - _HEAD_LINES - _TAIL_LINES
    if left_out <= 0:
        return "\n".join(lines)
    return "\n".join(
        [*lines[:_HEAD_LINES], f"… {left_out} lines left out …", *lines[-_TAIL_LINES:]]
    )


def _locate(name: str, release: Release, store: Store) -> str:
    """Where the client's index keeps the sdist."""
    answer = run_uv(
        ["pip", "compile", "--no-deps", "--format", "pylock.toml", "--no-header", "-"],
        store,
        stage="fetch",
        stdin=f"{name}=={release.version}\n",
    )
    for package in tomllib.loads(answer)["packages"]:
        sdist = package.get("sdist", {})
        if sdist.get("hashes", {}).get("sha256") == release.sha256:
            return str(sdist["url"])
    raise PrepareError(
        "fetch",
        f"the index has no {release.filename} with sha256 {release.sha256}",
        advice="the pinned file was removed or replaced; pin another release",
    )


def fetch_sdist(name: str, release: Release, store: Store) -> bytes:
    """The pinned sdist, from the store or the index (raises PrepareError, ArtifactMismatch)."""
    place = store.artifact(release.filename, release.sha256)
    if place is None:
        url = _locate(name, release, store)
        try:
            with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:
                data = answer.read()
        except OSError as error:
            raise PrepareError("fetch", f"{release.filename}: {error}", advice=_OFFLINE) from error
        place = store.add_artifact(release.filename, release.sha256, data)
    return place.read_bytes()
