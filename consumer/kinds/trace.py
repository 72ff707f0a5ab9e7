"""Record a trace: one more capture of one story, kept for people and compared with nothing."""

import structlog

from consumer.death import ChildDiedError, Death
from consumer.kinds.crashing import said
from consumer.kinds.shelf import Shelf
from consumer.lending import Lender
from consumer.messages import Captured, Ending, Page
from consumer.supervisor import CaptureRequest, RequestFailedError
from consumer.trace_file import BadTraceError, trace_in
from storyshelf.builds import store as builds
from storyshelf.db.engine import Database
from storyshelf.queue.job_kind import Work
from storyshelf.traces import store
from storyshelf.traces.kinds import TracePayload
from storyshelf.traces.trace import Recorded, Subject, Unrecorded

log = structlog.get_logger()


class TraceHandler:
    """The handler of `trace` jobs; None for a snapshot that went with its build."""

    def __init__(self, db: Database, lender: Lender, shelf: Shelf, timeout_ms: int) -> None:
        self._db = db
        self._lender = lender
        self._shelf = shelf
        self._timeout_ms = timeout_ms

    async def __call__(self, work: Work, parsed: TracePayload) -> Recorded | Unrecorded | None:
        """Record it; what the story did to its browser is an answer, and not tried again."""
        async with self._db.transaction() as tx:
            subject = await store.subject(tx, parsed.snapshot_id)
        if subject is None:
            return None
        try:
            captured = await self._captured(work, subject)
            content = await trace_in(captured)
        except ChildDiedError as died:
            if died.how is Death.STOPPED:
                raise
            return Unrecorded(said(died))
        except (BadTraceError, RequestFailedError) as error:
            return Unrecorded(error.what)
        work.touch()
        key = await self._shelf.put(content, work.touch)
        log.info("trace.recorded", snapshot=parsed.snapshot_id, size_bytes=len(content))
        return Recorded(key, len(content), _ending(captured))

    async def _captured(self, work: Work, subject: Subject) -> Captured:
        async with self._db.transaction() as tx:
            build = await builds.by_id(tx, subject.build_id)
            files = await builds.files_of(tx, build.id)
        options = subject.options
        wanted = CaptureRequest(
            story_id=subject.story_id,
            viewport_width_px=options.viewport.width_px,
            viewport_height_px=options.viewport.height_px,
            scale=options.viewport.scale,
            delay_ms=options.delay_ms,
            page=Page.TRACED,
            timeout_ms=self._timeout_ms + options.delay_ms,
            look=options.look,
        )
        async with self._lender.child(build, files, work.touch) as child:
            return await child.capture(wanted, work.touch)


def _ending(captured: Captured) -> str:
    if captured.ending is Ending.OK:
        return "The story ended well this time."
    error = captured.error
    return "The story failed." if error is None else f"The story ended with the error {error.code}."
