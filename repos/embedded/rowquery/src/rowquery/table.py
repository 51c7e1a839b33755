"""Rows in and out of text: CSV and plain tables."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from rowquery.nodes import Value


def read_csv(path: Path) -> list[dict[str, Value]]:
    """The rows of a CSV file with a header, each field as `infer` reads it.

    Raises ValueError for a row with another number of fields than the header.
    """
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = list(csv.reader(file)) or [[]]
    rows: list[dict[str, Value]] = []
    for number, fields in enumerate(lines, start=2):
        if not fields:
            continue
        if len(fields) != len(header):
            raise ValueError(f"row {number} has {len(fields)} fields, not {len(header)}")
        rows.append({name: infer(text) for name, text in zip(header, fields, strict=True)})
    return rows


def infer(text: str) -> Value:
    """`12` and `1.5` to numbers, `true` and `false` to truths, an empty field to null."""
    stripped = text.strip()
    if not stripped:
        return None
    if stripped.lower() in ("true", "false"):
        return stripped.lower() == "true"
    digits = stripped.removeprefix("-")
    # An identifier such as 007 stays text: as a number it would lose its zeros.
    if digits.isdecimal() and (digits == "0" or not digits.startswith("0")):
        return int(stripped)
    whole, point, part = digits.partition(".")
    if point and whole.isdecimal() and part.isdecimal():
        return float(stripped)
    return stripped


def render_table(rows: Sequence[Mapping[str, Value]], *, max_width: int = 30) -> str:
    """A table with a header and a rule; numbers are aligned right, long cells cut to `max_width`.

    The columns are those of all rows, in order of first appearance. Raises ValueError for a
    `max_width` under two.
    """
    if max_width < 2:
        raise ValueError("max_width must be at least 2")
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not names:
        return "(no rows)"
    columns = []
    for name in names:
        values = [row.get(name) for row in rows]
        cells = [_clip(text, max_width) for text in (name, *map(format_value, values))]
        width = max(map(len, cells))
        right = all(_is_number(value) for value in values if value is not None)
        columns.append([cell.rjust(width) if right else cell.ljust(width) for cell in cells])
    header, *body = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    rule = "  ".join("-" * len(cells[0]) for cells in columns)
    return "\n".join([header, rule, *body])


def format_value(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _clip(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
