"""What a job's error tells to whoever may see the build."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from storyshelf.db.engine import Database
from storyshelf.errors import StoryshelfError
from storyshelf.queue.words import MAX_CHARS, words_of

REFUSED = ("SELECT CAST(:secret AS jsonb)", r'"secret \u0000"')  # text that JSON allows


async def refused(db: Database) -> DBAPIError:
    statement, secret = REFUSED
    with pytest.raises(DBAPIError) as caught:
        async with db.transaction() as tx:
            await tx.execute(text(statement), {"secret": secret})
    return caught.value


async def test_a_refused_statement_is_told_without_the_statement(db: Database) -> None:
    words = words_of(await refused(db))
    assert words.startswith("The database refused a statement: ")
    assert "Unicode" in words
    assert "SELECT" not in words
    assert "secret" not in words


async def test_not_even_a_log_shows_what_a_statement_was_given(db: Database) -> None:
    assert "secret \\" not in str(await refused(db))


def test_an_error_of_the_system_is_told_without_its_path() -> None:
    error = FileNotFoundError(2, "No such file or directory", "/var/lib/storyshelf/blobs/ab")
    assert words_of(error) == "FileNotFoundError: No such file or directory"


@pytest.mark.parametrize("said", ["a\0b", "x" * 1_000_000])
@pytest.mark.parametrize("kind", [StoryshelfError, ValueError])
def test_whatever_an_error_says_can_be_stored(kind: type[Exception], said: str) -> None:
    words = words_of(kind(said))
    assert "\0" not in words
    assert 0 < len(words) <= MAX_CHARS


def test_an_error_without_words_is_called_by_its_name() -> None:
    assert words_of(KeyError()) == "KeyError()"
