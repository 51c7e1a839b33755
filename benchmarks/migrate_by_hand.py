"""A dependency breakage that no later release repairs, with line edits of our own as reference.

`python benchmarks/migrate_by_hand.py TASK` shows what a `resolve` task loses when its new version
has to stay; with `--repair FILE` (line edits `path:LINE| new text`) also what the edits bring back.
`--add` then proves the `migrate` task, five reference and five no-op runs, and keeps it.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from gym_codefix.catalog import CatalogError, read_tasks, repos_root, suite, write_tasks
from gym_codefix.mining import Validator, migration_by_hand
from gym_codefix.runtime import PrepareError, default_runtime

_SHOWN = 3


def main() -> None:
    """Exit with 1 when nothing is regained, something breaks, or the task cannot be proven."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("task", help="the id of a resolve task")
    parser.add_argument("--repair", type=Path, help="file of line edits")
    parser.add_argument("--add", action="store_true", help="prove the task and keep it")
    arguments = parser.parse_args()
    runtime = default_runtime()
    repair = arguments.repair.read_text(encoding="utf-8") if arguments.repair else ""
    try:
        found = migration_by_hand(suite("dependency").task(arguments.task), repair, runtime)
    except (CatalogError, PrepareError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(f"{len(found.lost)} lost, {len(found.regained)} regained, {len(found.broken)} broken")
    if not found.verdict.outcomes:
        print(found.verdict.end_text[-3000:])
    for path, text in found.verdict.collect_errors.items():
        print(f"== {path}\n{text[-3000:]}")
    failing = sorted((found.lost - found.regained) | found.broken)
    shown = {found.verdict.texts.get(test, "")[-200:]: test for test in reversed(failing)}
    for test in list(shown.values())[-_SHOWN:]:
        print(f"== {test}\n{found.verdict.texts.get(test, 'no outcome')[-3000:]}")
    print(*failing, sep="\n")
    if not found.regained or found.broken:
        sys.exit(1)
    if arguments.add:
        proof = Validator(runtime).validate(found.task)
        print(f"{proof.task.id}: {proof.reason or 'valid'}")
        if proof.reason is not None:
            sys.exit(1)
        place = repos_root() / "tasks" / f"{proof.task.repository}.jsonl"
        kept = [task for task in read_tasks(place) if task.id != proof.task.id]
        write_tasks(place, [*kept, replace(proof.task, label="migrate")])


if __name__ == "__main__":
    main()
