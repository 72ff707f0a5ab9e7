import pytest

from storyshelf.bundle.index import NoIndexError, NoStoriesError
from storyshelf.client.answers import ENDED_STATES
from storyshelf.client.errors import ServerUnreachableError
from storyshelf.client.exit_codes import (
    BY_STATE,
    ExitCode,
    OnChanges,
    code_of_error,
    code_of_state,
)

CODES = {
    "passed": 0,
    "accepted": 0,
    "skipped": 0,
    "pending": 1,
    "denied": 1,
    "broken": 2,
    "failed": 3,
    "incomplete": 3,
    "cancelled": 6,
}


@pytest.mark.parametrize(("state", "code"), CODES.items())
def test_a_state_has_its_code(state: str, code: int) -> None:
    assert code_of_state(state) == code


def test_every_ended_state_has_a_code() -> None:
    assert set(BY_STATE) == set(ENDED_STATES) == set(CODES)


def test_a_state_from_a_newer_server_is_unknown() -> None:
    assert code_of_state("archived") == ExitCode.UNKNOWN


@pytest.mark.parametrize("state", CODES)
def test_only_changes_are_excused(state: str) -> None:
    excused = code_of_state(state, OnChanges.EXIT_ZERO)
    assert excused == (0 if CODES[state] == 1 else CODES[state])


def test_errors_have_their_codes() -> None:
    assert code_of_error(NoStoriesError("index.json", 0)) == 4
    assert code_of_error(ServerUnreachableError("http://a", "refused", 6)) == 201
    assert code_of_error(NoIndexError()) == 254
