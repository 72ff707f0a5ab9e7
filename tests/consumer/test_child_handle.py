"""A child may do what it likes: the parent gets an answer or a death with the story's name."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from consumer.isolation import Isolation
from consumer.supervisor import (
    Bundle,
    Death,
    RequestFailedError,
)
from tests.consumer.supervised import (
    ADAS,
    LIMITS,
    OPTIONS,
    a_capture,
    a_supervisor,
    death_of,
    died_capturing,
    died_starting,
    picture_of,
    until_waiting,
    weak_isolation,
)
from tests.fakes import FakeClock


@pytest.fixture
def isolation(tmp_path: Path) -> Isolation:
    return weak_isolation(tmp_path)


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


async def test_a_request_that_is_refused_leaves_the_child_alive(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor, supervisor.child(ADAS) as child:
        with pytest.raises(RequestFailedError, match="no bundle") as refused:
            await picture_of(child, "refuses")
        assert refused.value.code == "not_open"
        assert await picture_of(child, "is-well") == b"picture of is-well"


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
        ("says-that-it-lives-for-ever", Death.VIOLATION, "without end"),
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
        await clock.advance(41)
    assert (dying.result().how, dying.result().story) == (Death.HUNG, "hangs")


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
        await clock.advance(41)
    assert shooting.result().how is Death.DEADLINE


async def test_an_answer_that_came_while_the_parent_was_stopped_is_still_read(
    isolation: Isolation,
) -> None:
    clock, begun = FakeClock(), asyncio.Event()
    async with (
        a_supervisor(isolation, clock) as supervisor,
        supervisor.child(ADAS) as child,
        asyncio.TaskGroup() as group,
    ):
        shooting = group.create_task(child.capture(a_capture("answers-when-told"), begun.set))
        await begun.wait()
        await clock.advance(40)
        (child.cell.child_home / "told").touch()
    assert shooting.result().png == b"picture of answers-when-told"


@pytest.mark.parametrize("story", ["grows", "grows-out-of-sight"])
async def test_a_child_that_uses_too_much_memory_is_killed(
    isolation: Isolation, story: str
) -> None:
    clock, begun = FakeClock(), asyncio.Event()
    limits = replace(LIMITS, memory_bytes=150 << 20)
    async with (
        a_supervisor(isolation, clock, limits) as supervisor,
        supervisor.child(ADAS) as child,
        asyncio.TaskGroup() as group,
    ):
        shooting = group.create_task(died_capturing(child, a_capture(story), begun))
        await begun.wait()
        await clock.advance(limits.memory_every_s)
    assert shooting.result().how is Death.OUT_OF_MEMORY
    assert "ceiling of 150 MiB" in shooting.result().detail


async def test_a_child_that_keeps_much_memory_is_replaced_between_two_stories(
    isolation: Isolation,
) -> None:
    clock, limits = FakeClock(), replace(LIMITS, slots=1, memory_bytes=8 << 30, worn_bytes=1)
    async with a_supervisor(isolation, clock, limits) as supervisor:
        async with supervisor.child(ADAS) as worn:
            while worn.is_usable:
                await worn.capture(a_capture("is-well"), lambda: None)
                await clock.advance(limits.memory_every_s)
        assert worn.stories > 1
        async with supervisor.child(ADAS) as fresh:
            assert fresh.pid != worn.pid


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
