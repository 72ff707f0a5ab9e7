"""Cookies of one host: as they are set, and all values of a name as they were sent.

A page can set a cookie for the whole domain that it is in. Over https a name that begins with
`__Host-` tells ours from such a one; over plain http nothing but its value does.
"""

from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response

MAX_VALUES = 20  # each may cost a look into the database


def own_name(name: str, public_url: str) -> str:
    """Return the cookie's name; over https the browser keeps it to the very host that set it."""
    return f"__Host-{name}" if _is_https(public_url) else name


def give_cookie(answer: Response, name: str, value: str, lives_s: int, public_url: str) -> None:
    """Have the browser keep a cookie for this host alone, out of reach of scripts."""
    answer.set_cookie(
        own_name(name, public_url),
        value,
        max_age=lives_s,
        secure=_is_https(public_url),
        httponly=True,
        samesite="lax",
    )


def drop_cookie(answer: Response, name: str, public_url: str) -> None:
    """Have the browser forget what was given under the name."""
    secure = _is_https(public_url)
    answer.delete_cookie(own_name(name, public_url), secure=secure, httponly=True, samesite="lax")


def cookie_values(request: Request, name: str) -> tuple[str, ...]:
    """Return the values of that name, each once, in the order sent."""
    return tuple(dict.fromkeys(_values(request, name)))[:MAX_VALUES]


def _values(request: Request, name: str) -> Iterator[str]:
    for header in request.headers.getlist("cookie"):
        for pair in header.split(";"):
            given, _, value = pair.strip().partition("=")
            if given == name and value:
                yield value


def _is_https(public_url: str) -> bool:
    return public_url.startswith("https://")
