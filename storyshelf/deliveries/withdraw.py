"""Withdraw what a build that is deleted left open: nobody will decide it any more."""

from dataclasses import replace

from storyshelf.db.engine import Tx
from storyshelf.deliveries import store
from storyshelf.deliveries.message import Check
from storyshelf.deliveries.want import enqueue
from storyshelf.deliveries.wish import CommentWish, HookWish, StatusWish, Wish, from_json, to_json
from storyshelf.deliveries.wishes import STATUSES
from storyshelf.ids import BuildId, ProjectId

REASON = "the build was deleted"
SAID = f"Cancelled: {REASON}"


async def withdraw(tx: Tx, project_id: ProjectId, build_id: BuildId) -> None:
    """Have every check that still waits on the build be resolved; its row is locked, and goes next.

    After it no connection and no subject of the build can be locked in another order.
    """
    mutes = {each.id: each.mute for each in await store.hold(tx, [project_id])}
    open_ = []
    for said in await store.lock_wishes(tx, build_id):
        left = withdrawn(from_json(said.wish))
        if left is not None:
            open_.append(replace(said, wish=to_json(left), mute=mutes[said.connection_id]))
    for raised in await store.write_wishes(tx, open_):
        tx.close_with(enqueue, raised)


def withdrawn(wish: Wish) -> Wish | None:
    """Return how the subject stands without its build; None: as it did."""
    match wish:
        case StatusWish(check=Check.WAITING):
            return replace(wish, check=Check.CANCELLED, description=SAID)
        case CommentWish(check=Check.WAITING):
            return replace(wish, check=Check.CANCELLED, headline=SAID, storybook_path=None)
        case HookWish(build={"status": status}) if status == STATUSES["pending"]:
            told = {**wish.build, "status": STATUSES["cancelled"], "reason": REASON}
            return replace(wish, build=told, storybook_path=None)
    return None
