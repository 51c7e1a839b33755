"""Hidden tests are blank lines."""

from __future__ import annotations

import pytest

from gym_codefix.envs.loop._masked import without_functions

TEXT = """\
import pytest

class Base:
    def test_a(self): assert 1 == "SECRET"

class Derived(Base):
    @pytest.mark.skip
    def test_b(self):
        assert 2 == "SECRET"

def test_c():
    assert 3
"""


@pytest.mark.parametrize(
    ("names", "gone"),
    [
        (["Derived.test_b"], (7, 8, 9)),
        (["Base.test_a"], (4,)),
        (["Derived.test_a"], (4,)),
        (["test_c"], (11, 12)),
        ([], ()),
    ],
)
def test_functions_become_blank_lines(names: list[str], gone: tuple[int, ...]) -> None:
    before, after = TEXT.splitlines(), without_functions(TEXT, names).splitlines()
    lines = zip(before, after, strict=True)
    assert [number for number, pair in enumerate(lines, 1) if len(set(pair)) > 1] == [*gone]
    assert all(after[line - 1] == "" for line in gone)


def test_lines_are_counted_as_the_parser_does() -> None:
    text = 'X = "\x0c\u2028"\n\x0c\ndef test_a():\n    assert f(1) == "SECRET"\n'
    assert "SECRET" not in without_functions(text, ["test_a"])


def test_what_does_not_parse_is_not_shown() -> None:
    assert without_functions("def test_a(:\n", ["test_a"]) == ""


def test_a_class_of_hidden_tests_alone_still_runs() -> None:
    text = without_functions(TEXT, ["Base.test_a", "Derived.test_b"], stand_in="pass")
    assert "SECRET" not in text and len(text.splitlines()) == len(TEXT.splitlines())
    names: dict[str, object] = {}
    exec(compile(text, "masked", "exec"), names)
    assert "test_c" in names and "Derived" in names
