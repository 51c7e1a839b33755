"""Repair actions: the text an agent writes, parsed into whole new texts of files."""

from __future__ import annotations

from gym_codefix.grading.patch._errors import ActionError
from gym_codefix.grading.patch._help import ACTION_FORMATS
from gym_codefix.grading.patch._parse import parse_action
from gym_codefix.grading.patch._write import (
    format_line_edits,
    format_search_replace,
    format_unified_diff,
)

__all__ = [
    "ACTION_FORMATS",
    "ActionError",
    "format_line_edits",
    "format_search_replace",
    "format_unified_diff",
    "parse_action",
]
