"""A project in an empty database, and a hand that works on it."""

from pathlib import Path

import pytest

from storyshelf.db.engine import Database
from storyshelf.storage.local import LocalBlobs
from tests.builds.hand import Hand, a_hand


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))
