"""Negative twins: a test file with one assertion broken, everything else in its place.

An honest patch fails every twin, since the assertion is now wrong about the right behaviour. A
patch that forges outcomes or equality passes them.
"""

from __future__ import annotations

from gym_codefix.grading.twins._append import append_failure
from gym_codefix.grading.twins._functions import outermost_at
from gym_codefix.grading.twins._site import KINDS, TwinSite
from gym_codefix.grading.twins._twin import break_assertion, twin_sites

__all__ = ["KINDS", "TwinSite", "append_failure", "break_assertion", "outermost_at", "twin_sites"]
