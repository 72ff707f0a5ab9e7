from itertools import product

from storyshelf.queue.job import NEXT_STATES, STATE_AFTER, JobState, Outcome


def test_every_state_has_its_successors() -> None:
    assert set(NEXT_STATES) == set(JobState)


def test_every_state_but_those_of_an_enqueue_can_be_reached() -> None:
    reachable = {to for followers in NEXT_STATES.values() for to in followers}
    assert reachable | {JobState.DEFERRED, JobState.PARKED} == set(JobState)


def test_what_has_ended_stays_so() -> None:
    ended = {JobState.DONE, JobState.FAILED, JobState.CANCELLED}
    assert {state for state, followers in NEXT_STATES.items() if not followers} == ended


def test_every_outcome_leads_where_a_running_job_may_go() -> None:
    assert set(STATE_AFTER) == set(Outcome)
    states = {state for state in STATE_AFTER.values() if state is not None}
    assert states <= NEXT_STATES[JobState.RUNNING]


def test_nothing_runs_but_what_was_queued() -> None:
    into_running = {
        before
        for before, after in product(JobState, JobState)
        if after is JobState.RUNNING and after in NEXT_STATES[before]
    }
    assert into_running == {JobState.QUEUED}
