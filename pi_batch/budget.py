"""The ledger: what a task and its suite may spend, reserved before each request, settled after it.

One ledger per task, with the suite's as its parent; a reservation holds in both or in neither. Every
request goes through it: first tries, retries, compaction, sub-calls, attempts, parallel tasks. So the
most that a limit can be overrun by is the error of one reservation (a service that gives more output
than it was allowed, an input longer than estimated).

A reservation that does not fit only because other tasks hold theirs waits until they settle. One that
could not fit even alone raises `BudgetExhausted`, and that ends the agent.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from math import inf
from typing import Literal

from msgspec import Struct, field

from pi_batch.messages import Usage
from pi_batch.protocols import Clock
from pi_batch.results import AgentStop, BudgetAmounts

MIN_OUTPUT_TOKENS = 1024
"""Below this many output tokens left no request is made: the reply would be cut."""

Dimension = Literal["turns", "tokens", "cost_usd", "wall_s", "tool_calls"]

STOP_BY_DIMENSION: dict[Dimension, AgentStop] = {
    "turns": "max_turns",
    "tokens": "max_tokens",
    "cost_usd": "max_cost",
    "wall_s": "max_wall_time",
    "tool_calls": "max_tool_calls",
}


class BudgetExhausted(Exception):
    """A limit leaves no room for what was asked."""

    def __init__(
        self, dimension: Dimension, limit: float, *, is_suite: bool, owner: str = "the suite"
    ) -> None:
        whose = f"{owner}'s budget" if is_suite else "budget"
        super().__init__(f"{whose}.{dimension}: the limit of {limit:g} leaves no room")
        self.dimension: Dimension = dimension
        self.is_suite = is_suite
        """True when a limit that tasks share is in the way, not the task's own."""

    @property
    def stop(self) -> AgentStop:
        """The stop reason that this dimension gives."""
        return STOP_BY_DIMENSION[self.dimension]


class Need(Struct, frozen=True):
    """What one request is expected to take."""

    input_tokens: int
    """Estimate, cached tokens included."""
    output_tokens: int
    """The most output wished for; less may be granted, never below MIN_OUTPUT_TOKENS."""
    price_usd: Callable[[int, int], float] = lambda _input, _output: 0.0
    """(input tokens, output tokens) -> USD; dearest case, no cache."""


class Reservation(Struct):
    """Room held for one request until it is settled or released."""

    input_tokens: int
    output_tokens: int
    """Granted: the request's output cap."""
    cost_usd: float
    is_open: bool = True

    @property
    def tokens(self) -> int:
        """Tokens held."""
        return self.input_tokens + self.output_tokens


class Spent(Struct, frozen=True):
    """What earlier processes spent of a budget."""

    usage: Usage = field(default_factory=Usage)
    turns: int = 0
    tool_calls: int = 0
    cost_usd: float | None = 0.0
    """None when the price of some request is unknown."""
    known_cost_usd: float = 0.0
    """Of the requests whose price is known."""
    wall_s: float = 0.0


class _Change:
    """Wakes everyone who waits for a reservation to be settled."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def announce(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, timeout_s: float) -> None:
        """Return at the next announcement, or after `timeout_s` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._event.wait()


