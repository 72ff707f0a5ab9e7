"""The token that a scrape of `/metrics` sends: one for the whole service, said by a setting."""

from hmac import compare_digest

SCHEME = "bearer"  # in whatever case it is sent


def is_sent(authorization: str | None, token: str) -> bool:
    """Tell whether the header carries the token, in a time that tells nothing of it."""
    scheme, _, sent = (authorization or "").partition(" ")
    return scheme.lower() == SCHEME and compare_digest(sent.strip().encode(), token.encode())
