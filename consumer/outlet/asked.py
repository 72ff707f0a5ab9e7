"""Reads what a browser asks of its proxy; as the browser may be taken over, nothing is believed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from storyshelf.projects.allowed_hosts import (
    ENCRYPTED_PORT,
    MAX_PORT,
    PLAIN_PORT,
    AllowedHost,
)

HOST = re.compile(r"[A-Za-z0-9._-]{1,254}")
VISIBLE = re.compile(r"[\x21-\x7e]+")
READ = frozenset({"GET", "HEAD"})
TUNNEL = "CONNECT"
# What the answer may depend on. No cookies: a story starts without any.
SENT_ON = ("accept", "accept-language", "user-agent", "origin")
MAX_HEADER = 1_000  # characters of one that is sent on


class NotAnsweredError(Exception):
    """The request is refused with this status; the text is for the log and for the page."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a file over http, or for a tunnel to a host (whose `url` is https)."""

    method: str
    url: str
    host: str
    port: int
    headers: Mapping[str, str]

    @property
    def is_tunnel(self) -> bool:
        """Whether bytes are to be passed on unseen."""
        return self.method == TUNNEL

    @property
    def where(self) -> str:
        """Return it for the log: no query, which may hold what is secret."""
        return f"{self.host}:{self.port}" if self.is_tunnel else self.url.partition("?")[0][:300]


def parse_head(head: bytes, allowed: Sequence[AllowedHost]) -> Asked:
    """Return a request that may be answered; raises NotAnsweredError."""
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not VISIBLE.fullmatch(words[1]):  # noqa: PLR2004  # method, target, version
        raise NotAnsweredError(400, "This is no request to a proxy")
    method, target, _ = words
    headers = _headers(lines[1:])
    if method == TUNNEL:
        asked = _tunnel(target)
    elif method in READ:
        asked = _file(method, target, headers)
    else:
        raise NotAnsweredError(405, "Only GET, HEAD and CONNECT are passed on")
    usual = ENCRYPTED_PORT if asked.is_tunnel else PLAIN_PORT
    if not any(each.allows(asked.host, asked.port, usual) for each in allowed):
        raise NotAnsweredError(403, "The project does not allow this host and port")
    return asked


def _tunnel(target: str) -> Asked:
    host, _, port = target.rpartition(":")
    if not (HOST.fullmatch(host) and port.isdecimal() and 1 <= int(port[:6]) <= MAX_PORT):
        raise NotAnsweredError(400, "This is no host and port")
    return Asked(TUNNEL, f"https://{host}:{port}", host, int(port), {})


def _file(method: str, target: str, headers: Mapping[str, str]) -> Asked:
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        raise NotAnsweredError(413, "Nothing is sent to other hosts")
    try:
        parts = urlsplit(target)
        host, port = parts.hostname or "", parts.port or PLAIN_PORT
    except ValueError:
        raise NotAnsweredError(400, "This is no address") from None
    if parts.scheme != "http" or "@" in parts.netloc or not HOST.fullmatch(host):
        raise NotAnsweredError(400, "This is no address of a host over http")
    url = f"http://{host}:{port}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")
    sent = {name: headers[name][:MAX_HEADER] for name in SENT_ON if name in headers}
    return Asked(method, url, host, port, sent)


def _headers(lines: Sequence[str]) -> Mapping[str, str]:
    pairs = (line.partition(":") for line in lines if line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
