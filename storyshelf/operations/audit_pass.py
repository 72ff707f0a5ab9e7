"""Look every minute for builds that nothing moves on, mend them, and raise the alarm.

In a sound system it finds nothing: it is an alarm, not a mechanism. Its counter has to stay 0.
"""

from dataclasses import dataclass, field

import structlog

from storyshelf.builds import watch_store
from storyshelf.builds.build import BuildGoneError
from storyshelf.builds.mend_build import Mended, mend
from storyshelf.builds.watch_store import Turn
from storyshelf.db.engine import Database
from storyshelf.ids import BuildId
from storyshelf.operations import alarm_store

ALARM = "audit_repairs"
AT_ONCE = 50  # builds of one statement, which counts their open shards
PAGES = 20  # of one pass: with more builds than these under way, it takes more minutes than one

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Audit:
    """One pass a call, which goes on where the last one stopped."""

    db: Database
    at_once: int = AT_ONCE
    pages: int = PAGES
    _after: Turn | None = field(default=None, init=False)

    async def run_once(self) -> int:
        """Mend what is broken of the next unended builds; return how many that were."""
        repairs = 0
        for _ in range(self.pages):
            async with self.db.transaction() as tx:
                looked = await watch_store.look_for_damage(tx, self._after, limit=self.at_once)
            for build_id in looked.damaged:
                repairs += await _repair_guarded(self.db, build_id)
            self._after = looked.last
            if looked.last is None:
                break
        return repairs


async def _repair_guarded(db: Database, build_id: BuildId) -> bool:
    try:
        return await _repair(db, build_id)
    except Exception:  # one that cannot be mended keeps no other from its turn
        log.exception("build.unmendable", build=build_id)
        return False


async def _repair(db: Database, build_id: BuildId) -> bool:
    try:
        async with db.transaction() as tx:
            mended = await mend(tx, build_id)
            if mended is not None:
                await alarm_store.raise_alarm(tx, ALARM, _detail(mended))
    except BuildGoneError:
        return False
    if mended is not None:
        log.error("build.mended", build=build_id, problem=mended.problem)
    return mended is not None


def _detail(mended: Mended) -> dict[str, object]:
    return {
        "build_id": mended.build.id,
        "project_id": mended.build.project_id,
        "build": mended.build.number,
        "problem": mended.problem,
    }
