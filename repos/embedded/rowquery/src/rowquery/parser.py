"""Tokens to a Query, by recursive descent.

From the loosest to the tightest: or, and, not, comparison, + and -, * / and %, unary minus.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rowquery import nodes
from rowquery.lexer import QuerySyntaxError, Token, tokenize
from rowquery.nodes import Expression

T = TypeVar("T")

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_CONSTANTS = {"null": None, "true": True, "false": False}


def parse(query: str) -> nodes.Query:
    """Read a query. Raises QuerySyntaxError with the offset at fault."""
    return _Parser(query).query()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._index = 0

    def query(self) -> nodes.Query:
        self._expect("select")
        outputs = self._several(self._output)
        where = self._where() if self._accept("where") else None
        group_by: list[Expression] = []
        if self._accept("group"):
            self._expect("by")
            group_by = self._several(self._expression)
        order_by: list[nodes.Ordering] = []
        if self._accept("order"):
            self._expect("by")
            order_by = self._several(self._ordering)
        limit = self._count() if self._accept("limit") else None
        offset = self._count() if self._accept("offset") else 0
        if self._current.kind != "end":
            raise self._error(f"unexpected {self._current.text!r}")
        names = [output.name for output in outputs]
        for name in names:
            if names.count(name) > 1:
                raise QuerySyntaxError(0, f"two columns are named {name!r}")
        return nodes.Query(
            tuple(outputs), where, tuple(group_by), tuple(order_by), limit=limit, offset=offset
        )

    @property
    def _current(self) -> Token:
        return self._tokens[self._index]

    def _error(self, message: str) -> QuerySyntaxError:
        return QuerySyntaxError(self._current.position, message)

    def _accept(self, *texts: str) -> str | None:
        """Step over the current token and return it, if it is one of these symbols or keywords."""
        token = self._current
        if token.kind in ("symbol", "keyword") and token.text in texts:
            self._index += 1
            return token.text
        return None

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            found = repr(self._current.text) if self._current.text else "the end"
            raise self._error(f"expected {text!r}, found {found}")

    def _take(self, kind: str, what: str) -> str:
        token = self._current
        if token.kind != kind:
            raise self._error(f"expected {what}")
        self._index += 1
        return token.text

    def _count(self) -> int:
        text = self._take("number", "a whole number")
        if not text.isdecimal():
            self._index -= 1
            raise self._error(f"not a whole number: {text}")
        return int(text)

    def _output(self) -> nodes.Output:
        start = self._current.position
        if self._accept("*"):
            return nodes.Output("*", nodes.Star())
        expression = self._expression()
        if self._accept("as"):
            return nodes.Output(self._take("name", "a name"), expression)
        if isinstance(expression, nodes.Column):
            return nodes.Output(expression.name, expression)
        return nodes.Output(self._text[start : self._current.position].strip(), expression)

    def _where(self) -> Expression:
        start = self._current.position
        condition = self._expression()
        if nodes.has_aggregate(condition):
            raise QuerySyntaxError(start, "an aggregate cannot stand in where")
        return condition

    def _ordering(self) -> nodes.Ordering:
        expression = self._expression()
        return nodes.Ordering(expression, descending=self._accept("asc", "desc") == "desc")

    def _several(self, read: Callable[[], T]) -> list[T]:
        """What `read` reads, once or more, with commas between."""
        items = [read()]
        while self._accept(","):
            items.append(read())
        return items

    def _chain(self, operand: Callable[[], Expression], *operators: str) -> Expression:
        """Operands with operators of one rank between them, which group to the left."""
        left = operand()
        while operator := self._accept(*operators):
            left = nodes.Binary(operator, left, operand())
        return left

    def _expression(self) -> Expression:
        return self._chain(self._conjunction, "or")

    def _conjunction(self) -> Expression:
        return self._chain(self._negation, "and")

    def _negation(self) -> Expression:
        if self._accept("not"):
            return nodes.Unary("not", self._negation())
        return self._comparison()

    def _comparison(self) -> Expression:
        left = self._sum()
        if operator := self._accept(*_COMPARISONS):
            return nodes.Binary(operator, left, self._sum())
        if self._accept("is"):
            negated = self._accept("not")
            self._expect("null")
            test = nodes.Binary("is", left, nodes.Literal(None))
            return nodes.Unary("not", test) if negated else test
        negated = self._accept("not")
        operator = self._accept("in", "between", "like")
        if operator == "in":
            self._expect("(")
            condition: Expression = nodes.Binary("=", left, self._sum())
            while self._accept(","):
                condition = nodes.Binary("or", condition, nodes.Binary("=", left, self._sum()))
            self._expect(")")
        elif operator == "between":
            low = self._sum()
            self._expect("and")
            high = self._sum()
            above, below = nodes.Binary(">=", left, low), nodes.Binary("<=", left, high)
            condition = nodes.Binary("and", above, below)
        elif operator == "like":
            condition = nodes.Binary("like", left, self._sum())
        elif negated:
            raise self._error("expected in, between or like")
        else:
            return left
        return nodes.Unary("not", condition) if negated else condition

    def _sum(self) -> Expression:
        return self._chain(self._product, "+", "-")

    def _product(self) -> Expression:
        return self._chain(self._factor, "*", "/", "%")

    def _factor(self) -> Expression:
        if self._accept("-"):
            return nodes.Unary("-", self._factor())
        if self._accept("("):
            inner = self._expression()
            self._expect(")")
            return inner
        token = self._current
        if token.kind == "keyword" and token.text in _CONSTANTS:
            self._index += 1
            return nodes.Literal(_CONSTANTS[token.text])
        if token.kind == "number":
            self._index += 1
            return nodes.Literal(float(token.text) if "." in token.text else int(token.text))
        if token.kind == "string":
            self._index += 1
            return nodes.Literal(token.text)
        name = self._take("name", "a value")
        return self._call(name.lower()) if self._accept("(") else nodes.Column(name)

    def _call(self, name: str) -> Expression:
        if self._accept(")"):
            return nodes.Call(name, ())
        if name == "count" and self._accept("*"):
            arguments: list[Expression] = [nodes.Star()]
        else:
            arguments = self._several(self._expression)
        self._expect(")")
        return nodes.Call(name, tuple(arguments))
