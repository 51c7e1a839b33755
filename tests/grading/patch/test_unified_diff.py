from __future__ import annotations

import pytest

from gym_codefix.grading.patch import ActionError, parse_action

NUMBERED = "".join(f"line {n}\n" for n in range(1, 21))
FILES = {
    "a.py": NUMBERED,
    "crlf.py": "x\r\ny\r\n",
    "bare.py": "x\ny",
    "twice.py": "a\nb\nc\na\nb\nd\n",
    "sql.lua": "-- one\n-- two\nthree\n",
    "a/odd.py": "x\n",
}
MARKER = "\\ No newline at end of file\n"


def parse(action: str) -> dict[str, str]:
    return parse_action(action, FILES.get, editable=lambda _: None)


def refused(action: str) -> ActionError:
    with pytest.raises(ActionError) as caught:
        parse(action)
    return caught.value


def diff(body: str, path: str = "a.py") -> str:
    return f"--- a/{path}\n+++ b/{path}\n{body}"


CHANGED = NUMBERED.replace("line 10\n", "changed\n")
HUNK = "@@ -9,3 +9,3 @@ def context():\n line 9\n-line 10\n+changed\n line 11\n"


@pytest.mark.parametrize(
    "action",
    [
        diff(HUNK),
        "Here it is:\n```diff\n" + diff(HUNK) + "```\n- it fixes\n- the bug\n",
        diff(HUNK) + "\n- it fixes the bug\n+ adds a test\n",
        "diff --git a/a.py b/a.py\nindex 1..2 100644\n" + diff(HUNK),
        "--- a.py\t2020-01-01\n+++ a.py\t2020-01-02\n" + HUNK,
        diff(HUNK.replace("-9,3 +9,3", "-3,3 +3,3")),
        diff(HUNK.replace("-9,3 +9,3", "-9,7 +9,1")),
        diff(HUNK.replace("-9,3 +9,3", "-9,2 +9,2")),
        diff(HUNK.replace("-9,3 +9,3", "-9 +9")),
        diff(HUNK).replace("\n", "\r\n"),
    ],
    ids=["plain", "fenced", "prose", "git", "stamped", "moved", "high", "low", "bare", "crlf"],
)
def test_one_hunk(action: str) -> None:
    assert parse(action) == {"a.py": CHANGED}


def test_hunks_refer_to_the_original() -> None:
    action = diff("@@ -1 +1,2 @@\n line 1\n+new\n@@ -20 +21 @@\n-line 20\n+last\n")
    assert parse(action)["a.py"].splitlines()[:2] == ["line 1", "new"]
    assert parse(action)["a.py"].endswith("line 19\nlast\n")


def test_blank_context_may_have_lost_its_space() -> None:
    files = {"b.py": "a\n\nb\n"}
    action = "--- a/b.py\n+++ b/b.py\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"
    assert parse_action(action, files.get, editable=lambda _: None) == {"b.py": "a\n\nc\n"}


def test_insertion_without_context_goes_after_the_line() -> None:
    assert parse(diff("@@ -2,0 +3 @@\n+new\n"))["a.py"].startswith("line 1\nline 2\nnew\nline 3\n")
    assert refused(diff("@@ -30,0 +31 @@\n+new\n")).code == "out_of_range"


def test_removed_lines_that_look_like_headers() -> None:
    action = diff("@@ -1,3 +1,2 @@\n--- one\n -- two\n-three\n+++ three\n", "sql.lua")
    assert parse(action) == {"sql.lua": "-- two\n++ three\n"}


def test_new_files() -> None:
    new = "--- /dev/null\n+++ b/n/b.py\n@@ -0,0 +1,2 @@\n+x\n+y\n"
    assert parse(new) == {"n/b.py": "x\ny\n"}
    assert parse(new + MARKER) == {"n/b.py": "x\ny"}
    git = "diff --git a/n/b.py b/n/b.py\nnew file mode 100644\nindex 0..0\n"
    assert parse(git + new) == {"n/b.py": "x\ny\n"}
    assert parse(git) == {"n/b.py": ""}
    assert refused(new.replace("n/b.py", "a.py")).code == "file_exists"
    assert refused(new.replace("+y", " y")).code == "malformed"


