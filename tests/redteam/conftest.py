"""A server at every level of isolation that this machine can give."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from gym_codefix.runtime._isolation import BUBBLEWRAP, NAMESPACES, PROCESS, explain
from gym_codefix.runtime._server import Server
from tests.redteam.sandbox_attacks import tiny_spec


@pytest.fixture(scope="module", params=[NAMESPACES, BUBBLEWRAP, PROCESS])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    if reason := explain()[request.param]:
        pytest.skip(f"no {request.param} here: {reason}")
    root = tmp_path_factory.mktemp("sandbox")
    os.chmod(root, 0o755)
    one = Server(tiny_spec(root), level=request.param, hash_seed=0, preload=True)
    one.template_ids()  # all its tiers are up: what comes after belongs to a job
    yield one
    one.close()


@pytest.fixture(scope="module")
def confined(server: Server) -> Server:
    if server.level == PROCESS:
        pytest.skip("this level confines nothing")
    return server
