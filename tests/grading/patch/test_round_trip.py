"""What the writers write is read back as the same edits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_codefix.grading.patch import (
    format_line_edits,
    format_search_replace,
    format_unified_diff,
    parse_action,
)

Write = Callable[[Mapping[str, str], Callable[[str], str | None]], str]
WRITERS = [format_line_edits, format_search_replace, format_unified_diff]

LINES = st.sampled_from(
    [
        "",
        "a",
        "b",
        "    return x",
        "=======",
        "========",
        "<<<<<<< SEARCH",
        ">>>>>>> REPLACE",
        "-- a/x",
        "++ b/x",
        "--- a/x",
        "+++ b/x",
        "@@ -1 +1 @@",
        "a.py:1| x",
        "| x",
        " ",
        "```",
        "\\ x",
        "diff --git a/x b/x",
        "\x0c",
        "\u2028",
        "é",
        "🙂",
        "a\rb",
    ]
)


@st.composite
def changes(draw: st.DrawFn) -> tuple[str | None, str]:
    """The old text of a file (None: there is none) and its new text, in one newline style."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    old = draw(st.lists(LINES, max_size=12))
    new = list(old)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(new)))
        end = draw(st.integers(start, min(len(new), start + 3)))
        new[start:end] = draw(st.lists(LINES, max_size=3))
    texts = [
        newline.join(lines) + (newline if lines and draw(st.booleans()) else "")
        for lines in (old, new)
    ]
    return draw(st.sampled_from([texts[0], texts[0], None])), texts[1]


@pytest.mark.parametrize("write", WRITERS)
@settings(max_examples=250)
@given(files=st.dictionaries(st.sampled_from(["a.py", "b/c d.py", "é.txt"]), changes(), min_size=1))
def test_round_trip(write: Write, files: dict[str, tuple[str | None, str]]) -> None:
    old = {path: before for path, (before, _) in files.items()}
    edits = {path: after for path, (_, after) in files.items()}
    changed = {path: after for path, after in edits.items() if after != old[path]}
    if not changed:
        with pytest.raises(ValueError, match="nothing to write"):
            write(edits, old.get)
        return
    action = write(edits, old.get)
    prose = f"My fix:\n```\n{action}```\nDone.\n" if "\r" not in action else action
    for text in (action, prose):
        assert parse_action(text, old.get, editable=lambda _: None) == changed


@pytest.mark.parametrize("write", [format_search_replace, format_unified_diff])
def test_blocks_and_diffs_can_change_the_newline_style(write: Write) -> None:
    old, new = "a\r\nb\r\nc\r\n", "a\nb\nc\n"
    action = write({"a.py": new}, {"a.py": old}.get)
    assert parse_action(action, {"a.py": old}.get, editable=lambda _: None) == {"a.py": new}


@pytest.mark.parametrize("write", WRITERS)
def test_mixed_newlines_are_left_alone(write: Write) -> None:
    old, new = "a\r\nb\nc\nd\n", "a\r\nb\nC\nd\n"
    action = write({"a.py": new}, {"a.py": old}.get)
    assert parse_action(action, {"a.py": old}.get, editable=lambda _: None) == {"a.py": new}


def test_what_cannot_be_written_is_an_error() -> None:
    with pytest.raises(ValueError, match="cannot express"):
        format_line_edits({"a.py": "a\nb\n"}, {"a.py": "a\r\nb\r\n"}.get)
    with pytest.raises(ValueError, match="cannot express"):
        format_unified_diff({"../a.py": "a\n"}, {}.get)


@pytest.mark.parametrize("write", WRITERS)
def test_large_files(write: Write) -> None:
    old = "".join(f"value_{n % 50} = {n % 7}\n" for n in range(5_000))
    lines = old.splitlines(keepends=True)
    lines[100], lines[4_000:4_000] = "changed\n", ["added\n"]
    new = "".join(lines)
    action = write({"a.py": new}, {"a.py": old}.get)
    assert parse_action(action, {"a.py": old}.get, editable=lambda _: None) == {"a.py": new}
