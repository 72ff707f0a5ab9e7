"""What a content host answers: which file, and with which headers."""

import httpx
import pytest

from storyshelf.ids import BlobKey
from storyshelf.projects.project import Project
from storyshelf.wiring import Parts
from tests.publishing.shelf import FILES, OPENED, SCRIPT, SHOP, SMALL, Shelf


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("/builds/1/", "index.html"),
        ("/builds/1/iframe.html?id=a--one&viewMode=story", "iframe.html"),
        ("/builds/1/docs/", "docs/index.html"),
        ("/builds/1/assets/main.mjs?v=1", "assets/main.mjs"),
        ("/builds/1/assets/Bild%20%C3%BCmlaut%20100%25.svg", "assets/Bild ümlaut 100%.svg"),
        ("/builds/1/assets/Bild%20u%CC%88mlaut%20100%25.svg", "assets/Bild ümlaut 100%.svg"),
        ("/builds/1/large.bin", "large.bin"),
        ("/builds/1/empty.txt", "empty.txt"),
    ],
)
async def test_a_file_is_answered_as_it_was_uploaded(
    client: httpx.AsyncClient, open_shop: Project, address: str, path: str
) -> None:
    answer = await client.get(SHOP + address)
    assert (answer.status_code, answer.content) == (200, (SMALL | FILES)[path])


async def test_what_a_browser_is_told_of_a_file(
    client: httpx.AsyncClient, open_shop: Project
) -> None:
    answer = await client.get(f"{SHOP}/builds/1/assets/main.mjs")
    told = {
        name: answer.headers[name]
        for name in answer.headers
        if name not in {"etag", "x-request-id"}
    }
    assert told == {
        "content-type": "text/javascript; charset=utf-8",
        "content-length": str(len(SCRIPT)),
        "accept-ranges": "bytes",
        "cache-control": "public, max-age=300",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "origin-agent-cluster": "?1",
        "referrer-policy": "same-origin",
        "vary": "Sec-Fetch-Site",
        "x-content-type-options": "nosniff",
        "content-security-policy": "frame-ancestors 'self'",
    }


async def test_head_tells_the_same_without_the_content(
    client: httpx.AsyncClient, open_shop: Project
) -> None:
    address = f"{SHOP}/builds/1/assets/main.mjs"
    asked = {"x-request-id": "the-same"}
    whole, head = [
        await client.request(method, address, headers=asked) for method in ("GET", "HEAD")
    ]
    assert (head.status_code, head.content, head.headers) == (200, b"", whole.headers)


@pytest.mark.parametrize("known", ["{etag}", "W/{etag}", '"other", {etag}', "*"])
async def test_what_the_browser_has_is_not_sent_again(
    client: httpx.AsyncClient, open_shop: Project, known: str
) -> None:
    address = f"{SHOP}/builds/1/assets/main.mjs"
    etag = (await client.get(address)).headers["etag"]
    answer = await client.get(address, headers={"if-none-match": known.format(etag=etag)})
    assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag)


@pytest.mark.parametrize(
    ("asked", "told", "part"),
    [
        ("bytes=0-9", "bytes 0-9/240", SCRIPT[:10]),
        ("bytes=230-", "bytes 230-239/240", SCRIPT[230:]),
        ("bytes=-5", "bytes 235-239/240", SCRIPT[-5:]),
    ],
)
async def test_a_range_is_answered_with_that_part(
    client: httpx.AsyncClient, open_shop: Project, asked: str, told: str, part: bytes
) -> None:
    address = f"{SHOP}/builds/1/assets/main.mjs"
    answer = await client.get(address, headers={"range": asked})
    assert (answer.status_code, answer.content) == (206, part)
    assert answer.headers["content-range"] == told


async def test_a_range_across_chunks_is_whole(
    client: httpx.AsyncClient, open_shop: Project
) -> None:
    asked = {"range": "bytes=1000000-2999999"}
    answer = await client.get(f"{SHOP}/builds/1/large.bin", headers=asked)
    assert answer.content == FILES["large.bin"][1_000_000:3_000_000]


async def test_a_range_of_other_content_is_answered_with_the_whole(
    client: httpx.AsyncClient, open_shop: Project
) -> None:
    asked = {"range": "bytes=0-9", "if-range": '"of another build"'}
    answer = await client.get(f"{SHOP}/builds/1/assets/main.mjs", headers=asked)
    assert (answer.status_code, answer.content) == (200, SCRIPT)


async def test_a_range_past_the_end_cannot_be_answered(
    client: httpx.AsyncClient, open_shop: Project
) -> None:
    asked = {"range": "bytes=240-"}
    answer = await client.get(f"{SHOP}/builds/1/assets/main.mjs", headers=asked)
    assert (answer.status_code, answer.headers["content-range"]) == (416, "bytes */240")


