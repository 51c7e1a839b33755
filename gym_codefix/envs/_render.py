"""An episode as text: task, log, patch, verdict."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

_WIDTH = 100
_SHOWN = 3_000


def episode_panels(
    problem: Any, observation: dict[str, Any], action: str | None, info: dict[str, Any]
) -> Group:
    """Panels of an episode; everything is shown as plain text, never as markup."""
    task = problem.task
    panels = [
        Panel(
            Text(f"{task.id}\n{task.kind}, {len(task.visible)} visible target tests"), title="task"
        ),
        Panel(Text(observation["log"][:_SHOWN]), title="log"),
    ]
    if action is None:
        panels.append(Panel(Text(observation["source"][:_SHOWN]), title="source"))
    else:
        panels.append(Panel(Text(str(action)[:_SHOWN]), title="patch"))
        verdict = "resolved" if info.get("resolved") else info.get("action_error")
        verdict = verdict or info.get("explanation") or "not resolved"
        panels.append(Panel(Text(str(verdict)), title="verdict"))
    return Group(*panels)


def as_text(group: Group) -> str:
    """The panels without colour."""
    console = Console(width=_WIDTH, no_color=True, force_terminal=False, file=io.StringIO())
    with console.capture() as capture:
        console.print(group)
    return capture.get()
