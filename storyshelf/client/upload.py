"""Bring a hashed folder to the server: open, send what is missing, seal."""

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from storyshelf.bundle.manifest import BundledFile, Manifest
from storyshelf.client.answers import Build, OpenedBuild
from storyshelf.client.api import Api, BuildRequest
from storyshelf.client.commit import Commit
from storyshelf.client.errors import ApiProblemError, StillMissingError
from storyshelf.client.hashing import HashedFolder

PARALLEL_PUTS = 10
ROUNDS = 3  # a seal that misses files is answered by asking again what is missing

CONFLICT = 409


class Finding(Enum):
    """What the server had of this upload."""

    UNFINISHED = "uploaded"
    ALREADY_HERE = "already here"


@dataclass(frozen=True, slots=True)
class SentBytes:
    """How far an upload is; files that the server had are in neither number."""

    files: int
    total_files: int
    sent_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Uploaded:
    """The build an upload ended in, what was sent for it, and how many contents were there."""

    build: Build
    finding: Finding
    sent: SentBytes
    spared_files: int


Sent = Callable[[SentBytes], None]


def idempotency_key(commit: Commit, manifest: Manifest, nonce: str = "") -> str:
    """Name an upload by what it is, so that the same again is the same build.

    A nonce makes it another one, for who wants to force that.
    """
    words = (commit.commit, commit.branch, manifest.digest, nonce)
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


async def upload(
    api: Api, slug: str, folder: HashedFolder, request: BuildRequest, sent: Sent
) -> Uploaded:
    """Upload and seal; a build that is already sealed is returned as it is.

    Interrupted anywhere, the same call goes on with what is still missing.
    """
    opened = await api.open_build(slug, request)
    sender = _Sender(api, slug, opened.build.number, folder, sent)
    finding = Finding.ALREADY_HERE
    if opened.build.is_uploading:
        finding = Finding.UNFINISHED
        opened = await _complete(sender, request, opened)
    spared_files = max(len(folder.sources) - sender.progress.files, 0)
    return Uploaded(opened.build, finding, sender.progress, spared_files)


async def _complete(sender: "_Sender", request: BuildRequest, opened: OpenedBuild) -> OpenedBuild:
    """Send and seal; a conflict is answered by asking again what the build is and lacks.

    Another machine may have sealed the same upload meanwhile, or a newer build cancelled it.
    """
    for _ in range(ROUNDS):
        try:
            await sender.send(opened.missing)
            return OpenedBuild(build=await sender.seal(), missing=())
        except ApiProblemError as error:
            if error.status != CONFLICT:
                raise
            conflict = error
        opened = await sender.api.open_build(sender.slug, request)
        if not opened.build.is_uploading:
            return opened
        if not opened.missing and not conflict.problem.missing:
            raise conflict
    raise StillMissingError(opened.missing, ROUNDS)


class _Sender:
    """Sends contents in parallel and counts them."""

    def __init__(self, api: Api, slug: str, number: int, folder: HashedFolder, sent: Sent) -> None:
        self.api = api
        self.slug = slug
        self.number = number
        self.progress = SentBytes(0, 0, 0, 0)
        self._sources = folder.sources
        self._files: dict[str, BundledFile] = {
            file.sha256: file for file in reversed(folder.manifest.files)
        }
        self._sent = sent

    async def seal(self) -> Build:
        """Close the upload."""
        return await self.api.seal(self.slug, self.number)

    async def send(self, missing: Sequence[str]) -> None:
        """Send these contents, each once; the first failure ends all and is raised as it is."""
        files = [self._files[sha256] for sha256 in missing if sha256 in self._files]
        if not files:
            return
        self.progress = SentBytes(
            self.progress.files,
            self.progress.files + len(files),
            self.progress.sent_bytes,
            self.progress.sent_bytes + sum(file.size_bytes for file in files),
        )
        self._sent(self.progress)
        waiting = deque(sorted(files, key=lambda file: -file.size_bytes))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(PARALLEL_PUTS, len(files))):
                    group.create_task(self._send_all(waiting))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def _send_all(self, waiting: deque[BundledFile]) -> None:
        while waiting:
            file = waiting.popleft()
            source = self._sources[file.sha256]
            await self.api.put_blob(self.slug, self.number, file, source)
            self.progress = SentBytes(
                self.progress.files + 1,
                self.progress.total_files,
                self.progress.sent_bytes + file.size_bytes,
                self.progress.total_bytes,
            )
            self._sent(self.progress)
