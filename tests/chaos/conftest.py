"""Made once for all scenarios: a cluster to copy, and a process to fork consumers off."""

from collections.abc import Iterator

import pytest

from bench.chaos.world import Grounds, grounds


@pytest.fixture(scope="session")
def made_from() -> Iterator[Grounds]:
    with grounds() as made:
        yield made