@pytest.mark.parametrize(
    ("address", "location"),
    [
        ("/builds/1", "/builds/1/"),
        ("/builds/1?path=/story/a--one", "/builds/1/?path=/story/a--one"),
        ("/builds/1/docs", "/builds/1/docs/"),
        ("/", "/builds/1/"),
        ("/branches/main", "/builds/1/"),
        ("/branches/main/?path=/story/a--one", "/builds/1/?path=/story/a--one"),
        ("/branches/main/assets/main.mjs", "/builds/1/assets/main.mjs"),
        ("/branches/main/a%20%C3%BC", "/builds/1/a%20%C3%BC"),
    ],
)
async def test_short_addresses_lead_to_the_builds_own(
    client: httpx.AsyncClient, open_shop: Project, address: str, location: str
) -> None:
    answer = await client.get(SHOP + address)
    assert (answer.status_code, answer.headers["location"]) == (302, location)
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("branch", "written"),
    [
        ("feature/login", "feature%2Flogin"),
        ("fix-🐛/ü", "fix-%F0%9F%90%9B%2F%C3%BC"),
        ("50% off", "50%25%20off"),
        ("<script>alert(1)</script>", "%3Cscript%3Ealert(1)%3C%2Fscript%3E"),
    ],
)
async def test_a_branch_leads_to_its_newest_sealed_build(
    client: httpx.AsyncClient, shelf: Shelf, open_shop: Project, branch: str, written: str
) -> None:
    for _ in range(2):
        await shelf.publish(open_shop, branch=branch)
    await shelf.upload(open_shop, branch=branch)
    await shelf.publish(open_shop)
    answer = await client.get(f"{SHOP}/branches/{written}/")
    assert answer.headers["location"] == "/builds/3/"


FOREIGN = [
    {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest}
    for site in ("same-site", "cross-site")
    for mode, dest in (
        ("no-cors", "script"),
        ("no-cors", "image"),
        ("cors", "empty"),
        ("navigate", "iframe"),
        ("navigate", "object"),
        ("no-cors", "document"),
    )
] + [{"origin": "http://other.content.shelf.test"}, {"origin": "null"}]
NOWHERE = [
    "/builds/2/",
    "/builds/01/",
    "/builds/0/",
    "/builds/-1/",
    "/builds/9999999999/",
    "/builds/%31%00/",
    "/builds/1/no.js",
    "/builds/1/..%2fassets/main.mjs",
    "/builds/1/assets%2Fmain.mjs",
    "/builds/1/assets%5Cmain.mjs",
    "/builds/1/%2e%2e/%2e%2e/etc/passwd",
    "/builds/1/%252e%252e/main.mjs",
    "/builds/1//etc/passwd",
    "/builds/1/assets//main.mjs",
    "/builds/1/ASSETS/main.mjs",
    "/builds/1/%00",
    "/builds/1/%ff",
    "/builds/1/a%0d%0aSet-Cookie:a=b",
    "/branches/none/",
    "/branches/%00/",
    "/branches/%ff/",
    "/branches//",
    "//builds/1/",
    "/projects/shop",
    "/api/v1/limits",
    "/health/live",
    "/static/x/keys.js",
    "/%3Cscript%3Ealert(1)%3C/script%3E",
]


async def test_what_is_not_there_is_told_on_a_page_without_script(
    client: httpx.AsyncClient, open_shop: Project
) -> None:
    answers = {address: await client.get(SHOP + address) for address in NOWHERE}
    assert {address: each.status_code for address, each in answers.items()} == dict.fromkeys(
        NOWHERE, 404
    )
    for answer in answers.values():
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src")
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "set-cookie" not in answer.headers
        assert "<script" not in answer.text


async def test_names_on_a_page_of_ours_are_text(
    client: httpx.AsyncClient, open_shop: Project
) -> None:
    branch = await client.get(f"{SHOP}/branches/%3Cscript%3Ealert(1)%3C%2Fscript%3E/")
    file = await client.get(f"{SHOP}/builds/1/%3Cimg%20src=x%20onerror=alert(1)%3E")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in branch.text
    assert "&lt;img src=x onerror=alert(1)&gt;" in file.text
    assert "<img" not in file.text


async def test_a_build_under_way_is_not_published(
    client: httpx.AsyncClient, shelf: Shelf, open_shop: Project
) -> None:
    await shelf.upload(open_shop)
    answer = await client.get(f"{SHOP}/builds/2/")
    assert (answer.status_code, "was not uploaded whole" in answer.text) == (404, True)


async def test_nothing_can_be_sent(client: httpx.AsyncClient, open_shop: Project) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        answer = await client.request(method, f"{SHOP}/builds/1/")
        assert (answer.status_code, "Send GET or HEAD" in answer.text) == (405, True)
        assert "access-control-allow-origin" not in answer.headers


async def test_a_page_of_another_origin_gets_nothing_even_of_a_public_project(
    client: httpx.AsyncClient, open_shop: Project
) -> None:
    for of_a_page in FOREIGN:
        answer = await client.get(f"{SHOP}/builds/1/assets/main.mjs", headers=of_a_page)
        assert (answer.status_code, SCRIPT in answer.content) == (403, False)


@pytest.mark.parametrize(
    "of_a_page",
    [
        OPENED,
        OPENED | {"sec-fetch-dest": "empty"},
        {"sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
        {"sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
        {"origin": SHOP},
    ],
)
async def test_its_own_pages_and_a_person_get_everything(
    client: httpx.AsyncClient, open_shop: Project, of_a_page: dict[str, str]
) -> None:
    answer = await client.get(f"{SHOP}/builds/1/assets/main.mjs", headers=of_a_page)
    assert answer.status_code == 200


async def test_the_apps_own_addresses_are_not_answered_with_a_storybook(
    client: httpx.AsyncClient, open_shop: Project
) -> None:
    assert (await client.get("/builds/1/")).status_code == 404
    assert (await client.get("/enter")).status_code == 404


async def test_a_file_that_the_storage_lost_is_named(
    client: httpx.AsyncClient, parts: Parts, open_shop: Project
) -> None:
    address = f"{SHOP}/builds/1/assets/main.mjs"
    etag = (await client.get(address)).headers["etag"]
    await parts.blobs.remove(BlobKey(etag.strip('"')))
    answer = await client.get(address)
    assert (answer.status_code, "not in the blob storage" in answer.text) == (404, True)
