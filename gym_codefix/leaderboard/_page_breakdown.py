"""Bar charts by kind, repository, level and release date."""

from __future__ import annotations

from collections.abc import Sequence

from gym_codefix.leaderboard._charts import Bar, panel
from gym_codefix.leaderboard._html import Html, el, join
from gym_codefix.leaderboard._ranking import ranked
from gym_codefix.leaderboard._result import Result

_OLD_CODE = (
    "Release tasks are old public code: a pretrained model may have seen the fix. "
    "A replay proves that the patch works; it does not prove who wrote it."
)
_SECTIONS = (
    ("by_kind", "By kind of task", None),
    ("by_repository", "By repository", None),
    ("by_level", "By difficulty", None),
    ("by_release_year", "By release date", _OLD_CODE),
)


def breakdown(results: Sequence[Result]) -> Html:
    """Every section of charts that the suite of ``results`` has groups for."""
    order = [result for _, result in ranked(results)]
    # Gold and no-op are 100% and 0% in every group: they would only push the others apart.
    agents = [result for result in order if not result.is_reference] or order
    sections = []
    for field, title, note in _SECTIONS:
        panels = _panels(agents, field)
        if panels:
            sections.append(_section(title, note, panels))
    return join(*sections)


def _section(title: str, note: str | None, panels: Sequence[Html]) -> Html:
    what = "Share of tasks resolved by one attempt; whiskers span the 95% interval."
    return el(
        "section",
        el("h2", title),
        el("p", note or what, class_="note"),
        el("div", *panels, class_="panels"),
    )


def _panels(agents: Sequence[Result], field: str) -> list[Html]:
    bars: dict[tuple[str, int], list[Bar]] = {}
    for result in agents:
        for group in getattr(result.metrics, field):
            bar = Bar(result.agent, group.resolved_at_1, result.is_reference)
            bars.setdefault((group.name, group.tasks), []).append(bar)
    return [
        el(
            "figure",
            el("figcaption", name, " ", el("small", f"{tasks} task{'s' * (tasks != 1)}")),
            panel(group),
        )
        for (name, tasks), group in bars.items()
    ]
