"""What an answer means: said, later, or somebody has to mend something."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from storyshelf.deliveries.answers import (
    LONGEST_REST,
    Answer,
    RefusedError,
    TryLaterError,
    require_ok,
)

NOW = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def answer(status: int, body: str = "", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, named, body.encode())


@pytest.mark.parametrize("status", [200, 201, 204])
def test_what_was_done_is_done(status: int) -> None:
    require_ok(answer(status), NOW)


@pytest.mark.parametrize(
    ("status", "headers", "after"),
    [
        (429, {"retry_after": "30"}, MINUTE / 2),
        (403, {"retry_after": "30"}, MINUTE / 2),
        (503, {"retry_after": "30"}, MINUTE / 2),
        (429, {"retry_after": "Tue, 01 Jan 2030 12:05:00 GMT"}, 5 * MINUTE),
        (429, {"ratelimit_reset": str(int(NOW.timestamp()) + 60)}, MINUTE),
        (
            403,
            {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(int(NOW.timestamp()) + 60)},
            MINUTE,
        ),
        (429, {}, MINUTE),
        (429, {"retry_after": "soon"}, MINUTE),
        (429, {"retry_after": "9" * 400}, LONGEST_REST),
        (429, {"retry_after": "9" * 5_000}, LONGEST_REST),
        (429, {"retry_after": "Tue, 01 Jan 99999999999999999999 12:05:00 GMT"}, MINUTE),
        (429, {"x_ratelimit_reset": "9" * 400}, MINUTE),
        (429, {"x_ratelimit_reset": "1"}, timedelta(seconds=1)),
    ],
)
def test_a_rate_limit_is_a_rest_for_as_long_as_it_says(
    status: int, headers: dict[str, str], after: timedelta
) -> None:
    with pytest.raises(TryLaterError) as raised:
        require_ok(answer(status, **headers), NOW)
    assert (raised.value.after, raised.value.rests) == (after, True)


@pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 503, 504, 599])
def test_what_passes_is_tried_later(status: int) -> None:
    with pytest.raises(TryLaterError) as raised:
        require_ok(answer(status), NOW)
    assert (raised.value.after, raised.value.rests) == (timedelta(), False)


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (301, "It moved"),
        (401, "enter a new one"),
        (403, "Check the repository's name"),
        (404, "Check the repository's name"),
        (422, "Check the repository's name"),
        (418, "Check the repository's name"),
    ],
)
def test_what_does_not_pass_says_what_mends_it(status: int, says: str) -> None:
    left = {"x_ratelimit_remaining": "4999", "x_ratelimit_reset": "1900000000"}
    with pytest.raises(RefusedError, match=says):
        require_ok(answer(status, **left), NOW)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"message": "No commit found"}', "No commit found"),
        ('{"error": "invalid_token"}', "invalid_token"),
        ('{"message": {"base": ["is wrong"]}}', '{"base": ["is wrong"]}'),
        ('{"message": "a\\nb\\u0000"}', "a b"),
        ("<html>Unicorn!</html>", ""),
        ("[1, 2]", ""),
        ("\xff", ""),
        ("[" * 100_000, ""),
        ('{"message":' * 50_000, ""),
    ],
)
def test_the_other_ends_own_words_are_one_line_of_text(body: str, words: Any) -> None:
    assert answer(500, body).words == words


def test_the_other_ends_words_are_cut() -> None:
    assert len(answer(500, f'{{"message": "{"x" * 10_000}"}}').words) == 200
