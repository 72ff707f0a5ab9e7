"""`make images`: builds both images, tries them out, and prints how large they are.

A Docker engine keeps the images. buildah keeps them in the folder that STORAGE names; without one
they are gone at the end, and the next run begins from nothing.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from docker.engines import Engine, chosen_engine
from docker.smoke import smoke
from storyshelf.errors import StoryshelfError

TARGETS = ("server", "consumer")
PASSABLE = 0o711  # the users of the database and of the images pass through, and see nothing else


def main() -> int:
    """Return 0 if both images were built and did what they are for."""
    try:
        with a_folder() as folder:
            storage = Path(os.environ.get("STORAGE") or folder / "storage")
            with chosen_engine(storage, folder) as engine:
                build_and_try(engine, folder)
    except StoryshelfError as error:
        print(f"Error: {error.what}", file=sys.stderr)
        print("\n".join(each for each in (error.where, error.next_step) if each), file=sys.stderr)
        return 1
    return 0


def build_and_try(engine: Engine, folder: Path) -> None:
    """Do all of it, and say what happens as it happens."""
    say(f"engine: {engine.describe()}")
    for target in TARGETS:
        began = time.monotonic()
        engine.build(target, folder / f"build-{target}.log")
        say(f"{target}: built in {time.monotonic() - began:.0f} s, {engine.size(target)}")
    with smoke(engine, folder) as tried:
        for line in tried.run_all():
            say(line)
    say("sizes, all layers: " + ", ".join(f"{each} {engine.size(each)}" for each in TARGETS))


@contextmanager
def a_folder() -> Iterator[Path]:
    """Make a folder that ends with us."""
    with tempfile.TemporaryDirectory(prefix="storyshelf-images-") as name:
        folder = Path(name)
        folder.chmod(PASSABLE)
        yield folder


def say(line: str) -> None:
    """Print at once: what follows may take minutes."""
    print(f"images: {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
