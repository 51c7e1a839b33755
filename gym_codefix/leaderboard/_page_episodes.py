"""Every task against every agent, and every episode with its action and verdict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from gym_codefix.leaderboard._html import Html, el, join
from gym_codefix.leaderboard._json import canonical_json, sha256_hex
from gym_codefix.leaderboard._page_board import facts_list
from gym_codefix.leaderboard._ranking import dollars, duration
from gym_codefix.leaderboard._record import FLAGS, EpisodeRecord
from gym_codefix.leaderboard._result import Result

Run = tuple[Result, Sequence[EpisodeRecord]]

# An action may be a megabyte of anything; the records file has it whole.
_LONGEST_ACTION = 20_000


def anchor(result: Result, line: int) -> str:
    """Where the page shows the episode on this line of the records of ``result``."""
    return f"episode-{result.records.sha256[:12]}-{line}"


def outcome(record: EpisodeRecord) -> tuple[str, str]:
    """What came of an episode in a word, and its style."""
    if not record.reward_valid:
        return "invalid", "warn"
    if record.resolved:
        return "resolved", "good"
    if record.tampering:
        return "tampering", "bad"
    flagged = [flag for flag in FLAGS if getattr(record, flag)]
    return (flagged[0], "warn") if flagged else ("unresolved", "")


def matrix(runs: Sequence[Run]) -> Html:
    """A row a task, a column an agent; every cell leads to the episode."""
    cells: defaultdict[str, dict[int, list[tuple[int, EpisodeRecord]]]] = defaultdict(dict)
    for column, (_, records) in enumerate(runs):
        for line, record in enumerate(records, 1):
            cells[record.task_id].setdefault(column, []).append((line, record))
    head = el(
        "tr",
        el("th", "Task", scope="col", class_="agent"),
        *(el("th", result.agent, scope="col") for result, _ in runs),
    )
    rows = [
        el(
            "tr",
            el("th", el("code", task_id), scope="row", title=task_id),
            *(_cell(runs[column][0], row.get(column, [])) for column in range(len(runs))),
        )
        for task_id, row in sorted(cells.items())
    ]
    caption = (
        "Each cell leads to the patch and its verdict: ✓ resolved, · unresolved, ! set apart "
        "(invalid, overfit, tampering, malformed or refused). Where an agent had several "
        "attempts, the number resolved of them."
    )
    table = el(
        "table",
        el("caption", el("span", caption)),
        el("thead", head),
        el("tbody", *rows),
        class_="matrix",
    )
    return el(
        "div",
        table,
        class_="scroll tall",
        role="region",
        tabindex=0,
        aria_label="Outcome of every task for every agent",
    )


def _cell(result: Result, attempts: Sequence[tuple[int, EpisodeRecord]]) -> Html:
    if not attempts:
        return el("td", "")
    # The attempt that best stands for the task: a resolved one if there is any.
    line, record = max(attempts, key=lambda each: each[1].resolved)
    name, style = outcome(record)
    if len(attempts) == 1:
        shown = {"good": "✓", "": "·"}.get(style, "!")
    else:
        shown = f"{sum(each.resolved for _, each in attempts)}/{len(attempts)}"
    told = f"{result.agent}: {name}"
    link = el(
        "a",
        shown,
        href=f"#{anchor(result, line)}",
        class_=style or None,
        title=told,
        aria_label=told,
    )
    return el("td", link)


def episodes(run: Run) -> Html:
    """All episodes of a run, each with an anchor of its own."""
    result, records = run
    resolved = f"{result.counts.resolved} of {result.counts.episodes} episodes resolved"
    listed = [_episode(result, line, record) for line, record in enumerate(records, 1)]
    return el(
        "details",
        el("summary", el("strong", result.agent), el("span", resolved, class_="push")),
        el("div", *listed, class_="body"),
    )


def _episode(result: Result, line: int, record: EpisodeRecord) -> Html:
    name, style = outcome(record)
    shown = record.task_id
    if result.counts.episodes > result.counts.tasks:
        shown += f", attempt {record.attempt}"
    tests = record.verdict.get("tests", {})
    facts = {
        "Task": f"{record.task_id} ({record.kind}, {record.repository}, split {record.split})",
        "Released": record.date,
        "Environment": f"{record.env_id}, seed {record.seed}, attempt {record.attempt}",
        "Reward": f"{record.reward:g}",
        "Reward parts": ", ".join(
            f"{part} {value:g}" for part, value in sorted(record.reward_parts.items())
        ),
        "Flags": ", ".join(flag for flag in FLAGS if getattr(record, flag)),
        "Failure": record.failure_reason,
        "Action error": record.action_error,
        "Tests": ", ".join(f"{count} {how}" for how, count in sorted(tests.items())),
        "Log sha256": record.verdict.get("log_sha256"),
        "Further verdict": _further(record),
        "Isolation": record.isolation,
        "Spent": f"{'–' if record.tokens is None else record.tokens} tokens, "
        f"{duration(record.seconds)}, {dollars(record.cost)}",
        "Record": f"{result.records.file}, line {line}",
    }
    return el(
        "details",
        el(
            "summary",
            el("span", name, class_=f"tag {style}".rstrip()),
            el("code", shown),
            el("span", f"reward {record.reward:g}", class_="push"),
        ),
        el(
            "div",
            facts_list({name: fact for name, fact in facts.items() if fact}),
            *_action(record.action),
            class_="body",
        ),
        id=anchor(result, line),
    )


def _further(record: EpisodeRecord) -> str | None:
    rest = {
        key: value for key, value in record.verdict.items() if key not in ("tests", "log_sha256")
    }
    return canonical_json(rest) if rest else None


def _action(action: str) -> list[Html]:
    if not action:
        return [el("p", "The agent wrote nothing.", class_="note")]
    parts = [el("pre", action[:_LONGEST_ACTION], tabindex=0, aria_label="Action", dir="ltr")]
    if len(action) > _LONGEST_ACTION:
        digest = sha256_hex(action.encode("utf-8", "surrogatepass"))
        parts.append(
            el(
                "p",
                join(
                    f"The first {_LONGEST_ACTION} of {len(action)} characters; sha256 ",
                    el("code", digest),
                    ".",
                ),
                class_="note",
            )
        )
    return parts
