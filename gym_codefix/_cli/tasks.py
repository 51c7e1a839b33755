"""`gym-codefix tasks …`."""

from __future__ import annotations

import json
import sys
from collections import Counter

import click

from gym_codefix.catalog import SUITES, Task, manifest, manifests, suite
from gym_codefix.runtime import Runtime

from ._output import as_json, comma_separated, print_json, print_table

_SUITE = click.option("--suite", "suite_name", default="full", show_default=True)


@click.group()
def tasks() -> None:
    """Tasks as facts.

    Example: gym-codefix tasks list --suite lite
    """


@tasks.command("list")
@_SUITE
@as_json
def list_tasks(suite_name: str, json_output: bool) -> None:
    """List the tasks of a suite, with its hash.

    Example: gym-codefix tasks list --suite embedded --json
    """
    chosen = suite(suite_name)
    rows = [
        {
            "id": task.id,
            "split": task.split,
            "level": task.level,
            "label": task.label,
            "flips": len(task.flips),
            "hidden": len(task.hidden),
        }
        for task in chosen.tasks
    ]
    if json_output:
        print_json({"suite": suite_name, "hash": chosen.hash, "tasks": rows})
        return
    print_table(
        ("id", "split", "level", "label", "flips", "hidden"), [list(r.values()) for r in rows]
    )
    kinds = Counter(task.kind for task in chosen.tasks)
    counted = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    click.echo(f"{len(rows)} tasks ({counted}), hash {chosen.hash}")


@tasks.command()
@click.argument("task_id")
@_SUITE
@as_json
def show(task_id: str, suite_name: str, json_output: bool) -> None:
    """Show the facts of one task.

    Example: gym-codefix tasks show sqlparse/seeded/…
    """
    task = suite(suite_name).task(task_id)
    facts = {"id": task.id, "split": task.split, **task.to_json()}
    if json_output:
        print_json(facts)
    else:
        for key, value in facts.items():
            click.echo(f"{key}: {value if isinstance(value, str) else json.dumps(value)}")


def _chosen(what: str) -> list[Task]:
    if what in SUITES:
        return list(suite(what).tasks)
    if "/" in what:
        return [suite("full").task(what)]
    name = manifest(what).name
    return [task for task in suite("full").tasks if task.repository == name]


@tasks.command()
@click.argument("what")
@as_json
def validate(what: str, json_output: bool) -> None:
    """Prove a task, the tasks of a repository, or a suite again: 5 gold runs, 5 no-op runs.

    Example: gym-codefix tasks validate sqlparse
    """
    from gym_codefix.grading.repair import prepare_task
    from gym_codefix.mining import Proof, validate_tasks

    chosen = _chosen(what)
    runtime = Runtime()
    done: list[Proof] = []

    def say(proof: Proof) -> None:
        done.append(proof)
        if not json_output:
            click.echo(f"[{len(done)}/{len(chosen)}] {proof.task.id}: {proof.reason or 'valid'}")

    for task in chosen:
        prepare_task(task, runtime)
    proofs = validate_tasks(chosen, runtime, progress=say)
    runtime.close()
    failed = [proof for proof in proofs if proof.reason]
    if json_output:
        print_json({proof.task.id: proof.reason for proof in proofs})
    else:
        click.echo(f"{len(proofs) - len(failed)} of {len(proofs)} valid")
    if failed:
        sys.exit(1)


@tasks.command()
@click.argument("name")
@click.option("--releases", required=True, help="consecutive releases: A,B,…")
@click.option("--minutes", default=4.0, show_default=True, help="budget of a pair")
def mine(name: str, releases: str, minutes: float) -> None:
    """Slice the diffs between releases into tasks and print the valid ones as JSON lines.

    The lines belong into tasks/NAME.jsonl of a catalogue.

    Example: gym-codefix tasks mine sqlparse --releases 0.4.2,0.4.3
    """
    from itertools import pairwise

    from gym_codefix.mining import mine_release, validate_tasks

    versions = comma_separated(releases)
    if len(versions) < 2:
        raise click.UsageError("--releases needs at least two versions, as in 0.4.2,0.4.3")
    known = manifests().get(name) or manifest(name)
    runtime = Runtime()
    for earlier, later in pairwise(versions):
        found = mine_release(
            known,
            earlier,
            later,
            runtime,
            seconds=60 * minutes,
            progress=lambda text: click.echo(text, err=True),
        )
        for reason, count in Counter(entry.reason for entry in found.dropped).most_common():
            click.echo(f"{earlier} -> {later}: {count} left out: {reason}", err=True)
        for proof in validate_tasks(found.tasks, runtime):
            if proof.reason is None:
                facts = {"id": proof.task.id, **proof.task.to_json()}
                click.echo(json.dumps(facts, sort_keys=True))
            else:
                click.echo(f"{proof.task.id}: dropped: {proof.reason}", err=True)
    runtime.close()
