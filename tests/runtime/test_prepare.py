"""Preparing: killed, twice at once, on a full disk, without a network; and what it measures."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gym_codefix.catalog import CatalogError, Manifest, manifest
from gym_codefix.grading.repair import files_of
from gym_codefix.runtime import (
    ArtifactMismatch,
    Job,
    NotPrepared,
    PrepareError,
    Runtime,
    Snapshot,
    Store,
    StoreError,
    load_snapshot,
    prepare,
)

ROOT = Path(__file__).parents[2]
PREPARE = """
import json, sys
from gym_codefix.catalog import manifest
from gym_codefix.runtime import PrepareError, Store, StoreError, prepare
try:
    snapshot = prepare(manifest(sys.argv[2]), store=Store(sys.argv[1]), level=sys.argv[3])
    print(json.dumps([snapshot.key, snapshot.baseline.passing, snapshot.baseline.collected]))
except (PrepareError, StoreError) as error:
    print(json.dumps({"error": type(error).__name__, "text": str(error)}))
"""


def prepare_elsewhere(
    home: Path, name: str = "taskgraph", level: str = "auto", prefix: Sequence[str] = ()
) -> subprocess.Popen[str]:
    """Prepare in a process of its own."""
    return subprocess.Popen(
        [*prefix, sys.executable, "-c", PREPARE, str(home), name, level],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "UV_HTTP_RETRIES": "0"},
    )


def answer(process: subprocess.Popen[str]) -> Any:
    out, _ = process.communicate(timeout=120)
    return json.loads(out)


def facts(snapshot: Snapshot) -> list[object]:
    baseline = snapshot.baseline
    return [snapshot.key, list(baseline.passing), list(baseline.collected)]


def nothing_half_written(home: Path) -> bool:
    """Whether each environment and tree that is there is whole, and no scratch is left."""
    whole = all(place.glob("lib/*/*/*.dist-info/RECORD") for place in home.glob("environments/*"))
    return whole and not list(home.glob("building/*"))


def test_a_snapshot_says_what_the_tests_do(rowquery: Snapshot) -> None:
    baseline = rowquery.baseline
    assert baseline.passing
    assert set(baseline.passing) <= set(baseline.collected)
    assert set(baseline.seconds) == set(baseline.collected)
    assert not baseline.tainted
    assert rowquery.source_files()
    for path in rowquery.source_files():
        assert path.startswith("src/rowquery/")
        assert rowquery.layout.is_source(path)
    assert set(rowquery.source_files()) & set(baseline.coverage.files())


def test_what_is_prepared_is_loaded(shared_store: Store, rowquery: Snapshot) -> None:
    said: list[str] = []
    again = prepare(rowquery.manifest, store=shared_store, progress=said.append)
    assert facts(again) == facts(rowquery)
    assert load_snapshot(rowquery.manifest, store=shared_store) == again
    assert said == []


def test_what_is_not_prepared_says_the_command(tmp_path: Path) -> None:
    with pytest.raises(NotPrepared, match="run `gym-codefix repos prepare rowquery`"):
        load_snapshot(manifest("rowquery"), store=Store(tmp_path))


def test_text_is_read_with_its_line_ends(
    local: Manifest, shared_store: Store, tmp_path: Path
) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "pkg" / "ends.py").write_bytes(b"A = 1\r\nB = 2\n")
    (checkout / "pkg" / "latin.py").write_bytes(b"# coding: latin-1\nA = '\xe9'\n")
    snapshot = prepare(local, store=shared_store, level="process")
    assert snapshot.read("pkg/ends.py") == "A = 1\r\nB = 2\n"
    assert snapshot.read("pkg/latin.py") is None
    assert snapshot.read("pkg/gone.py") is None
    assert snapshot.read("pkg") is None
    secret = tmp_path / "secret.py"
    secret.write_text("secret")
    (snapshot.tree / "link.py").symlink_to(secret)
    (snapshot.tree / "folder").symlink_to(tmp_path)
    for path in ("link.py", "folder/secret.py", str(secret), "../../../../secret.py", "a\0b"):
        assert snapshot.read(path) is None
    assert snapshot.read("x" * 5_000) is None


def test_failing_tests_are_collected_and_not_kept(local: Manifest, shared_store: Store) -> None:
    snapshot = prepare(local, store=shared_store)
    assert snapshot.baseline.passing == ("tests/test_pkg.py::test_good",)
    assert len(snapshot.baseline.collected) == 2


def test_unstable_tests_are_not_kept(local: Manifest, shared_store: Store, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout" / "tests" / "test_more.py"
    checkout.write_text("def test_more():\n    pass\n")
    unstable = (("0", "tests/test_pkg.py::test_good", "said so"),)
    snapshot = prepare(replace(local, unstable=unstable), store=shared_store)
    assert snapshot.baseline.passing == ("tests/test_more.py::test_more",)


def test_a_changed_checkout_is_another_snapshot(
    local: Manifest, shared_store: Store, tmp_path: Path
) -> None:
    before = prepare(local, store=shared_store, level="process")
    with open(tmp_path / "checkout" / "pkg" / "__init__.py", "a") as file:
        file.write("\n\ndef triple(x):\n    return 3 * x\n")
    with pytest.raises(NotPrepared):
        load_snapshot(local, store=shared_store)
    after = prepare(local, store=shared_store, level="process")
    assert "triple" in (after.read("pkg/__init__.py") or "")
    assert "triple" not in (before.read("pkg/__init__.py") or "")


@pytest.mark.parametrize(
    ("text", "said"),
    [("import nowhere\n", "nowhere"), ("def test_a():\n    assert 0\n", ""), ("", "")],
)
def test_a_baseline_without_a_passing_test_is_an_error(
    local: Manifest, shared_store: Store, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "checkout" / "tests" / "test_pkg.py").write_text(text)
    with pytest.raises(PrepareError, match="no test of local passes") as caught:
        prepare(local, store=shared_store, level="process")
    assert caught.value.stage == "baseline"
    assert said in caught.value.log_tail
    assert "import_paths" in caught.value.advice
    with pytest.raises(NotPrepared):
        load_snapshot(local, store=shared_store)


def test_a_python_that_is_too_old_is_an_error(local: Manifest, tmp_path: Path) -> None:
    with pytest.raises(PrepareError, match=r"local needs Python >=3\.99, this is 3\.") as caught:
        prepare(replace(local, python=">=3.99"), store=Store(tmp_path / "home"))
    assert caught.value.stage == "python"


def test_an_unknown_release_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"no pinned release '0\.0'; known: 2\.0\.0"):
        prepare(manifest("itsdangerous"), release="0.0", store=Store(tmp_path))


def test_a_corrupt_artifact_stops_it(tmp_path: Path) -> None:
    one = manifest("itsdangerous")
    pinned = one.find_release(one.release)
    store = Store(tmp_path)
    place = store.path("artifacts", pinned.sha256, pinned.filename)
    place.write_bytes(b"half of an arch")
    with pytest.raises(ArtifactMismatch, match=r"artifact itsdangerous-.* is corrupt"):
        prepare(one, store=store)
    assert place.read_bytes() == b"half of an arch"
    assert nothing_half_written(store.home)


def test_what_was_deleted_is_made_again(local: Manifest, tmp_path: Path) -> None:
    store = Store(tmp_path / "home")
    snapshot = prepare(local, store=store, level="process")
    for place in (snapshot.tree, snapshot.environment):
        shutil.rmtree(place)
        with pytest.raises(NotPrepared):
            load_snapshot(local, store=store)
        assert facts(prepare(local, store=store, level="process")) == facts(snapshot)
        assert place.is_dir()


def test_two_at_once_give_one_result(tmp_path: Path, taskgraph: Snapshot) -> None:
    both = [prepare_elsewhere(tmp_path) for _ in range(2)]
    assert [answer(process) for process in both] == [facts(taskgraph)] * 2
    assert nothing_half_written(tmp_path)
    assert len(list(tmp_path.glob("environments/*"))) == 1
    assert len(list(tmp_path.glob("snapshots/*"))) == 1


def test_killed_in_the_middle_it_can_be_run_again(tmp_path: Path, taskgraph: Snapshot) -> None:
    chance = random.Random(0)
    for latest in (0.5, 1.0, 2.0, 3.0):
        process = prepare_elsewhere(tmp_path)
        time.sleep(chance.uniform(0.2, latest))
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
    store = Store(tmp_path)
    assert facts(prepare(manifest("taskgraph"), store=store)) == facts(taskgraph)
    with store.building(tmp_path / "sweep"):
        pass
    assert nothing_half_written(tmp_path)


@pytest.fixture(scope="session")
def own_mounts() -> list[str]:
    """A command prefix whose rest runs a shell line in a mount namespace."""
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    try:
        subprocess.run([*command, "mount -t tmpfs tmpfs /mnt"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no mount namespaces here")
    return command


def test_a_full_disk_names_the_file_and_keeps_nothing_half(
    tmp_path: Path, own_mounts: list[str]
) -> None:
    """It is full within the environment, then after it, and then there is space."""
    script = tmp_path.parent / "prepare.py"
    script.write_text(PREPARE)
    run = (
        f'"{sys.executable}" "{script}" "{tmp_path}" taskgraph process && '
        f'find "{tmp_path}/building" -mindepth 1 | wc -l'
    )
    mounts = [
        f'mount -t tmpfs -o size=4m tmpfs "{tmp_path}"',
        f'mount -o remount,size=12m "{tmp_path}"',
        f'mount -o remount,size=100m "{tmp_path}"',
    ]
    done = subprocess.run(
        [*own_mounts, " && ".join(f"{mount} && {run}" for mount in mounts)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    *full, again, left = done.stdout.strip().splitlines()
    assert (full[1], full[3], left) == ("0", "0", "0")
    for line in (full[0], full[2]):
        failed = json.loads(line)
        assert failed["error"] in ("StoreError", "PrepareError")
        assert "No space left on device" in failed["text"]
        assert str(tmp_path) in failed["text"]
    assert json.loads(again)[1], "with space again, it goes on"


def test_no_network_is_an_error_with_advice(tmp_path: Path, no_network: list[str]) -> None:
    found = answer(prepare_elsewhere(tmp_path, "itsdangerous", prefix=no_network))
    assert found["error"] == "PrepareError"
    assert found["text"].startswith("fetch: ")
    assert "try: check the network" in found["text"]
    assert nothing_half_written(tmp_path)


RUN = """
import sys
from gym_codefix.catalog import manifest
from gym_codefix.runtime import Job, Runtime, Start, Store, load_snapshot
store = Store(sys.argv[1])
snapshot = load_snapshot(manifest(sys.argv[2]), store=store)
runtime = Runtime(store)
for start in Start:
    verdict = runtime.run(snapshot, Job(start=start))
    assert verdict.failure is None and verdict.refused is None, verdict
    assert verdict.passed() >= set(snapshot.baseline.passing), start
