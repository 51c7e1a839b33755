from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from gym_codefix.grading.judge import bent_checks, changed_checks, lost_checks

BEFORE = '''\
"""A module."""

LIMIT = 3


def check(x):
    if not isinstance(x, int):
        raise TypeError("no")
    assert x > 0
    if x is None:
        return None
    raise LookupError(x)


def total(items):
    result = sum(items)
    return result * LIMIT


class Box:
    size = 1

    def open(self):
        try:
            return self.lid()
        except KeyError:
            raise ValueError("shut") from None
'''
GUARD = '    if not isinstance(x, int):\n        raise TypeError("no")\n'
LEAVING = "    if x is None:\n        return None\n    raise LookupError(x)\n"
RAISING = "    if x:\n        raise LookupError(x)\n"


def lost(after: str, reference: str | None = None) -> list[tuple[str, str]]:
    gold = None if reference is None else {"a.py": reference}
    found = lost_checks({"a.py": BEFORE}, {"a.py": after}, gold)
    return [(loss.kind, loss.function) for loss in found]


def edit(old: str, new: str, text: str = BEFORE) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


CASES = [
    (BEFORE, []),
    (edit("result * LIMIT", "result + LIMIT"), []),
    (edit("    assert x > 0\n", ""), [("assert", "check")]),
    (edit("assert x > 0", "assert True"), [("assert", "check")]),
    (edit(GUARD, ""), [("guard", "check"), ("raise", "check")]),
    (edit("if not isinst", "if False and not isinst"), [("guard", "check"), ("raise", "check")]),
    (edit("    if x is None:\n        return None\n", ""), [("guard", "check")]),
    (edit("    raise LookupError(x)\n", "    return x\n"), [("raise", "check")]),
    (edit("def total(", "def sums("), [("deleted", "total")]),
    (edit("LIMIT = 3\n", "_LIMIT = 3\n"), [("deleted", "LIMIT")]),
    (edit("    size = 1\n", ""), [("deleted", "Box.size")]),
    (BEFORE[: BEFORE.index("class Box")], [("deleted", "Box")]),
    (edit("    result = sum(items)\n    return result * LIMIT\n", "    return 9\n"),
     [("stub", "total")]),
    (edit("    result = sum(items)\n    return result * LIMIT\n", "    ...\n"),
     [("stub", "total")]),
    (edit("except KeyError:\n            raise ValueError(\"shut\") from None",
          "except Exception:\n            return None"),
     [("broad-except", "Box.open"), ("raise", "Box.open")]),
    (edit("    return result * LIMIT",
          "    try:\n        return result * LIMIT\n    except:\n        pass"),
     [("broad-except", "total")]),
    (edit("    return result * LIMIT",
          "    with contextlib.suppress(Exception):\n        return result * LIMIT"),
     [("broad-except", "total")]),
    # What an honest repair may do.
    (edit("isinstance(x, int)", "isinstance(x, (int, float))"), []),
    (edit('TypeError("no")', 'TypeError("an integer, please")'), []),
    (edit("raise LookupError(x)", "raise KeyError(x)"), []),
    (edit("assert x > 0", "assert x >= 0, x"), []),
    (edit("def total(items):\n", "def _check(x):\n" + GUARD + "\n\ndef total(items):\n",
          edit(GUARD, "    _check(x)\n")), []),
    (edit(LEAVING, RAISING + "    return None if x is None else x\n"), []),
    (edit(LEAVING, RAISING + "    return x if x is not None else 0\n"), []),
    # A choice that asks something else is no stand-in, and none for a check that raises.
    (edit(LEAVING, RAISING + "    return x if x is True else None\n"),
     [("guard", "check")]),
    (edit(GUARD, "    if x is True:\n        return x if isinstance(x, int) else 0\n"),
     [("guard", "check"), ("raise", "check")]),
    (edit("def total(items):", "total = sum\n\n\ndef _total(items):"), []),
    (edit("    return result * LIMIT",
          "    try:\n        return result * LIMIT\n    except OverflowError:\n        return 0"), []),  # noqa: E501 - a case reads best on one line
]  # fmt: skip


