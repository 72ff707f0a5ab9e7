"""The upload of a build: open, send what is missing, seal; and every way to be refused."""

from pathlib import Path
from typing import Any

import pytest

from storyshelf.auth import store as tokens
from storyshelf.auth.permissions import Scope
from storyshelf.auth.tokens import mint
from storyshelf.builds import store as builds
from storyshelf.builds.build import CiRun
from storyshelf.bundle.manifest import ManifestLimits
from storyshelf.db.engine import Database
from storyshelf.storage.blobs import key_of
from tests.api.client import FILES, Robo, manifest_of, problem
from tests.app import asking, parts_on
from tests.builds.hand import Hand, index_of
from tests.queue.builders import table

OTHER = b"<html>other</html>"


async def test_a_build_is_opened_with_what_is_missing(robo: Robo) -> None:
    answer = await robo.open(message="Softer", author="Ada")
    assert answer.status_code == 201
    said = answer.json()
    assert said["missing"] == [key_of(FILES["again.html"]), key_of(FILES["index.json"])]
    build = said["build"]
    assert (build["number"], build["state"]) == (1, "uploading")
    assert (build["message"], build["author"]) == ("Softer", "Ada")
    assert build["url"] == "http://shelf.test/projects/shop/builds/1"
    assert build["counts"]["undecided"] == 0
    unknown = dict.fromkeys(["rate_per_s", "eta_s", "sampled_at"])
    assert build["progress"] == {"done": 0, "total": 0, **unknown}


async def test_an_upload_goes_from_open_to_sealed(robo: Robo) -> None:
    await robo.open()
    await robo.send()
    sealed = await robo.seal()
    assert sealed.status_code == 200
    assert sealed.json()["build"]["state"] == "queued"
    again = await robo.seal()
    assert again.json()["build"]["sealed_at"] == sealed.json()["build"]["sealed_at"]


async def test_the_trace_of_an_upload_goes_on_to_the_jobs_of_its_build(
    robo: Robo, db: Database
) -> None:
    traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    headers = {"x-request-id": "ci-42", "traceparent": traceparent}
    opened = await robo.post(
        robo.builds,
        headers=headers,
        json={
            "idempotency_key": "key-0001",
            "commit": "c0ffee",
            "branch": "main",
            "files": manifest_of(FILES),
        },
    )
    assert opened.headers["x-request-id"] == "ci-42"
    await robo.send()
    await robo.seal()
    (job,) = await table(db, "jobs")
    assert (job["request_id"], job["traceparent"]) == ("ci-42", traceparent)


async def test_the_same_key_resumes_and_sends_only_the_rest(robo: Robo) -> None:
    await robo.open()
    await robo.put(FILES["iframe.html"])
    again = await robo.open()
    assert again.status_code == 200
    assert again.json()["missing"] == [key_of(FILES["index.json"])]
    assert again.json()["build"]["number"] == 1


async def test_a_file_that_is_here_is_not_stored_twice(robo: Robo) -> None:
    await robo.open()
    assert (await robo.put(FILES["iframe.html"])).status_code == 201
    assert (await robo.put(FILES["iframe.html"])).status_code == 200


@pytest.mark.parametrize(
    "other", [{"commit": "beef"}, {"branch": "x"}, {"files": manifest_of({**FILES, "x": b"x"})}]
)
async def test_a_key_is_not_reused_for_another_build(robo: Robo, other: dict[str, Any]) -> None:
    await robo.open()
    problem(await robo.open(**other), 409, "key-reused")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("../index.json", "traversal-path"),
        ("/etc/passwd", "absolute-path"),
        ("C:/x", "drive-path"),
        ("a\\b", "backslash-path"),
        ("a/%2e%2e/b", "encoded-path"),
        ("iframe.html", "duplicate-path"),
        ("iframe.html/x", "file-and-folder"),
    ],
)
async def test_a_name_that_is_none_is_refused(robo: Robo, path: str, kind: str) -> None:
    entries = [*manifest_of(FILES), *manifest_of({path: b"x"})]
    assert problem(await robo.open(entries), 422, kind)["next_step"]
    assert (await robo.get(robo.builds)).json()["items"] == []


@pytest.mark.parametrize(
    ("missing", "kind"), [("index.json", "no-index"), ("iframe.html", "no-frame")]
)
async def test_what_is_no_storybook_is_refused(robo: Robo, missing: str, kind: str) -> None:
    files = {path: content for path, content in FILES.items() if path != missing}
    problem(await robo.open(files), 422, kind)


async def test_a_manifest_beyond_the_limits_is_refused(hand: Hand, tmp_path: Path) -> None:
    token = mint(b"l" * 32)
    async with hand.db.transaction() as tx:
        await tokens.add_token(tx, hand.project.id, tokens.TokenUse("ci"), token)
    small = ManifestLimits(max_files=3, max_file_bytes=500, max_bundle_bytes=600)
    async with asking(parts_on(hand.db, tmp_path / "blobs", small)) as http:
        robo = Robo(http, token.text)
        for added in ({"4": b""}, {"again.html": b"x" * 501}, {"again.html": b"x" * 450}):
            problem(await robo.open({**FILES, **added}), 413, "manifest-too-large")
        assert (await robo.open()).status_code == 201
        too_large = await robo.put(b"x" * 501, key=key_of(FILES["iframe.html"]))
        problem(too_large, 413, "body-too-large")


@pytest.mark.parametrize(
    ("sent", "why"),
    [(b"<html></htmL>", "sha256"), (b"<html>", "6 of 13 bytes"), (b"<html></html>!", "more than")],
)
async def test_wrong_content_is_refused_and_not_kept(robo: Robo, sent: bytes, why: str) -> None:
    await robo.open()
    key = key_of(FILES["iframe.html"])
    assert why in problem(await robo.put(sent, key=key), 422, "wrong-content")["what"]
    assert key in (await robo.open()).json()["missing"]


