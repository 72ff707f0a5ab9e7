"""The wheel in an empty venv, far from this clone: both programs, from migrate to a verdict."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.db.server import a_data_folder
from tests.flow.product import REPOSITORY, Product, installed_in
from tests.tiny_storybook import many_stories, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.timeout(300)]

REQUIREMENTS = REPOSITORY / "requirements" / "runtime.txt"
INSTALL_DEADLINE_S = 200  # 35 s on a machine that does other things too


@pytest.fixture(scope="module")
def venv(wheel: Path) -> Iterator[Path]:
    """A venv with what the wheel asks for, by hash, and the wheel: nothing for development."""
    with a_data_folder() as folder:  # a browser's own user has to reach it
        made = folder / "venv"
        run(sys.executable, "-m", "venv", str(made))
        pip = [str(made / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
        run(*pip, "install", "--require-hashes", "-r", str(REQUIREMENTS))
        run(*pip, "install", "--no-index", "--no-deps", str(wheel))
        run(*pip, "check")
        yield made


@pytest.fixture
def installed(venv: Path, empty_flow_database: str) -> Iterator[Product]:
    with a_data_folder() as folder:
        product = Product(folder, empty_flow_database, programs=installed_in(venv))
        try:
            yield product
        finally:
            product.end()


def run(*command: str) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=INSTALL_DEADLINE_S,
        check=False,
        cwd="/",
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_from_an_empty_database_to_an_accepted_build(installed: Product, tmp_path: Path) -> None:
    migrated = installed.cli("migrate")
    assert migrated.returncode == 0, migrated.stderr
    assert "from an empty database to" in migrated.stdout

    installed.serve()
    page = httpx.get(installed.url, follow_redirects=True)
    style, *_ = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page.text)
    assert page.status_code == 200
    sheet = httpx.get(f"{installed.url}{style}").raise_for_status()
    assert sheet.headers["content-type"].startswith("text/css")

    installed.make_project("shop")
    consumer = installed.consume()
    bundle = write_tiny_storybook(tmp_path / "bundle", many_stories(6))
    published = installed.publish(bundle, "c1")
    assert (published.exit_code, installed.state_of(1)) == (0, "accepted")
    assert published.document["build"]["counts"]["added"] == 6
    assert consumer.stop() == 0


@pytest.mark.parametrize("package", ["storyshelf", "consumer"])
def test_nothing_of_the_clone_is_used(venv: Path, package: str) -> None:
    where = f"import {package}; print({package}.__file__)"
    found = run(str(venv / "bin" / "python"), "-I", "-c", where)
    assert Path(found.strip()).is_relative_to(venv)
