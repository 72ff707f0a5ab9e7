"""Which host is answered by whom, and which is not answered at all."""

import httpx
import pytest

from storyshelf.web.hosts import ContentHosts, UnusableContentDomainError
from tests.publishing.shelf import SMALL, Shelf

HOSTS = ContentHosts.of("content.shelf.test", "http://shelf.test:8765")


@pytest.mark.parametrize(
    ("public_url", "origin"),
    [
        ("http://127.0.0.1:8765", "http://shop.content.localhost:8765"),
        ("https://shelf.test", "https://shop.content.localhost"),
        ("https://shelf.test:8443/", "https://shop.content.localhost:8443"),
    ],
)
def test_a_storybook_is_on_the_servers_own_scheme_and_port(public_url: str, origin: str) -> None:
    assert ContentHosts.of("Content.localhost", public_url).origin("shop") == origin


@pytest.mark.parametrize(
    "domain",
    [
        "localhost",
        "shelf.test",
        "test",
        "SHELF.test",
        "",
        ".shelf.test",
        "content.shelf.test.",
        "content.shelf.test:80",
        "https://content.test",
        "127.0.0.1",
        "10.0.0.7",
        "a b",
    ],
)
def test_a_domain_that_holds_the_app_or_is_none_stops_the_start(domain: str) -> None:
    with pytest.raises(UnusableContentDomainError, match="STORYSHELF_CONTENT_DOMAIN"):
        ContentHosts.of(domain, "http://shelf.test:8765")


@pytest.mark.parametrize(
    "host", ["shop.content.shelf.test", "SHOP.Content.Shelf.Test", "shop.content.shelf.test:8765"]
)
async def test_a_content_host_is_answered_with_the_projects_storybook(
    client: httpx.AsyncClient, shelf: Shelf, host: str
) -> None:
    await shelf.publish(await shelf.project("shop", public_storybook=True))
    answer = await client.get("/builds/1/", headers={"host": host})
    assert answer.content == SMALL["index.html"]


STRANGE = (
    "",
    "content.shelf.test",
    ".content.shelf.test",
    "a.shop.content.shelf.test",
    "shop.content.shelf.test.",
    "shop.content.shelf.test.evil.test",
    "shop.content.shelf.test:80:80",
    "shop.content.shelf.test:x",
    "evil.test#shop.content.shelf.test",
    "shop@shop.content.shelf.test",
    "shop/content.shelf.test",
    "-shop.content.shelf.test",
    "shop_.content.shelf.test",
    "shopcontent.shelf.test",
    "shop.content.shelf.test, shelf.test",
    "evil.test@shelf.test",
    "shelf.test.",
    "[::1",
    "evil.test",
)


async def test_every_other_host_is_refused(client: httpx.AsyncClient, shelf: Shelf) -> None:
    await shelf.publish(await shelf.project("shop", public_storybook=True))
    asked = [(host, path) for host in STRANGE for path in ("/builds/1/", "/", "/api/v1/limits")]
    statuses = {
        (host, path): (await client.get(path, headers={"host": host})).status_code
        for host, path in asked
    }
    assert statuses == dict.fromkeys(asked, 421)


async def test_two_hosts_at_once_are_refused(client: httpx.AsyncClient, shelf: Shelf) -> None:
    await shelf.publish(await shelf.project("shop", public_storybook=True))
    for other in ("shop.content.shelf.test", "shelf.test"):
        asked = [("host", "shelf.test"), ("host", other)]
        assert (await client.get("/api/v1/limits", headers=asked)).status_code == 421


@pytest.mark.parametrize("path", ["/api/v1/limits", "/", "/projects/shop", "/sign-in", "/enter"])
async def test_the_app_never_answers_on_a_content_host(
    client: httpx.AsyncClient, shelf: Shelf, path: str
) -> None:
    await shelf.project("shop")
    answer = await client.get(f"http://shop.content.shelf.test{path}")
    assert answer.status_code in {401, 403, 404}
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
