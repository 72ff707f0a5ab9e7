"""What a project may set about its captures and its builds.

Each option has a written form, which the CLI, the settings page and the README share. What is
stored is JSON: numbers and flags as they are, viewports as the names of their modes, None where an
option was taken back.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from storyshelf.bundle.accessibility import Accessibility
from storyshelf.bundle.isolation import Isolation
from storyshelf.bundle.look import MAX_PADDING_PX, USUAL_PADDING_PX
from storyshelf.bundle.parameters import MAX_VIEWPORTS, Viewport
from storyshelf.bundle.tags import TagRule, parse_rule
from storyshelf.errors import BadInputError
from storyshelf.projects.allowed_hosts import AllowedHost, BadHostError, parse_allowed_host
from storyshelf.projects.branches import BadGlobError, parse_glob
from storyshelf.projects.viewports import BadViewportError, parse_viewport

YES = frozenset({"true", "yes", "on", "1"})
NO = frozenset({"false", "no", "off", "0"})
NONE = frozenset({"", "none"})
MAX_GLOBS = 50
MAX_HOSTS = 50
MAX_TAGS = 20
MAX_KEPT_BUILDS = 100_000
MAX_RUNNING = 10_000  # beyond what any number of consumers takes
MAX_KEPT_DAYS = 36_500  # a hundred years

StoredValue = bool | int | float | str | list[str] | None


class BadOptionError(BadInputError):
    """An option that does not exist, or a value that it cannot have."""

    def __init__(self, given: str, problem: str) -> None:
        forms = ", ".join(f"{name}={kind.form}" for name, kind in OPTIONS.items())
        super().__init__(f"{given!r} cannot be set: {problem}", next_step=f"Options are {forms}.")
        self.problem = problem


@dataclass(frozen=True, slots=True)
class ProjectOptions:
    """Options with the defaults that hold until somebody sets them."""

    cancels_older_builds: bool = False  # an upload ends the branch's unfinished older builds
    diff_threshold: float = 0.1  # of the yiq-7 metric, 0 to 1
    padding: int = USUAL_PADDING_PX  # around the content of stories that say nothing of it
    viewports: tuple[Viewport, ...] = ()  # of stories that name none; without any: the default
    accepts_branches: tuple[str, ...] = ()  # globs of branches whose changes need no review
    public_storybook: bool = False  # the published Storybook needs no sign-in
    keep_builds: int | None = None  # of each branch; None: the server's default
    keep_days: int | None = None  # None: the server's default
    max_running: int | None = None  # captures at once, over all consumers; None: no limit
    allowed_hosts: tuple[AllowedHost, ...] = ()  # that stories may ask; none: the Storybook alone
    captures_docs: bool = False  # docs pages are captured too
    story_tags: tuple[TagRule, ...] = ()  # that captured stories keep to
    accessibility: Accessibility = Accessibility.ADDON  # what is done about it
    isolation: Isolation = Isolation.SHARED  # of stories that ask for none

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> "ProjectOptions":
        """Read what was stored; keys of other versions are left out."""
        known = {
            each.name: stored[each.name]
            for each in fields(cls)
            if stored.get(each.name) is not None
        }
        if "viewports" in known:
            known["viewports"] = tuple(parse_viewport(name) for name in known["viewports"])
        if "accepts_branches" in known:
            known["accepts_branches"] = tuple(known["accepts_branches"])
        if "allowed_hosts" in known:
            known["allowed_hosts"] = tuple(map(parse_allowed_host, known["allowed_hosts"]))
        if "story_tags" in known:
            known["story_tags"] = tuple(map(parse_rule, known["story_tags"]))
        if "accessibility" in known:
            known["accessibility"] = Accessibility(known["accessibility"])
        if "isolation" in known:
            known["isolation"] = Isolation(known["isolation"])
        return cls(**known)

    def to_json(self) -> dict[str, StoredValue]:
        """Return every option as it would be stored."""
        return {
            "cancels_older_builds": self.cancels_older_builds,
            "diff_threshold": self.diff_threshold,
            "padding": self.padding,
            "viewports": [viewport.mode_name for viewport in self.viewports],
            "accepts_branches": list(self.accepts_branches),
            "public_storybook": self.public_storybook,
            "keep_builds": self.keep_builds,
            "keep_days": self.keep_days,
            "max_running": self.max_running,
            "allowed_hosts": [host.written for host in self.allowed_hosts],
            "captures_docs": self.captures_docs,
            "story_tags": [rule.written for rule in self.story_tags],
            "accessibility": self.accessibility.value,
            "isolation": self.isolation.value,
        }


def parse_option(given: str) -> tuple[str, StoredValue]:
    """Read `name=value` as a person types it; raises BadOptionError."""
    name, equals, value = given.partition("=")
    if not equals:
        raise BadOptionError(given, "it is not of the form name=value")
    if name not in OPTIONS:
        raise BadOptionError(given, f"there is no option {name!r}")
    return name, read_option(name, value)


def read_option(name: str, value: str) -> StoredValue:
    """Read an option's written value; raises BadOptionError."""
    try:
        return OPTIONS[name].read(value.strip())
    except ValueError as error:
        raise BadOptionError(f"{name}={value}", str(error)) from None


