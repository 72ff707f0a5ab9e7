"""What pages tried beyond the fence: as the browser tells it, and as a reader is told.

The browser tells most attempts twice, in no fixed order: the policy of the page sends a report to
the bundle's own server, and the driver hears of the request. Some it tells only once: workers,
frames, sockets and beacons by a report, popups and prefetches by the driver. Calls (WebRTC) are
told by our script in the page, as a report. So both are counted by themselves, and what a host was
asked at least is the larger number. A page may forge a report; it only tells tales of its own
story. Preconnects, looked-up names and speculation rules are told by nobody: they reach nothing.
"""

import json
import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

REPORT_PATH = "/-/refused"  # asked by POST alone: a bundle's file of that name is still served
MAX_REPORT_BYTES = 65_536  # Chromium cuts what it quotes; a story's address is up to 2 MB
MAX_HOSTS = 20  # of a story; a page that asks one host after the other says the same thing for ever
MAX_SHOWN = 400  # characters of an address
SCHEMES = frozenset({"http", "https", "ws", "wss", "stun", "stuns", "turn", "turns"})
AUTHORITY = re.compile(r"[A-Za-z0-9._\[\]:-]{1,255}")
UNPRINTABLE = re.compile(r"[^\x21-\x7e]")


@dataclass(frozen=True, slots=True)
class Refusal:
    """An attempt: the address, without what may be secret in it, and whose it was if that is said.

    `story` is the id in the address of the document that tried; a worker has none.
    """

    url: str
    story: str | None


@dataclass(slots=True)
class _Host:
    address: str  # the least of those that were asked: the first would be another one each time
    heard: int = 0
    reported: int = 0

    @property
    def attempts(self) -> int:
        return max(self.heard, self.reported)


class Refusals:
    """The attempts of one story, by host; only so many hosts are kept."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}

    def clear(self) -> None:
        """Begin another story."""
        self._hosts.clear()

    def hear(self, url: str) -> None:
        """Count what the driver told."""
        if (host := self._host(url)) is not None:
            host.heard += 1

    def report(self, url: str) -> None:
        """Count what a policy told."""
        if (host := self._host(url)) is not None:
            host.reported += 1

    def lines(self) -> tuple[str, ...]:
        """Return a line for each host: one address, and how often the host was asked in all.

        The same whatever the order in which attempts were told.
        """
        return tuple(sorted(_line(host) for host in self._hosts.values()))

    def _host(self, url: str) -> _Host | None:
        shown = shown_address(url)
        if shown is None:
            return None
        name = urlsplit(shown).netloc
        if name not in self._hosts and len(self._hosts) >= MAX_HOSTS:
            return None
        host = self._hosts.setdefault(name, _Host(shown))
        host.address = min(host.address, shown)
        return host


def parse_report(body: bytes) -> Refusal | None:
    """Read a report of a policy that was broken; None for one that tells of no address."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    fields = document.get("csp-report") if isinstance(document, dict) else None
    if not isinstance(fields, dict):
        return None
    url = shown_address(fields.get("blocked-uri"))
    return None if url is None else Refusal(url, _story_of(fields.get("document-uri")))


def shown_address(url: object) -> str | None:
    """Return an address as it may be shown: no names and no query, bounded, one plain line.

    None for what names no host: reports also tell of `inline`, `eval` and `data`.
    """
    if not isinstance(url, str):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:  # a browser puts up with more than Python does
        return None
    host = parts.netloc.rpartition("@")[2]
    if parts.scheme not in SCHEMES or not AUTHORITY.fullmatch(host):
        return None
    path = UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", parts.path)
    return f"{parts.scheme}://{host}{path}"[:MAX_SHOWN]


def _story_of(document: object) -> str | None:
    if not isinstance(document, str):
        return None
    try:
        return parse_qs(urlsplit(document).query).get("id", [None])[0]
    except ValueError:
        return None


def _line(host: _Host) -> str:
    if host.attempts == 1:
        return host.address
    return f"{host.address} (this host {host.attempts:,} times)"
