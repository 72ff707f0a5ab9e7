"""No two browsers on a machine run under one uid."""

import os
import pwd
from pathlib import Path

import pytest

from consumer.slot_uids import (
    SPAN,
    BadUidRangeError,
    NoSlotUidError,
    SlotUids,
    UntrustedFolderError,
)

FIRST = 3_000_000_000  # far from any user's


def test_two_consumers_of_one_machine_never_get_the_same_uid(tmp_path: Path) -> None:
    one, other = SlotUids(tmp_path / "locks", FIRST), SlotUids(tmp_path / "locks", FIRST)
    with one.lease() as first, other.lease() as second, one.lease() as third:
        assert len({first, second, third}) == 3


def test_a_uid_that_was_given_back_is_given_out_again(tmp_path: Path) -> None:
    uids = SlotUids(tmp_path / "locks", FIRST)
    with uids.lease() as first:
        pass
    with uids.lease() as second:
        assert second == first == FIRST


def test_the_uid_of_a_user_is_passed_over(tmp_path: Path) -> None:
    taken = max(user.pw_uid for user in pwd.getpwall() if user.pw_uid < 60_000)
    with SlotUids(tmp_path / "locks", taken).lease() as uid:
        assert uid > taken


def test_a_uid_under_which_something_runs_is_passed_over(tmp_path: Path) -> None:
    busy = SlotUids(tmp_path / "locks", FIRST, occupants={FIRST: {4711}, FIRST + 1: {}}.__getitem__)
    with busy.lease() as uid:
        assert uid == FIRST + 1


def test_when_all_are_taken_the_range_is_named(tmp_path: Path) -> None:
    uids = SlotUids(tmp_path / "locks", FIRST, span=2)
    with (
        uids.lease(),
        uids.lease(),
        pytest.raises(NoSlotUidError, match=f"{FIRST} to {FIRST + 1}"),
        uids.lease(),
    ):
        raise AssertionError("both are taken")


def test_locks_in_a_linked_folder_are_not_believed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "locks").symlink_to(tmp_path / "real")
    with pytest.raises(UntrustedFolderError), SlotUids(tmp_path / "locks").lease():
        raise AssertionError(f"uid {os.getuid()} trusted a link")


@pytest.mark.parametrize("first", [-1, 0, 999, 2**32 - 1, 2**32 - SPAN])
def test_a_range_that_holds_root_or_no_uid_at_all_is_refused(tmp_path: Path, first: int) -> None:
    with pytest.raises(BadUidRangeError, match=f"from {first} on"):
        SlotUids(tmp_path, first)
