"""Whatever fails, nothing is lost, nothing is done twice, and no stranger settles a job."""

import pytest

from bench.chaos.ledger import Figures
from bench.chaos.suite import SCENARIOS, run_scenario
from bench.chaos.world import Grounds
from bench.report import Length

pytestmark = [pytest.mark.flow, pytest.mark.timeout(200)]


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_fault_costs_time_only(name: str, made_from: Grounds) -> None:
    ended = await run_scenario(name, Length.QUICK, made_from)
    assert ended.figures == Figures()
    assert ended.unmet == ()
