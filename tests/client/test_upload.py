from pathlib import Path

import httpx
import pytest

from storyshelf.client.answers import Build
from storyshelf.client.commit import Commit
from storyshelf.client.errors import (
    ApiProblemError,
    FileChangedError,
    ServerUnreachableError,
    StillMissingError,
)
from storyshelf.client.upload import Finding, SentBytes, idempotency_key, upload
from tests.client.helpers import COMMIT, a_request, a_storybook, hashed, session
from tests.client.server import SLUG, FakeServer, problem

FILES = {f"chunk{number}.js": f"content {number}" for number in range(20)}


def unwatched(sent: SentBytes) -> None:
    pass


async def test_all_contents_arrive_and_the_build_is_sealed(tmp_path: Path) -> None:
    server, folder = FakeServer(), hashed(a_storybook(tmp_path, **FILES))
    async with session(server) as api:
        uploaded = await upload(api, SLUG, folder, a_request(folder), unwatched)
    assert server.build(1).is_sealed
    assert set(server.blobs) == {file.sha256 for file in folder.manifest.files}
    assert (uploaded.finding, uploaded.sent.files) == (Finding.UNFINISHED, 22)


async def test_an_upload_cut_at_half_goes_on_with_only_what_is_missing(tmp_path: Path) -> None:
    server, folder = FakeServer(), hashed(a_storybook(tmp_path, **FILES))

    def after_half(request: httpx.Request) -> bool:
        return len(server.puts) >= 11

    async with session(server, is_cut=after_half) as api:
        with pytest.raises(ServerUnreachableError):
            await upload(api, SLUG, folder, a_request(folder), unwatched)
    first = set(server.puts)
    assert 11 <= len(first) < 22
    async with session(server) as api:
        uploaded = await upload(api, SLUG, folder, a_request(folder), unwatched)
    assert len(server.puts) == len(set(server.puts)) == 22
    assert (uploaded.build.number, uploaded.spared_files) == (1, len(first))


async def test_equal_files_are_sent_once(tmp_path: Path) -> None:
    server = FakeServer()
    folder = hashed(a_storybook(tmp_path, one__a="same", two__a="same"))
    async with session(server) as api:
        await upload(api, SLUG, folder, a_request(folder), unwatched)
    assert len(server.puts) == 3


async def test_the_same_upload_again_sends_nothing_and_is_the_same_build(tmp_path: Path) -> None:
    server, folder = FakeServer(), hashed(a_storybook(tmp_path))
    async with session(server) as api:
        await upload(api, SLUG, folder, a_request(folder), unwatched)
        again = await upload(api, SLUG, folder, a_request(folder), unwatched)
    assert (again.finding, again.build.number) == (Finding.ALREADY_HERE, 1)
    assert len(server.puts) == 2


async def test_a_nonce_makes_another_build_of_the_same_files(tmp_path: Path) -> None:
    server, folder = FakeServer(), hashed(a_storybook(tmp_path))
    async with session(server) as api:
        await upload(api, SLUG, folder, a_request(folder), unwatched)
        forced = await upload(api, SLUG, folder, a_request(folder, "again"), unwatched)
    assert (forced.build.number, forced.sent.files) == (2, 0)


async def test_a_file_that_changed_after_hashing_is_named(tmp_path: Path) -> None:
    server, folder = FakeServer(), hashed(a_storybook(tmp_path, late="before"))
    (tmp_path / "late").write_text("longer than before")
    async with session(server) as api:
        with pytest.raises(FileChangedError, match="late"):
            await upload(api, SLUG, folder, a_request(folder), unwatched)
    assert not server.build(1).is_sealed


async def test_a_changed_file_of_equal_length_is_refused_by_the_server(tmp_path: Path) -> None:
    server, folder = FakeServer(), hashed(a_storybook(tmp_path, late="before"))
    (tmp_path / "late").write_text("beform")
    async with session(server) as api:
        with pytest.raises(ApiProblemError, match="not what its hash says"):
            await upload(api, SLUG, folder, a_request(folder), unwatched)
    assert not server.build(1).is_sealed


