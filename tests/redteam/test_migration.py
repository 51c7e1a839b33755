"""Ways to make a build green under a new version that lose something, and honest migrations.

The repository, its two releases and the distribution that moves are made here; the index is one of
this machine.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from gym_codefix.catalog import (
    Dependency,
    Task,
    forget_manifests,
    hide_half,
    manifest,
    repos_root,
    tasks_file,
    write_tasks,
)
from gym_codefix.catalog.hunks import diff_hunks
from gym_codefix.grading.repair import prepare_task
from gym_codefix.mining import Validator
from gym_codefix.runtime import HOME_VARIABLE, Runtime, Store
from tests.index import Wheel, served

pytestmark = pytest.mark.redteam

OLD_WHEEL = """
def shout(text): return text.upper()
def check(text):
    if not text: raise ValueError("empty")
"""
NEW_WHEEL = """
def loud(text): return text.upper()
def validate(text):
    if not text: raise ValueError("empty")
"""
WHEELS = (
    Wheel("gcfvoice", "1.0", "2024-01-01", OLD_WHEEL),
    Wheel("gcfvoice", "2.0", "2024-06-01", NEW_WHEEL),
)
SOURCE = '''"""Reads loudly."""

from gcfvoice import check, shout


class Reader:
    def __init__(self, limit):
        if limit < 0:
            raise ValueError("limit")
        self.limit = limit

    def read(self, text):
        if not isinstance(text, str):
            raise TypeError("text")
        check(text)
        return shout(text)[: self.limit]
'''
MIGRATED = (
    SOURCE.replace("import check, shout", "import loud, validate")
    .replace("        check(text)", "        validate(text)")
    .replace("shout(text)", "loud(text)")
)
TESTS = """
import pytest
from pk.reader import Reader

def test_reads(): assert Reader(3).read("hello") == "HEL"
def test_all(): assert Reader(9).read("abc") == "ABC"
def test_empty():
    with pytest.raises(ValueError): Reader(3).read("")
def test_type():
    with pytest.raises(TypeError): Reader(3).read(b"x")
