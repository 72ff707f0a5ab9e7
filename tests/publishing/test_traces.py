"""Traces on a content host: whose, for whom, and as what."""

from collections.abc import Sequence

import httpx
import pytest

from storyshelf.auth.permissions import Role
from storyshelf.ids import SnapshotId
from storyshelf.projects.project import Project
from storyshelf.publishing.trace_viewer import viewer_assets
from storyshelf.wiring import Parts
from tests.app import CONTENT_DOMAIN
from tests.builds.hand import Hand
from tests.people import sign_in
from tests.publishing.shelf import OPENED, SHOP, Shelf
from tests.traces.recordings import a_zip, recorded

LOOK = {"a--one": "!"}
EVIL = f"http://evil.{CONTENT_DOMAIN}"


async def a_trace(parts: Parts, project: Project) -> SnapshotId:
    hand = Hand(parts.db, parts.blobs, project)
    build = await hand.run(LOOK)
    return await recorded(hand, build, "a--one", a_zip(project.slug.encode()))


async def enter(client: httpx.AsyncClient, parts: Parts, projects: Sequence[Project]) -> None:
    """Sign in as somebody who may look, and be handed over to each content host."""
    roles = {project.id: Role.VIEWER for project in projects}
    await sign_in(parts.db, client, "cleo@shelf.test", roles=roles)
    del client.headers["origin"]  # what it asks for is opened, and on several hosts
    for project in projects:
        way = f"/projects/{project.slug}/builds/1/storybook"
        answer = await client.get(way, headers=OPENED)
        await client.get(answer.headers["location"], headers=OPENED)


async def test_a_member_gets_the_trace_as_a_file_whole_or_in_parts(
    client: httpx.AsyncClient, parts: Parts, shelf: Shelf
) -> None:
    shop = await shelf.project("shop")
    snapshot = await a_trace(parts, shop)
    await enter(client, parts, [shop])
    address = f"{SHOP}/traces/{snapshot}.zip"
    whole = await client.get(address)
    assert (whole.status_code, whole.content) == (200, a_zip(b"shop"))
    assert whole.headers["content-disposition"] == 'attachment; filename="trace.zip"'
    assert whole.headers["cache-control"] == "private, no-cache"
    part = await client.get(address, headers={"range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, b"PK\x03\x04")
    again = await client.get(address, headers={"if-none-match": whole.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("path", ["/traces/{id}.zip", "/trace-viewer/index.html"])
async def test_a_stranger_gets_nothing_of_a_public_project_either(
    client: httpx.AsyncClient, parts: Parts, shelf: Shelf, path: str
) -> None:
    shop = await shelf.project("shop", public_storybook=True)
    snapshot = await a_trace(parts, shop)
    answer = await client.get(SHOP + path.format(id=snapshot))
    assert answer.status_code == 401
    assert "for members of its project" in answer.text


async def test_another_project_s_trace_is_at_no_address(
    client: httpx.AsyncClient, parts: Parts, shelf: Shelf
) -> None:
    shop, evil = [await shelf.project(slug) for slug in ("shop", "evil")]
    of_shop = await a_trace(parts, shop)
    of_evil = await a_trace(parts, evil)
    await enter(client, parts, [evil])
    assert (await client.get(f"{EVIL}/traces/{of_evil}.zip")).status_code == 200
    for address in (f"{EVIL}/traces/{of_shop}.zip", f"{EVIL}/traces/999.zip"):
        answer = await client.get(address)
        assert answer.status_code == 404
        assert "There is no trace of this snapshot" in answer.text
    assert (await client.get(f"{SHOP}/traces/{of_shop}.zip")).status_code == 401
    for page in ("trace", "trace.zip"):
        led = f"/projects/evil/builds/1/snapshots/{of_shop}/{page}"
        assert (await client.get(led, headers=OPENED)).status_code == 404


async def test_the_viewer_is_files_of_its_folder_that_load_from_their_own_host_alone(
    client: httpx.AsyncClient, parts: Parts, shelf: Shelf
) -> None:
    shop = await shelf.project("shop")
    await shelf.publish(shop)
    await enter(client, parts, [shop])
    names = viewer_assets().keys()
    assert {"index.html", "sw.bundle.js", "snapshot.html"} <= names
    assert not [name for name in names if "uiMode" in name]
    for name in ("index.html", "sw.bundle.js"):  # the worker is what fetches
        answer = await client.get(f"{SHOP}/trace-viewer/{name}")
        assert answer.status_code == 200
        policy = answer.headers["content-security-policy"].split("; ")
        assert {"default-src 'none'", "connect-src 'self'", "frame-ancestors 'self'"} <= {*policy}
    worker = await client.get(f"{SHOP}/trace-viewer/sw.bundle.js")
    known = {"if-none-match": worker.headers["etag"]}
    assert (await client.get(worker.url, headers=known)).status_code == 304
    for path in ("uiMode.html", "..%2f..%2fsw.bundle.js", "%2e%2e/index.html", "", "assets/"):
        assert (await client.get(f"{SHOP}/trace-viewer/{path}")).status_code == 404, path
    assert (await client.post(f"{SHOP}/trace-viewer/index.html")).status_code == 405
