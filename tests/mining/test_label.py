"""Bug fix or feature, from how a test fails."""

from __future__ import annotations

import pytest

from gym_codefix.mining._label import label_of
from gym_codefix.runtime import Verdict

_SOURCE = "def old(self): return self.known"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("E       assert 1 == 2", "bugfix"),
        ("E       ValueError: too large", "bugfix"),
        ("E       Failed: DID NOT RAISE <class 'ValueError'>", "bugfix"),
        ("E       AttributeError: 'NoneType' object has no attribute 'known'", "bugfix"),
        ("E       AttributeError: module 'x' has no attribute 'fresh'", "feature"),
        ("E       TypeError: old() got an unexpected keyword argument 'new'", "feature"),
        ("E       TypeError: unsupported operand type(s)", "bugfix"),
        ("E       NameError: name 'fresh' is not defined", "feature"),
        ("E       x.errors.LocalError: nothing\nE  ImportError: no fresh", "feature"),
    ],
)
def test_by_failure(text: str, label: str) -> None:
    before = Verdict(outcomes={"t": "failed"}, texts={"t": text})
    assert label_of(["t"], before, _SOURCE) == label


def test_what_is_not_collected_is_a_feature() -> None:
    assert label_of(["t"], Verdict(), _SOURCE) == "feature"
