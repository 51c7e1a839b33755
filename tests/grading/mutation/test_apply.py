"""Applying one mutation, or several at once."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

from gym_codefix.grading.mutation import (
    Mutation,
    MutationNotFound,
    apply_mutation,
    apply_mutations,
    enumerate_mutations,
)

SOURCE = "def f(x, y):\n    x.a = y\n    if x < y and y > 3:\n        x()\n    return x + y\n"


def pick(operator: str) -> Mutation:
    return next(each for each in enumerate_mutations(SOURCE) if each.operator == operator)


@pytest.mark.parametrize(
    "change", [{"line": 4}, {"column": 0}, {"variant": 1}, {"function": "g"}, {"operator": "no:x"}]
)
def test_a_mutation_of_another_place_is_not_found(change: dict[str, int | str]) -> None:
    wrong = dataclasses.replace(pick("arithmetic:+->-"), **change)  # type: ignore[arg-type]
    with pytest.raises(MutationNotFound, match=re.escape(wrong.operator)):
        apply_mutation(SOURCE, wrong)


def test_several_are_made_in_any_order_at_their_original_positions() -> None:
    chosen = [pick("arithmetic:+->-"), pick("delete-statement:assignment"), pick("logical:and->or")]
    expected = SOURCE.replace("    x.a = y\n", "").replace(" and ", " or ").replace("+", "-")
    assert apply_mutations(SOURCE, chosen) == expected
    assert apply_mutations(SOURCE, chosen[::-1]) == expected
    assert apply_mutations(SOURCE, []) == SOURCE


def test_overlapping_mutations_are_refused() -> None:
    whole, inside = pick("negate-condition:if"), pick("relational:<-><=")
    for pair in ([whole, inside], [inside, whole], [inside, inside]):
        with pytest.raises(ValueError, match="overlap"):
            apply_mutations(SOURCE, pair)


def test_deletions_that_empty_a_block_together_are_refused() -> None:
    source = "def f(x):\n    x.a()\n    x.b()\n"
    both = enumerate_mutations(source, families=["delete-statement"])
    with pytest.raises(ValueError, match="does not compile"):
        apply_mutations(source, both)


def test_json_holds_the_fields() -> None:
    mutation = pick("logical:and->or")
    assert mutation.family == "logical"
    assert mutation.to_json() == {
        "operator": "logical:and->or",
        "line": 3,
        "column": 13,
        "end_line": 3,
        "end_column": 16,
        "variant": 0,
        "function": "f",
    }
    assert Mutation.from_json(json.loads(json.dumps(mutation.to_json()))) == mutation


@pytest.mark.parametrize("change", [{"line": "3"}, {"line": True}, {"extra": 1}, {"operator": 1}])
def test_json_with_wrong_fields_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        Mutation.from_json(pick("logical:and->or").to_json() | change)
