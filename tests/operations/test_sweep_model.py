"""Whatever is done in whatever order: what is named is here, what is not named goes, in time.

Uploads, captures, decisions, deletions, retention and sweeps, also ones that are killed half-way or
have others between their steps, on a real database and a real folder.
"""

import asyncio
import shutil
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from storyshelf.builds import intake
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.jobs import parse_capture
from storyshelf.builds.store import NewBuild
from storyshelf.bundle.manifest import Manifest
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.ids import BlobKey
from storyshelf.operations.delete_build import BuildInUseError, Deletion, delete_build
from storyshelf.operations.delete_project import delete_project
from storyshelf.operations.drop_builds import choices_of, drop_builds
from storyshelf.operations.retention import Limits
from storyshelf.operations.sweep import sweep
from storyshelf.queue.job import Completed, Lease, LeaseLostError
from storyshelf.review.decide import decide_all
from storyshelf.snapshots.decision import Decision
from storyshelf.snapshots.snapshot import Picture, SnapshotResult, StoredMask
from storyshelf.storage import store
from storyshelf.storage.blobs import key_of
from storyshelf.storage.local import LocalBlobs
from storyshelf.storage.local_sweep import LocalSweeper
from tests.builds.facts import read, run
from tests.builds.hand import CAPTURE_LANE, SIZE_PX, Hand, a_hand, chunks, index_of, png_of
from tests.operations.house import a_day_passes, before, names_in
from tests.operations.interrupted import Capturing, DiesBetweenLooks, Disturbed, KilledError, Upload
from tests.people import BEN

T = TypeVar("T")
STORIES = st.sets(st.sampled_from(["a--one", "b--two", "c--three"]), min_size=1)
BRANCHES = st.sampled_from(["main", "x"])
COLOURS = st.sampled_from(["red", "blue", "red~", "!"])
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
NAMED = """
SELECT image_key AS key FROM snapshots UNION SELECT mask_key FROM snapshots
UNION SELECT unnest(frames) FROM snapshots
UNION SELECT key FROM bundle_files AS f JOIN builds AS b ON b.id = f.build_id
    WHERE b.sealed_at IS NOT NULL
"""
NAMED_BY_MANIFESTS = f"{NAMED} UNION SELECT key FROM bundle_files"
ORPHANS = """
SELECT id FROM jobs WHERE build_id NOT IN (SELECT id FROM builds)
UNION ALL SELECT id FROM jobs_done WHERE build_id NOT IN (SELECT id FROM builds)
UNION ALL SELECT job_id FROM job_attempts
    WHERE job_id NOT IN (SELECT id FROM jobs UNION SELECT id FROM jobs_done)
"""
READY = """
SELECT id FROM jobs WHERE lane = :lane AND (state = 'queued' OR lease_expires_at < now())
"""
EXPIRE = "UPDATE jobs SET lease_expires_at = now() - interval '1 s' WHERE state = 'running'"


