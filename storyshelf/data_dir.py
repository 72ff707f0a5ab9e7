"""Where this machine's storyshelf keeps its data; server, consumers and client must agree."""

import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs

VARIABLE = "STORYSHELF_DATA_DIR"
SYSTEM_DATA_DIR = Path("/var/lib/storyshelf")
ROOT = 0


def data_dir(environ: Mapping[str, str], user_id: int | None) -> Path:
    """Return the folder that the variable names, else the default one."""
    chosen = environ.get(VARIABLE)
    return absolute(Path(chosen)) if chosen else default_data_dir(user_id)


def default_data_dir(user_id: int | None) -> Path:
    """Return the system's place for root, else one of the user's own."""
    return SYSTEM_DATA_DIR if user_id == ROOT else Path(platformdirs.user_data_dir("storyshelf"))


def own_user_id() -> int | None:
    """Return whose data this process works with; None where users have no number (Windows)."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def absolute(folder: Path) -> Path:
    """Return the folder as it is from anywhere; `~` is a home, since no shell may have said so."""
    return folder.expanduser().absolute()
