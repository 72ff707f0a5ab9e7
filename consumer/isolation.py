"""How far a child is kept from us and from other children: found out by trying, then furnished.

Strong form: each browser runs under a uid of its own, whatever the folders above our code allow.
Weak form: browsers run as this user; the parent closes itself to them, and the supervisor never
lets children of two projects live at the same time.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from pathlib import Path

import structlog

from consumer import privileges, processes
from consumer.browsers import Browser, Sandbox, UnusableBrowserError
from consumer.cell import DEFAULT_PATH, Cell, child_environment, furnish
from consumer.commands import Ran, run
from consumer.privileges import Dropping, Privileges
from consumer.slot_uids import SlotUids

KILL_ROUNDS = 5  # a process that forks faster than it is found is found again
KILL_WAIT_S = 5.0
PROBE_S = 30.0  # a cold browser on a busy machine; usual is half a second
SHARED_FOLDERS = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))  # noqa: S108  # only swept
IMPORT_PROBE = """
import os, consumer.child
from importlib.util import find_spec
driver = os.path.join(os.path.dirname(find_spec("playwright").origin), "driver", "node")
raise SystemExit(0 if os.access(driver, os.X_OK) else 1)
"""
ONE_PAGE = ("--headless", "--disable-gpu", "--dump-dom", "data:text/html,<p>shown</p>")

log = structlog.get_logger()
_serial = count(1)


class Form(StrEnum):
    """How a browser is kept from what is not its project's."""

    STRONG = "strong"
    WEAK = "weak"


class ChildUser(StrEnum):
    """Whose uid the Python child has."""

    SLOT = "slot"
    PARENT = "parent"


@dataclass(frozen=True, slots=True)
class Ground:
    """What an isolation is built on."""

    browser: Browser
    scratch: Path  # see `consumer.scratch`: other uids can enter it
    uids: SlotUids
    environ: Mapping[str, str]
    python: Path = Path(sys.executable)


@dataclass(frozen=True, slots=True)
class Isolation:
    """What was found to work here; furnishes the cell of each child."""

    ground: Ground
    form: Form
    child_user: ChildUser
    sandbox: Sandbox
    reasons: tuple[str, ...] = ()  # why it is not stronger

    def describe(self) -> str:
        """Say in a sentence what stands between an uploaded Storybook and the rest."""
        why = f" ({'; '.join(self.reasons)})" if self.reasons else ""
        return f"{self.form} form: {self._whose()}; Chromium's sandbox is {self.sandbox}{why}"

    def child_argv(self, cell: Cell, program: Sequence[str]) -> list[str]:
        """Return the command of a child; it imports nothing from a folder that others can write."""
        python = [str(self.ground.python), "-P", "-s"]
        return [*privileges.dying_with_parent(cell.child), *python, *program]

    def child_environment(self, cell: Cell) -> dict[str, str]:
        """Return all of the child's environment."""
        return child_environment(cell, self.ground.environ)

    @asynccontextmanager
    async def cell(self) -> AsyncIterator[Cell]:
        """Furnish a cell; at the end everything in it is killed and nothing of it is left."""
        with ExitStack() as leased:
            uid = leased.enter_context(self.ground.uids.lease()) if self._is_strong() else None
            cell = self._plan(uid)
            furnish(cell, self.ground.browser.path, self.ground.environ)
            try:
                yield cell
            finally:
                await clear(cell)

    def _is_strong(self) -> bool:
        return self.form is Form.STRONG

    def _whose(self) -> str:
        if self.form is Form.WEAK:
            return "browsers run as this user, and never for two projects at the same time"
        first = self.ground.uids.first
        whose = "that uid too" if self.child_user is ChildUser.SLOT else "ours, without credentials"
        return f"each browser runs under a uid of its own ({first} and up), its child under {whose}"

    def _plan(self, uid: int | None) -> Cell:
        folder = self.ground.scratch / f"cell-{next(_serial)}"
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            return Cell(folder, Dropping(None, ()), Dropping(None, ()))
        own = privileges.own_privileges()
        stay = privileges.keep_uid(setpriv, own)
        if uid is None:
            return Cell(folder, stay, Dropping(None, ()))  # the browser inherits it from its child
        become = privileges.drop_to(uid, setpriv)
        if self.child_user is ChildUser.SLOT:
            return Cell(folder, become, Dropping(uid, ()))
        helper = privileges.keep_uid(setpriv, own, keep=privileges.FOR_THE_BROWSER)
        return Cell(folder, helper, become)


async def choose_isolation(ground: Ground) -> Isolation:
    """Try what works here, strongest first; raise UnusableBrowserError if no page can be shown."""
    reason = await why_not_strong(privileges.own_privileges(), ground.uids)
    if reason is not None:
        privileges.become_unreadable()
        return await _with_sandbox(
            Isolation(ground, Form.WEAK, ChildUser.PARENT, Sandbox.ON, (reason,))
        )
    strong = Isolation(ground, Form.STRONG, ChildUser.SLOT, Sandbox.ON)
    return await _with_sandbox(await _with_child_user(strong))


