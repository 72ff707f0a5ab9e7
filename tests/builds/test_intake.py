"""Taking a build in: opened, sent and sealed, each as often as a bad network asks for it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from storyshelf.builds import intake, store
from storyshelf.builds.build import (
    Build,
    BuildState,
    KeyReusedError,
    MissingBlobsError,
    NotInManifestError,
    NotUploadingError,
)
from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.builds.store import NewBuild
from storyshelf.bundle.index import BadIndexError, NoFrameError, NoIndexError, NoStoriesError
from storyshelf.bundle.manifest import BundledFile, Manifest
from storyshelf.ids import BlobKey
from storyshelf.projects import store as projects
from storyshelf.storage.blobs import MissingBlobError, WrongContentError, key_of
from tests.builds.facts import live_kinds, read
from tests.builds.hand import Hand, chunks, index_of

STORIES = ["a--one", "b--two"]
FRAME = b"<html></html>"
INDEX = index_of(STORIES)
NEW = NewBuild("key", "main", "c0ffee", "a message", "Ada")
CONTENTS = {"iframe.html": FRAME, "index.json": INDEX}


def manifest(**others: bytes) -> Manifest:
    """A small Storybook; `others` are files by their names without the ending `.txt`."""
    named = CONTENTS | {f"{name}.txt": content for name, content in others.items()}
    return a_manifest(named)


def a_manifest(contents: dict[str, bytes]) -> Manifest:
    return Manifest(tuple(BundledFile(p, key_of(c), len(c)) for p, c in contents.items()))


async def opened(hand: Hand, new: NewBuild = NEW, files: Manifest | None = None) -> intake.Opened:
    return await intake.open_build(hand.db, hand.project, new, files or manifest())


async def send(hand: Hand, build: Build, *contents: bytes) -> None:
    for content in contents:
        await intake.receive_file(hand.db, hand.blobs, build, key_of(content), chunks(content))


async def seal(hand: Hand, build: Build) -> Build:
    return await intake.seal(hand.db, hand.blobs, build)


async def test_a_new_build_is_uploading_and_lacks_every_file(hand: Hand) -> None:
    new = await opened(hand)
    assert (new.build.state, new.build.number, new.was_there) == (BuildState.UPLOADING, 1, False)
    assert set(new.missing) == {key_of(FRAME), key_of(INDEX)}


async def test_a_content_that_two_files_have_is_sent_once(hand: Hand) -> None:
    new = await opened(hand, files=manifest(one=b"same", two=b"same"))
    assert sorted(new.missing) == sorted({key_of(FRAME), key_of(INDEX), key_of(b"same")})


async def test_builds_of_a_project_are_numbered_in_order(hand: Hand) -> None:
    numbers = [(await opened(hand, replace(NEW, idempotency_key=k))).build.number for k in "abc"]
    assert numbers == [1, 2, 3]


async def test_the_same_key_finds_the_build_that_it_opened(hand: Hand) -> None:
    first = await opened(hand)
    again = await opened(hand)
    assert (again.build, again.was_there) == (first.build, True)


async def test_a_key_that_comes_twice_at_once_opens_one_build(hand: Hand) -> None:
    async with asyncio.TaskGroup() as group:
        both = [group.create_task(opened(hand)) for _ in range(4)]
    assert len({task.result().build.id for task in both}) == 1
    assert sorted(task.result().was_there for task in both) == [False, True, True, True]
    assert [row["number"] for row in await read(hand, "SELECT number FROM builds")] == [1]


async def test_two_keys_at_once_open_two_builds_of_different_numbers(hand: Hand) -> None:
    async with asyncio.TaskGroup() as group:
        both = [
            group.create_task(opened(hand, replace(NEW, idempotency_key=key))) for key in "abcd"
        ]
    assert sorted(task.result().build.number for task in both) == [1, 2, 3, 4]


@pytest.mark.parametrize("other", [replace(NEW, commit="beef"), replace(NEW, branch="feature")])
async def test_a_key_is_not_used_again_for_another_commit_or_branch(
    hand: Hand, other: NewBuild
) -> None:
    await opened(hand)
    with pytest.raises(KeyReusedError, match="build 1"):
        await opened(hand, other)


async def test_a_key_is_not_used_again_for_other_files(hand: Hand) -> None:
    await opened(hand)
    with pytest.raises(KeyReusedError):
        await opened(hand, files=manifest(one=b"more"))


async def test_a_key_belongs_to_its_project(hand: Hand) -> None:
    await opened(hand)
    other = await another_project(hand)
    assert not (await opened(other)).was_there


@pytest.mark.parametrize(
    ("left_out", "error"), [("iframe.html", NoFrameError), ("index.json", NoIndexError)]
)
async def test_what_cannot_be_a_storybook_is_refused_before_it_is_sent(
    hand: Hand, left_out: str, error: type[Exception]
) -> None:
    files = a_manifest({p: c for p, c in CONTENTS.items() if p != left_out})
    with pytest.raises(error):
        await opened(hand, files=files)
    assert await read(hand, "SELECT id FROM builds") == []


async def test_an_upload_that_was_cut_goes_on_with_what_is_missing(hand: Hand) -> None:
    first = await opened(hand)
    await send(hand, first.build, FRAME)
    assert (await opened(hand)).missing == (key_of(INDEX),)


async def test_a_file_is_there_once_it_was_received(hand: Hand) -> None:
    build = (await opened(hand)).build
    assert not await intake.has_file(hand.db, build, key_of(FRAME))
    await send(hand, build, FRAME)
    assert await intake.has_file(hand.db, build, key_of(FRAME))
    assert await hand.blobs.read(key_of(FRAME)) == FRAME


async def test_a_file_may_be_sent_twice_at_once(hand: Hand) -> None:
    build = (await opened(hand)).build
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(send(hand, build, FRAME))
    assert (await opened(hand)).missing == (key_of(INDEX),)


async def test_what_the_next_build_has_in_common_is_not_sent_again(hand: Hand) -> None:
    first = await opened(hand)
    await send(hand, first.build, FRAME, INDEX)
    files = manifest(one=b"new")
    second = await opened(hand, replace(NEW, idempotency_key="next"), files)
    assert second.missing == (key_of(b"new"),)


async def test_a_hash_known_from_another_project_still_has_to_be_sent(hand: Hand) -> None:
    await send(hand, (await opened(hand)).build, FRAME, INDEX)
    other = await another_project(hand)
    theirs = await opened(other)
    assert set(theirs.missing) == {key_of(FRAME), key_of(INDEX)}
    assert not await intake.has_file(hand.db, theirs.build, key_of(FRAME))
    with pytest.raises(MissingBlobsError):
        await seal(other, theirs.build)


async def test_another_projects_content_can_be_brought_once_more(hand: Hand) -> None:
    await send(hand, (await opened(hand)).build, FRAME, INDEX)
    other = await another_project(hand)
    theirs = await opened(other)
    await send(other, theirs.build, FRAME, INDEX)
    assert (await seal(other, theirs.build)).state is BuildState.QUEUED


async def test_a_content_that_the_manifest_does_not_name_is_not_asked_about(hand: Hand) -> None:
    build = (await opened(hand)).build
    with pytest.raises(NotInManifestError):
        await intake.has_file(hand.db, build, key_of(b"stranger"))


async def test_a_content_that_the_manifest_does_not_name_is_not_taken(hand: Hand) -> None:
    build = (await opened(hand)).build
    with pytest.raises(NotInManifestError):
        await send(hand, build, b"stranger")
    with pytest.raises(MissingBlobError):
        await hand.blobs.read(key_of(b"stranger"))


@pytest.mark.parametrize("sent", [FRAME[:-1], FRAME + b"!", b"x" * len(FRAME), b""])
async def test_a_file_that_is_not_what_the_manifest_says_stays_missing(
    hand: Hand, sent: bytes
) -> None:
    build = (await opened(hand)).build
    with pytest.raises(WrongContentError):
        await intake.receive_file(hand.db, hand.blobs, build, key_of(FRAME), chunks(sent))
    assert not await intake.has_file(hand.db, build, key_of(FRAME))


async def test_a_connection_that_breaks_in_a_file_leaves_it_missing(hand: Hand) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield FRAME[:3]
        raise ConnectionResetError

    build = (await opened(hand)).build
    with pytest.raises(ConnectionResetError):
        await intake.receive_file(hand.db, hand.blobs, build, key_of(FRAME), broken())
    assert not await intake.has_file(hand.db, build, key_of(FRAME))
    with pytest.raises(MissingBlobError):
        await hand.blobs.read(key_of(FRAME))


async def test_a_whole_bundle_is_sealed_and_its_plan_enqueued(hand: Hand) -> None:
    build = (await opened(hand)).build
    await send(hand, build, FRAME, INDEX)
    sealed = await seal(hand, build)
    assert (sealed.state, sealed.sealed_at is None) == (BuildState.QUEUED, False)
    assert await live_kinds(hand, build) == ["plan"]


async def test_a_build_that_is_sealed_again_is_planned_once(hand: Hand) -> None:
    build = (await opened(hand)).build
    await send(hand, build, FRAME, INDEX)
    sealed = await seal(hand, build)
    assert [await seal(hand, each) for each in (build, sealed)] == [sealed, sealed]
    assert await live_kinds(hand, build) == ["plan"]


async def test_two_seals_at_once_enqueue_one_plan(hand: Hand) -> None:
    build = (await opened(hand)).build
    await send(hand, build, FRAME, INDEX)
    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(seal(hand, build))
    assert await live_kinds(hand, build) == ["plan"]


async def test_a_seal_before_all_files_came_names_what_is_missing(hand: Hand) -> None:
    build = (await opened(hand)).build
    await send(hand, build, FRAME)
    with pytest.raises(MissingBlobsError) as refused:
        await seal(hand, build)
    assert refused.value.missing == (key_of(INDEX),)
    assert (await hand.fresh(build)).state is BuildState.UPLOADING


async def test_a_seal_that_came_too_early_may_be_repeated(hand: Hand) -> None:
    build = (await opened(hand)).build
    with pytest.raises(MissingBlobsError):
        await seal(hand, build)
    await send(hand, build, FRAME, INDEX)
    assert (await seal(hand, build)).state is BuildState.QUEUED


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (index_of([]), NoStoriesError),
        (b"{", BadIndexError),
        (b"\xff\xfe", BadIndexError),
        (b'{"v": 5}', BadIndexError),
    ],
)
async def test_an_index_without_stories_ends_the_build_with_that_reason(
    hand: Hand, index: bytes, error: type[Exception]
) -> None:
    build = (await opened(hand, files=a_manifest(CONTENTS | {"index.json": index}))).build
    await send(hand, build, FRAME, index)
    with pytest.raises(error) as refused:
        await seal(hand, build)
    ended = await hand.fresh(build)
    assert (ended.state, ended.state_reason) == (BuildState.CANCELLED, str(refused.value))
    assert await live_kinds(hand, build) == []


async def test_a_build_that_was_cancelled_meanwhile_is_not_sealed(hand: Hand) -> None:
    build = (await opened(hand)).build
    await send(hand, build, FRAME, INDEX)
    await cancel_build(hand.db, hand.kinds, build.id, Cancel("Ada", "not needed"))
    with pytest.raises(NotUploadingError, match="is cancelled"):
        await seal(hand, build)
    assert await live_kinds(hand, build) == []


async def test_a_sealed_build_takes_no_more_files(hand: Hand) -> None:
    build = (await opened(hand)).build
    await send(hand, build, FRAME, INDEX)
    sealed = await seal(hand, build)
    with pytest.raises(NotUploadingError):
        await send(hand, sealed, FRAME)


async def test_the_manifest_is_read_in_its_own_order(hand: Hand) -> None:
    paths = ["Z.js", "a.js", "a-b.js", "é.js", "assets/z.js"]
    files = a_manifest(CONTENTS | {path: path.encode() for path in paths})
    build = (await opened(hand, files=files)).build
    async with hand.db.transaction() as tx:
        assert await store.files_of(tx, build.id) == files.files


async def test_a_large_manifest_is_written_whole(hand: Hand) -> None:
    many = tuple(BundledFile(f"chunk-{n:05}.js", BlobKey(f"{n:064x}"), n) for n in range(5_001))
    build = (await opened(hand, files=Manifest((*manifest().files, *many)))).build
    async with hand.db.transaction() as tx:
        assert len(await store.files_of(tx, build.id)) == 5_003


async def another_project(hand: Hand) -> Hand:
    async with hand.db.transaction() as tx:
        project = await projects.add(tx, "other", "Other", "main")
    return replace(hand, project=project)
