"""The value of an expression for one row, or for a group of rows.

Null follows SQL: arithmetic and comparisons with null give null, and a condition that is null does
not hold.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rowquery import nodes
from rowquery.nodes import AGGREGATES, Expression, Value

Row = Mapping[str, Value]

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class EvaluationError(ValueError):
    """The expression has no value for this row."""


def evaluate(expression: Expression, row: Row, group: Sequence[Row] | None = None) -> Value:
    """The value of an expression in `row`; aggregates run over `group`.

    Raises EvaluationError for an unknown column or function, values of the wrong type, a division
    by zero, or an aggregate without a group.
    """
    match expression:
        case nodes.Literal(value):
            return value
        case nodes.Column(name):
            if name not in row:
                raise EvaluationError(f"no column {name!r}; there are {', '.join(sorted(row))}")
            return row[name]
        case nodes.Call(name, arguments) if name in AGGREGATES:
            if group is None:
                raise EvaluationError(f"{name} needs a group of rows")
            return _aggregate(name, arguments, group)
        case nodes.Call(name, arguments):
            return _call(name, [evaluate(argument, row, group) for argument in arguments])
        case nodes.Unary("not", operand):
            verdict = truth(evaluate(operand, row, group))
            return None if verdict is None else not verdict
        case nodes.Unary(_, operand):
            return _arithmetic("-", 0, evaluate(operand, row, group))
        case nodes.Binary("and" | "or" as name, left, right):
            return _logic(name, evaluate(left, row, group), lambda: evaluate(right, row, group))
        case nodes.Binary(name, left, right):
            return _binary(name, evaluate(left, row, group), evaluate(right, row, group))
        case nodes.Star():
            raise EvaluationError("* stands alone or in count(*) only")


def truth(value: Value) -> bool | None:
    """A condition's verdict, null when it is open; raises EvaluationError for another value."""
    if value is None or isinstance(value, bool):
        return value
    raise EvaluationError(f"not a condition: {value!r}")


def _logic(name: str, left: Value, right: Callable[[], Value]) -> bool | None:
    """`and` and `or` with three truth values; the right side is asked only if it matters."""
    decisive = name == "or"
    first = truth(left)
    if first is decisive:
        return decisive
    second = truth(right())
    if second is decisive:
        return decisive
    if first is None or second is None:
        return None
    return not decisive


def _binary(name: str, left: Value, right: Value) -> Value:
    if name == "is":
        return left is right
    if name in _COMPARE:
        return compare(name, left, right)
    if name == "like":
        if left is None or right is None:
            return None
        return _like(str(left), str(right))
    return _arithmetic(name, left, right)


def compare(name: str, left: Value, right: Value) -> bool | None:
    """Compare two values; text and numbers are never equal and have no order."""
    if left is None or right is None:
        return None
    if isinstance(left, str) != isinstance(right, str):
        if name in ("=", "<>"):
            return name == "<>"
        raise EvaluationError(f"{left!r} and {right!r} have no order")
    return _COMPARE[name](left, right)


def _like(text: str, pattern: str) -> bool:
    """Whether text fits a pattern in which % is any text and _ one character; case is ignored."""
    wild = {"%": ".*", "_": "."}
    expression = "".join(wild.get(letter, re.escape(letter)) for letter in pattern)
    return re.fullmatch(expression, text, re.IGNORECASE | re.DOTALL) is not None


def _arithmetic(name: str, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return None
    if isinstance(left, str) and isinstance(right, str) and name == "+":
        return left + right
    if isinstance(left, str | bool) or isinstance(right, str | bool):
        raise EvaluationError(f"cannot compute {left!r} {name} {right!r}")
    if name == "+":
        return left + right
    if name == "-":
        return left - right
    if name == "*":
        return left * right
    if right == 0:
        raise EvaluationError(f"{left} {name} 0")
    return left / right if name == "/" else left % right


def _call(name: str, values: Sequence[Value]) -> Value:
    if name == "coalesce":
        return next((value for value in values if value is not None), None)
    if name not in ("lower", "upper", "length", "round"):
        raise EvaluationError(f"no function {name!r}")
    if len(values) != 1:
        raise EvaluationError(f"{name} takes one argument, not {len(values)}")
    value = values[0]
    if value is None:
        return None
    if name == "round":
        if isinstance(value, str):
            raise EvaluationError(f"round takes a number, not {value!r}")
        return round(value)
    text = str(value)
    if name == "length":
        return len(text)
    return text.lower() if name == "lower" else text.upper()


def _aggregate(name: str, arguments: Sequence[Expression], group: Sequence[Row]) -> Value:
    if len(arguments) != 1:
        raise EvaluationError(f"{name} takes one argument")
    argument = arguments[0]
    if isinstance(argument, nodes.Star):
        return len(group)
    values = [value for row in group if (value := evaluate(argument, row)) is not None]
    if name == "count":
        return len(values)
    if not values:
        return None
    if name in ("min", "max"):
        sign = "<" if name == "min" else ">"
        best = values[0]
        for value in values[1:]:
            if compare(sign, value, best):
                best = value
        return best
    total: Value = 0
    for value in values:
        total = _arithmetic("+", total, value)
    return total if name == "sum" else _arithmetic("/", total, len(values))
