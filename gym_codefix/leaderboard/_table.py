"""The board in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from gym_codefix.leaderboard import _ranking as ranking
from gym_codefix.leaderboard._result import Result


def render_table(results: Sequence[Result]) -> Table:
    """The ranked board of ``results``, with 95% intervals; reference rows are marked ``ref``.

    Rows of different suites are ranked apart, one section a suite.
    """
    table = Table(title="Leaderboard", caption="95% intervals; every rate divides by every task")
    table.add_column("#", justify="right")
    table.add_column("Agent")
    for name in ("resolved@1", "95%", "pass@k", "Resolved"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Set apart")
    for name in ("Tokens", "Seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("Isolation", "Status", "Suite"):
        table.add_column(name)
    for suite in dict.fromkeys(result.suite for result in results):
        table.add_section()
        for rank, result in ranking.ranked(each for each in results if each.suite == suite):
            # Text, not str: square brackets in a name must not become markup.
            cells = [Text(cell) for cell in _cells(rank, result)]
            table.add_row(*cells, style="dim" if result.is_reference else None)
    return table


def _cells(rank: int | None, result: Result) -> list[str]:
    metrics, counts = result.metrics, result.counts
    best = ranking.best_at_k(result)
    return [
        "ref" if rank is None else str(rank),
        result.agent,
        ranking.percent(metrics.resolved_at_1.value),
        ranking.percent_interval(metrics.resolved_at_1),
        f"{ranking.percent(best.value)} @{best.k}" if best else "–",
        f"{counts.resolved}/{counts.episodes}",
        ", ".join(f"{count} {name}" for name, count in ranking.flag_counts(result)) or "–",
        ranking.amount(metrics.tokens.mean),
        ranking.duration(metrics.seconds.mean),
        ", ".join(result.isolation),
        result.status,
        f"{result.suite.name} {ranking.short_hash(result.suite.hash)}",
    ]
