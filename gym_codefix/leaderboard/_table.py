"""The board in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from gym_codefix.leaderboard import _ranking as ranking
from gym_codefix.leaderboard._result import Result


def render_table(results: Sequence[Result]) -> Table:
    """The ranked board of ``results``, with 95% intervals; reference rows are marked ``ref``.

    Rows of different suites and environments are ranked apart, a section each.
    """
    columns = _columns(results)
    table = Table(
        box=None,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        caption="95% intervals; every rate divides by every task of the suite. Apart: invalid, "
        "overfit, tampering, malformed or refused. Tokens and time are means an episode.",
    )
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("Agent", min_width=10, overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Status", no_wrap=True)
    for (suite, environment), rows in ranking.boards(results).items():
        title = f"{suite.name} {ranking.short_hash(suite.hash)}\n{environment}"
        table.add_row("", Text(title, style="bold"))
        for rank, result in ranking.ranked(rows):
            # Text, not str: square brackets in a name must not become markup.
            cells = [Text(cell) for cell in _cells(rank, result, columns)]
            table.add_row(*cells, style="dim" if result.is_reference else None)
    return table


def render_columns(results: Sequence[Result]) -> list[Table]:
    """For each suite that was run in several environments: resolved@1 of every agent in each."""
    tables = []
    for suite, environments, lines in ranking.side_by_side(results):
        title = f"resolved@1 on the same tasks: {suite.name} {ranking.short_hash(suite.hash)}"
        table = Table("Agent", box=None, padding=(0, 2, 0, 0), pad_edge=False, title=title)
        for environment in environments:
            table.add_column(environment, justify="right", no_wrap=True)
        for agent, found in lines:
            table.add_row(Text(agent), *(_score(result) for result in found))
        tables.append(table)
    return tables


def _score(result: Result | None) -> str:
    if result is None:
        return "–"
    score = result.metrics.resolved_at_1
    return f"{ranking.percent(score.value)} {ranking.percent_interval(score):>11}"


def _columns(results: Sequence[Result]) -> list[str]:
    """What stands between agent and status: of the rarer figures only those that some row has."""
    rare = {
        "pass@k": any(ranking.best_at_k(result) for result in results),
        "Steps": any(result.metrics.steps.mean is not None for result in results),
        "Builds": any(result.metrics.builds.mean is not None for result in results),
        "Tokens": any(result.metrics.tokens.mean is not None for result in results),
    }
    names = ("resolved@1", "pass@k", "Apart", "Steps", "Builds", "Tokens", "Time")
    return [name for name in names if rare.get(name, True)]


def _cells(rank: int | None, result: Result, columns: Sequence[str]) -> list[str]:
    metrics = result.metrics
    best = ranking.best_at_k(result)
    cells = {
        "resolved@1": _score(result),
        "pass@k": f"{ranking.percent(best.value)} @{best.k}" if best else "–",
        "Apart": str(sum(count for _, count in ranking.flag_counts(result))),
        "Steps": ranking.count(metrics.steps.mean),
        "Builds": ranking.count(metrics.builds.mean),
        "Tokens": ranking.amount(metrics.tokens.mean),
        "Time": ranking.duration(metrics.seconds.mean),
    }
    return [
        "ref" if rank is None else str(rank),
        result.agent,
        *(cells[name] for name in columns),
        f"{result.status}\n{', '.join(result.isolation)}",
    ]
