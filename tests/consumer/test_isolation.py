"""How far a browser is kept from us: found out by trying, with real browsers and real uids."""

import asyncio
import os
import select
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from consumer.browsers import Sandbox, UnusableBrowserError, find_browser, system_search
from consumer.cell import Cell
from consumer.commands import run
from consumer.isolation import (
    ChildUser,
    Form,
    Ground,
    Isolation,
    choose_isolation,
    why_not_strong,
)
from consumer.privileges import Privileges, own_privileges
from consumer.processes import under_uid, wait_gone
from consumer.scratch import open_scratch
from consumer.slot_uids import SlotUids, locks_folder
from tests.queue.builders import until

SHOW = ("--headless", "--disable-gpu", "--dump-dom", "data:text/html,<p>shown</p>")
GONE_WITHIN_S = 3.0
STAYS_UP = ("--headless", "--disable-gpu", "--remote-debugging-port=0", "about:blank")


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    tmp_path.chmod(0o700)
    with open_scratch(tmp_path) as scratch:
        browser = find_browser(None, system_search(os.environ))
        yield Ground(browser, scratch, SlotUids(locks_folder()), os.environ)


@pytest.fixture
async def chosen(ground: Ground) -> Isolation:
    return await choose_isolation(ground)


def own_uid(cell: Cell) -> int:
    return os.getuid() if cell.browser.uid is None else cell.browser.uid


@pytest.mark.browser
async def test_the_form_is_strong_exactly_where_uids_can_be_changed(chosen: Isolation) -> None:
    missing = own_privileges().missing()
    assert (chosen.form is Form.WEAK) == bool(missing)
    assert str(chosen.form) in chosen.describe()
    assert all(name in chosen.describe() for name in missing)


@pytest.mark.browser
async def test_a_cells_browser_shows_a_page_with_its_sandbox_on(chosen: Isolation) -> None:
    assert chosen.sandbox is Sandbox.ON
    async with chosen.cell() as cell:
        command = [*cell.child.argv, str(cell.browser_script), *SHOW]
        shown = await run(command, chosen.child_environment(cell), 30)
    assert "<p>shown</p>" in shown.output


@pytest.mark.browser
async def test_a_browser_that_still_runs_is_gone_with_its_cell(chosen: Isolation) -> None:
    async with chosen.cell() as cell:
        browser = await a_running_browser(chosen, cell)
        assert browser.pid in under_uid(own_uid(cell))
    assert wait_gone([browser.pid], 0) == frozenset()
    assert not cell.folder.exists()
    assert cell.browser.uid is None or under_uid(cell.browser.uid) == frozenset()
    await browser.communicate()  # to the end of what it said: else its pipe stays open


