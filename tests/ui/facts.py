"""What tests of pages look up: what was audited, and what stands in a form."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import text

from storyshelf.db.engine import Database
from tests.ui.visitor import Page


async def audited(db: Database, action: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return who did it with which details, the first first."""
    async with db.transaction() as tx:
        rows = await tx.execute(
            text("SELECT actor, detail FROM audit_events WHERE action = :action ORDER BY id"),
            {"action": action},
        )
        return [(row.actor, row.detail) for row in rows]


def strange_scripts(page: Page) -> list[str]:
    """Return the scripts of a page that are not files of ours."""
    sources = [each.get("src") or "" for each in page.all("script")]
    return [source for source in sources if not source.startswith("/static/")]


def typed_into(page: Page) -> dict[str, str]:
    """Return the values of a page's inputs, by name."""
    inputs = page.all("input")
    return {each["name"] or "": each.get("value") or "" for each in inputs if each.get("name")}


def dismissal(page: Page, alarm: str) -> dict[str, str]:
    """What the button of the alarm sends."""
    fields = [(each.get("name"), each.get("value") or "") for each in page.all("input")]
    names = [value for name, value in fields if name == "name"]
    seen = [value for name, value in fields if name == "seen"]
    return {"name": alarm, "seen": seen[names.index(alarm)]}