def _yes_or_no(value: str) -> bool:
    if value.lower() not in YES | NO:
        msg = "it is neither true nor false"
        raise ValueError(msg)
    return value.lower() in YES


def _share(value: str) -> float:
    try:
        share = float(value)
    except ValueError:
        msg = f"{value!r} is not a number"
        raise ValueError(msg) from None
    if not 0 <= share <= 1:  # also what is not a number but calls itself one: nan
        msg = "it has to be from 0 to 1"
        raise ValueError(msg)
    return share


def _padding(value: str) -> int:
    if not (value.isascii() and value.isdigit() and int(value) <= MAX_PADDING_PX):
        msg = f"it has to be a whole number from 0 to {MAX_PADDING_PX}"
        raise ValueError(msg)
    return int(value)


def _number_up_to(most: int) -> Callable[[str], int | None]:
    def read(value: str) -> int | None:
        if value.lower() in NONE:
            return None
        if not (value.isascii() and value.isdigit() and 1 <= int(value) <= most):
            msg = f"it has to be a whole number from 1 to {most:,}, or none"
            raise ValueError(msg)
        return int(value)

    return read


def _viewports(value: str) -> list[str]:
    try:
        names = [parse_viewport(word).mode_name for word in _words(value)]
    except BadViewportError as error:
        raise ValueError(error.problem) from None
    return _few(names, MAX_VIEWPORTS, "viewports")


def _globs(value: str) -> list[str]:
    try:
        globs = [parse_glob(word) for word in _words(value)]
    except BadGlobError as error:
        raise ValueError(error.problem) from None
    return _few(globs, MAX_GLOBS, "branches")


def _hosts(value: str) -> list[str]:
    try:
        hosts = [parse_allowed_host(word).written for word in _words(value)]
    except BadHostError as error:
        raise ValueError(error.problem) from None
    return _few(hosts, MAX_HOSTS, "hosts")


def _tags(value: str) -> list[str]:
    return _few([parse_rule(word).written for word in _words(value)], MAX_TAGS, "tags")


def _accessibility(value: str) -> str:
    if value.lower() not in set(Accessibility):
        msg = f"it is none of {', '.join(Accessibility)}"
        raise ValueError(msg)
    return value.lower()


def _isolation(value: str) -> str:
    if value.lower() not in set(Isolation):
        msg = f"it is none of {', '.join(Isolation)}"
        raise ValueError(msg)
    return value.lower()


def _few(words: list[str], most: int, what: str) -> list[str]:
    once = list(dict.fromkeys(words))
    if len(once) > most:
        msg = f"it has more than {most} {what}"
        raise ValueError(msg)
    return once


def _words(value: str) -> list[str]:
    """Return what commas, spaces or lines divide; `none` and nothing are no words."""
    return [] if value.lower() in NONE else value.replace(",", " ").split()


@dataclass(frozen=True, slots=True)
class OptionKind:
    """How an option is written, and what reads it; `read` raises ValueError with the problem."""

    form: str
    read: Callable[[str], StoredValue]


OPTIONS: Mapping[str, OptionKind] = {
    "cancels_older_builds": OptionKind("true|false", _yes_or_no),
    "diff_threshold": OptionKind("0..1", _share),
    "padding": OptionKind(f"0..{MAX_PADDING_PX}", _padding),
    "viewports": OptionKind("375,1280x800|none", _viewports),
    "accepts_branches": OptionKind("main,renovate/**|none", _globs),
    "public_storybook": OptionKind("true|false", _yes_or_no),
    "keep_builds": OptionKind("20|none", _number_up_to(MAX_KEPT_BUILDS)),
    "keep_days": OptionKind("90|none", _number_up_to(MAX_KEPT_DAYS)),
    "max_running": OptionKind("4|none", _number_up_to(MAX_RUNNING)),
    "allowed_hosts": OptionKind("fonts.example.com,*.example.com:8443|none", _hosts),
    "captures_docs": OptionKind("true|false", _yes_or_no),
    "story_tags": OptionKind("test,!experimental|none", _tags),
    "accessibility": OptionKind("|".join(Accessibility), _accessibility),
    "isolation": OptionKind("shared|strict|fresh-context", _isolation),
}
