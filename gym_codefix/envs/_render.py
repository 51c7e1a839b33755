"""An episode as text: task, log, patch, verdict."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

_WIDTH = 100
_SHOWN = 3_000  # of a patch, which may be of any length


def episode_panels(
    problem: Any, observation: dict[str, Any], action: str | None, info: dict[str, Any]
) -> Group:
    """What an agent is shown, then what it did and earned; all plain text, never markup."""
    task = problem.task
    if action is None:
        about = f"{task.id}\n{task.kind}, {len(task.visible)} visible target tests"
        shown = {"task": about, "log": observation["log"], "source": observation["source"]}
    else:
        verdict = "resolved" if info.get("resolved") else info.get("action_error")
        verdict = verdict or info.get("explanation") or "not resolved"
        shown = {"patch": str(action)[:_SHOWN], "verdict": str(verdict)}
    return Group(*(Panel(Text(text), title=title) for title, text in shown.items()))


def loop_panels(task_id: str, observation: dict[str, Any], action: str | None) -> Group:
    """What the agent found first, or its last call and the answer."""
    if action is None:
        heading = f"{task_id}\n{observation['instruction']}"
        shown = {"task": heading, f"stage {observation['stage']}": observation["log"]}
    else:
        left = ", ".join(map(str, observation["budget"]))
        about = f"stage {observation['stage'] or 'green'}; steps, seconds, characters left: {left}"
        shown = {"call": str(action)[:_SHOWN], "answer": observation["result"], "state": about}
    return Group(*(Panel(Text(text), title=title) for title, text in shown.items()))


def as_text(group: Group) -> str:
    """The panels without colour."""
    console = Console(width=_WIDTH, no_color=True, force_terminal=False, file=io.StringIO())
    with console.capture() as capture:
        console.print(group)
    return capture.get()
