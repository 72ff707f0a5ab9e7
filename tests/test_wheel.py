"""The wheel has in it what the program reads at run time."""

import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
MADE_BY_PYTHON = {"__pycache__"}


@pytest.fixture(scope="module")
def contents(wheel: Path) -> set[str]:
    """The names in the wheel."""
    return set(zipfile.ZipFile(wheel).namelist())


def files_of(folder: str) -> set[str]:
    """Return every file of a folder, templates, scripts and styles included."""
    return {
        str(path.relative_to(TOP))
        for path in (TOP / folder).rglob("*")
        if path.is_file() and not MADE_BY_PYTHON & set(path.parts)
    }


@pytest.mark.flow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("package", ["storyshelf", "consumer"])
def test_every_file_of_a_package_is_in_the_wheel(contents: set[str], package: str) -> None:
    assert files_of(package)
    assert files_of(package) - contents == set()


@pytest.mark.flow
@pytest.mark.timeout(120)
def test_migrations_lie_where_the_installed_program_looks_for_them(contents: set[str]) -> None:
    migrations = {f"storyshelf/db/{name}" for name in files_of("migrations")}
    assert "storyshelf/db/migrations/env.py" in migrations
    assert migrations - contents == set()


@pytest.mark.flow
@pytest.mark.timeout(120)
def test_nothing_but_the_program_is_in_the_wheel(contents: set[str]) -> None:
    tops = {name.split("/")[0] for name in contents}
    assert tops == {"storyshelf", "consumer", "storyshelf-0.1.0.dist-info"}
