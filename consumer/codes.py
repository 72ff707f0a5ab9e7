"""The fixed words that a parent and its child say to each other; see `consumer.messages`."""

from enum import StrEnum


class Page(StrEnum):
    """Where a story is rendered."""

    SWITCHED = "switched"  # one that shows another story already, if that can be had; else SHARED
    SHARED = "shared"  # loaded anew in the bundle's context, whose HTTP and code caches are warm
    FRESH = "fresh"  # a context of its own: what a change is confirmed in
    TRACED = "traced"  # one whose trace is recorded: for people, never for a verdict


class Ending(StrEnum):
    """Whether the picture shows the story."""

    OK = "ok"
    ERRORED = "errored"


class ErrorCode(StrEnum):
    """Why a story is errored."""

    RENDER_FAILED = "render_failed"
    PLAY_FAILED = "play_failed"
    PLAY_TIMEOUT = "play_timeout"
    RENDER_TIMEOUT = "render_timeout"
    MISSING_STORY = "missing_story"
    PAGE_CRASHED = "page_crashed"
    PAGE_UNRESPONSIVE = "page_unresponsive"
    NAVIGATED_AWAY = "navigated_away"
    CONFIG_FAILED = "config_failed"
    SHOT_NOT_REACHED = "shot_not_reached"


class WarningCode(StrEnum):
    """What a reader of the picture should know although the story rendered."""

    EMPTY_ROOT = "empty_root"
    CLIPPED = "clipped"
    FONT_TIMEOUT = "font_timeout"
    IMAGE_TIMEOUT = "image_timeout"
    RESOURCE_FAILED = "resource_failed"
    BLOCKED_REQUEST = "blocked_request"
    DIALOG = "dialog"
    POPUP = "popup"
    UNSETTLED = "unsettled"
    WAIT_TIMEOUT = "wait_timeout"
    UNDECLARED_SHOT = "undeclared_shot"
    BAD_SELECTOR = "bad_selector"
    MANY_IGNORED = "many_ignored"
    UNREADABLE_FILE = "unreadable_file"  # only of ReadStories: a file of stories did not load


class ConsoleLevel(StrEnum):
    """How much a line of the console matters."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    LOG = "log"
    DEBUG = "debug"


class Stage(StrEnum):
    """Real progress inside a capture; each is reported once it has begun."""

    OPENING = "opening"
    RENDERING = "rendering"
    SETTLING = "settling"
    SHOOTING = "shooting"
    EXAMINING = "examining"
    RECOVERING = "recovering"


class FailureCode(StrEnum):
    """Why a request could not be carried out at all; the story is not to blame."""

    NOT_OPEN = "not_open"
    BUSY = "busy"
    BROWSER = "browser"
    BUNDLE = "bundle"
    TOO_LARGE = "too_large"
    INTERNAL = "internal"


class Faint(StrEnum):
    """Whether differences too faint for the threshold count where they cover an area or a line."""

    COUNTS = "counts"
    IGNORED = "ignored"