async def test_what_the_manifest_does_not_name_is_refused(robo: Robo) -> None:
    await robo.open()
    problem(await robo.put(OTHER), 404, "not-in-manifest")
    for key in ("x", "A" * 64, "a%00b"):
        answer = await robo.put(OTHER, key=key)
        assert answer.status_code in {404, 422}, key


async def test_a_length_must_be_declared(robo: Robo) -> None:
    async def streamed() -> Any:
        yield FILES["iframe.html"]

    await robo.open()
    path = f"{robo.builds}/1/blobs/{key_of(FILES['iframe.html'])}"
    problem(await robo.ask("PUT", path, content=streamed()), 411, "length-not-declared")


async def test_a_streamed_body_is_cut_at_its_limit(robo: Robo) -> None:
    async def streamed() -> Any:
        for _ in range(40):
            yield b" " * (1 << 20)

    answer = await robo.ask("POST", robo.builds, content=streamed())
    problem(answer, 413, "body-too-large")
    problem(
        await robo.post(f"{robo.builds}/1/cancel", content=b" " * (1 << 21)), 413, "body-too-large"
    )


async def test_an_ended_build_takes_no_more_files(robo: Robo) -> None:
    await robo.open()
    await robo.post(f"{robo.builds}/1/cancel")
    problem(await robo.put(FILES["iframe.html"]), 409, "not-uploading")
    problem(await robo.seal(), 409, "not-uploading")


async def test_a_seal_before_the_files_names_what_is_missing(robo: Robo) -> None:
    await robo.open()
    said = problem(await robo.seal(), 409, "missing-blobs")
    assert said["missing"] == [key_of(FILES["again.html"]), key_of(FILES["index.json"])]


async def test_an_index_without_stories_ends_the_build(robo: Robo) -> None:
    files = {**FILES, "index.json": index_of([])}
    await robo.open(files)
    await robo.send(files)
    problem(await robo.seal(), 422, "no-stories")
    build = (await robo.get(f"{robo.builds}/1")).json()["build"]
    assert build["state"] == "cancelled"
    assert "stor" in build["state_reason"]


async def test_a_newer_build_ends_the_older_one_where_asked(robo: Robo) -> None:
    await robo.open()
    await robo.open(idempotency_key="key-0002", branch="other")
    await robo.open(idempotency_key="key-0003", cancel_older=True)
    listed = (await robo.get(robo.builds)).json()["items"]
    assert [build["state"] for build in listed] == ["uploading", "uploading", "cancelled"]


@pytest.mark.parametrize(
    "field",
    [
        {"idempotency_key": "short"},
        {"commit": ""},
        {"branch": "x" * 501},
        {"files": [{"path": "x"}]},
        {"files": "x"},
        {"unknown": 1},
    ],
)
async def test_a_malformed_opening_is_refused(robo: Robo, field: dict[str, Any]) -> None:
    problem(await robo.open(**field), 422, "malformed-request")


@pytest.mark.parametrize("field", [{"branch": "a\0b"}, {"message": "a\0b"}, {"commit": "\0"}])
async def test_a_text_that_cannot_be_stored_is_refused(robo: Robo, field: dict[str, Any]) -> None:
    problem(await robo.open(**field), 422, "malformed-request")


async def test_a_body_that_is_no_json_is_refused(robo: Robo) -> None:
    problem(await robo.post(robo.builds, content=b"{"), 422, "malformed-request")


CI: dict[str, Any] = {
    "provider": "github",
    "event": "pull_request",
    "run_url": "https://forge.test/runs/1",
    "repository": "shelf/shop",
    "base_branch": "main",
    "is_fork": True,
}
SKIP = {"commit": "c0ffee", "branch": "main", "reason": "only texts changed", "pull_request": 7}


async def test_a_build_remembers_its_pull_request_and_its_run(robo: Robo, hand: Hand) -> None:
    assert (await robo.open(pull_request=7, ci=CI)).status_code == 201
    async with hand.db.transaction() as tx:
        build = await builds.by_number(tx, hand.project, 1)
    assert build.pull_request == 7
    assert build.ci == CiRun(**CI)


@pytest.mark.parametrize(
    "fields",
    [
        {"pull_request": 0},
        {"pull_request": 2**31},
        {"ci": {"run_url": "javascript:alert(1)"}},
        {"ci": {"provider": "x" * 51}},
        {"ci": {"weather": "fine"}},
    ],
)
async def test_facts_of_a_run_are_bounded(robo: Robo, fields: dict[str, Any]) -> None:
    problem(await robo.open(**fields), 422, "malformed-request")


async def test_a_build_is_skipped_with_its_reason(robo: Robo) -> None:
    answer = await robo.post(f"{robo.builds}/skip", json={**SKIP, "ci": CI})
    assert answer.status_code == 201
    build = answer.json()["build"]
    assert (build["state"], build["state_reason"]) == ("skipped", "only texts changed")
    again = await robo.post(f"{robo.builds}/skip", json=SKIP)
    assert (again.status_code, again.json()["build"]["number"]) == (200, build["number"])


async def test_a_token_that_only_reads_skips_nothing(hand: Hand, robo: Robo) -> None:
    token = mint(b"v" * 32)
    async with hand.db.transaction() as tx:
        use = tokens.TokenUse("reader", frozenset({Scope.READ}))
        await tokens.add_token(tx, hand.project.id, use, token)
    reader = Robo(robo.http, token.text)
    problem(await reader.post(f"{robo.builds}/skip", json=SKIP), 403, "forbidden")
