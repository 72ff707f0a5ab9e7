"""`/projects/{slug}/images/{sha256}` and `/thumbnails/{sha256}`, for pages."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

from PIL import Image

from storyshelf.diff.png_header import SIGNATURE
from storyshelf.ids import BlobKey
from storyshelf.projects import store as projects
from storyshelf.snapshots.snapshot import Picture
from storyshelf.storage import store as blob_rows
from storyshelf.storage.blobs import key_of
from storyshelf.storage.local import LocalBlobs
from storyshelf.web.images import CHUNK_BYTES
from tests.app import asking, parts_on
from tests.builds.hand import CAPTURE_LANE, Hand, png_of
from tests.people import sign_in
from tests.ui.visitor import Visitor


async def test_a_picture_can_be_kept_for_ever(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    answer = await visitor.client.get(f"/projects/shop/images/{key_of(png_of('red'))}")
    assert answer.content == png_of("red")
    assert answer.headers["content-type"] == "image/png"
    assert "immutable" in answer.headers["cache-control"]


class Watched(LocalBlobs):
    """Tells how much was read at once."""

    most_bytes = 0

    async def read(self, key: BlobKey) -> bytes:
        content = await super().read(key)
        self.most_bytes = max(self.most_bytes, len(content))
        return content

    async def read_part(self, key: BlobKey, start: int, size_bytes: int) -> bytes:
        content = await super().read_part(key, start, size_bytes)
        self.most_bytes = max(self.most_bytes, len(content))
        return content


async def test_a_large_picture_is_never_held_whole(hand: Hand, tmp_path: Path) -> None:
    """Else a few readers who take their time fill the memory."""
    blobs = Watched(tmp_path / "blobs")
    content = SIGNATURE + bytes(3 * CHUNK_BYTES)
    key = await blobs.put(content)
    async with hand.db.transaction() as tx:
        await blob_rows.remember(tx, hand.project.id, {key: len(content)})
    async with asking(replace(parts_on(hand.db, tmp_path), blobs=blobs)) as client:
        await sign_in(hand.db, client)
        answer = await client.get(f"/projects/shop/images/{key}")
    assert answer.content == content
    assert blobs.most_bytes == CHUNK_BYTES


async def test_a_picture_of_another_project_is_not_here(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    async with hand.db.transaction() as tx:
        await projects.add(tx, "other", "Other", "main")
    await visitor.page(f"/projects/other/images/{key_of(png_of('red'))}", status=404)


async def test_an_uploaded_page_is_not_served_as_one(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    page = await visitor.page(f"/projects/shop/images/{key_of(b'<html></html>')}", status=404)
    assert "The content is not in the blob storage" in page.text


async def test_a_thumbnail_is_small_and_can_be_kept_for_ever(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    link = f"/projects/shop/thumbnails/{key_of(png_of('red'))}"
    answer = await visitor.client.get(link)
    assert answer.headers["content-type"] == "image/webp"
    assert "immutable" in answer.headers["cache-control"]
    assert Image.open(BytesIO(answer.content)).size == (12, 8)
    seen = {"if-none-match": answer.headers["etag"]}
    assert (await visitor.client.get(link, headers=seen)).status_code == 304


async def test_a_thumbnail_of_another_project_or_of_no_picture_is_not_here(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run({"a--one": "red"})
    async with hand.db.transaction() as tx:
        await projects.add(tx, "other", "Other", "main")
    await visitor.page(f"/projects/other/thumbnails/{key_of(png_of('red'))}", status=404)
    await visitor.page(f"/projects/shop/thumbnails/{key_of(b'<html></html>')}", status=404)


async def test_what_cannot_be_made_small_is_shown_as_it_is(hand: Hand, visitor: Visitor) -> None:
    build = await hand.upload(["a--one"])
    await hand.plan(build, ["a--one"])
    cut = png_of("red")[:45]
    key = await hand.blobs.put(cut)
    lease = await hand.claim(CAPTURE_LANE)
    work = await hand.work_of(lease)
    shot = await hand.shot(work.snapshots[0], {"a--one": "red"})
    await hand.record(lease, work, [replace(shot, picture=Picture(key, len(cut), 12, 8))])
    answer = await visitor.client.get(f"/projects/shop/thumbnails/{key}")
    assert answer.status_code == 307, answer.text
    assert answer.headers["location"] == f"/projects/shop/images/{key}"
