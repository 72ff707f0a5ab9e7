"""Where the pages of things are: absolute for the API, from the root of the host for pages."""

from collections.abc import Mapping
from urllib.parse import urlencode

from storyshelf.ids import BlobKey, SnapshotId


class Links:
    """Links on one server; without a url they hold on whatever name the page was asked by."""

    def __init__(self, public_url: str = "") -> None:
        self._root = public_url.rstrip("/")

    @property
    def home(self) -> str:
        """Return the list of projects."""
        return f"{self._root}/"

    def project(self, slug: str) -> str:
        """Return the page of a project."""
        return f"{self._root}/projects/{slug}"

    def build(self, slug: str, number: int) -> str:
        """Return the page of a build."""
        return f"{self.project(slug)}/builds/{number}"

    def live(self, slug: str, number: int) -> str:
        """Return the part of a build's page that moves while the build does."""
        return f"{self.build(slug, number)}/live"

    def snapshot(self, slug: str, number: int, snapshot_id: SnapshotId) -> str:
        """Return the page of a snapshot."""
        return f"{self.build(slug, number)}/snapshots/{snapshot_id}"

    def image(self, slug: str, key: BlobKey) -> str:
        """Return a picture, for whoever may see the project's pages."""
        return f"{self.project(slug)}/images/{key}"


def with_query(path: str, query: Mapping[str, str | None]) -> str:
    """Return the link with what is set of the query."""
    given = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path
