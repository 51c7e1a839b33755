"""Telling repairs of existing behaviour from new features, by how the tests fail before."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gym_codefix.runtime import Verdict

_ERROR = re.compile(
    r"^E\s+(?:[\w.]*\.)?([A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt)\b)(.*)", re.MULTILINE
)
_QUOTED = re.compile(r"'([^']+)'")
_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "NameError"})
_NEW_ARGUMENT = re.compile(r"unexpected keyword argument|takes .* positional|positional argument")


def label_of(flips: Iterable[str], before: Verdict, source: str) -> str:
    """``bugfix`` when every flip fails inside code that is already there, else ``feature``.

    ``before``: a run of the flips without the repair; ``source``: the text of the package then. A
    test that cannot even be collected, or that fails over a name, attribute or parameter that the
    source does not have yet, asks for a feature.
    """
    words = frozenset(re.findall(r"\w+", source))
    fails_inside = (_fails_inside(before, test, words) for test in flips)
    return "bugfix" if all(fails_inside) else "feature"


def _fails_inside(before: Verdict, test: str, words: frozenset[str]) -> bool:
    if test not in before.outcomes:
        return False
    errors = _ERROR.findall(before.texts.get(test, ""))
    if not errors:
        return True  # a bare assert, or an exception that was not raised
    kind, message = errors[-1]
    if kind in _MISSING:
        return False
    if kind == "AttributeError":
        quoted = _QUOTED.findall(message)
        return bool(quoted) and quoted[-1] in words
    return not (kind == "TypeError" and _NEW_ARGUMENT.search(message))
