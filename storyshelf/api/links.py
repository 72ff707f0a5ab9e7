"""Where the pages of things are, as absolute links."""

from storyshelf.ids import SnapshotId


class Links:
    """Links on one server."""

    def __init__(self, public_url: str) -> None:
        self._root = public_url.rstrip("/")

    def project(self, slug: str) -> str:
        """Return the page of a project."""
        return f"{self._root}/projects/{slug}"

    def build(self, slug: str, number: int) -> str:
        """Return the page of a build."""
        return f"{self.project(slug)}/builds/{number}"

    def snapshot(self, slug: str, number: int, snapshot_id: SnapshotId) -> str:
        """Return the page of a snapshot."""
        return f"{self.build(slug, number)}/snapshots/{snapshot_id}"