class Ledger:
    """Spending and limits of one task, or of many: a suite, a repository (one that is another's parent)."""

    def __init__(
        self,
        limit: BudgetAmounts,
        clock: Clock,
        parent: Ledger | None = None,
        *,
        is_suite: bool = False,
        owner: str = "the suite",
    ) -> None:
        """`is_suite`: tasks share it; `owner` says who has it then."""
        self.limit = limit
        self.is_suite = is_suite
        self.owner = owner
        self.usage = Usage()
        self.turns = 0
        self.cost_usd: float | None = 0.0
        """None once a request of unknown price was settled."""
        self.tool_calls = 0
        self.has_refused_a_call = False
        """True once a call found no room here or in the suite; from then on none will."""
        self._known_cost_usd = 0.0
        self._tokens = 0
        self._held_turns = 0
        self._held_tokens = 0
        self._held_cost_usd = 0.0
        self._clock = clock
        self._parent = parent
        self._elapsed_s = 0.0
        self._running_since: float | None = None
        self._change: _Change = parent._change if parent else _Change()

    def carry(self, spent: Spent) -> None:
        """Begin where earlier processes ended; the suite's ledger is told by itself."""
        self.usage = spent.usage
        self.turns = spent.turns
        self.tool_calls = spent.tool_calls
        self.cost_usd = spent.cost_usd
        self._known_cost_usd = spent.known_cost_usd
        self._tokens = spent.usage.total_tokens
        self._elapsed_s = spent.wall_s

    def charge(self, usage: Usage, cost_usd: float | None, *, turns: int = 0, tool_calls: int = 0) -> None:
        """Count, here and in the suite, what an earlier process spent and nobody has counted yet."""
        for ledger in self._chain():
            ledger._spend(usage, cost_usd)
            ledger.turns += turns
            ledger.tool_calls += tool_calls

    # --- time ---

    def start_time(self) -> None:
        """Let wall time run; a suite's runs from its start, a task's in its agent phase only."""
        if self._running_since is None:
            self._running_since = self._clock.monotonic()

    def stop_time(self) -> None:
        """Halt wall time: checks have their own limits."""
        self._elapsed_s = self.elapsed_s
        self._running_since = None

    @property
    def elapsed_s(self) -> float:
        """Wall time counted so far."""
        if self._running_since is None:
            return self._elapsed_s
        return self._elapsed_s + self._clock.monotonic() - self._running_since

    @property
    def seconds_left(self) -> float:
        """The least that this ledger and its parent leave; infinite without a limit."""
        return min(
            max(0.0, ledger.limit.wall_s - ledger.elapsed_s) if ledger.limit.wall_s is not None else inf
            for ledger in self._chain()
        )

    def check_time(self, tolerance_s: float = 0.0) -> None:
        """Raises: BudgetExhausted when wall time is used up, or all but `tolerance_s` of it."""
        for ledger in self._chain():
            if ledger.limit.wall_s is not None and ledger.elapsed_s >= ledger.limit.wall_s - tolerance_s:
                raise ledger._exhausted("wall_s", ledger.limit.wall_s)

    # --- requests ---

    def turns_left(self) -> float:
        """Replies that may still be asked for; infinite without a limit."""
        return min(
            ledger.limit.turns - ledger.turns - ledger._held_turns if ledger.limit.turns is not None else inf
            for ledger in self._chain()
        )

    async def reserve(self, need: Need) -> Reservation:
        """Hold room for one request, waiting where only others' open reservations are in the way.

        Raises: BudgetExhausted when it could not fit even alone, or when time runs out meanwhile.
        """
        while True:
            self.check_time()
            output_tokens = min(ledger._grantable(need) for ledger in self._chain())
            if all(ledger._has_room(need, output_tokens) for ledger in self._chain()):
                return self._hold(need, output_tokens)  # no await since the check: nobody came between
            await self._change.wait(min(1.0, self.seconds_left))

    def settle(self, reservation: Reservation, usage: Usage, cost_usd: float | None) -> None:
        """Turn a reservation into one reply's real spending; `cost_usd` None: the price is unknown."""
        self._let_go(reservation)
        for ledger in self._chain():
            ledger.turns += 1
            ledger._spend(usage, cost_usd)
        self._change.announce()

    def settle_uncounted(self, reservation: Reservation, usage: Usage, cost_usd: float | None) -> None:
        """As `settle`, of what is no turn: a failed request that is charged for, a summary."""
        self._let_go(reservation)
        for ledger in self._chain():
            ledger._spend(usage, cost_usd)
        self._change.announce()

    def release(self, reservation: Reservation) -> None:
        """Give a reservation up: the request was not made, or cost nothing."""
        self._let_go(reservation)
        self._change.announce()

    # --- tool calls ---

    def charge_tool_call(self) -> None:
        """Count one call before it runs. Raises: BudgetExhausted; then it must not run."""
        for ledger in self._chain():
            if ledger.limit.tool_calls is not None and ledger.tool_calls >= ledger.limit.tool_calls:
                self.has_refused_a_call = True
                raise ledger._exhausted("tool_calls", ledger.limit.tool_calls)
        for ledger in self._chain():
            ledger.tool_calls += 1

    # --- reading ---

    @property
    def used(self) -> BudgetAmounts:
        """What was spent, per dimension; cost None where a price is unknown."""
        return BudgetAmounts(
            turns=self.turns,
            tokens=self._tokens,
            cost_usd=self.cost_usd,
            wall_s=round(self.elapsed_s, 3),
            tool_calls=self.tool_calls,
        )

    def exhausted_dimension(self) -> Dimension | None:
        """The first limit reached here or in the suite, or None: no further reply is possible."""
        return next(filter(None, (ledger._reached() for ledger in self._chain())), None)

    def exhausted_by(self) -> str | None:
        """The same with its owner: `the suite's budget.turns`."""
        reached = ((ledger.owner, ledger._reached()) for ledger in self._chain())
        return next((f"{owner}'s budget.{name}" for owner, name in reached if name), None)

    def _reached(self) -> Dimension | None:
        reached: tuple[tuple[Dimension, float | None, float], ...] = (
            ("turns", self.limit.turns, self.turns),
            ("tokens", self.limit.tokens, self._tokens + MIN_OUTPUT_TOKENS),
            ("cost_usd", self.limit.cost_usd or None, self._known_cost_usd),
            ("wall_s", self.limit.wall_s, self.elapsed_s),
            ("tool_calls", self.limit.tool_calls, self.tool_calls),
        )
        return next((name for name, limit, value in reached if limit is not None and value >= limit), None)

    def _chain(self) -> Iterator[Ledger]:
        ledger: Ledger | None = self
        while ledger is not None:
            yield ledger
            ledger = ledger._parent

    def _exhausted(self, dimension: Dimension, limit: float) -> BudgetExhausted:
        return BudgetExhausted(dimension, limit, is_suite=self.is_suite, owner=self.owner)

    def _grantable(self, need: Need) -> int:
        """Output tokens that would fit if no other reservation were open. Raises: BudgetExhausted."""
        limit = self.limit
        if limit.turns is not None and self.turns >= limit.turns:
            raise self._exhausted("turns", limit.turns)
        granted = need.output_tokens
        least = min(MIN_OUTPUT_TOKENS, need.output_tokens)
        if limit.tokens is not None:
            granted = min(granted, limit.tokens - self._tokens - need.input_tokens)
            if granted < least:
                raise self._exhausted("tokens", limit.tokens)
        if limit.cost_usd is not None:
            granted = self._affordable(need, granted, least, limit.cost_usd)
        return granted

    def _affordable(self, need: Need, wished: int, least: int, limit_usd: float) -> int:
        """The most output tokens that the money left pays for. Raises: BudgetExhausted."""
        left = limit_usd - self._known_cost_usd
        if left < 0 or (left == 0 and limit_usd > 0) or need.price_usd(need.input_tokens, least) > left:
            raise self._exhausted("cost_usd", limit_usd)
        if need.price_usd(need.input_tokens, wished) <= left:
            return wished
        low, high = least, wished
        while low < high:  # the price grows with the output: bisect
            middle = (low + high + 1) // 2
            if need.price_usd(need.input_tokens, middle) <= left:
                low = middle
            else:
                high = middle - 1
        return low

    def _has_room(self, need: Need, output_tokens: int) -> bool:
        """True when the reservation fits beside the open ones."""
        limit = self.limit
        if limit.turns is not None and self.turns + self._held_turns >= limit.turns:
            return False
        tokens = self._tokens + self._held_tokens + need.input_tokens + output_tokens
        if limit.tokens is not None and tokens > limit.tokens:
            return False
        if limit.cost_usd is None or self._held_turns == 0:  # alone, `_affordable` has judged
            return True
        price = need.price_usd(need.input_tokens, output_tokens)
        return self._known_cost_usd + self._held_cost_usd + price <= limit.cost_usd

    def _hold(self, need: Need, output_tokens: int) -> Reservation:
        cost_usd = need.price_usd(need.input_tokens, output_tokens)
        reservation = Reservation(need.input_tokens, output_tokens, cost_usd)
        for ledger in self._chain():
            ledger._held_turns += 1
            ledger._held_tokens += reservation.tokens
            ledger._held_cost_usd += cost_usd
        return reservation

    def _let_go(self, reservation: Reservation) -> None:
        if not reservation.is_open:
            raise ValueError("a reservation is settled once")
        reservation.is_open = False
        for ledger in self._chain():
            ledger._held_turns -= 1
            ledger._held_tokens -= reservation.tokens
            ledger._held_cost_usd = (
                ledger._held_cost_usd - reservation.cost_usd if ledger._held_turns else 0.0
            )

    def _spend(self, usage: Usage, cost_usd: float | None) -> None:
        self.usage = self.usage + usage
        self._tokens += usage.total_tokens
        self._known_cost_usd += cost_usd or 0.0
        if cost_usd is None:
            self.cost_usd = None
        elif self.cost_usd is not None:
            self.cost_usd = self._known_cost_usd
