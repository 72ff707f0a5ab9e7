"""The people of the tests: Ada runs the server, the others have one role in the shop."""

from collections.abc import Mapping
from datetime import timedelta

import httpx
from argon2 import PasswordHasher

from storyshelf.auth import session_store, user_store
from storyshelf.auth.permissions import Role
from storyshelf.auth.session_store import NewSession, SessionLife
from storyshelf.auth.sign_in import hash_of
from storyshelf.auth.signed_in import SignedIn
from storyshelf.db.engine import Database
from storyshelf.ids import ProjectId, SessionId, UserId
from storyshelf.web.caller import COOKIE

ADA = SignedIn(SessionId(1), UserId(1), "ada@shelf.test", "Ada", is_admin=True, roles={})
BEN = SignedIn(SessionId(2), UserId(2), "ben@shelf.test", "Ben", is_admin=True, roles={})

AN_HOUR = SessionLife(at_most=timedelta(hours=1), idle=timedelta(hours=1))
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)  # a test has no secrets to keep


async def sign_in(
    db: Database,
    client: httpx.AsyncClient,
    email: str = ADA.email,
    *,
    roles: Mapping[ProjectId, Role] | None = None,
) -> UserId:
    """Give the client a session of somebody new; without roles, of a server administrator."""
    secret = f"secret of {email}"
    async with db.transaction() as tx:
        name = email.partition("@")[0].title()
        user_id = await user_store.add_user(tx, email, name, is_admin=roles is None)
        assert user_id is not None, f"{email} is somebody already"
        for project_id, role in (roles or {}).items():
            await user_store.set_role(tx, project_id, user_id, role)
        await session_store.add_session(
            tx, NewSession(user_id, hash_of(secret), "a test's", AN_HOUR)
        )
    client.cookies.set(COOKIE, secret)
    client.headers["origin"] = str(client.base_url).rstrip("/")
    return user_id