@pytest.fixture
def wanted() -> Iterator[Path]:
    """A file that every uid can see, for as long as a test lasts: no chain outlives its test."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        (file := Path(folder) / "wanted").touch()
        yield file


# Each link of the chain starts the next and ends; while one of them lives, the pipe is open.
CHAIN = 'if [ -e "$1" ]; then sh -c "$0" "$0" "$1" & fi'


@pytest.mark.browser
async def test_what_runs_away_from_every_search_is_gone_with_its_cell(
    chosen: Isolation, wanted: Path
) -> None:
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb") as pipe:
        async with chosen.cell() as cell:
            await asyncio.create_subprocess_exec(
                *[*cell.child.argv, *cell.browser.argv, "sh", "-c", CHAIN, CHAIN, str(wanted)],
                pass_fds=[write_end],
                start_new_session=True,
            )
            os.close(write_end)
            if chosen.form is Form.STRONG:  # before that it is not the cell's yet, but ours
                await until(lambda: bool(under_uid(own_uid(cell))))
        is_gone = select.select([pipe], [], [], GONE_WITHIN_S)[0] == [pipe]
    assert is_gone or chosen.form is Form.WEAK  # there it has our uid, and nothing can tell it


async def a_running_browser(isolation: Isolation, cell: Cell) -> asyncio.subprocess.Process:
    browser = await asyncio.create_subprocess_exec(
        *[*cell.child.argv, str(cell.browser_script), *STAYS_UP],
        env=isolation.child_environment(cell),
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert browser.stderr is not None
    while b"DevTools listening" not in await browser.stderr.readline():
        assert not browser.stderr.at_eof()
    return browser


EVERYTHING = {"browser", "bundle/new", "child/new", "home/new", "new"}
WRITABLE_BY_THE_BROWSER = {
    (Form.STRONG, ChildUser.PARENT): {"home/new"},
    (Form.STRONG, ChildUser.SLOT): {"home/new", "child/new"},
    (Form.WEAK, ChildUser.PARENT): EVERYTHING,
}


@pytest.mark.browser
async def test_in_the_strong_form_a_browser_writes_homes_of_its_uid_and_nothing_else(
    chosen: Isolation,
) -> None:
    places = sorted(EVERYTHING)
    async with chosen.cell() as cell:
        script = f"cd {cell.folder}; for each in $*; do (echo x >$each) && echo $each; done; true"
        command = [*cell.child.argv, *cell.browser.argv, "sh", "-c", script, "sh", *places]
        tried = await run(command, chosen.child_environment(cell), 30)
    assert set(tried.output.split()) == WRITABLE_BY_THE_BROWSER[chosen.form, chosen.child_user]


@pytest.mark.browser
async def test_a_browser_reads_the_bundle_that_was_laid_for_it(chosen: Isolation) -> None:
    async with chosen.cell() as cell:
        (cell.bundle / "key").write_text("content")
        command = [*cell.child.argv, *cell.browser.argv, "cat", str(cell.bundle / "key")]
        read = await run(command, chosen.child_environment(cell), 30)
    assert read.output == "content"


@pytest.mark.browser
async def test_two_cells_of_the_strong_form_have_two_uids(chosen: Isolation) -> None:
    async with chosen.cell() as one, chosen.cell() as other:
        assert one.folder != other.folder
        assert (one.browser.uid != other.browser.uid) == (chosen.form is Form.STRONG)


@pytest.mark.browser
async def test_what_a_browser_left_in_a_shared_folder_is_removed(chosen: Isolation) -> None:
    async with chosen.cell() as cell:
        left = Path("/tmp") / f"left-by-{cell.folder.parent.name}"  # what is tested
        command = [*cell.child.argv, *cell.browser.argv, "mkdir", str(left)]
        await run(command, chosen.child_environment(cell), 30)
        assert left.exists()
    assert left.exists() == (chosen.form is Form.WEAK)  # where its uid is ours, it tells nothing
    shutil.rmtree(left, ignore_errors=True)


@pytest.mark.browser
async def test_a_browser_that_runs_only_without_sandbox_is_named_so(
    ground: Ground, tmp_path: Path
) -> None:
    picky = '[ "$1" = --no-sandbox ] && echo "<p>shown</p>" && exit; echo "no way" >&2; exit 1'
    chosen = await choose_isolation(with_browser(ground, picky))
    assert chosen.sandbox is Sandbox.OFF
    assert "sandbox is off" in chosen.describe()
    assert "no way" in chosen.describe()


async def test_a_browser_that_shows_nothing_is_refused_with_its_own_words(ground: Ground) -> None:
    with pytest.raises(UnusableBrowserError, match=r"libnss3\.so: cannot open"):
        await choose_isolation(with_browser(ground, 'echo "libnss3.so: cannot open" >&2; exit 127'))


def with_browser(ground: Ground, script: str) -> Ground:
    path = ground.scratch / "a-browser"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return replace(ground, browser=replace(ground.browser, path=path))


async def test_who_lacks_capabilities_is_told_which(ground: Ground) -> None:
    reason = await why_not_strong(Privileges(1000, frozenset({0, 1, 5, 6})), ground.uids)
    assert reason == "this user lacks the capabilities SETUID"


IN_A_NAMESPACE = """
import asyncio, sys
from pathlib import Path
from consumer.isolation import why_not_strong
from consumer.privileges import own_privileges
from consumer.slot_uids import SlotUids
print(asyncio.run(why_not_strong(own_privileges(), SlotUids(Path(sys.argv[1]) / "uids"))))
"""


async def test_a_root_that_has_only_one_uid_is_told_that_it_can_take_no_other(
    tmp_path: Path,
) -> None:
    python = [sys.executable, "-c", IN_A_NAMESPACE, str(tmp_path)]
    command = ["unshare", "--user", "--map-root-user", *python]
    told = await run(command, dict(os.environ) | {"PYTHONPATH": ":".join(sys.path)}, 20)
    assert "uid 61000 cannot be taken: setpriv" in told.output


AS_NOBODY_SPECIAL = """
import asyncio, os, sys
from pathlib import Path
from consumer.browsers import find_browser, system_search
from consumer.isolation import Ground, choose_isolation
from consumer.slot_uids import SlotUids
scratch = Path(sys.argv[1])
browser = find_browser(None, system_search(os.environ))
ground = Ground(browser, scratch, SlotUids(scratch / "uids"), os.environ)
print(os.geteuid(), asyncio.run(choose_isolation(ground)).describe())
"""


@pytest.mark.browser
async def test_chromiums_sandbox_is_on_for_a_user_who_is_not_root(tmp_path: Path) -> None:
    python = [sys.executable, "-c", AS_NOBODY_SPECIAL, str(tmp_path)]
    command = ["unshare", "--user", "--map-user=1000", "--map-group=1000", *python]
    told = await run(command, dict(os.environ) | {"PYTHONPATH": ":".join(sys.path)}, 20)
    assert "1000 weak form" in told.output
    assert "Chromium's sandbox is on" in told.output


def an_isolation(ground: Ground, **changes: object) -> Isolation:
    strong = Isolation(ground, Form.STRONG, ChildUser.SLOT, Sandbox.ON)
    return replace(strong, **changes)  # type: ignore[arg-type]  # any of its fields


def test_each_form_is_described_in_a_sentence(ground: Ground) -> None:
    parent = an_isolation(ground, child_user=ChildUser.PARENT, reasons=("closed",))
    weak = an_isolation(ground, form=Form.WEAK, sandbox=Sandbox.OFF)
    assert an_isolation(ground).describe() == (
        "strong form: each browser runs under a uid of its own (61000 and up), its child under "
        "that uid too; Chromium's sandbox is on"
    )
    assert "its child under ours, without credentials" in parent.describe()
    assert parent.describe().endswith("(closed)")
    assert weak.describe() == (
        "weak form: browsers run as this user, and never for two projects at the same time; "
        "Chromium's sandbox is off"
    )
