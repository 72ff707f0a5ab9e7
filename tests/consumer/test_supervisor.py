"""A child may do what it likes: the parent gets an answer or a death with the story's name."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from consumer.browsers import Browser, BrowserKind, BrowserSource
from consumer.isolation import ChildUser, Form, Ground, Isolation, Sandbox
from consumer.messages import CompareOptions, Faint, Page
from consumer.privileges import become_unreadable
from consumer.processes import wait_gone
from consumer.slot_uids import SlotUids
from consumer.supervisor import (
    Bundle,
    CaptureRequest,
    Child,
    ChildDiedError,
    Death,
    Limits,
    RequestFailedError,
    Supervisor,
    SupervisorClosedError,
)
from storyshelf.clock import Clock, SystemClock
from storyshelf.ids import ProjectId, StoryId
from tests.fakes import FakeClock

FAKE_CHILD = str(Path(__file__).with_name("fake_child.py"))
ADAS, BENS = ProjectId(1), ProjectId(2)
SECRET = "postgresql://storyshelf:secret@db/storyshelf"
SECRETS = {"STORYSHELF_DATABASE_URL": SECRET, "AWS_SECRET_ACCESS_KEY": SECRET, "SSH_AUTH_SOCK": "x"}
OPTIONS = CompareOptions(
    threshold=0.1, include_aa=False, max_diff_pixels=None, max_diff_ratio=None, faint=Faint.IGNORED
)
LIMITS = Limits(slots=2, close_s=5.0)


@pytest.fixture
def isolation(tmp_path: Path) -> Isolation:
    become_unreadable()  # what `choose_isolation` does in the weak form
    browser = Browser(Path("/bin/true"), BrowserKind.HEADLESS_SHELL, BrowserSource.SETTING)
    ground = Ground(browser, tmp_path, SlotUids(tmp_path / "uids"), dict(os.environ) | SECRETS)
    return Isolation(ground, Form.WEAK, ChildUser.PARENT, Sandbox.OFF)


class OneUidForAll(Isolation):
    """Gives out children as the strong form does, but takes no rights that tests may not have."""

    def _is_strong(self) -> bool:
        return False


@pytest.fixture
def as_if_strong(isolation: Isolation) -> Isolation:
    return OneUidForAll(isolation.ground, Form.STRONG, ChildUser.PARENT, Sandbox.OFF)


@asynccontextmanager
async def a_supervisor(
    isolation: Isolation,
    clock: Clock | None = None,
    limits: Limits = LIMITS,
    start: str = "starts",
) -> AsyncIterator[Supervisor]:
    async with asyncio.TaskGroup() as group:
        program = (FAKE_CHILD, start)
        supervisor = Supervisor(group, clock or SystemClock(), isolation, limits, program)
        try:
            yield supervisor
        finally:
            await supervisor.close()


def a_capture(story: str, timeout_ms: int = 30_000) -> CaptureRequest:
    return CaptureRequest(StoryId(story), 1280, 720, 1.0, 0, Page.SHARED, timeout_ms)


async def picture_of(child: Child, story: str) -> bytes:
    return (await child.capture(a_capture(story), lambda: None)).png


async def death_of(supervisor: Supervisor, story: str) -> ChildDiedError:
    async with supervisor.child(ADAS) as child:
        with pytest.raises(ChildDiedError) as died:
            await picture_of(child, story)
    return died.value


async def test_a_child_opens_reads_captures_and_compares(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor, supervisor.child(ADAS) as child:
        assert child.facts == {"browser_kind": "headless_shell"}
        assert (await child.open(Bundle("b1.localhost", Path("/nowhere"), ()))).port == 4321
        assert (await child.read_stories(1_000)).stories == ()
        assert await picture_of(child, "is-well") == b"picture of is-well"
        assert (await child.compare(OPTIONS, b"base", b"head")).outcome == "identical"


async def test_progress_of_a_capture_is_passed_on(isolation: Isolation) -> None:
    stages: list[str | None] = []
    async with a_supervisor(isolation) as supervisor, supervisor.child(ADAS) as child:
        await child.capture(a_capture("is-well"), lambda: stages.append(child.in_flight))
        assert child.in_flight is None
    assert stages == ["is-well"]


async def test_a_comparison_runs_beside_a_capture(isolation: Isolation) -> None:
    async with (
        a_supervisor(isolation) as supervisor,
        supervisor.child(ADAS) as child,
        asyncio.TaskGroup() as group,
    ):
        shooting = group.create_task(picture_of(child, "is-well"))
        comparing = group.create_task(child.compare(OPTIONS, b"base", b"head"))
        await shooting
        await comparing
    assert shooting.result() == b"picture of is-well"
    assert comparing.result().engine == "fake"


@pytest.mark.parametrize(
    ("story", "how", "detail"),
    [
        ("is-killed", Death.SIGNAL, "SIGKILL"),
        ("crashes", Death.SIGNAL, "SIGSEGV"),
        ("exits", Death.EXIT, "exit code 3"),
        ("loses-its-browser", Death.EXIT, "Target closed"),
        ("sends-a-path", Death.VIOLATION, "path"),
        ("sends-a-pickle", Death.VIOLATION, "violated"),
        ("sends-an-oversized-frame", Death.VIOLATION, "4294967295"),
        ("sends-an-oversized-picture", Death.VIOLATION, "2147483648"),
        ("answers-for-another-story", Death.VIOLATION, "another story"),
        ("answers-what-nobody-asked", Death.VIOLATION, "nobody made"),
        ("answers-with-something-else", Death.VIOLATION, "does not answer"),
        ("reports-progress-for-ever", Death.VIOLATION, "stages"),
    ],
)
async def test_a_death_tells_how_and_on_which_story(
    isolation: Isolation, story: str, how: Death, detail: str
) -> None:
    async with a_supervisor(isolation) as supervisor:
        died = await death_of(supervisor, story)
    assert (died.how, died.story) == (how, story)
    assert detail in died.detail


async def test_a_death_repeats_the_last_words_without_their_control_characters(
    isolation: Isolation,
) -> None:
    async with a_supervisor(isolation) as supervisor:
        died = await death_of(supervisor, "exits")
    assert "the driver is gone" in died.detail
    assert "\x1b" not in died.detail


async def test_a_child_that_leaves_the_channel_is_killed(isolation: Isolation) -> None:
    limits = replace(LIMITS, rest_s=0.05)
    async with a_supervisor(isolation, limits=limits) as supervisor:
        died = await death_of(supervisor, "leaves-the-channel")
    assert died.how is Death.VIOLATION


async def test_a_child_that_hangs_is_killed_when_its_time_is_over(isolation: Isolation) -> None:
    clock = FakeClock()
    async with a_supervisor(isolation, clock) as supervisor, asyncio.TaskGroup() as group:
        dying = group.create_task(death_of(supervisor, "hangs"))
        await until_waiting(clock, seconds=40)
        assert not dying.done()
        await clock.advance(40)
    assert (dying.result().how, dying.result().story) == (Death.HUNG, "hangs")


async def until_waiting(clock: FakeClock, seconds: float) -> None:
    """Return once a request that may take so long has been sent."""
    while clock.longest_sleep != seconds:
        await SystemClock().sleep(0)


async def test_a_child_that_only_makes_progress_is_killed_at_its_deadline(
    isolation: Isolation,
) -> None:
    clock, begun = FakeClock(), asyncio.Event()
    async with (
        a_supervisor(isolation, clock) as supervisor,
        supervisor.child(ADAS) as child,
        asyncio.TaskGroup() as group,
    ):
        shooting = group.create_task(died_capturing(child, a_capture("stalls"), begun))
        await begun.wait()
        await clock.advance(40)
    assert shooting.result().how is Death.DEADLINE


async def died_capturing(
    child: Child, wanted: CaptureRequest, begun: asyncio.Event
) -> ChildDiedError:
    with pytest.raises(ChildDiedError) as died:
        await child.capture(wanted, begun.set)
    return died.value


async def test_a_child_that_uses_too_much_memory_is_killed(isolation: Isolation) -> None:
    clock, begun = FakeClock(), asyncio.Event()
    limits = replace(LIMITS, memory_bytes=150 << 20)
    async with (
        a_supervisor(isolation, clock, limits) as supervisor,
        supervisor.child(ADAS) as child,
        asyncio.TaskGroup() as group,
    ):
        shooting = group.create_task(died_capturing(child, a_capture("grows"), begun))
        await begun.wait()
        await clock.advance(limits.memory_every_s)
    assert shooting.result().how is Death.OUT_OF_MEMORY
    assert "ceiling of 150 MiB" in shooting.result().detail


@pytest.mark.parametrize(
    ("start", "detail"),
    [("will-not-start", "no such browser"), ("has-no-browser", "no browser here")],
)
async def test_a_child_that_does_not_start_says_why(
    isolation: Isolation, start: str, detail: str
) -> None:
    async with a_supervisor(isolation, start=start) as supervisor:
        died = await died_starting(supervisor)
    assert (died.how, died.story) == (Death.EXIT, None)
    assert detail in died.detail


async def test_a_child_that_never_gets_ready_is_given_up(isolation: Isolation) -> None:
    clock = FakeClock()
    async with (
        a_supervisor(isolation, clock, start="never-ready") as supervisor,
        asyncio.TaskGroup() as group,
    ):
        starting = group.create_task(died_starting(supervisor))
        await until_waiting(clock, seconds=LIMITS.ready_s)
        await clock.advance(LIMITS.ready_s)
    assert starting.result().how is Death.DEADLINE
    assert "not ready after 60 s" in starting.result().detail


async def died_starting(supervisor: Supervisor) -> ChildDiedError:
    with pytest.raises(ChildDiedError) as died:
        async with supervisor.child(ADAS):
            raise AssertionError("it must not be given out")
    return died.value


async def test_a_lent_child_is_lent_again_to_the_same_project(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor:
        async with supervisor.child(ADAS) as child:
            first = child.pid
        async with supervisor.child(ADAS) as child:
            assert child.pid == first


@pytest.mark.parametrize("form", ["isolation", "as_if_strong"])
async def test_another_project_gets_another_child_and_nothing_of_the_first_is_left(
    request: pytest.FixtureRequest, form: str
) -> None:
    isolation: Isolation = request.getfixturevalue(form)
    async with a_supervisor(isolation, limits=replace(LIMITS, slots=1)) as supervisor:
        async with supervisor.child(ADAS) as child:
            adas_pid, adas_folder = child.pid, child.cell.folder
        async with supervisor.child(BENS) as child:
            assert child.pid != adas_pid
            assert child.cell.folder != adas_folder
        assert wait_gone([adas_pid], 0) == frozenset()
        assert not adas_folder.exists()


async def test_in_the_strong_form_two_projects_have_a_child_each_at_the_same_time(
    as_if_strong: Isolation,
) -> None:
    async with (
        a_supervisor(as_if_strong) as supervisor,
        supervisor.child(ADAS) as adas,
        supervisor.child(BENS) as bens,
    ):
        assert await picture_of(adas, "is-well") == await picture_of(bens, "is-well")
        assert adas.pid != bens.pid


async def test_in_the_weak_form_another_project_waits_and_no_two_children_live_together(
    isolation: Isolation,
) -> None:
    lent = asyncio.Event()

    async def bens() -> frozenset[int]:
        async with supervisor.child(BENS):
            lent.set()
            return wait_gone([adas_pid], 0)

    async with (
        a_supervisor(isolation) as supervisor,
        asyncio.TaskGroup() as group,
        supervisor.child(ADAS) as child,
    ):
        adas_pid = child.pid
        waiting = group.create_task(bens())
        await picture_of(child, "is-well")
        assert not lent.is_set()
    assert waiting.result() == frozenset()


async def test_a_dead_child_is_replaced_by_the_next_loan(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor:
        await death_of(supervisor, "is-killed")
        async with supervisor.child(ADAS) as child:
            assert await picture_of(child, "is-well") == b"picture of is-well"


async def test_a_child_that_died_while_nobody_used_it_is_replaced(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor:
        async with supervisor.child(ADAS) as child:
            first = child.pid
        os.kill(first, 9)
        wait_gone([first], 10)
        async with supervisor.child(ADAS) as child:
            assert await picture_of(child, "is-well") == b"picture of is-well"


async def test_a_child_is_replaced_after_its_number_of_stories(isolation: Isolation) -> None:
    async with a_supervisor(isolation, limits=replace(LIMITS, stories_per_child=2)) as supervisor:
        async with supervisor.child(ADAS) as child:
            first = child.pid
            await picture_of(child, "is-well")
        async with supervisor.child(ADAS) as child:
            assert child.pid == first
            await picture_of(child, "is-well")
        async with supervisor.child(ADAS) as child:
            assert child.pid != first


async def test_a_child_whose_request_was_given_up_is_not_lent_again(isolation: Isolation) -> None:
    begun = asyncio.Event()
    async with a_supervisor(isolation) as supervisor:
        async with supervisor.child(ADAS) as child, asyncio.TaskGroup() as group:
            first = child.pid
            shooting = group.create_task(child.capture(a_capture("stalls"), begun.set))
            await begun.wait()
            shooting.cancel()
        async with supervisor.child(ADAS) as child:
            assert child.pid != first


async def test_a_request_that_is_refused_leaves_the_child_alive(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor, supervisor.child(ADAS) as child:
        with pytest.raises(RequestFailedError, match="no bundle") as refused:
            await picture_of(child, "refuses")
        assert refused.value.code == "not_open"
        assert await picture_of(child, "is-well") == b"picture of is-well"


async def test_closing_tells_the_story_in_flight_that_its_child_was_stopped(
    isolation: Isolation,
) -> None:
    begun = asyncio.Event()
    async with (
        a_supervisor(isolation) as supervisor,
        supervisor.child(ADAS) as child,
        asyncio.TaskGroup() as group,
    ):
        shooting = group.create_task(died_capturing(child, a_capture("stalls"), begun))
        await begun.wait()
        await supervisor.close()
    assert (shooting.result().how, shooting.result().story) == (Death.STOPPED, "stalls")


async def test_closing_does_not_wait_for_a_child_that_is_still_starting(
    isolation: Isolation,
) -> None:
    clock = FakeClock()
    async with (
        a_supervisor(isolation, clock, start="never-ready") as supervisor,
        asyncio.TaskGroup() as group,
    ):
        starting = group.create_task(died_starting(supervisor))
        await until_waiting(clock, seconds=LIMITS.ready_s)
        await supervisor.close()
    assert starting.result().how is Death.STOPPED


async def test_nothing_is_lent_after_closing(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor:
        await supervisor.close()
        with pytest.raises(SupervisorClosedError):
            async with supervisor.child(ADAS):
                raise AssertionError("it must not be given out")


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
        "FONTCONFIG_FILE", "FONTCONFIG_PATH", "HOME", "LANG", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH",
        "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONUTF8", "TMPDIR", "TZ",
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
