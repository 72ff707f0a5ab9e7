"""Every setting, read once from the environment; only the two wirings and the CLI read it."""

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from storyshelf.data_dir import absolute, default_data_dir, own_user_id
from storyshelf.errors import StoryshelfError

PREFIX = "STORYSHELF_"


class BadSettingError(StoryshelfError):
    """A variable holds what cannot be used; the start stops with its name."""

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        listed = "; ".join(f"{name}: {problem}" for name, problem in problems)
        super().__init__(f"Wrong settings: {listed}", next_step="Correct or unset the variables.")
        self.problems = problems


EVERYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104  # recognised, not listened on


def networks(text: str) -> str:
    """Return the text if each part between commas is an address or a network."""
    for each in filter(None, map(str.strip, text.split(","))):
        ip_network(each)
    return text


Seconds = Annotated[float, Field(gt=0)]
Days = Annotated[float, Field(gt=0, le=3650)]


class Settings(BaseSettings):
    """Defaults work for `storyshelf up` on one machine; secrets have none."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, env_ignore_empty=True)

    database_url: SecretStr | None = Field(None, description="PostgreSQL url; none: embedded")
    database_pool_size: int = Field(5, ge=1, le=100, description="Connections a process keeps")
    data_dir: Annotated[Path, AfterValidator(absolute)] = Field(
        default_factory=lambda: default_data_dir(own_user_id()),
        description="Embedded database, blobs, scratch",
    )
    host: str = Field("127.0.0.1", description="Address the server listens on")
    port: int = Field(8765, ge=0, le=65535, description="Port of the server; 0: any free one")
    public_url: str | None = Field(None, description="What links begin with; none: host and port")
    content_domain: str = Field(
        "content.localhost", description="Published Storybooks are at <slug>.<this domain>"
    )
    proxies: Annotated[str, AfterValidator(networks)] = Field(
        "", description="Proxies whose X-Forwarded-For is believed: addresses, with commas"
    )
    secret_key: SecretStr | None = Field(
        None, min_length=32, description="Seals stored secrets and signs links; none: a file's"
    )
    webhooks_to_private: bool = Field(
        default=False, description="Webhooks and forges may be on private addresses"
    )
    stories_to_private: bool = Field(
        default=False, description="Hosts that a project allows may be on private addresses"
    )
    session_days: Days = Field(30, description="Days after which somebody signs in again")
    session_idle_days: Days = Field(7, description="Days without a visit after which the same")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least level that is logged"
    )
    log_format: Literal["text", "json"] = Field("text", description="How a log line looks")
    consumers: int = Field(1, ge=0, le=64, description="Consumer processes that `up` starts")
    capture_slots: int | None = Field(
        None, ge=1, le=64, description="Captures a consumer runs at once; none: as many as fit"
    )
    plan_slots: int = Field(1, ge=1, le=16, description="Plans a consumer runs at once")
    build_slots: int = Field(2, ge=1, le=64, description="Builds a consumer finalises at once")
    deliver_slots: int = Field(4, ge=1, le=64, description="Messages a consumer sends at once")
    maintain_slots: int = Field(1, ge=1, le=16, description="Tidyings a consumer does at once")
    browser_path: Path | None = Field(
        None, description="Browser executable; none: it is looked for"
    )
    slot_uid_base: int = Field(
        61_000, ge=1000, description="First of the user ids that browsers run under, one a slot"
    )
    stories_per_child: int = Field(
        500, ge=1, description="Stories after which a browser is replaced by a fresh one"
    )
    child_memory_mb: int | None = Field(
        None, ge=256, description="Most memory of a browser with its process; none: derived"
    )
    lease_s: float = Field(60, ge=5, description="How long a claim holds without a renewal")
    idle_poll_s: Seconds = Field(15, description="Time between polls when there is no work")
    active_poll_s: Seconds = Field(2, description="Time between polls while there is work")
    stop_grace_s: Seconds = Field(25, description="Time a stop may take in all")
    story_timeout_s: Seconds = Field(60, description="Most time one story may take to be captured")
    shard_cost_s: Seconds = Field(60, description="Capture time a shard is cut to")
    health_host: str = Field("127.0.0.1", description="Address of the consumer's health port")
    health_port: int = Field(0, ge=0, le=65535, description="Consumer's health port; 0: none")
    metrics_token: SecretStr | None = Field(
        None, min_length=16, description="What a scrape has to send; none: scrapes from here only"
    )
    queue_history_days: int = Field(
        0, ge=0, le=3650, description="Days that samples of the lanes are kept; 0: the newest only"
    )
    upload_expires_h: Seconds = Field(24, description="Hours after which an unsealed upload ends")
    keep_builds: int | None = Field(
        None, ge=1, description="Newest builds kept of each branch; none: all. Projects may differ"
    )
    keep_days: int | None = Field(
        None, ge=1, description="Days a build is kept; none: for ever. Projects may differ"
    )
    keep_jobs_days: int = Field(
        30, ge=1, le=3650, description="Days that ended jobs and their attempts are kept"
    )
    leads: bool = Field(
        default=True, description="May do what one process does for all; one that may has to be"
    )
    blob_grace_h: float = Field(
        24, ge=1, description="Hours after which files that nothing refers to are removed"
    )
    unserved_alarm_s: Seconds = Field(120, description="Time until an unserved lane is an alarm")
    unserved_end_s: Seconds = Field(3600, description="Time until an unserved lane ends its builds")
    max_files: int = Field(25_000, ge=1, description="Most files of a bundle")
    max_file_bytes: int = Field(100 * 2**20, ge=1, description="Largest file of a bundle")
    max_bundle_bytes: int = Field(2 * 2**30, ge=1, description="Largest bundle")

    @property
    def named_url(self) -> str | None:
        """Return the database's url with its password; None means the embedded server."""
        return self.database_url.get_secret_value() if self.database_url else None

    @property
    def trusted_proxies(self) -> list[str]:
        """Return the addresses and networks of the proxies."""
        return [each.strip() for each in self.proxies.split(",") if each.strip()]

    @property
    def named_secret_key(self) -> str | None:
        """Return the key that was given; None means the data folder's own."""
        return self.secret_key.get_secret_value() if self.secret_key else None

    @property
    def named_metrics_token(self) -> str | None:
        """Return what a scrape has to send; None means that none was said."""
        return self.metrics_token.get_secret_value() if self.metrics_token else None

    @property
    def served_url(self) -> str:
        """Return what links begin with; who listens everywhere is at least found here."""
        if self.public_url is not None:
            return self.public_url
        name = "localhost" if self.host in EVERYWHERE else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"

    @property
    def blob_dir(self) -> Path:
        """Return where local blobs live."""
        return self.data_dir / "blobs"

    @property
    def scratch_dir(self) -> Path:
        """Return where consumers keep what may be lost."""
        return self.data_dir / "scratch"


def read_settings(**overrides: object) -> Settings:
    """Read the environment once; raises BadSettingError naming each wrong variable."""
    try:
        return Settings(**{k: v for k, v in overrides.items() if v is not None})  # type: ignore[arg-type]  # pydantic checks them
    except ValidationError as error:
        problems = [
            (PREFIX + "_".join(str(part) for part in problem["loc"]).upper(), problem["msg"])
            for problem in error.errors()
        ]
        raise BadSettingError(problems) from error
