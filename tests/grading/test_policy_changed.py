"""Reading a part of a module must refuse what reading all of it refuses."""

from __future__ import annotations

import ast
import random
import sysconfig
from pathlib import Path

import pytest

from gym_codefix.grading.policy import _changed, _refuse, refuse

MODULES = ("textwrap", "shlex", "fnmatch", "json/decoder", "bisect", "sched", "csv", "string")
IN_BODY = (
    "return True",
    "import os",
    "x = open('tests/a')",
    "globals()['a'] = 1",
    "global zz\nzz = 1",
    "type('X', (), {'__eq__': lambda s, o: True})",
    "type('X', (), {'__eq__': NAME})",
    "class X:\n    __eq__ = NAME",
    "class X:\n    def __eq__(self, o):\n        return True",
    "def NAME(*a):\n    return True",
    "getattr(NAME, 'a' + 'b')",
    "NAME.__eq__ = OTHER",
    "raise SystemExit",
)
OUTSIDE = (
    "NAME = OTHER",
    "NAME = open",
    "import os as NAME",
    "from x import NAME",
    "@NAME",
    "del NAME",
    "if 1:\n    NAME = OTHER",
    "NAME.__eq__ = OTHER",
    "class NAME:\n    __eq__ = OTHER",
    "class OTHER(str):\n    def __eq__(self, o): return NAME",
    "def NAME(a, b): return True",
)


def damaged(text: str, rng: random.Random) -> str:
    """``text`` with one insertion or deletion of what may matter."""
    tree = ast.parse(text)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    names = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]
    names += [function.name for function in functions]
    lines = text.split("\n")
    inside = rng.random() < 0.6 and functions
    place: ast.stmt = rng.choice(functions).body[-1] if inside else rng.choice(tree.body)
    if not inside and rng.random() < 0.3:
        del lines[place.lineno - 1 : place.end_lineno]
        return "\n".join(lines)
    snippet = rng.choice(IN_BODY if inside else OUTSIDE)
    snippet = snippet.replace("NAME", rng.choice(names)).replace("OTHER", rng.choice(names))
    indented = [" " * place.col_offset + line for line in snippet.split("\n")]
    return "\n".join([*lines[: place.lineno - 1], *indented, *lines[place.lineno - 1 :]])


@pytest.mark.parametrize("name", MODULES)
def test_a_part_tells_as_much_as_the_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(sysconfig.get_path("stdlib"), f"{name}.py").read_text()
    rng = random.Random(name)
    parts = 0
    for _ in range(60):
        edited = damaged(text, rng)
        with monkeypatch.context() as whole:
            whole.setattr(_refuse, "changed_parts", lambda old, new: None)
            expected = refuse({"a.py": text}, {"a.py": edited})
        assert refuse({"a.py": text}, {"a.py": edited}) == expected, edited
        try:
            parts += _changed.changed_parts(text, edited) is not None
        except SyntaxError:
            continue
    assert parts >= 15


FAR = "\n\ndef far():\n    pass\n\n\ndef farther():\n    pass\n\n\n"
ALWAYS = (
    "def always(*a):\n    return True\n" + FAR + "class A:\n    x = 1\n\n    y = 2\n\n    z = 3\n"
)
READS = FAR + "def g(p):\n    return open(p)\n" + FAR
CALLS = "def g(p):\n    return getattr(p, {})()\n"
BY_WALRUS = "CONST = 'aa'\n" + FAR + "{}:\n    pass\n" + FAR + CALLS.format("y")
SWALLOWED = "x = 1\n\n\n\n{}\n\n\n\n'''# '''\n" + READS


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (ALWAYS, "y = 2", "y = 2\n    __eq__ = always"),
        (ALWAYS, "y = 2", "y = 2\n    __eq__ = \uff41lways"),
        (ALWAYS.replace("always", "\uff41lways"), "y = 2", "y = 2\n    __eq__ = always"),
        ("h = 'a'\n" + FAR + CALLS.format("\uff48"), "'a'", "'read_text'"),
        ("h = 'a'\n" + FAR + "k = h\n" + FAR + CALLS.format("k"), "'a'", "'read_text'"),
        (BY_WALRUS.format("def f(x=(y := CONST))"), "'aa'", "'read_text'"),
        (BY_WALRUS.format("class K(metaclass=(y := CONST))"), "'aa'", "'read_text'"),
        (BY_WALRUS.format("@(y := CONST)\ndef f()"), "'aa'", "'read_text'"),
        ("def f():\n    pass\n    from m import open\n    pass\n" + READS, "def f():", "if 1:"),
        ("if 1:\n    pass\n    from m import open\n    pass\n" + READS, "if 1:", "def f():"),
        ("from m import open\n" + READS, "from m import open\n", ""),
        (SWALLOWED.format("from m import open"), "x = 1", "x = '''"),
        (SWALLOWED.format("open = 3"), "x = 1", "x = '''"),
        (SWALLOWED.format("def open(p): pass"), "x = 1", "x = '''"),
        (SWALLOWED.format("class open: pass"), "x = 1", "x = '''"),
        ("class open:\n    u = 1\n\n    def m(s): pass\n" + READS, "class open:", "def open_():"),
        ("x = 1\nglobal x\ny = x\n" + FAR, "y = x", "y = x + 1"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_part_hides_nothing(
    text: str, old: str, new: str, line_end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nested = text.replace(
        "def always(*a):\n    return", "def o():\n    def always(*a):\n      return"
    )
    for before in (text, nested):
        after = before.replace(old, new)
        assert after != before
        texts = [{"a.py": part.replace("\n", line_end)} for part in (before, after)]
        with monkeypatch.context() as whole:
            whole.setattr(_refuse, "changed_parts", lambda old, new: None)
            expected = refuse(texts[0], texts[1])
        assert refuse(texts[0], texts[1]) == expected


MODULE = '''
def keep(value):
    return open_it(value)

def yes(*values):
    return True

def open_it(value):
    return len(value)

TEXT = """
def hidden(self, other):
    return open("/x")
"""

def change(value):
    return value
'''


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ("    return value\n", '    return type("X", (), {"__eq__": yes})\n', {"always-equal"}),
        ("def open_it(value):\n    return len(value)\n", "open_it = open\n", {"files"}),
        ('TEXT = """\n', "TEXT = 1\n", {"files"}),
        ("    return value\n", "    return value + 1\n", set()),
    ],
)
def test_what_else_the_change_touches_is_read(old: str, new: str, codes: set[str]) -> None:
    edited = MODULE.replace(old, new)
    if new == "TEXT = 1\n":
        edited = edited.replace('    return open("/x")\n"""\n', '    return open("/x")\n')
    assert edited != MODULE
    assert {refusal.code for refusal in refuse({"a.py": MODULE}, {"a.py": edited})} == codes


def test_what_has_nothing_to_do_with_it_is_left_out() -> None:
    edited = MODULE.replace("    return value\n", "    return value + 1\n")
    parts = _changed.changed_parts(MODULE, edited)
    assert parts is not None
    for part in parts:
        bodies = {n.name: type(n.body[0]) for n in part.body if isinstance(n, ast.FunctionDef)}
        assert {name for name, first in bodies.items() if first is not ast.Pass} == {"change"}
