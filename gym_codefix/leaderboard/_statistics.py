"""Exact estimators over attempts, and intervals over tasks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 10_000
SEED = 0
_Z = 1.959963984540054
# Resamples made at a time: bounds memory without touching the result.
_BLOCK = 500


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that k of n attempts, drawn without replacement, hold one of the c successes.

    Exact: 1 - C(n-c, k) / C(n, k).

    Raises:
        ValueError: unless 0 <= c <= n and 1 <= k <= n.
    """
    if not 0 <= c <= n:
        raise ValueError(f"c is {c}; it must be between 0 and n = {n}")
    _check_k(n, k)
    every = math.comb(n, k)
    return (every - math.comb(n - c, k)) / every


def max_at_k(rewards: Sequence[float], k: int) -> float:
    """The expected greatest reward of k attempts drawn without replacement from ``rewards``.

    Raises:
        ValueError: unless 1 <= k <= len(rewards).
    """
    n = len(rewards)
    _check_k(n, k)
    every = math.comb(n, k)
    return math.fsum(
        reward * (math.comb(below, k - 1) / every) for below, reward in enumerate(sorted(rewards))
    )


def _check_k(n: int, k: int) -> None:
    if not 1 <= k <= n:
        raise ValueError(f"k is {k}; it must be between 1 and the number of attempts, {n}")


def interquartile_mean(scores: Sequence[float] | Floats) -> float:
    """The mean of the middle half; a score on the edge of it counts by the part inside.

    Raises:
        ValueError: without scores.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.size == 0:
        raise ValueError("the interquartile mean needs at least one score")
    return float(weighted_interquartile_means(values, np.ones((1, values.size)))[0])


def weighted_interquartile_means(scores: Floats, weights: Floats) -> Floats:
    """The interquartile mean of ``scores`` (S,) under every row of ``weights`` (B, S): (B,)."""
    order = np.argsort(scores, kind="stable")
    upper = np.cumsum(weights[:, order], axis=1)
    total = upper[:, -1:]
    clipped = np.clip(upper, total / 4, total * 3 / 4)
    kept = np.diff(clipped, axis=1, prepend=total / 4)
    means: Floats = (kept @ scores[order]) / (total[:, 0] / 2)
    return means


def stratified_weights(
    strata: Sequence[Hashable], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Iterator[Floats]:
    """Resampled task weights, block by block: arrays (block, tasks); ``resamples`` rows in all.

    Inside a stratum of m tasks, m - 1 are drawn with replacement and weigh m / (m - 1) each
    (Rao and Wu), so that the variance is unbiased for strata as small as two; drawing m would
    make intervals too narrow. A task alone in its stratum is pooled with the others like it.
    """
    members = _pooled(strata)
    # Only the raw stream of a bit generator is promised across numpy versions; random() is that
    # stream scaled, where integers() is free to change.
    rng = np.random.Generator(np.random.PCG64(seed))
    for start in range(0, resamples, _BLOCK):
        rows = min(_BLOCK, resamples - start)
        weights = np.ones((rows, len(strata)))
        for tasks in members:
            size = len(tasks)
            if size == 1:
                continue
            draws = (rng.random((rows, size - 1)) * size).astype(np.int64)
            draws += np.arange(rows)[:, None] * size
            counts = np.bincount(draws.ravel(), minlength=rows * size).reshape(rows, size)
            weights[:, tasks] = counts * (size / (size - 1))
        yield weights


def _pooled(strata: Sequence[Hashable]) -> list[list[int]]:
    by_label: defaultdict[Hashable, list[int]] = defaultdict(list)
    for index, label in enumerate(strata):
        by_label[label].append(index)
    groups = [tasks for tasks in by_label.values() if len(tasks) > 1]
    alone = [tasks[0] for tasks in by_label.values() if len(tasks) == 1]
    if len(alone) == 1 and groups:
        smallest = min(groups, key=len)
        smallest.extend(alone)
    elif alone:
        groups.append(alone)
    return groups


def bootstrap_means(
    values: Floats, strata: Sequence[Hashable], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Floats:
    """Means of ``values`` (tasks, metrics) under stratified resampling: (resamples, metrics)."""
    blocks = [
        weights @ values / len(values)
        for weights in stratified_weights(strata, resamples=resamples, seed=seed)
    ]
    return np.concatenate(blocks)


def interval(samples: Floats) -> tuple[float, float]:
    """The central 95% of resampled values (B,)."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(samples, [tail, 1 - tail])
    return float(low), float(high)


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95% score interval of a share of n tasks."""
    centre = share + _Z**2 / (2 * n)
    spread = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    scale = 1 + _Z**2 / n
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
