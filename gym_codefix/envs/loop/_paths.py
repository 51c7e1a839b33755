"""Which files belong to tests, by their paths alone."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_FOLDERS = frozenset("test tests testsuite _test _tests".split())
_FILE = re.compile(r"conftest\.|tests\.|test_|.*_tests?\.")


def belongs_to_tests(path: str) -> bool:
    """Whether a path has a folder of tests, or the name of a module of tests.

    Helpers that a distribution offers for the tests of others, such as ``click/testing.py`` and
    ``werkzeug/test.py``, do not count.
    """
    pure = PurePosixPath(path)
    return bool(_FOLDERS.intersection(pure.parts[:-1])) or bool(_FILE.match(pure.name))
