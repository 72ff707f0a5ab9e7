"""Traces as a test needs them: wished by hand, and recorded by whoever is asked."""

from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

from playwright.async_api import Browser

from storyshelf.builds.build import Build
from storyshelf.ids import SnapshotId
from storyshelf.queue.job import Completed, Lease
from storyshelf.traces.kinds import parse_trace
from storyshelf.traces.record import record_trace
from storyshelf.traces.store import trace_of
from storyshelf.traces.trace import Recorded, Trace
from tests.builds.facts import snapshots_of
from tests.builds.hand import CAPTURE_LANE, Hand


def a_zip(steps: bytes = b"{}") -> bytes:
    out = BytesIO()
    with ZipFile(out, "w") as made:
        made.writestr(ZipInfo("trace.trace"), steps)  # of no date: the same each time
    return out.getvalue()


async def id_of(hand: Hand, build: Build, story: str) -> SnapshotId:
    return SnapshotId((await snapshots_of(hand, build))[story]["id"])


async def wished(hand: Hand, build: Build, story: str, actor: str = "Ada") -> Lease:
    """Ask for a trace and take its job, as the only one on the lane."""
    await record_trace(hand.db, await hand.fresh(build), await id_of(hand, build, story), actor)
    return await hand.claim(CAPTURE_LANE)


async def end(hand: Hand, lease: Lease, result: Any) -> None:
    await hand.settle(lease, Completed(result), parse_trace(lease.payload))


async def recorded(hand: Hand, build: Build, story: str, content: bytes) -> SnapshotId:
    """Have a snapshot with this trace."""
    lease = await wished(hand, build, story)
    key = await hand.blobs.put(content)
    await end(hand, lease, Recorded(key, len(content), "The story ended well this time."))
    return await id_of(hand, build, story)


async def known(hand: Hand, snapshot_id: SnapshotId) -> Trace | None:
    async with hand.db.transaction() as tx:
        return await trace_of(tx, snapshot_id)


async def a_recording(browser: Browser, folder: Path, html: str) -> bytes:
    """Record a page that shows this, as a child does."""
    context = await browser.new_context()
    await context.tracing.start(screenshots=True, snapshots=True, title="a--one")
    page = await context.new_page()
    await page.set_content(html)
    await page.evaluate("console.error('said by the story')")
    await context.tracing.stop(path=folder / "trace.zip")
    await context.close()
    return (folder / "trace.zip").read_bytes()
