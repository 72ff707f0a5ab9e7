"""A reader of pages: what a page says in words, where its links go, which elements it has."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx

Attributes = dict[str, str | None]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, Attributes]] = []
        self.words: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._silent += tag in {"script", "style", "title"}

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in {"script", "style", "title"}

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(data)


@dataclass
class Page:
    """An answer, read."""

    answer: httpx.Response
    _reader: _Reader = field(default_factory=_Reader)

    def __post_init__(self) -> None:
        self._reader.feed(self.answer.text)

    @property
    def status(self) -> int:
        return self.answer.status_code

    @property
    def text(self) -> str:
        """What is read, in one line."""
        return re.sub(r"\s+", " ", " ".join(self._reader.words))

    def all(self, tag: str) -> list[Attributes]:
        return [attributes for name, attributes in self._reader.elements if name == tag]

    @property
    def links(self) -> list[str]:
        return [link for each in self.all("a") if (link := each.get("href"))]

    def next_link(self) -> str | None:
        return next((each["href"] for each in self.all("a") if each.get("rel") == "next"), None)

    def by_id(self, wanted: str) -> Attributes:
        (found,) = (each for _, each in self._reader.elements if each.get("id") == wanted)
        return found

    @property
    def ids(self) -> list[str]:
        return [value for _, each in self._reader.elements if (value := each.get("id"))]


@dataclass
class Visitor:
    """Somebody with a browser."""

    client: httpx.AsyncClient

    async def page(self, link: str, status: int = 200) -> Page:
        answer = await self.client.get(link)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"].startswith("text/html")
        return Page(answer)
