"""The log that an agent reads is the same on every machine."""

from __future__ import annotations

import pytest

from gym_codefix.catalog import Task
from gym_codefix.grading.repair._log import build_log
from gym_codefix.runtime import Verdict

TEST = "tests/test_a.py::test_x"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("E  <Error '業' at 0x7F7741C832E0>", "E  <Error '業' at 0x…>"),
        ("E  <Error at 0x7f7741c832e0>", "E  <Error at 0x…>"),
        (
            "E  \"File '/tmp/my\\ndirml3h_7xw' is a directory.\"",
            "E  \"File '/tmp/…' is a directory.\"",
        ),
        ("E  open(/tmp/pytest-of-user/a0/x.txt)", "E  open(/tmp/…)"),
        (
            "/run/gcf_worker/tracing.py:115: in f\n    yield\ntests/t.py:3: X",
            "    yield\ntests/t.py:3: X",
        ),
        ("E  0x10 and /tmp stay", "E  0x10 and /tmp stay"),
    ],
)
def test_what_differs_between_runs_is_left_out(said: str, shown: str) -> None:
    task = Task(kind="seeded", repository="r", release="1", flips=(TEST,), hidden=())
    verdict = Verdict(outcomes={TEST: "failed"}, texts={TEST: said})
    assert build_log(task, verdict) == f"FAILED {TEST}\n{shown}"


def test_decorators_of_a_test_are_not_shown() -> None:
    """They list the parameters of hidden tests; those of what the test itself defines stay."""
    said = """\
    @pytest.mark.parametrize(
        "x", [
            1, "SECRET"
        ],
    )
    @pytest.mark.slow
    def test_x(x):
        @decorated
        def inner(): pass
>       assert x == 2
E       assert 1 == 2"""
    verdict = Verdict(outcomes={TEST: "failed"}, texts={TEST: said}, ended=True)
    task = Task("seeded", "r", "1", (TEST,), ())
    shown = build_log(task, verdict)
    assert "SECRET" not in shown and "slow" not in shown
    assert "    def test_x(x):\n        @decorated\n        def inner(): pass\n" in shown