async def test_a_seal_that_misses_files_is_answered_by_sending_them_again(tmp_path: Path) -> None:
    server, folder = FakeServer(loses_blobs_before_seal=1), hashed(a_storybook(tmp_path))
    async with session(server) as api:
        await upload(api, SLUG, folder, a_request(folder), unwatched)
    assert server.build(1).is_sealed
    assert len(server.puts) == 3


async def test_a_server_that_loses_every_blob_is_given_up(tmp_path: Path) -> None:
    server, folder = FakeServer(loses_blobs_before_seal=99), hashed(a_storybook(tmp_path))
    async with session(server) as api:
        with pytest.raises(StillMissingError, match="1 files are still missing"):
            await upload(api, SLUG, folder, a_request(folder), unwatched)


@pytest.mark.parametrize("state", ["capturing", "cancelled"])
async def test_an_upload_that_ends_elsewhere_meanwhile_is_reported_as_it_is(
    tmp_path: Path, state: str
) -> None:
    server = FakeServer(ends_after_puts=5, states=[state])
    folder = hashed(a_storybook(tmp_path, **FILES))
    async with session(server) as api:
        uploaded = await upload(api, SLUG, folder, a_request(folder), unwatched)
    assert uploaded.build.state == state
    assert len(server.puts) == 5


async def test_a_conflict_that_is_not_about_files_is_raised(tmp_path: Path) -> None:
    server, folder = FakeServer(), hashed(a_storybook(tmp_path))
    server.refuse_seal = problem(409, "locked", "The project is locked", "Wait.")
    async with session(server) as api:
        with pytest.raises(ApiProblemError, match="project is locked"):
            await upload(api, SLUG, folder, a_request(folder), unwatched)


async def test_progress_counts_contents_and_bytes_up_to_the_total(tmp_path: Path) -> None:
    server, folder = FakeServer(), hashed(a_storybook(tmp_path, **FILES))
    seen: list[SentBytes] = []
    async with session(server) as api:
        await upload(api, SLUG, folder, a_request(folder), seen.append)
    assert seen[0] == SentBytes(0, 22, 0, folder.manifest.total_bytes)
    assert seen[-1] == SentBytes(22, 22, folder.manifest.total_bytes, folder.manifest.total_bytes)
    assert [step.files for step in seen] == list(range(23))


async def test_a_refused_open_is_raised_in_the_servers_words(tmp_path: Path) -> None:
    folder = hashed(a_storybook(tmp_path))
    refusal = problem(409, "other-upload", "This key belongs to another upload", "Use another.")
    async with session(FakeServer(refusals=[refusal])) as api:
        with pytest.raises(ApiProblemError, match=r"another upload \(here\). Use another"):
            await upload(api, SLUG, folder, a_request(folder), unwatched)


def test_the_key_is_of_commit_branch_and_content(tmp_path: Path) -> None:
    manifest = hashed(a_storybook(tmp_path)).manifest
    other = hashed(a_storybook(tmp_path, more="x")).manifest
    keys = {
        idempotency_key(COMMIT, manifest),
        idempotency_key(COMMIT, manifest, "nonce"),
        idempotency_key(COMMIT, other),
        idempotency_key(Commit(COMMIT.commit, "other"), manifest),
        idempotency_key(Commit("d" * 40, "main"), manifest),
    }
    assert len(keys) == 5
    assert idempotency_key(Commit(COMMIT.commit, "main", "other words"), manifest) in keys


def test_a_build_that_is_not_uploading_has_a_state_of_its_own(tmp_path: Path) -> None:
    build = Build.model_validate(
        {
            "number": 1,
            "url": "u",
            "state": "from-the-future",
            "branch": "main",
            "commit": "c",
            "counts": {},
            "progress": {"done": 0, "total": 0},
            "more": 1,
        }
    )
    assert not build.is_uploading
    assert build.model_dump()["more"] == 1
