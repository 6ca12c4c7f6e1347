"""The one way out of a sandbox whose network is a list of hosts: a proxy of ours, listening inside."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from pi_batch.sandboxes.line import Line
from pi_batch.sandboxes.proxy import NO_PROXY, VARIABLES, Proxy


class WayOut:
    """Closed until the porter is up; without a list there is none."""

    def __init__(self, network: bool | tuple[str, ...]) -> None:
        hosts = network if isinstance(network, tuple) else None
        self._proxy = None if hosts is None else Proxy(hosts)
        self._port = 0
        self.layer = "the machine's network" if network is True else "its own network"
        """In a report's words."""
        if hosts is not None:
            self.layer += f", and a proxy to {len(hosts)} host{'s' * (len(hosts) != 1)}"

    async def open(self, line: Line) -> None:
        """Listen inside, connect from here. Raises: OSError, SandboxError."""
        if self._proxy is None:
            return
        (port, *_), files = await line.ask("listen")
        self._port = int(port)
        await self._proxy.start(socket.socket(fileno=files[0]))

    @property
    def variables(self) -> Mapping[str, str]:
        """What tells clients of the proxy."""
        if self._proxy is None:
            return {}
        named = dict.fromkeys(VARIABLES, f"http://127.0.0.1:{self._port}")
        return {**named, "NO_PROXY": NO_PROXY, "no_proxy": NO_PROXY, "NODE_USE_ENV_PROXY": "1"}

    def close(self) -> None:
        """Let nothing through any more."""
        if self._proxy is not None:
            self._proxy.close()
