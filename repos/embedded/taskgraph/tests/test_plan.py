from __future__ import annotations

from pathlib import Path

import pytest

from taskgraph import PlanError, Task, load_plan, parse_plan
from taskgraph.plan import dump_plan


def test_parse_plan() -> None:
    graph = parse_plan("# plan\nship [15m] !2: build , docs # last\nbuild [1h]\n\ndocs\n")
    assert list(graph) == [
        Task("ship", 15, 2, frozenset({"build", "docs"})),
        Task("build", 60),
        Task("docs"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b", "line 1: not a task"),
        ("\na [1x]", "line 2: unknown unit"),
        ("a:", "nothing after the colon"),
        ("b\na: b,,c", "missing between two commas"),
        ("a\na", "line 2: two tasks are named 'a'"),
    ],
)
def test_parse_plan_refuses(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        parse_plan(text)


def test_dump_is_read_back() -> None:
    text = "build [1h 5m]\nship [0m] !-1: build\n"
    assert dump_plan(parse_plan(text)) == text


def test_load_plan_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "house.plan"
    path.write_text("a: b\nb: a\n", encoding="utf-8")
    with pytest.raises(PlanError, match=r"house\.plan: a -> b -> a"):
        load_plan(path)
