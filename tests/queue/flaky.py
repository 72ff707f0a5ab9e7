"""A database that fails around the real one: before a transaction, or after its commit."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from storyshelf.db.engine import Database, Tx


class FlakyDatabase(Database):
    """Fails so many times, then works; a commit can go through although its answer is lost."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.refusals = 0
        self.lost_answers = 0

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        if self.refusals:
            self.refusals -= 1
            raise ConnectionRefusedError("the database is away")
        async with super().transaction() as tx:
            yield tx
        if self.lost_answers:
            self.lost_answers -= 1
            raise ConnectionResetError("the answer was lost")
