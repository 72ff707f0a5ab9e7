"""A server to talk to, and a clean environment that names it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.helpers import a_storybook
from tests.client.server import TOKEN, FakeServer, running

CI_VARIABLES = ("CI", "GITHUB_ACTIONS", "GITHUB_OUTPUT", "GITLAB_CI")


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in CI_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("STORYSHELF_RETRIES", "0")
    monkeypatch.setenv("STORYSHELF_COMMIT", "c" * 40)
    monkeypatch.setenv("STORYSHELF_BRANCH", "main")
    return monkeypatch


@pytest.fixture
def server(environment: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    fake = FakeServer(states=["passed"])
    with running(fake) as url:
        environment.setenv("STORYSHELF_URL", url)
        environment.setenv("STORYSHELF_PROJECT_TOKEN", TOKEN)
        yield fake


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return a_storybook(tmp_path / "storybook-static", assets__a="a", assets__b="b")
