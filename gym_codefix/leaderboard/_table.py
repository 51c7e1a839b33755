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
    table = Table(
        box=None,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        caption="95% intervals; every rate divides by every task of the suite. Apart: invalid, "
        "overfit, tampering, malformed or refused. Tokens and time are means an episode.",
    )
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("Agent", min_width=10, overflow="fold")
    for name in ("resolved@1", "pass@k", "Apart", "Tokens", "Time"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Status", no_wrap=True)
    for suite in dict.fromkeys(result.suite for result in results):
        title = f"{suite.name} {ranking.short_hash(suite.hash)}"
        table.add_row("", Text(title, style="bold"))
        for rank, result in ranking.ranked(each for each in results if each.suite == suite):
            # Text, not str: square brackets in a name must not become markup.
            cells = [Text(cell) for cell in _cells(rank, result)]
            table.add_row(*cells, style="dim" if result.is_reference else None)
    return table


def _cells(rank: int | None, result: Result) -> list[str]:
    metrics = result.metrics
    score, best = metrics.resolved_at_1, ranking.best_at_k(result)
    return [
        "ref" if rank is None else str(rank),
        result.agent,
        f"{ranking.percent(score.value)} {ranking.percent_interval(score):>11}",
        f"{ranking.percent(best.value)} @{best.k}" if best else "–",
        str(sum(count for _, count in ranking.flag_counts(result))),
        ranking.amount(metrics.tokens.mean),
        ranking.duration(metrics.seconds.mean),
        f"{result.status}\n{', '.join(result.isolation)}",
    ]
