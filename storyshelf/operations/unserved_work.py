"""What is done about work that no consumer takes: alarms that end with it, builds planned again."""

from dataclasses import dataclass

from storyshelf.builds.plan_again import plan_elsewhere
from storyshelf.db.engine import Database, Tx
from storyshelf.operations import alarm_store
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.store import Unserved
from storyshelf.queue.unserved import Seen

PREFIX = "unserved:"  # then what, so that each has an alarm of its own that ends with it


@dataclass(frozen=True, slots=True)
class UnservedWork:
    """Hears in each pass of the watch what is an alarm by then."""

    db: Database
    kinds: JobKinds

    async def tell(self, seen: Seen) -> None:
        """Raise what is new, lower what is served again, and move builds to where they can go."""
        async with self.db.transaction() as tx:
            await _alarm(tx, seen)
        for one in seen.alarms:
            if not one.kind:
                await plan_elsewhere(self.db, self.kinds, one.lane)


async def _alarm(tx: Tx, seen: Seen) -> None:
    """Keep an alarm of each; lowered is what is served, not what another process knows for longer.

    In order of the names, since their rows stay locked.
    """
    raised = {each.name for each in await alarm_store.alarms(tx) if each.name.startswith(PREFIX)}
    for name in sorted(raised - {alarm_name(one) for one in seen.unserved}):
        await alarm_store.lower_alarm(tx, name)
    wanted = {alarm_name(one): one for one in seen.alarms}
    for name in sorted(wanted.keys() - raised):
        detail = {"lane": wanted[name].lane, "kind": wanted[name].kind}
        await alarm_store.raise_alarm(tx, name, detail)


def alarm_name(one: Unserved) -> str:
    """Return the name of the alarm about work that nobody serves."""
    return f"{PREFIX}{one.lane}/{one.kind}" if one.kind else f"{PREFIX}{one.lane}"
