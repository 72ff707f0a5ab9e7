"""From seal to verdict: the example Storybook's first build, and the one after a change.

Everything is real: PostgreSQL with its production settings, a server, a consumer with one slot a
core, the CLI. Before and after each build the plain Playwright loop shoots the same stories, so
that a load that comes or goes meanwhile weighs on both.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.machine import cores, machine
from bench.plain_playwright import PeerRun, shoot_all
from bench.readings import build_run
from bench.report import Length, Report, table
from bench.split import MOST_UNEXPLAINED, BuildRun, UnreadableRunError, per_picture_ms, split
from consumer.browsers import find_browser, system_search
from storyshelf.clock import SystemClock
from storyshelf.db import migrate
from storyshelf.db.embedded import EmbeddedPostgres
from tests.db.server import a_data_folder, from_sync
from tests.flow.product import Product
from tests.storybook_builds import Look, build_example

ROUNDS = {Length.QUICK: 1, Length.FULL: 5}
BUILDS = (("first_build", Look.CURRENT, "accepted"), ("second_build", Look.NEXT, "pending"))
EXPLANATION = """\
The parts add up to the wall time from seal to verdict, by the database's clock. What runs in slots
runs side by side: {slots} slots, so a second in one of them counts as 1/{slots} second.
  wait      queue: until the plan, the first shard and the finalise job are claimed
  plan      the plan job: a child loads the bundle once for its parameters, then it is cut
  child     a shard's child is started or handed over, the bundle laid and opened in it
  render    pictures: opened, rendered, settled, shot, handed over; those taken twice, twice
  compare   baselines read, and pictures that are not byte for byte theirs compared
  store     pictures and masks synced to disk, and the transactions that write the results
  idle      a slot without a shard: between two, or when the other slot has the last one
  finalise  counts become a state
  rest      the wall time less all of these, which nobody measured: a shard's work read, jobs
            settled, answers on their way
The peer is one browser with one page, from its start to its last screenshot; it only shoots: it
does not isolate, freeze, compare, confirm or record. The upload before the seal is in neither."""


@dataclass(frozen=True, slots=True)
class Beside:
    """One build of ours, and the peer's runs just before and just after it."""

    ours: BuildRun
    peer: PeerRun

    @property
    def ratio(self) -> float:
        """Return our stories per second by the peer's."""
        return self.ours.stories_per_s / self.peer.stories_per_s


def run(length: Length) -> Report:
    """Measure, print the table, and return the medians of the ratios and their rounds' figures."""
    facts = machine()
    print("main_flow on " + ", ".join(f"{name} {value}" for name, value in facts.items()))
    for _, look, _ in BUILDS:
        build_example(look)
    with a_database() as (folder, url):
        product = Product(folder, url, settings())
        try:
            product.serve()
            product.consume(STORYSHELF_LOG_FORMAT="json")  # a line a shard is read from it
            rounds = [_round(product, number) for number in range(ROUNDS[length])]
        finally:
            product.end()
    middle = {
        name: middle_of([each[at] for each in rounds]) for at, (name, _, _) in enumerate(BUILDS)
    }
    _show(middle)
    return report(middle, {**facts, "load_at_end": machine()["load"], "rounds": len(rounds)})


def report(middle: dict[str, Beside], facts: dict[str, Any]) -> Report:
    """Return what the last line says."""
    return Report(
        bench="main_flow",
        ratios={f"{name}_vs_plain_playwright": each.ratio for name, each in middle.items()},
        figures={name: _figures(each) for name, each in middle.items()} | {"machine": facts},
    )


def settings() -> dict[str, str]:
    """Return what production has, not what tests are quick with."""
    return {
        "STORYSHELF_LEASE_S": "60",
        "STORYSHELF_CAPTURE_SLOTS": str(cores()),
    }


@contextmanager
def a_database() -> Iterator[tuple[Path, str]]:
    """Start a PostgreSQL with production's settings; return the product's folder and its url."""
    with a_data_folder() as folder:
        server = EmbeddedPostgres(folder)
        url = server.start()
        try:
            from_sync(migrate.upgrade(url, SystemClock()))
            yield folder, url
        finally:
            server.stop()


def _round(product: Product, number: int) -> Sequence[Beside]:
    """Capture both builds in a project of its own, with the peer before, between and after."""
    slug = f"round-{number}"
    product.make_project(slug)
    beside = []
    before = _peer(product, BUILDS[0][1])
    for _, look, state in BUILDS:
        ours = _ours(product, slug, look, state)
        after = _peer(product, look)
        beside.append(Beside(ours, before.and_then(after)))
        before = after
    return beside


def _peer(product: Product, look: Look) -> PeerRun:
    browser = find_browser(None, system_search(product.environment)).path
    with tempfile.TemporaryDirectory(prefix="storyshelf-bench-") as pictures:
        return shoot_all(browser, build_example(look), Path(pictures))


def _ours(product: Product, slug: str, look: Look, state: str) -> BuildRun:
    told = product.publish(build_example(look), f"{slug}-{look}").document
    build = told.get("build", {"state": told.get("error")})
    if build["state"] != state:
        raise UnreadableRunError(f"The build ended as {build['state']}, not as {state}.")
    return build_run(product, slug, build["number"], cores())


def middle_of(rounds: Sequence[Beside]) -> Beside:
    """Return the round whose ratio is the median; the lower of two."""
    wanted = median(each.ratio for each in rounds)
    return min(rounds, key=lambda each: abs(each.ratio - wanted))


def _figures(each: Beside) -> dict[str, Any]:
    parts = split(each.ours)
    return {
        "stories": len(each.ours.snapshots),
        "stories_per_s": each.ours.stories_per_s,
        "wall_s": each.ours.wall_s,
        "split_s": parts.parts(),
        "unexplained": parts.unexplained,
        "picture_ms": per_picture_ms(each.ours),
        "slots": each.ours.slots,
        "shards": len(each.ours.captures),
        "plain_playwright": asdict(each.peer) | {"stories_per_s": each.peer.stories_per_s},
    }


def _show(middle: dict[str, Beside]) -> None:
    slots = next(iter(middle.values())).ours.slots
    splits = [split(each.ours) for each in middle.values()]
    names = [name.replace("_", " ") for name in middle]
    rows = [
        _row("stories", [len(each.ours.snapshots) for each in middle.values()], ""),
        _row("stories/s, ours", [each.ours.stories_per_s for each in middle.values()], ".2f"),
        _row("stories/s, plain", [each.peer.stories_per_s for each in middle.values()], ".2f"),
        _row("ours : plain", [each.ratio for each in middle.values()], ".2f"),
        _row("wall s", [each.ours.wall_s for each in middle.values()], ".2f"),
        *(
            _row(f"  {part}", [getattr(each, part) for each in splits], ".2f")
            for part in splits[0].parts()
        ),
        _row("sum s", [each.sum_s for each in splits], ".2f"),
    ]
    print(table(["", *names], rows), EXPLANATION.format(slots=slots), sep="\n\n")
    for name, each in zip(names, middle.values(), strict=True):
        steps = ", ".join(f"{step} {ms:.0f}" for step, ms in per_picture_ms(each.ours).items())
        print(f"A picture of the {name}, mean ms: {steps}")
    for name, parts in zip(names, splits, strict=True):
        verdict = "explained" if parts.unexplained <= MOST_UNEXPLAINED else "NOT explained"
        print(f"{name}: {1 - parts.unexplained:.1%} of the wall time has a name: {verdict}")


def _row(name: str, values: Sequence[float], form: str) -> Sequence[str]:
    return [name, *(format(value, form) for value in values)]
