"""What every executor of the table does, and the fake that stands for one elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch import executors
from pi_batch.errors import UsageError
from pi_batch.executors.dask import Dask, Post
from pi_batch.executors.local import Local
from pi_batch.protocols import Executor, Trial
from pi_batch.results import BudgetAmounts


def made() -> list[Executor]:
    """One of each; none is connected."""
    post = Post(Path("/r"), lambda key: Path("/r", key), lambda _t, _n: "{}", lambda _key: False, {}, "m")
    return [Local(), Dask("tcp://127.0.0.1:1", post)]


def test_every_executor_of_the_table_has_its_name() -> None:
    assert {executor.name for executor in made()} == set(executors.TABLE)
    assert all(isinstance(executor, executors.load(executor.name)) for executor in made())


def test_an_unknown_executor_is_refused() -> None:
    with pytest.raises(UsageError, match="executor 'k8s': unknown; known are dask, local"):
        executors.load("k8s")


@pytest.mark.parametrize("executor", made(), ids=lambda one: one.name)
async def test_what_was_not_started_can_be_closed_twice(executor: Executor) -> None:
    await executor.close()
    await executor.close()


async def test_local_carries_a_trial_out_where_it_is_and_lets_its_errors_through() -> None:
    done: list[str] = []

    async def here() -> None:
        done.append("x")
        if len(done) > 1:
            raise UsageError("no")

    trial = Trial("a", BudgetAmounts(), here, lambda _record: None)
    assert await Local().start() is None
    assert await Local().run(trial) == ""
    with pytest.raises(UsageError):
        await Local().run(trial)
    assert done == ["x", "x"]
