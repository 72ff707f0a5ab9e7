"""A run over a Storybook with children that die or lie."""

from pathlib import Path

from consumer.local.out_folder import open_out
from consumer.local.report import Fault
from consumer.local.session import Session, Wanted, Work
from consumer.local.storybook import read_storybook
from storyshelf.bundle.parameters import Viewport
from storyshelf.clock import SystemClock
from tests.consumer.little_storybook import html
from tests.consumer.local_storybook import built
from tests.consumer.supervised import a_supervisor, weak_isolation


async def faults_of(top: Path, *stories: str) -> dict[str, Fault | None]:
    """Capture stories that a fake child answers by their names; no picture of them may be kept."""
    book = built(top / "book", {story: html("") for story in stories})
    storybook = read_storybook(book, lambda done, total: None)
    scratch = built(top / "scratch", {})
    wanted = Wanted(storybook.stories, frozenset(), Viewport(), 1, 1, 5_000)
    with open_out(top / "out", book) as out:
        async with a_supervisor(weak_isolation(scratch)) as supervisor:
            work = Work(storybook, wanted, out)
            session = Session(supervisor, work, SystemClock(), lambda session, tally: None)
            await session.run()
        assert out.read(".storyshelf-capture") == b""
    assert session.failure is None
    return {tally.planned.story.story_id: tally.result().error for tally in session.tallies}


async def test_a_child_that_lies_about_a_picture_is_not_believed(tmp_path: Path) -> None:
    faults = await faults_of(tmp_path, "is-well", "answers-for-another-story")
    assert "not a PNG" in str(faults["is-well"])
    assert "another story" in str(faults["answers-for-another-story"])


async def test_a_story_on_which_two_children_die_is_errored_and_the_run_goes_on(
    tmp_path: Path,
) -> None:
    faults = await faults_of(tmp_path, "is-killed", "crashes")
    assert {fault and fault.code for fault in faults.values()} == {"page_crashed"}
    assert "SIGKILL" in str(faults["is-killed"])
    assert "SIGSEGV" in str(faults["crashes"])
