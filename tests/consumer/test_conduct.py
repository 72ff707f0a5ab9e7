"""What a consumer does with its slots: signals and its row ask, and the row does not lie."""

import pytest

from consumer.conduct import Conduct
from storyshelf.queue.store import ConsumerState
from storyshelf.queue.store.consumers import NEXT_STATES

RUNNING, QUIET, STOPPING = ConsumerState.RUNNING, ConsumerState.QUIET, ConsumerState.STOPPING


def in_state(state: ConsumerState) -> Conduct:
    conduct = Conduct()
    conduct.hear(state, None)
    assert (conduct.state, conduct.untold) == (state, None)
    return conduct


@pytest.mark.parametrize("state", ConsumerState)
@pytest.mark.parametrize("wish", ConsumerState)
def test_only_what_is_a_next_state_is_obeyed(state: ConsumerState, wish: ConsumerState) -> None:
    conduct, obeyed = in_state(state), list[ConsumerState]()
    conduct.obeyed_by(obeyed.append)
    before = list(obeyed)
    conduct.ask(wish)
    assert obeyed == [*before, *([wish] if wish in NEXT_STATES[state] else [])]


def test_nobody_comes_back_from_stopping() -> None:
    assert NEXT_STATES[STOPPING] == frozenset()
    assert all(STOPPING in NEXT_STATES[state] for state in (RUNNING, QUIET))


def test_who_obeys_later_hears_what_was_asked_before() -> None:
    conduct, obeyed = in_state(QUIET), list[ConsumerState]()
    conduct.obeyed_by(obeyed.append)
    assert obeyed == [QUIET]


def test_what_came_by_a_signal_is_told_once() -> None:
    conduct = Conduct()
    conduct.ask(QUIET)
    assert conduct.untold is QUIET
    conduct.hear(QUIET, told=QUIET)
    assert conduct.untold is None


def test_a_signal_while_a_beat_is_under_way_is_not_undone_by_its_answer() -> None:
    conduct = Conduct()
    conduct.ask(QUIET)
    conduct.hear(RUNNING, told=None)  # the row as it was before
    assert (conduct.state, conduct.untold) == (QUIET, QUIET)


def test_a_wish_that_cannot_be_granted_is_answered_by_what_is() -> None:
    conduct = in_state(STOPPING)
    conduct.hear(QUIET, told=None)
    assert (conduct.state, conduct.untold) == (STOPPING, STOPPING)


def test_a_wish_that_beats_what_was_just_told_is_obeyed() -> None:
    conduct = Conduct()
    conduct.ask(QUIET)
    conduct.hear(STOPPING, told=QUIET)
    assert (conduct.state, conduct.untold) == (STOPPING, None)


def test_who_is_quiet_can_be_asked_to_take_work_again() -> None:
    conduct, obeyed = in_state(QUIET), list[ConsumerState]()
    conduct.obeyed_by(obeyed.append)
    conduct.hear(RUNNING, told=None)
    assert obeyed == [QUIET, RUNNING]
