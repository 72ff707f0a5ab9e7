"""A copy of the packages in which a test may break a rule."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).parents[2]
PACKAGES = ("storyshelf", "consumer")


def tool(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run one of the tools that set-up installed beside this interpreter."""
    program = Path(sys.executable).parent / command[0]
    return subprocess.run(
        [program, *command[1:]], cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )


@dataclass(frozen=True, slots=True)
class Tree:
    """The Python files of both packages and the tools' configuration, at `top`."""

    top: Path

    def exists(self, module: str) -> bool:
        """Tell whether there is such a module or package."""
        path = self._path(module)
        return path.with_suffix(".py").is_file() or path.is_dir()

    def add_import(self, module: str, *imported: str) -> str:
        """Make `module` import the others, a package by a new module; return the importer."""
        path = self._path(module)
        lines = "".join(f"import {name}\n" for name in imported)
        if path.is_dir():
            with (path / "probe.py").open("a") as probe:
                probe.write(lines)
            return f"{module}.probe"
        with path.with_suffix(".py").open("a") as file:
            file.write(lines)
        return module

    def packages(self) -> list[str]:
        """Return `consumer` and each package directly in storyshelf."""
        rooms = sorted((self.top / "storyshelf").iterdir())
        return ["consumer", *(f"storyshelf.{room.name}" for room in rooms if room.is_dir())]

    def _path(self, module: str) -> Path:
        return self.top.joinpath(*module.split("."))


def copy_tree(to: Path) -> Tree:
    """Copy what the tools read; compiled files and pages are no part of it."""
    for package in PACKAGES:
        for source in (TOP / package).rglob("*.py"):
            target = to / source.relative_to(TOP)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    shutil.copyfile(TOP / "pyproject.toml", to / "pyproject.toml")
    return Tree(to)