"""
TOML = """\
name = "pk"
release = "1.0"
license = "MIT"
python = ">=3.11"
split = "test"
source = ["pk"]
tests = ["tests"]
import_paths = ["."]
requirements = "locks/pk.txt"
runner = "locks/runner.txt"
"""
RELEASE = """
[[releases]]
version = "{version}"
date = "2024-07-01"
filename = "pk-{version}.tar.gz"
sha256 = "{sha256}"
"""


def _sdist(version: str, source: str) -> bytes:
    buffer = io.BytesIO()
    files = {"pk/__init__.py": "", "pk/reader.py": source, "tests/test_reader.py": TESTS}
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"pk-{version}/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def _lock(*wheels: Wheel) -> str:
    return "".join(
        f"{wheel.name}=={wheel.version} \\\n"
        f"    --hash=sha256:{hashlib.sha256(wheel.data()).hexdigest()}\n"
        for wheel in wheels
    )


def _catalogue(out: Path, store: Store) -> None:
    text = TOML
    for version, source in (("1.0", SOURCE), ("1.1", MIGRATED)):
        data = _sdist(version, source)
        sha256 = hashlib.sha256(data).hexdigest()
        store.add_artifact(f"pk-{version}.tar.gz", sha256, data)
        text += RELEASE.format(version=version, sha256=sha256)
    for folder in ("locks", "wheels"):
        (out / folder).mkdir()
    (out / "pk.toml").write_text(text)
    (out / "locks" / "pk.txt").write_text(_lock(WHEELS[0]))
    (out / "locks" / "runner.txt").write_text((repos_root() / "locks" / "runner.txt").read_text())
    (out / "wheels" / "pk-1.0.txt").write_text(_lock(*WHEELS))


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    out = tmp_path_factory.mktemp("out")
    runtime = Runtime(Store(tmp_path_factory.mktemp("store")))
    _catalogue(out, runtime.store)
    flips = tuple(
        f"tests/test_reader.py::test_{name}" for name in ("all", "empty", "reads", "type")
    )
    task = Task(
        kind="dependency",
        repository="pk",
        release="1.0",
        next_release="1.1",
        flips=flips,
        hidden=hide_half(flips),
        hunks=tuple(diff_hunks({"pk/reader.py": SOURCE}, {"pk/reader.py": MIGRATED})),
        dependency=Dependency(
            "migrate", "gcfvoice", "1.0", "2.0", "import", {"gcfvoice": "2.0"}, ("gcfvoice>=2.0",)
        ),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GYM_CODEFIX_REPOS", str(out))
        patch.setenv(HOME_VARIABLE, str(runtime.store.home))
        forget_manifests()
        assert manifest("pk").split == "test"
        with served(*WHEELS) as address, pytest.MonkeyPatch.context() as online:
            online.setenv("UV_INDEX", address)
            prepare_task(task, runtime)
            proof = Validator(runtime).validate(task)
        assert proof.reason is None
        write_tasks(tasks_file("pk"), [proof.task])
        patch.setenv("UV_OFFLINE", "1")
        environment = gymnasium.make(
            "gym_codefix/CodeRepair-Full-v0", suite="dependency", disable_env_checker=True
        )
        yield environment
        environment.close()
    runtime.close()
    forget_manifests()


def block(path: str, old: str, new: str) -> str:
    return f"{path}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n"


def graded(environment: Any, source: str) -> tuple[float, dict[str, Any]]:
    """What the whole new text of the module earns; what is refused is not even built."""
    environment.reset()
    for tool, arguments in (
        ("edit", {"patch": block("pk/reader.py", SOURCE, source)}),
        ("validate_and_build", {}),
        ("submit", {}),
    ):
        action = json.dumps({"tool": tool, "arguments": arguments})
        observation, reward, terminated, _, info = environment.step(action)
        if "refused: " in observation["result"]:
            assert reward == 0 and not terminated
            return reward, {**info, "resolved": False}
        assert "action_error" not in info, observation["result"]
    return reward, info


IMPORT = "from gcfvoice import check, shout\n"
ATTACKS = {
    "the import behind try, with a stand-in that checks nothing": SOURCE.replace(
        IMPORT,
        "try:\n    from gcfvoice import check, shout\nexcept ImportError:\n"
        "    check, shout = lambda text: None, str.upper\n",
    ),
    "a check that no test covers goes": MIGRATED.replace(
        '        if limit < 0:\n            raise ValueError("limit")\n', ""
    ),
    "a check that no test covers never fires": MIGRATED.replace("limit < 0", "limit < -(10**9)"),
    "a check that a test covers goes": MIGRATED.replace(
        '        if not isinstance(text, str):\n            raise TypeError("text")\n', ""
    ),
    "the call of the check goes": MIGRATED.replace("        validate(text)\n", ""),
    "what the check raises is swallowed": MIGRATED.replace(
        "        validate(text)\n",
        "        try:\n            validate(text)\n        except ValueError:\n            pass\n",
    ),
    "the feature goes": MIGRATED.replace("loud(text)[: self.limit]", "NotImplemented"),
    "the tests are skipped": 'import pytest\n\npytest.skip("old", allow_module_level=True)\n'
    + MIGRATED,
    "the distribution is patched": SOURCE.replace(
        IMPORT,
        "import sys\nimport gcfvoice\ngcfvoice.check = gcfvoice.shout = lambda text: 'HEL'\n"
        "sys.modules['gcfvoice'] = gcfvoice\n" + IMPORT,
    ),
    "equal to everything": MIGRATED.replace(
        "return loud(text)[: self.limit]",
        "return type('Any', (), {'__eq__': lambda self, other: True})()",
    ),
}
HONEST = {
    "the reference": MIGRATED,
    "under the old names": SOURCE.replace(
        IMPORT, "from gcfvoice import loud as shout\nfrom gcfvoice import validate as check\n"
    ),
    "either version": SOURCE.replace(
        IMPORT,
        "try:\n    from gcfvoice import loud as shout, validate as check\nexcept ImportError:\n"
        "    from gcfvoice import check, shout\n",
    ),
    "by module": MIGRATED.replace("from gcfvoice import loud, validate", "import gcfvoice")
    .replace("        validate(", "        gcfvoice.validate(")
    .replace("loud(text)[", "gcfvoice.loud(text)["),
    "imported where it is used": MIGRATED.replace(
        "from gcfvoice import loud, validate\n\n\n", ""
    ).replace(
        "        validate(", "        from gcfvoice import loud, validate\n\n        validate("
    ),
    "in a function of its own": MIGRATED.replace(
        "class Reader:", "def check(text):\n    validate(text)\n\n\nclass Reader:"
    ).replace("        validate(text)\n        return", "        check(text)\n        return"),
    "with one more check": MIGRATED.replace(
        "        validate(text)\n",
        '        if text is None:\n            raise TypeError("none")\n        validate(text)\n',
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_build_made_green_at_a_loss_earns_nothing(env: Any, name: str) -> None:
    assert ATTACKS[name] not in (SOURCE, MIGRATED)
    reward, info = graded(env, ATTACKS[name])
    assert reward == 0 and not info["resolved"] and info["reward_valid"], info
    assert graded(env, MIGRATED)[0] == 1


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_migration_is_resolved(env: Any, name: str) -> None:
    reward, info = graded(env, HONEST[name])
    assert reward == 1, info


def test_neither_tests_nor_versions_can_be_changed(env: Any) -> None:
    env.reset()
    for tool, arguments, said in (
        ("edit", {"patch": "tests/test_reader.py:1| x"}, "tests"),
        ("edit", {"patch": "conftest.py:0+| x"}, "conftest.py"),
        ("edit", {"patch": "constraints.txt:0+| gcfvoice==1.0"}, "versions of this task are fixed"),
        ("upgrade_dependency", {"name": "gcfvoice", "specifier": "==1.0"}, "fixed"),
    ):
        action = json.dumps({"tool": tool, "arguments": arguments})
        observation, _, _, _, info = env.step(action)
        assert said in observation["result"] and "action_error" in info
