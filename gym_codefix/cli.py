"""`gym-codefix`: each command calls one function of the library."""

from __future__ import annotations

import sys

import click

from gym_codefix._cli import doctor, episodes, leaderboard, repos, tasks
from gym_codefix.catalog import CatalogError
from gym_codefix.chat import ChatError
from gym_codefix.leaderboard import LeaderboardError
from gym_codefix.runtime import IsolationUnavailable, NotPrepared, PrepareError, StoreError

_EXPECTED = (
    CatalogError,
    ChatError,
    IsolationUnavailable,
    LeaderboardError,
    NotPrepared,
    OSError,
    PrepareError,
    StoreError,
    ValueError,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="gym_codefix")
def commands() -> None:
    """Repair environments over real Python repositories.

    Example: gym-codefix play --agent search@10
    """


commands.add_command(doctor.doctor)
commands.add_command(repos.repos)
commands.add_command(tasks.tasks)
commands.add_command(episodes.play)
commands.add_command(episodes.bench)
commands.add_command(leaderboard.leaderboard)


def main() -> None:
    """Run the command line: one clear line and a non-zero exit on what the user can mend."""
    try:
        code = commands.main(standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()}", err=True)
        sys.exit(error.exit_code)
    except click.exceptions.Abort:
        sys.exit(130)
    except _EXPECTED as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
