"""Finalise a build: everything happens in the settling transaction, so there is nothing to do."""

from storyshelf.builds.jobs import BuildPayload
from storyshelf.queue.job_kind import Work


async def finalise_handler(_work: Work, _parsed: BuildPayload) -> None:
    """Leave the reducing to `apply`: it must see the build's row locked."""
