"""Deliver: take a subject's turn, say how it should stand, and leave the rest to the settling."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog

from storyshelf.auth.secrets import SealedElsewhereError, Secrets
from storyshelf.clock import Clock
from storyshelf.db.engine import Tx
from storyshelf.deliveries import store
from storyshelf.deliveries.answers import Answer, RefusedError, TryLaterError
from storyshelf.deliveries.delivery import Mute, Nothing, Send, Subject, Wait, turn_of
from storyshelf.deliveries.kinds import RETRY, DeliverPayload, Said
from storyshelf.deliveries.outbound import Ask, Request
from storyshelf.deliveries.send import Line, send
from storyshelf.deliveries.webhook import Stamp
from storyshelf.deliveries.wish import from_json
from storyshelf.queue.deadline import within
from storyshelf.queue.failpoint import Failpoint, Place, no_failpoint
from storyshelf.queue.job import Failed, Retried
from storyshelf.queue.job_kind import Work

TERMS_A_SEND = 2  # the turn outlasts the longest send: nobody else talks before it has surely ended
GONE = Nothing("the connection was deleted")

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Sender:
    """What sending needs: the server's address for links, a way out, the key, time and chance."""

    root: str
    ask: Ask
    secrets: Secrets
    clock: Clock
    draw: Callable[[], float]
    send_within_s: float  # all requests of one delivery together; under half a lease
    failpoint: Failpoint = no_failpoint


class DeliverHandler:
    """The handler of `deliver` jobs; returns Said, or None where there is nothing to say."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    async def __call__(self, work: Work, parsed: DeliverPayload) -> Said | Retried | Failed | None:
        """Say what the subject is wished to say by now."""
        turn = _Turn(work, parsed, timedelta(seconds=TERMS_A_SEND * self._sender.send_within_s))
        await work.note(turn.take)
        match turn.decided:
            case Nothing(why=why):
                log.info("delivery.left", delivery=parsed.delivery_id, why=why)
                return None
            case Wait(after=after, why=why):
                return Retried(after, why)
            case Mute(why=why):
                return Failed(why)
            case Send():
                assert turn.subject is not None, "a turn is taken of a subject"
                return await self._say(work, turn, turn.subject)

    async def _say(self, work: Work, turn: "_Turn", subject: Subject) -> Said | Retried | Failed:
        sender = self._sender
        try:
            await within(sender.clock, sender.send_within_s, self._send(work, turn, subject))
        except (RefusedError, SealedElsewhereError) as error:
            return Failed(str(error))
        except TimeoutError:
            slow = TryLaterError(f"It was not said within {sender.send_within_s:g} s")
            return await self._later(work, turn, slow)
        except TryLaterError as error:
            return await self._later(work, turn, error)
        sender.failpoint(Place.AFTER_SAID)
        log.info("delivery.sent", delivery=turn.payload.delivery_id, version=subject.version)
        return Said(subject.version)

    async def _send(self, work: Work, turn: "_Turn", subject: Subject) -> None:
        sender = self._sender
        secret = sender.secrets.open(subject.connection.secret)
        line = Line(subject.connection, secret, _touching(work, sender.ask), sender.clock.now())
        stamp = Stamp(turn.payload.delivery_id, subject.version)
        await send(line, from_json(subject.wanted), sender.root, stamp)

    async def _later(self, work: Work, turn: "_Turn", error: TryLaterError) -> Retried | Failed:
        lease = work.lease
        ending = RETRY.after_failure(
            lease.charged, lease.max_attempts, str(error), self._sender.draw, error.after
        )
        if isinstance(ending, Retried):
            await work.note(lambda tx: turn.give_back(tx, error))
        return ending


class _Turn:
    """One attempt's dealings with the row of its subject."""

    def __init__(self, work: Work, payload: DeliverPayload, term: timedelta) -> None:
        self.payload = payload
        self.subject: Subject | None = None
        self.decided: Send | Nothing | Wait | Mute = GONE
        self._lease = work.lease
        self._term = term

    async def take(self, tx: Tx) -> None:
        """Find out whether to speak, and take the turn if so."""
        self.subject = await store.lock_subject(tx, self.payload.delivery_id)
        if self.subject is None:
            return
        job_id, attempt = self._lease.job_id, self._lease.attempt
        self.decided = turn_of(self.subject, job_id, self.payload.version, attempt)
        if isinstance(self.decided, Send):
            await store.take_turn(tx, self.payload.delivery_id, job_id, self._term)

    async def give_back(self, tx: Tx, error: TryLaterError) -> None:
        """Let others have their turn, and the whole connection its rest if that was asked for."""
        if error.rests and self.subject is not None:
            await store.rest(tx, self.subject.connection.id, error.after)
        await store.give_turn_back(tx, self.payload.delivery_id, self._lease.job_id, error.what)


def _touching(work: Work, ask: Ask) -> Ask:
    async def asked(request: Request) -> Answer:
        answer = await ask(request)
        work.touch()
        return answer

    return asked
