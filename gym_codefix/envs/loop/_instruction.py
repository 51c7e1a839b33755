"""What an agent is told before its first call."""

from __future__ import annotations

from gym_codefix.grading.build import CONSTRAINTS_FILE

from ._tool import Tool
from ._tools import TOOLS
from ._workbench import Workbench


def instruction_of(bench: Workbench) -> str:
    """The goal of the task, its tools and the form of a call."""
    tools = "\n".join(map(_usage, TOOLS.values()))
    return (
        f"The build of {bench.task.repository} {bench.task.release} fails at the stage "
        f"{bench.first.stage}. {_goal(bench)} Every test that passed before must pass, hidden ones "
        "too; tests and their configuration cannot be edited. Build, and submit when it is "
        "green.\n\n"
        'Answer with one call of a tool as JSON: {"tool": NAME, "arguments": {…}}\n' + tools
    )


def _goal(bench: Workbench) -> str:
    facts = bench.task.dependency
    if facts is None:
        return "Repair its source."
    moved = f"{facts.moved} moved from {facts.before} to {facts.after}."
    if facts.goal == "migrate":
        return (
            f"{moved} The new version must stay, as after a security release: change the "
            "repository's source so that it works with it."
        )
    also = f" Something else needs {' and '.join(facts.floors)}." if facts.floors else ""
    return (
        f"{moved} Find versions with which the build is green, and change {CONSTRAINTS_FILE} "
        f"only.{also}"
    )


def _usage(tool: Tool) -> str:
    arguments = ", ".join(
        parameter.name if parameter.required else f"{parameter.name}?"
        for parameter in tool.parameters
    )
    return f"{tool.name}({arguments}): {tool.description}"
