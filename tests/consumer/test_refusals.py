"""What a page's attempts are told as: whatever it claims, one line a host, and not for ever."""

import json

import pytest

from consumer.messages import MAX_SHORT_TEXT
from consumer.refusals import MAX_HOSTS, Refusal, Refusals, parse_report, shown_address


def report(**fields: object) -> bytes:
    return json.dumps({"csp-report": fields}).encode()


def test_a_report_names_the_address_and_the_story_of_its_document() -> None:
    body = report(
        **{
            "blocked-uri": "https://ada:pass@cdn.test:8443/a.png?token=1#x",
            "document-uri": "http://b1.localhost:5/iframe.html?id=box--red&viewMode=story",
        }
    )
    assert parse_report(body) == Refusal("https://cdn.test:8443/a.png", "box--red")


def test_a_worker_has_no_story() -> None:
    body = report(**{"blocked-uri": "ws://a.test/", "document-uri": "http://b1.localhost:5/w.js"})
    assert parse_report(body) == Refusal("ws://a.test/", None)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[]",
        b"[" * 100_000,
        b'{"csp-report": 1}',
        report(),
        report(**{"blocked-uri": 7}),
        report(**{"blocked-uri": "inline"}),
        report(**{"blocked-uri": "data"}),
        report(**{"blocked-uri": "http://"}),
        report(**{"blocked-uri": "http://[::1"}),
        report(**{"blocked-uri": "http://a b.test/"}),
        report(**{"blocked-uri": "javascript:alert(1)"}),
    ],
)
def test_what_tells_of_no_host_is_left_out(body: bytes) -> None:
    assert parse_report(body) is None


def test_an_address_is_one_plain_bounded_line() -> None:
    shown = shown_address("http://a.test/\0<b>\n\u202e\ud800" + "x" * 10_000)
    assert shown is not None
    assert shown.startswith("http://a.test/\ufffd<b>")
    assert all(" " < letter <= "~" or letter == "\ufffd" for letter in shown)
    assert len(shown) < MAX_SHORT_TEXT
    shown.encode()


def test_what_is_told_twice_happened_once() -> None:
    refusals = Refusals()
    for _ in range(3):
        refusals.hear("http://a.test/x")
        refusals.report("http://a.test/x")
    refusals.report("http://b.test/y")
    assert refusals.lines() == ("http://a.test/x (this host 3 times)", "http://b.test/y")


def test_only_so_many_hosts_are_kept() -> None:
    refusals = Refusals()
    for number in range(1_000):
        refusals.hear(f"http://h{number}.test/{'x' * 5_000}")
    assert len(refusals.lines()) == MAX_HOSTS
    assert all(len(line) <= MAX_SHORT_TEXT for line in refusals.lines())
    refusals.clear()
    assert refusals.lines() == ()


def test_the_order_in_which_attempts_are_told_does_not_matter() -> None:
    urls = ["http://b.test/2", "http://a.test/x", "http://b.test/1", "http://b.test/3"]
    one, other = Refusals(), Refusals()
    for url in urls:
        one.report(url)
    for url in reversed(urls):
        other.hear(url)
    assert one.lines() == other.lines()
    assert one.lines() == ("http://a.test/x", "http://b.test/1 (this host 3 times)")
