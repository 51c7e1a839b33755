"""Environments: what is in one, and what cannot be built says why."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gym_codefix.catalog import CatalogError, Manifest, manifest, repos_root
from gym_codefix.runtime import PrepareError, Snapshot, Store, prepare
from gym_codefix.runtime._environment import environment_key, prepare_environment

PROBE = """
import importlib.util, json, sys
print(json.dumps({
    "code": importlib.util.find_spec("rowquery") is not None,
    "runner": [importlib.util.find_spec(m) is not None for m in ("pytest", "coverage")],
    "more": importlib.util.find_spec("gymnasium") is not None,
    "prefix": sys.prefix,
}))
"""


def test_an_environment_has_the_runner_and_nothing_of_the_repository(rowquery: Snapshot) -> None:
    python = rowquery.environment / "bin" / "python"
    done = subprocess.run(
        [python, "-I", "-c", PROBE], capture_output=True, text=True, check=True, cwd="/"
    )
    assert json.loads(done.stdout) == {
        "code": False,
        "runner": [True, True],
        "more": False,
        "prefix": str(rowquery.environment),
    }


def test_an_environment_is_compiled_ahead(rowquery: Snapshot) -> None:
    (site,) = rowquery.environment.glob("lib/python3*/site-packages")
    assert list((site / "_pytest" / "__pycache__").glob("python.cpython-*.pyc"))


def test_an_environment_is_built_once(shared_store: Store, rowquery: Snapshot) -> None:
    stamp = rowquery.environment.stat().st_mtime_ns
    place = prepare_environment(rowquery.manifest, shared_store)
    assert place == rowquery.environment
    assert place.stat().st_mtime_ns == stamp


def test_the_key_depends_on_the_locks() -> None:
    one = manifest("rowquery")
    keys = {
        environment_key(one),
        environment_key(manifest("itsdangerous")),
        environment_key(replace(one, interpreter=sys.executable)),
    }
    assert len(keys) == 3
    assert environment_key(manifest("taskgraph")) == environment_key(one)


def test_a_missing_lock_is_named(tmp_path: Path) -> None:
    one = replace(manifest("itsdangerous"), requirements="locks/gone.txt")
    with pytest.raises(CatalogError, match=r"itsdangerous: the lock locks/gone\.txt"):
        prepare(one, store=Store(tmp_path))


@pytest.mark.slow
def test_a_lock_with_another_hash_is_refused(tmp_path: Path) -> None:
    repos = tmp_path / "repos"
    (repos / "locks").mkdir(parents=True)
    one = replace(manifest("itsdangerous"), home=repos)
    (repos / one.requirements).write_text("")
    text = (repos_root() / one.runner).read_text()
    (repos / one.runner).write_text(re.sub(r"sha256:\w{64}", "sha256:" + "0" * 64, text))
    store = Store(tmp_path / "home")
    with pytest.raises(PrepareError, match=r"^environment: uv pip install") as caught:
        prepare(one, store=store)
    assert "hash" in caught.value.log_tail.lower()
    assert "another file than the pinned one" in caught.value.advice
    assert not (store.home / "environments").exists()


def test_a_missing_uv_is_named(
    local: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere() -> str:
        raise FileNotFoundError("looked everywhere")

    monkeypatch.setattr("gym_codefix.runtime._fetch.find_uv_bin", nowhere)
    store = Store(tmp_path / "home")
    with pytest.raises(PrepareError, match="uv is not installed: looked everywhere") as caught:
        prepare(local, store=store)
    assert "try: pip install uv" in str(caught.value)
    assert not list(store.home.glob("environments/*"))


def test_the_fault_is_named_however_many_hashes_follow_it(
    local: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "uv"
    program.write_text(
        "#!/bin/sh\necho 'Hash mismatch for some==1.0' >&2\n"
        "seq 60 | sed 's/^/  sha256:/' >&2\nexit 2\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr("gym_codefix.runtime._fetch.find_uv_bin", lambda: str(program))
    with pytest.raises(PrepareError) as caught:
        prepare(local, store=Store(tmp_path / "home"))
    assert "Hash mismatch for some==1.0" in caught.value.log_tail
    assert "46 lines left out" in caught.value.log_tail
    assert caught.value.log_tail.endswith("sha256:60")
    assert "another file than the pinned one" in caught.value.advice
