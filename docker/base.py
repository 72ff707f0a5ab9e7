"""The base image where no registry of images can be reached: Debian's own packages, by debootstrap.

It is given what the public image of that name has: the same suites, and no documentation, caches
or package lists.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from docker.commands import ask, succeeds
from storyshelf.errors import StoryshelfError

IMAGE = "docker.io/library/debian:bookworm-slim"
PULL_S = 90.0
ARCHIVE = "http://deb.debian.org"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SOURCES = f"""deb {ARCHIVE}/debian bookworm main
deb {ARCHIVE}/debian bookworm-updates main
deb {ARCHIVE}/debian-security bookworm-security main
"""
NO_DOCUMENTATION = """path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
"""
NO_CACHES = """DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb"; };
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
"""
FILES = {
    "etc/apt/sources.list": SOURCES,
    "etc/dpkg/dpkg.cfg.d/slim": NO_DOCUMENTATION,
    "etc/apt/apt.conf.d/slim": NO_CACHES,
}
EMPTIED = (
    *("var/lib/apt/lists", "var/cache/apt/archives", "usr/share/man", "usr/share/info"),
    *("usr/share/locale", "var/log"),
)


class NoBaseImageError(StoryshelfError):
    """The base can neither be fetched nor made."""

    def __init__(self) -> None:
        super().__init__(
            "the base image can neither be fetched nor made here",
            where=IMAGE,
            next_step="This mends it, as root: apt-get install -y debootstrap",
        )


def need_base(buildah: Sequence[str], folder: Path) -> str:
    """Fetch the base image, else make it in the folder; return how it came here, for people."""
    if succeeds([*buildah, "inspect", "--type", "image", IMAGE], PULL_S):
        return "is here already"
    if succeeds([*buildah, "pull", IMAGE], PULL_S):
        return "came from its registry"
    if shutil.which("debootstrap") is None:
        raise NoBaseImageError
    root = folder / "base"
    ask("debootstrap", "--variant=minbase", "bookworm", str(root), f"{ARCHIVE}/debian")
    make_slim(root)
    _import(buildah, root, folder / "base.tar")
    shutil.rmtree(root)
    return "was made by debootstrap, since its registry does not answer"


def make_slim(root: Path) -> None:
    """Write the files, and empty what no image needs."""
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for name in EMPTIED:
        for path in (root / name).glob("*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _import(buildah: Sequence[str], root: Path, packed: Path) -> None:
    subprocess.run(["tar", "-C", str(root), "-cf", str(packed), "."], check=True)
    container = ask(*buildah, "from", "scratch").strip()
    ask(*buildah, "add", "--quiet", container, str(packed), "/")
    packed.unlink()
    ask(*buildah, "config", "--cmd", "bash", "--env", f"PATH={PATH}", container)
    ask(*buildah, "commit", "--quiet", "--format", "docker", "--rm", container, IMAGE)
