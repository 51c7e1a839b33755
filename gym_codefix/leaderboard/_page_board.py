"""The ranked table of one suite, and how each of its runs was made."""

from __future__ import annotations

from collections.abc import Sequence

from gym_codefix.leaderboard import _ranking as ranking
from gym_codefix.leaderboard._charts import Bar, gauge
from gym_codefix.leaderboard._html import Html, el, join
from gym_codefix.leaderboard._json import canonical_json
from gym_codefix.leaderboard._result import Estimate, EstimateAtK, Result, SuiteRef

_STATUS_STYLES = {"self-reported": "tag warn", "replayed": "tag good", "retrained": "tag good"}
_COLUMNS = (
    ("#", "num", "Rank by resolved@1; reference rows have none"),
    ("Agent", "agent", "The agent that wrote the patches"),
    ("resolved@1", "", "Share of all tasks that one attempt resolves, with its 95% interval"),
    ("pass@k", "num", "Chance that one of k attempts resolves a task, with its 95% interval"),
    ("Resolved", "num", "Episodes resolved, of all episodes"),
    ("Set apart", "", "Episodes that were invalid, overfit, tampering, malformed or refused"),
    ("Steps", "num", "Mean calls of tools an episode, where there is more than one"),
    ("Builds", "num", "Mean builds an episode"),
    ("Tokens", "num", "Mean tokens an episode"),
    ("Time", "num", "Mean time an episode"),
    ("Cost", "num", "Mean cost an episode, US dollars"),
    (
        "Status",
        "",
        "self-reported, replayed without the agent, or retrained; and how the agent's "
        "code was isolated when it was graded",
    ),
)


def board_table(results: Sequence[Result]) -> Html:
    """The ranked table of results that share one suite and environment."""
    suite, counts = results[0].suite, results[0].counts
    caption = join(
        f"{counts.tasks} tasks of suite {suite.name}, ",
        el("code", ranking.short_hash(suite.hash), title=suite.hash),
        ", ranked by resolved@1 with 95% intervals. Every rate divides by every task. "
        "Reference agents carry no rank.",
    )
    head = el("tr", *(_head(*column) for column in _COLUMNS))
    rows = [_row(rank, result) for rank, result in ranking.ranked(results)]
    table = el("table", el("caption", el("span", caption)), el("thead", head), el("tbody", *rows))
    return el(
        "div",
        table,
        class_="scroll",
        role="region",
        tabindex=0,
        aria_label=f"Ranking on suite {suite.name}",
    )


def columns_table(
    suite: SuiteRef,
    environments: Sequence[str],
    lines: Sequence[tuple[str, Sequence[Result | None]]],
) -> Html:
    """resolved@1 of every agent in each environment, on the same tasks."""
    names = [el("th", name, scope="col") for name in ("Agent", *environments)]
    rows = [
        el(
            "tr",
            el("th", agent, scope="row", class_="agent"),
            *(el("td", "–") if result is None else _score(result) for result in found),
        )
        for agent, found in lines
    ]
    caption = f"resolved@1 with 95% intervals; suite {ranking.short_hash(suite.hash)}."
    return el(
        "section",
        el("h2", f"The same tasks of suite {suite.name} in every environment"),
        el(
            "div",
            el(
                "table",
                el("caption", el("span", caption)),
                el("thead", el("tr", *names)),
                el("tbody", *rows),
            ),
            class_="scroll",
            role="region",
            tabindex=0,
            aria_label=f"Environments on suite {suite.name}",
        ),
    )


def _head(name: str, style: str, told: str) -> Html:
    sorted_ = "descending" if name == "resolved@1" else None
    button = el("button", name, type="button", title=told)
    return el("th", button, scope="col", class_=style or None, aria_sort=sorted_)


