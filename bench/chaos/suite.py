"""The scenarios by name, and how one is run: a world, the fault, the ledger."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from bench.chaos.ledger import Figures, balance, unrecognised
from bench.chaos.scenarios.horizon import held_horizon
from bench.chaos.scenarios.killing import poison, random_kills
from bench.chaos.scenarios.leaders import killed_leaders
from bench.chaos.scenarios.lines import bad_network, deaf_consumer, three_hosts
from bench.chaos.scenarios.outage import connections_used_up, immediate_stops
from bench.chaos.scenarios.owners import stood_still, theft, wrong_clocks
from bench.chaos.scenarios.pages import stopped_actions
from bench.chaos.scenarios.storm import keyed_storm
from bench.chaos.scenarios.tidying import killed_tidyings
from bench.chaos.world import Grounds, World, a_world
from bench.report import Length, Report, table
from storyshelf.clock import SystemClock

Run = Callable[[World, Length], Awaitable[Mapping[str, Any]]]

SCENARIOS: Mapping[str, Run] = {
    "random_kills": random_kills,
    "immediate_stops": immediate_stops,
    "bad_network": bad_network,
    "stood_still": stood_still,
    "wrong_clocks": wrong_clocks,
    "theft": theft,
    "deaf_consumer": deaf_consumer,
    "poison": poison,
    "held_horizon": held_horizon,
    "connections_used_up": connections_used_up,
    "three_hosts": three_hosts,
    "killed_leaders": killed_leaders,
    "killed_tidyings": killed_tidyings,
    "keyed_storm": keyed_storm,
    "stopped_actions": stopped_actions,
}


@dataclass(frozen=True, slots=True)
class Ended:
    """What one scenario came to; `unmet` is what had to hold beside the ledger and did not."""

    name: str
    figures: Figures
    took_s: float
    unmet: tuple[str, ...] = ()
    measured: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_good(self) -> bool:
        """Whether nothing went wrong."""
        return self.figures.is_clean and not self.unmet


async def run_scenario(name: str, length: Length, made_from: Grounds) -> Ended:
    """Run one on a cluster of its own; everything it started has ended when this returns."""
    clock = SystemClock()
    began = clock.monotonic()
    async with a_world(made_from) as world:
        measured = await _worst(world, SCENARIOS[name], length)
        await world.stop_all()
        facts = await world.facts()
        world.expect(facts.done, "jobs were done")
        world.expect(facts.believed, "consumers told what answers they had")
        return Ended(
            name=name,
            figures=balance(facts),
            took_s=clock.monotonic() - began,
            unmet=tuple(world.unmet),
            measured={**measured, "unrecognised": unrecognised(facts)},
        )


async def _worst(world: World, run: Run, length: Length) -> Mapping[str, Any]:
    """Run the scenario; one that breaks off is not clean, and its ledger is read all the same."""
    try:
        return await run(world, length)
    except Exception as error:  # noqa: BLE001  # whatever it was, the others are run
        world.expect(None, f"it ran to its end, instead of {error!r}")
        await world.until_empty()
        return {}


def report(ended: list[Ended], facts: Mapping[str, Any]) -> Report:
    """Return what the last line says."""
    total = sum((each.figures for each in ended), Figures())
    unmet = [f"{each.name}: {words}" for each in ended for words in each.unmet]
    return Report(
        bench="chaos",
        ratios={},
        figures={
            **asdict(total),
            "unmet": unmet,
            "scenarios": {each.name: _told(each) for each in ended},
            "machine": facts,
        },
        is_good=all(each.is_good for each in ended),
    )


def shown(ended: list[Ended]) -> str:
    """Return the table."""
    head = ["", "lost", "doubled", "stale accepted", "finalisers wrong", "unmet", "s"]
    rows = [
        [each.name, *map(str, asdict(each.figures).values()), str(len(each.unmet)),
         f"{each.took_s:.1f}"]
        for each in ended
    ]  # fmt: skip
    return table(head, rows)


def _told(each: Ended) -> Mapping[str, Any]:
    return {**asdict(each.figures), **each.measured, "took_s": each.took_s}
