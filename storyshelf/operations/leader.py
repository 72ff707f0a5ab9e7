"""Who does what one process does for all: the holder of a lease with a term, and nobody for long.

A leader trusts its lease by its own monotonic clock, from when the request was sent, and stops
before the database can have given it away. Two may still lead for a moment, when one was paused:
so whatever a leader does is either harmless twice or names its term.
"""

from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any, Protocol

import structlog

from storyshelf.clock import Clock
from storyshelf.db.engine import Database, Tx
from storyshelf.operations import leader_store as store
from storyshelf.operations.leader_store import Leading
from storyshelf.queue.deadline import within

LEASE_FOR = timedelta(seconds=30)
MARGIN_S = 5.0  # the trust ends so long before the lease does
RENEW_EVERY_S = 15.0
AGAIN_AFTER_S = 4.0  # a renewal that was not answered: another two fit into the trust
FOLLOW_EVERY_S = 60.0  # nobody waits for a leader: what was missed meanwhile is done in one step
FIRST_AFTER_S = 1.0  # a boot has other work first
ANSWER_WITHIN_S = 5.0
STRETCH = 0.2  # of the followers' wait, so that they do not all try at once

log = structlog.get_logger(__name__)


Look = Callable[[Tx], Awaitable[None]]


async def look_at_nothing(_tx: Tx) -> None:
    """Serve as `beside` where nothing else is to be known."""


class LeadLease(Protocol):
    """The lease as one process may hold it."""

    async def take(self) -> int | None:
        """Return the term that begins; None: somebody leads."""
        ...

    async def renew(self, term: int) -> bool:
        """Say whether the term goes on."""
        ...

    async def resign(self, term: int) -> None:
        """End the term."""
        ...


class DatabaseLease:
    """The lease in its table; `holder` is unique to this run of the process.

    `beside` reads what a leader wants to know as often, in the same transactions: a system
    without work is quiet.
    """

    def __init__(
        self,
        db: Database,
        holder: str,
        beside: Look = look_at_nothing,
        lease_for: timedelta = LEASE_FOR,
    ) -> None:
        self._db = db
        self._holder = holder
        self._beside = beside
        self._lease_for = lease_for

    async def take(self) -> int | None:
        """See LeadLease."""
        async with self._db.transaction() as tx:
            term = await store.take_lead(tx, self._holder, self._lease_for)
            if term is not None:
                await self._beside(tx)
            return term

    async def renew(self, term: int) -> bool:
        """See LeadLease."""
        async with self._db.transaction() as tx:
            goes_on = await store.renew_lead(tx, Leading(self._holder, term), self._lease_for)
            if goes_on:
                await self._beside(tx)
            return goes_on

    async def resign(self, term: int) -> None:
        """See LeadLease."""
        async with self._db.transaction() as tx:
            await store.resign_lead(tx, Leading(self._holder, term))


class Leader:
    """One process that leads or follows; it resigns when it is stopped."""

    def __init__(self, lease: LeadLease, clock: Clock, draw: Callable[[], float]) -> None:
        self._lease = lease
        self._clock = clock
        self._draw = draw
        self._held: int | None = None  # the term that was won and not yet lost
        self._trusted_until = 0.0
        self._has_warned = False
        self._is_over = False

    @property
    def term(self) -> int | None:
        """Return the term that this process leads in, None while it may not act as a leader."""
        is_trusted = self._clock.monotonic() < self._trusted_until and not self._is_over
        return self._held if is_trusted else None

    @property
    def is_leading(self) -> bool:
        """Tell whether this process may do now what a leader does."""
        return self.term is not None

    async def run_forever(self) -> None:
        """Take the lead when it is free, keep it, and resign at the end."""
        try:
            await self._clock.sleep(FIRST_AFTER_S)
            while not self._is_over:
                await self._clock.sleep(await self._step())
        finally:
            await self.resign()

    async def resign(self) -> None:
        """Never lead again, and let another one do so at once; harmless when repeated."""
        self._is_over = True
        term, self._held = self._held, None
        if term is None:
            return
        try:
            await self._answered(self._lease.resign(term))
        except Exception as error:  # noqa: BLE001  # the lease runs out by itself
            log.warning("leader.resign_unanswered", term=term, error=repr(error))
        else:
            log.info("leader.resigned", term=term)

    async def _step(self) -> float:
        """Take or renew the lease; return how long to wait for the next step."""
        sent_at = self._clock.monotonic()
        try:
            await (self._take(sent_at) if self._held is None else self._renew(sent_at, self._held))
        except Exception as error:  # noqa: BLE001  # whatever it was, the trust runs out by itself
            self._warn_once(error)
            return AGAIN_AFTER_S if self._held is not None else self._following_s()
        self._has_warned = False
        return RENEW_EVERY_S if self._held is not None else self._following_s()

    async def _take(self, sent_at: float) -> None:
        self._held = await self._answered(self._lease.take())
        if self._held is not None:
            self._trust(sent_at)
            log.info("leader.won", term=self._held)

    async def _renew(self, sent_at: float, term: int) -> None:
        if await self._answered(self._lease.renew(term)):
            self._trust(sent_at)
            return
        self._held = None
        log.warning("leader.lost", term=term)

    def _trust(self, sent_at: float) -> None:
        self._trusted_until = sent_at + LEASE_FOR.total_seconds() - MARGIN_S

    def _following_s(self) -> float:
        return FOLLOW_EVERY_S * (1 + STRETCH * self._draw())

    def _warn_once(self, error: Exception) -> None:
        if not self._has_warned:
            self._has_warned = True
            log.warning("leader.unanswered", error=repr(error))

    async def _answered(self, question: Coroutine[Any, Any, Any]) -> Any:
        return await within(self._clock, ANSWER_WITHIN_S, question)
