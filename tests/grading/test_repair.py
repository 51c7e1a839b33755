"""Grading of repairs on an embedded repository, run for real."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gym_codefix.catalog import CatalogError, Task
from gym_codefix.grading import repair
from gym_codefix.grading.mutation import apply_mutation, enumerate_mutations
from gym_codefix.grading.repair import Problem, grade, load_problem, visible_run
from gym_codefix.grading.repair._excerpt import Span
from gym_codefix.grading.repair._grade import _Grading
from gym_codefix.runtime import Job, Runtime, Verdict

PATH = "ledgerbook/money.py"
BUG = "            shares[index] += 1\n"


@pytest.fixture(scope="module")
def runtime(repair_runtime: Runtime) -> Runtime:
    return repair_runtime


@pytest.fixture(scope="module")
def task(allocate_task: Task) -> Task:
    return allocate_task


@pytest.fixture(scope="module")
def problem(task: Task, runtime: Runtime) -> Problem:
    return load_problem(task, runtime)


def right(problem: Problem) -> str:
    text = problem.snapshot.read(PATH)
    assert text is not None
    return text


def test_a_problem_shows_the_failure_and_hides_the_hidden(problem: Problem) -> None:
    shown = problem.log + repair.excerpt(problem, 6_000)
    assert problem.task.hidden and not any(test in shown for test in problem.task.hidden)
    assert any(test in problem.log for test in problem.task.visible)
    changed = 1 + next(
        number
        for number, (a, b) in enumerate(
            zip(right(problem).splitlines(), problem.broken[PATH].splitlines(), strict=True)
        )
        if a != b
    )
    blocks = repair.excerpt(problem, 6_000).split("\n\n")
    assert any(b.startswith(f"{PATH}:\n") and f"\n{changed}| " in b for b in blocks)
    assert (PATH, changed) in {(s.path, s.line) for s in problem.suspects}


@pytest.mark.parametrize("budget", [200, 1_000])
def test_excerpts_keep_to_their_budget(problem: Problem, budget: int) -> None:
    assert 0 < len(repair.excerpt(problem, budget)) <= budget


def test_what_is_too_long_makes_room_for_what_fits(problem: Problem) -> None:
    length = len((problem.read(PATH) or "").splitlines())
    spans = (Span(PATH, 1, length), Span(PATH, 1, 2), Span(PATH, 3, 4))
    shown = repair.excerpt(replace(problem, spans=spans), 300)
    assert [block.splitlines()[0] for block in shown.split("\n\n")] == [f"{PATH}:"] * 2
    assert {line.partition("|")[0] for line in shown.splitlines()} >= {"1", "2", "3", "4"}
    assert repair.excerpt(replace(problem, spans=spans[:1]), 300).endswith("…")


def test_of_two_equals_the_smaller_function_comes_first(problem: Problem) -> None:
    spans = {span: number for number, span in enumerate(problem.spans)}
    ranks: dict[float, list[int]] = {}
    for path, line, score in problem.suspects:
        around = [s for s in spans if s.path == path and s.first <= line <= s.last]
        ranks.setdefault(score, []).append(min(s.last - s.first for s in around))
    assert any(len(set(lengths)) > 1 for lengths in ranks.values())
    for lengths in ranks.values():
        assert lengths == sorted(lengths)


def test_observations_are_kept_apart_when_other_tests_are_hidden(
    problem: Problem, runtime: Runtime
) -> None:
    """A task's id does not say what is hidden: no older log may show it."""
    task = problem.task
    other = replace(task, hidden=task.visible)
    assert other.id == task.id
    again = load_problem(other, runtime)
    assert not any(test in again.log for test in task.visible)


def test_a_file_that_differs_from_the_facts_is_named(task: Task, runtime: Runtime) -> None:
    for field in ("sha256_before", "sha256_after"):
        with pytest.raises(CatalogError, match=r"ledgerbook/seeded/.*money\.py"):
            load_problem(replace(task, **{field: "0" * 64}), runtime)


@pytest.mark.parametrize("reward", ["binary", "shaped"])
def test_the_reference_resolves(problem: Problem, runtime: Runtime, reward: str) -> None:
    graded = grade(problem, problem.reference_edits(), runtime, reward=reward)
    assert graded.resolved and graded.reward == 1.0, graded.explanation
    assert set(graded.parts.values()) == {1.0}


def test_a_repair_by_other_means_resolves(problem: Problem, runtime: Runtime) -> None:
    """Not body only: a new constant, used where the bug was."""
    text = right(problem).replace(BUG, "            shares[index] += _ONE\n")
    graded = grade(problem, {PATH: text + "\n\n_ONE = 1\n"}, runtime)
    assert graded.resolved, graded.explanation


@pytest.mark.parametrize("edits", [{}, "same"])
def test_no_change_is_worth_nothing(
    problem: Problem, runtime: Runtime, edits: dict[str, str] | str
) -> None:
    chosen = dict(problem.broken) if isinstance(edits, str) else edits
    graded = grade(problem, chosen, runtime, reward="shaped")
    assert not graded.resolved and graded.explanation == "nothing was changed"
    assert graded.reward == pytest.approx(0.1)


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n",
        "return 1\n",
        "def f(x, x): pass\n",
        "\0",
        "x = '\ud800'\n",
        "x = " + "-" * 20_000 + "1\n",
        "def f():\n    nonlocal x\n",
        "# coding: no-such-codec\n",
        "",
    ],
)
def test_no_text_makes_the_grader_raise(problem: Problem, runtime: Runtime, text: str) -> None:
    graded = grade(problem, {PATH: text}, runtime, reward="shaped")
    assert graded.reward_valid and not graded.resolved and graded.reward <= 0.2


