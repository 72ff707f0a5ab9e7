"""Passwords: what may be one, and argon2id beside the event loop, with its memory bounded.

A hash costs 64 MiB and a tenth of a second by design, so only a few are made at once, and only a
few more wait for their turn; who comes then is told to come again.
"""

import asyncio
import os
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

from storyshelf.errors import BadInputError, StoryshelfError

MIN_LENGTH = 12
MAX_LENGTH = 200  # nobody types more, and a hash takes the longer the more it is given
USUAL = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)  # 64 MiB, three rounds
AT_ONCE = 2
WAITING = 32  # 1.6 s of waiting for the last of them
BUSY_FOR_S = 5

_T = TypeVar("_T")


class BadPasswordError(BadInputError):
    """It may not be a password."""

    def __init__(self, what: str) -> None:
        super().__init__(
            what, next_step=f"Choose one of {MIN_LENGTH} to {MAX_LENGTH} characters; a few words do"
        )


class TooBusyError(StoryshelfError):
    """More passwords wait to be checked than there is room for."""

    http_status = 503

    def __init__(self) -> None:
        super().__init__(
            "Too many people sign in at this moment", next_step="Try again in a few seconds."
        )
        self.retry_after_s = BUSY_FOR_S


def require_good(password: str, email: str) -> None:
    """Go on if it may be the password of whoever has that address; raises BadPasswordError."""
    if len(password) < MIN_LENGTH:
        raise BadPasswordError(f"The password is shorter than {MIN_LENGTH} characters")
    if len(password) > MAX_LENGTH:
        raise BadPasswordError(f"The password is longer than {MAX_LENGTH} characters")
    if len(set(password)) == 1 or password.lower() in {email, email.partition("@")[0]}:
        raise BadPasswordError("The password is one that anybody would try")


class Passwords:
    """Makes and checks hashes."""

    def __init__(self, hasher: PasswordHasher = USUAL, waiting: int = WAITING) -> None:
        self._hasher = hasher
        self._most = AT_ONCE + waiting
        self._under_way = 0
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="passwords")
        self._nobodys = hasher.hash(os.urandom(16))  # what a stranger's try is checked against

    async def hash_of(self, password: str) -> str:
        """Return what is kept of a password; raises TooBusyError."""
        return await self._beside(lambda: self._hasher.hash(_composed(password)))

    async def is_right(self, kept: str | None, password: str) -> bool:
        """Tell whether it is the password; takes as long where there is none to compare with.

        Raises TooBusyError.
        """
        tried = _composed(password[: MAX_LENGTH + 1])
        matches = await self._beside(lambda: self._matches(kept or self._nobodys, tried))
        return matches and kept is not None

    def is_outdated(self, kept: str) -> bool:
        """Tell whether it was made with other costs than are usual now."""
        return self._hasher.check_needs_rehash(kept)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()

    def _matches(self, kept: str, password: str) -> bool:
        try:
            return self._hasher.verify(kept, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _beside(self, work: Callable[[], _T]) -> _T:
        if self._under_way >= self._most:
            raise TooBusyError
        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._under_way -= 1


def _composed(password: str) -> str:
    """Return it as every keyboard's letters come out: an accent typed apart is the same one."""
    return unicodedata.normalize("NFC", password)
