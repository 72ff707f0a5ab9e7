import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from consumer.bundle_server import (
    BundleServer,
    ServedBundle,
    base_in,
    bundle_server,
    fence_policy,
)
from consumer.refusals import REPORT_PATH, Refusal
from storyshelf.ids import BlobKey

FILES = {
    "index.html": b"<h1>manager</h1>",
    "docs/index.html": b"<h1>docs</h1>",
    "assets/main.mjs": b"export default 1;" * 100,
    "assets/font.woff2": b"wOF2",
    "Bild ümlaut 100%.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
}


@pytest.fixture
def bundle(tmp_path: Path) -> ServedBundle:
    root = tmp_path / "blobs"
    root.mkdir()
    (tmp_path / "secret.txt").write_text("not yours")
    keys = {path: BlobKey(hashlib.sha256(content).hexdigest()) for path, content in FILES.items()}
    for path, content in FILES.items():
        (root / keys[path]).write_bytes(content)
    return ServedBundle("b7.localhost", root, keys)


@pytest.fixture
async def server() -> AsyncIterator[BundleServer]:
    async with bundle_server() as server:
        yield server


@pytest.fixture
async def client(server: BundleServer, bundle: ServedBundle) -> AsyncIterator[httpx.AsyncClient]:
    server.serve(bundle)
    host = {"host": f"b7.localhost:{server.port}"}
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{server.port}", headers=host, trust_env=False
    ) as client:
        yield client


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("/", "index.html"),
        ("/docs/", "docs/index.html"),
        ("/assets/main.mjs?v=1", "assets/main.mjs"),
        ("/Bild%20%C3%BCmlaut%20100%25.svg", "Bild ümlaut 100%.svg"),
    ],
)
async def test_a_path_of_the_manifest_is_answered_with_its_blob(
    client: httpx.AsyncClient, url: str, path: str
) -> None:
    answer = await client.get(url)
    assert (answer.status_code, answer.content) == (200, FILES[path])


@pytest.mark.parametrize(
    "url",
    ["/nothing.js", "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "//etc/passwd"],
)
async def test_what_the_manifest_does_not_name_is_not_there(
    client: httpx.AsyncClient, url: str
) -> None:
    answer = await client.get(url)
    assert answer.status_code == 404
    assert "is not in the bundle" in answer.text


async def test_a_blob_is_not_reachable_by_its_name_on_disk(
    client: httpx.AsyncClient, bundle: ServedBundle
) -> None:
    assert (await client.get(f"/{bundle.keys['index.html']}")).status_code == 404


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "b8.localhost:{port}", "b7.localhost", ""])
async def test_another_host_than_the_open_builds_is_misdirected(
    client: httpx.AsyncClient, server: BundleServer, host: str
) -> None:
    answer = await client.get("/", headers={"host": host.format(port=server.port)})
    assert answer.status_code == 421


async def test_nothing_is_answered_before_a_bundle_is_open(server: BundleServer) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"http://127.0.0.1:{server.port}/")
    assert answer.status_code == 421


async def test_a_second_bundle_takes_the_place_of_the_first(
    client: httpx.AsyncClient, server: BundleServer, bundle: ServedBundle
) -> None:
    server.serve(ServedBundle("b9.localhost", bundle.root, {}))
    assert (await client.get("/")).status_code == 421


async def test_writing_is_refused(client: httpx.AsyncClient) -> None:
    assert (await client.post("/")).status_code == 405


async def test_head_says_the_length_and_sends_nothing(client: httpx.AsyncClient) -> None:
    answer = await client.head("/assets/main.mjs")
    assert (answer.headers["content-length"], answer.content) == ("1700", b"")


async def test_a_range_is_answered_with_that_part(client: httpx.AsyncClient) -> None:
    answer = await client.get("/assets/main.mjs", headers={"range": "bytes=7-13"})
    assert (answer.status_code, answer.content) == (206, b"default")


