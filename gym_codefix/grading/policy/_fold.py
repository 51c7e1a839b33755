"""Constant folding of the string operations that could hide a name from a reader."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

_LONGEST = 10_000
_METHODS = frozenset(
    {"join", "lower", "upper", "swapcase", "title", "capitalize", "casefold", "strip", "lstrip"}
    | {"rstrip", "replace", "format", "removeprefix", "removesuffix", "decode", "encode"}
)
_FUNCTIONS = frozenset({"chr", "ord", "str", "bytes", "bytearray", "reversed", "list", "tuple"})

_MOST_WORK = 5_000_000
_WORK_OF_AN_ITEM = 1 / 16
_WIDE = re.compile(r"[0-9]{5}|\*")  # what could ask a format for a long result

Part = Callable[[ast.AST], Any]


class TooCostly(Exception):
    """A module takes more work to read than any honest one."""


class Budget:
    """The work that may be spent on one module; a unit takes well under a microsecond."""

    def __init__(self) -> None:
        self._left = float(_MOST_WORK)

    def spend(self, work: float = 1) -> None:
        """Raises TooCostly: to stop in silence would hide what comes after."""
        self._left -= work
        if self._left < 0:
            raise TooCostly("what it names takes too long to find out")


def fold_operation(node: ast.AST, part: Part, budget: Budget) -> Any | None:
    """The constant value of `node`, whose operands `part` folds; None if it has none.

    Values are text, bytes, int, or a list of these; none is longer than 10,000 items. Raises
    TooCostly.
    """
    budget.spend()
    try:
        value = _fold(node, part, budget)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError):
        return None
    if isinstance(value, (str, bytes, list)):
        budget.spend(len(value) * _WORK_OF_AN_ITEM)
        if len(value) > _LONGEST:
            return None
    return value


def _fold(node: ast.AST, part: Part, budget: Budget) -> Any | None:
    match node:
        case ast.Constant(value=str() | bytes() | int() as value):
            return None if isinstance(value, bool) else value
        case ast.BinOp(left=left, op=op, right=right):
            return _fold_binary(part(left), op, right, part)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = part(operand)
            return -value if isinstance(value, int) else None
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return _all([part(element) for element in elements])
        case ast.JoinedStr(values=values):
            pieces = _all([part(value) for value in values])
            return None if pieces is None else "".join(pieces)
        case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
            value = part(inner)
            return None if value is None else str(value)
        case ast.Subscript(value=inner, slice=index):
            return _fold_subscript(part(inner), index, part)
        case ast.GeneratorExp() | ast.ListComp():
            return _fold_comprehension(node, part, budget)
        case ast.Call(func=function, args=arguments, keywords=[]):
            return _fold_call(function, _all([part(a) for a in arguments]), part)
    return None


def _all(values: list[Any]) -> list[Any] | None:
    return None if any(value is None for value in values) else values


def _fold_binary(left: Any, op: ast.operator, right_node: ast.AST, part: Part) -> Any | None:
    right = part(right_node)
    if left is None or right is None:
        return None
    if isinstance(op, ast.Add):
        return left + right
    if isinstance(op, ast.Mod) and isinstance(left, (str, bytes)) and len(left) <= 200:
        values = right if isinstance(right, list) else [right]
        return left % tuple(values) if _narrow(left, values) else None
    if not (isinstance(left, int) and isinstance(right, int)):
        if isinstance(op, ast.Mult) and isinstance(right, int):
            return left * right if len(left) * max(right, 0) <= _LONGEST else None
        return None
    if max(abs(left), abs(right)) > 1 << 40:
        return None
    match op:
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.BitXor():
            return left ^ right
        case ast.FloorDiv() if right:
            return left // right
    return None


def _fold_subscript(value: Any, index: ast.expr, part: Part) -> Any | None:
    if value is None or isinstance(value, int):
        return None
    if isinstance(index, ast.Slice):
        ends = (index.lower, index.upper, index.step)
        bounds = [None if end is None else part(end) for end in ends]
        if any(end is not None and bound is None for end, bound in zip(ends, bounds, strict=True)):
            return None
        return value[slice(*bounds)]
    position = part(index)
    return value[position] if isinstance(position, int) else None


def _fold_comprehension(
    node: ast.GeneratorExp | ast.ListComp, part: Part, budget: Budget
) -> list[Any] | None:
    """`chr(n) for n in [...]` and its like: one loop, no condition, one use of the variable."""
    if len(node.generators) != 1:
        return None
    loop = node.generators[0]
    items = part(loop.iter)
    if loop.ifs or items is None or isinstance(items, int) or not isinstance(loop.target, ast.Name):
        return None
    name = loop.target.id
    folded = []
    for item in list(items)[:_LONGEST]:

        def bound(inner: ast.AST, item: Any = item) -> Any:
            if isinstance(inner, ast.Name):
                return item if inner.id == name else None
            return fold_operation(inner, bound, budget)

        folded.append(bound(node.elt))
    return _all(folded)


def _fold_call(function: ast.expr, arguments: list[Any] | None, part: Part) -> Any | None:
    if arguments is None:
        return None
    if isinstance(function, ast.Name) and function.id in _FUNCTIONS and len(arguments) == 1:
        (value,) = arguments
        match function.id:
            case "chr":
                return chr(value)
            case "ord":
                return ord(value)
            case "str":
                return str(value) if isinstance(value, (str, int)) else None
            case "bytes" | "bytearray":
                return bytes(value) if isinstance(value, (list, bytes)) else None
            case "reversed":
                return list(value)[::-1]
            case _:
                return list(value)
    if isinstance(function, ast.Attribute):
        if function.attr == "fromhex":
            return bytes.fromhex(arguments[0])
        if function.attr in _METHODS:
            owner = part(function.value)
            if not isinstance(owner, (str, bytes)) or not _short(owner, arguments):
                return None
            if function.attr != "format" or _narrow(owner, arguments):
                return getattr(owner, function.attr)(*arguments)
    return None


def _narrow(template: str | bytes, values: list[Any]) -> bool:
    """Whether formatting these cannot make a long result: no width is asked for that is one."""
    texts = [value for value in (template, *values) if isinstance(value, (str, bytes))]
    wide = (
        _WIDE.search(text if isinstance(text, str) else text.decode("latin-1")) for text in texts
    )
    return not any(wide) and all(abs(v) <= _LONGEST for v in values if isinstance(v, int))


def _short(owner: str | bytes, arguments: list[Any]) -> bool:
    """Whether a method's result stays near the allowed length: `replace` and `join` multiply."""
    sizes = [len(value) if isinstance(value, (str, bytes, list)) else value for value in arguments]
    longest = max([1, *(size for size in sizes if isinstance(size, int))])
    return len(owner) * longest <= 100 * _LONGEST
