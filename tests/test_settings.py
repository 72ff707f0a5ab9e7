"""Settings are read once from the environment; what makes no sense is named and stops the start."""

import re
from pathlib import Path

import pytest

from storyshelf.bundle.manifest import DEFAULT_LIMITS
from storyshelf.settings import BadSettingError, Settings, read_settings
from storyshelf.wiring import limits_of

TOP = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def a_bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"STORYSHELF_{name}".upper(), raising=False)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("STORYSHELF_LEASE_S", "0"),
        ("STORYSHELF_LEASE_S", "2"),
        ("STORYSHELF_PORT", "http"),
        ("STORYSHELF_LOG_FORMAT", "xml"),
        ("STORYSHELF_PROXIES", "*"),
        ("STORYSHELF_PROXIES", "192.0.2.1, proxy"),
    ],
)
def test_a_value_that_makes_no_sense_is_named_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(BadSettingError, match=variable):
        read_settings()


def test_every_wrong_value_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORYSHELF_LEASE_S", "0")
    monkeypatch.setenv("STORYSHELF_PORT", "http")
    with pytest.raises(BadSettingError) as refused:
        read_settings()
    named = {name for name, _ in refused.value.problems}
    assert named == {"STORYSHELF_LEASE_S", "STORYSHELF_PORT"}


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", "")
    assert read_settings().database_url is None


def test_an_option_beats_its_variable_and_one_not_given_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STORYSHELF_PORT", "1")
    monkeypatch.setenv("STORYSHELF_CONSUMERS", "3")
    settings = read_settings(port=2, consumers=None)
    assert (settings.port, settings.consumers) == (2, 3)


def test_proxies_are_addresses_and_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings().trusted_proxies == []
    monkeypatch.setenv("STORYSHELF_PROXIES", "192.0.2.1, 2001:db8::/32,")
    assert read_settings().trusted_proxies == ["192.0.2.1", "2001:db8::/32"]


def test_the_password_in_the_database_url_is_in_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORYSHELF_DATABASE_URL", "postgresql://ada:sesame@db/x")
    assert "sesame" not in repr(read_settings())


def test_an_upload_may_hold_by_default_what_the_client_takes_for_granted() -> None:
    assert limits_of(Settings()) == DEFAULT_LIMITS


def test_every_setting_is_read_by_some_part() -> None:
    sources = [*(TOP / "storyshelf").rglob("*.py"), *(TOP / "consumer").rglob("*.py")]
    text = "\n".join(source.read_text() for source in sources)
    read = set(re.findall(r"settings\.(\w+)", text))
    through_a_property = {
        "database_url": "named_url",
        "data_dir": "blob_dir",
        "secret_key": "named_secret_key",
        "proxies": "trusted_proxies",
        "metrics_token": "named_metrics_token",
    }
    assert {through_a_property.get(name, name) for name in Settings.model_fields} - read == set()
