"""The alarm about a blob storage that has no room: it says where the disk is."""

from pathlib import Path

from storyshelf.db.engine import Database
from storyshelf.operations import alarm_store

ALARM = "storage_full"


async def alarm_full(db: Database, host: str, folder: Path) -> None:
    """Count once more that a picture waits for room in that folder."""
    async with db.transaction() as tx:
        await alarm_store.raise_alarm(tx, ALARM, {"host": host, "folder": str(folder)})


async def lower_full(db: Database) -> None:
    """Say that there is room again; who still has none raises it with its next try."""
    async with db.transaction() as tx:
        await alarm_store.lower_alarm(tx, ALARM)
