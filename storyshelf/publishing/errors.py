"""What a content host refuses, in words."""

from storyshelf.bundle.paths import shown
from storyshelf.errors import NotFoundError, StoryshelfError


class ForMembersError(StoryshelfError):
    """Nobody's browser, or that of somebody who may not see the project; or there is no project."""

    http_status = 401

    def __init__(self) -> None:
        super().__init__(
            "This Storybook is for members of its project",
            next_step="Open it from storyshelf, signed in as one of them.",
        )


class HandOverRefusedError(StoryshelfError):
    """A link that is not ours, is for another project, or is older than a minute."""

    http_status = 403

    def __init__(self) -> None:
        super().__init__(
            "This link does not lead in (any more)",
            next_step="Open the Storybook from storyshelf again: each link holds for a minute.",
        )


class OnlyReadError(StoryshelfError):
    """A method other than GET and HEAD."""

    http_status = 405

    def __init__(self) -> None:
        super().__init__("A published Storybook can only be read", next_step="Send GET or HEAD.")


class NothingPublishedError(NotFoundError):
    """No address that anything can be at."""

    def __init__(self) -> None:
        super().__init__(
            "There is nothing at this address",
            next_step="Builds are at /builds/<number>/, branches at /branches/<name>/.",
        )


class UnsealedBuildError(NotFoundError):
    """A build whose upload has not ended, or never did."""

    def __init__(self, number: int) -> None:
        super().__init__(
            "The build's Storybook was not uploaded whole",
            where=f"build {number}",
            next_step="Wait for the upload to end, or run it again.",
        )


class EmptyBranchError(NotFoundError):
    """A branch without a build that was uploaded whole."""

    def __init__(self, branch: str) -> None:
        super().__init__(
            "The branch has no Storybook yet",
            where=f"branch {shown(branch)}",
            next_step="Check the name; a slash in it is written %2F. Or upload a build of it.",
        )


class NoSuchFileError(NotFoundError):
    """A path that the build's bundle does not hold."""

    def __init__(self, number: int, path: str) -> None:
        super().__init__(
            "The build's Storybook has no such file",
            where=f"build {number}, {shown(path)}",
            next_step="Check the address; capital letters count.",
        )
