"""A build as a person names it: by its number, or by the address of its page."""

import re
from dataclasses import dataclass

from storyshelf.client.exit_codes import InvalidOptionsError

_NUMBER = re.compile(r"#?([1-9][0-9]{0,8})")
_PAGE = re.compile(
    r"(?P<page>(?P<server>https?://[^?#]+?)/(?:projects/)?[^/?#]+/builds/(?P<number>[1-9][0-9]{0,8}))(?:[/?#].*)?"
)


@dataclass(frozen=True, slots=True)
class BuildAddress:
    """A number; with the page's and the server's address where a page was named."""

    number: int
    page: str | None = None
    server: str | None = None


class BadBuildAddressError(InvalidOptionsError):
    """Neither a number nor the address of a build's page."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"{text!r} is neither a build's number nor the address of its page",
            where="BUILD",
            next_step="Name it like 12 or https://host/projects/demo/builds/12.",
        )


class OtherBuildError(InvalidOptionsError):
    """The server that was asked has another build under that number."""

    def __init__(self, asked: str, found: str) -> None:
        super().__init__(
            "This server and token have another build under that number",
            where=f"asked for {asked}, found {found}",
            next_step="Set STORYSHELF_URL and STORYSHELF_PROJECT_TOKEN to the build's project.",
        )


def parse_build(text: str) -> BuildAddress:
    """Read `12`, `#12` or the address of a page of the build."""
    number = _NUMBER.fullmatch(text.strip())
    if number:
        return BuildAddress(int(number[1]))
    page = _PAGE.fullmatch(text.strip())
    if page is None:
        raise BadBuildAddressError(text)
    return BuildAddress(int(page["number"]), page["page"], page["server"])


def require_same_build(address: BuildAddress, found_url: str) -> None:
    """Refuse to report the verdict of another server's or project's build."""
    if address.page is not None and address.page != found_url.rstrip("/"):
        raise OtherBuildError(address.page, found_url)
