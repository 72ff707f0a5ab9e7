"""What people at a page were answered is told apart: done, refused, unknown, and at fault."""

import httpx
import pytest

from bench.chaos.acting import TRY_AGAIN, Deed, People

DEED = Deed("job.cancel", "7")


def noted(status: int, words: str = "") -> People:
    people = People()
    people.note(DEED, httpx.Response(status, text=words))
    return people


def test_a_redirect_says_that_it_was_done() -> None:
    assert noted(303).done == {DEED: 1}


def test_a_database_that_is_away_leaves_it_open_whether_it_was() -> None:
    people = noted(503, f"The database does not answer. {TRY_AGAIN}.")
    assert (people.unsure, people.done, people.faults) == ({DEED: 1}, {}, [])


@pytest.mark.parametrize("status", [404, 409])
def test_a_refusal_was_not_done(status: int) -> None:
    people = noted(status, "The job has ended already")
    assert (people.unsure, people.done, people.faults) == ({}, {}, [])


@pytest.mark.parametrize(
    ("status", "words"), [(500, "went wrong"), (503, "no words of what to do")]
)
def test_everything_else_is_a_fault(status: int, words: str) -> None:
    assert len(noted(status, words).faults) == 1
