"""The plain way to grade a patch: copy the tree, run `python -m pytest` on the whole suite.

This is what the throughput benchmark compares with, in time and in every decision. It shares no
code with the graded path but the facts of the task: no sandbox, no warm process, no choice of
tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from gym_codefix.runtime import Snapshot

TIMEOUT_S = 60  # four times the longest suite: what a mutation keeps in a loop ends here
_PLUGIN = """
import json, os
_outcomes = {}
def pytest_runtest_logreport(report):
    failed = report.failed or hasattr(report, "wasxfail")
    phases = _outcomes.setdefault(report.nodeid, {})
    phases[report.when] = "bad" if failed or phases.get(report.when) == "bad" else report.outcome
def pytest_sessionfinish():
    with open(os.environ["PLAIN_RESULT"], "w") as file:
        json.dump(_outcomes, file)
"""


@dataclass(frozen=True)
class PlainRun:
    """Whether every wanted test passed, and the seconds for copy and run together."""

    passed: frozenset[str]
    seconds: float

    def decides(self, wanted: Collection[str]) -> bool:
        """The plain decision: all wanted tests passed."""
        return self.passed >= set(wanted)


def run_plainly(snapshot: Snapshot, edits: Mapping[str, str]) -> PlainRun:
    """Copy, patch and run the full suite in a fresh process."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        tree, result = Path(name) / "tree", Path(name) / "result.json"
        # Test modules that we rewrote name the path that a sandbox has.
        ours = shutil.ignore_patterns("*-pytest-*.pyc")
        shutil.copytree(snapshot.tree, tree, ignore=ours)
        for path, text in edits.items():
            place = tree / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with open(place, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        (Path(name) / "plain_result.py").write_text(_PLUGIN)
        imports = [os.path.normpath(tree / path) for path in snapshot.layout.import_paths]
        variables = {
            "PATH": f"{snapshot.environment}/bin:/usr/bin:/bin",
            "HOME": name,
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join([*imports, name]),
            "PLAIN_RESULT": str(result),
        }
        command = [f"{snapshot.environment}/bin/python", "-m", "pytest", "-q", "--tb=no"]
        command += ["-p", "plain_result", "-p", "no:cacheprovider", f"--rootdir={tree}"]
        command += [*snapshot.manifest.pytest_args, *snapshot.layout.collected]
        with contextlib.suppress(subprocess.TimeoutExpired):  # what did not finish did not pass
            subprocess.run(
                command,
                cwd=tree,
                env=variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        outcomes = json.loads(result.read_text()) if result.exists() else {}
    passed = frozenset(
        test
        for test, phases in outcomes.items()
        if phases.get("call") == "passed" and set(phases.values()) == {"passed"}
    )
    return PlainRun(passed, time.perf_counter() - started)
