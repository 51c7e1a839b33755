"""`gym-codefix play` and `gym-codefix bench`."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import click
from rich.console import Console

from gym_codefix.agents import AGENTS, make_agent
from gym_codefix.catalog import select
from gym_codefix.console import Steps

_AGENT_HELP = ", ".join(AGENTS)


@click.command()
@click.option("--suite", default="embedded", show_default=True)
@click.option("--task", "task_id", help="a task id (default: drawn by --seed)")
@click.option("--agent", "agent_name", help=_AGENT_HELP + "; without: you")
@click.option("--seed", default=0, show_default=True)
@click.option("--isolation", default="auto", show_default=True)
def play(
    suite: str, task_id: str | None, agent_name: str | None, seed: int, isolation: str
) -> None:
    """Play one episode: read the log and the source, answer with a patch.

    Example: gym-codefix play --agent search@10
    """
    import gymnasium

    agent = make_agent(agent_name, seed=seed) if agent_name else None
    environment = gymnasium.make(
        "gym_codefix:gym_codefix/CodeRepair-Simple-v0",
        suite=suite,
        isolation=isolation,
        render_mode="human",
        disable_env_checker=True,
    )
    options = {"task_id": task_id} if task_id else None
    observation, _ = environment.reset(seed=seed, options=options)
    bare = environment.unwrapped
    if agent is not None:
        action = agent.act(observation, bare.problem, bare.episodes.runtime)  # type: ignore[attr-defined]
    else:
        click.echo(observation["instruction"])
        click.echo("Type the patch; end it with Ctrl-D.")
        action = sys.stdin.read()
    _, reward, _, _, info = environment.step(action)
    environment.close()
    click.echo(f"reward {reward}")
    if not info["reward_valid"]:
        click.echo(f"invalid: {info['failure_reason']}", err=True)


@click.command()
@click.option("--suite", "suite_name", default="embedded", show_default=True)
@click.option("--agent", "agents", multiple=True, required=True, help=_AGENT_HELP + "; repeatable")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="folder of the rows")
@click.option("--seed", default=0, show_default=True)
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1))
@click.option("--isolation", default="auto", show_default=True)
def bench(
    suite_name: str, agents: tuple[str, ...], out: Path, seed: int, workers: int, isolation: str
) -> None:
    """Run agents over a suite and write their rows and records.

    An agent of your own is a class with name, parameters and act(observation, problem, runtime),
    made as MyAgent(seed=SEED); its module is also looked for in the current folder.

    \b
    Example: gym-codefix bench --suite embedded --agent random --agent gold --out /tmp/board
    Example: gym-codefix bench --suite lite --agent my_module:MyAgent --out /tmp/board
    """
    from gym_codefix.leaderboard import build_page, render_table, run_agent

    suite = select(suite_name)
    command = shlex.join(["gym-codefix", *sys.argv[1:]])
    sys.path.append(os.getcwd())
    made = [make_agent(name, seed=seed) for name in agents]
    runs = []
    with Steps(Console(stderr=True)) as steps:
        for agent in made:
            runs.append(
                run_agent(
                    suite,
                    agent,
                    out,
                    seed=seed,
                    workers=workers,
                    isolation=isolation,
                    command=command,
                    progress=steps.start(agent.name, len(suite.tasks)),
                )
            )
    build_page(runs, out / "index.html", title=f"gym_codefix: {suite.name}")
    Console().print(render_table([result for result, _ in runs]))
