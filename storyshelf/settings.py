"""Every setting, read once from the environment; only the two wirings and the CLI read it."""

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


Seconds = Annotated[float, Field(gt=0)]


class Settings(BaseSettings):
    """Defaults work for `storyshelf up` on one machine; secrets have none."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, env_ignore_empty=True)

    database_url: SecretStr | None = Field(None, description="PostgreSQL url; none: embedded")
    database_pool_size: int = Field(5, ge=1, le=100, description="Connections a process keeps")
    data_dir: Annotated[Path, AfterValidator(absolute)] = Field(
        default_factory=lambda: default_data_dir(own_user_id()),
        description="Embedded database, blobs, scratch",
    )
    host: str = Field("127.0.0.1", description="Address the server listens on; loopback only")
    port: int = Field(8765, ge=0, le=65535, description="Port of the server; 0: any free one")
    public_url: str | None = Field(None, description="What links begin with; none: host and port")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least level that is logged"
    )
    log_format: Literal["text", "json"] = Field("text", description="How a log line looks")
    consumers: int = Field(1, ge=0, le=64, description="Consumer processes that `up` starts")
    capture_slots: int | None = Field(
        None, ge=1, le=64, description="Captures a consumer runs at once; none: one a core"
    )
    plan_slots: int = Field(1, ge=1, le=16, description="Plans a consumer runs at once")
    browser_path: Path | None = Field(
        None, description="Browser executable; none: it is looked for"
    )
    slot_uid_base: int = Field(
        61_000, ge=1000, description="First of the user ids that browsers run under, one a slot"
    )
    lease_s: Seconds = Field(60, description="How long a claim holds without a renewal")
    idle_poll_s: Seconds = Field(15, description="Time between polls when there is no work")
    active_poll_s: Seconds = Field(2, description="Time between polls while there is work")
    stop_grace_s: Seconds = Field(25, description="Time a stop may take before work is released")
    story_timeout_s: Seconds = Field(60, description="Most time one story may take to be captured")
    shard_cost_s: Seconds = Field(60, description="Capture time a shard is cut to")
    health_port: int = Field(0, ge=0, le=65535, description="Consumer's health port; 0: none")
    upload_expires_h: Seconds = Field(24, description="Hours after which an unsealed upload ends")
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