def test_a_repair_that_breaks_another_test_is_not_one(problem: Problem, runtime: Runtime) -> None:
    """The break is far from the bug: in another function of the file."""
    for mutation in enumerate_mutations(right(problem)):
        text = apply_mutation(right(problem), mutation)
        over = problem.over_pristine({PATH: text})
        plan = repair.plan_edits(problem.snapshot, over)
        near = sorted(plan.reaching(problem.snapshot) & problem.kept)
        job = repair.chosen_job(problem.snapshot, near, over, plan=plan)
        if near and not plan.everywhere and set(near) - runtime.run(problem.snapshot, job).passed():
            break
    flips = problem.task.flips
    alone = repair.chosen_job(problem.snapshot, flips, over, plan=plan)
    graded = grade(problem, {PATH: text}, runtime, reward="shaped")
    assert not graded.resolved and graded.reward < 1
    if runtime.run(problem.snapshot, alone).passed() >= set(flips):
        assert "passed before" in graded.explanation


def test_a_dropped_check_is_paid_by_no_formula(problem: Problem, runtime: Runtime) -> None:
    check = (
        "        if any(weight < 0 for weight in weights):\n"
        '            raise MoneyError("weights may not be negative")\n'
    )
    assert check in right(problem)
    text = right(problem).replace(check, "")
    graded = grade(problem, {PATH: text}, runtime, reward="shaped", confirm=False)
    assert not graded.resolved
    if graded.tests_pass:
        assert graded.lost and graded.reward == 0


def test_grades_repeat(problem: Problem, runtime: Runtime) -> None:
    wrong = {PATH: right(problem).replace(BUG, "            shares[index] += 2\n")}
    first, second = (grade(problem, wrong, runtime) for _ in range(2))
    assert replace(first, timing={}) == replace(second, timing={})


def test_unknown_rewards_name_the_known(problem: Problem, runtime: Runtime) -> None:
    with pytest.raises(ValueError, match="binary, shaped"):
        grade(problem, {}, runtime, reward="dense")


class Failing(Runtime):
    """A runtime whose every job fails for reasons of ours, or only those with edits."""

    def __init__(self, inner: Runtime, *, only_edits: bool) -> None:
        self.inner, self.only_edits, self.store = inner, only_edits, inner.store
        self.isolation = inner.isolation

    def run(self, snapshot: object, job: Job) -> Verdict:
        if job.edits or not self.only_edits:
            return Verdict(failure="the worker was killed")
        return self.inner.run(snapshot, job)  # type: ignore[arg-type]


def test_our_failures_are_invalid_and_the_agents_are_not(
    problem: Problem, runtime: Runtime
) -> None:
    wrong = {PATH: right(problem).replace(BUG, "            shares[index] += 2\n")}
    ours = grade(problem, wrong, Failing(runtime, only_edits=False))
    assert not ours.reward_valid and ours.failure_reason == "the worker was killed"
    theirs = grade(problem, wrong, Failing(runtime, only_edits=True))
    assert theirs.reward_valid and theirs.reward == 0


def test_a_visible_run_counts_the_visible_targets(problem: Problem, runtime: Runtime) -> None:
    before = visible_run(problem, {}, runtime)
    assert before.passed == 0 and before.total == len(problem.task.visible)
    after = visible_run(problem, problem.reference_edits(), runtime)
    assert after.green and after.passed == after.total


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        (PATH, True),
        ("ledgerbook/extra.py", True),
        ("ledgerbook/conftest.py", False),
        ("tests/test_money.py", False),
        ("json.py", False),
        ("ledgerbook/deeper/extra.py", False),
        ("ledgerbook/data.txt", False),
    ],
)
def test_what_may_be_edited(problem: Problem, path: str, allowed: bool) -> None:
    assert (problem.editable(path) is None) is allowed


class _Scripted(_Grading):
    """A grading whose runs are written down: what each one finds broken."""

    def __init__(self, failed: set[str], runs: list[set[str]]) -> None:
        self._failed, self._runs = failed, runs
        self.asked: list[frozenset[str]] = []

    def _broken_of(
        self, attempt: object, tests: frozenset[str], near: frozenset[str] = frozenset()
    ) -> frozenset[str]:
        self.asked.append(tests)
        return tests & self._runs.pop(0)


def test_a_test_that_breaks_out_of_its_order_is_run_in_it() -> None:
    """What runs ahead of its turn may leave behind what breaks others (as in humanize)."""
    reached = frozenset({"a.py::x", "a.py::y", "b.py::z"})
    # Its own file says that it fails: that is enough.
    grading = _Scripted({"a.py::y"}, [{"a.py::y"}])
    assert grading._in_their_order(None, reached - {"a.py::x"}, reached) == {"a.py::y"}
    assert grading.asked == [{"a.py::x", "a.py::y"}]
    # Its own file says that it passes: the whole suite decides.
    grading = _Scripted({"a.py::y"}, [set(), set()])
    assert not grading._in_their_order(None, frozenset({"a.py::y"}), reached)
    assert grading.asked == [{"a.py::x", "a.py::y"}, reached]
    grading = _Scripted({"a.py::y"}, [set(), {"b.py::z"}])
    assert grading._in_their_order(None, frozenset({"a.py::y"}), reached) == {"b.py::z"}
