"""Brings a page that moves to rest once more, as long as that is worth it."""

from consumer.capture import readiness
from consumer.capture.deadline import Budget
from consumer.capture.readiness import ANSWER_S, EVIDENCE_S
from consumer.capture.sitting import Sitting

AGAIN_S = 5.0  # for all of it: what moves after that is not going to end
REST_AGAIN_S = 0.5  # a story that changes all the time has shown that before


class Patience:
    """What is left of it for one story; it is counted from the first time that it is needed."""

    def __init__(self, sitting: Sitting) -> None:
        self._sitting = sitting
        self._budget: Budget | None = None

    async def settle_again(self, quiet_ms: int) -> bool:
        """Wait until the network was quiet for that long, and for rest; False: no time is left."""
        sitting = self._sitting
        if self._budget is None:
            again_s = sitting.budget.at_most_keeping(AGAIN_S, EVIDENCE_S)
            self._budget = Budget.of_ms(sitting.budget.clock, again_s * 1_000)
        left_s = self._budget.left_s()
        if left_s <= 0:
            return False
        watch = sitting.page.watch
        quiet = watch.unasked(quiet_ms / 1_000, left_s, sitting.budget.clock)
        await watch.call(quiet, sitting.budget.at_most(left_s + ANSWER_S), "waiting for quiet")
        await readiness.rest(sitting, min(REST_AGAIN_S, left_s))
        await readiness.stop(sitting)
        return True
