from __future__ import annotations

import ast
import sysconfig
import time
import warnings
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_codefix.catalog.edit_scope import EditScope, FunctionSpan, classify_edit

_MODULE = dedent(
    '''\
    """Docs."""
    import os

    LIMIT = 3


    @decorate
    def area(width: int, height: int = 2, *, unit: str = "m") -> int:
        """Area."""
        return width * height


    class Shape(Base, metaclass=Meta):
        """A shape."""

        sides = 4

        @property
        def name(self):
            return self._name

        @name.setter
        def name(self, value):
            self._name = value

        class Inner:
            def deep(self):
                def deeper():
                    return 1
                return deeper()


    if os.name == "nt":
        def here(): return 1
    else:
        def here(): return 2
    try:
        async def go(x):
            await x
    except ValueError:
        pass
    match LIMIT:
        case 3:
            def matched():
                return 0
    '''
)


def _edit(old: str, new: str) -> EditScope:
    assert _MODULE.count(old) == 1, old
    return classify_edit(_MODULE, _MODULE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "function"),
    [
        ("width * height", "width + height", FunctionSpan("area", (10, 10), (10, 10))),
        (
            "    return width * height",
            "    x = width\n    return x * height",
            FunctionSpan("area", (10, 10), (10, 11)),
        ),
        ("self._name\n", "self._other\n", FunctionSpan("Shape.name", (20, 20), (20, 20))),
        ("self._name = value", "pass", FunctionSpan("Shape.name", (24, 24), (24, 24))),
        ("    return 1\n", "    return 9\n", FunctionSpan("Shape.Inner.deep", (28, 30), (28, 30))),
        ("return 2", "return 3", FunctionSpan("here", (36, 36), (36, 36))),
        ("await x", "await x.y", FunctionSpan("go", (39, 39), (39, 39))),
        ("return 0", "return 5", FunctionSpan("matched", (45, 45), (45, 45))),
    ],
)
def test_a_change_in_a_body(old: str, new: str, function: FunctionSpan) -> None:
    assert _edit(old, new) == EditScope(True, (function,), False, "")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"""Docs."""', '"""Doc."""', "line 1: a statement changed at module level"),
        ("LIMIT = 3", "LIMIT = 4", "line 4: a statement changed at module level"),
        ("LIMIT = 3", "LIMIT = 3.0", "line 4: a statement changed at module level"),
        ("LIMIT = 3", "MORE = 1\nLIMIT = 3", "line 4: a statement changed at module level"),
        (
            "        return 0\n",
            "        return 0\nMORE = 1\n",
            "line 46: statements added or removed at module level",
        ),
        ("@decorate\n", "@decorated\n", "line 7: the decorators of area changed"),
        ("@decorate\n", "", "line 7: the decorators of area changed"),
        ("height: int = 2", "height: int = 3", "line 7: the parameters of area changed"),
        ("width: int,", "width,", "line 7: the parameters of area changed"),
        (") -> int", ") -> float", "line 7: the return annotation of area changed"),
        ('"""Area."""', '"""The area."""', "line 7: the docstring of area changed"),
        ('    """Area."""\n', "", "line 7: the docstring of area changed"),
        ("def area", "def region", "line 7: the name of region changed"),
        ("def area", "async def area", "line 7: a statement changed at module level"),
        ("sides = 4", "sides = 5", "line 16: a statement changed in class Shape"),
        (
            "    sides = 4\n",
            "    sides = 4\n    extra = 1\n",
            "line 17: a statement changed in class Shape",
        ),
        ("(Base,", "(Other,", "line 13: the bases of Shape changed at module level"),
        ("=Meta", "=Other", "line 13: the class keywords of Shape changed at module level"),
        ('os.name == "nt"', 'os.name != "nt"', "line 33: a statement changed at module level"),
        ("except ValueError", "except TypeError", "line 40: a statement changed at module level"),
        ("    case 3:", "    case 4:", "line 43: a statement changed at module level"),
        (
            "return self._name",
            "return super().name",
            "line 18: the use of super in Shape.name changed",
        ),
        (
            "return self._name",
            "return __class__",
            "line 18: the use of super in Shape.name changed",
        ),
    ],
)
def test_a_change_outside_bodies(old: str, new: str, reason: str) -> None:
    assert _edit(old, new) == EditScope(False, (), True, reason)


def test_lines_that_only_shift_are_no_change() -> None:
    assert _edit("LIMIT = 3", "# one\n\n\nLIMIT = 3  # two") == EditScope(True, (), False, "")
    scope = _edit("    return width * height", "\n\n    # why\n    return width - height")
    assert scope.functions == (FunctionSpan("area", (10, 10), (13, 13)),)


