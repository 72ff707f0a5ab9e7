"""People at the operations page, eight at once: what each asked for, and what it was answered."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from secrets import SystemRandom
from typing import NamedTuple

import httpx
from httpx import AsyncClient

from bench.chaos.world import World
from storyshelf.clock import SystemClock
from storyshelf.operations.alarm_store import Alarm
from storyshelf.queue.outage import may_pass
from tests.flow.product import Product
from tests.people import sign_in

PEOPLE = 8
PATIENCE_S = 60.0
PAUSE_S = 0.05
TRY_AGAIN = "Try again in a few seconds"
CHOSEN = """
SELECT '/operations/jobs/' || id || '/cancel' AS path FROM jobs
UNION ALL SELECT '/operations/jobs/' || id || '/release' FROM jobs WHERE state = 'running'
UNION ALL (SELECT '/operations/jobs/' || id || '/retry' FROM jobs_done
    WHERE kind IN ('plan', 'capture') AND state <> 'done' ORDER BY id DESC LIMIT 40)
UNION ALL SELECT '/operations/consumers/' || id || '/' || wish
    FROM consumers, unnest(ARRAY['quiet', 'resume', 'stop']) AS wish WHERE state <> 'stopping'
"""
ALARMS = "SELECT name, count, first_at, last_at, detail FROM alarms"

draw = SystemRandom()


class Offer(NamedTuple):
    """Something the page offers, and the fields of its form."""

    deed: "Deed"
    path: str
    fields: Mapping[str, str] = {}


class Deed(NamedTuple):
    """An action as the audit has it, and what it was about."""

    action: str
    about: str


@dataclass
class People:
    """What they were answered, by deed; whoever got no word of success may have done it or not."""

    done: Counter[Deed] = field(default_factory=Counter)
    unsure: Counter[Deed] = field(default_factory=Counter)
    answers: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def note(self, deed: Deed, answer: httpx.Response) -> None:
        """Note an answer: done, refused with a reason, or unknown and told to try again."""
        self.answers[answer.status_code] += 1
        match answer.status_code:
            case HTTPStatus.SEE_OTHER:
                self.done[deed] += 1
            case HTTPStatus.SERVICE_UNAVAILABLE if TRY_AGAIN in answer.text:
                self.unsure[deed] += 1
            case HTTPStatus.NOT_FOUND | HTTPStatus.CONFLICT:
                pass
            case _:
                self.faults.append(f"{deed}: {answer.status_code} {answer.text[-1500:]}")


@asynccontextmanager
async def a_server(world: World) -> AsyncIterator[Sequence[AsyncClient]]:
    """Run the product's server, and yield eight people who are signed in to it."""
    folder = world.folder / "server"
    folder.mkdir()
    product = Product(folder, world.url)
    try:
        await asyncio.to_thread(product.serve)
        clients = [AsyncClient(base_url=product.url, timeout=PATIENCE_S) for _ in range(PEOPLE)]
        for number, client in enumerate(clients):
            await sign_in(world.db, client, f"person-{number}@shelf.test")
        yield clients
        for client in clients:
            await client.aclose()
    finally:
        await asyncio.to_thread(product.end)


async def act(world: World, client: AsyncClient, people: People, over: asyncio.Event) -> None:
    """Do one thing after the other that the page offers, or offered a moment ago, until it is over.

    What was asked for is waited for: every answer is noted.
    """
    clock = SystemClock()
    while not over.is_set():
        for offer in _chosen(await _offered(world)):
            try:
                answer = await client.post(offer.path, data=offer.fields)
            except httpx.HTTPError as error:
                people.faults.append(f"{offer.deed}: no answer, {error!r}")
            else:
                people.note(offer.deed, answer)
        await clock.sleep(PAUSE_S)


def _chosen(offered: Sequence[Offer]) -> Sequence[Offer]:
    """Choose an action of each sort, as often among many as among few."""
    sorts = defaultdict(list)
    for offer in offered:
        sorts[offer.deed.action].append(offer)
    chosen = [draw.choice(offers) for offers in sorts.values()]
    draw.shuffle(chosen)
    return chosen


async def _offered(world: World) -> Sequence[Offer]:
    """Return what one may do; nothing while the database is away."""
    try:
        alarms = [Alarm(**row) for row in await world.ask(ALARMS)]
        return [
            *(_offer(row["path"]) for row in await world.ask(CHOSEN)),
            *(_dismissal(alarm) for alarm in alarms),
        ]
    except Exception as error:
        if not may_pass(error):
            raise
        return ()


def _offer(path: str) -> Offer:
    _, _, things, about, action = path.split("/")
    return Offer(Deed(f"{things.removesuffix('s')}.{action}", about), path)


def _dismissal(alarm: Alarm) -> Offer:
    fields = {"name": alarm.name, "seen": alarm.seen}
    return Offer(Deed("alarm.dismiss", alarm.name), "/operations/alarms", fields)
