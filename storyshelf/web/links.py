"""Where the pages of things are: absolute for the API, from the root of the host for pages."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from storyshelf.ids import BlobKey, ConsumerId, JobId, SnapshotId


class Links:
    """Links on one server; without a url they hold on whatever name the page was asked by."""

    def __init__(self, public_url: str = "") -> None:
        self._root = public_url.rstrip("/")

    @property
    def home(self) -> str:
        """Return the list of projects."""
        return f"{self._root}/"

    @property
    def sign_in(self) -> str:
        """Return the form to sign in by."""
        return f"{self._root}/sign-in"

    def sign_in_link(self, secret: str) -> str:
        """Return the page that signs somebody in once."""
        return f"{self.sign_in}/{secret}"

    @property
    def account(self) -> str:
        """Return the page of one's own account."""
        return f"{self._root}/account"

    @property
    def new_project(self) -> str:
        """Return the form that makes a project; not below `/projects`, where any slug may be."""
        return f"{self._root}/new-project"

    @property
    def operations(self) -> str:
        """Return the page of whoever runs the server."""
        return f"{self._root}/operations"

    def job(self, job_id: JobId) -> str:
        """Return the page of a job, for whoever runs the server."""
        return f"{self.operations}/jobs/{job_id}"

    def consumer(self, consumer_id: ConsumerId) -> str:
        """Return where forms send what is asked of a consumer."""
        return f"{self.operations}/consumers/{quote(consumer_id, safe='')}"

    def project(self, slug: str) -> str:
        """Return the page of a project."""
        return f"{self._root}/projects/{slug}"

    def branches(self, slug: str) -> str:
        """Return the newest builds of a project's branches."""
        return f"{self.project(slug)}/branches"

    def settings(self, slug: str) -> str:
        """Return a project's settings."""
        return f"{self.project(slug)}/settings"

    def audit(self, slug: str) -> str:
        """Return what was done in a project."""
        return f"{self.project(slug)}/audit"

    def build(self, slug: str, number: int) -> str:
        """Return the page of a build."""
        return f"{self.project(slug)}/builds/{number}"

    def delete_build(self, slug: str, number: int) -> str:
        """Return the page that deletes a build."""
        return f"{self.build(slug, number)}/delete"

    def live(self, slug: str, number: int) -> str:
        """Return the part of a build's page that moves while the build does."""
        return f"{self.build(slug, number)}/live"

    def snapshot(self, slug: str, number: int, snapshot_id: SnapshotId) -> str:
        """Return the page of a snapshot."""
        return f"{self.build(slug, number)}/snapshots/{snapshot_id}"

    def trace(self, slug: str, number: int, snapshot_id: SnapshotId) -> str:
        """Return where a snapshot's trace is asked for, and the way to it once it is recorded."""
        return f"{self.snapshot(slug, number, snapshot_id)}/trace"

    def image(self, slug: str, key: BlobKey) -> str:
        """Return a picture, for whoever may see the project's pages."""
        return f"{self.project(slug)}/images/{key}"

    def thumbnail(self, slug: str, key: BlobKey) -> str:
        """Return a picture made small."""
        return f"{self.project(slug)}/thumbnails/{key}"

    def decisions(self, slug: str, number: int) -> str:
        """Return where forms send decisions about a build's snapshots."""
        return f"{self.build(slug, number)}/decisions"

    def storybook(self, slug: str, number: int, story: str = "") -> str:
        """Return the way into a build's published Storybook, to `/story/<id>` or `/docs/<id>`."""
        return with_query(f"{self.build(slug, number)}/storybook", {"path": story})

    def branch_storybook(self, slug: str, branch: str, story: str = "") -> str:
        """Return the way into the published Storybook of a branch's newest build."""
        named = f"{self.project(slug)}/branches/{quote(branch, safe='')}/storybook"
        return with_query(named, {"path": story})


def with_query(path: str, query: Mapping[str, str | None]) -> str:
    """Return the link with what is set of the query."""
    given = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path
