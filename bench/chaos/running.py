"""`python -m bench chaos`: all scenarios, one after the other."""

import asyncio
import json
from typing import Any

from bench.chaos.suite import SCENARIOS, Ended, report, run_scenario, shown
from bench.chaos.world import Grounds, grounds
from bench.machine import machine
from bench.report import Length, Report, rounded
from storyshelf import logs


def run(length: Length) -> Report:
    """Run every scenario, print the table, and return the figures."""
    logs.configure("error", "text")  # what fails here is meant to
    facts: dict[str, Any] = machine()
    print("chaos on " + ", ".join(f"{name} {value}" for name, value in facts.items()))
    with grounds() as made_from:
        ended = [_run(name, length, made_from) for name in SCENARIOS]
    print(shown(ended))
    for each in ended:
        for words in each.unmet:
            print(f"{each.name}: expected that {words}")
    return report(ended, {**facts, "load_at_end": machine()["load"]})


def _run(name: str, length: Length, made_from: Grounds) -> Ended:
    print(f"{name} …", flush=True)
    ended = asyncio.run(run_scenario(name, length, made_from))
    how = "clean" if ended.is_good else "NOT CLEAN"
    print(f"  {how} after {ended.took_s:.1f} s, {json.dumps(rounded(ended.measured))}", flush=True)
    return ended
