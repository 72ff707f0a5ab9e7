"""Dismiss an alarm by hand: it has been seen to, and is to be heard when it comes again."""

from storyshelf.audit import store as audit
from storyshelf.db.engine import Database, Tx
from storyshelf.errors import ConflictError, NotFoundError
from storyshelf.operations import alarm_store
from storyshelf.operations.alarm_store import Alarm


class NoSuchAlarmError(NotFoundError):
    """No alarm of that name is up."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "There is no such alarm any more",
            where=f"alarm {name}",
            next_step="It has ended by itself, or somebody else dismissed it.",
        )


class AlarmCameAgainError(ConflictError):
    """An alarm that is not the one somebody has seen."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "The alarm came again since the page was loaded",
            where=f"alarm {name}",
            next_step="Look at it as it is now; then dismiss it.",
        )


async def dismiss_alarm(db: Database, name: str, seen: str, actor: str) -> None:
    """Forget the alarm as it was seen until it is raised again; `seen` is that of `Alarm`.

    Raises NoSuchAlarmError, AlarmCameAgainError.
    """
    async with db.transaction() as tx:
        alarm = await _require_up(tx, name)
        if alarm.seen != seen or not await alarm_store.lower_as_seen(tx, alarm):
            await _require_up(tx, name)  # somebody else may have been faster
            raise AlarmCameAgainError(name)
        detail = {"alarm": name, "times": alarm.count}
        await audit.record(tx, audit.Event(actor, "alarm.dismiss", detail=detail))


async def _require_up(tx: Tx, name: str) -> Alarm:
    for alarm in await alarm_store.alarms(tx):
        if alarm.name == name:
            return alarm
    raise NoSuchAlarmError(name)
