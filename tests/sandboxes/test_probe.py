"""A sandbox that does not hold is found out before anything runs in it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from pi_batch.errors import SandboxError
from pi_batch.protocols import SandboxPlace
from pi_batch.sandboxes.enclosed import PLAIN_VARIABLES, Enclosed
from pi_batch.sandboxes.limits import Limits
from pi_batch.sandboxes.line import Line
from pi_batch.sandboxes.probe import probe


@dataclass
class Walls:
    """Walls with holes."""

    place: SandboxPlace
    argv: tuple[str, ...] = ()
    """Run in the porter's place."""
    name: str = "holed"
    layers: tuple[str, ...] = ()
    python: str = sys.executable
    door: str | None = None
    is_remote: bool = False
    variables: Mapping[str, str] = field(default_factory=lambda: PLAIN_VARIABLES)

    def command(self, porter: Sequence[str]) -> tuple[Sequence[str], Sequence[int]]:
        """The bare porter, or something else."""
        return self.argv or porter, ()

    async def lock(self, line: Line) -> None:
        """No walls."""

    def environment(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """The same."""
        return env

    def close(self) -> None:
        """Nothing is held."""

    def force(self) -> None:
        """Nothing is left."""


@pytest.mark.parametrize("network", [False, True])
async def test_walls_that_let_a_file_be_read_do_not_hold(network: bool) -> None:
    def make(place: SandboxPlace) -> Enclosed:
        return Enclosed(Walls(place), Limits())

    with pytest.raises(SandboxError, match="holed: does not hold: a file outside can be read"):
        await probe(make, network=network)


async def test_what_does_not_come_up_says_why_on_one_line() -> None:
    def make(place: SandboxPlace) -> Enclosed:
        return Enclosed(Walls(place, ("sh", "-c", "echo no; echo permission >&2; exit 1")), Limits())

    with pytest.raises(SandboxError) as caught:
        await probe(make)
    assert "holed: does not come up: no permission" in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_program_that_is_not_there_is_no_sandbox() -> None:
    with pytest.raises(SandboxError, match="No such file"):
        await probe(lambda place: Enclosed(Walls(place, ("/no/such/program",)), Limits()))
