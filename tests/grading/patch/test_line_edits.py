from __future__ import annotations

import pytest

from gym_codefix.grading.patch import ActionError, parse_action

FILES = {"a.py": "1\n2\n3\n4\n5\n", "crlf.py": "x\r\ny\r\n", "bare.py": "x\ny", "empty.py": ""}
MARKER = "\\ No newline at end of file\n"


def parse(action: str) -> dict[str, str]:
    return parse_action(action, FILES.get, editable=lambda _: None)


def refused(action: str) -> ActionError:
    with pytest.raises(ActionError) as caught:
        parse(action)
    return caught.value


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ("a.py:2| x", "1\nx\n3\n4\n5\n"),
        ("a.py:2|   x", "1\n  x\n3\n4\n5\n"),
        ("a.py:2|x", "1\nx\n3\n4\n5\n"),
        ("a.py:2|", "1\n\n3\n4\n5\n"),
        ("a.py:2-4| x\n|\n| y | z", "1\nx\n\ny | z\n5\n"),
        ("a.py:2-4-|", "1\n5\n"),
        ("a.py:2-|", "1\n3\n4\n5\n"),
        ("a.py:0+| x", "x\n1\n2\n3\n4\n5\n"),
        ("a.py:5+| x\n| y", "1\n2\n3\n4\n5\nx\ny\n"),
        ("a.py:4| four\na.py:1+| x\na.py:2-|", "1\nx\n3\nfour\n5\n"),
        ("a.py:5| x\n" + MARKER, "1\n2\n3\n4\nx"),
        ("Fix:\n```\na.py:1| x\n```\n| a | table |\n", "x\n2\n3\n4\n5\n"),
        ("`./a.py:1| x", "x\n2\n3\n4\n5\n"),
    ],
)
def test_edits(action: str, text: str) -> None:
    assert parse(action) == {"a.py": text}


def test_no_change() -> None:
    assert parse("a.py:2| 2") == {}


def test_new_and_empty_files() -> None:
    assert parse("n/b.py:0+| x\n| y") == {"n/b.py": "x\ny\n"}
    assert parse("n/b.py:0+| x\n" + MARKER) == {"n/b.py": "x"}
    assert parse("n/b.py:0+|\n" + MARKER) == {"n/b.py": ""}
    assert parse("empty.py:0+| x") == {"empty.py": "x\n"}
    assert refused("n/b.py:1| x").code == "no_such_file"


def test_ends_of_lines_and_file() -> None:
    assert parse("crlf.py:1| a\n| b") == {"crlf.py": "a\r\nb\r\ny\r\n"}
    assert parse("bare.py:2| z") == {"bare.py": "x\nz"}
    assert parse("bare.py:2+| z") == {"bare.py": "x\ny\nz"}
    assert parse("bare.py:2| y\n|") == {"bare.py": "x\ny\n"}
    assert refused("a.py:2| x\n" + MARKER).code == "final_newline"


@pytest.mark.parametrize(
    ("action", "code", "says"),
    [
        ("a.py:6| x", "out_of_range", "line 6 is not in a.py, which takes lines 1 to 5"),
        ("a.py:6+| x", "out_of_range", "lines 0 to 5"),
        ("a.py:0| x", "out_of_range", "lines 1 to 5"),
        ("a.py:3-2| x", "out_of_range", "the smaller number first"),
        ("empty.py:1| x", "out_of_range", "no line to replace"),
        ("a.py:2-| x", "malformed", "a deletion takes no text"),
        ("a.py:2-|\n| x", "malformed", "a deletion takes no text"),
        ("a.py:2-3+| x", "malformed", "an insertion takes one line number"),
        ("a.py:2| x\n\n| y", "malformed", "write an empty line of the text as `|`"),
        ("a.py:2| x\na.py:1-3| y", "overlap", "edit 1, line 1"),
        ("a.py:2+| x\na.py:2+| y", "overlap", "merge the two"),
        ("a.py:2-4| x\na.py:3+| y", "overlap", "file line 4"),
        ("see a.py:2| x", "no_such_file", "'see a.py'"),
    ],
)
def test_refusals(action: str, code: str, says: str) -> None:
    error = refused(action)
    assert error.code == code and says in str(error)
