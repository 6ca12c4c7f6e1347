"""`pi-batch completion`: what makes a shell complete our commands, options and files."""

from __future__ import annotations

import click

from pi_batch.standard_streams import say

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_PI_BATCH_COMPLETE"
"""Where the shell asks through: click's own protocol."""


@click.command("completion", epilog="Example: pi-batch completion bash")
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
def command(shell: str) -> int:
    """Print a script that completes words in a shell.

    \b
    bash: pi-batch completion bash > ~/.local/share/bash-completion/completions/pi-batch
    zsh:  pi-batch completion zsh > ~/.zfunc/_pi-batch     (with ~/.zfunc in fpath, before compinit)
    fish: pi-batch completion fish > ~/.config/fish/completions/pi-batch.fish

    Or for this shell only: eval "$(pi-batch completion bash)".
    """  # noqa: D301 -- click's own mark for lines that stay as they are
    from click.shell_completion import get_completion_class

    from pi_batch.cli.main import cli

    made = get_completion_class(shell)
    if made is not None:
        say(made(cli, {}, "pi-batch", VARIABLE).source().rstrip("\n") + "\n")
    return 0
