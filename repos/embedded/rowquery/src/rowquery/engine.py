"""Run a query over rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rowquery.evaluate import EvaluationError, Row, evaluate, truth
from rowquery.nodes import Column, Expression, Query, Star, Value
from rowquery.parser import parse

# A row of the input (the first of its group), its group if any, and the row of the result.
_Candidate = tuple[Row, Sequence[Row] | None, dict[str, Value]]


def run(query: str | Query, rows: Iterable[Row]) -> list[dict[str, Value]]:
    """The rows that a query selects, each with the columns in the order of `select`.

    Without `order by`, rows keep their order, and groups that of their first row.
    Raises QuerySyntaxError and EvaluationError.
    """
    parsed = parse(query) if isinstance(query, str) else query
    where = parsed.where
    kept = [row for row in rows if where is None or truth(evaluate(where, row))]
    if parsed.is_grouped:
        candidates = _grouped(parsed, kept)
    else:
        candidates = [(row, None, _project(parsed, row, None)) for row in kept]
    # Sorting is stable, so the least important key goes first.
    for ordering in reversed(parsed.order_by):
        keys = [_sort_key(ordering.expression, candidate) for candidate in candidates]
        try:
            order = sorted(range(len(keys)), key=keys.__getitem__, reverse=ordering.descending)
        except TypeError:
            raise EvaluationError("text and numbers have no order") from None
        candidates = [candidates[index] for index in order]
    results = [result for _, _, result in candidates]
    stop = None if parsed.limit is None else parsed.offset + parsed.limit
    return results[parsed.offset : stop]


def _grouped(query: Query, rows: Sequence[Row]) -> list[_Candidate]:
    for output in query.outputs:
        if isinstance(output.expression, Star):
            raise EvaluationError("* cannot be selected from groups")
        if isinstance(output.expression, Column) and output.expression not in query.group_by:
            raise EvaluationError(f"{output.name!r} is neither grouped by nor aggregated")
    groups: dict[tuple[Value, ...], list[Row]] = {}
    for row in rows:
        key = tuple(evaluate(expression, row) for expression in query.group_by)
        groups.setdefault(key, []).append(row)
    if not groups and not query.group_by:
        # An aggregate over no rows at all is still one row: count(*) is 0.
        groups[()] = []
    return [
        (first, group, _project(query, first, group))
        for group in groups.values()
        for first in (group[0] if group else {},)
    ]


def _project(query: Query, row: Row, group: Sequence[Row] | None) -> dict[str, Value]:
    result: dict[str, Value] = {}
    for output in query.outputs:
        if isinstance(output.expression, Star):
            result.update(row)
        else:
            result[output.name] = evaluate(output.expression, row, group)
    return result


def _sort_key(expression: Expression, candidate: _Candidate) -> tuple[bool, Value]:
    """Nulls come first; a column named by `as` wins over one of the input."""
    row, group, result = candidate
    if isinstance(expression, Column) and expression.name in result:
        value = result[expression.name]
    else:
        value = evaluate(expression, row, group)
    return (value is not None, value)
