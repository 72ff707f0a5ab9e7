"""Forks consumers off one warm process: a start takes milliseconds, so that kills can be many.

It reads a line of orders from stdin and answers with the pid. When stdin ends, however its parent
came to its end, it ends too, and the kernel ends with it what it has forked.
"""

import ctypes
import json
import os
import signal
import sys
import traceback
from typing import NoReturn

from bench.chaos.consumer import Orders, live

PR_SET_PDEATHSIG = 1
NETWORKS = "/run/netns"


def main() -> None:
    """Fork until stdin ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whoever dies is gone at once
    print("ready", flush=True)
    for line in sys.stdin:
        orders = Orders(**json.loads(line))
        pid = os.fork()
        if pid == 0:
            _become(orders)
        print(pid, flush=True)


def _become(orders: Orders) -> NoReturn:
    """Turn this process into the consumer; never returns."""
    system = ctypes.CDLL(None, use_errno=True)
    system.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    written = os.open(orders.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number, source in ((0, nothing), (1, nothing), (2, written)):
        os.dup2(source, number)
    try:
        if orders.network:
            _move(system, orders.network)
        live(orders)
    except BaseException:  # noqa: BLE001  # whatever it is, the parent's code must not go on here
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _move(system: ctypes.CDLL, network: str) -> None:
    """Move this process onto that network; it has no connection yet."""
    place = os.open(f"{NETWORKS}/{network}", os.O_RDONLY)
    if system.setns(place, 0):
        raise OSError(ctypes.get_errno(), f"cannot move to {network}")
    os.close(place)


if __name__ == "__main__":
    main()
