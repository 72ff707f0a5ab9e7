"""The session's cookie: read, given and taken back."""

from fastapi import Request, Response

from storyshelf.auth.session_store import SessionLife
from storyshelf.auth.sign_in import Browser
from storyshelf.web.caller import COOKIE
from storyshelf.web.cookies import drop_cookie, give_cookie, own_name


def browser_of(request: Request, public_url: str) -> Browser:
    """Return from where somebody signs in."""
    return Browser(
        address=request.client.host if request.client else "",
        user_agent=request.headers.get("user-agent", ""),
        secret=request.cookies.get(own_name(COOKIE, public_url)),
    )


def give(answer: Response, secret: str, public_url: str, life: SessionLife) -> None:
    """Have the browser keep a session's secret for as long as it can last."""
    give_cookie(answer, COOKIE, secret, int(life.at_most.total_seconds()), public_url)


def forget(answer: Response, public_url: str) -> None:
    """Have the browser drop it."""
    drop_cookie(answer, COOKIE, public_url)
