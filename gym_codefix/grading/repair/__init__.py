"""Repair: problems made from tasks, and patches graded against them."""

from ._excerpt import excerpt
from ._execute import Infrastructure, chosen_job, files_of, limits_for, run_reliably
from ._grade import Grade, grade
from ._hash import sha256_text
from ._localise import Suspect, ochiai
from ._log import collection_log, failure_log, useful_log
from ._moved import (
    broken_lock,
    good_lock,
    prepare_manifest,
    reachable_wheels,
    task_manifest,
    wheels_text,
)
from ._plan import Plan, plan_edits
from ._problem import Problem, load_problem, prepare_task, seeded_edits, task_snapshot
from ._reward import REWARD_VERSION, REWARDS, SHAPED_WEIGHTS, reward_of
from ._twinning import Twins, break_at, candidate_sites, test_function
from ._visible import VisibleRun, visible_run

__all__ = [
    "REWARDS",
    "REWARD_VERSION",
    "SHAPED_WEIGHTS",
    "Grade",
    "Infrastructure",
    "Plan",
    "Problem",
    "Suspect",
    "Twins",
    "VisibleRun",
    "break_at",
    "broken_lock",
    "candidate_sites",
    "chosen_job",
    "collection_log",
    "excerpt",
    "failure_log",
    "files_of",
    "good_lock",
    "grade",
    "limits_for",
    "load_problem",
    "ochiai",
    "plan_edits",
    "prepare_manifest",
    "prepare_task",
    "reachable_wheels",
    "reward_of",
    "run_reliably",
    "seeded_edits",
    "sha256_text",
    "task_manifest",
    "task_snapshot",
    "test_function",
    "useful_log",
    "visible_run",
    "wheels_text",
]
