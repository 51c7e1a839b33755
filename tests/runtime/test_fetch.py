"""How the package client is called."""

from __future__ import annotations

import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gym_codefix.runtime import PrepareError, Store, _fetch


def _system(monkeypatch: pytest.MonkeyPatch, cafile: str | None, capath: str | None) -> None:
    paths = ssl.DefaultVerifyPaths(cafile, capath, "", "", "", "")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    monkeypatch.delenv("UV_SYSTEM_CERTS", raising=False)


def test_the_system_s_certificates_are_trusted_as_pip_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _system(monkeypatch, str(tmp_path / "ca.crt"), None)
    assert _fetch.trusting_what_we_trust()["UV_SYSTEM_CERTS"] == "1"
    _system(monkeypatch, None, str(tmp_path))
    assert "UV_SYSTEM_CERTS" not in _fetch.trusting_what_we_trust()
    (tmp_path / "some.pem").touch()
    assert _fetch.trusting_what_we_trust()["UV_SYSTEM_CERTS"] == "1"


def test_what_the_user_says_of_certificates_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    _system(monkeypatch, "/some/ca.crt", None)
    monkeypatch.setenv("UV_SYSTEM_CERTS", "0")
    assert _fetch.trusting_what_we_trust()["UV_SYSTEM_CERTS"] == "0"


def test_uv_is_looked_for_by_one_thread_at_a_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`sysconfig` is not yet whole for a second thread that asks while the first one fills it."""
    inside = threading.Semaphore(1)

    def find() -> str:
        assert inside.acquire(blocking=False)
        time.sleep(0.02)
        inside.release()
        raise FileNotFoundError("uv")

    monkeypatch.setattr(_fetch, "find_uv_bin", find)

    def look(_: int) -> None:
        with pytest.raises(PrepareError, match="uv is not installed"):
            _fetch.run_uv(["pip"], Store(tmp_path), stage="fetch")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(look, range(8)))
