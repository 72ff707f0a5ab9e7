"""Who may look: everybody at a public project, else whoever brings a pass of it that still holds.

A pass is a cookie of one content host: a note, signed by the server's key, of the project, of the
session that it stands for, and of when it ends at the latest.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from storyshelf.auth import session_store as sessions
from storyshelf.auth.permissions import Action
from storyshelf.auth.secrets import Secrets
from storyshelf.clock import Clock
from storyshelf.db.engine import Tx
from storyshelf.ids import ProjectId, SessionId
from storyshelf.projects.project import Project
from storyshelf.web.hand_over import read_note, signed_note

PASS = "storybook-pass"  # noqa: S105  # what the note is signed for
COOKIE = "storyshelf_storybook"
LIVES = timedelta(hours=12)
BELIEVED_S = 5.0  # a page asks for a hundred files; who is signed out is out this much later
MAX_BELIEVED = 10_000


@dataclass(frozen=True, slots=True)
class Pass:
    """Leave to look at a project's Storybooks for as long as a session lives."""

    project_id: ProjectId
    session_id: SessionId
    expires_at: int  # seconds since the epoch


class Doorkeeper:
    """Gives out passes and asks whether they hold."""

    def __init__(self, secrets: Secrets, clock: Clock) -> None:
        self._secrets = secrets
        self._clock = clock
        self._believed: dict[Pass, float] = {}  # until when, by the monotonic clock

    def new_pass(self, project_id: ProjectId, session_id: SessionId) -> str:
        """Return the cookie's value."""
        expires_at = int((self._clock.now() + LIVES).timestamp())
        return signed_note(self._secrets, PASS, [project_id, session_id, expires_at])

    async def lets_in(self, tx: Tx, project: Project, cookies: Iterable[str]) -> bool:
        """Tell whether a visitor may look at the project's Storybooks."""
        return project.options.public_storybook or await self.knows(tx, project, cookies)

    async def knows(self, tx: Tx, project: Project, cookies: Iterable[str]) -> bool:
        """Tell whether one of the cookies' values is a pass that holds for the project.

        One is enough: a Storybook of another project can add cookies that its browser sends here,
        but none that were signed for this one.
        """
        for value in cookies:
            known = self._parse(value)
            if (
                known is not None
                and known.project_id == project.id
                and await self._holds(tx, known)
            ):
                return True
        return False

    def _parse(self, value: str) -> Pass | None:
        said = read_note(self._secrets, PASS, value)
        found = None if said is None else Pass(*said)
        is_over = found is not None and found.expires_at <= self._clock.now().timestamp()
        return None if is_over else found

    async def _holds(self, tx: Tx, known: Pass) -> bool:
        if self._believed.get(known, 0.0) > self._clock.monotonic():
            return True
        who = await sessions.alive(tx, known.session_id)
        if who is None or not who.may(Action.VIEW, known.project_id):
            return False
        self._believe(known)
        return True

    def _believe(self, known: Pass) -> None:
        now = self._clock.monotonic()
        if len(self._believed) >= MAX_BELIEVED:
            self._believed = {each: until for each, until in self._believed.items() if until > now}
        if len(self._believed) < MAX_BELIEVED:
            self._believed[known] = now + BELIEVED_S