async def test_a_blob_that_is_known_is_not_sent_again(
    client: httpx.AsyncClient, bundle: ServedBundle
) -> None:
    etag = f'"{bundle.keys["index.html"]}"'
    first = await client.get("/")
    assert first.headers["etag"] == etag
    again = await client.get("/", headers={"if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("method", "url", "host"),
    [("GET", "/nothing.html", ""), ("POST", "/", ""), ("GET", "/", "b8.localhost")],
)
async def test_a_refusal_is_no_hole_in_the_fence(
    client: httpx.AsyncClient, method: str, url: str, host: str
) -> None:
    """A page can open one in a frame and fetch from there."""
    answer = await client.request(method, url, headers={"host": host} if host else {})
    whole = await client.get("/")
    assert answer.is_client_error
    for header in ("content-security-policy", "referrer-policy"):
        assert answer.headers[header] == whole.headers[header]


async def test_answers_are_fenced_uncompressed_and_tell_no_time(client: httpx.AsyncClient) -> None:
    headers = (await client.get("/")).headers
    assert headers["content-security-policy"].startswith("default-src 'self' 'unsafe-inline'")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"].endswith("immutable")
    assert headers["last-modified"] == "Mon, 01 Jan 2024 00:00:00 GMT"
    assert not {"date", "server", "content-encoding"} & set(headers)


async def test_a_blob_that_is_gone_is_an_error_and_not_a_missing_page(
    client: httpx.AsyncClient, bundle: ServedBundle
) -> None:
    (bundle.root / bundle.keys["index.html"]).unlink()
    answer = await client.get("/")
    assert (answer.status_code, "missing on this machine" in answer.text) == (500, True)


async def test_a_report_of_the_browser_is_handed_on(
    client: httpx.AsyncClient, server: BundleServer
) -> None:
    heard: list[Refusal] = []
    server.on_refusal = heard.append
    body = {"csp-report": {"blocked-uri": "http://a.test/x", "document-uri": "about"}}
    assert (await client.post(REPORT_PATH, json=body)).status_code == 204
    assert (await client.post(REPORT_PATH, content=b"no report")).status_code == 204
    assert heard == [Refusal("http://a.test/x", None)]


async def test_a_report_without_an_end_is_not_read_to_it(
    client: httpx.AsyncClient, server: BundleServer
) -> None:
    heard: list[Refusal] = []
    server.on_refusal = heard.append
    assert (await client.post(REPORT_PATH, content=b"x" * 100_000)).status_code == 413
    assert heard == []


async def test_hosts_that_are_allowed_stand_in_the_policy(
    client: httpx.AsyncClient, server: BundleServer, bundle: ServedBundle
) -> None:
    server.serve(replace(bundle, policy=fence_policy(["a.test", "*.b.test:8443"])))
    policy = (await client.get("/")).headers["content-security-policy"]
    hosts = "http://a.test https://a.test http://*.b.test:8443 https://*.b.test:8443"
    assert f"blob: data: {hosts};" in policy


@pytest.mark.parametrize("header", ["junk", "bytes=-", "bytes=9-2", "bytes=0-1,5-6", "bytes=a-b"])
async def test_what_is_not_a_single_range_is_answered_with_the_whole(
    client: httpx.AsyncClient, header: str
) -> None:
    answer = await client.get("/assets/main.mjs", headers={"range": header})
    assert (answer.status_code, answer.content) == (200, FILES["assets/main.mjs"])


async def test_a_range_beyond_the_end_is_refused_inside_the_fence(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.get("/assets/main.mjs", headers={"range": "bytes=1700-"})
    assert (answer.status_code, answer.headers["content-range"]) == (416, "bytes */1700")
    assert "content-security-policy" in answer.headers


async def test_the_end_of_a_file_can_be_asked_for(client: httpx.AsyncClient) -> None:
    answer = await client.get("/assets/main.mjs", headers={"range": "bytes=-2"})
    assert (answer.status_code, answer.content) == (206, b"1;")


@pytest.mark.parametrize(
    ("url", "media"),
    [
        ("/assets/main.mjs", "text/javascript; charset=utf-8"),
        ("/assets/font.woff2", "font/woff2"),
        ("/Bild%20%C3%BCmlaut%20100%25.svg", "image/svg+xml"),
        ("/nothing.html", "text/plain; charset=utf-8"),
        ("/nothing.html?a=<b>", "text/plain; charset=utf-8"),
    ],
)
async def test_each_file_is_called_what_it_is_and_a_refusal_is_no_page(
    client: httpx.AsyncClient, url: str, media: str
) -> None:
    assert (await client.get(url)).headers["content-type"] == media


async def test_a_storybook_that_was_built_for_a_path_is_served_from_there_too(
    client: httpx.AsyncClient, server: BundleServer, bundle: ServedBundle
) -> None:
    server.serve(replace(bundle, base="/some/path/"))
    for url in ("/some/path/assets/main.mjs", "/assets/main.mjs"):
        assert (await client.get(url)).content == FILES["assets/main.mjs"]
    assert (await client.get("/some/path/")).content == FILES["index.html"]
    for url in ("/some/pathassets/main.mjs", "/other/path/assets/main.mjs", "/some/path"):
        assert (await client.get(url)).status_code == 404


async def test_a_file_that_lies_below_the_base_itself_goes_first(
    client: httpx.AsyncClient, server: BundleServer, bundle: ServedBundle
) -> None:
    server.serve(replace(bundle, base="/docs/"))
    assert (await client.get("/docs/index.html")).content == FILES["docs/index.html"]
    assert (await client.get("/docs/assets/main.mjs")).content == FILES["assets/main.mjs"]


def test_what_a_bundle_was_built_for_is_read_from_its_preview(tmp_path: Path) -> None:
    key = BlobKey("a" * 64)
    (tmp_path / key).write_bytes(b"\xff<script src='/ui/assets/a.js'></script>")
    assert base_in(tmp_path, {"iframe.html": key, "assets/a.js": key}) == "/ui/"
    assert base_in(tmp_path, {"assets/a.js": key}) == "/"
    assert base_in(tmp_path, {"iframe.html": BlobKey("b" * 64)}) == "/"
