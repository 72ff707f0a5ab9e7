"""`/projects/{slug}/images/{sha256}`, for pages."""

from storyshelf.projects import store as projects
from storyshelf.storage.blobs import key_of
from tests.builds.hand import Hand, png_of
from tests.ui.visitor import Visitor


async def test_a_picture_can_be_kept_for_ever(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    answer = await visitor.client.get(f"/projects/shop/images/{key_of(png_of('red'))}")
    assert answer.content == png_of("red")
    assert answer.headers["content-type"] == "image/png"
    assert "immutable" in answer.headers["cache-control"]


async def test_a_picture_of_another_project_is_not_here(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    async with hand.db.transaction() as tx:
        await projects.add(tx, "other", "Other", "main")
    await visitor.page(f"/projects/other/images/{key_of(png_of('red'))}", status=404)


async def test_an_uploaded_page_is_not_served_as_one(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    page = await visitor.page(f"/projects/shop/images/{key_of(b'<html></html>')}", status=404)
    assert "The content is not in the blob storage" in page.text