async def why_not_strong(own: Privileges, uids: SlotUids) -> str | None:
    """Return what keeps us from giving a browser its own uid, None if it works."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return "setpriv of util-linux is missing"
    if own.missing():
        return f"this user lacks the capabilities {', '.join(own.missing())}"
    with uids.lease() as uid:
        tried = await run(
            [*privileges.drop_to(uid, setpriv).argv, "true"], {"PATH": DEFAULT_PATH}, PROBE_S
        )
    return None if tried.returncode == 0 else f"uid {uid} cannot be taken: {tried.last_line}"


async def clear(cell: Cell) -> None:
    """Kill what runs in the cell and remove what it left, here and in folders that all share."""
    survivors = await _kill_inmates(cell)
    if survivors:
        log.error("cell.survivors", folder=str(cell.folder), pids=sorted(survivors))
    await asyncio.to_thread(_remove_traces, cell)


async def _with_child_user(strong: Isolation) -> Isolation:
    """Let the child keep our uid where the slot's uid cannot read our interpreter and code."""
    async with strong.cell() as cell:
        command = strong.child_argv(cell, ["-c", IMPORT_PROBE])
        tried = await run(command, strong.child_environment(cell), PROBE_S)
    if tried.returncode == 0:
        return strong
    reason = f"another user cannot run our Python here: {tried.last_line}"
    return replace(strong, child_user=ChildUser.PARENT, reasons=(reason,))


async def _with_sandbox(isolation: Isolation) -> Isolation:
    sandboxed = await _show_one_page(isolation)
    if _has_shown(sandboxed):
        return isolation
    bare = await _show_one_page(isolation, "--no-sandbox")
    if not _has_shown(bare):
        raise UnusableBrowserError(isolation.ground.browser.path, bare.last_line)
    reason = f"the sandbox does not start: {await _sandbox_obstacle(isolation, sandboxed)}"
    return replace(isolation, sandbox=Sandbox.OFF, reasons=(*isolation.reasons, reason))


async def _show_one_page(isolation: Isolation, *switches: str) -> Ran:
    async with isolation.cell() as cell:
        command = [*cell.child.argv, str(cell.browser_script), *switches, *ONE_PAGE]
        return await run(command, isolation.child_environment(cell), PROBE_S)


def _has_shown(ran: Ran) -> bool:
    return ran.returncode == 0 and "<p>shown</p>" in ran.output


async def _sandbox_obstacle(isolation: Isolation, sandboxed: Ran) -> str:
    """Name the usual obstacle; else give Chromium's own last word."""
    async with isolation.cell() as cell:
        command = [*cell.child.argv, *cell.browser.argv, "unshare", "--user", "true"]
        unshared = await run(command, isolation.child_environment(cell), PROBE_S)
    if unshared.returncode != 0:
        return "user namespaces are not allowed here (sysctl user.max_user_namespaces, AppArmor)"
    if os.geteuid() == 0 and isolation.form is Form.WEAK:
        return "Chromium refuses it to root"
    return sandboxed.last_line


async def _kill_inmates(cell: Cell) -> frozenset[int]:
    """Kill all that runs as the cell's uid or calls it home; return who would not die."""
    survivors: frozenset[int] = frozenset()
    for _ in range(KILL_ROUNDS):
        await _kill_uid(cell)
        inmates = await asyncio.to_thread(_inmates, cell)
        if not inmates:
            return frozenset()
        processes.kill_all(inmates)
        survivors = await asyncio.to_thread(processes.wait_gone, inmates, KILL_WAIT_S)
    return survivors


async def _kill_uid(cell: Cell) -> None:
    """Kill all of the cell's uid by one call of the kernel's, made as that uid.

    A process that forks and ends faster than /proc is read gets away from every search.
    """
    if become := cell.becoming:
        await run([*become, "sh", "-c", "kill -s KILL -- -1"], {"PATH": DEFAULT_PATH}, PROBE_S)


def _inmates(cell: Cell) -> frozenset[int]:
    uid = cell.browser.uid
    as_uid = processes.under_uid(uid) if uid is not None else frozenset()
    return as_uid | processes.at_home(cell.home) | processes.at_home(cell.child_home)


def _remove_traces(cell: Cell) -> None:
    shutil.rmtree(cell.folder, ignore_errors=True)
    uid = cell.browser.uid
    if uid is None:
        return
    for folder in SHARED_FOLDERS:
        for path in folder.iterdir() if folder.is_dir() else ():
            _remove_if_of(uid, path)


def _remove_if_of(uid: int, path: Path) -> None:
    try:
        if path.lstat().st_uid != uid:
            return
        path.unlink() if path.is_symlink() or not path.is_dir() else shutil.rmtree(path)
    except OSError as error:  # it has gone by itself, or will be found the next time
        log.info("cell.trace_left", path=str(path), error=str(error))
