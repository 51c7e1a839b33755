"""From verdicts to rewards: mutation, coverage, judges, twins and the reward formulas."""

from __future__ import annotations

from gym_codefix.grading.judge import LostCheck, lost_checks
from gym_codefix.grading.mutation import (
    OPERATORS,
    Mutation,
    MutationNotFound,
    apply_mutation,
    apply_mutations,
    enumerate_mutations,
)
from gym_codefix.grading.patch import (
    ACTION_FORMATS,
    ActionError,
    format_line_edits,
    format_search_replace,
    format_unified_diff,
    parse_action,
)
from gym_codefix.grading.policy import Refusal, refuse
from gym_codefix.grading.repair import (
    REWARD_VERSION,
    REWARDS,
    SHAPED_WEIGHTS,
    Grade,
    Infrastructure,
    Problem,
    Suspect,
    VisibleRun,
    excerpt,
    grade,
    load_problem,
    prepare_task,
    visible_run,
)
from gym_codefix.grading.twins import TwinSite, append_failure, break_assertion, twin_sites

__all__ = [
    "ACTION_FORMATS",
    "OPERATORS",
    "REWARDS",
    "REWARD_VERSION",
    "SHAPED_WEIGHTS",
    "ActionError",
    "Grade",
    "Infrastructure",
    "LostCheck",
    "Mutation",
    "MutationNotFound",
    "Problem",
    "Refusal",
    "Suspect",
    "TwinSite",
    "VisibleRun",
    "append_failure",
    "apply_mutation",
    "apply_mutations",
    "break_assertion",
    "enumerate_mutations",
    "excerpt",
    "format_line_edits",
    "format_search_replace",
    "format_unified_diff",
    "grade",
    "load_problem",
    "lost_checks",
    "parse_action",
    "prepare_task",
    "refuse",
    "twin_sites",
    "visible_run",
]
