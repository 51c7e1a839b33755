"""Plans in plain text, one task a line: `name [duration] !priority: need, need`."""

from __future__ import annotations

import re
from pathlib import Path

from taskgraph.duration import format_duration, parse_duration
from taskgraph.graph import GraphError, Task, TaskGraph

_LINE = re.compile(
    r"(?P<name>[\w.-]+)\s*(?:\[(?P<duration>[^\]]*)\])?\s*(?:!(?P<priority>-?\d+))?\s*"
    r"(?::(?P<needs>.*))?"
)


class PlanError(ValueError):
    """The plan cannot be read; the message names the line."""


def parse_plan(text: str) -> TaskGraph:
    """Read a plan; `#` starts a comment. Needs may name later lines.

    Raises PlanError for a line that cannot be read, and GraphError for needs that cannot be met.
    """
    graph = TaskGraph()
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        try:
            graph.add(_parse_line(line))
        except ValueError as error:
            raise PlanError(f"line {number}: {error}") from error
    graph.order()
    return graph


def load_plan(path: Path) -> TaskGraph:
    """Read a plan from a file, as parse_plan does; errors name the file too."""
    try:
        return parse_plan(path.read_text(encoding="utf-8"))
    except (PlanError, GraphError) as error:
        raise PlanError(f"{path.name}: {error}") from error


def dump_plan(graph: TaskGraph) -> str:
    """The text of a plan, in the order of the graph, that parse_plan reads back."""
    lines: list[str] = []
    for name in graph.order():
        task = graph[name]
        line = f"{name} [{format_duration(task.minutes)}]"
        if task.priority:
            line += f" !{task.priority}"
        if task.needs:
            line += f": {', '.join(sorted(task.needs))}"
        lines.append(line)
    return "".join(line + "\n" for line in lines)


def _parse_line(line: str) -> Task:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"not a task: {line!r}")
    needs = [need.strip() for need in (match["needs"] or "").split(",")]
    if needs == [""]:
        if match["needs"] is not None:
            raise ValueError("nothing after the colon")
        needs = []
    if "" in needs:
        raise ValueError("a need is missing between two commas")
    if len(set(needs)) < len(needs):
        raise ValueError("a need is named twice")
    minutes = parse_duration(match["duration"]) if match["duration"] is not None else 0
    return Task(match["name"], minutes, int(match["priority"] or 0), frozenset(needs))
