"""A project in an empty database, a hand that works on it, and a visitor of its pages."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storyshelf.db.engine import Database
from storyshelf.storage.local import LocalBlobs
from tests.app import asking, parts_on
from tests.builds.hand import Hand, a_hand
from tests.people import sign_in
from tests.ui.browsing import Browsing, browsing
from tests.ui.visitor import Visitor


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


@pytest.fixture
async def visitor(db: Database, tmp_path: Path) -> AsyncIterator[Visitor]:
    async with asking(parts_on(db, tmp_path / "blobs")) as client:
        await sign_in(db, client)
        yield Visitor(client)


@pytest.fixture
async def here(db: Database, tmp_path: Path) -> AsyncIterator[Browsing]:
    """The pages in a real browser."""
    async with browsing(db, tmp_path / "blobs") as found:
        yield found
