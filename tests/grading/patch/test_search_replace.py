from __future__ import annotations

import pytest

from gym_codefix.grading.patch import ActionError, parse_action

FILES = {
    "a.py": "def f():\n    return 1\n\n\ndef g():\n    return 1\n",
    "crlf.py": "x = 1\r\ny = 2\r\n",
    "bare.py": "x = 1\ny = 2",
    "empty.py": "",
    "title.rst": "Title\n=======\ntext\n",
}


def parse(action: str) -> dict[str, str]:
    return parse_action(action, FILES.get, editable=lambda _: None)


def block(path: str, search: str, replace: str, size: int = 7) -> str:
    return f"{path}\n{'<' * size} SEARCH\n{search}{'=' * size}\n{replace}{'>' * size} REPLACE\n"


def refused(action: str) -> ActionError:
    with pytest.raises(ActionError) as caught:
        parse(action)
    return caught.value


def test_replaces_the_one_match() -> None:
    edits = parse(block("a.py", "def g():\n    return 1\n", "def g():\n    return 2\n"))
    assert edits == {"a.py": "def f():\n    return 1\n\n\ndef g():\n    return 2\n"}


@pytest.mark.parametrize("fence", ["```python\n{}```\n", "~~~\n{}~~~\n", "{}"])
@pytest.mark.parametrize("path", ["a.py", "`a.py`", "**a.py**", "a.py:", "./a.py"])
def test_prose_fences_and_decorated_paths(fence: str, path: str) -> None:
    text = block("", "def f():\n", "def h():\n").lstrip("\n")
    action = f"The fix:\n\n{path}\n" + fence.format(text) + "\nThis renames it."
    assert parse(action)["a.py"].startswith("def h():")


def test_later_blocks_may_leave_the_path_out() -> None:
    first = block("a.py", "def f():\n", "def F():\n")
    second = block("", "def g():\n", "def G():\n")
    assert parse(first + second)["a.py"].count("def F():\n") == 1
    assert "def G():" in parse(first + second)["a.py"]


def test_blocks_see_the_original_and_may_share_context() -> None:
    action = block("a.py", "def f():\n    return 1\n\n", "def g():\n    return 1\n\n")
    action += block("a.py", "\n\ndef g():\n", "\n\ndef f():\n")
    assert parse(action)["a.py"] == "def g():\n    return 1\n\n\ndef f():\n    return 1\n"


def test_empty_search_creates_or_fills() -> None:
    assert parse(block("new/b.py", "", "x\n")) == {"new/b.py": "x\n"}
    assert parse(block("new/b.py", "", "")) == {"new/b.py": ""}
    assert parse(block("empty.py", "", "x\n")) == {"empty.py": "x\n"}
    assert refused(block("a.py", "", "x\n")).code == "file_exists"
    assert refused(block("n.py", "", "x\n") + block("n.py", "", "y\n")).code == "file_exists"


def test_no_change_gives_no_edits() -> None:
    assert parse(block("a.py", "def f():\n", "def f():\n")) == {}


def test_newline_style_is_kept() -> None:
    assert parse(block("crlf.py", "x = 1\n", "x = 3\nz = 4\n")) == {
        "crlf.py": "x = 3\r\nz = 4\r\ny = 2\r\n"
    }
    assert (
        parse(block("a.py", "def g():\n", "def h():\n").replace("\n", "\r\n"))["a.py"].count("\r")
        == 0
    )


def test_missing_final_newline_is_kept_unless_edited() -> None:
    assert parse(block("bare.py", "y = 2\n", "y = 3\n")) == {"bare.py": "x = 1\ny = 3"}
    assert parse(block("bare.py", "x = 1\n", "x = 3\n")) == {"bare.py": "x = 3\ny = 2"}
    assert parse(block("bare.py", "y = 2\n", "y = 2\n\n")) == {"bare.py": "x = 1\ny = 2\n"}
    marker = "\\ No newline at end of file\n"
    assert parse(block("a.py", "def g():\n    return 1\n", "pass\n" + marker))["a.py"].endswith(
        "\npass"
    )


def test_longer_markers_allow_marker_lines_in_the_text() -> None:
    action = block("title.rst", "Title\n=======\n", "Titles\n=======\n", size=8)
    assert parse(action) == {"title.rst": "Titles\n=======\ntext\n"}
    error = refused(block("title.rst", "Title\n=======\n", "Titles\n=======\n"))
    assert error.code == "malformed" and "8 characters or more" in str(error)


def test_several_matches_are_counted_and_listed() -> None:
    error = refused("Here:\n" + block("a.py", "    return 1\n", "    return 2\n"))
    assert error.code == "ambiguous"
    assert error.location == "block 1, line 3"
    assert "2 places in a.py (at lines 2, 6)" in str(error)


@pytest.mark.parametrize(
    ("search", "says"),
    [
        ("def g():\n    return 7\n", "line 6, '    return 1', where line 2 of SEARCH"),
        ("def  g( ):\n", "the closest is line 5, 'def g():'"),
        ("def g():\n    return 1\nnothing\n", "the file ends after line 6 where line 3 of SEARCH"),
        ("qqq\n", "no line of the file resembles 'qqq'"),
    ],
)
def test_no_match_shows_the_closest_line(search: str, says: str) -> None:
    error = refused(block("a.py", search, ""))
    assert error.code == "no_match"
    assert says in str(error)


def test_overlap() -> None:
    error = refused(block("a.py", "def f():\n", "x\n") * 2)
    assert (error.code, error.location) == ("overlap", "block 2, line 8")
    assert "block 1, line 2" in str(error)


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ("<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE", "no path"),
        ("a.py\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> REPLACE", "opens no block"),
        ("a.py\n<<<<<<< SEARCH\nx\n>>>>>>> REPLACE", "'=======' is missing"),
        ("a.py\n<<<<<<< SEARCH\nx\n=======\ny\n", "ends without '>>>>>>> REPLACE'"),
        ("a.py\n<<<<<<< SEARCH\nx\n", "ends without '======='"),
        ("a.py\n<<<<<<< SEARCH\nx\n<<<<<<< SEARCH\n", "not closed before line 4"),
        ("a.py\n>>>>>>> REPLACE\n", "without `<<<<<<< SEARCH`"),
    ],
)
def test_malformed_blocks(action: str, says: str) -> None:
    error = refused(action)
    assert error.code == "malformed" and says in str(error)


def test_prose_instead_of_a_path() -> None:
    error = refused(block("Now change the function", "def f():\n", "x\n"))
    assert error.code == "no_such_file" and "must be an existing path" in str(error)
