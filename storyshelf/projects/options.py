"""What a project may set about its captures and its builds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from storyshelf.errors import BadInputError

YES = frozenset({"true", "yes", "on", "1"})
NO = frozenset({"false", "no", "off", "0"})


class BadOptionError(BadInputError):
    """An option that does not exist, or a value that it cannot have."""

    def __init__(self, given: str, problem: str) -> None:
        super().__init__(
            f"{given!r} cannot be set: {problem}",
            next_step="Use cancels_older_builds=true|false or diff_threshold=0..1.",
        )


@dataclass(frozen=True, slots=True)
class ProjectOptions:
    """Options with the defaults that hold until somebody sets them."""

    cancels_older_builds: bool = False  # an upload ends the branch's unfinished older builds
    diff_threshold: float = 0.1  # of the yiq-7 metric, 0 to 1

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> "ProjectOptions":
        """Read what was stored; keys of other versions are left out."""
        known = {name: stored[name] for name in cls.__slots__ if name in stored}
        return cls(**known)


def parse_option(given: str) -> tuple[str, bool | float]:
    """Read `name=value` as a person types it; raises BadOptionError."""
    name, equals, value = given.partition("=")
    if not equals:
        raise BadOptionError(given, "it is not of the form name=value")
    match name:
        case "cancels_older_builds":
            return name, _yes_or_no(given, value)
        case "diff_threshold":
            return name, _share(given, value)
        case _:
            raise BadOptionError(given, f"there is no option {name!r}")


def _yes_or_no(given: str, value: str) -> bool:
    if value.lower() not in YES | NO:
        raise BadOptionError(given, "it is neither true nor false")
    return value.lower() in YES


def _share(given: str, value: str) -> float:
    try:
        share = float(value)
    except ValueError:
        raise BadOptionError(given, f"{value!r} is not a number") from None
    if not 0 <= share <= 1:  # also what is not a number but calls itself one: nan
        raise BadOptionError(given, "it has to be from 0 to 1")
    return share
