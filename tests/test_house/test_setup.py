"""Set-up names what is missing, does each step once, and repeats a step that was cut off.

Python, node and npm are stand-ins that write down how they were called.
"""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.test_house.tree import TOP

TOOLS_OF_THE_SYSTEM = (
    *("sh", "cat", "cp", "dirname", "git", "grep", "head", "mkdir", "mv", "rm", "sed"),
    "flock",  # where there is none, set-up does without
)
PYTHON = """#!/bin/sh
echo "python $*" >>"$CALLS"
case "$*" in
  "- 3.11") echo "$0" ;;
  *venv*) rm -rf .venv; mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
  *requirements/dev.txt*) [ ! -e pip-is-broken ] || exit 1; cp "$0" .venv/bin/pytest ;;
  *" -e ."*) cp "$0" .venv/bin/storyshelf ;;
esac
"""
NPM = """#!/bin/sh
echo "npm $*" >>"$CALLS"
mkdir -p node_modules/htmx.org/dist node_modules/idiomorph/dist node_modules/axe-core
echo "// $*" >node_modules/htmx.org/dist/htmx.min.js
echo "// $*" >node_modules/idiomorph/dist/idiomorph-ext.min.js
echo "// $*" >node_modules/axe-core/axe.min.js
"""
APT_CACHE = '#!/bin/sh\necho "  Candidate: 1:18.20.4+dfsg"\n'
PREPARE = "python -m venv --clear .venv"
PACKAGES = "--require-hashes -r requirements/dev.txt"


@dataclass(frozen=True, slots=True)
class Machine:
    """A folder to set up, and a PATH on which only what a test put there is found."""

    top: Path

    def has(self, tool: str, script: str) -> None:
        path = self.top / "bin" / tool
        path.write_text(script)
        path.chmod(0o755)

    def has_everything(self) -> None:
        self.has("python3", PYTHON)
        self.has("node", "#!/bin/sh\necho v22.12.0\n")
        self.has("npm", NPM)
        self.has("chrome", "#!/bin/sh\n")

    def set_up(self, **environment: str) -> subprocess.CompletedProcess[str]:
        (self.top / "calls").write_text("")
        chrome = str(self.top / "bin" / "chrome")
        return subprocess.run(
            ["/bin/sh", "requirements/setup.sh"],
            cwd=self.top,
            env={
                "PATH": str(self.top / "bin"),
                "CALLS": str(self.top / "calls"),
                "STORYSHELF_BROWSER_PATH": chrome,
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )

    def steps(self) -> list[str]:
        """Return how the tools were called by the last set-up, probes left out."""
        calls = (self.top / "calls").read_text().splitlines()
        return [call for call in calls if call not in ("python - 3.11", "python -c ")]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "bin").mkdir()
    for tool in TOOLS_OF_THE_SYSTEM:
        if found := shutil.which(tool):
            (tmp_path / "bin" / tool).symlink_to(found)
    (tmp_path / "requirements").mkdir()
    for name in ("setup.sh", "vendor.sh"):
        shutil.copyfile(TOP / "requirements" / name, tmp_path / "requirements" / name)
    for name in ("requirements/dev.txt", "pyproject.toml", "package.json", "package-lock.json"):
        (tmp_path / name).write_text(name)
    return Machine(tmp_path)


def test_what_is_missing_is_named_with_the_one_line_that_mends_it(machine: Machine) -> None:
    machine.has("id", "#!/bin/sh\necho 1000\n")
    machine.has("apt-get", "#!/bin/sh\n")
    said = machine.set_up().stderr.splitlines()
    assert said[0].startswith("setup: missing: Python >= 3.11 with venv and ensurepip, Node.js")
    assert said[1:] == [
        "  sudo apt-get update && sudo apt-get install -y python3 python3-venv nodejs npm"
    ]


def test_a_system_whose_node_is_too_old_is_told_where_a_newer_one_comes_from(
    machine: Machine,
) -> None:
    machine.has_everything()
    machine.has("node", "#!/bin/sh\necho v18.20.4\n")
    machine.has("id", "#!/bin/sh\necho 0\n")
    machine.has("apt-get", "#!/bin/sh\n")
    machine.has("apt-cache", APT_CACHE)
    done = machine.set_up()
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "setup: missing: Node.js >= 20.19 (found: v18.20.4). This mends it:",
        "  apt-get update && apt-get install -y nodejs npm && npm install --global n && n 22",
    ]


def test_a_browser_that_was_named_and_is_not_there_stops_the_set_up(machine: Machine) -> None:
    machine.has_everything()
    done = machine.set_up(STORYSHELF_BROWSER_PATH="/nowhere/chrome")
    assert done.returncode == 1
    assert "STORYSHELF_BROWSER_PATH names /nowhere/chrome" in done.stderr


def test_a_second_set_up_does_nothing(machine: Machine) -> None:
    machine.has_everything()
    assert machine.set_up().returncode == 0
    assert len(machine.steps()) == 4
    assert machine.set_up().stderr == "setup: ready\n"
    assert machine.steps() == []


def test_new_requirements_are_installed_into_the_venv_that_is_there(machine: Machine) -> None:
    machine.has_everything()
    machine.set_up()
    (machine.top / "requirements" / "dev.txt").write_text("another version")
    machine.set_up()
    installed, project = machine.steps()
    assert PACKAGES in installed
    assert project.endswith("--no-index --no-deps --no-build-isolation -e .")


def test_after_half_an_installation_the_venv_is_made_anew(machine: Machine) -> None:
    machine.has_everything()
    (machine.top / "pip-is-broken").touch()
    assert machine.set_up().returncode != 0
    (machine.top / "pip-is-broken").unlink()
    assert machine.set_up().returncode == 0
    assert machine.steps()[0] == PREPARE
    assert PACKAGES in machine.steps()[1]


def test_a_python_that_is_only_a_stand_in_is_passed_over(machine: Machine) -> None:
    machine.has_everything()
    machine.has("python3.12", PYTHON)
    machine.has("python3", "#!/bin/sh\necho 'not this version'\nexit 127\n")
    done = machine.set_up()
    assert done.returncode == 0
    assert f"making .venv with {machine.top}/bin/python3.12" in done.stderr


@pytest.mark.parametrize(
    "place", ["storyshelf/ui/static/vendor/htmx.js", "consumer/capture/vendor/axe.js"]
)
def test_the_libraries_are_copied_to_where_server_and_captures_read_them(
    machine: Machine, place: str
) -> None:
    machine.has_everything()
    machine.set_up()
    library = machine.top / place
    assert library.read_text().startswith("// ci")
    library.unlink()
    machine.set_up()
    assert library.exists()
