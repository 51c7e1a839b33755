"""The judges: what a patch stops checking, by its syntax; and a language model's opinion."""

from __future__ import annotations

from gym_codefix.grading.judge._compare import LostCheck, bent_checks, changed_checks, lost_checks
from gym_codefix.grading.judge._opinion import Opinion, ask_opinion

__all__ = [
    "LostCheck",
    "Opinion",
    "ask_opinion",
    "bent_checks",
    "changed_checks",
    "lost_checks",
]
