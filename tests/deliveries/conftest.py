"""A project in an empty database, a forge, and a courier between them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from storyshelf.db.engine import Database
from storyshelf.storage.local import LocalBlobs
from tests.builds.hand import Hand, a_hand
from tests.deliveries.courier import Courier
from tests.deliveries.forge import FakeForge, running


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


@pytest.fixture
def courier(hand: Hand) -> Courier:
    return Courier(hand)


@pytest.fixture
def forge() -> FakeForge:
    return FakeForge()


@pytest.fixture
def forge_url(forge: FakeForge) -> Iterator[str]:
    with running(forge) as url:
        yield url
