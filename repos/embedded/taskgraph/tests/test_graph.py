from __future__ import annotations

import unittest

from taskgraph import CircleError, GraphError, Task, TaskGraph


def graph_of(**needs: str) -> TaskGraph:
    """`graph_of(a="", b="a")` is a graph in which b needs a."""
    return TaskGraph(Task(name, needs=frozenset(text.split())) for name, text in needs.items())


class OrderTest(unittest.TestCase):
    def test_needs_come_first(self) -> None:
        self.assertEqual(graph_of(d="b c", c="a", b="a", a="").order(), ["a", "c", "b", "d"])

    def test_a_free_choice_keeps_the_order_of_adding(self) -> None:
        self.assertEqual(graph_of(z="", y="", x="z").order(), ["z", "y", "x"])

    def test_empty(self) -> None:
        self.assertEqual(TaskGraph().order(), [])

    def test_unknown_need(self) -> None:
        with self.assertRaisesRegex(GraphError, "a needs 'b', which is no task"):
            graph_of(a="b").order()

    def test_circle_is_named(self) -> None:
        with self.assertRaises(CircleError) as caught:
            graph_of(start="", a="start c", b="a", c="b", end="c").order()
        self.assertEqual(caught.exception.circle, ["a", "c", "b", "a"])


class GraphTest(unittest.TestCase):
    def setUp(self) -> None:
        self.graph = graph_of(a="", b="a", c="a b", d="c a")

    def test_lookup(self) -> None:
        self.assertEqual(len(self.graph), 4)
        self.assertIn("a", self.graph)
        self.assertEqual(self.graph["b"].needs, {"a"})
        with self.assertRaisesRegex(GraphError, "no task 'x'"):
            self.graph["x"]

    def test_dependents(self) -> None:
        self.assertEqual(self.graph.dependents("a"), ["b", "c", "d"])
        self.assertEqual(self.graph.dependents("d"), [])

    def test_ancestors(self) -> None:
        self.assertEqual(self.graph.ancestors("d"), {"a", "b", "c"})
        self.assertEqual(self.graph.ancestors("a"), set())

    def test_without_shortcuts(self) -> None:
        needs = {task.name: set(task.needs) for task in self.graph.without_shortcuts()}
        self.assertEqual(needs, {"a": set(), "b": {"a"}, "c": {"b"}, "d": {"c"}})

    def test_names_are_unique(self) -> None:
        with self.assertRaisesRegex(GraphError, "two tasks are named 'a'"):
            self.graph.add(Task("a"))

    def test_a_task_may_not_need_itself(self) -> None:
        with self.assertRaises(CircleError):
            Task("a", needs=frozenset({"a"}))
