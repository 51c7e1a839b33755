"""The tools of the build loop."""

from __future__ import annotations

from gym_codefix.grading.build import BUILD_STAGES, CONSTRAINTS_FILE

from ._tool import Parameter, Tool


def _text(name: str, description: str, *, required: bool = True) -> Parameter:
    return Parameter(name, str, required, description)


def _number(name: str, description: str) -> Parameter:
    return Parameter(name, int, False, description)


_TOOLS = (
    Tool(
        "read_log",
        "More of the log of the last build.",
        (
            _text("stage", f"one of {', '.join(BUILD_STAGES)}", required=False),
            _text("around", "text to look for; lines around it are shown", required=False),
        ),
    ),
    Tool(
        "retrieve",
        "Search the repository's source, the interfaces of what is installed, and which version "
        "of a distribution added or removed a name.",
        (_text("query", "words, names or an error message"),),
    ),
    Tool(
        "read_file",
        "Numbered lines of a file of the repository.",
        (
            _text("path", "relative to the repository"),
            _number("start", "first line, from 1"),
            _number("end", "last line, included"),
        ),
    ),
    Tool(
        "edit",
        "Change files: SEARCH/REPLACE blocks, a unified diff, or line edits `path:LINE| text`.",
        (_text("patch", "the edits"),),
    ),
    Tool(
        "list_versions",
        "Versions of a distribution that can be installed here.",
        (_text("name", "of the distribution"),),
    ),
    Tool(
        "upgrade_dependency",
        f"Let another version in: replaces the line of a distribution in {CONSTRAINTS_FILE}.",
        (
            _text("name", "of the distribution"),
            _text("specifier", "PEP 440, such as ==2.3.8 or >=2.2,<3; empty takes any version"),
        ),
    ),
    Tool("validate_and_build", "Build: resolve, install, compile, import, collect, test."),
    Tool("submit", "Hand in the state as it was built last; ends the episode."),
)
TOOLS = {tool.name: tool for tool in _TOOLS}
