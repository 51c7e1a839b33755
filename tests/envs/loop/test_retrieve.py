"""Retrieval: scores against a plain BM25, words of code, snippets, and what documents hold."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_codefix.envs.loop import Document, Index, api_documents, source_documents

WORDS = st.lists(st.sampled_from("red green blue round square".split()), max_size=12)


def titles(index: Index, query: str, limit: int = 10) -> list[str]:
    return [hit.document.title for hit in index.search(query, limit)]


def plain_bm25(texts: Sequence[Sequence[str]], query: Sequence[str]) -> list[float]:
    average = sum(map(len, texts)) / len(texts)
    scores = []
    for text in texts:
        score = 0.0
        for term in sorted(set(query)):
            holders = sum(term in other for other in texts)
            rarity = math.log(1 + (len(texts) - holders + 0.5) / (holders + 0.5))
            count = text.count(term)
            if count:
                length = 1 - 0.75 + 0.75 * len(text) / average
                score += rarity * count * (1.2 + 1) / (count + 1.2 * length)
        scores.append(score)
    return scores


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS, st.integers(-1, 10))
def test_scores_are_those_of_plain_bm25(
    texts: list[list[str]], query: list[str], limit: int
) -> None:
    documents = [Document("s", str(number), " ".join(text)) for number, text in enumerate(texts)]
    words = [["s", str(number), *text] for number, text in enumerate(texts)]
    expected = plain_bm25(words, query)
    hits = Index(documents).search(" ".join(query), limit)
    assert len(hits) == max(0, min(limit, sum(score > 0 for score in expected)))
    for hit in hits:
        assert hit.score == pytest.approx(expected[int(hit.document.title)])
    best = sorted(expected, reverse=True)[: len(hits)]
    assert [hit.score for hit in hits] == pytest.approx(best)


def test_equal_scores_keep_the_order_of_documents() -> None:
    documents = [Document("s", name, "same words here") for name in "cab"]
    assert titles(Index(documents), "here words", 2) == ["c", "a"]


@pytest.mark.parametrize("documents", [[], [Document("", "", "")]])
def test_nothing_to_find(documents: list[Document]) -> None:
    assert Index(documents).search("word", 3) == []


@pytest.mark.parametrize(
    "query",
    [
        *("url_quote", "URL_QUOTE", "quote", "werkzeug.urls.url_quote", "urls", "JSONEncoder"),
        *("json", "encoder", "utf8", "utf", "3.0.1", "straße", "http2"),
    ],
)
def test_identifiers_are_found_by_their_parts(query: str) -> None:
    text = "werkzeug.urls.url_quote JSONEncoder utf8 v==3.0.1 Straße http2_session"
    assert titles(Index([Document("s", "code", text), Document("s", "other", "x")]), query)


def test_the_whole_identifier_outweighs_its_parts() -> None:
    parts = Document("s", "parts", "url quote " * 3)
    whole = Document("s", "whole", "url_quote and more of words, as a text may have")
    assert titles(Index([parts, whole]), "url_quote") == ["whole", "parts"]


def test_snippets_show_the_best_lines_by_number() -> None:
    lines = ["import x", "", *(f"common = {number}" for number in range(20)), "rare = common"]
    document = Document("a.py", "f", "\r\n".join([*lines, "y" * 500 + " rare"]), line=10)
    index = Index([document, *(Document("b", "b", "common") for _ in range(9))])
    (hit,) = index.search("rare", 1)
    assert hit.snippet.split("\n") == ["32| rare = common", "33| " + "y" * 159 + "…"]
    (hit,) = index.search("rare common", 1)
    assert hit.snippet.count("\n") == 4 and "32| rare = common" in hit.snippet
    (hit,) = index.search("f", 1)  # only the title has it
    assert hit.snippet.startswith("10| import x\n12| common = 0\n")


SOURCE = '''\
"""A module."""
import os

@decorated
def first():
    return 1  # \x0c form feed

NAME = 1

class Second:
    def method(self): ...
'''


def test_source_documents() -> None:
    files = {
        "src/a.py": "\ufeff" + SOURCE,
        "src/broken.py": "def f(:\n    pass\n",
        "src/empty.py": "\n",
        "setup.cfg": "[metadata]\nname = a\n",
        "tests/test_a.py": "secret = 1",
        "src/tests/helper.py": "secret = 1",
        "src/conftest.py": "secret = 1",
        "src/test_b.py": "secret = 1",
        "src/b_test.py": "secret = 1",
        "src/testing.py": "public = 1",
    }
    documents = source_documents(files.get, [*files, "missing.py"])
    assert [(document.source, document.title, document.line) for document in documents] == [
        ("src/a.py", "src/a.py: first", 4),
        ("src/a.py", "src/a.py: Second", 10),
        ("src/a.py", "src/a.py", 1),
        ("src/broken.py", "src/broken.py", 1),
        ("setup.cfg", "setup.cfg", 1),
        ("src/testing.py", "src/testing.py", 1),
    ]
    assert documents[0].text == "@decorated\ndef first():\n    return 1  # \x0c form feed"
    assert documents[2].text.split("\n")[7] == "NAME = 1"
    assert "first" not in documents[2].text
    assert "secret" not in "".join(document.text for document in documents)
    assert [hit.snippet for hit in Index(documents).search("method", 9)] == [
        "11|     def method(self): ..."
    ]


@pytest.fixture
def site_packages(tmp_path: Path) -> Path:
    """An environment with one distribution by RECORD and one by ``top_level.txt``."""
    files = {
        "shapes/__init__.py": (
            '"""Shapes of all kinds.\n\nMore."""\nimport os\nfrom typing import Any\n'
            "from ._make import area, Square as Square, Cube\nfrom .colour import paint\n"
            "from markupsafe import escape\nraise SystemExit('imported')\n"
        ),
        "shapes/_make.py": (
            "def area(shape, *, scale: float = 1.0) -> float:\n"
            '    """Size of a shape.\n\n    x"""\n'
            "class Base:\n    def name(self): ...\n    def _hidden(self): ...\n"
            'class Square(Base):\n    """Four sides."""\n    sides: int = 4\n'
            "    async def draw(self, where): ...\n"
            "class Cube(Square):\n    def volume(self): ...\n"
        ),
        "shapes/colour.py": "RED = 1\ndef paint(x=" + repr("x" * 400) + "): ...\n",
        "shapes/broken.py": "def f(:",
        "shapes/tests/test_shapes.py": "def test_secret(): ...",
        "shapes/conftest.py": "secret = 1",
        "shapes/fast.pyi": "def quick() -> int: ...\n",
        "shapes/colour.pyi": "def not_this_one() -> int: ...\n",
    }
    info = tmp_path / "Shapes_Lib-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: Shapes_Lib\nVersion: 1.2\nRequires-Python: >=3.8\n"
        "Requires-Dist: markupsafe>=2\n"
    )
    recorded = [*files, "../../bin/shapes", "../outside.py", "/etc/absolute.py"]
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in recorded))
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "plain.py").write_text("def plain(): ...\n")
    old = tmp_path / "plain-0.1.dist-info"
    old.mkdir()
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: plain\nVersion: 0.1\n")
    (old / "top_level.txt").write_text("plain\n../outside\n")
    return tmp_path


def test_api_documents(site_packages: Path) -> None:
    documents = api_documents(site_packages, ["shapes.lib", "PLAIN", "absent"])
    texts = {document.title: document.text for document in documents}
    assert list(texts) == [
        *("plain 0.1: metadata", "plain", "Shapes_Lib 1.2: metadata"),
        *("shapes", "shapes.colour", "shapes.fast"),
    ]
    assert {document.source for document in documents} == {
        "installed Shapes_Lib 1.2",
        "installed plain 0.1",
    }
    assert texts["Shapes_Lib 1.2: metadata"] == (
        "name: Shapes_Lib\nversion: 1.2\nrequires python: >=3.8\nrequires: markupsafe>=2"
    )
    assert texts["shapes"].split("\n") == [
        "module shapes",
        "Shapes of all kinds.",
        "class Cube(Square)",
        "    def volume(self)",
        "class Square(Base)  # Four sides.",
        "    sides: int",
        "    async def draw(self, where)",
        "    def name(self)",
        "def area(shape, *, scale: float=1.0) -> float  # Size of a shape.",
        "from markupsafe import escape as escape",
        "paint: see shapes.colour",
    ]
    assert "RED" in texts["shapes.colour"] and len(texts["shapes.colour"]) < 300
    assert "not_this_one" not in texts["shapes.colour"]
    assert "secret" not in "".join(texts.values())
    assert "shapes" not in sys.modules
    assert titles(Index(documents), "size of a shape")[0] == "shapes"


def test_api_of_a_real_distribution() -> None:
    site = Path(pytest.__file__).parents[1]
    documents = api_documents(site, ["packaging"])
    assert titles(Index(documents), "canonicalize_name", 1) == ["packaging.utils"]
