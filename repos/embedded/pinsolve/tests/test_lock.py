from __future__ import annotations

from pathlib import Path

import pytest

from pinsolve import LockError, Version, diff_locks, read_lock, write_lock

PINS = {"web": Version(2, 1), "log": Version.parse("1.0.0-rc.1")}


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "pins.lock"
    write_lock(path, PINS)
    assert path.read_text(encoding="utf-8").splitlines()[1:] == ["log==1.0.0-rc.1", "web==2.1.0"]
    assert read_lock(path) == PINS


def test_edited_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "pins.lock"
    write_lock(path, PINS)
    path.write_text(path.read_text(encoding="utf-8").replace("2.1.0", "2.2.0"), encoding="utf-8")
    with pytest.raises(LockError, match="edited by hand"):
        read_lock(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("log==1.0\n", "checksum is missing"),
        ("# pins\n\nlog>=1.0\n", "line 3: not a pin"),
        ("log==1.0\nlog==1.0\n", "line 2: log is pinned twice"),
        ("log==one\n", "line 1: not a version"),
    ],
)
def test_refuses(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "pins.lock"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LockError, match=message):
        read_lock(path)


def test_diff() -> None:
    old = {"a": Version(1), "b": Version(1), "c": Version(1, 2), "d": Version(1)}
    new = {"b": Version(2), "c": Version(1, 1), "d": Version(1), "e": Version(0, 1)}
    assert diff_locks(old, new) == [
        "- a 1.0.0",
        "~ b 1.0.0 -> 2.0.0 (up, major)",
        "~ c 1.2.0 -> 1.1.0 (down)",
        "+ e 0.1.0",
    ]
