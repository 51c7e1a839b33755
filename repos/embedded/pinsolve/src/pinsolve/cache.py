"""A bounded cache whose entries expire."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class TTLCache(Generic[K, V]):
    """Keeps `capacity` entries for `ttl` seconds each; the one unused for longest goes first.

    `clock` gives the time in seconds. Raises ValueError for a capacity under one, or a ttl that
    is not positive.
    """

    def __init__(
        self, capacity: int, ttl: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, not {capacity}")
        if ttl <= 0:
            raise ValueError(f"ttl must be positive, not {ttl}")
        self._capacity = capacity
        self._ttl = ttl
        self._clock = clock
        self._entries: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        """How many entries are still fresh."""
        self._drop_expired()
        return len(self._entries)

    def is_fresh(self, key: K) -> bool:
        """Whether a key has a value; asking does not count as a use of it."""
        entry = self._entries.get(key)
        return entry is not None and self._clock() < entry[0]

    def get(self, key: K) -> V | None:
        """The value of a key, or None once it has expired or gone."""
        entry = self._entries.get(key)
        if entry is None or self._clock() >= entry[0]:
            self._entries.pop(key, None)
            self.misses += 1
            return None
        self._entries.move_to_end(key)
        self.hits += 1
        return entry[1]

    def put(self, key: K, value: V) -> None:
        """Set a value; it is fresh for `ttl` seconds from now."""
        self._entries.pop(key, None)
        if len(self._entries) >= self._capacity:
            self._drop_expired()
        if len(self._entries) >= self._capacity:
            self._entries.popitem(last=False)
        self._entries[key] = (self._clock() + self._ttl, value)

    def get_or_compute(self, key: K, compute: Callable[[], V]) -> V:
        """The value of a key, computed and kept if it is not fresh."""
        if not self.is_fresh(key):
            self.misses += 1
            value = compute()
            self.put(key, value)
            return value
        self.hits += 1
        self._entries.move_to_end(key)
        return self._entries[key][1]

    def _drop_expired(self) -> None:
        now = self._clock()
        for key in [key for key, (expires, _) in self._entries.items() if now >= expires]:
            del self._entries[key]
