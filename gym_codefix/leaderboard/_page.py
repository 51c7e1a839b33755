"""The whole board as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from gym_codefix.leaderboard._html import Html, el, join
from gym_codefix.leaderboard._json import write_atomically
from gym_codefix.leaderboard._page_board import board_table, columns_table, run_details
from gym_codefix.leaderboard._page_breakdown import breakdown
from gym_codefix.leaderboard._page_episodes import Run, episodes, matrix
from gym_codefix.leaderboard._page_style import SCRIPT, STYLE
from gym_codefix.leaderboard._ranking import boards, ranked, side_by_side

_HONESTY = join(
    "Anyone can check a row again without its agent: ",
    el("code", "gym-codefix leaderboard verify"),
    " applies every recorded patch and demands the same outcome. A replay proves the patch, not "
    "who wrote it. Rows marked self-reported have not been replayed yet.",
)


def build_page(runs: Sequence[Run], path: Path, *, title: str) -> None:
    """Write the page of ``runs`` (results with their records) to ``path``, at once or not at all.

    Results of different suites or environments are ranked apart. The page is the same, byte for
    byte, for the same runs in any order.

    Raises:
        ValueError: without runs.
    """
    if not runs:
        raise ValueError("a page needs at least one result")
    results = [run[0] for run in runs]
    sections = [columns_table(*each) for each in side_by_side(results)]
    for suite, environment in boards(results):
        chosen = [run for run in runs if run[0].board == (suite, environment)]
        sections.append(_board(f"Suite {suite.name}, {environment}", chosen))
    page = join(
        Html("<!doctype html>\n"),
        el("html", _head(title), _body(title, runs, sections), lang="en"),
        "\n",
    )
    write_atomically(path, page.encode("utf-8"))


def _head(title: str) -> Html:
    # No style or script but ours may run, whatever an action holds.
    policy = (
        f"default-src 'none'; style-src '{_digest(STYLE)}'; script-src '{_digest(SCRIPT)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        el("style", Html(STYLE)),
    )


def _digest(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _body(title: str, runs: Sequence[Run], sections: Sequence[Html]) -> Html:
    tasks = {record.task_id for _, records in runs for record in records}
    repositories = {record.repository for _, records in runs for record in records}
    total = sum(len(records) for _, records in runs)
    lede = (
        f"{len(runs)} runs, {len(tasks)} tasks from {len(repositories)} repositories, "
        f"{total:,} episodes. Agents repair real Python code; the tests of each repository, some "
        "of them hidden from the agent, decide what is resolved."
    )
    return el(
        "body",
        el(
            "header",
            el("p", "gym_codefix leaderboard", class_="eyebrow"),
            el("h1", title),
            el("p", lede, class_="lede"),
        ),
        el("main", *sections),
        el("script", Html(SCRIPT)),
    )


def _board(title: str, runs: Sequence[Run]) -> Html:
    of_result = {id(run[0]): run for run in runs}
    order = [of_result[id(result)] for _, result in ranked(run[0] for run in runs)]
    results = [run[0] for run in order]
    return join(
        el(
            "section",
            el("h2", title),
            board_table(results),
            el("p", _HONESTY, class_="note after"),
        ),
        breakdown(results),
        el("section", el("h2", "Every task, every agent"), matrix(order)),
        el("section", el("h2", "Episodes"), *(episodes(run) for run in order)),
        el("section", el("h2", "How each run was made"), *(run_details(each) for each in results)),
    )
