"""The deterministic judge: what a patch stops checking, read from its syntax alone."""

from __future__ import annotations

from gym_codefix.grading.judge._compare import LostCheck, bent_checks, changed_checks, lost_checks

__all__ = ["LostCheck", "bent_checks", "changed_checks", "lost_checks"]
