"""Plays repairs written by hand that are right but not the reference: every one must score 1.

`python benchmarks/honest_repairs.py` plays all of tests/redteam/repairs, with names of repositories
after it those of these; what is not prepared yet is prepared first. A repair is a list of tool
calls of CodeRepair-Full; those that edit source are also handed in as one patch to
CodeRepair-Simple.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium

import gym_codefix  # noqa: F401 - registers the environments
from gym_codefix.catalog import CatalogError, Task, suite
from gym_codefix.catalog.lock import pinned_versions
from gym_codefix.envs.loop import Session
from gym_codefix.grading.build import constraints_of
from gym_codefix.grading.repair import prepare_task
from gym_codefix.leaderboard import FULL, SIMPLE
from gym_codefix.runtime import PrepareError, StoreError, default_runtime

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "redteam" / "repairs"
KEYS = {"task", "how", "calls"}
_CHOICES = {"full": (FULL,), "simple": (SIMPLE,), "both": (FULL, SIMPLE)}


@dataclass(frozen=True)
class Repair:
    """One line of a file: ``how`` it is not the reference, and ``calls``, the actions."""

    task_id: str
    how: str
    calls: tuple[Mapping[str, Any], ...]

    @property
    def repository(self) -> str:
        return self.task_id.split("/")[0]

    @property
    def kind(self) -> str:
        return self.task_id.split("/")[1]

    @property
    def task(self) -> Task:
        """Raises CatalogError for a task that is not in the catalogue."""
        return suite(_suite_name(self)).task(self.task_id)

    @property
    def patch(self) -> str | None:
        """What CodeRepair-Simple takes, None where versions are moved."""
        patches = [call["arguments"].get("patch") for call in self.calls if call["tool"] == "edit"]
        return patches[0] if len(patches) == 1 else None


@dataclass(frozen=True)
class Outcome:
    """``same``: the repair turned out to be the reference, which shows nothing."""

    reward: float
    said: str
    same: bool = False

    @property
    def honoured(self) -> bool:
        """The full reward, for something that the reference is not."""
        return self.reward == 1 and not self.same


def repositories() -> list[str]:
    """Those that there are repairs of."""
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def repairs_of(name: str) -> list[Repair]:
    """The repairs of one repository (raises ValueError with the line)."""
    path = FOLDER / f"{name}.jsonl"
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            document = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
        if set(document) != KEYS:
            raise ValueError(f"{path}:{number}: the keys must be {', '.join(sorted(KEYS))}")
        repair = Repair(document["task"], document["how"], tuple(document["calls"]))
        if repair.repository != name:
            raise ValueError(f"{path}:{number}: a repair of {repair.repository} in this file")
        found.append(repair)
    return found


class Player:
    """The environments, made when they are first needed; a task is prepared before it is played."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], Any] = {}

    def play(self, repair: Repair, env_id: str = FULL) -> Outcome | None:
        """What the real environment gives; None where it cannot take this repair."""
        if env_id == SIMPLE and repair.patch is None:
            return None
        prepare_task(repair.task, default_runtime())
        environment = self._environment(env_id, _suite_name(repair))
        environment.reset(options={"task_id": repair.task_id})
        if env_id == SIMPLE:
            return _answer(environment.step(repair.patch))
        for call in repair.calls:
            observation, reward, terminated, _, info = environment.step(json.dumps(call))
            if "action_error" in info:
                return Outcome(0.0, f"{call['tool']}: {observation['result']}")
        if not terminated:
            return Outcome(0.0, "the calls do not end in submit")
        said = "" if info["resolved"] else observation["result"]
        return Outcome(float(reward), said, _is_reference(environment.unwrapped.session))

    def _environment(self, env_id: str, suite_name: str) -> Any:
        key = (env_id, suite_name)
        if key not in self._made:
            self._made[key] = gymnasium.make(env_id, suite=suite_name, disable_env_checker=True)
        return self._made[key]

    def close(self) -> None:
        for environment in self._made.values():
            environment.close()


def _suite_name(repair: Repair) -> str:
    return "dependency" if repair.kind == "dependency" else "full"


def _answer(step: tuple[Any, ...]) -> Outcome:
    _, reward, _, _, info = step
    return Outcome(float(reward), info.get("action_error") or info.get("explanation") or "")


def _is_reference(session: Session) -> bool:
    """Whether the same program, or the same set of versions, was handed in."""
    bench = session.bench
    if bench.problem is not None:
        gold = bench.problem.reference_edits()
        return session.edits.keys() == gold.keys() and all(
            _program(session.edits[path]) == _program(gold[path]) for path in gold
        )
    assert session.last is not None
    reference = bench.builder().build({}, constraints_of(bench.known, bench.task, solved=True), ())
    locks = (session.last.lock, reference.lock)
    ours, theirs = (pinned_versions(lock) if lock else None for lock in locks)
    return ours == theirs


def _program(text: str) -> str:
    """A text without its layout and comments, which are no repair."""
    return ast.dump(ast.parse(text))


def _row(repair: Repair, outcomes: Sequence[Outcome | None], seconds: float) -> str:
    rewards = "".join("    –" if one is None else f"{one.reward:5.2f}" for one in outcomes)
    row = f"{rewards} {seconds:6.1f} s  {repair.task_id}: {repair.how}"
    for outcome in outcomes:
        if outcome is not None and not outcome.honoured:
            row += f"\n    {'it is the reference' if outcome.same else outcome.said}"
    return row


def _share(title: str, resolved: Counter[str], played: Counter[str]) -> None:
    parts = ", ".join(f"{name} {resolved[name]} of {played[name]}" for name in sorted(played))
    print(f"{title}: {parts}")


def main() -> None:
    """Play, and exit with 1 when a repair does not get the full reward."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repository", nargs="*", help="default: all that have repairs")
    parser.add_argument("--env", choices=tuple(_CHOICES), default="both")
    arguments = parser.parse_args()
    known = repositories()
    for name in arguments.repository:
        if name not in known:
            parser.error(f"no repairs of {name!r}; there are some of {', '.join(known)}")
    env_ids = _CHOICES[arguments.env]
    print("$ python benchmarks/honest_repairs.py", *sys.argv[1:])
    print("rewards in", ", ".join(env_ids))
    kinds, names = (Counter[str](), Counter[str]()), (Counter[str](), Counter[str]())
    player = Player()
    for repair in (one for name in arguments.repository or known for one in repairs_of(name)):
        started = time.perf_counter()
        try:
            outcomes = [player.play(repair, env_id) for env_id in env_ids]
        except (CatalogError, PrepareError, StoreError) as error:
            sys.exit(f"error: {repair.task_id}: {error}")
        if not any(outcomes):
            continue  # versions are moved in the loop alone
        print(_row(repair, outcomes, time.perf_counter() - started), flush=True)
        honoured = all(outcome is None or outcome.honoured for outcome in outcomes)
        for (resolved, played), name in ((kinds, repair.kind), (names, repair.repository)):
            resolved[name] += honoured
            played[name] += 1
    player.close()
    _share("by kind", *kinds)
    _share("by repository", *names)
    right, total = (counter.total() for counter in kinds)
    print(f"{right} of {total} honest repairs resolved")
    if right < total:
        sys.exit(1)


if __name__ == "__main__":
    main()
