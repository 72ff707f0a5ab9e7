"""The app in process, with a shelf to publish on."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from storyshelf.db.engine import Database
from storyshelf.projects.project import Project
from storyshelf.wiring import Parts
from tests.app import asking, parts_on
from tests.publishing.shelf import FILES, Shelf


@pytest.fixture
def parts(db: Database, tmp_path: Path) -> Parts:
    return parts_on(db, tmp_path / "blobs")


@pytest.fixture
def shelf(parts: Parts) -> Shelf:
    return Shelf(parts)


@pytest.fixture
async def client(parts: Parts) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that nobody is signed in with."""
    async with asking(parts) as client:
        yield client


@pytest.fixture
async def open_shop(shelf: Shelf) -> Project:
    """A project whose Storybook is public, with one build."""
    project = await shelf.project("shop", public_storybook=True)
    await shelf.publish(project, FILES)
    return project


@pytest.fixture
async def shop(shelf: Shelf) -> Project:
    """A project for members, with one build."""
    project = await shelf.project("shop")
    await shelf.publish(project, FILES)
    return project
