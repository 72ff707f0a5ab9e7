"""Storybooks of a few files, published: uploaded, sealed, and asked for on their content host."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

import httpx

from storyshelf.builds import intake, store
from storyshelf.builds.build import Build
from storyshelf.bundle.manifest import BundledFile, Manifest
from storyshelf.projects import store as projects
from storyshelf.projects.project import Project
from storyshelf.storage.blobs import key_of
from storyshelf.wiring import Parts
from tests.app import CONTENT_DOMAIN
from tests.builds.hand import chunks, index_of

FRAME = b"<!doctype html><title>frame</title>"
SMALL = {"iframe.html": FRAME, "index.html": b"<!doctype html><title>manager</title>"}
SCRIPT = b"export const price = 3;\n" * 10
FILES = {
    "assets/main.mjs": SCRIPT,
    "assets/Bild ümlaut 100%.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "docs/index.html": b"<h1>docs</h1>",
    "large.bin": bytes(range(256)) * 4096 * 3,
    "empty.txt": b"",
}
SHOP = f"http://shop.{CONTENT_DOMAIN}"
OPENED = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
}


@dataclass
class Shelf:
    """Publishes, as an upload does."""

    parts: Parts
    serial: "count[int]" = field(default_factory=lambda: count(1))

    async def project(self, slug: str, **options: object) -> Project:
        async with self.parts.db.transaction() as tx:
            project = await projects.add(tx, slug, slug.title(), "main")
            await projects.set_options(tx, project.id, options)
            return await projects.by_slug(tx, slug)

    async def publish(
        self, project: Project, files: Mapping[str, bytes] = SMALL, branch: str = "main"
    ) -> Build:
        return await intake.seal(
            self.parts.db, self.parts.blobs, await self.upload(project, files, branch)
        )

    async def upload(
        self, project: Project, files: Mapping[str, bytes] = SMALL, branch: str = "main"
    ) -> Build:
        """Everything but the seal."""
        whole = {"index.json": index_of(["a--one"]), **SMALL, **files}
        listed = [BundledFile(path, key_of(each), len(each)) for path, each in whole.items()]
        new = store.NewBuild(f"published-{next(self.serial):04}", branch, "c0ffee")
        db = self.parts.db
        build = (await intake.open_build(db, project, new, Manifest(tuple(listed)))).build
        for content in whole.values():
            key = key_of(content)
            await intake.receive_file(db, self.parts.blobs, build, key, chunks(content))
        return build


async def enter(client: httpx.AsyncClient, address: str) -> httpx.Response:
    """Follow a link of the app as a browser does that a person has follow it."""
    return await client.get(address, headers=OPENED, follow_redirects=True)
