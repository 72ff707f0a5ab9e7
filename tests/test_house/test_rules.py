"""The other tools notice what they are there for."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_house.tree import TOP, copy_tree, tool

BREACHES = {
    "TID251 the time of day": "from datetime import UTC, datetime\n\nNOW = datetime.now(UTC)\n",
    "TID251 seconds since the epoch": "import time\n\nNOW = time.time()\n",
    "TID251 a sleep no test can advance": (
        "import asyncio\n\n\nasync def wait() -> None:\n    await asyncio.sleep(1)\n"
    ),
    "TID251 a private draw": "import random\n\nDRAW = random.random()\n",
    "TID252 a relative import": "from . import errors\n",
    "FBT001 a boolean parameter": "def show(difference: bytes, faint: bool) -> None: ...\n",
    "FBT003 a boolean argument": "def show(part: object) -> None: ...\n\n\nshow(True)\n",
    "PLR2004 a number without a name": (
        "def is_large(height_px: int) -> bool:\n    return height_px > 16384\n"
    ),
    "PLR0913 a sixth parameter": (
        "def shoot(a: int, b: int, c: int, d: int, e: int, f: int) -> None: ...\n"
    ),
    "BLE001 a catch of everything": (
        "try:\n    import numpy\nexcept Exception:\n    numpy = None\n"
    ),
    "B904 an error that hides its cause": (
        "def parse(text: str) -> int:\n    try:\n        return int(text)\n"
        "    except ValueError:\n        raise KeyError(text)\n"
    ),
    "RUF006 a task that nobody holds": (
        "import asyncio\n\n\nasync def begin() -> None:\n"
        "    asyncio.create_task(asyncio.to_thread(print))\n"
    ),
    "DTZ005 a time without a zone": "import datetime\n\nNOW = datetime.datetime.now()\n",
    "D103 a promise not written down": "def seal() -> None:\n    return None\n",
    "ANN201 a result without a type": "def seal():\n    return 1\n",
    "T201 a print": "print(1)\n",
    "PTH118 a path as a string": 'import os\n\nPLACE = os.path.join("a", "b")\n',
    "PGH003 a silenced type checker": 'WIDTH: int = "1"  # type: ignore\n',
    "ERA001 code in a comment": "# width = compare(base, head)\n",
}


def ruff(source: str, *, as_file: str) -> str:
    """Return ruff's answer to a file of the project that does not exist."""
    program = str(Path(sys.executable).parent / "ruff")
    command = [program, "check", "--no-cache", "--output-format", "concise"]
    done = subprocess.run(
        [*command, "--stdin-filename", as_file, "-"],
        cwd=TOP,
        input=source,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("breach", BREACHES)
def test_ruff_refuses(breach: str) -> None:
    assert f" {breach.split(maxsplit=1)[0]} " in ruff(
        BREACHES[breach], as_file="storyshelf/probe.py"
    )


def test_a_branch_too_many_is_refused() -> None:
    branches = "".join(f"    if width_px == WIDTHS[{n}]:\n        return {n}\n" for n in range(9))
    source = f"def bucket(width_px: int) -> int:\n{branches}    return 9\n"
    assert " C901 " in ruff(source, as_file="storyshelf/probe.py")


def test_a_test_may_not_patch() -> None:
    assert " TID251 " in ruff("from unittest.mock import patch\n", as_file="tests/probe.py")


def test_only_the_clock_may_read_the_time() -> None:
    source = "from datetime import UTC, datetime\n\nNOW = datetime.now(UTC)\n"
    assert "TID251" not in ruff(source, as_file="storyshelf/clock.py")


@pytest.mark.timeout(60)  # without its cache mypy reads the standard library anew
def test_mypy_refuses_what_strict_alone_lets_pass(tmp_path: Path) -> None:
    (tmp_path / "probe.py").write_text(
        "from enum import Enum\n\n\n"
        "class Verdict(Enum):\n    SAME = 1\n    CHANGED = 2\n\n\n"
        "def word(verdict: Verdict) -> None:\n    match verdict:\n"
        "        case Verdict.SAME:\n            print(1)\n\n\n"
        "def first(numbers: list[int]) -> int:\n    for number in numbers:\n"
        "        found = number\n    return found\n\n\n"
        'WIDTH: int = "1"  # type: ignore\n\n\n'
        "def untyped(x):\n    return x\n"
    )
    config = str(TOP / "pyproject.toml")
    said = tool(
        *("mypy", "--config-file", config, "--cache-dir", str(tmp_path / "cache"), "probe.py"),
        cwd=tmp_path,
    ).stdout
    for code in ("exhaustive-match", "possibly-undefined", "ignore-without-code", "no-untyped-def"):
        assert f"[{code}]" in said


def test_vulture_names_a_function_that_nobody_calls(tmp_path: Path) -> None:
    (tmp_path / "probe.py").write_text("def forgotten() -> None: ...\n")
    done = tool("vulture", "--config", str(TOP / "pyproject.toml"), "probe.py", cwd=tmp_path)
    assert done.returncode == 3
    assert "unused function 'forgotten'" in done.stdout


def test_deptry_names_an_import_that_is_not_declared(tmp_path: Path) -> None:
    tree = copy_tree(tmp_path)
    tree.add_import("storyshelf.errors", "nobody_declared_this", "httpcore", "hypothesis")
    said = tool("deptry", ".", "--no-ansi", cwd=tree.top).stderr
    assert "DEP001 'nobody_declared_this' imported but missing" in said
    assert "DEP003 'httpcore' imported but it is a transitive dependency" in said
    assert "DEP004 'hypothesis' imported but declared as a dev dependency" in said
