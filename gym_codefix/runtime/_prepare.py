"""From pinned facts to a snapshot that jobs can run on; every step is resumable."""

from __future__ import annotations

import contextlib
import functools
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from gym_codefix.catalog import Layout, Manifest

from . import _isolation, _store
from ._environment import environment_key, prepare_environment
from ._errors import NotPrepared, PrepareError
from ._job import Job, Limits, Start, Verdict, file_of
from ._server import Server, ServerDied, ServerSpec
from ._snapshot import Baseline, Snapshot, snapshot_key, snapshot_layout
from ._store import Store
from ._tree import CONFIGURATION, build_tree, files_below, release_tree
from .worker import bytecode, launch

Progress = Callable[[str], None]
_CONTEXT_KEYS = ("contexts", "sets", "files", "fixtures", "spawning", "importing")
_NO_CONTEXTS: Mapping[str, Any] = {
    **dict.fromkeys(_CONTEXT_KEYS, ()),
    "files": {},
    "fixtures": {},
}
_ASSERTION_HOOK = b"enable_assertion_pass_hook"
_TRACED_FLOOR_S, _TRACED_FACTOR, _TRACED_MOST_S, _TRACED_WALL_S = 30, 15, 300, 400
_BASELINE_LIMITS = Limits(cpu_s=120, wall_s=240, memory_bytes=6 << 30, result_bytes=256 << 20)


def _quiet(_: str) -> None:
    return None


def _check_python(manifest: Manifest) -> None:
    version = ".".join(map(str, sys.version_info[:3]))
    if manifest.interpreter is None and version not in SpecifierSet(manifest.python):
        raise PrepareError(
            "python",
            f"{manifest.name} needs Python {manifest.python}, this is {version}",
            advice="make the virtual environment with another interpreter",
        )


def prepare(
    manifest: Manifest,
    *,
    store: Store,
    release: str | None = None,
    tests_release: str | None = None,
    level: str = "auto",
    progress: Progress = _quiet,
    red: bool = False,
) -> Snapshot:
    """Fetch, unpack, install and measure what is not there yet.

    ``red``: no test need pass, as when the repository cannot even be imported. Safe to kill and
    run again, and for two processes at once. Raises PrepareError, StoreError.
    """
    _check_python(manifest)
    release = release or manifest.release
    manifest = manifest.locked_for(release)
    key = snapshot_key(manifest, release, tests_release)
    name = f"{manifest.name} {release}"
    if tests_release is not None:
        name += f" with tests of {tests_release}"
    tree = store.home / "snapshots" / key / "tree"
    with store.locked(key):
        with contextlib.suppress(NotPrepared):
            return load_snapshot(
                manifest, store=store, release=release, tests_release=tests_release
            )
        if manifest.root is None:
            progress(f"{name}: sdist")
            for version in {release, tests_release or release}:
                release_tree(manifest, version, store)
        progress(f"{name}: environment")
        environment = prepare_environment(manifest, store)
        if not tree.exists():
            progress(f"{name}: tree")
            with store.building(tree) as place:
                build_tree(manifest, release, tests_release, store, place)
                layout = snapshot_layout(manifest, release, tests_release)
                _compile_tree(environment, place, layout)
        progress(f"{name}: baseline")
        snapshot = _unmeasured(manifest, release, tests_release, key, tree, environment)
        _measure(snapshot, _isolation.choose(level), red=red)
    return load_snapshot(manifest, store=store, release=release, tests_release=tests_release)


def load_snapshot(
    manifest: Manifest,
    *,
    store: Store,
    release: str | None = None,
    tests_release: str | None = None,
) -> Snapshot:
    """A snapshot that was prepared before (raises NotPrepared)."""
    release = release or manifest.release
    manifest = manifest.locked_for(release)
    key = snapshot_key(manifest, release, tests_release)
    folder = store.home / "snapshots" / key
    environment = store.home / "environments" / environment_key(manifest)
    parts = (folder / "baseline.json", folder / "tree", environment)
    if not all(part.exists() for part in parts):
        raise NotPrepared(
            f"{manifest.name} {release} is not prepared in {store.home}; "
            f"run `gym-codefix repos prepare {manifest.name}`"
        )
    return _loaded(manifest, release, tests_release, key, environment, folder)


@functools.lru_cache(maxsize=512)
def _loaded(
    manifest: Manifest,
    release: str,
    tests_release: str | None,
    key: str,
    environment: Path,
    folder: Path,
) -> Snapshot:
    document = _store.read_json(folder / "baseline.json")
    assert document is not None
    snapshot = _unmeasured(manifest, release, tests_release, key, folder / "tree", environment)
    baseline = Baseline(
        passing=tuple(document["passing"]),
        collected=tuple(document["collected"]),
        seconds=document["seconds"],
        suite_seconds=document["suite_seconds"],
        modules=tuple(document["modules"]),
        entangled=frozenset(document["entangled"]),
        tainted=document["tainted"],
        coverage_file=folder / "coverage.json",
    )
    return replace(snapshot, baseline=baseline)


def _unmeasured(
    manifest: Manifest,
    release: str,
    tests_release: str | None,
    key: str,
    tree: Path,
    environment: Path,
) -> Snapshot:
    return Snapshot(
        manifest=manifest,
        release=release,
        tests_release=tests_release,
        key=key,
        tree=tree,
        environment=environment,
        layout=snapshot_layout(manifest, release, tests_release),
        baseline=Baseline((), (), {}, 0.0, (), frozenset(), False, tree.parent / "coverage.json"),
    )


