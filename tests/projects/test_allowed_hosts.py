"""Which hosts may be allowed, and what an allowed one lets through."""

import pytest

from storyshelf.projects.allowed_hosts import BadHostError, parse_allowed_host


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("fonts.example.com", "fonts.example.com"),
        ("FONTS.Example.COM", "fonts.example.com"),
        ("*.example.com", "*.example.com"),
        ("img.example.com:8443", "img.example.com:8443"),
        ("*.bücher.example:81", "*.xn--bcher-kva.example:81"),
    ],
)
def test_a_host_has_one_written_form(text: str, written: str) -> None:
    assert parse_allowed_host(text).written == written
    assert parse_allowed_host(written).written == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "*.com",
        "intranet",
        "localhost",
        "b1.localhost",
        "127.0.0.1",
        "10.1",
        "0x7f.1",
        "[::1]",
        "::1",
        "a.test:0",
        "a.test:65536",
        "a.test:",
        "a.test/path",
        "https://a.test",
        "a@b.test",
        "a.*.test",
        "*a.test",
        "-a.test",
        "a..test",
        "a.test.",
        "a b.test",
        "a.test; script-src *",
        "a.test'",
        f"{'a' * 64}.test",
        f"{'a.' * 130}test",
        "\udcff.test",
    ],
)
def test_what_is_no_host_of_the_web_is_refused(text: str) -> None:
    with pytest.raises(BadHostError):
        parse_allowed_host(text)


@pytest.mark.parametrize(
    ("allowed", "host", "port", "usual", "passes"),
    [
        ("a.test", "a.test", 80, 80, True),
        ("a.test", "A.TEST.", 443, 443, True),
        ("a.test", "a.test", 8080, 80, False),
        ("a.test", "a.test", 80, 443, False),
        ("a.test", "b.a.test", 80, 80, False),
        ("a.test", "nota.test", 80, 80, False),
        ("a.test:8080", "a.test", 8080, 80, True),
        ("a.test:8080", "a.test", 80, 80, False),
        ("*.a.test", "b.a.test", 80, 80, True),
        ("*.a.test", "c.b.a.test", 443, 443, True),
        ("*.a.test", "a.test", 80, 80, False),
        ("*.a.test", "evila.test", 80, 80, False),
        ("*.a.test", "a.test.evil", 80, 80, False),
    ],
)
def test_an_allowed_host_lets_itself_through_and_nothing_else(
    allowed: str, host: str, port: int, usual: int, *, passes: bool
) -> None:
    assert parse_allowed_host(allowed).allows(host, port, usual) is passes
