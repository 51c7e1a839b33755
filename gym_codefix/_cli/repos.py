"""`gym-codefix repos …`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from gym_codefix.catalog import Task, manifest, manifests, suite
from gym_codefix.runtime import (
    NotPrepared,
    PrepareError,
    Runtime,
    Store,
    StoreError,
    load_snapshot,
    prepare,
)

from ._output import as_json, comma_separated, print_json, print_table


@click.group()
def repos() -> None:
    """Repositories of the catalogue.

    Example: gym-codefix repos list
    """


@repos.command("list")
@as_json
def list_repositories(json_output: bool) -> None:
    """List every repository.

    Example: gym-codefix repos list --json
    """
    rows = [
        {
            "name": known.name,
            "release": known.release,
            "split": known.split,
            "license": known.license,
            "kind": "embedded" if known.embedded else "local" if known.root else "sdist",
        }
        for known in manifests().values()
    ]
    if json_output:
        print_json(rows)
    else:
        print_table(list(rows[0]), [list(row.values()) for row in rows])


@repos.command()
@click.argument("name")
@as_json
def show(name: str, json_output: bool) -> None:
    """Show one repository and its baseline.

    Example: gym-codefix repos show sqlparse
    """
    known = manifest(name)
    facts: dict[str, object] = {
        "name": known.name,
        "release": known.release,
        "license": known.license,
        "python": known.python,
        "split": known.split,
        "source": list(known.layout.source),
        "tests": list(known.layout.collected),
        "releases": [release.version for release in known.releases],
    }
    try:
        baseline = load_snapshot(known, store=Store()).baseline
        facts["passing"] = len(baseline.passing)
        facts["collected"] = len(baseline.collected)
        facts["suite_seconds"] = round(baseline.suite_seconds, 2)
    except NotPrepared as error:
        facts["prepared"] = str(error)
    if json_output:
        print_json(facts)
    else:
        for key, value in facts.items():
            click.echo(f"{key}: {', '.join(value) if isinstance(value, list) else value}")


@repos.command("prepare")
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="every repository of the catalogue")
@click.option("--suite", "suite_name", help="the repositories of a suite, such as lite")
@click.option("--isolation", default="auto", help="see `gym-codefix doctor`")
def prepare_repositories(
    names: tuple[str, ...], everything: bool, suite_name: str | None, isolation: str
) -> None:
    """Fetch, install and measure repositories and what their tasks need: then they work offline.

    Example: gym-codefix repos prepare --suite lite
    """
    from gym_codefix.envs.loop import load_workbench
    from gym_codefix.grading.repair import load_problem, prepare_task

    wanted = suite(suite_name or "full").tasks
    if suite_name:
        names += tuple(sorted({task.repository for task in wanted}))
    if not names and not everything:
        raise click.UsageError("name a repository, or pass --suite or --all")
    known = [manifest(name) for name in names] or list(manifests().values())
    runtime = Runtime(isolation=isolation)
    failed = []
    for index, entry in enumerate(known, 1):

        def say(text: str, place: str = f"[{index}/{len(known)}]") -> None:
            click.echo(f"{place} {text}")

        try:
            snapshot = prepare(entry, store=runtime.store, level=isolation, progress=say)
            tasks = [task for task in wanted if task.repository == entry.name]
            for task in _one_per_snapshot(tasks):
                if task.tests_release is not None:
                    say(f"{entry.name} {task.release} with tests of {task.tests_release}")
                prepare_task(task, runtime)
            if suite_name:  # so that their first resets are as quick as the others
                say(f"{entry.name}: what an agent is shown of {len(tasks)} tasks")
                for task in tasks:
                    if task.dependency is None:
                        load_problem(task, runtime)
                    else:
                        load_workbench(task, runtime).first  # noqa: B018 - kept in the store
        except (PrepareError, StoreError) as error:
            failed.append(entry.name)
            click.echo(f"{entry.name}: {error}", err=True)
        else:
            say(f"{entry.name}: {len(snapshot.baseline.passing)} tests pass")
    store = runtime.store
    click.echo(f"store {store.home}: {store.disk_bytes() / 2**20:.0f} MiB")
    if failed:
        raise click.ClickException(f"not prepared: {', '.join(failed)}; the reasons are above")


def _one_per_snapshot(tasks: Iterable[Task]) -> list[Task]:
    return list(
        {
            (task.release, task.tests_release, task.dependency and task.id): task for task in tasks
        }.values()
    )


@repos.command()
@click.argument("source")
@click.option("--out", type=click.Path(path_type=Path), help="catalogue folder (default: in use)")
@click.option("--python", type=click.Path(path_type=Path, exists=True), help="instead of a lock")
@click.option("--split", default="train", show_default=True)
@click.option("--releases", default="", help="pin these too, for `tasks mine`: A,B,…")
@click.option("--with", "also", multiple=True, help="a requirement of the tests; may be repeated")
@click.option("--as-of", help="lock the dependencies of that day: 2023-03-01")
@click.option("--isolation", default="auto", help="see `gym-codefix doctor`")
def add(
    source: str,
    out: Path | None,
    python: Path | None,
    split: str,
    releases: str,
    also: tuple[str, ...],
    as_of: str | None,
    isolation: str,
) -> None:
    """Make a checkout or a pinned release into a catalogue entry.

    Example: gym-codefix repos add cachetools==6.2.0 --releases 6.0.0,6.1.0
    """
    from gym_codefix.mining.add import add_repository

    added = add_repository(
        source,
        store=Store(),
        out=out,
        python=python,
        split=split,
        releases=comma_separated(releases),
        also=also,
        as_of=as_of,
        level=isolation,
        progress=click.echo,
    )
    click.echo(added.path)
    for release in added.manifest.releases:
        click.echo(f"pinned {release.filename} of {release.date or 'an unknown day'}")
    for note in added.notes:
        click.echo(note)


@repos.command()
@click.argument("name")
@click.option("--as-of", required=True, help="the day of its lock: 2023-03-01")
@click.option("--isolation", default="auto", help="see `gym-codefix doctor`")
@as_json
def breakages(name: str, as_of: str, isolation: str, json_output: bool) -> None:
    """Find the first later version of each dependency that loses tests, and at which stage.

    Add the repository with the same --as-of first. One dependency moves at a time.

    Example: gym-codefix repos breakages flask --as-of 2023-03-01
    """
    import datetime

    from gym_codefix.mining import find_breakages

    try:
        day = datetime.date.fromisoformat(as_of)
    except ValueError:
        raise click.UsageError(f"{as_of!r} is not a day; write it as 2023-03-01") from None
    runtime = Runtime(isolation=isolation)
    found = list(
        find_breakages(
            manifest(name),
            day,
            datetime.date.today(),
            runtime,
            progress=lambda text: click.echo(text, err=True),
        )
    )
    runtime.close()
    if json_output:
        print_json([vars(breakage) for breakage in found])
    else:
        columns = ["moved", "before", "after", "stage", "lost"]
        rows = [[b.moved, b.before, b.after, b.stage, len(b.lost)] for b in found]
        print_table(columns, rows)
