"""Who asks from this machine and for itself: what is shown to nobody else needs no token then."""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

# Of these one is there when a proxy on this machine passes on what somebody elsewhere asked.
PASSED_ON = frozenset(
    {"cf-connecting-ip", "forwarded", "true-client-ip", "via", "x-client-ip", "x-real-ip"}
)
PASSED_ON_TOO = "x-forwarded"  # -for, -host, -proto, -server and what else proxies have thought of


def is_from_here(client: str | None, headers: Mapping[str, str]) -> bool:
    """Tell whether a program of this machine asks, and passes nobody else's question on.

    It asks by a name that means this machine to everybody. Any other is what a proxy was asked by
    that says nothing of itself, or a page's own, which was rebound to this machine.
    """
    if client is None or not _is_loopback(client):
        return False
    if any(name in PASSED_ON or name.startswith(PASSED_ON_TOO) for name in headers):
        return False
    name = _name_in(headers.get("host", ""))
    return name == "localhost" or _is_loopback(name)


def _name_in(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:  # brackets that hold no address
        return ""


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
