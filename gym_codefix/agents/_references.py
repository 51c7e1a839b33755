"""The reference rows: doing nothing, doing anything, doing the right thing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_codefix.grading.mutation import apply_mutation, enumerate_mutations
from gym_codefix.grading.repair import Problem
from gym_codefix.runtime import Runtime

from ._agent import as_action, generator

_LINES_TRIED = 20


class Noop:
    """Answers with a patch that replaces a line by itself."""

    name = "noop"
    parameters: Mapping[str, Any] = {}

    def act(self, observation: Mapping[str, Any], problem: Problem, runtime: Runtime) -> str:
        # An empty file has no line to replace, and the answer would be malformed.
        texts = ((path, problem.read(path)) for path in problem.snapshot.source_files())
        path, text = next((path, text) for path, text in texts if text)
        return f"{path}:1| {text.splitlines()[0]}"


class Gold:
    """Answers with the reference repair."""

    name = "gold"
    parameters: Mapping[str, Any] = {}

    def act(self, observation: Mapping[str, Any], problem: Problem, runtime: Runtime) -> str:
        return as_action(problem.reference_edits(), problem)


class Random:
    """Answers with a random mutation of a suspicious line."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self.parameters: Mapping[str, Any] = {"seed": seed}
        self._seed = seed

    def act(self, observation: Mapping[str, Any], problem: Problem, runtime: Runtime) -> str:
        rng = generator(self._seed, problem)
        suspects = list(problem.suspects[:_LINES_TRIED])
        rng.shuffle(suspects)
        for path, line, _ in suspects:
            text = problem.read(path) or ""
            try:
                mutations = enumerate_mutations(text, lines={line})
            except ValueError:
                continue
            if mutations:
                return as_action({path: apply_mutation(text, rng.choice(mutations))}, problem)
        return Noop().act(observation, problem, runtime)
