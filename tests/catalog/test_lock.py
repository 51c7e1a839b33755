"""Locks as data."""

from __future__ import annotations

import pytest

from gym_codefix.catalog import CatalogError
from gym_codefix.catalog.lock import moved, parse_lock, pinned_versions, write_lock

LOCK = """\
# made by hand
Flask==2.2.3 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
zope.interface==6.0 ; python_version < '4'
"""
KNOWN = "flask==2.3.0 --hash=sha256:cc\nblinker==1.6 --hash=sha256:dd\nflask==2.2.3\n"


def test_names_are_canonical_and_entries_whole() -> None:
    first, second = parse_lock(LOCK)
    assert (first.name, first.version) == ("flask", "2.2.3") and first.text.count("--hash") == 2
    assert (second.name, second.version) == ("zope-interface", "6.0")
    assert pinned_versions(LOCK) == {"flask": "2.2.3", "zope-interface": "6.0"}
    assert pinned_versions(write_lock(parse_lock(LOCK))) == pinned_versions(LOCK)


def test_a_moved_lock_has_other_versions_and_more_of_them() -> None:
    text = moved(LOCK, {"flask": "2.3.0", "blinker": "1.6"}, KNOWN)
    assert pinned_versions(text) == {"blinker": "1.6", "flask": "2.3.0", "zope-interface": "6.0"}
    assert "sha256:cc" in text and "sha256:aa" not in text


def test_what_is_not_pinned_cannot_be_moved_to() -> None:
    with pytest.raises(CatalogError, match=r"no flask==9 is pinned; known: 2.2.3, 2.3.0"):
        moved(LOCK, {"flask": "9"}, KNOWN)
    with pytest.raises(CatalogError, match="pins every distribution"):
        parse_lock("flask>=2\n")
