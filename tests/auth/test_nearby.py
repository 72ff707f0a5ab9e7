"""Who asks from this machine and for itself."""

import pytest

from storyshelf.auth.nearby import is_from_here

HERE = {"host": "127.0.0.1:8765"}


@pytest.mark.parametrize("client", ["127.0.0.1", "127.8.8.8", "::1"])
@pytest.mark.parametrize("host", ["localhost:8765", "LocalHost", "127.0.0.1:8765", "[::1]:8765"])
def test_a_program_of_this_machine_is_from_here(client: str, host: str) -> None:
    assert is_from_here(client, {"host": host})


@pytest.mark.parametrize("client", [None, "", "192.0.2.7", "fe80::1%eth0", "::", "localhost"])
def test_another_address_is_not(client: str | None) -> None:
    assert not is_from_here(client, HERE)


@pytest.mark.parametrize(
    "header",
    [
        *("forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip"),
        *("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-server"),
    ],
)
def test_a_proxy_that_says_so_is_not(header: str) -> None:
    assert not is_from_here("127.0.0.1", {**HERE, header: "anything"})


@pytest.mark.parametrize(
    "host",
    [
        *("shelf.example.com", "shelf.example.com:8765", "127.0.0.1.example.com"),
        *("localhost.example.com", "localhost@example.com", "[::1", "0.0.0.0:8765", ""),
    ],
)
def test_a_name_that_a_silent_proxy_or_a_rebound_page_was_asked_by_is_not(host: str) -> None:
    assert not is_from_here("127.0.0.1", {"host": host})


def test_who_names_no_host_is_not() -> None:
    assert not is_from_here("127.0.0.1", {})
