"""The `storyshelf-consumer` program, as typed."""

import subprocess
import sys

import pytest

PROGRAM = (sys.executable, "-m", "consumer.main")


@pytest.mark.parametrize(("typed", "code"), [("--help", 0), ("--slots", 2)])
def test_it_says_what_it_takes_and_starts_nothing(typed: str, code: int) -> None:
    """Without settings that lead anywhere: a consumer that started would end with another code."""
    environment = {"STORYSHELF_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing"}
    ran = subprocess.run(
        [*PROGRAM, typed], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == code, ran.stderr
    assert "usage: storyshelf-consumer" in ran.stdout + ran.stderr
