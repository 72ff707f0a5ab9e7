"""docker/compose.yaml as an engine would read it."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
DOCKER = REPOSITORY / "docker"
TOOLS = Path(sys.executable).parent
SECRETS = {"POSTGRES_PASSWORD": "a-password", "STORYSHELF_SECRET_KEY": "5e" * 32}


def read_compose(
    folder: Path, environment: Mapping[str, str] = SECRETS
) -> subprocess.CompletedProcess[str]:
    """Have a copy read with this environment and no other: a developer may have a docker/.env."""
    for name in ("compose.yaml", "seccomp.json"):
        shutil.copy(DOCKER / name, folder)
    return subprocess.run(
        [TOOLS / "docker-compose", "--file", folder / "compose.yaml", "config", "--format=json"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def services(folder: Path, environment: Mapping[str, str] = SECRETS) -> dict[str, Any]:
    """Return the services by their names."""
    done = read_compose(folder, environment)
    assert done.stdout.startswith("{"), done.stderr  # it ends with 0 all the same
    found: dict[str, Any] = json.loads(done.stdout)["services"]
    return found


def example_environment() -> dict[str, str]:
    """Return what docker/example.env sets, and what it names as a comment."""
    lines = (DOCKER / "example.env").read_text().splitlines()
    pairs = (re.fullmatch(r"#?([A-Z_]+)=(.*)", line) for line in lines)
    return {pair[1]: pair[2] for pair in pairs if pair}
