"""The shop's project with a token, and a stranger's."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from storyshelf.auth import store as tokens
from storyshelf.auth.tokens import mint
from storyshelf.db.engine import Database
from storyshelf.projects import store as projects
from storyshelf.storage.local import LocalBlobs
from tests.api.client import Robo
from tests.app import asking, parts_on
from tests.builds.hand import Hand, a_hand


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


@pytest.fixture
async def http(db: Database, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with asking(parts_on(db, tmp_path / "blobs")) as client:
        yield client


@pytest.fixture
async def robo(hand: Hand, http: httpx.AsyncClient) -> Robo:
    token = mint(b"r" * 32)
    async with hand.db.transaction() as tx:
        await tokens.add_token(tx, hand.project.id, tokens.TokenUse("ci"), token)
    return Robo(http, token.text)


@pytest.fixture
async def stranger(hand: Hand, http: httpx.AsyncClient) -> Robo:
    """Cleo's project, with a token that is as good as the shop's, there."""
    token = mint(b"s" * 32)
    async with hand.db.transaction() as tx:
        other = await projects.add(tx, "cleos", "Cleo's", "main")
        await tokens.add_token(tx, other.id, tokens.TokenUse("ci"), token)
    return Robo(http, token.text, "cleos")
