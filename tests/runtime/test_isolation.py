"""Which level is taken, and what is said when one cannot be had."""

from __future__ import annotations

import os

import pytest

from gym_codefix.runtime import _isolation
from gym_codefix.runtime._isolation import (
    BUBBLEWRAP,
    CHOICES,
    LEVELS,
    NAMESPACES,
    PROCESS,
    IsolationUnavailable,
    choose,
    explain,
)


def available(monkeypatch: pytest.MonkeyPatch, *levels: str) -> None:
    monkeypatch.setattr(
        _isolation, "_works", lambda level: None if level in levels else "forbidden by the test"
    )


@pytest.mark.parametrize(
    ("levels", "asked", "taken"),
    [
        ((NAMESPACES, BUBBLEWRAP), "auto", NAMESPACES),
        ((NAMESPACES, BUBBLEWRAP), "strict", NAMESPACES),
        ((NAMESPACES, BUBBLEWRAP), BUBBLEWRAP, BUBBLEWRAP),
        ((BUBBLEWRAP,), "auto", BUBBLEWRAP),
        ((BUBBLEWRAP,), "strict", BUBBLEWRAP),
        ((), "auto", PROCESS),
        ((), PROCESS, PROCESS),
        ((NAMESPACES,), PROCESS, PROCESS),
    ],
)
def test_strongest_that_works(
    monkeypatch: pytest.MonkeyPatch, levels: tuple[str, ...], asked: str, taken: str
) -> None:
    available(monkeypatch, *levels)
    assert choose(asked) == taken


@pytest.mark.parametrize("asked", ["strict", NAMESPACES, BUBBLEWRAP])
def test_never_less_than_was_asked(monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    available(monkeypatch)
    with pytest.raises(IsolationUnavailable, match="forbidden by the test") as caught:
        choose(asked)
    assert "doctor" in str(caught.value) and "process" in str(caught.value)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="strict") as caught:
        choose("paranoid")
    assert all(choice in str(caught.value) for choice in CHOICES)


def test_every_level_is_explained() -> None:
    reasons = explain()
    assert set(reasons) == set(LEVELS)
    assert reasons[PROCESS] is None
    assert all(reason is None or reason for reason in reasons.values())


def test_other_systems_have_processes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_isolation.sys, "platform", "darwin")
    for level in (NAMESPACES, BUBBLEWRAP):
        assert "needs Linux" in (_isolation._works.__wrapped__(level) or "")


def test_servers_of_root_have_ids_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert _isolation.outer_id(1) != _isolation.outer_id(2)
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert _isolation.outer_id(1) is None
