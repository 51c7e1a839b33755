"""A small query language over rows, and tables in plain text."""

from __future__ import annotations

from rowquery.engine import run
from rowquery.evaluate import EvaluationError
from rowquery.lexer import QuerySyntaxError
from rowquery.parser import parse
from rowquery.table import read_csv, render_table

__version__ = "0.3.1"

__all__ = ["EvaluationError", "QuerySyntaxError", "parse", "read_csv", "render_table", "run"]
