"""A Gymnasium space of arbitrary text, and how vector environments batch it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium import Space, spaces
from gymnasium.spaces.utils import is_space_dtype_shape_equiv
from gymnasium.vector.utils import (
    batch_differing_spaces,
    batch_space,
    concatenate,
    create_empty_array,
)
from gymnasium.wrappers.utils import create_zero_array

__all__ = ["Unicode"]

_PRINTABLE_ASCII = "".join(map(chr, range(0x20, 0x7F)))
_NON_ASCII = "éßøñçαλΩжя中日語한\u00a0\u2014\u20ac\u2028🙂𝔘"
# Newlines are repeated so that a sample has lines of a plausible length.
_SAMPLED = np.array([ord(char) for char in _PRINTABLE_ASCII + "\n" * 4 + "\t" + _NON_ASCII], "<u4")


class Unicode(Space[str]):
    """Every text of ``min_length`` to ``max_length`` code points, lone surrogates excepted.

    Unlike :class:`gymnasium.spaces.Text` it has no character set, so membership costs no
    loop in Python and there is no flattened form.

    Args:
        max_length: most code points in a text, inclusive.
        min_length: fewest code points in a text, inclusive.
        seed: seed or generator that ``sample`` draws from.

    Raises:
        TypeError: a length is not an integer.
        ValueError: ``0 <= min_length <= max_length`` does not hold.
    """

    def __init__(
        self,
        max_length: int,
        min_length: int = 0,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        for name, value in (("max_length", max_length), ("min_length", min_length)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise TypeError(f"{name} must be an integer, not {type(value).__name__}")
        if not 0 <= min_length <= max_length:
            raise ValueError(
                "lengths must satisfy 0 <= min_length <= max_length, "
                f"got min_length={min_length}, max_length={max_length}"
            )
        self.max_length = int(max_length)
        self.min_length = int(min_length)
        super().__init__(dtype=str, seed=seed)

    def sample(self, mask: None = None, probability: None = None) -> str:
        """Draw a text whose length is uniform over the allowed lengths.

        Raises:
            ValueError: a mask or a probability was given; there is no character set to mask.
        """
        if mask is not None or probability is not None:
            raise ValueError("Unicode has no character set: mask and probability must be None")
        length = int(self.np_random.integers(self.min_length, self.max_length + 1))
        picks = self.np_random.integers(0, len(_SAMPLED), size=length, dtype=np.uint8)
        return _SAMPLED[picks].tobytes().decode("utf-32-le")

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a str of allowed length that can be encoded."""
        if not isinstance(x, str) or not self.min_length <= len(x) <= self.max_length:
            return False
        if x.isascii():
            return True
        try:
            x.encode("utf-8")
        except UnicodeEncodeError:
            return False
        return True

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        """A batch of texts as a JSON array."""
        return [str(sample) for sample in sample_n]

    def from_jsonable(self, sample_n: list[Any]) -> list[str]:
        """The texts of an array made by ``to_jsonable``."""
        return [str(sample) for sample in sample_n]

    @property
    def is_np_flattenable(self) -> bool:
        """False: a text has no fixed-size array form."""
        return False

    def __repr__(self) -> str:
        return f"Unicode({self.max_length}, min_length={self.min_length})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Unicode)
            and self.min_length == other.min_length
            and self.max_length == other.max_length
        )

    # Spaces are mutable through their generator, as every Gymnasium space.
    __hash__ = None  # type: ignore[assignment]


# A batch of texts is a plain tuple of str. `iterate` is left unregistered on purpose: one text
# is not a batch, and Gymnasium then walks the batched `Tuple` by item. Shared memory is left
# unregistered too: strings cannot be views of it, and Gymnasium says to switch it off.


@batch_space.register(Unicode)
def _batch_space(space: Unicode, n: int = 1) -> spaces.Tuple:
    seeds = deepcopy(space.np_random).integers(0, 2**31 - 1, size=n)
    return spaces.Tuple(
        [Unicode(space.max_length, space.min_length, seed=int(seed)) for seed in seeds],
        seed=deepcopy(space.np_random),
    )


# Gymnasium dispatches this one on the members, which its annotation does not say.
@batch_differing_spaces.register(Unicode)
def _batch_differing_spaces(  # type: ignore[misc]
    members: Sequence[Unicode],
) -> spaces.Tuple:
    return spaces.Tuple(
        [deepcopy(member) for member in members], seed=deepcopy(members[0].np_random)
    )


@concatenate.register(Unicode)
def _concatenate(space: Unicode, items: Iterable[str], out: Any) -> tuple[str, ...]:
    return tuple(items)


@create_empty_array.register(Unicode)
def _create_empty_array(
    space: Unicode, n: int = 1, fn: Callable[..., Any] = np.zeros
) -> tuple[str, ...]:
    return (create_zero_array(space),) * n


@create_zero_array.register(Unicode)
def _create_zero_array(space: Unicode) -> str:  # type: ignore[misc]
    return " " * space.min_length


@is_space_dtype_shape_equiv.register(Unicode)
def _is_space_dtype_shape_equiv(space_1: Unicode, space_2: Any) -> bool:
    # Texts of different bounds still batch into one tuple.
    return isinstance(space_2, Unicode)
