"""`gym-codefix leaderboard …`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console

from gym_codefix.catalog import suite
from gym_codefix.console import Steps

from ._output import as_json, counted, print_json

_FILES = click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)


@click.group()
def leaderboard() -> None:
    """Rows of the board.

    Example: gym-codefix leaderboard show leaderboards/lite/*.json
    """


@leaderboard.command()
@_FILES
@as_json
def show(files: tuple[Path, ...], json_output: bool) -> None:
    """Print rows, best first.

    Example: gym-codefix leaderboard show leaderboards/lite/*.json
    """
    from gym_codefix.leaderboard import read_result, render_columns, render_table

    results = [read_result(path) for path in files]
    if json_output:
        print_json([json.loads(path.read_text()) for path in files])
    else:
        Console().print(render_table(results), *render_columns(results))


@leaderboard.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--write-status", is_flag=True, help="mark an accepted row as replayed")
@click.option("--isolation", default="auto", show_default=True)
@as_json
def verify(file: Path, write_status: bool, isolation: str, json_output: bool) -> None:
    """Replay every recorded patch without the agent and compare everything.

    Example: gym-codefix leaderboard verify leaderboards/lite/gold.json
    """
    from gym_codefix.leaderboard import episodes_of, read_result
    from gym_codefix.leaderboard import verify as verify_row

    row = read_result(file)
    chosen = suite(row.suite.name)
    episodes = episodes_of(row.environments[0].id)(chosen, isolation)
    with Steps(Console(stderr=True)) as steps:
        tell = steps.start(file.stem, len(chosen.tasks))
        report = verify_row(
            file,
            replay=episodes.replay,
            suite_tasks=chosen.tasks,
            suite_hash=chosen.hash,
            progress=lambda done, total: tell(done),
            write_status=write_status,
        )
    if json_output:
        print_json(
            {
                "ok": report.ok,
                "replayed": report.replayed,
                "faults": [str(fault) for fault in report.faults],
                "warnings": [str(warning) for warning in report.warnings],
            }
        )
    else:
        for warning in report.warnings:
            click.echo(f"warning: {warning}", err=True)
        for fault in report.faults:
            click.echo(f"error: {fault}", err=True)
        faults = counted(len(report.faults), "fault")
        click.echo(f"{file}: {counted(report.replayed, 'episode')} replayed, {faults}")
    if not report.ok:
        sys.exit(1)


@leaderboard.command()
@_FILES
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--title", default="gym_codefix", show_default=True)
def build(files: tuple[Path, ...], out: Path, title: str) -> None:
    """Build the page of rows and their records.

    Example: gym-codefix leaderboard build leaderboards/lite/*.json --out /tmp/index.html
    """
    from gym_codefix.leaderboard import build_page, read_run

    build_page([read_run(path) for path in files], out, title=title)
    click.echo(out)
