"""Plans from tasks that depend on each other."""

from __future__ import annotations

from taskgraph.calendar import WorkCalendar
from taskgraph.duration import format_duration, parse_duration
from taskgraph.graph import CircleError, GraphError, Task, TaskGraph
from taskgraph.plan import PlanError, load_plan, parse_plan
from taskgraph.schedule import Assignment, Schedule, Window, analyse, critical_path, schedule

__version__ = "1.2.0"

__all__ = [
    "Assignment",
    "CircleError",
    "GraphError",
    "PlanError",
    "Schedule",
    "Task",
    "TaskGraph",
    "Window",
    "WorkCalendar",
    "analyse",
    "critical_path",
    "format_duration",
    "load_plan",
    "parse_duration",
    "parse_plan",
    "schedule",
]
