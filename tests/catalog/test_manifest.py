"""Manifests: what is there, and what each malformed one says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_codefix.catalog import (
    SPLITS,
    CatalogError,
    Layout,
    manifest,
    manifests,
    parse_manifest,
    read_manifest,
    repos_root,
)

SHA256 = "ab" * 32


def document(**changes: Any) -> dict[str, Any]:
    """A good manifest with some keys changed; None takes a key away."""
    whole: dict[str, Any] = {
        "name": "thing",
        "release": "1.1",
        "license": "MIT",
        "python": ">=3.11",
        "split": "train",
        "source": ["src/thing"],
        "tests": ["tests"],
        "import_paths": ["src"],
        "pytest_args": ["-q"],
        "releases": [
            {"version": "1.0", "date": "2020-01-01", "filename": "a.tar.gz", "sha256": SHA256},
            {
                "version": "1.1",
                "date": "2020-02-01",
                "filename": "b.tar.gz",
                "sha256": SHA256,
                "source": ["thing"],
            },
        ],
    }
    whole.update(changes)
    return {key: value for key, value in whole.items() if value is not None}


def release(**changes: Any) -> list[dict[str, Any]]:
    return [{**document()["releases"][1], **changes}]


def test_every_manifest_of_the_catalogue_reads() -> None:
    found = manifests()
    assert len(found) >= 20
    for name, one in found.items():
        assert one.name == name
        assert one.split in SPLITS
        assert one.layout.source and one.layout.tests
        if one.embedded:
            assert one.root is not None and (repos_root() / one.root).is_dir()
        else:
            assert one.find_release(one.release)
            assert (repos_root() / one.requirements).is_file()
            assert (repos_root() / one.runner).is_file()
            dates = [release.date for release in one.releases]
            assert dates == sorted(dates), f"{name}: releases are oldest first"


def test_each_split_has_repositories() -> None:
    assert {one.split for one in manifests().values()} == set(SPLITS)


def test_a_release_may_override_the_layout() -> None:
    found = parse_manifest(document(), "thing.toml")
    assert found.layout_of("1.0").source == ("src/thing",)
    assert found.layout_of("1.1").source == ("thing",)
    assert found.layout_of("1.1").tests == ("tests",)


def test_unstable_tests_belong_to_one_release() -> None:
    unstable = [{"release": "1.0", "tests": ["tests/t.py::a"], "reason": "clock"}]
    found = parse_manifest(document(unstable=unstable), "thing.toml")
    assert found.unstable_tests("1.0") == {"tests/t.py::a"}
    assert found.unstable_tests("1.1") == frozenset()


def test_an_unknown_release_names_the_known_ones() -> None:
    with pytest.raises(CatalogError, match=r"'9\.9'; known: 1\.0, 1\.1"):
        parse_manifest(document(), "thing.toml").find_release("9.9")


def test_an_unknown_repository_names_the_known_ones() -> None:
    with pytest.raises(CatalogError, match=r"unknown repository 'nope'; known: .*rowquery"):
        manifest("nope")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": None}, "'name' is missing"),
        ({"name": "../x"}, "name must be"),
        ({"release": "3"}, "no pinned release '3'; known: 1.0, 1.1"),
        ({"license": None}, "'license' is missing"),
        ({"python": "three"}, "python: "),
        ({"python": 3.11}, "python must be a text"),
        ({"split": "eval"}, "'eval'; valid: train, dev, test"),
        ({"import_path": ["src"]}, "unknown key 'import_path'; valid: .*import_paths"),
        ({"source": "src"}, "source must be a list"),
        ({"source": [1]}, "source must be a list"),
        ({"source": ["../other"]}, "source leaves the tree: '../other'"),
        ({"tests": ["/etc"]}, "tests leaves the tree: '/etc'"),
        ({"import_paths": ["a/../../b"]}, "import_paths leaves the tree"),
        ({"subset": ["tests/../../x"]}, "subset leaves the tree"),
        ({"pytest_args": "-x"}, "pytest_args must be a list"),
        ({"requirements": "../../lock.txt"}, "requirements leaves the tree"),
        ({"path": "somewhere"}, "path must be absolute"),
        ({"releases": 3}, "releases must be an array"),
        ({"releases": ["1.1"]}, "a table is needed"),
        ({"releases": [{"date": "2020-01-01"}]}, "'version' is missing"),
        ({"releases": release(sha256="00")}, "release 1.1: sha256 must be 64"),
        ({"releases": release(filename="../x.tar.gz")}, "release 1.1: filename must be"),
        ({"releases": release(filename=None)}, "release 1.1: the key 'filename' is missing"),
        ({"releases": release(source=["../x"])}, "release 1.1: source leaves the tree"),
        ({"releases": release(url="x")}, "unknown key 'url'"),
        ({"unstable": [{"release": "1.0"}]}, "unstable: the key 'reason' is missing"),
    ],
)
def test_a_malformed_manifest_names_file_and_key(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(CatalogError, match=rf"^thing\.toml: (.*){said}"):
        parse_manifest(document(**changes), "thing.toml")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'name = "thing"\nrelease = \n', "line 2"),
        (b"name = 'a'\nname = 'b'\n", "line 2"),
        (b"\xff\xfe\x00", "decode"),
        (b"", "'name' is missing"),
        (
            b"name='other'\nrelease='1'\nlicense='MIT'\npython='>=3.11'\nsplit='dev'\npath='/x'\n",
            "'other' is not the file's name",
        ),
    ],
)
def test_a_file_that_is_no_manifest_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "thing.toml"
    path.write_bytes(content)
    with pytest.raises(CatalogError, match=rf"thing\.toml: .*{said}"):
        read_manifest(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"gone\.toml"):
        read_manifest(tmp_path / "gone.toml")


LAYOUT = Layout(("pkg", "single.py"), ("tests", "checks"), (".",), ())


@pytest.mark.parametrize(
    ("path", "source", "test"),
    [
        ("pkg/a.py", True, False),
        ("pkg/deep/a.py", True, False),
        ("single.py", True, False),
        ("pkg/data.json", False, False),
        ("pkg/conftest.py", False, True),
        ("pkg/tests/helper.py", False, True),
        ("pkg/test_a.py", False, True),
        ("pkg/a_test.py", False, True),
        ("tests/helper.py", False, True),
        ("checks/data.txt", False, True),
        ("pkg2/a.py", False, False),
        ("setup.py", False, False),
        ("pkg/../setup.py", False, False),
        ("pkg/../../outside.py", False, False),
        ("/pkg/a.py", False, False),
    ],
)
def test_what_an_agent_may_edit(path: str, source: bool, test: bool) -> None:
    assert (LAYOUT.is_source(path), LAYOUT.is_test(path)) == (source, test)
