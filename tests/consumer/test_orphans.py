"""Whose processes are a dead consumer's: those of a uid that nobody holds, and never our own."""

import fcntl
import itertools
import os
import pwd
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from consumer.orphans import abandoned, end_orphans, homes_of
from consumer.slot_uids import NoSlotUidError, SlotUids

UID = 61_179


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as held:
        yield held


def test_nothing_runs_in_an_empty_folder(tmp_path: Path) -> None:
    assert end_orphans(tmp_path, tmp_path, threading.Event()) == frozenset()


def test_a_uid_that_nobody_ever_leased_here_is_abandoned(tmp_path: Path, held: ExitStack) -> None:
    assert abandoned([UID], tmp_path, held) == {UID}


def test_a_uid_whose_lock_nobody_holds_is_abandoned(tmp_path: Path, held: ExitStack) -> None:
    (tmp_path / str(UID)).touch()
    assert abandoned([UID], tmp_path, held) == {UID}


def test_a_uid_that_a_living_consumer_has_leased_since_is_not(
    tmp_path: Path, held: ExitStack
) -> None:
    with (tmp_path / str(UID)).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert abandoned([UID], tmp_path, held) == frozenset()


def test_our_own_uid_and_roots_are_never_abandoned(tmp_path: Path, held: ExitStack) -> None:
    assert abandoned([os.geteuid(), 0], tmp_path, held) == frozenset()


def test_no_user_of_this_machine_is_ever_abandoned(tmp_path: Path, held: ExitStack) -> None:
    """A child that may make folders another's must not have that user's processes killed."""
    assert abandoned([user.pw_uid for user in pwd.getpwall()], tmp_path, held) == frozenset()


def test_a_number_below_those_of_slots_is_not(tmp_path: Path, held: ExitStack) -> None:
    assert abandoned(range(1_000), tmp_path, held) == frozenset()


def test_a_link_in_the_place_of_a_home_is_none(tmp_path: Path) -> None:
    somebodys, cell = tmp_path / "somebodys", tmp_path / "cell-1"
    somebodys.mkdir()
    (cell / "child").mkdir(parents=True)
    (cell / "home").symlink_to(somebodys)
    assert homes_of(cell) == (cell / "child",)


def test_a_uid_under_which_orphans_are_ended_is_leased_to_nobody_meanwhile(tmp_path: Path) -> None:
    """What a consumer that begins meanwhile runs under it would be taken for an orphan."""
    uids = SlotUids(tmp_path, first=UID, span=1)
    (tmp_path / str(UID)).touch()
    with ExitStack() as held:
        assert abandoned([UID], tmp_path, held) == {UID}
        with pytest.raises(NoSlotUidError), uids.lease():
            """Nobody gets here."""
    with uids.lease() as uid:
        assert uid == UID


def test_what_forks_anew_each_time_it_is_found_has_outlived_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def each_is_another(*_: object) -> frozenset[int]:
        return frozenset({next(pids)})

    pids = itertools.count(2**22 + 1)  # above what a kernel gives
    monkeypatch.setattr("consumer.orphans.processes.at_home", each_is_another)
    (tmp_path / "cell-1" / "home").mkdir(parents=True)
    assert end_orphans(tmp_path, tmp_path, threading.Event())
