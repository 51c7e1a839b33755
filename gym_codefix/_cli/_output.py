"""What every command reads and prints with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table

as_json = click.option("--json", "json_output", is_flag=True, help="print JSON")


def print_json(document: Any) -> None:
    """Data for programs."""
    click.echo(json.dumps(document, indent=1, sort_keys=True))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Data for people."""
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(str, row))
    Console(highlight=False, markup=False).print(table)


def counted(count: int, noun: str) -> str:
    """``1 fault``, ``2 faults``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def comma_separated(text: str) -> list[str]:
    """The parts of ``A, B,C``, empty ones left out."""
    return [part.strip() for part in text.split(",") if part.strip()]
