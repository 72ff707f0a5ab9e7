"""Where the server is and what to show it: options, environment, or what `storyshelf up` saved."""

import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from storyshelf.client.exit_codes import InvalidOptionsError

FILE_NAME = "client.json"
TOKEN = "project token"  # noqa: S105  # what is missing, in words


@dataclass(frozen=True, slots=True)
class Server:
    """A server's address and the token of one project on it."""

    url: str
    token: str

    def __repr__(self) -> str:
        return f"Server(url={self.url!r})"  # a token never gets into a log by accident


class NoServerError(InvalidOptionsError):
    """Neither options nor environment nor a saved file name a server and a token."""

    def __init__(self, missing: str, option: str, variable: str, looked_in: Path) -> None:
        super().__init__(
            f"No {missing} is given",
            where=f"looked at {option}, {variable} and {looked_in}",
            next_step=f"Set {variable}, or start a server here with `storyshelf up`.",
        )
        self.is_about_token = missing == TOKEN


class BadServerUrlError(InvalidOptionsError):
    """The server's address is not one."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"{url!r} is not the address of a server",
            where="STORYSHELF_URL",
            next_step="Write it as https://host or http://host:port.",
        )


class BadSavedFileError(InvalidOptionsError):
    """The saved file cannot be read."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"The saved connection {problem}",
            where=str(path),
            next_step="Delete the file and run `storyshelf up` again, or set STORYSHELF_URL "
            "and STORYSHELF_PROJECT_TOKEN.",
        )


def choose_server(url: str | None, token: str | None, folder: Path) -> Server:
    """Fill in what was not given from the saved file.

    The saved token is used for the saved server only: a token never travels to another host.
    """
    saved = None if url and token else read_saved(folder)
    url = url.rstrip("/") if url else (saved.url if saved else None)
    if not url:
        raise NoServerError("server", "--url", "STORYSHELF_URL", folder / FILE_NAME)
    _require_web_address(url)
    if not token and saved is not None and saved.url == url:
        token = saved.token
    if not token:
        raise NoServerError(
            TOKEN, "--project-token", "STORYSHELF_PROJECT_TOKEN", folder / FILE_NAME
        )
    return Server(url, token)


def read_saved(folder: Path) -> Server | None:
    """Return what `storyshelf up` saved; None when nothing is saved or it is not ours to read."""
    path = folder / FILE_NAME
    try:
        saved = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except (OSError, ValueError) as error:
        raise BadSavedFileError(path, f"cannot be read: {error}") from error
    if not isinstance(saved, dict):
        raise BadSavedFileError(path, "is not a JSON object")
    url, token = saved.get("url"), saved.get("token")
    if not (isinstance(url, str) and url and isinstance(token, str) and token):
        raise BadSavedFileError(path, "has no url or no token")
    return Server(url.rstrip("/"), token)


def _require_web_address(url: str) -> None:
    try:
        parsed = urlsplit(url)
        is_web = parsed.scheme in {"http", "https"} and bool(parsed.hostname)
        _ = parsed.port  # raises where it is no number
    except ValueError as error:
        raise BadServerUrlError(url) from error
    if not is_web:
        raise BadServerUrlError(url)