def _row(rank: int | None, result: Result) -> Html:
    metrics, counts = result.metrics, result.counts
    reference = result.is_reference
    agent = el("a", result.agent, href=f"#{run_anchor(result)}")
    name = join(agent, " ", el("span", "reference", class_="tag")) if reference else agent
    best = ranking.best_at_k(result)
    return el(
        "tr",
        _number("–" if rank is None else str(rank), rank),
        el("th", name, scope="row", class_="agent", data_value=result.agent),
        _score(result),
        _number(_at_k(best) if best else "–", best.value if best else None),
        _number(f"{counts.resolved}/{counts.episodes}", counts.resolved / counts.episodes),
        _flags(result),
        _number(ranking.count(metrics.steps.mean), metrics.steps.mean),
        _number(ranking.count(metrics.builds.mean), metrics.builds.mean),
        _number(ranking.amount(metrics.tokens.mean), metrics.tokens.mean),
        _number(ranking.duration(metrics.seconds.mean), metrics.seconds.mean),
        _number(ranking.dollars(metrics.cost.mean), metrics.cost.mean),
        el(
            "td",
            el("span", result.status, class_=_STATUS_STYLES[result.status]),
            el("span", ", ".join(result.isolation), class_="ci"),
            class_="status",
        ),
        class_="reference" if reference else None,
    )


def _score(result: Result) -> Html:
    estimate = result.metrics.resolved_at_1
    return el(
        "td",
        el(
            "div",
            el("b", ranking.percent(estimate.value)),
            gauge(Bar(result.agent, estimate, result.is_reference)),
            el("span", ranking.percent_interval(estimate), class_="ci"),
            class_="score",
        ),
        data_value=estimate.value,
    )


def _at_k(estimate: EstimateAtK) -> Html:
    return join(
        ranking.percent(estimate.value),
        el("span", f"@{estimate.k} · {ranking.percent_interval(estimate)}", class_="ci"),
    )


def _number(shown: str, value: float | None) -> Html:
    return el("td", shown, class_="num", data_value="" if value is None else value)


def _flags(result: Result) -> Html:
    flags = ranking.flag_counts(result)
    spans = [el("span", f"{count} {name}", class_=name) for name, count in flags]
    listed = join(spans[0], *(join(", ", each) for each in spans[1:])) if spans else "none"
    return el("td", listed, class_="flags ci", data_value=sum(count for _, count in flags))


def run_anchor(result: Result) -> str:
    """Where the page tells how a run was made."""
    return f"run-{result.records.sha256[:12]}"


def run_details(result: Result) -> Html:
    """Everything needed to make the run again."""
    intervals = result.intervals
    commit = result.git.commit or "not a git checkout"
    facts = {
        "Environments": ", ".join(each.id for each in result.environments),
        "Suite hash": result.suite.hash,
        "Seeds": ", ".join(map(str, result.seeds)),
        "Code": commit + (" with uncommitted changes" if result.git.dirty else ""),
        "Package locks": result.lock_sha256,
        "Python": result.python,
        "Records": f"{result.records.file}, sha256 {result.records.sha256}",
        "Intervals": f"{intervals.confidence:.0%}, {intervals.method}; {intervals.resamples} "
        f"resamples, seed {intervals.seed}",
        "All pass@k": ", ".join(
            f"pass@{each.k} {ranking.percent(each.value)} ({ranking.percent_interval(each)}), "
            f"n = {each.n}"
            for each in result.metrics.pass_at_k
        ),
        "Mean reward": _plain(result.metrics.reward_mean),
        "Interquartile mean reward": _plain(result.metrics.reward_interquartile_mean),
        "Parameters": canonical_json(dict(result.parameters)),
    }
    return el(
        "details",
        el("summary", el("strong", result.agent), el("span", result.status, class_="push")),
        el(
            "div",
            el("p", "The command that reproduces it:"),
            el("pre", result.command, class_="wrap"),
            facts_list(facts),
            class_="body",
        ),
        id=run_anchor(result),
    )


def _plain(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} ({estimate.low:.3f}–{estimate.high:.3f})"


def facts_list(facts: dict[str, str]) -> Html:
    """Names and values, one a line."""
    pairs = [join(el("dt", name), el("dd", value)) for name, value in facts.items()]
    return el("dl", *pairs)
