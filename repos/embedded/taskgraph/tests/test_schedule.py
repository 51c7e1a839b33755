from __future__ import annotations

import pytest

from taskgraph import Assignment, TaskGraph, analyse, critical_path, parse_plan, schedule

HOUSE = """
dig     [1d]
walls   [3d]: dig
roof    [1d]: walls
garden  [2d]: dig
paint   [4h]: roof, walls
"""


@pytest.fixture
def house() -> TaskGraph:
    return parse_plan(HOUSE)


def test_windows(house: TaskGraph) -> None:
    windows = analyse(house)
    assert {name: (window.earliest, window.latest) for name, window in windows.items()} == {
        "dig": (0, 0),
        "walls": (480, 480),
        "roof": (1920, 1920),
        "garden": (480, 1680),
        "paint": (2400, 2400),
    }
    assert windows["garden"].slack == 1200
    assert not windows["garden"].is_critical


def test_critical_path(house: TaskGraph) -> None:
    assert critical_path(house) == ["dig", "walls", "roof", "paint"]


def test_critical_path_is_one_chain() -> None:
    assert critical_path(parse_plan("a [10]\nb [10]\nc [5]: b\nd [5]: a")) == ["a", "d"]
    assert critical_path(TaskGraph()) == []


def test_two_workers(house: TaskGraph) -> None:
    assert schedule(house, workers=2).assignments == (
        Assignment("dig", 0, 0, 480),
        Assignment("walls", 0, 480, 1920),
        Assignment("garden", 1, 480, 1440),
        Assignment("roof", 0, 1920, 2400),
        Assignment("paint", 0, 2400, 2640),
    )


def test_one_worker_does_everything(house: TaskGraph) -> None:
    plan = schedule(house, workers=1)
    assert plan.makespan == sum(task.minutes for task in house)
    assert plan.utilisation == 1.0


def test_priority_wins_over_urgency() -> None:
    graph = parse_plan("long [100]\nshort [10] !1")
    assert [item.task for item in schedule(graph, workers=1).assignments] == ["short", "long"]


def test_urgency_decides_among_equal_priorities() -> None:
    graph = parse_plan("a [10]\nb [10]\nc [60]: b")
    assert [item.task for item in schedule(graph, workers=1).assignments] == ["b", "c", "a"]


def test_utilisation(house: TaskGraph) -> None:
    assert schedule(house, workers=2).utilisation == pytest.approx(3600 / 5280)
    assert schedule(TaskGraph(), workers=2).utilisation == 0.0


def test_of_worker(house: TaskGraph) -> None:
    plan = schedule(house, workers=2)
    assert [item.task for item in plan.of_worker(1)] == ["garden"]
    with pytest.raises(ValueError, match="workers are 0 to 1, not 2"):
        plan.of_worker(2)


def test_no_workers(house: TaskGraph) -> None:
    with pytest.raises(ValueError, match="at least one worker"):
        schedule(house, workers=0)


def test_render() -> None:
    plan = schedule(parse_plan("a [60]\nbc [45]: a\nend: bc"), workers=1)
    assert plan.render().splitlines() == ["a   |##", "bc  |..##", "end |...#"]
