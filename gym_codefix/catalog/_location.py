"""Where the catalogue's files lie."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

__all__ = ["REPOS_VARIABLE", "repos_root"]

REPOS_VARIABLE = "GYM_CODEFIX_REPOS"


def repos_root() -> Path:
    """The folder of manifests, locks, tasks and embedded repositories.

    The environment variable GYM_CODEFIX_REPOS names another one; else it is the one inside the
    installed package, or in a checkout the ``repos`` beside the package.

    Raises FileNotFoundError when there is no such folder.
    """
    override = os.environ.get(REPOS_VARIABLE)
    if override:
        chosen = Path(override).expanduser().absolute()
        if not chosen.is_dir():
            raise FileNotFoundError(f"{REPOS_VARIABLE} names {chosen}, which is not a folder")
        return chosen
    package = Path(str(resources.files("gym_codefix")))
    places = [package / "repos", package.parent / "repos"]
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(
        f"no catalogue at {' or '.join(map(str, places))}; reinstall gym_codefix, "
        f"or name its folder in {REPOS_VARIABLE}"
    )
