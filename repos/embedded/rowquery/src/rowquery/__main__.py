"""`python -m rowquery QUERY FILE.csv` prints the result as a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rowquery.engine import run
from rowquery.table import read_csv, render_table


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0, or 2 for a bad query or file."""
    parser = argparse.ArgumentParser(prog="rowquery", description="Query a CSV file.")
    parser.add_argument("query")
    parser.add_argument("file", type=Path)
    parser.add_argument("--width", type=int, default=30, help="cut cells to this many characters")
    options = parser.parse_args(arguments)
    try:
        table = render_table(run(options.query, read_csv(options.file)), max_width=options.width)
    except (OSError, ValueError) as error:
        print(f"rowquery: {error}", file=sys.stderr)
        return 2
    print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
