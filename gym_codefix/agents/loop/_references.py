"""The reference rows of the loop."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from typing import Any

from gym_codefix.agents import as_action
from gym_codefix.envs.loop import Workbench
from gym_codefix.grading.build import CONSTRAINTS_FILE, constraints_of

from ._agent import Episode, Observation, call


class LoopNoop:
    """Builds, and submits what it found."""

    name = "noop"
    parameters: Mapping[str, Any] = {}

    def episode(self, observation: Observation, bench: Workbench) -> Episode:
        yield call("validate_and_build")
        yield call("submit")


class LoopGold:
    """Hands in the reference."""

    name = "gold"
    parameters: Mapping[str, Any] = {}

    def episode(self, observation: Observation, bench: Workbench) -> Episode:
        yield call("edit", patch=_reference(bench))
        yield call("validate_and_build")
        yield call("submit")


def _reference(bench: Workbench) -> str:
    if bench.problem is not None:
        return as_action(bench.problem.reference_edits(), bench.problem)
    assert bench.constraints is not None
    return replacement(bench.constraints, constraints_of(bench.known, bench.task, solved=True))


def replacement(before: str, after: str) -> str:
    """An edit that makes one constraint file of another."""
    lines = "".join(f"-{line}\n" for line in before.splitlines())
    lines += "".join(f"+{line}\n" for line in after.splitlines())
    count = f"-1,{len(before.splitlines())} +1,{len(after.splitlines())}"
    return f"--- a/{CONSTRAINTS_FILE}\n+++ b/{CONSTRAINTS_FILE}\n@@ {count} @@\n{lines}"


class LoopRandom:
    """Moves random distributions to random versions, or repeats suspicious lines; then submits."""

    name = "random"

    def __init__(self, seed: int = 0, moves: int = 3) -> None:
        self.parameters: Mapping[str, Any] = {"seed": seed, "moves": moves}
        self._seed, self._moves = seed, moves

    def episode(self, observation: Observation, bench: Workbench) -> Episode:
        digest = hashlib.sha256(f"{self._seed}/{bench.task.id}".encode()).digest()
        rng = random.Random(digest)
        for _ in range(self._moves):
            yield self._move(rng, bench)
        yield call("validate_and_build")
        yield call("submit")

    def _move(self, rng: random.Random, bench: Workbench) -> str:
        if bench.problem is None:
            name = rng.choice(sorted(bench.versions))
            version = rng.choice(bench.versions[name])
            return call("upgrade_dependency", name=name, specifier=f"=={version}")
        path, line, _ = rng.choice(bench.problem.suspects or ((self._any(bench), 1, 0.0),))
        lines = (bench.read(path) or "").splitlines()
        other = rng.choice(lines) if lines else ""
        return call("edit", patch=f"{path}:{line}| {other}")

    def _any(self, bench: Workbench) -> str:
        return bench.snapshot.source_files()[0]
