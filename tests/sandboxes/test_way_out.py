"""The way out of a sandbox: none, the whole network, or a proxy that clients are told of."""

from __future__ import annotations

import socket

import pytest

from pi_batch.sandboxes.way_out import WayOut


class FakeLine:
    """A porter that listens in this process."""

    async def ask(self, what: str) -> tuple[list[bytes], list[int]]:
        """A socket that listens, and its port."""
        assert what == "listen"
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        return [b"%d" % port], [listening.detach()]


@pytest.mark.parametrize(
    ("network", "layer"),
    [
        (False, "its own network"),
        (True, "the machine's network"),
        (("a.example",), "its own network, and a proxy to 1 host"),
        (("a.example", "b.example"), "its own network, and a proxy to 2 hosts"),
    ],
)
async def test_a_report_says_which_and_only_a_list_has_variables(
    network: bool | tuple[str, ...], layer: str
) -> None:
    way_out = WayOut(network)
    assert way_out.layer == layer
    await way_out.open(FakeLine())  # type: ignore[arg-type] # a fake
    variables = way_out.variables
    assert bool(variables) == isinstance(network, tuple)
    if variables:
        port = int(variables["HTTP_PROXY"].rpartition(":")[2])
        socket.create_connection(("127.0.0.1", port), 5).close()
        assert variables["NO_PROXY"]
    way_out.close()
