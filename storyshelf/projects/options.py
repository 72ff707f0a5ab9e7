"""What a project may set about its captures and its builds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
