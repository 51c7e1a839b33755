from __future__ import annotations

import pytest

from rowquery import QuerySyntaxError, parse
from rowquery.lexer import Token, tokenize
from rowquery.nodes import Binary, Call, Column, Literal, Ordering, Output, Star, Unary


def where(condition: str) -> object:
    return parse(f"select * where {condition}").where


def test_tokens() -> None:
    assert tokenize("SELECT a!='it''s'") == [
        Token("keyword", "select", 0),
        Token("name", "a", 7),
        Token("symbol", "<>", 8),
        Token("string", "it's", 10),
        Token("end", "", 17),
    ]


def test_quoted_name_is_not_a_keyword() -> None:
    assert parse('select "order"').outputs == (Output("order", Column("order")),)


def test_outputs() -> None:
    query = parse("select a, a + 1, count(*) as n")
    assert query.outputs == (
        Output("a", Column("a")),
        Output("a + 1", Binary("+", Column("a"), Literal(1))),
        Output("n", Call("count", (Star(),))),
    )


def test_clauses() -> None:
    query = parse("select a where a > 1 group by a order by a desc, b asc limit 5 offset 2")
    assert query.where == Binary(">", Column("a"), Literal(1))
    assert query.group_by == (Column("a"),)
    assert query.order_by == (Ordering(Column("a"), True), Ordering(Column("b"), False))
    assert (query.limit, query.offset) == (5, 2)


def test_precedence() -> None:
    assert where("a or b and not c = 1 + 2 * 3") == Binary(
        "or",
        Column("a"),
        Binary(
            "and",
            Column("b"),
            Unary(
                "not",
                Binary(
                    "=",
                    Column("c"),
                    Binary("+", Literal(1), Binary("*", Literal(2), Literal(3))),
                ),
            ),
        ),
    )


def test_operators_of_one_rank_go_left_to_right() -> None:
    minus = Binary("-", Column("a"), Column("b"))
    assert where("a - b - c = 0") == Binary("=", Binary("-", minus, Column("c")), Literal(0))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("a is null", Binary("is", Column("a"), Literal(None))),
        ("a is not null", Unary("not", Binary("is", Column("a"), Literal(None)))),
        ("a in (1)", Binary("=", Column("a"), Literal(1))),
        ("a not like 'x%'", Unary("not", Binary("like", Column("a"), Literal("x%")))),
    ],
)
def test_conditions(condition: str, expected: object) -> None:
    assert where(condition) == expected


@pytest.mark.parametrize(
    ("query", "position", "message"),
    [
        ("", 0, "expected 'select', found the end"),
        ("select", 6, "expected a value"),
        ("select a where b = 'x", 19, "never closed"),
        ("select a ; b", 9, "unexpected character ';'"),
        ("select a limit 1.5", 15, "not a whole number"),
        ("select a where b not 3", 21, "in, between or like"),
        ("select (a", 9, r"expected '\)'"),
        ("select a a", 9, "unexpected 'a'"),
        ("select a where count(*) > 1", 15, "cannot stand in where"),
        ("select a, b as a", 0, "two columns are named 'a'"),
    ],
)
def test_errors_name_the_position(query: str, position: int, message: str) -> None:
    with pytest.raises(QuerySyntaxError, match=message) as caught:
        parse(query)
    assert caught.value.position == position
