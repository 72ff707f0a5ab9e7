"""Whose fault it is that a child is gone or is not believed: a story's, or nobody's."""

from collections.abc import Iterator
from contextlib import contextmanager

from consumer.death import Cause, ChildDiedError, Death
from consumer.messages import Captured, FailureCode
from consumer.supervisor import Child, RequestFailedError
from storyshelf.errors import StoryshelfError
from storyshelf.ids import StoryId
from storyshelf.snapshots.snapshot import PlannedSnapshot

OF_A_STORY = frozenset({FailureCode.TOO_LARGE, FailureCode.INTERNAL})


@contextmanager
def blamed_on(story: StoryId) -> Iterator[None]:
    """Lay a death between two requests on the story: its page is still open, its picture compared.

    A story that hoards memory is often found out just after it was photographed.
    """
    try:
        yield
    except ChildDiedError as died:
        if died.story is not None:
            raise
        raise ChildDiedError(Cause(died.how, died.detail), story) from died


def laid_on_its_story(
    child: Child, snapshot: PlannedSnapshot, failed: RequestFailedError
) -> StoryshelfError:
    """Count against a story what its rendering brought about; the others get another child."""
    if failed.code not in OF_A_STORY:
        return failed
    cause = Cause(Death.EXIT, f"it gave the story up: {failed.message}")
    child.condemn(cause)
    return ChildDiedError(cause, snapshot.key.story_id)


def violated(child: Child, captured: Captured, problem: str) -> ChildDiedError:
    """Return the end of a child that sent what is no picture; it is not asked again."""
    cause = Cause(Death.VIOLATION, f"it sent a picture that is none: {problem}")
    child.condemn(cause)
    return ChildDiedError(cause, captured.story_id)
