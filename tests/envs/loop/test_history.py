"""Histories of names, from wheels built here."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from packaging.version import InvalidVersion

from gym_codefix.envs.loop import (
    Index,
    NameChange,
    history_documents,
    name_history,
    public_names,
)


def wheel(folder: Path, files: dict[str, str | bytes], version: str = "1.0") -> Path:
    path = folder / f"shapes-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr(
            f"shapes-{version}.dist-info/METADATA", f"Name: shapes\nVersion: {version}\n"
        )
    return path


def names(folder: Path, text: str | bytes, path: str = "shapes.py") -> set[str]:
    """Public names of a wheel with one module, without that of the module."""
    return {name.removeprefix("shapes.") for name in public_names(wheel(folder, {path: text}))} - {
        "shapes"
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(): ...\nasync def g(): ...\ndef _h(): ...\n", {"f", "g"}),
        ("A = 1\nB: int = 2\nC, (D, _E) = x\n[F] = G = y\nh.i = 1\n", set("ABCDFG")),
        (
            "class A:\n    x = 1\n    def f(self): ...\n    class B:\n        y = 1\n",
            {"A", "A.x", "A.f", "A.B"},
        ),
        ("class A:\n    def __init__(self): ...\n    def _f(self): ...\n", {"A"}),
        ("if x:\n    A = 1\nelif y:\n    B = 1\nelse:\n    C = 1\n", set("ABC")),
        (
            "try:\n    A = 1\nexcept E:\n    B = 1\nfinally:\n    C = 1\nwith x:\n    D = 1\n",
            set("ABCD"),
        ),
        ("if TYPE_CHECKING:\n    A = 1\nelse:\n    B = 1\nif t.TYPE_CHECKING:\n    C = 1\n", {"B"}),
        ("import os\nfrom markupsafe import escape\n", set()),
        ("from markupsafe import escape as escape\n", {"escape"}),
        ("from os import path\n__all__ = ['path', 'lazy', '_x']\n", {"path", "lazy"}),
        ("__all__ = names()\nA = 1\n", {"A"}),
        (b"# coding: latin-1\nA = '\xe9'\n", {"A"}),
        ("def f(:", set()),
        (b"\0", set()),
        ("x = " + "(" * 5_000, set()),
        ("if a:\n    A = 1\n" + "elif a:\n    B = 1\n" * 1_500, set("AB")),
    ],
)
def test_names_of_a_module(tmp_path: Path, text: str | bytes, expected: set[str]) -> None:
    assert names(tmp_path, text) == expected


def test_packages_offer_what_they_import(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "shapes/__init__.py": (
            "from typing import Any\nfrom markupsafe import escape\n"
            "from . import _colour as colour\nfrom ._make import Square as Box, _x\n"
            "from .stars import *\nfrom .....far import away\n"
        ),
        "shapes/_make.py": (
            "from . import _base\nfrom ._loop import Loop\n"
            "class Square(_base.Base[int], Loop, Elsewhere):\n    def draw(self): ...\n"
        ),
        "shapes/_base.py": "class Base:\n    def name(self): ...\n",
        "shapes/_loop.py": "from ._make import Square\nclass Loop(Square): ...\n",
        "shapes/_colour.py": "",
        "shapes/stars.py": "from .more import *\nONE = 1\nlocal = 1\n__all__ = ['ONE']\n",
        "shapes/more.py": "from .stars import *\nTWO = 2\n",
        "shapes/tests/__init__.py": "secret = 1",
        "shapes/test_it.py": "secret = 1",
        "shapes/not-a-name.py": "secret = 1",
        "shapes-1.0.data/purelib/extra.py": "E = 1",
        "shapes-1.0.data/scripts/run.py": "S = 1",
    }
    assert public_names(wheel(tmp_path, files)) == {
        *("shapes", "shapes.escape", "shapes.colour", "shapes.ONE"),
        *("shapes.Box", "shapes.Box.draw", "shapes.Box.name"),
        *("shapes.stars", "shapes.stars.ONE", "shapes.stars.local", "shapes.stars.TWO"),
        *("shapes.more", "shapes.more.TWO", "shapes.more.ONE", "extra", "extra.E"),
    }


def test_what_moves_and_is_still_offered_is_not_lost(tmp_path: Path) -> None:
    text = "class A:\n    def f(self): ...\n"
    before = public_names(wheel(tmp_path, {"shapes/__init__.py": text}))
    moved: dict[str, str | bytes] = {
        "shapes/__init__.py": "from .new import A",
        "shapes/new.py": text,
    }
    assert before <= public_names(wheel(tmp_path, moved, "2.0"))


def test_damaged_wheels_have_no_names(tmp_path: Path) -> None:
    path = wheel(tmp_path, {"shapes.py": "A = 1\n" * 500})
    data = path.read_bytes()
    assert public_names(path)
    for damaged in (b"", b"no zip", data[: len(data) // 2], data[:40] + b"\xff" * 9 + data[49:]):
        path.write_bytes(damaged)
        assert public_names(path) == frozenset()
    with pytest.raises(FileNotFoundError, match="no wheel"):
        public_names(tmp_path / "absent.whl")


def test_history_goes_by_version() -> None:
    versions = {
        "10.0": frozenset({"a", "c"}),
        "9.0": frozenset({"a", "b"}),
        "9.5": frozenset[str](),
        "10.0rc1": frozenset({"a", "b"}),
        "10.1": frozenset({"a", "b", "d"}),
    }
    assert name_history(versions) == (
        NameChange("c", "10.0", "added", "10.0rc1"),
        NameChange("b", "10.0", "removed", "10.0rc1"),
        NameChange("b", "10.1", "added", "10.0"),
        NameChange("d", "10.1", "added", "10.0"),
        NameChange("c", "10.1", "removed", "10.0"),
    )
    assert name_history({}) == name_history({"1": frozenset({"a"})}) == ()
    with pytest.raises(InvalidVersion):
        name_history({"new": frozenset({"a"})})


def test_a_query_finds_the_version(tmp_path: Path) -> None:
    modules = {
        "1.0": "def url_quote(): ...\ndef url_fix(): ...\n",
        "2.0": "def url_quote(): ...\ndef iri(): ...\n",
        "3.0": "def iri(): ...\n" + "".join(f"def f{number}(): ...\n" for number in range(200)),
        "3.1": "def iri(): ...\n",
    }
    by_version = {
        version: public_names(wheel(tmp_path, {"shapes/urls.py": text}, version))
        for version, text in modules.items()
    }
    documents = history_documents("shapes", name_history(by_version))
    assert [document.title for document in documents] == [
        f"shapes {version}: names added and removed" for version in ("2.0", "3.0", "3.1")
    ]
    assert documents[0].text.split("\n") == [
        "shapes 2.0, compared with shapes 1.0:",
        "removed: shapes.urls.url_fix",
        "added: shapes.urls.iri",
    ]
    error = "ImportError: cannot import name 'url_quote' from 'shapes.urls'"
    best = Index(documents).search(error, 1)[0]
    assert best.document.title.startswith("shapes 3.0:")
    assert "2| removed: shapes.urls.url_quote" in best.snippet.split("\n")
