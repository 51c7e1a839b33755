from __future__ import annotations

import unittest

from pinsolve import TTLCache


class TTLCacheTest(unittest.TestCase):
    def setUp(self) -> None:
        self.now = 100.0
        self.cache: TTLCache[str, int] = TTLCache(2, 10, clock=lambda: self.now)

    def test_get(self) -> None:
        self.cache.put("a", 1)
        self.assertEqual(self.cache.get("a"), 1)
        self.assertIsNone(self.cache.get("b"))
        self.assertEqual((self.cache.hits, self.cache.misses), (1, 1))

    def test_entries_expire(self) -> None:
        self.cache.put("a", 1)
        self.now += 9.5
        self.assertTrue(self.cache.is_fresh("a"))
        self.now += 0.5
        self.assertFalse(self.cache.is_fresh("a"))
        self.assertIsNone(self.cache.get("a"))

    def test_the_one_unused_for_longest_goes(self) -> None:
        self.cache.put("a", 1)
        self.cache.put("b", 2)
        self.cache.get("a")
        self.cache.put("c", 3)
        self.assertTrue(self.cache.is_fresh("a"))
        self.assertFalse(self.cache.is_fresh("b"))
        self.assertEqual(len(self.cache), 2)

    def test_setting_again_makes_room_for_nothing(self) -> None:
        self.cache.put("a", 1)
        self.cache.put("b", 2)
        self.cache.put("b", 3)
        self.assertEqual((self.cache.get("a"), self.cache.get("b")), (1, 3))

    def test_get_or_compute(self) -> None:
        calls: list[int] = []

        def compute() -> int:
            calls.append(1)
            return len(calls)

        self.assertEqual(self.cache.get_or_compute("a", compute), 1)
        self.assertEqual(self.cache.get_or_compute("a", compute), 1)
        self.now += 10
        self.assertEqual(self.cache.get_or_compute("a", compute), 2)

    def test_limits(self) -> None:
        with self.assertRaisesRegex(ValueError, "at least 1"):
            TTLCache(0, 1)
        with self.assertRaisesRegex(ValueError, "positive"):
            TTLCache(1, 0)
