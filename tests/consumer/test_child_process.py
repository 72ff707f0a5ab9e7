"""What a child gets of this machine, and that nothing below it outlives it."""

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from consumer.child_process import CHUNK_BYTES, MAX_LOGGED_LINES, TAIL_BYTES, Stderr
from consumer.isolation import Isolation
from consumer.processes import wait_gone
from tests.consumer.supervised import (
    ADAS,
    a_capture,
    a_supervisor,
    died_capturing,
    picture_of,
    weak_isolation,
)


@pytest.fixture
def isolation(tmp_path: Path) -> Isolation:
    return weak_isolation(tmp_path)


@pytest.mark.parametrize("story", ["starts-a-browser", "starts-a-browser-and-is-killed"])
async def test_a_browser_in_a_session_of_its_own_dies_with_its_child(
    isolation: Isolation, story: str
) -> None:
    async with a_supervisor(isolation) as supervisor, supervisor.child(ADAS) as child:
        browser = int(await picture_of(child, story))
    assert wait_gone([browser], 0) == frozenset()


async def test_helpers_without_any_environment_die_with_a_child_that_is_killed(
    isolation: Isolation,
) -> None:
    begun = asyncio.Event()
    async with a_supervisor(isolation) as supervisor, supervisor.child(ADAS) as child:
        wanted = a_capture("starts-helpers-and-hangs")
        shooting = asyncio.ensure_future(died_capturing(child, wanted, begun))
        await begun.wait()
        helpers = [int(pid) for pid in (child.cell.child_home / "helpers").read_text().split()]
        assert wait_gone(helpers, 0) == set(helpers)
        await supervisor.close()
        await shooting
    assert wait_gone(helpers, 5) == frozenset()


async def test_a_child_that_reads_the_parents_environment_gets_nothing(
    isolation: Isolation,
) -> None:
    async with a_supervisor(isolation) as supervisor, supervisor.child(ADAS) as child:
        assert await picture_of(child, "reads-the-parents-environment") == b"PermissionError"


async def test_the_environment_of_a_child_holds_nothing_but_what_is_allowed(
    isolation: Isolation,
) -> None:
    async with a_supervisor(isolation) as supervisor, supervisor.child(ADAS) as child:
        seen = json.loads(await picture_of(child, "prints-its-environment"))
        assert seen["HOME"] == str(child.cell.child_home)
    allowed = {
        "FONTCONFIG_FILE", "FONTCONFIG_PATH", "HOME", "LANG", "LC_CTYPE", "LD_LIBRARY_PATH",
        "NODE_OPTIONS", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONUTF8", "TMPDIR",
        "TZ",
    }  # fmt: skip
    assert set(seen) <= allowed
    assert "secret" not in json.dumps(seen)


@pytest.fixture
def a_stdin_with_a_secret() -> Iterator[None]:
    read_end, write_end = os.pipe()
    os.write(write_end, b"secret")
    own = os.dup(0)
    os.dup2(read_end, 0)
    yield
    os.dup2(own, 0)
    for each in (own, read_end, write_end):
        os.close(each)


@pytest.mark.usefixtures("a_stdin_with_a_secret")
async def test_a_child_has_no_stdin_and_no_terminal(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor, supervisor.child(ADAS) as child:
        assert await picture_of(child, "reads-its-stdin") == b"read: "
        stdin, stdout, stderr, end = json.loads(await picture_of(child, "lists-its-descriptors"))
    assert stdin == "/dev/null"
    assert stdout == stderr
    assert stderr.startswith("pipe:")
    assert end.startswith("socket:")


async def test_what_a_child_writes_to_stderr_is_bounded(
    isolation: Isolation, capsys: pytest.CaptureFixture[str]
) -> None:
    async with a_supervisor(isolation) as supervisor, supervisor.child(ADAS) as child:
        await picture_of(child, "writes-for-ever-to-stderr")
    assert 0 < len(capsys.readouterr().out) < 300_000


def test_a_flood_is_read_by_its_end_alone_once_nothing_of_it_is_logged() -> None:
    said = Stderr()
    assert len(said.add(b"\n" * CHUNK_BYTES)) == MAX_LOGGED_LINES
    read_before = said.lines
    assert said.add(b"\n" * (CHUNK_BYTES - 5) + b"last\n") == ()
    assert said.lines - read_before <= TAIL_BYTES
    assert said.tail[-1] == "'last'"
