"""What every blob storage promises, and its errors."""

from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from storyshelf.errors import BadInputError, NotFoundError, StoryshelfError
from storyshelf.ids import BlobKey


class Blobs(Protocol):
    """Content-addressed storage; nothing is visible before it is whole and safe."""

    async def put(self, content: bytes) -> BlobKey:
        """Store the content and return its key; storing it again changes nothing."""
        ...

    async def receive(self, key: BlobKey, size_bytes: int, chunks: AsyncIterator[bytes]) -> None:
        """Store what arrives under a key it must match.

        Raises WrongContentError, with nothing kept, on another hash or length; reading stops at
        the first byte too many.
        """
        ...

    async def read(self, key: BlobKey) -> bytes:
        """Return the content; raises MissingBlobError."""
        ...

    async def read_part(self, key: BlobKey, start: int, size_bytes: int) -> bytes:
        """Return so many bytes from `start` on, fewer at the content's end.

        Raises MissingBlobError.
        """
        ...

    async def place(self, key: BlobKey, target: Path) -> None:
        """Make the content readable as a file at `target`, which must not exist yet."""
        ...

    async def remove(self, key: BlobKey) -> None:
        """Remove the blob if it is here."""
        ...


class MissingBlobError(NotFoundError):
    """A key that is named somewhere, but has no content here."""

    def __init__(self, key: BlobKey) -> None:
        super().__init__(
            "The content is not in the blob storage",
            where=f"blob {key}",
            next_step="Restore the blob folder, or upload the Storybook with --force-rebuild.",
        )
        self.key = key


class WrongContentError(BadInputError):
    """What arrived is not what its key and length promise."""

    def __init__(self, key: BlobKey, problem: str) -> None:
        super().__init__(
            f"The uploaded content is not what the manifest says: {problem}",
            where=f"blob {key}",
            next_step="Nothing was kept; run the upload again.",
        )


class FullStorageError(StoryshelfError):
    """The disk has no room for the content; an uploader is not told where that disk is."""

    http_status = 507

    def __init__(self) -> None:
        super().__init__(
            "The blob storage is full",
            next_step="Free disk space, then run the upload again; what is here is not sent twice.",
        )


def key_of(content: bytes) -> BlobKey:
    """Return the key of the content."""
    return BlobKey(sha256(content).hexdigest())
