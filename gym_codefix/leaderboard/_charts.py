"""Bars with interval whiskers, as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gym_codefix.leaderboard._html import Html, el, join
from gym_codefix.leaderboard._ranking import percent, percent_interval
from gym_codefix.leaderboard._result import Estimate

_WIDTH = 360
_LABEL_END = 138
_BAR_END = 306
_ROW = 24
_TOP = 4
_AXIS = 16
_LONGEST_LABEL = 17


@dataclass(frozen=True)
class Bar:
    """One bar: whose it is, and the share that it shows."""

    label: str
    estimate: Estimate
    reference: bool


def panel(bars: Sequence[Bar]) -> Html:
    """A bar per agent on an axis from 0 to 100%, 360 units wide, for one group of tasks."""
    height = _TOP + _ROW * len(bars) + _AXIS
    bottom = height - _AXIS
    grid = [
        join(
            el("line", x1=_x(share), x2=_x(share), y1=0, y2=bottom, class_="grid"),
            el(
                "text",
                f"{share:.0%}",
                x=_x(share),
                y=height - 3,
                class_="tick",
                text_anchor="middle",
            ),
        )
        for share in (0.0, 0.5, 1.0)
    ]
    rows = [_row(bar, _TOP + index * _ROW) for index, bar in enumerate(bars)]
    return el(
        "svg",
        *grid,
        *rows,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        class_="bars",
        aria_label="; ".join(_told(bar) for bar in bars),
    )


def _told(bar: Bar) -> str:
    interval = percent_interval(bar.estimate)
    return f"{bar.label} {percent(bar.estimate.value)}, 95% interval {interval}"


def _shortened(label: str) -> str:
    # From the middle: variants of one agent differ at the end of their names.
    if len(label) <= _LONGEST_LABEL:
        return label
    half = _LONGEST_LABEL // 2
    return f"{label[:half]}…{label[-half:]}"


def _x(share: float) -> float:
    return round(_LABEL_END + share * (_BAR_END - _LABEL_END), 2)


def _row(bar: Bar, top: int) -> Html:
    estimate, middle = bar.estimate, top + _ROW / 2
    return el(
        "g",
        el("title", _told(bar)),
        el("text", _shortened(bar.label), x=_LABEL_END - 9, y=middle + 4, text_anchor="end"),
        _bar(bar, _x(0), middle, _x(estimate.value) - _x(0)),
        _whisker(_x(estimate.low), _x(estimate.high), middle),
        el("text", percent(estimate.value), x=_WIDTH - 2, y=middle + 4, text_anchor="end"),
    )


def gauge(bar: Bar) -> Html:
    """The same bar alone, without text: for a cell beside its number."""
    width, height = 104, 18
    scale = width - 4
    value, low, high = bar.estimate.value, bar.estimate.low, bar.estimate.high
    return el(
        "svg",
        el("rect", x=2, y=5, width=scale, height=8, rx=2, class_="track"),
        _bar(bar, 2, height / 2, round(value * scale, 2), thickness=8),
        _whisker(round(2 + low * scale, 2), round(2 + high * scale, 2), height / 2),
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        aria_hidden="true",
        class_="gauge",
    )


def _bar(bar: Bar, x: float, middle: float, length: float, thickness: int = 12) -> Html:
    kind = "bar reference" if bar.reference else "bar"
    return el(
        "rect",
        x=x,
        y=middle - thickness / 2,
        width=round(max(length, 0), 2),
        height=thickness,
        rx=2,
        class_=kind,
    )


def _whisker(low: float, high: float, middle: float) -> Html:
    cap = 3.5
    path = (
        f"M{low} {middle - cap}V{middle + cap}M{low} {middle}H{high}"
        f"M{high} {middle - cap}V{middle + cap}"
    )
    return join(el("path", d=path, class_="halo"), el("path", d=path, class_="whisker"))
