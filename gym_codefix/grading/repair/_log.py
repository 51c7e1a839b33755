"""The failing build log that an agent reads: short, and only of tests that it may see."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gym_codefix.catalog import Task
from gym_codefix.runtime import Verdict

_TESTS_SHOWN = 5
_TESTS_NAMED = 50
_LINES_SHOWN = 40
_LIBRARY = re.compile(r"/[^\s:\"']*/lib/python3\.\d+/")  # where this machine keeps Python
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_TEMPORARY = re.compile(r"/tmp/(?:\\n|[^\s'\"`,;:)\]}>])+")  # random names
_DECORATOR = re.compile(r"^    @")  # of what is shown, not of what it defines
_DEFINITION = re.compile(r"^[> ]   (?:async def|def|class)\b")
_OURS = re.compile(r"^/run/gcf_worker/\S+.*\n?", re.MULTILINE)


def useful_log(text: str) -> str:
    """Assertion and error lines, the frames, and a little of the code around."""
    text = _OURS.sub("", _TEMPORARY.sub("/tmp/…", text))
    text = _ADDRESS.sub("0x…", _LIBRARY.sub("<python>/", text))
    lines = _without_decorators([line.rstrip() for line in text.splitlines()])
    if len(lines) > _LINES_SHOWN:
        marked = [
            line
            for line in lines
            if line.startswith((">", "E  ")) or re.match(r"\S+\.py:\d+:", line)
        ]
        lines = marked[:_LINES_SHOWN] if marked else lines[-_LINES_SHOWN:]
    return "\n".join(lines)


def _without_decorators(lines: list[str]) -> list[str]:
    """A test is shown from its decorators on, and these list the parameters of hidden tests."""
    kept: list[str] = []
    waiting: list[str] = []
    for line in lines:
        if waiting:
            if _DEFINITION.match(line):
                waiting = []
            else:
                waiting.append(line)
                continue
        elif _DECORATOR.match(line):
            waiting = [line]
            continue
        kept.append(line)
    return kept  # decorators that nothing follows are parameters too


def collection_log(errors: Mapping[str, str]) -> list[str]:
    """A part for each test file that could not be collected."""
    return [f"ERROR collecting {path}\n{useful_log(text)}" for path, text in sorted(errors.items())]


def failure_log(failing: Sequence[str], verdict: Verdict) -> list[str]:
    """A part for each of the first failing tests, the names of the others, and what ended it."""
    parts = []
    for test in failing[:_TESTS_SHOWN]:
        outcome = verdict.outcomes.get(test, "not run").upper()
        parts.append(f"{outcome} {test}\n{useful_log(verdict.texts.get(test, ''))}".rstrip())
    if more := failing[_TESTS_SHOWN:]:
        parts.append("also failing:\n" + "\n".join(more[:_TESTS_NAMED]))
    if verdict.killed:
        parts.append(f"the run was stopped at its {verdict.killed} limit")
    return parts


def build_log(task: Task, verdict: Verdict) -> str:
    """Log of the visible flips in the broken tree."""
    failing = [test for test in task.visible if verdict.outcomes.get(test) != "passed"]
    parts = [*collection_log(verdict.collect_errors), *failure_log(failing, verdict)]
    if not parts and verdict.end_text:
        parts.append(useful_log(verdict.end_text))
    return "\n\n".join(parts)
