"""Runs a consumer from its boot to its end, which signals and its row ask for.

What is begun and how it ends is in `life`. Here: which signal asks for what, and that nothing can
hold the process past its grace. A stop that cannot be had in order (a database that does not
answer, a browser that does not die) is had all the same, and told by the exit code.
"""

import asyncio
import os
import signal
import sys
from types import FrameType

import structlog

from consumer.conduct import Conduct
from consumer.life import LETTING_GO, Life
from consumer.shutdown_gate import LAST_STEP_S, Ending, ShutdownGate
from consumer.staging import Belongings, live
from consumer.wiring import Frame
from storyshelf.queue.store import ConsumerState

EXIT_LEFT_BEHIND = 4  # something could not be let go of: jobs wait for the end of their leases
LAST_RESORT_S = 3  # beyond the grace: then the kernel ends what no code of ours could

SIGNALS = {
    signal.SIGTERM: ConsumerState.STOPPING,
    signal.SIGINT: ConsumerState.STOPPING,
    signal.SIGTSTP: ConsumerState.QUIET,
    signal.SIGCONT: ConsumerState.RUNNING,
}

log = structlog.get_logger(__name__)


async def run_consumer(frame: Frame) -> int:
    """Run until the stop is asked for, and return the exit code; raises what broke the boot."""
    gate = ShutdownGate(frame.clock, frame.grace, on_asked=lambda: _set_last_resort(frame))
    conduct = Conduct()
    conduct.obeyed_by(lambda state: gate.ask() if state is ConsumerState.STOPPING else None)
    _listen_to_signals(conduct, frame)
    async with asyncio.TaskGroup() as group:
        life = Life(frame, gate, conduct, group)
        try:
            endings = await live(life.boot, Belongings(LETTING_GO), gate, frame.clock)
        finally:
            await _leave_if_anything_hangs(gate)
    is_whole = all(ending is Ending.DONE for ending in endings)
    log.info("consumer.stopped", in_order=is_whole)
    return 0 if is_whole else EXIT_LEFT_BEHIND


def _listen_to_signals(conduct: Conduct, frame: Frame) -> None:
    """Hear of a stop from the first moment on: a boot, too, has children and folders to clear."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # who starts us may ignore it
    loop = asyncio.get_running_loop()

    def hear(number: int, _frame: FrameType | None) -> None:
        wish = SIGNALS[signal.Signals(number)]
        if wish is ConsumerState.STOPPING:
            _set_last_resort(frame)  # here, since the loop itself may hang
        if not loop.is_closed():
            loop.call_soon_threadsafe(conduct.ask, wish)

    for number in SIGNALS:
        signal.signal(number, hear)


def _set_last_resort(frame: Frame) -> None:
    """Have the kernel end the process, whatever it hangs in; asking again moves nothing."""
    if signal.getitimer(signal.ITIMER_REAL)[0] == 0:
        signal.setitimer(signal.ITIMER_REAL, frame.settings.stop_grace_s + LAST_RESORT_S)


async def _leave_if_anything_hangs(gate: ShutdownGate) -> None:
    """End the process here and now if its tasks do not end: everything was let go of already."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if not others:
        return
    _, hanging = await asyncio.wait(others, timeout=max(gate.remaining_s(), LAST_STEP_S))
    if hanging:
        names = sorted(getattr(task.get_coro(), "__qualname__", "?") for task in hanging)
        log.error("consumer.left_behind", tasks=names, error=repr(sys.exc_info()[1]))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(EXIT_LEFT_BEHIND)
