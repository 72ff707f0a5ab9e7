"""`storyshelf doctor`, its probes and its whole."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from storyshelf.auth.secrets import SealedElsewhereError, Secrets
from storyshelf.cli.doctor import (
    Probe,
    probe_database,
    probe_key,
    probe_storage,
    probe_versions,
    read_probes,
)
from storyshelf.cli.main import run
from storyshelf.clock import SystemClock
from storyshelf.db import migrate
from storyshelf.db.engine import Database
from storyshelf.deliveries import store as deliveries
from storyshelf.deliveries.connection import ConnectionKind, Hook, NewConnection
from storyshelf.projects import store as projects
from storyshelf.settings import Settings, read_settings

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Settings]:
    monkeypatch.delenv("STORYSHELF_DATABASE_URL", raising=False)
    return lambda **fields: read_settings(**{"data_dir": tmp_path, **fields})


async def test_a_database_that_serves_is_named_with_its_version(
    settings: Callable[..., Settings], database_url: str
) -> None:
    probe = await probe_database(settings(database_url=database_url))
    assert probe.finding == "ok"
    assert probe.detail.startswith("PostgreSQL 1")


async def test_a_schema_that_is_behind_fails_with_the_command_that_mends_it(
    settings: Callable[..., Settings], database_url: str
) -> None:
    await migrate.downgrade(database_url, SystemClock(), "base")
    probe = await probe_database(settings(database_url=database_url))
    assert (probe.finding, probe.cure) == ("fail", "Run `storyshelf migrate`.")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://a:secret@127.0.0.1:1/none",
        "postgresql://a:secret@host.invalid/none",
        "mysql://x",
    ],
)
async def test_a_database_that_cannot_be_reached_fails_and_no_password_is_told(
    settings: Callable[..., Settings], url: str
) -> None:
    probe = await probe_database(settings(database_url=url))
    assert probe.finding == "fail"
    assert probe.cure
    assert "secret" not in probe.detail + probe.cure


async def test_a_password_that_is_wrong_is_a_finding_too(
    settings: Callable[..., Settings], database_url: str
) -> None:
    head, at, place = database_url.rpartition("@")
    probe = await probe_database(settings(database_url=f"{head}x{at}{place}"))
    assert probe.finding == "fail"
    assert "password authentication failed" in probe.detail


async def test_an_embedded_database_that_rests_is_no_fault(
    settings: Callable[..., Settings],
) -> None:
    probe = await probe_database(settings())
    assert probe.finding == "warn"
    assert "storyshelf up" in probe.cure


def test_storage_is_tried_and_left_as_it_was(
    settings: Callable[..., Settings], tmp_path: Path
) -> None:
    probe = asyncio.run(probe_storage(settings()))
    assert probe.finding == "ok"
    assert "GiB free" in probe.detail
    assert list(tmp_path.iterdir()) == []


async def test_storage_that_is_no_folder_fails(
    settings: Callable[..., Settings], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    probe = await probe_storage(settings(data_dir=tmp_path / "file"))
    assert probe.finding == "fail"
    assert "STORYSHELF_DATA_DIR" in probe.cure


def test_what_a_consumer_found_is_told_as_it_was() -> None:
    found = Probe("browser", "fail", "none", "Install one.")
    assert read_probes(json.dumps([asdict(found)]).encode(), b"") == [found]


@pytest.mark.parametrize("said", [b"", b"Segmentation fault", b"[{}]", b"{}", b'["x"]'])
def test_an_examination_that_breaks_off_is_a_finding(said: bytes) -> None:
    (probe,) = read_probes(said, b"ImportError: libgomp.so.1\n")
    assert (probe.name, probe.finding) == ("consumer", "fail")
    assert "libgomp" in probe.detail


def test_versions_name_what_a_report_needs() -> None:
    assert "Python 3." in probe_versions().detail


@pytest.mark.browser
@pytest.mark.timeout(120)
def test_everything_is_examined_and_a_missing_browser_fails_the_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, database_url: str, capsys: Captured
) -> None:
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", database_url)
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("STORYSHELF_BROWSER_PATH", str(tmp_path / "no-browser"))
    assert run(["doctor", "--json"]) == 1
    probes = {one["name"]: one for one in json.loads(capsys.readouterr().out)["probes"]}
    assert {"versions", "database", "storage", "engine", "fonts", "browser"} <= set(probes)
    assert probes["browser"]["finding"] == "fail"
    assert "no-browser" in probes["browser"]["detail"]


@pytest.mark.browser
@pytest.mark.timeout(120)
def test_a_machine_that_can_capture_passes_and_its_form_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, database_url: str, capsys: Captured
) -> None:
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", database_url)
    monkeypatch.setenv("STORYSHELF_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("STORYSHELF_BROWSER_PATH", raising=False)
    assert run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "ok    browser: " in out
    assert "isolation: strong form" in out or "isolation: weak form" in out


async def test_a_key_that_does_not_open_what_is_sealed_fails(
    settings: Callable[..., Settings], db: Database, database_url: str
) -> None:
    ours, other = "k" * 32, "o" * 32
    async with db.transaction() as tx:
        project = await projects.add(tx, "shop", "Shop", "main")
        hook = NewConnection(ConnectionKind.WEBHOOK, "hook", Hook("https://hook.test"), "secret")
        await deliveries.add(tx, project.id, hook, Secrets(ours.encode()).seal("secret"))
    right = await probe_key(settings(database_url=database_url, secret_key=ours))
    wrong = await probe_key(settings(database_url=database_url, secret_key=other))
    assert (right.finding, right.detail) == ("ok", "STORYSHELF_SECRET_KEY: opens what is sealed")
    assert (wrong.finding, wrong.cure) == ("fail", SealedElsewhereError().next_step)


def test_a_key_that_is_not_made_yet_is_no_fault_and_is_not_made(
    settings: Callable[..., Settings], tmp_path: Path
) -> None:
    assert asyncio.run(probe_key(settings())).finding == "ok"
    assert list(tmp_path.iterdir()) == []
