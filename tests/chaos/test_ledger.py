"""The ledger finds what it is there to find."""

from dataclasses import replace
from uuid import UUID

import pytest

from bench.chaos.ledger import (
    Attempt,
    EndedBuild,
    Event,
    Facts,
    Figures,
    Moment,
    balance,
    unrecognised,
)
from storyshelf.ids import BuildId, JobId

JOB, BUILD = JobId(1), BuildId(7)
OLD, NEW = UUID(int=1), UUID(int=2)
HISTORY = (
    Moment(JOB, Event.GRANTED, OLD),
    Moment(JOB, Event.GRANTED, NEW),  # the lease of the first ran out
    Moment(JOB, Event.WROTE, NEW),
    Moment(JOB, Event.LEFT, NEW),
    Moment(JOB, Event.APPLIED, NEW),
)
CLEAN = Facts(
    promised=frozenset({JOB}),
    promised_builds=frozenset({BUILD}),
    unfinished=(),
    done={JOB: "completed"},
    effects=(JOB,),
    executed=frozenset({JOB}),
    attempts=(Attempt(JOB, 1, "lost", OLD), Attempt(JOB, 2, "completed", NEW)),
    believed=(Attempt(JOB, 1, "lost"), Attempt(JOB, 2, "completed")),
    history=HISTORY,
    builds=(EndedBuild(BUILD, has_ended=True, was_planned=True, open_shards=0, finalisers=1),),
)


def test_a_job_that_was_taken_over_and_done_is_in_order() -> None:
    assert balance(CLEAN) == Figures()
    assert unrecognised(CLEAN) == 0


@pytest.mark.parametrize(
    "facts",
    [
        replace(CLEAN, promised=frozenset({JOB, JobId(2)})),
        replace(CLEAN, done={}, effects=(), executed=frozenset(), unfinished=(JOB,)),
        replace(CLEAN, effects=()),
        replace(CLEAN, executed=frozenset()),
        replace(CLEAN, attempts=CLEAN.attempts[:1]),
    ],
    ids=["vanished", "left over", "without its effect", "never run", "settled in a dream"],
)
def test_a_job_that_is_lost_is_counted(facts: Facts) -> None:
    assert balance(facts).lost == 1


@pytest.mark.parametrize(
    "facts",
    [replace(CLEAN, effects=(JOB, JOB)), replace(CLEAN, unfinished=(JOB,))],
    ids=["two effects", "done and still queued"],
)
def test_a_job_that_is_done_twice_is_counted(facts: Facts) -> None:
    assert balance(facts).doubled == 1


@pytest.mark.parametrize(
    "history",
    [
        (*HISTORY[:2], Moment(JOB, Event.WROTE, OLD), *HISTORY[3:]),
        (*HISTORY[:4], Moment(JOB, Event.APPLIED, OLD)),
        (*HISTORY[:3], *HISTORY[4:]),
    ],
    ids=["results of an old lease", "effects of an old lease", "effects without the end"],
)
def test_a_stranger_who_writes_is_counted(history: tuple[Moment, ...]) -> None:
    attempts = (Attempt(JOB, 1, "lost", OLD),)  # so that the history alone speaks
    believed = (Attempt(JOB, 1, "lost"),)
    facts = replace(CLEAN, history=history, attempts=attempts, believed=believed)
    assert balance(facts).stale_accepted == 1


def test_a_settle_under_a_token_that_did_not_own_the_job_is_counted() -> None:
    attempts = (Attempt(JOB, 1, "completed", OLD), Attempt(JOB, 2, "completed", NEW))
    assert balance(replace(CLEAN, attempts=attempts)).stale_accepted == 1


@pytest.mark.parametrize(
    "build",
    [
        replace(CLEAN.builds[0], has_ended=False),
        replace(CLEAN.builds[0], finalisers=2),
        replace(CLEAN.builds[0], finalisers=0),
        replace(CLEAN.builds[0], open_shards=1),
        replace(CLEAN.builds[0], was_planned=False),
    ],
    ids=["never ended", "two", "none", "too early", "for what was never planned"],
)
def test_a_build_without_its_one_finaliser_is_counted(build: EndedBuild) -> None:
    assert balance(replace(CLEAN, builds=(build,))).finalisers_wrong == 1


def test_a_build_that_is_gone_is_counted() -> None:
    assert balance(replace(CLEAN, builds=())).finalisers_wrong == 1


def test_a_settle_that_went_through_unknown_to_its_consumer_is_told_apart() -> None:
    facts = replace(CLEAN, believed=(Attempt(JOB, 2, "lost"),))
    assert balance(facts) == Figures()
    assert unrecognised(facts) == 1
