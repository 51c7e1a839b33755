"""The parts of a parsed query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Value = int | float | str | bool | None

AGGREGATES = frozenset({"count", "sum", "avg", "min", "max"})


@dataclass(frozen=True)
class Literal:
    value: Value


@dataclass(frozen=True)
class Column:
    name: str


@dataclass(frozen=True)
class Star:
    """`*`: all columns of a row, or the rows themselves in `count(*)`."""


@dataclass(frozen=True)
class Unary:
    """`operator` is `-` or `not`."""

    operator: str
    operand: Expression


@dataclass(frozen=True)
class Binary:
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple[Expression, ...]


Expression = Literal | Column | Star | Unary | Binary | Call


@dataclass(frozen=True)
class Output:
    """A column of the result."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class Ordering:
    expression: Expression
    descending: bool = False


@dataclass(frozen=True)
class Query:
    outputs: tuple[Output, ...]
    where: Expression | None = None
    group_by: tuple[Expression, ...] = ()
    order_by: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0

    @property
    def is_grouped(self) -> bool:
        """Whether a row of the result stands for a group of rows."""
        return bool(self.group_by) or any(has_aggregate(out.expression) for out in self.outputs)


def children(expression: Expression) -> Iterator[Expression]:
    match expression:
        case Unary(_, operand):
            yield operand
        case Binary(_, left, right):
            yield from (left, right)
        case Call(_, arguments):
            yield from arguments


def has_aggregate(expression: Expression) -> bool:
    if isinstance(expression, Call) and expression.name in AGGREGATES:
        return True
    return any(has_aggregate(child) for child in children(expression))
