from __future__ import annotations

import copy
import json
import pickle
import time
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import (
    batch_differing_spaces,
    batch_space,
    concatenate,
    create_empty_array,
    iterate,
)
from gymnasium.wrappers.utils import create_zero_array
from hypothesis import given
from hypothesis import strategies as st

from gym_codefix.spaces import Unicode


class Echo(gymnasium.Env[dict[str, Any], str]):
    """Observes the text it is sent: enough of an environment for Gymnasium's checker."""

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own way of declaring it

    def __init__(self) -> None:
        self.observation_space = spaces.Dict(
            {"log": Unicode(60), "budget": spaces.Box(0, 1, (1,), np.float32)}
        )
        self.action_space = Unicode(50)
        self.render_mode = None

    def _observe(self, text: str) -> dict[str, Any]:
        return {"log": text, "budget": np.ones(1, np.float32)}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        super().reset(seed=seed)
        return self._observe(f"start {self.np_random.integers(10**9)}"), {}

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        return self._observe(action), 0.0, False, False, {}


@given(st.text(max_size=30), st.integers(0, 10), st.integers(0, 20))
def test_contains_exactly_the_allowed_lengths(text: str, shortest: int, more: int) -> None:
    assert (text in Unicode(shortest + more, shortest)) == (
        shortest <= len(text) <= shortest + more
    )


@pytest.mark.parametrize("value", ["\ud800", "a\udfff", b"a", 1, None, ["a"]])
def test_refuses_what_is_not_text(value: object) -> None:
    assert value not in Unicode(10)


@pytest.mark.parametrize("bounds", [(0, 0), (5, 5), (200, 3), (200_000, 100_000)])
def test_samples_are_members_and_seeded(bounds: tuple[int, int]) -> None:
    space, twin = Unicode(*bounds, seed=7), Unicode(*bounds)
    twin.seed(7)
    samples = [space.sample() for _ in range(20)]
    assert all(sample in space for sample in samples)
    assert samples == [twin.sample() for _ in range(20)]


def test_samples_mix_ascii_newlines_and_other_scripts_quickly() -> None:
    started = time.perf_counter()
    sample = Unicode(1_000_000, 1_000_000, seed=0).sample()
    assert time.perf_counter() - started < 0.5
    assert "\n" in sample and "a" in sample and not sample.isascii()
    assert max(sample) > "\uffff"


@pytest.mark.parametrize("kind", ["mask", "probability"])
def test_sample_has_no_masks(kind: str) -> None:
    with pytest.raises(ValueError, match="must be None"):
        Unicode(5).sample(**{kind: (1, None)})


@pytest.mark.parametrize("lengths", [(-1,), (3, 4), (3, -1)])
def test_impossible_lengths(lengths: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="0 <= min_length <= max_length"):
        Unicode(*lengths)


@pytest.mark.parametrize("length", [1.0, "3", None, True])
def test_lengths_must_be_integers(length: Any) -> None:
    with pytest.raises(TypeError, match="max_length must be an integer"):
        Unicode(length)


def test_equality_and_repr() -> None:
    assert Unicode(5) == Unicode(5, seed=3)
    assert Unicode(5) != Unicode(6) and Unicode(5) != Unicode(5, 1) and Unicode(5) != "text"
    assert repr(Unicode(5, 1)) == "Unicode(5, min_length=1)"
    assert not Unicode(5).is_np_flattenable


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_copies_sample_alike(duplicate: Any) -> None:
    space = Unicode(40, 2, seed=1)
    twin = duplicate(space)
    assert twin == space
    state = copy.deepcopy(space.np_random)
    first = space.sample()
    twin._np_random = state
    assert twin.sample() == first


def test_json_round_trip() -> None:
    space = spaces.Dict({"text": Unicode(30, seed=2)})
    samples = [space.sample() for _ in range(4)]
    assert space.from_jsonable(json.loads(json.dumps(space.to_jsonable(samples)))) == samples


@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("ignore:.*not using the.*spec:UserWarning")
def test_gymnasium_checks_an_environment_of_text() -> None:
    check_env(Echo(), skip_render_check=True)


def test_batching() -> None:
    space = spaces.Dict({"log": Unicode(9, 2, seed=0), "n": spaces.Discrete(4)})
    batched = batch_space(space, 3)
    sample = batched.sample()
    assert sample in batched
    assert isinstance(sample["log"], tuple) and all(text in space["log"] for text in sample["log"])
    assert len(set(batched["log"].sample())) == 3
    items = [space.sample() for _ in range(3)]
    joined = concatenate(space, items, create_empty_array(space, 3))
    assert joined["log"] == tuple(item["log"] for item in items)
    assert [part["log"] for part in iterate(batched, joined)] == list(joined["log"])
    assert create_empty_array(Unicode(9, 2), 3) == ("  ",) * 3
    assert create_zero_array(Unicode(9, 2)) in Unicode(9, 2)
    differing = batch_differing_spaces([Unicode(3), Unicode(5)])
    assert differing == spaces.Tuple([Unicode(3), Unicode(5)])


@pytest.mark.parametrize("mode", ["same", "different"])
def test_vector_environment_gives_tuples_of_text(mode: str) -> None:
    envs = SyncVectorEnv([Echo, Echo], observation_mode=mode, autoreset_mode=AutoresetMode.DISABLED)
    observations, _ = envs.reset(seed=1)
    assert all(text.startswith("start ") for text in observations["log"])
    observations, *_ = envs.step(("first", "second"))
    assert observations["log"] == ("first", "second")
    assert observations in envs.observation_space
    assert envs.action_space.sample() in envs.action_space
    envs.close()
