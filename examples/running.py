"""A storyshelf that runs: the one found here, or one that is started and stopped again."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

from storyshelf.cli.supervise import dying_with_us
from storyshelf.client.saved import read_saved
from storyshelf.errors import StoryshelfError

PROGRAM = Path(sys.executable).with_name("storyshelf")
ELSEWHERE = ("STORYSHELF_URL", "STORYSHELF_PROJECT_TOKEN")  # we talk to the one on this machine
PROJECT = "example"  # of its own: nobody's Storybook is compared with the example
ANSWER_S = 30.0
PAGE = 200


class NotStartedError(StoryshelfError):
    """`storyshelf up` ended before it was up; it gave the reason, unless it was killed."""

    def __init__(self, code: int, said: str) -> None:
        reason = json.loads(said)["error"] if said else {}
        super().__init__(
            reason.get("what", f"`storyshelf up` ended with code {code} before it was up"),
            where=reason.get("where", ""),
            next_step=reason.get("next_step", "What it wrote above says why."),
        )


class NotStoppedError(StoryshelfError):
    """`storyshelf up` did not end in order."""

    def __init__(self, code: int) -> None:
        super().__init__(
            f"`storyshelf up` ended with code {code} when it was asked to stop",
            next_step="What it wrote above says why.",
        )


class NoSuchBuildError(StoryshelfError):
    """The upload made no build."""

    def __init__(self, commit: str) -> None:
        super().__init__(
            f"There is no build of commit {commit}", next_step="What the upload wrote says why."
        )


@dataclass(frozen=True, slots=True)
class Running:
    """A server and one project on it, seen through the API and the pages."""

    process: "subprocess.Popen[str]"
    environment: Mapping[str, str]
    slug: str
    http: httpx.Client
    is_ours: bool

    def command(self, *words: str) -> Sequence[str]:
        """Return the command line of the real program."""
        return [str(PROGRAM), *words]

    def has_decisions(self, branch: str) -> bool:
        """Tell whether a person accepted changes on that branch."""
        builds = self._items("builds", branch=branch)
        return any(one["counts"]["accepted"] > 0 and one["rule"] is None for one in builds)

    def build_of(self, commit: str) -> dict[str, Any]:
        """Return the build of an upload; raises NoSuchBuildError."""
        for build in self._items("builds"):
            if build["commit"] == commit:
                return build
        raise NoSuchBuildError(commit)

    def snapshots_of(self, build: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
        """Return all of a build's snapshots."""
        return self._items(f"builds/{build['number']}/snapshots")

    def page_problems(self, build: Mapping[str, Any]) -> Sequence[str]:
        """Sign in and follow the build's link, as a browser would; sign out again."""
        origin = str(self.http.base_url).rstrip("/")
        with httpx.Client(headers={"Origin": origin}, timeout=ANSWER_S, trust_env=False) as browser:
            led_to = browser.post(self.sign_in_link(build)).headers.get("location", "")
            answer = browser.get(origin + led_to)
            browser.post(f"{origin}/sign-out")
        if led_to != urlsplit(build["url"]).path or answer.status_code != httpx.codes.OK:
            return [f"{build['url']}: signing in leads to {led_to!r}, {answer.status_code}"]
        if build["state"] not in answer.text.lower():
            return [f"{build['url']} does not say that the build is {build['state']}"]
        return []

    def sign_in_link(self, build: Mapping[str, Any]) -> str:
        """Return a link that signs an administrator in once and shows the build."""
        users = self._told("user", "list")["items"]
        email = next(one["email"] for one in users if one["is_admin"] and not one["disabled_at"])
        then = urlencode({"next": urlsplit(build["url"]).path})
        return f"{self._told('user', 'link', email)['sign_in']}?{then}"

    def stay(self) -> None:
        """Wait until everything was stopped."""
        self.process.wait()

    def _told(self, *words: str) -> dict[str, Any]:
        done = subprocess.run(
            self.command(*words, "--json"),
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def _items(self, what: str, **query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        asked = {**query, "limit": str(PAGE)}
        while True:
            answer = self.http.get(f"/api/v1/projects/{self.slug}/{what}", params=asked)
            answer.raise_for_status()
            page = answer.json()
            found += page["items"]
            if page["next"] is None:
                return found
            asked["after"] = page["next"]


@contextmanager
def running() -> Iterator[Running]:
    """Start it, unless it runs already; what was started is stopped at the end, also by Ctrl-C."""
    environment = {name: text for name, text in os.environ.items() if name not in ELSEWHERE}
    with subprocess.Popen(
        [*dying_with_us(), str(PROGRAM), "up", "--json", "--project", PROJECT],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            with _introduced(process, environment) as found:
                yield found
        finally:
            _end(process)
    if process.returncode != 0:
        raise NotStoppedError(process.returncode)


@contextmanager
def _introduced(
    process: "subprocess.Popen[str]", environment: Mapping[str, str]
) -> Iterator[Running]:
    assert process.stdout is not None, "a pipe was asked for"
    line = process.stdout.readline()  # it is up and says so in one line, or it ended
    if not line.endswith("}\n"):
        rest = process.stdout.read()
        raise NotStartedError(process.wait(), line + rest)
    said = json.loads(line)
    saved = read_saved(Path(said["data_dir"]))
    assert saved is not None, "`up` saves it before it says that it is up"
    with httpx.Client(
        base_url=saved.url,
        headers={"Authorization": f"Bearer {saved.token}"},
        timeout=ANSWER_S,
        trust_env=False,
    ) as http:
        yield Running(process, environment, said["project"], http, said["pid"] == process.pid)


def _end(process: "subprocess.Popen[str]") -> None:
    process.terminate()  # Ctrl-C has reached it too; a second request changes nothing
    while process.poll() is None:
        with suppress(KeyboardInterrupt):  # it is ending, and nothing of it must stay
            process.wait()