runtime.close()
print(runtime.isolation)
"""


def run_offline(store: Store, name: str, no_network: list[str]) -> str:
    return subprocess.run(
        [*no_network, sys.executable, "-c", RUN, str(store.home), name],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ).stdout.strip()


def test_after_prepare_jobs_run_without_a_network(
    shared_store: Store, runtime: Runtime, taskgraph: Snapshot, no_network: list[str]
) -> None:
    assert run_offline(shared_store, "taskgraph", no_network) == runtime.isolation


@pytest.mark.slow
@pytest.mark.parametrize("name", ["itsdangerous", "sqlparse"])
def test_a_real_repository(tmp_path: Path, name: str, no_network: list[str]) -> None:
    store = Store(tmp_path)
    one = manifest(name)
    said: list[str] = []
    snapshot = prepare(one, store=store, progress=said.append)
    assert [line.rpartition(": ")[2] for line in said] == [
        "sdist",
        "environment",
        "tree",
        "baseline",
    ]
    assert len(snapshot.baseline.passing) > 100
    run_offline(store, name, no_network)
    assert nothing_half_written(tmp_path)


@pytest.mark.slow
def test_the_source_of_one_release_with_the_tests_of_the_next(tmp_path: Path) -> None:
    store = Store(tmp_path)
    one = manifest("sqlparse")
    older, newer = (release.version for release in one.releases[-2:])
    mixed = prepare(one, release=older, tests_release=newer, store=store)
    assert (mixed.release, mixed.tests_release) == (older, newer)
    assert set(mixed.baseline.passing) < set(mixed.baseline.collected), "some fixes are not in yet"
    one_runtime = Runtime(store)
    verdict = one_runtime.run(mixed, Job())
    one_runtime.close()
    assert verdict.passed() >= set(mixed.baseline.passing)


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path, local: Manifest) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(StoreError, match=r"cannot write .*/home"):
        prepare(local, store=Store(tmp_path / "home"))


def test_tests_that_need_other_files_are_known(local: Manifest, tmp_path: Path) -> None:
    tests = tmp_path / "checkout" / "tests"
    (tests / "test_a.py").write_text("import pkg\npkg.shared = 1\ndef test_a(): pass\n")
    (tests / "test_b.py").write_text(
        "import pkg\nSHARED = getattr(pkg, 'shared', 0)\n"
        "def test_b(): assert SHARED\ndef test_c(): pass\n"
    )
    snapshot = prepare(local, store=Store(tmp_path / "home"))
    needy, fine = "tests/test_b.py::test_b", "tests/test_b.py::test_c"
    assert {needy, fine} <= set(snapshot.baseline.passing)
    assert snapshot.baseline.entangled == {needy}
    assert files_of(snapshot, [fine]) == ("tests/test_b.py",)
    assert files_of(snapshot, [fine, needy]) is None


def test_lines_belong_to_the_test_again_after_a_wider_fixture(
    local: Manifest, tmp_path: Path
) -> None:
    package = tmp_path / "checkout" / "pkg" / "__init__.py"
    package.write_text("def double(x):\n    return x + x\n\ndef halve(x):\n    return x // 2\n")
    (tmp_path / "checkout" / "tests" / "test_fixtures.py").write_text(
        "import pkg\nimport pytest\n"
        "@pytest.fixture(scope='module')\ndef inner(): return 1\n"
        "@pytest.fixture(scope='class')\n"
        "def outer(request):\n    request.getfixturevalue('inner')\n    return pkg.halve(8)\n"
        "class TestIt:\n"
        "    def test_first(self, outer): assert pkg.double(2) == outer\n"
        "    def test_second(self, outer): pass\n"
    )
    coverage = prepare(local, store=Store(tmp_path / "home")).baseline.coverage
    first, second = (f"tests/test_fixtures.py::TestIt::test_{n}" for n in ("first", "second"))
    doubling = coverage.tests_reaching("pkg/__init__.py", 2, 2)
    assert first in doubling and second not in doubling
    assert {first, second} <= coverage.tests_reaching("pkg/__init__.py", 5, 5)
    assert not coverage.ran_at_import("pkg/__init__.py", 2, 2)
    assert not coverage.ran_at_import("pkg/__init__.py", 5, 5)
