"""Pictures by content: kept for ever, only pictures, only the project's own."""

from storyshelf.storage.blobs import key_of
from tests.api.client import API, FILES, Robo, problem
from tests.builds.hand import Hand, png_of

RED = key_of(png_of("red"))
IMAGES = f"{API}/projects/shop/images"


async def test_a_picture_is_the_stored_bytes_and_never_changes(robo: Robo, hand: Hand) -> None:
    await hand.run({"a--one": "red"})
    answer = await robo.get(f"{IMAGES}/{RED}")
    assert answer.content == png_of("red")
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["etag"] == f'"{RED}"'


async def test_a_picture_that_is_known_is_not_sent_again(robo: Robo, hand: Hand) -> None:
    await hand.run({"a--one": "red"})
    known = await robo.get(f"{IMAGES}/{RED}", headers={"if-none-match": f'W/"x", "{RED}"'})
    assert (known.status_code, known.content) == (304, b"")
    other = await robo.get(f"{IMAGES}/{RED}", headers={"if-none-match": '"x"'})
    assert other.status_code == 200


async def test_another_projects_picture_is_not_found(
    robo: Robo, stranger: Robo, hand: Hand
) -> None:
    await hand.run({"a--one": "red"})
    answer = await stranger.get(
        f"{API}/projects/cleos/images/{RED}", headers={"if-none-match": f'"{RED}"'}
    )
    problem(answer, 404, "missing-blob")


async def test_an_uploaded_file_is_never_served_as_a_picture(robo: Robo) -> None:
    script = {**FILES, "evil.png": b"<svg onload=alert(1)>"}
    await robo.open(script)
    await robo.send(script)
    for content in script.values():
        problem(await robo.get(f"{IMAGES}/{key_of(content)}"), 404, "missing-blob")


async def test_what_is_no_hash_is_not_found(robo: Robo) -> None:
    for name in ("x", RED.upper(), RED[:-1], "%2e%2e"):
        problem(await robo.get(f"{IMAGES}/{name}"), 404, "missing-blob")
