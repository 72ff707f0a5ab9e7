"""What a consumer with nothing to do asks of the database, beside the peers' workers.

Ours is the program itself, with its heartbeat, its leader's duties and its metrics, and not only
the half that claims: an idle system has to be quiet with all that it does.
"""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.queue_ratios import Readings
from bench.queue_server import Server
from bench.queue_sides import OURS, Pair
from consumer.browsers import NoBrowserError, find_browser, system_search
from tests.flow.product import Product

BOOT_S = 15.0  # until who was started has come to rest, and has reported that
PROGRAM = "ours_idle"
SETTINGS = {"STORYSHELF_CAPTURE_SLOTS": "1", "STORYSHELF_LEASE_S": "60"}  # production's lease
CLAIMING_HALF = "idle_claiming_half_tx_per_min"


def idle(server: Server, pairs: Sequence[Pair], for_s: float) -> Mapping[str, Readings]:
    """Let one worker of each queue do nothing, all at once, each on its own database.

    Whoever does little reports it at once, and the rest within ten seconds. Where no browser is
    found our program does not start, and its claiming half stands for it.
    """
    with _program(server.database(PROGRAM)) as program:
        for pair in pairs:
            pair.worker.ask("clear")
            pair.worker.ask("work", concurrency=10)
        time.sleep(BOOT_S)
        names = [*(pair.database for pair in pairs), *program]
        before = {name: server.counted_now(name) for name in names}
        time.sleep(for_s)
        after = {name: server.counted_now(name) for name in names}
        for pair in pairs:
            pair.worker.ask("rest")
    return readings({name: 60 * (after[name] - before[name]) / for_s for name in names})


def readings(per_min: Mapping[str, float]) -> Mapping[str, Readings]:
    """Return each side's readings; the program's are ours, if it ran."""
    said = {name: {"idle_tx_per_min": value} for name, value in per_min.items() if name != PROGRAM}
    said[OURS] = {
        "idle_tx_per_min": per_min.get(PROGRAM, per_min[OURS]),
        CLAIMING_HALF: per_min[OURS],
    }
    return said


@contextmanager
def _program(url: str) -> Iterator[Sequence[str]]:
    """Run a consumer as users do; its name in a list, empty where it has no browser."""
    with tempfile.TemporaryDirectory(prefix="storyshelf-bench-") as folder:
        product = Product(Path(folder), url, SETTINGS)
        try:
            find_browser(None, system_search(product.environment))
        except NoBrowserError:
            yield []
            return
        try:
            product.consume()
            yield [PROGRAM]
        finally:
            product.end()
