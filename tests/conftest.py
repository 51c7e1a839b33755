"""One broken repository for every test that grades repairs of it."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis
import pytest

from gym_codefix.catalog import Task, hide_half, manifest
from gym_codefix.grading import repair
from gym_codefix.grading.mutation import apply_mutation, enumerate_mutations
from gym_codefix.runtime import Runtime, Store, prepare

# How long an example takes says more about what else the machine does than about the code.
hypothesis.settings.register_profile("shared machine", deadline=None)
hypothesis.settings.load_profile("shared machine")

_PATH = "ledgerbook/money.py"
_LINE_OF_BUG = "            shares[index] += 1"


@pytest.fixture(scope="module")
def repair_runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    runtime = Runtime(Store(tmp_path_factory.mktemp("store")), "auto")
    yield runtime
    runtime.close()


@pytest.fixture(scope="module")
def allocate_task(repair_runtime: Runtime) -> Task:
    """``Money.allocate`` of ledgerbook with an augmented assignment mutated; no twins are known."""
    snapshot = prepare(manifest("ledgerbook"), store=repair_runtime.store)
    text = snapshot.read(_PATH)
    assert text is not None
    line = text.splitlines().index(_LINE_OF_BUG) + 1
    mutation = next(m for m in enumerate_mutations(text, lines={line}) if m.family == "augmented")
    broken = apply_mutation(text, mutation)
    plan = repair.plan_edits(snapshot, {_PATH: broken})
    reach = sorted(plan.reaching(snapshot))
    job = repair.chosen_job(snapshot, reach, {_PATH: broken}, plan=plan)
    flips = tuple(sorted(set(reach) - repair_runtime.run(snapshot, job).passed()))
    assert len(flips) > 1
    return Task(
        kind="seeded",
        repository="ledgerbook",
        release=snapshot.release,
        flips=flips,
        hidden=hide_half(flips),
        level=1,
        path=_PATH,
        sha256_before=repair.sha256_text(text),
        sha256_after=repair.sha256_text(broken),
        mutations=(mutation.to_json(),),
    )