class House(RuleBasedStateMachine):
    """Does what people, consumers and time do to a project."""

    def __init__(self, runner: asyncio.Runner, db: Database, folder: Path) -> None:
        super().__init__()
        self._runner = runner
        self.db, self.folder = db, folder
        shutil.rmtree(folder, ignore_errors=True)
        self.sweeper = LocalSweeper(folder)
        self.blobs = LocalBlobs(folder)
        self.do(self._empty())
        self.hand = self.do(a_hand(db, self.blobs))
        self.serial = count(1)
        self.uploads: list[Upload] = []
        self.capturing: list[Capturing] = []

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    async def _empty(self) -> None:
        hand = Hand(self.db, self.blobs, project=None)  # type: ignore[arg-type]  # only its db
        tables = [row["tablename"] for row in await read(hand, TABLES)]
        await run(hand, f"TRUNCATE {', '.join(set(tables) - {'alembic_version'})}")

    @rule(stories=STORIES, branch=BRANCHES)
    def open(self, stories: set[str], branch: str) -> None:
        self.do(self._open(sorted(stories), branch))

    async def _open(self, stories: list[str], branch: str) -> None:
        manifest = Manifest(tuple(await self.hand.files_of(stories)))
        new = NewBuild(f"key-{next(self.serial):04}", branch, "c0ffee")
        opened = await intake.open_build(self.db, self.hand.project, new, manifest)
        self.uploads.append(Upload(opened.build, stories, set(opened.missing)))

    @rule()
    def send_and_seal(self) -> None:
        """Only what was said to be missing is sent; with that, the bundle is whole."""
        if self.uploads:
            self.do(self._send(self.uploads[0]))
            self.do(intake.seal(self.db, self.blobs, self.uploads.pop(0).build))

    @rule()
    def send_one(self) -> None:
        for upload in self.uploads[-1:]:
            self.do(self._send(upload, at_most=1))

    async def _send(self, upload: Upload, at_most: int = 10) -> None:
        for key in sorted(upload.missing)[:at_most]:
            content = chunks(upload.contents[key])
            await intake.receive_file(self.db, self.blobs, upload.build, key, content)
            upload.missing.discard(key)

    @rule()
    def plan(self) -> None:
        for build in self.do(self._builds(BuildState.QUEUED))[:1]:
            self.do(self.hand.plan(build, self.do(self._stories_of(build)), shard_cost_ms=100))

    async def _stories_of(self, build: Build) -> list[str]:
        """Return the stories whose index the build's manifest names."""
        files = "SELECT key FROM bundle_files WHERE build_id = :id AND path = 'index.json'"
        (row,) = await read(self.hand, files, id=build.id)
        names = ["a--one", "b--two", "c--three"]
        subsets = ([n for at, n in enumerate(names) if bits >> at & 1] for bits in range(1, 8))
        return next(some for some in subsets if key_of(index_of(some)) == row["key"])

    @rule(colour=COLOURS)
    def shoot(self, colour: str) -> None:
        """Claim a shard and store its pictures."""
        with suppress(ValueError):  # nothing waits
            lease = self.do(self.hand.claim(CAPTURE_LANE))
            self.do(self._shoot(lease, colour))

    async def _shoot(self, lease: Lease, colour: str) -> None:
        work = await self.hand.work_of(lease)
        look = {str(one.key.story_id): colour for one in work.snapshots}
        shots = [await self.hand.shot(one, look) for one in work.snapshots]
        results = [await self._with_more(shot, colour) for shot in shots]
        self.capturing.append(Capturing(lease, work, results))

    async def _with_more(self, shot: SnapshotResult, colour: str) -> SnapshotResult:
        """Add a mask and a frame, which are content too."""
        mask = await self.blobs.put(f"mask {colour}".encode())
        frame = await self.blobs.put(f"frame {colour}".encode())
        frames = (Picture(frame, 10, *SIZE_PX),)
        return replace(shot, mask=StoredMask(mask, 10), frames=frames)

    @rule()
    def record(self) -> None:
        self.do(self._record())

    async def _record(self) -> None:
        if not self.capturing:
            return
        held = self.capturing.pop(0)
        with suppress(LeaseLostError):
            await self.hand.record(held.lease, held.work, held.results)
            await self.hand.settle(held.lease, Completed(None), parse_capture(held.lease.payload))

    @rule()
    def finalise(self) -> None:
        with suppress(ValueError):  # nothing waits
            self.do(self._finalise())

    async def _finalise(self) -> None:
        await self.hand.end_finalise(await self.hand.claim("build"))

    @rule(stories=STORIES, branch=BRANCHES, colour=COLOURS)
    def run_a_build(self, stories: set[str], branch: str, colour: str) -> None:
        """Upload one more and work off whatever waits, so that builds come to an end too."""
        self.open(stories, branch)
        while self.uploads:
            self.send_and_seal()
        while self.do(self._builds(BuildState.QUEUED)):
            self.plan()
        while self.do(self._waits(CAPTURE_LANE)):
            self.shoot(colour)
            self.record()
        while self.do(self._waits("build")):
            self.finalise()

    async def _waits(self, lane: str) -> bool:
        return bool(await read(self.hand, READY, lane=lane))

    @rule(decision=st.sampled_from([Decision.ACCEPTED, Decision.DENIED]))
    def decide(self, decision: Decision) -> None:
        for build in self.do(self._builds(BuildState.PENDING))[:1]:
            self.do(decide_all(self.db, build.id, decision, BEN))

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        if builds := self.do(self._builds(*BuildState)):
            build = data.draw(st.sampled_from(builds))
            with suppress(BuildInUseError):
                self.do(delete_build(self.db, self.hand.kinds, build, Deletion("Ada", "test")))
            self.forget_uploads()

    @rule()
    def keep_little(self) -> None:
        self.do(self._keep_little())
        self.forget_uploads()

    async def _keep_little(self) -> None:
        now = SystemClock().now()
        choices = await choices_of(self.db, self.hand.project, Limits(builds=1), now)
        await drop_builds(self.db, self.hand.kinds, self.hand.project, choices)

    @rule()
    def delete_the_project(self) -> None:
        self.do(delete_project(self.db, self.hand.kinds, self.hand.project, "Ada"))
        self.hand = self.do(a_hand(self.db, self.blobs))
        self.uploads = []

    def forget_uploads(self) -> None:
        there = {build.id for build in self.do(self._builds(BuildState.UPLOADING))}
        self.uploads = [upload for upload in self.uploads if upload.build.id in there]

    @rule()
    def pass_a_day(self) -> None:
        """No capture outlasts its lease; uploads may be open for days."""
        self.capturing.clear()
        self.do(run(self.hand, EXPIRE))
        self.do(a_day_passes(self.hand, self.folder))

    @rule()
    def sweep(self) -> None:
        self.do(self._sweep(self.sweeper))

    @rule()
    def bring(self) -> None:
        self.do(self._bring())

    async def _bring(self) -> None:
        """Store a picture and write it down, as for a build that is deleted at that moment."""
        content = png_of("red")
        key = await self.blobs.put(content)
        async with self.db.transaction() as tx:
            await store.remember(tx, self.hand.project.id, {key: len(content)})

    @rule(acts=st.lists(st.sampled_from(["bring", "open", "send", "shoot", "record"]), max_size=6))
    def sweep_while_others_work(self, acts: list[str]) -> None:
        known = {
            "bring": self._bring,
            "open": lambda: self._open(["a--one", "b--two"], "main"),
            "send": self._send_all,
            "shoot": self._shoot_and_record,
            "record": self._record,
        }
        self.do(self._sweep(Disturbed(self.sweeper, iter([known[act] for act in acts]))))

    async def _send_all(self) -> None:
        for upload in self.uploads:
            await self._send(upload)

    async def _shoot_and_record(self) -> None:
        with suppress(ValueError):  # nothing waits
            await self._shoot(await self.hand.claim(CAPTURE_LANE), "red")
            await self._record()

    @rule(killed=st.sampled_from(["with rows gone", "between the looks"]))
    def kill_a_sweep(self, killed: str) -> None:
        async def die() -> None:
            raise KilledError

        with suppress(KilledError):
            if killed == "with rows gone":
                self.do(self._sweep(Disturbed(self.sweeper, iter([_nothing, die]))))
            else:
                self.do(self._sweep(DiesBetweenLooks(self.folder)))

    async def _sweep(self, blobs: Any) -> None:
        [_ async for _ in sweep(self.db, blobs, before())]

    @rule()
    def what_nobody_names_is_gone_after_the_grace(self) -> None:
        self.pass_a_day()
        self.sweep()
        named = self.do(self._keys(NAMED_BY_MANIFESTS))
        rows = self.do(self._keys("SELECT key FROM blobs"))
        assert rows <= named
        assert names_in(self.folder) == rows

    def teardown(self) -> None:
        """Whatever it was, it ends with a build that is kept and a sweep of all the rest."""
        self.run_a_build({"a--one"}, "main", "blue")
        self.what_nobody_names_is_gone_after_the_grace()
        self.what_is_named_is_here()
        self.no_row_is_without_its_file()

    @invariant()
    def no_row_is_without_its_file(self) -> None:
        for key in self.do(self._keys("SELECT key FROM blobs")):
            assert key_of(self.do(self.blobs.read(key))) == key

    @invariant()
    def what_is_named_is_here(self) -> None:
        assert self.do(self._keys(NAMED)) <= self.do(self._keys("SELECT key FROM blobs"))

    @invariant()
    def what_uploads_were_told_is_here_stays(self) -> None:
        here = self.do(self._keys("SELECT key FROM project_blobs"))
        for upload in self.uploads:
            assert upload.contents.keys() - upload.missing <= here

    @invariant()
    def nothing_is_left_of_deleted_builds(self) -> None:
        assert self.do(read(self.hand, ORPHANS)) == []

    async def _keys(self, query: str) -> set[BlobKey]:
        rows = await read(self.hand, query)
        return {BlobKey(row["key"]) for row in rows if row["key"] is not None}

    async def _builds(self, *states: BuildState) -> list[Build]:
        wanted = "SELECT id FROM builds WHERE state = ANY (:states) ORDER BY id"
        rows = await read(self.hand, wanted, states=list(states))
        return [await self.hand.fresh(_Named(row["id"])) for row in rows]  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Named:
    id: int


async def _nothing() -> None:
    """Let the step pass."""


def walk(database_url: str, folder: Path, examples: int) -> None:
    with asyncio.Runner() as runner:
        db = Database(database_url)

        class OnThisDatabase(House):
            def __init__(self) -> None:
                super().__init__(runner, db, folder / "blobs")

        run_state_machine_as_test(
            OnThisDatabase,
            settings=settings(
                max_examples=examples,
                stateful_step_count=40,
                deadline=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
                database=None,
                phases=[Phase.generate],  # shortening a failure outlasts the timeout
            ),
        )
        runner.run(db.close())


@pytest.mark.timeout(180)
def test_what_is_named_is_here_and_nothing_else(database_url: str, tmp_path: Path) -> None:
    walk(database_url, tmp_path, examples=15)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_ten_times_as_much_of_it(database_url: str, tmp_path: Path) -> None:
    walk(database_url, tmp_path, examples=150)
