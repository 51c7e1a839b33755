"""Actions that must be refused: by what they are, by their paths, and by their size."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gym_codefix.grading.patch import ACTION_FORMATS, ActionError, parse_action

MEGABYTE = 1_000_000
FILES = {"a.py": "x\ny\n" * 20_000, "src/shapes.py": "".join(f"{n}\n" for n in range(30))}


def parse(action: Any, max_chars: int = 10 * MEGABYTE) -> dict[str, str]:
    return parse_action(action, FILES.get, editable=lambda _: None, max_chars=max_chars)


def refused(action: Any, **options: Any) -> ActionError:
    with pytest.raises(ActionError) as caught:
        parse(action, **options)
    assert str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 600
    return caught.value


@pytest.mark.parametrize(
    ("action", "code"),
    [
        ("", "empty"),
        (b"", "empty"),
        (" \n\t\r\n", "empty"),
        ("\ufeff", "empty"),
        ("I cannot fix this.", "no_edit"),
        ("a.py:1| x\0", "not_text"),
        ("a.py:1| \ud800", "not_text"),
        (b"a.py:1| \xff\xfe", "not_text"),
        (bytes(range(256)), "not_text"),
        (None, "not_text"),
        (7, "not_text"),
        ("a.py:1| x\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n", "mixed_formats"),
        ("a.py:1| x\na.py\n<<<<<<< SEARCH\nx\n=======\n>>>>>>> REPLACE\n", "mixed_formats"),
    ],
)
def test_no_action(action: Any, code: str) -> None:
    assert refused(action).code == code


@pytest.mark.parametrize("action", ["a.py:1| " + "x" * 100, b"a.py:1| " + b"x" * 500])
def test_too_long(action: str | bytes) -> None:
    assert refused(action, max_chars=100).code == "too_long"
    assert parse(action)


def test_bytes_are_decoded() -> None:
    assert parse("a.py:1| é".encode())["a.py"].startswith("é\n")
    assert refused("a.py:1| ééééééééé".encode(), max_chars=10).code == "too_long"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/etc/passwd", "path_outside"),
        ("//a.py", "path_outside"),
        ("../a.py", "path_outside"),
        ("src/../../a.py", "path_outside"),
        ("src/../a.py", "path_outside"),
        ("C:/a.py", "path_outside"),
        ("c:a.py", "path_outside"),
        ("src\\a.py", "path_invalid"),
        ("", "path_invalid"),
        (".", "path_invalid"),
        ("src/", "path_invalid"),
        (".git/config", "path_invalid"),
        ("src/.GIT/hooks/pre-commit", "path_invalid"),
        ("a\tb.py", "path_invalid"),
        ("a\x1bb.py", "path_invalid"),
        ("a\u202eb.py", "path_invalid"),
        ("a" * 300, "path_invalid"),
        ("a/" * 600 + "b", "path_invalid"),
    ],
)
def test_paths(path: str, code: str) -> None:
    error = refused(f"{path}:0+| x")
    assert (error.code, error.location) == (code, "edit 1, line 1")
    if code == "path_outside":
        assert "leaves the tree" in str(error)


def test_two_spellings_are_one_file() -> None:
    assert refused("a.py:1| z\n./a.py:1| w").code == "overlap"
    assert set(parse("src//./n.py:0+| z")) == {"src/n.py"}


def test_a_file_is_no_folder() -> None:
    assert refused("a.py/b.py:0+| x").code == "path_conflict"
    assert refused("n:0+| x\nn/b.py:0+| x").code == "path_conflict"


def test_the_caller_decides_what_is_editable() -> None:
    seen = []

    def editable(path: str) -> str | None:
        seen.append(path)
        return "it is\na test"

    def unread(path: str) -> str | None:
        raise AssertionError("read before it was allowed")

    with pytest.raises(ActionError, match="may not be edited: it is a test") as caught:
        parse_action("./tests/t.py:1| x", unread, editable=editable)
    assert caught.value.code == "not_editable" and seen == ["tests/t.py"]


def test_errors_survive_pickling() -> None:
    error = refused("nope.py:1| x")
    twin = pickle.loads(pickle.dumps(error))
    assert (str(twin), twin.code, twin.location) == (str(error), error.code, error.location)


@pytest.mark.parametrize(
    "shape",
    [
        lambda: "<<<<<<<\n" * 200_000,
        lambda: "<<<<<<< SEARCH\n" * 70_000,
        lambda: "a.py\n" + "<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n" * 25_000,
        lambda: "a.py\n<<<<<<< SEARCH\n" + "x\ny\n" * 250_000,
        lambda: "a.py\n<<<<<<< SEARCH\n" + "x\ny\n" * 19_999 + "=======\n>>>>>>> REPLACE\n",
        lambda: "a.py\n<<<<<<< SEARCH\n" + "y\ny\n" * 200_000 + "=======\n>>>>>>> REPLACE\n",
        lambda: "a.py\n<<<<<<< SEARCH\n" + "q" * MEGABYTE + "\n=======\n>>>>>>> REPLACE\n",
        lambda: "\n" * MEGABYTE + "<<<<<<< SEARCH\n",
        lambda: "<" * MEGABYTE,
        lambda: "=======\n" * 125_000,
        lambda: ">>>>>>> REPLACE\n" * 60_000,
        lambda: "@@ -1 +1 @@\n" * 100_000,
        lambda: "--- a/a.py\n+++ b/a.py\n" + "@@ -1 +1 @@\n-x\n+z\n" * 100_000,
        lambda: "--- a/a.py\n+++ b/a.py\n" + "@@ -9,999999999 +9,999999999 @@\n x\n" * 25_000,
        lambda: "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n" + " x\n" * 300_000,
        lambda: "--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n" + "\n" * MEGABYTE,
        lambda: "--- a/a.py\n+++ b/a.py\n@@ -" + "1" * MEGABYTE + " +1 @@\n",
        lambda: "--- a/a.py\n+++ b/a.py\n" * 45_000,
        lambda: "--- \n" * 200_000,
        lambda: "diff --git a/a.py b/a.py\n" * 40_000,
        lambda: "diff --git a/n b/n\n" + "old mode 1\n" * 90_000,
        lambda: "a.py:1| x\n" * 100_000,
        lambda: "a:1-1:" * 160_000,
        lambda: ":" * MEGABYTE + "|",
        lambda: "a.py:" + "9" * MEGABYTE + "| x",
        lambda: "|\n" * 500_000,
        lambda: "```\n" * 250_000,
        lambda: "a\n" * 500_000,
        lambda: "Binary files " * 75_000,
    ],
)
def test_a_megabyte_is_refused_quickly(shape: Callable[[], str]) -> None:
    action = shape()
    assert len(action) > 70_000
    started = time.process_time()
    refused(action)
    assert time.process_time() - started < 5  # a second on a busy machine; squares take minutes


PIECES = st.sampled_from(
    [
        *"<=>|@+- :\n\r\\",
        "<<<<<<< SEARCH\n",
        "=======\n",
        ">>>>>>> REPLACE\n",
        "a.py",
        "a.py\n",
        "--- a/a.py\n+++ b/a.py\n",
        "--- /dev/null\n+++ b/n\n",
        "@@ -1 +1 @@\n",
        "@@ -1,2 +1,0 @@\n",
        "-x\n",
        "+x\n",
        " x\n",
        "\\ No newline at end of file\n",
        "x\n",
        "y\n",
        "a.py:1| ",
        "a.py:",
        "1",
        "2-3",
        "+|",
        "-|",
        "| ",
        "```\n",
        "diff --git a/n b/n\n",
        "new file mode 1\n",
        "../",
    ]
)


@settings(max_examples=300)
@given(st.lists(PIECES | st.text(max_size=3), max_size=25).map("".join) | st.text() | st.binary())
@example("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n\\")
@example("diff --git \nnew file mode 1")
def test_garbage_raises_nothing_else(action: str | bytes) -> None:
    files = {"a.py": "x\ny\nx", "n/m": ""}
    try:
        edits = parse_action(action, files.get, editable=lambda _: None)
    except ActionError as error:
        assert error.code and "\n" not in str(error)
    else:
        assert all(isinstance(text, str) for text in edits.values())


def test_the_help_shows_actions_that_parse() -> None:
    lines = FILES["src/shapes.py"].splitlines()
    lines[11:13] = ["def area(width, height):", "    return width + height"]
    shapes = "\n".join(lines) + "\n"
    sections = ACTION_FORMATS.split("\n\n")[1:4]
    for section in sections:
        example_lines = section[section.index("\nsrc/" if "\nsrc/" in section else "\n---") :]
        edits = parse_action(example_lines, {"src/shapes.py": shapes}.get, editable=lambda _: None)
        assert "width * height" in edits["src/shapes.py"]