def test_a_folder_named_as_the_prefix() -> None:
    assert parse("--- a/odd.py\n+++ a/odd.py\n@@ -1 +1 @@\n-x\n+y\n") == {"a/odd.py": "y\n"}


def test_ends_of_lines_and_file() -> None:
    assert parse(diff("@@ -2 +2,2 @@\n-y\n+z\n+w\n", "crlf.py")) == {"crlf.py": "x\r\nz\r\nw\r\n"}
    assert parse(diff("@@ -2 +2 @@\n-y\n+z\n", "bare.py")) == {"bare.py": "x\nz"}
    added = diff(f"@@ -2 +2 @@\n-y\n{MARKER}+y\n", "bare.py")
    assert parse(added) == {"bare.py": "x\ny\n"}
    taken = diff(f"@@ -20 +20 @@\n-line 20\n+line 20\n{MARKER}")
    assert parse(taken) == {"a.py": NUMBERED.removesuffix("\n")}
    early = diff(f"@@ -2 +2 @@\n-line 2\n+x\n{MARKER}")
    assert refused(early).code == "final_newline"


def test_mismatch_names_the_first_differing_line() -> None:
    error = refused("Look:\n" + diff("@@ -9,3 +9,3 @@\n line 9\n-line X\n+changed\n line 11\n"))
    assert (error.code, error.location) == ("no_match", "hunk 1, line 4")
    assert "line 10, 'line 10', where line 2 of the hunk" in str(error)
    assert "'line X'" in str(error)


def test_ambiguous_place() -> None:
    error = refused(diff("@@ -3,2 +3,2 @@\n a\n-b\n+B\n", "twice.py"))
    assert error.code == "ambiguous" and "matches at lines 1, 4" in str(error)
    assert parse(diff("@@ -4,2 +4,2 @@\n a\n-b\n+B\n", "twice.py"))["twice.py"].endswith(
        "a\nB\nd\n"
    )


def test_overlap() -> None:
    error = refused(diff("@@ -2 +2 @@\n-line 2\n+x\n@@ -2 +2 @@\n-line 2\n+y\n"))
    assert (error.code, error.location) == ("overlap", "hunk 2, line 6")


@pytest.mark.parametrize(
    ("action", "code", "says"),
    [
        ("--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "unsupported", "deletes a file"),
        ("diff --git a/a.py b/a.py\ndeleted file mode 100644\n", "unsupported", "deletes"),
        ("diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\n", "unsupported", ""),
        ("--- a/a.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n", "unsupported", "renames 'a/a.py'"),
        ("diff --git a/a b/a\nindex 1..2\nGIT binary patch\nliteral 3\n", "unsupported", "binary"),
        ("Binary files a/x.png and b/x.png differ\n", "unsupported", "binary"),
        ("@@ -1 +1 @@\n-line 1\n+x\n", "malformed", "before any file"),
        (diff("@@ def f @@\n-line 1\n+x\n"), "malformed", "is no hunk header"),
        (diff(""), "malformed", "no hunk follows"),
        (diff("@@ -1 +1 @@\n"), "malformed", "has no lines"),
        (diff("@@ -1,3 +1,3 @@\n-line 1\nline 2\n"), "malformed", "is no hunk line"),
        (diff("@@ -1 +1 @@\n-line 1\n+x\n\n+more\n"), "malformed", "correct the counts"),
        (diff("@@ -1,2 +1,3 @@\n+x\n"), "malformed", "promises 2 old lines"),
        ("+++ b/a.py\n@@ -1 +1 @@\n", "malformed", "without `--- a/path`"),
        (diff("@@ -1 +1 @@\n-x\n+y\n", "none.py"), "no_such_file", "/dev/null"),
    ],
)
def test_refusals(action: str, code: str, says: str) -> None:
    error = refused(action)
    assert error.code == code and says in str(error)
