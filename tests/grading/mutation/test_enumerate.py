"""What is enumerated, in which order, and what never is."""

from __future__ import annotations

import warnings

import pytest

from gym_codefix.grading.mutation import Mutation, apply_mutation, enumerate_mutations

LEFT_ALONE = '''\
from typing import TYPE_CHECKING

LIMIT = 3 + 4
NAMES = [name for name in "abc" if name > "a"]

if TYPE_CHECKING:

    def only_checked(x):
        return x + 1


class Shape(metaclass=type):
    """A docstring."""

    sides: "int" = 4 if LIMIT else 5


@decorate(1, key="x")
def run(x: "int" = 1, *, y: int = -2) -> "str":
    """A docstring."""
    z: "int | None"

    @decorate(2)
    def inner(a=3, b: "str" = ""): ...

    class Local(Shape, metaclass=make(4)):
        """Another."""

    if TYPE_CHECKING:
        z = 5
    f = lambda k=6: k
'''


def test_only_what_function_bodies_run_is_mutated() -> None:
    assert (
        enumerate_mutations(LEFT_ALONE, families=None)
        == [
            # `cast(…)` keeps its type, nothing else here is code that a mutant could change.
        ]
    )


def test_the_else_of_a_type_checking_block_runs() -> None:
    source = (
        "def f():\n    if TYPE_CHECKING:\n        x = 1\n    else:\n        x = 2\n    return x\n"
    )
    assert {each.line for each in enumerate_mutations(source, families=["number"])} == {5}


def test_functions_are_named_by_their_qualified_name() -> None:
    source = (
        "class A:\n"
        "    class B:\n"
        "        def method(self):\n"
        "            def inner():\n"
        "                return lambda: 1\n"
        "            class C:\n"
        "                x = 2\n"
        "                async def go(self): return 3\n"
    )
    named = {each.line: each.function for each in enumerate_mutations(source, families=["number"])}
    assert named == {
        5: "A.B.method.<locals>.inner",
        7: "A.B.method",
        8: "A.B.method.<locals>.C.go",
    }


def test_the_order_is_position_then_operator_then_variant() -> None:
    source = "def f(x):\n    return 'ab' if x < 1 else g(x, 2)\n"
    found = enumerate_mutations(source)
    keys = [(m.line, m.column, m.end_line, m.end_column, m.operator, m.variant) for m in found]
    assert keys == sorted(keys)
    assert found == enumerate_mutations(source)
    assert Mutation("relational:<-><=", 2, 21, 2, 22, 0, "f") in found
    assert [m.variant for m in found if m.operator == "string:changed"] == [0, 1]


def test_lines_and_families_narrow_the_list() -> None:
    source = "def f(x):\n    x += 1\n    return x < 2\n"
    everything = enumerate_mutations(source)
    assert enumerate_mutations(source, lines={3}) == [m for m in everything if m.line == 3]
    assert {m.family for m in enumerate_mutations(source, families={"augmented"})} == {"augmented"}
    assert enumerate_mutations(source, families=()) == []


def test_an_unknown_family_is_an_error_that_names_the_valid_ones() -> None:
    with pytest.raises(ValueError, match=r"\['magic'\].*'relational'"):
        enumerate_mutations("x = 1\n", families=["magic", "number"])


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def f():\n    return (\n\n)(\n", 4),
        ("x = 1\nreturn x\n", 2),
        ("x = 1\n\0", 1),
        ("def f(x):\n    return not((lambda: x))\n", 1),
    ],
)
def test_a_source_that_does_not_parse_is_an_error_with_its_line(source: str, line: int) -> None:
    with pytest.raises(ValueError, match=f"line {line}"):
        enumerate_mutations(source)


def test_equivalent_and_repeated_mutants_are_dropped() -> None:
    dead = "def f(x):\n    if 0:\n        return x + 1\n    return x\n"
    assert not enumerate_mutations(dead, families=["arithmetic"])
    same = "def f(x):\n    return True\n"
    assert [m.operator for m in enumerate_mutations(same)] == [
        "constant:True->False",
        "return-value:None",
    ]
    # Which names are private, and what `super()` means, hangs on the class around the method.
    method = (
        "class A:\n    def f(self):\n        self.__x = super().y + 1\n        return self._A__x\n"
    )
    assert enumerate_mutations(method, families=["arithmetic"])


def test_warnings_as_errors_do_not_change_the_list() -> None:
    source = "def f(x):\n    return x is None\n"
    quiet = enumerate_mutations(source)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert enumerate_mutations(source) == quiet


@pytest.mark.parametrize(
    ("newline", "indent", "mark"), [("\r\n", "\t", ""), ("\r", "  ", ""), ("\n", "\t", "\ufeff")]
)
def test_newlines_tabs_and_a_byte_order_mark_survive(newline: str, indent: str, mark: str) -> None:
    lines = [
        "def ä(é): return 'ü' , é + 1",
        "",
        "def g(x):",
        "{}ß = 'ö'; x.y(ß, 'ñ' * 2)  # ±",
        "{}return ß",
    ]
    source = mark + newline.join(lines).replace("{}", indent) + newline
    found = enumerate_mutations(source, families=["number", "call-argument", "arithmetic"])
    assert {(m.line, m.column) for m in found} >= {(1, 27), (4, len(indent) + 13)}
    mutants = {apply_mutation(source, each) for each in found}
    assert source.replace("é + 1", "é - 1") in mutants
    assert source.replace("ß, 'ñ' * 2", "'ñ' * 2, ß") in mutants


def test_a_form_feed_is_not_a_new_line() -> None:
    source = "x = 1\n\x0c\ndef f(x):\n    return x\x0c+ 1\n\x0cdef g(x):\n    return x + 2\n"
    found = enumerate_mutations(source, families=["arithmetic"])
    assert [apply_mutation(source, each) for each in found] == [
        source.replace("+ 1", "- 1"),
        source.replace("+ 2", "- 2"),
    ]
