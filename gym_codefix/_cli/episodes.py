"""`gym-codefix play` and `gym-codefix bench`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from gym_codefix import ENVIRONMENT_IDS
from gym_codefix.agents import AGENTS, make_agent
from gym_codefix.agents.loop import LOOP_AGENT_FORMS, make_loop_agent, play_episode
from gym_codefix.catalog import select
from gym_codefix.console import Steps

_AGENT_HELP = f"{', '.join(AGENTS)}; of CodeRepair-Full: {', '.join(LOOP_AGENT_FORMS)}"
_ENVIRONMENTS = {env_id.partition("/")[2].rpartition("-v")[0]: env_id for env_id in ENVIRONMENT_IDS}
_which = click.option(
    "--env",
    "env_name",
    type=click.Choice(list(_ENVIRONMENTS)),
    default="CodeRepair-Simple",
    show_default=True,
)


@click.command()
@_which
@click.option("--suite", default="embedded", show_default=True)
@click.option("--task", "task_id", help="a task id (default: drawn by --seed)")
@click.option("--agent", "agent_name", help=_AGENT_HELP + "; without: you")
@click.option("--seed", default=0, show_default=True)
@click.option("--isolation", default="auto", show_default=True)
def play(
    env_name: str,
    suite: str,
    task_id: str | None,
    agent_name: str | None,
    seed: int,
    isolation: str,
) -> None:
    """Play one episode: read the log, answer with a patch, or with one call after the other.

    \b
    Example: gym-codefix play --agent search@10
    Example: gym-codefix play --env CodeRepair-Full --suite dependency-lite
    """
    import gymnasium

    loop = env_name == "CodeRepair-Full"
    make: Any = make_loop_agent if loop else make_agent
    agent = make(agent_name, seed=seed) if agent_name else None
    environment = gymnasium.make(
        f"gym_codefix:{_ENVIRONMENTS[env_name]}",
        suite=suite,
        isolation=isolation,
        render_mode="human",
        disable_env_checker=True,
    )
    options = {"task_id": task_id} if task_id else None
    observation, _ = environment.reset(seed=seed, options=options)
    if loop:
        reward, info = _play_loop(environment, agent, observation)
    else:
        reward, info = _play_patch(environment, agent, observation)
    environment.close()
    click.echo(f"reward {reward}")
    if not info["reward_valid"]:
        click.echo(f"invalid: {info['failure_reason']}", err=True)


def _play_patch(
    environment: Any, agent: Any, observation: dict[str, Any]
) -> tuple[float, dict[str, Any]]:
    bare = environment.unwrapped
    if agent is not None:
        action = agent.act(observation, bare.problem, bare.episodes.runtime)
    else:
        click.echo(observation["instruction"])
        click.echo("Type the patch; end it with Ctrl-D.")
        action = sys.stdin.read()
    _, reward, _, _, info = environment.step(action)
    return reward, info


def _play_loop(
    environment: Any, agent: Any, observation: dict[str, Any]
) -> tuple[float, dict[str, Any]]:
    """Until the episode ends or nothing more is typed: a call a line."""
    episode = agent.episode(observation, environment.unwrapped.bench) if agent else _typed()
    total, info = play_episode(environment, episode, [])
    return total, {"reward_valid": True, **info}


def _typed() -> Generator[str, Any, None]:
    click.echo('Type a call a line, such as {"tool": "read_log", "arguments": {}}; Ctrl-D ends.')
    for line in sys.stdin:
        if line.strip():
            yield line


@click.command()
@_which
@click.option("--suite", "suite_name", default="embedded", show_default=True)
@click.option("--agent", "agents", multiple=True, required=True, help=_AGENT_HELP + "; repeatable")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="folder of the rows")
@click.option("--seed", default=0, show_default=True)
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1))
@click.option("--isolation", default="auto", show_default=True)
def bench(
    env_name: str,
    suite_name: str,
    agents: tuple[str, ...],
    out: Path,
    seed: int,
    workers: int,
    isolation: str,
) -> None:
    """Run agents over a suite and write their rows and records.

    An agent of your own is a class with name, parameters and act(observation, problem, runtime),
    for CodeRepair-Full episode(observation, bench), made as MyAgent(seed=SEED); its module is also
    looked for in the current folder. A language model is model:MODEL@http://HOST:PORT/v1 (any
    OpenAI-compatible server; its key in OPENAI_API_KEY) or model:FOLDER.

    \b
    Example: gym-codefix bench --suite embedded --agent random --agent gold --out /tmp/board
    Example: gym-codefix bench --suite lite --agent my_module:MyAgent --out /tmp/board
    Example: gym-codefix bench --env CodeRepair-Full --agent model:NAME@http://localhost:8000/v1 \
        --out /tmp/board
    """
    from gym_codefix.leaderboard import build_page, render_table, run_agent

    suite = select(suite_name)
    command = shlex.join(["gym-codefix", *sys.argv[1:]])
    sys.path.append(os.getcwd())
    make: Any = make_loop_agent if env_name == "CodeRepair-Full" else make_agent
    made = [make(name, seed=seed) for name in agents]
    runs = []
    with Steps(Console(stderr=True)) as steps:
        for agent in made:
            runs.append(
                run_agent(
                    suite,
                    agent,
                    out,
                    env_id=_ENVIRONMENTS[env_name],
                    seed=seed,
                    workers=workers,
                    isolation=isolation,
                    command=command,
                    progress=steps.start(agent.name, len(suite.tasks)),
                )
            )
    build_page(runs, out / "index.html", title=f"gym_codefix: {suite.name}")
    Console().print(render_table([result for result, _ in runs]))
