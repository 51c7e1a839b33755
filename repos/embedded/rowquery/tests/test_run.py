from __future__ import annotations

import pytest

from rowquery import EvaluationError, run
from rowquery.nodes import Value

CITIES: list[dict[str, Value]] = [
    {"name": "Oslo", "country": "NO", "people": 709, "sea": True},
    {"name": "Bergen", "country": "NO", "people": 289, "sea": True},
    {"name": "Graz", "country": "AT", "people": 291, "sea": False},
    {"name": "Wien", "country": "AT", "people": 2000, "sea": False},
    {"name": "Vaduz", "country": "LI", "people": None, "sea": False},
]


def names(clauses: str) -> list[Value]:
    return [row["name"] for row in run(f"select name {clauses}", CITIES)]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("people > 289", ["Oslo", "Graz", "Wien"]),
        ("people >= 289 and sea", ["Oslo", "Bergen"]),
        ("people between 289 and 291", ["Bergen", "Graz"]),
        ("not sea and people < 1000", ["Graz"]),
        ("people is null or people = 709", ["Oslo", "Vaduz"]),
        ("country in ('AT', 'LI')", ["Graz", "Wien", "Vaduz"]),
        ("name like '%e_'", ["Bergen", "Wien"]),
        ("name like 'b%'", ["Bergen"]),
        ("length(name) = 5", ["Vaduz"]),
        ("people % 2 = 0", ["Wien"]),
        ("name <> 709 and people < 300", ["Bergen", "Graz"]),
        ("-people < -1000", ["Wien"]),
    ],
)
def test_where(condition: str, expected: list[Value]) -> None:
    assert names(f"where {condition}") == expected


@pytest.mark.parametrize("condition", ["people = null", "people not in (1, null)", "null"])
def test_null_never_holds(condition: str) -> None:
    assert names(f"where {condition}") == []


def test_true_wins_over_null() -> None:
    assert len(names("where null or true")) == len(CITIES)


def test_star_keeps_all_columns() -> None:
    assert run("select * where name = 'Oslo'", CITIES) == [CITIES[0]]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7 / 2", 3.5),
        ("2 + 3 * 4", 14),
        ("'a' + 'b'", "ab"),
        ("upper('abc')", "ABC"),
        ("round(7 / 2)", 4),
        ("coalesce(null, 0, 5)", 0),
        ("1 + null", None),
        ("not null", None),
    ],
)
def test_expressions(expression: str, value: Value) -> None:
    assert run(f"select {expression} as x", [{}]) == [{"x": value}]


def test_order_by_several_keys() -> None:
    assert names("order by country, people desc") == ["Wien", "Graz", "Vaduz", "Oslo", "Bergen"]


def test_order_puts_null_first_and_last_when_descending() -> None:
    assert names("order by people")[0] == "Vaduz"
    assert names("order by people desc")[-1] == "Vaduz"


def test_order_by_a_new_name() -> None:
    rows = run("select name, length(name) as n order by n desc, name limit 2", CITIES)
    assert [row["name"] for row in rows] == ["Bergen", "Vaduz"]


def test_limit_and_offset() -> None:
    assert names("limit 2 offset 1") == ["Bergen", "Graz"]


def test_group_by() -> None:
    rows = run(
        "select country, count(*) as n, sum(people) as total, max(name) as last "
        "group by country order by country",
        CITIES,
    )
    assert rows == [
        {"country": "AT", "n": 2, "total": 2291, "last": "Wien"},
        {"country": "LI", "n": 1, "total": None, "last": "Vaduz"},
        {"country": "NO", "n": 2, "total": 998, "last": "Oslo"},
    ]


def test_aggregates_skip_null() -> None:
    rows = run("select count(people) as n, avg(people) as mean, min(people) as least", CITIES)
    assert rows == [{"n": 4, "mean": 822.25, "least": 289}]


def test_aggregate_over_no_rows() -> None:
    assert run("select count(*) as n, sum(a) as total", []) == [{"n": 0, "total": None}]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select nope", "no column 'nope'; there are country, name"),
        ("select people / 0", "/ 0"),
        ("select name * 2", "cannot compute"),
        ("select name where name > 1", "have no order"),
        ("select name where people", "not a condition"),
        ("select name where people and true", "not a condition"),
        ("select shout(name)", "no function 'shout'"),
        ("select name group by country", "neither grouped by nor aggregated"),
        ("select * group by country", "cannot be selected"),
    ],
)
def test_evaluation_errors(query: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        run(query, CITIES)