def _compile_tree(environment: Path, tree: Path, layout: Layout) -> None:
    """Byte-compile what a read-only tree could not cache later."""
    python = environment / "bin" / "python"
    command: list[Any] = [python, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash"]
    places = [path for path in (*layout.source, *layout.tests) if (tree / path).exists()]
    subprocess.run([*command, *places], cwd=tree, capture_output=True, check=False)
    configuration = [tree / name for name in CONFIGURATION if (tree / name).is_file()]
    if any(_ASSERTION_HOOK in place.read_bytes() for place in configuration):
        return  # the rewriting would hang on that setting
    tests = [path for path in files_below(tree) if path.endswith(".py") and layout.is_test(path)]
    subprocess.run(
        [python, "-I", bytecode.__file__, tree, launch.REPO],
        input="\n".join(tests),
        text=True,
        capture_output=True,
        check=False,
    )


def _run_once(
    spec: ServerSpec, level: str, job: Job, *, preload: bool = False
) -> tuple[Verdict, bool]:
    try:
        server = Server(spec, level=level, hash_seed=job.hash_seed, preload=preload)
    except ServerDied as error:
        raise PrepareError("baseline", str(error)) from error
    try:
        verdict = server.run(job)
    finally:
        server.close()
    if verdict.failure is not None:
        raise PrepareError("baseline", f"the sandbox failed: {verdict.failure}")
    return verdict, server.tainted


def _measure(snapshot: Snapshot, level: str, *, red: bool) -> None:
    spec = snapshot.server_spec()
    fresh = Job(start=Start.FRESH, hash_seed=1, limits=_BASELINE_LIMITS, log_chars=1_000)
    plain, _ = _run_once(spec, level, fresh)
    if plain.killed is not None and plain.passed():
        raise PrepareError(
            "baseline",
            f"the suite of {snapshot.manifest.name} was stopped at its {plain.killed} limit",
            advice="name a part of the suite as subset in the manifest",
        )
    if red and not plain.passed():
        _write_baseline(snapshot, plain, _NO_CONTEXTS, passing=[], entangled=[], modules=[])
        return
    if plain.collected is None or not plain.passed():
        errors = "\n".join(plain.collect_errors.values()) or plain.end_text
        raise PrepareError(
            "baseline",
            f"no test of {snapshot.manifest.name} passes"
            + (f" (stopped at the {plain.killed} limit)" if plain.killed else ""),
            log_tail=errors[-2_000:],
            advice="look at import_paths, tests and pytest_args in the manifest, and at the lock",
        )
    limits = replace(
        _BASELINE_LIMITS,
        cpu_s=int(min(_TRACED_MOST_S, _TRACED_FLOOR_S + _TRACED_FACTOR * plain.cpu_s)),
        wall_s=_TRACED_WALL_S,
    )
    traced = replace(fresh, start=Start.BASE, hash_seed=0, coverage="contexts", limits=limits)
    measured, tainted = _run_once(spec, level, traced, preload=True)
    if tainted:
        measured, _ = _run_once(spec, level, traced)
    if measured.contexts is None:
        why = measured.killed or measured.end_text[-500:]
        raise PrepareError("baseline", f"the coverage run did not end ({why})")
    unstable = snapshot.manifest.unstable_tests(snapshot.release)
    steady = plain.passed() & measured.passed() - unstable
    passing = [test for test in plain.collected if test in steady]
    modules = [] if tainted else _safe_modules(measured.contexts["modules"])
    entangled = _entangled(replace(spec, modules=tuple(modules)), level, passing, tainted)
    _write_baseline(
        snapshot,
        plain,
        measured.contexts,
        passing=passing,
        entangled=entangled,
        modules=modules,
        tainted=tainted,
    )


def _write_baseline(
    snapshot: Snapshot,
    plain: Verdict,
    contexts: Mapping[str, Any],
    *,
    passing: list[str],
    entangled: list[str],
    modules: list[str],
    tainted: bool = False,
) -> None:
    folder = snapshot.tree.parent
    _store.write_json(folder / "coverage.json", {key: contexts[key] for key in _CONTEXT_KEYS})
    _store.write_json(
        folder / "baseline.json",
        {
            "environment": snapshot.environment.name,
            "passing": passing,
            "entangled": entangled,
            "collected": list(plain.collected or ()),
            "seconds": {test: plain.seconds.get(test, 0.0) for test in plain.collected or ()},
            "suite_seconds": plain.wall_s,
            "modules": modules,
            "tainted": tainted,
        },
    )


def _entangled(spec: ServerSpec, level: str, passing: Sequence[str], tainted: bool) -> list[str]:
    """The tests that pass only when other files than their own are collected too."""
    by_file: dict[str, list[str]] = {}
    for test in passing:
        by_file.setdefault(file_of(test), []).append(test)
    if len(by_file) < 2:
        return []
    found: list[str] = []
    server = Server(spec, level=level, hash_seed=0, preload=not tainted)
    try:
        for file, tests in by_file.items():
            job = Job(paths=(file,), tests=tuple(tests), limits=_BASELINE_LIMITS, log_chars=0)
            passed = server.run(job).passed()
            found += [test for test in tests if test not in passed]
    except ServerDied as error:
        raise PrepareError("baseline", str(error)) from error
    finally:
        server.close()
    return found


def _safe_modules(names: Sequence[str]) -> list[str]:
    return [name for name in names if name.isascii() and name.replace(".", "").isidentifier()]
