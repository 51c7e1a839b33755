from __future__ import annotations

import pytest

from pinsolve import Index, ResolutionError, Version, resolve


@pytest.fixture
def index() -> Index:
    index = Index()
    index.add("app", "1.0.0", {"web": "^2", "log": "*"})
    index.add("web", "2.0.0", {"log": "<2"})
    index.add("web", "2.1.0", {"log": "<3"})
    index.add("web", "3.0.0")
    for version in ("1.0.0", "2.0.0", "2.5.0", "3.0.0", "4.0.0-rc.1"):
        index.add("log", version)
    return index


def pins(index: Index, **wanted: str) -> dict[str, str]:
    return {name: str(version) for name, version in resolve(index, wanted).items()}


def test_newest_that_fit(index: Index) -> None:
    assert pins(index, app="*") == {"app": "1.0.0", "log": "2.5.0", "web": "2.1.0"}


def test_goes_back_to_an_older_version(index: Index) -> None:
    assert pins(index, app="*", log="<2") == {"app": "1.0.0", "log": "1.0.0", "web": "2.1.0"}
    index.add("tool", "1.0.0", {"web": "2.0.0"})
    index.add("tool", "1.1.0", {"web": "^3"})
    assert pins(index, app="*", tool="*")["tool"] == "1.0.0"


def test_nothing_wanted(index: Index) -> None:
    assert resolve(index, {}) == {}


def test_prerelease_only_if_named(index: Index) -> None:
    assert pins(index, log="*") == {"log": "3.0.0"}
    assert pins(index, log=">=4.0.0-rc.0") == {"log": "4.0.0-rc.1"}


def test_preferred_version_stays(index: Index) -> None:
    kept = resolve(index, {"app": "*"}, preferred={"log": Version(2), "web": Version(3)})
    assert kept["log"] == Version(2)
    assert kept["web"] == Version(2, 1)


def test_yanked_version_is_the_last_choice() -> None:
    index = Index()
    index.add("a", "1.0.0")
    index.add("a", "1.1.0", yanked=True)
    assert pins(index, a="*") == {"a": "1.0.0"}
    assert pins(index, a=">1") == {"a": "1.1.0"}


def test_packages_may_need_each_other() -> None:
    index = Index()
    index.add("a", "1.0.0", {"b": "*"})
    index.add("b", "1.0.0", {"a": "1.0.0"})
    index.add("b", "2.0.0", {"a": ">=2"})
    assert pins(index, a="*") == {"a": "1.0.0", "b": "1.0.0"}


def test_conflict_names_both_sides(index: Index) -> None:
    with pytest.raises(ResolutionError, match="you wants >=3") as caught:
        resolve(index, {"web": "2.0.0", "log": ">=3"})
    assert caught.value.package == "log"
    assert "web 2.0.0 wants <2.0.0" in str(caught.value)


def test_unknown_package() -> None:
    index = Index()
    index.add("a", "1.0.0", {"ghost": "*"})
    with pytest.raises(ResolutionError, match=r"no package 'ghost', which a 1\.0\.0 needs"):
        resolve(index, {"a": "*"})


def test_gives_up(index: Index) -> None:
    with pytest.raises(ResolutionError, match="too many combinations"):
        resolve(index, {"app": "*"}, max_steps=2)


def test_add_twice(index: Index) -> None:
    with pytest.raises(ValueError, match="there already"):
        index.add("log", "v1")
