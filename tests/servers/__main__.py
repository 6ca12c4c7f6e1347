"""`python -m tests.servers [--port N] [--profile NAME] [--key KEY] [--by-turn] SCRIPT.json`.

Prints its URL on the first line of stdout and serves until it is ended.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from pathlib import Path

from tests.servers.chat_rules import PROFILES
from tests.servers.loopback import LoopbackServer
from tests.servers.script import load_steps


async def _serve(arguments: argparse.Namespace) -> None:
    server = LoopbackServer(
        load_steps(arguments.script),
        by_turn=arguments.by_turn,
        profile=arguments.profile,
        key=arguments.key,
        context_tokens=arguments.context_tokens,
        port=arguments.port,
    )
    async with server:
        print(server.url, flush=True)  # noqa: T201 - its one result
        await asyncio.Event().wait()


def main() -> int:
    """Serve a script until a signal."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description=__doc__)
    parser.add_argument("script", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--profile", choices=sorted(PROFILES), default="openai")
    parser.add_argument("--key")
    parser.add_argument(
        "--by-turn", action="store_true", help="choose the step by the replies in the request"
    )
    parser.add_argument("--context-tokens", type=int)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(parser.parse_args()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
