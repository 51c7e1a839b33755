"""Adding repositories: what is found in a tree, what is written, and what is said when it fails."""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from gym_codefix.catalog import read_manifest, repos_root
from gym_codefix.mining._add_layout import find_layout
from gym_codefix.mining.add import add_repository, to_toml
from gym_codefix.runtime import PrepareError, Runtime, Store, release_tree


def _tree(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    return root


@pytest.mark.parametrize(
    ("paths", "source", "tests", "imports"),
    [
        (["src/my_pkg/__init__.py", "tests/test_a.py"], ["src/my_pkg"], ["tests"], ["src", "."]),
        (["my_pkg/__init__.py", "docs/__init__.py", "test/test_a.py"], ["my_pkg"], ["test"], ["."]),
        (["my_pkg.py", "setup.py", "test_my_pkg.py"], ["my_pkg.py"], ["test_my_pkg.py"], ["."]),
        (["src/my_pkg.py", "src/test_a.py"], ["src/my_pkg.py"], ["src/test_a.py"], ["src", "."]),
        (["my_pkg/__init__.py", "my_pkg/tests/test_a.py"], ["my_pkg"], ["my_pkg/tests"], ["."]),
        (
            ["one/__init__.py", "two/__init__.py", "testing/test_a.py"],
            ["one", "two"],
            ["testing"],
            ["."],
        ),
    ],
)
def test_layouts(
    tmp_path: Path, paths: list[str], source: list[str], tests: list[str], imports: list[str]
) -> None:
    found = find_layout(_tree(tmp_path, *paths), "My-Pkg")
    assert (list(found.source), list(found.tests), list(found.import_paths)) == (
        source,
        tests,
        imports,
    )


@pytest.mark.parametrize("paths", [["pkg/__init__.py"], ["tests/test_a.py"], ["README"]])
def test_nothing_to_run(tmp_path: Path, paths: list[str]) -> None:
    with pytest.raises(PrepareError) as caught:
        find_layout(_tree(tmp_path, *paths), "pkg")
    assert caught.value.stage == "layout" and "try:" in str(caught.value)


def test_toml_is_read_back() -> None:
    document = {
        "name": "x",
        "source": ["a", "b", "c", "d"],
        "subset": [],
        "releases": [{"version": "1", "sha256": "0"}, {"version": "2", "sha256": "1"}],
        "unstable": [{"release": "1", "tests": ['t[“quoted" \\\\ ü]'], "reason": "r"}],
    }
    assert tomllib.loads(to_toml(document)) == document


def test_a_checkout_with_an_interpreter(runtime: Runtime, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(repos_root() / "embedded" / "taskgraph", checkout)
    broken = next(checkout.glob("tests/test_*.py"))
    broken.write_text(broken.read_text() + "\n\ndef test_not_yet():\n    assert False\n")
    out = tmp_path / "out"
    out.mkdir()
    added = add_repository(
        str(checkout), store=runtime.store, out=out, python=Path(sys.executable), split="dev"
    )
    manifest = read_manifest(added.path)
    assert manifest == added.manifest and manifest.split == "dev" and not manifest.embedded
    assert added.excluded == (f"tests/{broken.name}::test_not_yet",)
    assert manifest.unstable_tests(manifest.release) == set(added.excluded)
    assert not set(added.excluded) & set(added.snapshot.baseline.passing)
    assert any("1 tests do not pass" in note for note in added.notes)
    with pytest.raises(PrepareError, match="is there already"):
        add_repository(str(checkout), store=runtime.store, out=out)


@pytest.mark.slow
def test_a_checkout_with_a_lock_in_a_catalogue_of_its_own(runtime: Runtime, tmp_path: Path) -> None:
    checkout, out = tmp_path / "checkout", tmp_path / "out"
    _tree(checkout, "pkg/__init__.py", "tests/test_a.py")
    project = '[project]\nname = "Own_Pkg"\nversion = "3"\ndependencies = ["iniconfig>=2"]\n'
    project += '[project.optional-dependencies]\ntest = ["mistune==3.1.3"]\n'
    needed = "import iniconfig, markupsafe, mistune"
    (checkout / "pyproject.toml").write_text(project)
    (checkout / "tests" / "test_a.py").write_text(f"def test_it():\n    {needed}\n")
    out.mkdir()
    added = add_repository(str(checkout), store=runtime.store, out=out, also=["markupsafe==3.0.2"])
    assert added.snapshot.baseline.passing == ("tests/test_a.py::test_it",)
    manifest = read_manifest(out / "own-pkg.toml")
    assert manifest == added.manifest and manifest.home == out
    lock = manifest.place(manifest.requirements).read_text()
    assert re.findall(r"^\w+==", lock, re.M) == ["markupsafe==", "mistune=="], "the runner has more"
    assert lock.startswith("markupsafe==3.0.2 \\\n    --hash=sha256:")


@pytest.mark.slow
def test_releases_are_pinned_in_their_order(runtime: Runtime, tmp_path: Path) -> None:
    added = add_repository(
        "pastel==0.2.0", store=runtime.store, out=tmp_path, releases=["0.2.1", "0.1.1", "0.2.0"]
    )
    versions = [release.version for release in read_manifest(added.path).releases]
    assert versions == ["0.1.1", "0.2.0", "0.2.1"]
    assert added.manifest.release == "0.2.0" and added.snapshot.baseline.passing
    for release in added.manifest.releases:
        assert len(release.date) == 10 and len(release.sha256) == 64
        tree = release_tree(added.manifest, release.version, runtime.store)
        assert all((tree / path).exists() for path in release.layout.source + release.layout.tests)


def test_a_checkout_has_no_releases(runtime: Runtime, tmp_path: Path) -> None:
    checkout = repos_root() / "embedded" / "taskgraph"
    with pytest.raises(PrepareError, match="a checkout has no releases to pin"):
        add_repository(str(checkout), store=runtime.store, out=tmp_path, releases=["1"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("make", "stage", "words"),
    [
        (None, "find", "neither a folder nor name==version"),
        (["pkg/__init__.py", "tests/test_a.py"], "lock", "pyproject.toml"),
    ],
)
def test_errors(tmp_path: Path, make: list[str] | None, stage: str, words: str) -> None:
    tree, out = tmp_path / "pkg", tmp_path / "out"
    out.mkdir()
    if make:
        _tree(tree, *make)
    with pytest.raises(PrepareError, match=words) as caught:
        add_repository(str(tree), store=Store(tmp_path / "store"), out=out)
    assert caught.value.stage == stage
    assert not list(out.glob("*.toml"))
    assert not [place for place in (out / "locks").glob("*.txt") if place.name != "runner.txt"]
