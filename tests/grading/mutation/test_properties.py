"""Properties over generated functions."""

from __future__ import annotations

import ast
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_codefix.grading.mutation import apply_mutation, apply_mutations, enumerate_mutations

ATOMS = ["x", "y", "é", "0", "-1", "2.5", "None", "True", "'a'", "f'b{x}'", "x[1:y]", "[*x, y]"]
COMPOUNDS = [
    *(f"({{}} {operator} {{}})" for operator in ("+", "-", "**", "//", "<<", "<", "==", "is")),
    *(f"({{}} {operator} {{}})" for operator in ("not in", "and", "or", "if x else")),
    "(not {})",
    "(-{})",
    "x({}, {}, k={})",
    "[x for x in {} if {}]",
    "(lambda: {})",
    "(\n  w  # why\n  := {}\n)",
]
STATEMENTS = [
    "return {}",
    "x.a = {}",
    "y += {}; x({})",
    "if {}: raise ValueError({})",
    "assert {}, {}",
    "for y in x({}): break",
]


@st.composite
def filled(draw: st.DrawFn, forms: list[str], depth: int) -> str:
    form = draw(st.sampled_from(forms))
    inner = ATOMS + COMPOUNDS if depth else ATOMS
    parts = [draw(filled(inner, depth - 1)) for _ in range(form.count("{}"))]
    # `replace`, since an f-string has braces of its own.
    for part in parts:
        form = form.replace("{}", part, 1)
    return form


def compiles(source: str) -> bool:
    try:
        compile(source, "<generated>", "exec")
    except SyntaxError:  # a walrus may not stand in every part of a comprehension
        return False
    return True


sources = (
    st.lists(filled(STATEMENTS, 2), min_size=1, max_size=3)
    .map(lambda body: "def f(x, y, é):\n" + "".join(f"    {each}\n" for each in body))
    .filter(compiles)
)
pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")


@given(sources)
def test_every_mutant_parses_differs_and_is_unique(source: str) -> None:
    mutants = [apply_mutation(source, each) for each in enumerate_mutations(source)]
    dumps = {ast.dump(ast.parse(each)) for each in mutants}
    assert len(dumps) == len(mutants)
    assert ast.dump(ast.parse(source)) not in dumps


@given(sources)
def test_two_mutations_are_made_or_refused_by_name(source: str) -> None:
    for first, second in list(combinations(enumerate_mutations(source), 2))[:40]:
        try:
            both = apply_mutations(source, [first, second])
        except ValueError as error:
            assert "overlap" in str(error) or "does not compile" in str(error)
        else:
            assert both != source
            assert both == apply_mutations(source, [second, first])
