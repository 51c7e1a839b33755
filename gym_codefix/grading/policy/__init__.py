"""The policy: what a patch may not newly reach for, read from its syntax alone.

A static reading never proves a patch honest; it takes the cheap attacks off the table, so that
what is left has to get past the negative twins and the fresh-process confirmation as well.
"""

from __future__ import annotations

from gym_codefix.grading.policy._refuse import Refusal, refuse

__all__ = ["Refusal", "refuse"]
