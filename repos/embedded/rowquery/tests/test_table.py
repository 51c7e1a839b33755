from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rowquery
from rowquery import read_csv, render_table
from rowquery.nodes import Value
from rowquery.table import format_value, infer


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("007", "007"),
        ("1.50", 1.5),
        (" True ", True),
        ("", None),
        ("1.2.3", "1.2.3"),
    ],
)
def test_infer(text: str, value: Value) -> None:
    inferred = infer(text)
    assert (type(inferred), inferred) == (type(value), value)


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), (False, "false"), (2.5, "2.5"), (3.0, "3"), (10, "10")]
)
def test_format_value(value: Value, text: str) -> None:
    assert format_value(value) == text


def test_numbers_are_aligned_right() -> None:
    rows: list[dict[str, Value]] = [{"name": "Oslo", "n": 9}, {"name": "Wien", "n": 1200}]
    assert render_table(rows).splitlines() == [
        "name     n",
        "----  ----",
        "Oslo     9",
        "Wien  1200",
    ]


def test_missing_and_long_cells() -> None:
    rows: list[dict[str, Value]] = [{"a": "abcdefgh"}, {"b": 1}]
    assert render_table(rows, max_width=5).splitlines() == [
        "a      b",
        "-----  -",
        "abcd…",
        "       1",
    ]


def test_no_rows() -> None:
    assert render_table([]) == "(no rows)"


def test_read_csv(tmp_path: Path) -> None:
    path = tmp_path / "stock.csv"
    path.write_text('item,price,sold\n"nut, small",0.50,true\n\nbolt,,false\n', encoding="utf-8")
    assert read_csv(path) == [
        {"item": "nut, small", "price": 0.5, "sold": True},
        {"item": "bolt", "price": None, "sold": False},
    ]


def test_read_csv_refuses_ragged_rows(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,2\n3\n", encoding="utf-8")
    with pytest.raises(ValueError, match="row 3 has 1 fields, not 2"):
        read_csv(path)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command as a user would."""
    folder = str(Path(rowquery.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-B", "-m", "rowquery", *arguments],
        env={**os.environ, "PYTHONPATH": folder, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=30,
    )


def test_command(tmp_path: Path) -> None:
    path = tmp_path / "stock.csv"
    path.write_text("item,kind,n\nnut,metal,3\nbolt,metal,4\npeg,wood,1\n", encoding="utf-8")
    done = command("select kind, sum(n) as n group by kind order by n desc", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "kind   n\n-----  -\nmetal  7\nwood   1\n"


def test_command_reports_a_bad_query(tmp_path: Path) -> None:
    path = tmp_path / "stock.csv"
    path.write_text("a\n1\n", encoding="utf-8")
    done = command("select", str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "rowquery: at 6: expected a value\n"
