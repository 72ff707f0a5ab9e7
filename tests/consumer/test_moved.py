"""A browser that was upgraded under a running consumer costs no build its attempts."""

from typing import Any, cast

from consumer.conduct import Conduct
from consumer.environment import Environment, EnvironmentMovedError
from consumer.kinds.moved import ending_when_moved
from storyshelf.ids import EnvironmentId
from storyshelf.queue.job import Requeued
from storyshelf.queue.job_kind import Work
from storyshelf.queue.store import ConsumerState

BEFORE = Environment(EnvironmentId("one"), {"version": "140.0"})
AFTER = Environment(EnvironmentId("two"), {"version": "141.0"})
NOTHING = cast("Work", None)  # no handler here asks anything of its attempt


async def finds_another(work: Work, parsed: Any) -> None:
    raise EnvironmentMovedError(BEFORE, AFTER)


async def test_what_a_moved_environment_cannot_do_is_given_back_and_its_consumer_ends() -> None:
    conduct = Conduct()
    handle = ending_when_moved(finds_another, lambda: conduct.ask(ConsumerState.STOPPING))
    ending = await handle(NOTHING, None)
    assert isinstance(ending, Requeued)
    assert "version" in ending.reason
    assert conduct.state is ConsumerState.STOPPING


async def test_where_nothing_moved_the_result_comes_back_and_nobody_ends() -> None:
    conduct = Conduct()

    async def works(work: Work, parsed: Any) -> str:
        return f"did {parsed}"

    handle = ending_when_moved(works, lambda: conduct.ask(ConsumerState.STOPPING))
    assert await handle(NOTHING, "it") == "did it"
    assert conduct.state is ConsumerState.RUNNING