def test_a_docstring_alone_is_the_body() -> None:
    scope = classify_edit('def f():\n    """Doc."""\n', 'def f():\n    """Doc."""\n    g()\n')
    assert scope.functions == (FunctionSpan("f", (2, 2), (3, 3)),)


def test_no_file_or_no_python_before() -> None:
    assert classify_edit(None, "x = 1\n").reason == "line 1: the file is new"
    broken = classify_edit("def f(:\n", "x = 1\n")
    assert not broken.body_only and "line 1" in broken.reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ndef f(:\n", "line 2: "),
        ("x = 1\nreturn x\n", "line 2: 'return' outside function"),
        ("def f():\n    return 1\n    break\n", "line 3: 'break' outside loop"),
        ("x = 1\x00", "line 1: "),
        ("x = '\ud800'", "line 1: "),
        ("-" * 100_000 + "1", "line 1: nested too deeply"),
        ("x = " + "(" * 5000, "line 1: "),
    ],
)
def test_text_that_is_not_python(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        classify_edit("def f():\n    return 1\n", text)


@pytest.mark.parametrize("value", ["1" + "+1" * 1500, "0x" + "f" * 9000])
def test_what_cannot_be_compared_is_not_body_only(value: str) -> None:
    scope = classify_edit("def f():\n    return 1\n", f"def f():\n    return {value}\n")
    assert (scope.body_only, scope.global_effects) == (False, True)


def test_byte_order_mark_cookie_and_line_ends() -> None:
    text = "def f():\n    return 1\n"
    assert classify_edit(text, "\ufeff" + text.replace("\n", "\r\n")).functions == ()
    assert classify_edit("# coding: utf-8\n" + text, "# coding: latin-1\n" + text).reason
    form_feed = "x = 1\n\x0c\n" + text
    assert classify_edit(form_feed, form_feed.replace("1\n", "1 \n", 1)).functions == ()


def test_warnings_as_errors_do_not_matter() -> None:
    text = "def f():\n    return '\\d'\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert classify_edit(text, text.replace("d'", "s'")).body_only


_SOURCES = [
    (path.name, path.read_text(encoding="utf-8"))
    for name in ("argparse", "textwrap", "dataclasses", "enum", "heapq", "json/decoder", "tarfile")
    for path in [Path(sysconfig.get_path("stdlib")) / f"{name}.py"]
]
sources = st.sampled_from(_SOURCES).map(lambda pair: pair[1])


@given(sources)
@settings(max_examples=10)
def test_the_same_text_has_no_changes(source: str) -> None:
    assert classify_edit(source, source) == EditScope(True, (), False, "")
    assert classify_edit(source, source + "\n# end\n") == EditScope(True, (), False, "")


@given(sources, st.data())
@settings(max_examples=25)
def test_comment_lines_are_no_change(source: str, data: st.DataObject) -> None:
    starts = sorted(
        {node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)}
    )
    lines = source.splitlines(keepends=True)
    at = data.draw(st.sampled_from(starts)) - 1
    if lines[at].lstrip().startswith(("@", '"', "'")) or lines[at - 1].rstrip().endswith("\\"):
        return
    shifted = "".join([*lines[:at], "# a comment\n\n", *lines[at:]])
    assert classify_edit(source, shifted) == EditScope(True, (), False, "")


@given(sources, st.data())
@settings(max_examples=40)
def test_a_changed_constant_is_in_exactly_that_function(source: str, data: st.DataObject) -> None:
    functions = dict(_outermost_functions(ast.parse(source).body, ""))
    name = data.draw(st.sampled_from(sorted(functions)))
    body = functions[name].body
    constants = [
        node
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and type(node.value) is int
    ]
    if not constants:
        return
    node = data.draw(st.sampled_from(constants))
    lines = source.splitlines(keepends=True)
    line = lines[node.lineno - 1]
    if not line.isascii():
        return
    lines[node.lineno - 1] = line[: node.col_offset] + "987654" + line[node.end_col_offset :]
    scope = classify_edit(source, "".join(lines))
    assert scope.body_only, scope.reason
    [span] = scope.functions
    assert span.qualified_name == name
    assert span.before[0] <= node.lineno <= span.before[1]
    assert span.before == span.after


def _outermost_functions(
    body: list[ast.stmt], prefix: str
) -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    found: list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append((prefix + node.name, node))
        elif isinstance(node, ast.ClassDef):
            found.extend(_outermost_functions(node.body, f"{prefix}{node.name}."))
    return found


def test_the_cost_is_linear() -> None:
    function = "def f{0}(x):\n    y = x + {0}\n    return [y, x, {{1: y}}]\n\n"
    text = "".join(function.format(n) for n in range(2000))
    started = time.process_time()
    scope = classify_edit(text, text.replace("x + 1999", "x - 1999"))
    assert [span.qualified_name for span in scope.functions] == ["f1999"]
    assert time.process_time() - started < 2
