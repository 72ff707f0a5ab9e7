"""What `up` saves for the next upload, on a real database."""

import json
import stat
from pathlib import Path

import pytest

from storyshelf.auth import store as auth
from storyshelf.auth.tokens import parse_bearer
from storyshelf.cli.first_project import Wanted, ensure_saved
from storyshelf.db.engine import Database
from storyshelf.projects import store
from storyshelf.projects.project import BadSlugError

URL = "http://127.0.0.1:8765"


def wanted(folder: Path, slug: str | None = None, url: str = URL) -> Wanted:
    return Wanted(folder, url, slug)


def saved(folder: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / "client.json").read_text())
    return found


async def slugs(db: Database) -> list[str]:
    async with db.transaction() as tx:
        return [one.slug for one in await store.page(tx, after_slug="", limit=100)]


async def speaks_for(db: Database, token: str) -> str:
    async with db.transaction() as tx:
        return (await auth.caller_of(tx, parse_bearer(f"Bearer {token}"))).project_slug


async def test_the_first_start_makes_a_project_and_a_token_for_its_owner_only(
    db: Database, tmp_path: Path
) -> None:
    assert await ensure_saved(db, wanted(tmp_path)) == "storybook"
    assert await slugs(db) == ["storybook"]
    assert await speaks_for(db, saved(tmp_path)["token"]) == "storybook"
    assert stat.S_IMODE((tmp_path / "client.json").stat().st_mode) == 0o600


async def test_later_starts_keep_the_token_and_renew_the_address(
    db: Database, tmp_path: Path
) -> None:
    await ensure_saved(db, wanted(tmp_path))
    token = saved(tmp_path)["token"]
    await ensure_saved(db, wanted(tmp_path, url="http://127.0.0.1:9000"))
    assert saved(tmp_path) == {
        "url": "http://127.0.0.1:9000",
        "project": "storybook",
        "token": token,
    }


async def test_another_project_gets_its_own_token_and_is_then_kept(
    db: Database, tmp_path: Path
) -> None:
    await ensure_saved(db, wanted(tmp_path))
    assert await ensure_saved(db, wanted(tmp_path, "design")) == "design"
    assert await speaks_for(db, saved(tmp_path)["token"]) == "design"
    assert await ensure_saved(db, wanted(tmp_path)) == "design"
    assert await slugs(db) == ["design", "storybook"]


@pytest.mark.parametrize(
    "left", ["{", '{"url": "http://x", "token": "ssp_of_another_database"}', "[]"]
)
async def test_a_file_that_is_of_no_use_is_written_anew(
    db: Database, tmp_path: Path, left: str
) -> None:
    (tmp_path / "client.json").write_text(left)
    await ensure_saved(db, wanted(tmp_path))
    assert await speaks_for(db, saved(tmp_path)["token"]) == "storybook"


async def test_a_name_that_cannot_be_is_refused_and_nothing_saved(
    db: Database, tmp_path: Path
) -> None:
    with pytest.raises(BadSlugError):
        await ensure_saved(db, wanted(tmp_path, "Not A Slug"))
    assert not (tmp_path / "client.json").exists()
