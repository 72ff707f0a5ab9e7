"""What a process may do, and what is taken from the ones it starts."""

import subprocess
import sys
from pathlib import Path

import pytest

from consumer.privileges import (
    FOR_THE_BROWSER,
    Dropping,
    Privileges,
    drop_to,
    dying_with_parent,
    keep_uid,
    own_privileges,
)

NOTHING = Privileges(1000, frozenset())
EVERYTHING = Privileges(0, frozenset(range(41)))
CONTAINER = Privileges(1000, frozenset({0, 1, 5, 6, 7}))


def test_the_capabilities_are_read_as_bits(tmp_path: Path) -> None:
    (tmp_path / "status").write_text("Name:\tpython\nCapEff:\t00000000000000e3\n")
    assert own_privileges(tmp_path / "status").capabilities == {0, 1, 5, 6, 7}


def test_without_proc_nothing_special_may_be_done(tmp_path: Path) -> None:
    assert own_privileges(tmp_path / "missing").capabilities == frozenset()


@pytest.mark.parametrize(
    ("privileges", "missing"),
    [
        (EVERYTHING, ()),
        (CONTAINER, ()),
        (NOTHING, ("CHOWN", "DAC_OVERRIDE", "KILL", "SETGID", "SETUID")),
        (Privileges(0, frozenset({0, 1, 5, 7})), ("SETGID",)),
    ],
)
def test_what_is_missing_for_uids_of_their_own_is_named(
    privileges: Privileges, missing: tuple[str, ...]
) -> None:
    assert privileges.missing() == missing


def test_who_drops_to_a_uid_keeps_no_group_and_no_capability() -> None:
    dropping = drop_to(61_000, "/usr/bin/setpriv")
    assert dropping.uid == 61_000
    assert set(dropping.argv) == {
        "/usr/bin/setpriv",
        "--reuid=61000",
        "--regid=61000",
        "--clear-groups",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--no-new-privs",
    }


def test_the_bounding_set_is_left_alone_by_who_may_not_change_it() -> None:
    assert not any("bounding" in each for each in keep_uid("setpriv", CONTAINER).argv)
    assert "--bounding-set=-all" in keep_uid("setpriv", EVERYTHING).argv


def test_a_helper_keeps_what_it_needs_to_start_and_end_a_browser() -> None:
    argv = keep_uid("setpriv", EVERYTHING, keep=FOR_THE_BROWSER).argv
    assert "--bounding-set=-all,+kill,+setgid,+setuid" in argv


def test_the_prefix_takes_every_capability_from_what_it_starts() -> None:
    argv = keep_uid("setpriv", own_privileges()).argv
    started = subprocess.run([*argv, "cat", "/proc/self/status"], capture_output=True, check=True)
    fields = dict(line.split(":\t", 1) for line in started.stdout.decode().splitlines())
    assert int(fields["CapEff"], 16) == 0
    assert int(fields["NoNewPrivs"]) == 1


def test_a_process_that_dies_with_its_parent_is_killed_by_the_kernel(tmp_path: Path) -> None:
    prefix = [*dying_with_parent(keep_uid("setpriv", own_privileges())), "cat"]
    script = (
        "import os, subprocess, sys; p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, "
        "stdout=sys.stdout); os.set_inheritable(1, True); print(p.pid, flush=True); os._exit(0)"
    )
    parent = subprocess.run([sys.executable, "-c", script, *prefix], stdout=-1, check=True)
    # `run` reads to the end of the pipe, which the grandchild holds: it returned, so that is dead.
    assert parent.stdout.strip().isdigit()


def test_without_setpriv_nothing_is_put_before_the_command() -> None:
    assert dying_with_parent(Dropping(None, ())) == ()


def test_a_process_made_unreadable_hides_its_environment_from_its_own_uid() -> None:
    script = (
        "import subprocess, sys; from consumer.privileges import *; become_unreadable();"
        "who = keep_uid('setpriv', own_privileges());"
        "r = subprocess.run([*who.argv, 'sh', '-c', 'cat /proc/$PPID/environ'],"
        "capture_output=True); print(r.returncode, r.stdout)"
    )
    root = str(Path(__file__).parents[2])
    shown = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": root, "PATH": "/usr/bin:/bin", "SECRET": "x"},
        capture_output=True,
        check=True,
    )
    assert shown.stdout == b"1 b''\n"
