"""`storyshelf up`: everything on this machine, supervised, until a signal ends it."""

import asyncio
import json as json_module
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from storyshelf.cli.everything import Order, everything
from storyshelf.cli.first_admin import LIVES_MINUTES, first_link
from storyshelf.cli.session import JsonOption
from storyshelf.cli.up_note import Note, alone, is_alive, read_note
from storyshelf.clock import SystemClock
from storyshelf.errors import StoryshelfError
from storyshelf.settings import Settings, read_settings

LOOK_S = 0.2
WAIT_FOR_OTHER_S = 120.0  # for one that is starting, or for what is left of one that was killed
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class LockedError(StoryshelfError):
    """Somebody holds the folder and does not come to answer, nor to an end."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__(
            f"Another `storyshelf up` has been starting or ending for {WAIT_FOR_OTHER_S:g} s",
            where=str(data_dir),
            next_step=f"Look into {data_dir / 'logs'}.",
        )


def up(
    *,
    consumers: Annotated[
        int | None, typer.Option(min=0, max=64, help="Instead of STORYSHELF_CONSUMERS.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Instead of STORYSHELF_PORT; 0: any free one."),
    ] = None,
    project: Annotated[
        str | None, typer.Option(help="The project to save a token for; made if need be.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Start database, server and consumers, and keep them running until Ctrl-C.

    The server's address and a project's token are saved for `storyshelf DIR`. Where one runs
    already on the same data folder, its address is printed instead.
    """
    settings = read_settings(consumers=consumers, port=port)
    with suppress(asyncio.CancelledError):
        try:
            asyncio.run(_up(settings, project, json=json))
        except BaseExceptionGroup as group:
            raise _first_leaf(group) from group


async def _up(settings: Settings, project: str | None, *, json: bool) -> None:
    _let_signals_cancel()
    clock = SystemClock()
    deadline_s = clock.monotonic() + WAIT_FOR_OTHER_S
    while clock.monotonic() < deadline_s:
        with alone(settings.data_dir) as lock:
            if lock is not None:
                await _run(Order(settings, project, lock, clock, _say), json=json)
                return
        note = read_note(settings.data_dir)
        if note is not None and note.url is not None and is_alive(note):
            await _show(settings, note, "storyshelf is up already", json=json)
            return
        await clock.sleep(LOOK_S)
    raise LockedError(settings.data_dir)


async def _run(order: Order, *, json: bool) -> None:
    async with everything(order) as note:
        await _show(order.settings, note, "storyshelf is up", json=json)
        await asyncio.get_running_loop().create_future()  # until a signal cancels


def _let_signals_cancel() -> None:
    """Have the first signal cancel this task, and those after it change nothing."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "asyncio.run made one"

    def stop() -> None:
        for number in STOPS:
            loop.add_signal_handler(number, lambda: None)
        _say("Stopping consumers, server and database.")
        task.cancel()

    for number in STOPS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup` wants to be left alone
            loop.add_signal_handler(number, stop)


async def _show(settings: Settings, note: Note, what: str, *, json: bool) -> None:
    link = await first_link(settings, note.url or "")
    if json:
        document = {"url": note.url, "project": note.project, "pid": note.pid}
        text = json_module.dumps(document | {"data_dir": str(settings.data_dir), "sign_in": link})
    else:
        text = "\n".join(_block(settings, note, what, link))
    print(text, flush=True)


def _block(settings: Settings, note: Note, what: str, link: str | None) -> list[str]:
    chosen = os.environ.get("STORYSHELF_DATA_DIR")
    same_folder = f"STORYSHELF_DATA_DIR={settings.data_dir} " if chosen else ""
    stop = "Ctrl-C" if note.pid == os.getpid() else f"Ctrl-C there, or kill {note.pid}"
    return [
        "",
        f"{what}: {note.url}",
        "",
        *(_sign_in_lines(link) if link else []),
        f"  project  {note.project}  {note.url}/projects/{note.project}",
        f"  upload   {same_folder}storyshelf storybook-static",
        "           in another terminal; address and token are saved for it",
        f"  logs     {settings.data_dir / 'logs'}",
        f"  stop     {stop}",
        "",
    ]


def _sign_in_lines(link: str) -> list[str]:
    return [
        f"  sign in  {link}",
        f"           works once, within {LIVES_MINUTES} minutes; set a password there",
    ]


def _say(line: str) -> None:
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:  # nobody reads it any more: no reason not to stop, nor to end in failure
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stderr.fileno())


def _first_leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
