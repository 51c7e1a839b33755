"""Properties over real modules, each mutant held against a compilation of the whole file."""

from __future__ import annotations

import argparse
import asyncio.tasks
import fractions
import inspect
import json.decoder
import random
import textwrap
import time
from functools import cache
from types import CodeType, ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_codefix.grading.mutation import (
    Mutation,
    apply_mutation,
    apply_mutations,
    enumerate_mutations,
)

MODULES = (textwrap, fractions, json.decoder, argparse, asyncio.tasks)


@cache
def mutants_of(module: ModuleType) -> tuple[str, list[Mutation]]:
    source = inspect.getsource(module)
    return source, enumerate_mutations(source)


def instructions(text: str) -> CodeType:
    def bare(code: CodeType) -> CodeType:
        inner = tuple(bare(c) if isinstance(c, CodeType) else c for c in code.co_consts)
        return code.replace(co_consts=inner, co_linetable=b"", co_firstlineno=1)

    return bare(compile(text, "<text>", "exec", dont_inherit=True))


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_mutant_compiles_and_is_new(module: ModuleType) -> None:
    source, mutations = mutants_of(module)
    chosen = random.Random(0).sample(mutations, min(len(mutations), 150))
    codes = {instructions(apply_mutation(source, each)) for each in chosen}
    assert len(codes) == len(chosen)
    assert instructions(source) not in codes


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_only_the_lines_of_the_node_change(module: ModuleType) -> None:
    source, mutations = mutants_of(module)
    lines = source.splitlines(keepends=True)
    # These may take a neighbouring comma, blank or `el` of `elif` with them.
    reaching = {"call-argument", "comprehension-filter", "remove-branch"}
    staying = [each for each in mutations if each.family not in reaching]
    for each in random.Random(1).sample(staying, min(len(staying), 300)):
        mutant = apply_mutation(source, each)
        assert mutant.startswith("".join(lines[: each.line - 1]))
        assert mutant.endswith("".join(lines[each.end_line :]))


def test_a_large_file_takes_seconds() -> None:
    source = inspect.getsource(argparse)
    # A comment makes it a text that no test has seen before.
    began = time.process_time()
    found = enumerate_mutations(source + "# timed\n")
    assert len(found) > 2000
    assert time.process_time() - began < 20


@given(st.data())
def test_two_mutations_that_do_not_overlap_are_both_made(data: st.DataObject) -> None:
    source, mutations = mutants_of(textwrap)
    first, second = sorted(
        data.draw(st.lists(st.sampled_from(mutations), min_size=2, max_size=2, unique=True)),
        key=lambda each: (each.line, each.column),
    )
    if second.line - first.end_line < 3:
        return
    try:
        both = apply_mutations(source, [second, first])
    except ValueError as error:
        assert "does not compile" in str(error)
        return
    # The later one leaves the positions of the earlier one as they are.
    assert both == apply_mutation(apply_mutation(source, second), first)


@given(st.sampled_from(mutants_of(fractions)[1]))
def test_json_round_trip(mutation: Mutation) -> None:
    assert Mutation.from_json(mutation.to_json()) == mutation
