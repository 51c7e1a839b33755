"""Every command: an example in its help, one clear line on bad input, JSON where output is data."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from gym_codefix.catalog import suite
from gym_codefix.cli import commands

EMBEDDED_TASK = suite("embedded").tasks[0].id


def run(
    *arguments: str, stdin: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from gym_codefix.cli import main; main()", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        input=stdin,
        timeout=240,
        check=False,
    )


def every_command() -> list[tuple[tuple[str, ...], click.Command]]:
    found: list[tuple[tuple[str, ...], click.Command]] = []
    todo: list[tuple[tuple[str, ...], click.Command]] = [((), commands)]
    while todo:
        path, command = todo.pop()
        found.append((path, command))
        if isinstance(command, click.Group):
            todo += [((*path, name), sub) for name, sub in command.commands.items()]
    return found


@pytest.mark.parametrize(("path", "command"), every_command(), ids=lambda value: str(value))
def test_the_help_of_every_command_has_an_example(
    path: tuple[str, ...], command: click.Command
) -> None:
    text = command.get_help(click.Context(command, info_name=" ".join(path)))
    assert "Example: gym-codefix" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nope",), "No such command"),
        (("repos", "show", "nope"), "known: apispec"),
        (("repos", "prepare"), "--all"),
        (("repos", "prepare", "nope"), "known: apispec"),
        (("tasks", "list", "--suite", "nope"), "known: embedded"),
        (("tasks", "show", "nope/seeded/1"), "unknown task"),
        (("tasks", "validate", "nope"), "known: apispec"),
        (("tasks", "mine", "sqlparse", "--releases", "1"), "two versions"),
        (("tasks", "mine", "sqlparse", "--releases", "1,2"), "known: 0.4.2"),
        (("play", "--agent", "nope"), "noop, random"),
        (("play", "--suite", "nope"), "known: embedded"),
        (("play", "--task", "nope"), "unknown task"),
        (("play", "--isolation", "nope"), "valid: auto"),
        (("bench", "--agent", "nope", "--out", "/tmp/never"), "noop, random"),
        (("leaderboard", "verify", "setup.cfg"), "not JSON"),
        (("leaderboard", "show", "nope.json"), "does not exist"),
        (("repos", "breakages", "ledgerbook", "--as-of", "soon"), "is not a day"),
        (("repos", "breakages", "ledgerbook", "--as-of", "2023-01-01"), "has no lock"),
        (("repos", "breakages", "nope", "--as-of", "2023-01-01"), "known: apispec"),
    ],
)
def test_bad_input_is_one_clear_line(arguments: tuple[str, ...], words: str) -> None:
    done = run(*arguments)
    assert done.returncode != 0
    lines = done.stderr.strip().splitlines()
    assert lines[-1].startswith("error: ") and words in lines[-1]
    assert not [line for line in lines if "Traceback" in line]


@pytest.mark.parametrize(
    "arguments",
    [
        ("doctor", "--json"),
        ("repos", "list", "--json"),
        ("repos", "show", "rowquery", "--json"),
        ("tasks", "list", "--suite", "embedded", "--json"),
        ("tasks", "show", EMBEDDED_TASK, "--json"),
    ],
)
def test_json_output_is_json(arguments: tuple[str, ...]) -> None:
    assert json.loads(run(*arguments).stdout)


def test_a_person_plays_an_episode() -> None:
    done = run("play", "--seed", "3", stdin="not a patch\n")
    assert done.returncode == 0 and "reward 0.0" in done.stdout


def test_an_agent_plays_an_episode() -> None:
    done = run("play", "--agent", "gold", "--seed", "3")
    assert done.returncode == 0 and "reward 1.0" in done.stdout
    assert Path("setup.cfg").exists()  # commands leave the working directory alone


_OWN_AGENT = """
class Mine:
    name, parameters = "mine", {}

    def __init__(self, seed):
        pass

    def act(self, observation, problem, runtime):
        return ""
"""


def test_an_agent_beside_the_user_has_its_row(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(_OWN_AGENT)
    done = run("bench", "--agent", "mine:Mine", "--out", "board", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "board" / "mine.json").read_text())["agent"] == "mine"
    total = len(suite("embedded").tasks)
    assert f"mine {total}/{total}" in done.stderr