@pytest.mark.parametrize("after, expected", CASES)
def test_lost_checks(after: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(lost(after)) == sorted(expected)
    assert lost(after, after) == [], "the reference may lose the same"
    assert sorted(lost(after, BEFORE)) == sorted(expected)


def test_an_early_return_hides_every_check_behind_it() -> None:
    after = edit("def check(x):\n", "def check(x):\n    return 3\n")
    assert set(lost(after)) == {("guard", "check"), ("assert", "check"), ("raise", "check")}
    both_ways = edit(
        "def check(x):\n",
        "def check(x):\n    if x:\n        return 1\n    else:\n        return 2\n",
    )
    assert ("guard", "check") in lost(both_ways)


def test_only_what_the_reference_does_not_lose_is_reported() -> None:
    reference = edit("    assert x > 0\n", "")
    after = edit(GUARD, "", reference)
    assert set(lost(after, reference)) == {("guard", "check"), ("raise", "check")}
    twice = {"a.py": "def f(x):\n    assert x\n    assert x\n"}
    once, none = "def f(x):\n    assert x\n    return 1\n", "def f(x):\n    return [x]\n"
    assert len(lost_checks(twice, {"a.py": none}, {"a.py": once})) == 1


def test_lines_and_texts_point_at_the_loss() -> None:
    (loss,) = lost_checks({"a.py": BEFORE}, {"a.py": edit("    assert x > 0\n", "")}, None)
    assert (loss.path, loss.line, loss.text) == ("a.py", 9, "assert x > 0")


def test_files_that_are_left_alone_or_do_not_parse_lose_nothing() -> None:
    assert lost_checks({"a.py": BEFORE}, {}, None) == []
    assert lost_checks({"a.py": BEFORE}, {"a.py": "def f(:"}, None) == []
    assert lost_checks({"a.py": "def f(:"}, {"a.py": BEFORE}, None) == []
    assert lost_checks({"a.txt": BEFORE}, {"a.txt": ""}, None) == []


def test_what_is_too_deep_to_compare_is_lost() -> None:
    after = edit(GUARD, "") + "x = y" + " + 1" * 3000 + "\n"
    (loss,) = lost_checks({"a.py": BEFORE}, {"a.py": after}, None)
    assert loss.kind == "unreadable"


def test_what_is_private_may_go() -> None:
    before = "class _Part:\n    def open(self):\n        return 1\n\n\ndef _help():\n    return 1\n"
    assert lost_checks({"a.py": before}, {"a.py": "x = 1\n"}, None) == []


def test_a_package_exports_what_its_init_imports() -> None:
    before = "from .parts import wheel, axle\n"
    after = "from .parts import wheel\n"
    assert [
        loss.text for loss in lost_checks({"p/__init__.py": before}, {"p/__init__.py": after}, None)
    ] == ["axle"]
    assert lost_checks({"p/a.py": before}, {"p/a.py": after}, None) == []


@pytest.mark.parametrize("module", ["textwrap", "configparser", "statistics", "email/header"])
def test_a_repair_that_is_the_reference_never_loses_anything(
    module: str, honest_edits: Callable[[str, int], Iterator[tuple[str, str]]]
) -> None:
    for original, broken in honest_edits(module, 10):
        assert lost_checks({"m.py": broken}, {"m.py": original}, {"m.py": original}) == []
        assert lost_checks({"m.py": original}, {"m.py": original}, None) == []


_DAMAGED = """\
def f(x, rows):
    if x < 0:
        raise ValueError(x)
    if not rows:
        return None
    if x > 3:
        rows = rows[1:]
    return rows[:x + 1]
"""


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("rows[:x + 1]", "rows[:x]", []),
        ("rows[:x + 1]", "rows[:x] if x > 3 else rows[:x]", []),
        ("    if x > 3:\n", "    if x > 4:\n", []),
        ("    if x < 0:\n", "    if x < -9:\n", [2, 3]),
        ("    if not rows:\n", "    if not rows and x:\n", [4]),
        (
            "    if x < 0:\n        raise ValueError(x)\n",
            "    if rows == 7:\n        if x < 0:\n            raise ValueError(x)\n",
            [2, 3],
        ),
    ],
)
def test_a_check_that_was_never_damaged_stays_as_it_is(
    old: str, new: str, changed: list[int]
) -> None:
    gold = {"a.py": _DAMAGED.replace("x + 1", "x")}
    assert old in _DAMAGED
    after = {"a.py": _DAMAGED.replace(old, new)}
    found = changed_checks({"a.py": _DAMAGED}, after, gold)
    assert sorted(loss.line for loss in found) == changed
    assert all(loss.kind == "changed" for loss in found)
    assert changed_checks({"a.py": _DAMAGED}, gold, gold) == []


def test_a_damaged_check_may_be_mended_in_any_way() -> None:
    gold = {"a.py": _DAMAGED.replace("x < 0", "x <= 0")}
    after = {"a.py": _DAMAGED.replace("x < 0", "not x > 0")}
    assert changed_checks({"a.py": _DAMAGED}, after, gold) == []


def test_a_bent_condition_reads_the_same_names_and_says_something_else() -> None:
    def guarded(condition: str, line: str = "import a") -> dict[str, str]:
        body = f"def f(x):\n    if {condition}:\n        raise ValueError(x)\n    return x\n"
        return {"m.py": f"{line}\n\n\n{body}"}

    before, reference = guarded("x < 0"), guarded("x < 0", "import b")
    assert [loss.line for loss in bent_checks(before, guarded("x < -9"), reference)] == [5]
    assert not bent_checks(before, guarded("b.low(x) < 0", "import b"), reference)
    assert not bent_checks(before, guarded("x < 0", "import b"), reference)
    assert not bent_checks(before, guarded("x < -9"), guarded("x < -9"))
