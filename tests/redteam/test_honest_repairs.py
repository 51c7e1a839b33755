"""Repairs that are right and are not the reference must get the full reward.

They are written by hand, in ``repairs/NAME.jsonl``, as line edits and moves of versions only: no
line of another project is quoted. Embedded repositories are played in the fast tests, two real ones
in the slow ones, and all of them by ``benchmarks/honest_repairs.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from benchmarks.honest_repairs import Player, Repair, repairs_of, repositories
from gym_codefix.catalog import manifest

REPAIRS = [repair for name in repositories() for repair in repairs_of(name)]
REAL = [repair for repair in REPAIRS if not manifest(repair.repository).embedded]
PLAYED = [repair for repair in REAL if repair.repository in ("flask-wtf", "sqlparse")]
EMBEDDED = [repair for repair in REPAIRS if repair not in REAL]


def name_of(repair: Repair) -> str:
    return repair.task_id


@pytest.fixture(scope="module")
def player() -> Iterator[Player]:
    one = Player()
    yield one
    one.close()


def check(player: Player, repair: Repair) -> None:
    outcome = player.play(repair)
    assert outcome is not None and outcome.reward == 1, outcome
    assert not outcome.same, "this is the reference"


@pytest.mark.parametrize("repair", EMBEDDED, ids=name_of)
def test_an_honest_repair_is_resolved(player: Player, repair: Repair) -> None:
    check(player, repair)


@pytest.mark.slow
@pytest.mark.parametrize("repair", PLAYED, ids=name_of)
def test_an_honest_repair_of_a_real_repository_is_resolved(player: Player, repair: Repair) -> None:
    check(player, repair)


def test_there_are_enough_of_every_sort() -> None:
    assert len(REPAIRS) >= 30 and len(REAL) >= 20 and len(PLAYED) >= 10 and EMBEDDED
    assert len({repair.repository for repair in REAL}) >= 8
    moved = [repair.task.dependency for repair in REPAIRS if repair.kind == "dependency"]
    assert len(moved) >= 4
    assert {facts.goal for facts in moved if facts is not None} == {"resolve", "migrate"}
    assert len({json.dumps([repair.task_id, *repair.calls]) for repair in REPAIRS}) == len(REPAIRS)


@pytest.mark.parametrize("repair", REPAIRS, ids=name_of)
def test_a_repair_is_well_formed(repair: Repair) -> None:
    assert repair.task.id == repair.task_id
    assert repair.how and "\n" not in repair.how
    tools = [str(call["tool"]) for call in repair.calls]
    assert tools[-2:] == ["validate_and_build", "submit"]
    facts = repair.task.dependency
    moves = facts is not None and facts.goal == "resolve"
    assert set(tools[:-2]) == {"upgrade_dependency" if moves else "edit"}


@pytest.mark.parametrize("repair", [one for one in REPAIRS if one.patch], ids=name_of)
def test_an_edit_quotes_no_line_of_the_repository(repair: Repair) -> None:
    """Line edits only: SEARCH blocks and diffs would hold lines that others wrote."""
    for line in (repair.patch or "").splitlines():
        path, bar, _ = line.partition("|")
        assert bar and (not path or path.rstrip("0123456789+-").endswith(".py:")), line
