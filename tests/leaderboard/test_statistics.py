from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_codefix.leaderboard import (
    bootstrap_means,
    interquartile_mean,
    interval,
    max_at_k,
    pass_at_k,
    stratified_weights,
    wilson,
)

REWARDS = st.lists(st.floats(-2, 2), min_size=1, max_size=8)


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.data())
def test_pass_at_k_is_the_share_of_subsets_with_a_success(outcomes, data):
    k = data.draw(st.integers(1, len(outcomes)))
    subsets = list(combinations(outcomes, k))
    expected = sum(map(any, subsets)) / len(subsets)
    assert pass_at_k(len(outcomes), sum(outcomes), k) == pytest.approx(expected, abs=1e-12)


@given(REWARDS, st.data())
def test_max_at_k_is_the_mean_greatest_reward_of_subsets(rewards, data):
    k = data.draw(st.integers(1, len(rewards)))
    greatest = [max(subset) for subset in combinations(rewards, k)]
    assert max_at_k(rewards, k) == pytest.approx(math.fsum(greatest) / len(greatest), abs=1e-9)


def test_large_numbers_of_attempts_stay_exact():
    assert pass_at_k(10_000, 1, 5_000) == 0.5
    assert max_at_k([0.0] * 1_999 + [1.0], 1_000) == pytest.approx(0.5)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 4)])
def test_impossible_counts_are_refused(n, c, k):
    with pytest.raises(ValueError, match="between"):
        pass_at_k(n, c, k)


def test_max_at_k_refuses_more_attempts_than_there_are():
    with pytest.raises(ValueError, match="number of attempts, 2"):
        max_at_k([0.0, 1.0], 3)


@given(REWARDS)
def test_interquartile_mean_is_the_middle_half_of_four_copies_of_each_score(scores):
    copies = sorted(scores * 4)
    middle = copies[len(scores) : 3 * len(scores)]
    assert interquartile_mean(scores) == pytest.approx(math.fsum(middle) / len(middle), abs=1e-9)


def test_interquartile_mean_needs_scores():
    with pytest.raises(ValueError, match="at least one"):
        interquartile_mean([])


@given(st.lists(st.sampled_from("abcd"), min_size=2, max_size=30))
def test_resampled_weights_keep_the_size_of_every_pooled_stratum(strata):
    weights = np.concatenate(list(stratified_weights(strata, resamples=20)))
    assert weights.shape == (20, len(strata))
    assert np.allclose(weights.sum(axis=1), len(strata))
    assert (weights >= 0).all()


def test_a_lone_task_alone_keeps_its_weight():
    assert (next(stratified_weights(["only"], resamples=5)) == 1).all()


def test_bootstrap_repeats_for_a_seed_and_differs_between_seeds():
    values = np.arange(12.0)[:, None]
    strata = [index % 3 for index in range(12)]
    first, again, other = (
        bootstrap_means(values, strata, resamples=700, seed=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_stream_of_the_bootstrap_is_pinned():
    # Published intervals are recomputed by verify: another stream would refuse every one.
    means = bootstrap_means(np.arange(6.0)[:, None], list("aaabbb"), resamples=3, seed=0)
    assert means.ravel().tolist() == [2.5, 2.25, 3.0]


def test_bootstrap_variance_is_unbiased_for_strata_of_two():
    # Resampling all m of a stratum would give half of this.
    values = np.array([0.0, 1.0] * 10)[:, None]
    strata = [index // 2 for index in range(20)]
    means = bootstrap_means(values, strata, resamples=20_000)
    unbiased = 10 * (2**2 * 0.5 / 2) / 20**2
    assert means.var() == pytest.approx(unbiased, rel=0.05)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(3)
    rates = np.repeat([0.2, 0.5, 0.8], 20)
    strata = np.repeat([0, 1, 2], 20).tolist()
    covered = 0
    for seed in range(300):
        outcomes = (rng.random(60) < rates).astype(float)[:, None]
        means = bootstrap_means(outcomes, strata, resamples=400, seed=seed)
        low, high = interval(means[:, 0])
        covered += low <= rates.mean() <= high
    assert 0.90 <= covered / 300 <= 0.99


def test_wilson_stays_open_where_every_task_came_out_alike():
    low, high = wilson(1.0, 60)
    assert (low, high) == pytest.approx((0.9398, 1.0), abs=1e-4)
    assert wilson(0.0, 60) == pytest.approx((0.0, 1 - low))
