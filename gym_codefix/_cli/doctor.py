"""`gym-codefix doctor`."""

from __future__ import annotations

import platform
import shutil
import sys
from typing import Any

import click

from gym_codefix.catalog import manifests
from gym_codefix.runtime import (
    NotPrepared,
    Store,
    choose_isolation,
    explain_isolation,
    load_snapshot,
)

from ._output import as_json, print_json


def diagnose() -> dict[str, Any]:
    """Facts about this machine, and what to run for what is missing."""
    store = Store()
    store.path("x")
    missing = []
    prepared = 0
    for known in manifests().values():
        try:
            load_snapshot(known, store=store)
            prepared += 1
        except NotPrepared:
            if not known.embedded:
                missing.append(known.name)
    advice = []
    if missing:
        advice.append(f"gym-codefix repos prepare {' '.join(missing[:3])}")
    if choose_isolation("auto") == "process":
        advice.append("apt-get install bubblewrap  # there is no sandbox without namespaces")
    return {
        "python": platform.python_version(),
        "python_supported": sys.version_info >= (3, 11),
        "platform": platform.platform(),
        "isolation": choose_isolation("auto"),
        "isolation_levels": {
            level: reason or "works" for level, reason in explain_isolation().items()
        },
        "store": str(store.home),
        "store_bytes": store.disk_bytes(),
        "disk_free_bytes": shutil.disk_usage(store.home).free,
        "repositories_prepared": prepared,
        "repositories_not_prepared": missing,
        "advice": advice,
    }


@click.command()
@as_json
def doctor(json_output: bool) -> None:
    """Say what this machine has, what is missing and the command that mends it.

    Example: gym-codefix doctor --json
    """
    facts = diagnose()
    if json_output:
        print_json(facts)
        return
    for key in ("python", "isolation", "store"):
        click.echo(f"{key}: {facts[key]}")
    for level, state in facts["isolation_levels"].items():
        click.echo(f"  {level}: {state}")
    click.echo(f"store size: {facts['store_bytes'] / 2**20:.0f} MiB")
    click.echo(f"disk free: {facts['disk_free_bytes'] / 2**30:.1f} GiB")
    unprepared = facts["repositories_not_prepared"]
    click.echo(f"prepared repositories: {facts['repositories_prepared']}")
    click.echo(f"not prepared: {', '.join(unprepared) or 'none'}")
    for line in facts["advice"]:
        click.echo(f"try: {line}")
