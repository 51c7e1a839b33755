"""The order of a board, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Iterable

from gym_codefix.leaderboard._result import Estimate, EstimateAtK, Result, SuiteRef


def boards(results: Iterable[Result]) -> dict[tuple[SuiteRef, str], list[Result]]:
    """Results that can be ranked against each other, by suite and environment, in order."""
    found: dict[tuple[SuiteRef, str], list[Result]] = {}
    for result in results:
        found.setdefault(result.board, []).append(result)
    return dict(sorted(found.items(), key=lambda item: _board_order(*item[0])))


def _board_order(suite: SuiteRef, environment: str) -> tuple[str, str, bool, str]:
    # The one-shot environment comes first, as it does everywhere else.
    return suite.name, suite.hash, "Simple" not in environment, environment


def side_by_side(
    results: Iterable[Result],
) -> list[tuple[SuiteRef, list[str], list[tuple[str, list[Result | None]]]]]:
    """Of every suite that was run in several environments: their names, and what each agent's
    rows there are, best first."""
    suites: dict[SuiteRef, dict[str, list[Result]]] = {}
    for (suite, environment), rows in boards(results).items():
        suites.setdefault(suite, {})[environment] = rows
    found = []
    for suite, columns in suites.items():
        if len(columns) < 2:
            continue
        by_agent: dict[str, dict[str, Result]] = {}
        for environment, rows in columns.items():
            for result in rows:
                by_agent.setdefault(result.agent, {})[environment] = result
        agents = sorted(by_agent, key=lambda name: (-_best(by_agent[name].values()), name))
        lines = [(name, [by_agent[name].get(column) for column in columns]) for name in agents]
        found.append((suite, list(columns), lines))
    return found


def _best(results: Iterable[Result]) -> float:
    return max(result.metrics.resolved_at_1.value for result in results)


def ranked(results: Iterable[Result]) -> list[tuple[int | None, Result]]:
    """Results from best to worst with their rank; equal rates share one.

    Reference agents stand where their rate puts them, without a rank.
    """
    ordered = sorted(
        results, key=lambda result: (-result.metrics.resolved_at_1.value, result.agent)
    )
    board: list[tuple[int | None, Result]] = []
    last: tuple[float, int] | None = None
    place = 0
    for result in ordered:
        if result.is_reference:
            board.append((None, result))
            continue
        place += 1
        value = result.metrics.resolved_at_1.value
        last = last if last is not None and last[0] == value else (value, place)
        board.append((last[1], result))
    return board


def best_at_k(result: Result) -> EstimateAtK | None:
    """pass@k at the greatest k that the attempts allow; ``None`` with one attempt a task."""
    best = result.metrics.pass_at_k[-1]
    return best if best.k > 1 else None


def percent(share: float) -> str:
    """0.4166 -> ``41.7%``."""
    return f"{share:.1%}"


def percent_interval(estimate: Estimate) -> str:
    """The interval of a share: ``33.3–50.0``."""
    return f"{estimate.low * 100:.1f}–{estimate.high * 100:.1f}"


def amount(value: float | None) -> str:
    """A count in at most four digits: ``950``, ``12.3k``, ``4.5M``; a dash for ``None``."""
    if value is None:
        return "–"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{unit}"
    return f"{value:.0f}"


def count(value: float | None) -> str:
    """A mean of small whole numbers: ``4.2``; a dash for ``None``."""
    return "–" if value is None else f"{value:.1f}"


def duration(seconds: float | None) -> str:
    """``0.42 s``, ``38 s``, ``3.5 min``; a dash for ``None``."""
    if seconds is None:
        return "–"
    if seconds >= 120:
        return f"{seconds / 60:.1f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2f} s"


def dollars(value: float | None) -> str:
    """``$0.0123``; a dash for ``None``."""
    if value is None:
        return "–"
    return f"${value:.2f}" if value >= 1 or value == 0 else f"${value:.4f}"


def short_hash(value: str) -> str:
    """The first eight characters of a hash, past any ``algorithm:`` in front."""
    return value.rpartition(":")[2][:8]


def flag_counts(result: Result) -> list[tuple[str, int]]:
    """The counts that a reader should know of: those that are not zero."""
    names = ("invalid", "overfit", "tampering", "malformed", "refused")
    return [(name, getattr(result.counts, name)) for name in names if getattr(result.counts, name)]
