"""A shop with one of every kind of caller, each with something to show for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import httpx
from sqlalchemy import text

from storyshelf.auth import session_store, sign_in, user_store, users
from storyshelf.auth import store as tokens
from storyshelf.auth.permissions import Role, Scope
from storyshelf.auth.session_store import NewSession
from storyshelf.auth.tokens import mint
from storyshelf.auth.user_store import User
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import ProjectId
from storyshelf.projects import store as projects
from storyshelf.storage.local import LocalBlobs
from storyshelf.ui.assets import ASSETS
from storyshelf.web.caller import COOKIE
from tests.app import PUBLIC_URL
from tests.builds.facts import read, snapshots_of
from tests.builds.hand import a_hand
from tests.people import AN_HOUR
from tests.routes.table import SPARE_BUILD, Row
from tests.traces.recordings import a_zip, recorded

ACTOR = "a test"
SHEET = "storyshelf.css"
ROLES = {
    "viewer": Role.VIEWER,
    "developer": Role.DEVELOPER,
    "reviewer": Role.REVIEWER,
    "admin": Role.ADMIN,
}
SCOPES = {"read": Scope.READ, "upload": Scope.UPLOAD, "review": Scope.REVIEW}
DONE = "SELECT id FROM jobs_done WHERE state = 'done' ORDER BY id"
LOOK = {"a--one": "red", "b--one": "red"}


@dataclass(frozen=True, slots=True)
class World:
    """What routes are asked for, and who asks."""

    db: Database
    named: Mapping[str, str]  # the parts of paths
    people: Mapping[str, User]
    tokens: Mapping[str, str]

    def path(self, route: str, row: Row) -> str:
        """Return the route's path with everything in it named."""
        template = route.split()[1].replace("{branch:path}", "{branch}")
        return template.format(**{**self.named, **row.at})

    async def headers(self, who: str) -> dict[str, str]:
        """Return what that caller sends: a session of its own for each request, or a token."""
        headers = {"origin": PUBLIC_URL}
        if who in self.tokens:
            headers["authorization"] = f"Bearer {self.tokens[who]}"
        if who in self.people:
            headers["cookie"] = f"{COOKIE}={await self._session(who)}"
        return headers

    async def _session(self, who: str) -> str:
        secret = sign_in.new_secret()
        async with self.db.transaction() as tx:
            session = NewSession(self.people[who].id, sign_in.hash_of(secret), "", AN_HOUR)
            session_id = await session_store.add_session(tx, session)
            if who == "ended":
                await session_store.revoke_session(tx, session.user_id, session_id)
        return secret


async def a_world(db: Database, blobs: Path) -> World:
    """Make the shop with a pending build, the neighbours' project, and everybody."""
    hand = await a_hand(db, LocalBlobs(blobs))
    await hand.run(LOOK)
    build = await hand.run(LOOK | {"a--one": "blue"})
    await recorded(hand, build, "a--one", a_zip())
    assert str((await hand.upload(sorted(LOOK))).number) == SPARE_BUILD
    snapshot = (await snapshots_of(hand, build))["a--one"]
    (done, *_rest) = [row["id"] for row in await read(hand, DONE)]
    async with db.transaction() as tx:
        other = await projects.add(tx, "cleos", "Cleo's", "main")
        people = await _people(tx, hand.project.id, other.id)
        held = await _tokens(tx, hand.project.id, other.id)
        link = await users.link(tx, ACTOR, people["viewer"])
    digest, name = ASSETS[SHEET].link.removeprefix("/static/").split("/", 1)
    nobody = "999999"  # a person or a thing that is not there, so that nobody of ours is changed
    return World(
        db,
        named={
            "slug": "shop",
            "number": str(build.number),
            "shard": "1",
            "snapshot_id": str(snapshot["id"]),
            "sha256": snapshot["image_key"],
            "branch": "main",
            "secret": link,
            "kind": "github",
            "digest": digest,
            "name": name,
            "job_id": str(done),  # nothing can be done with it any more
            **dict.fromkeys(("user_id", "session_id", "token_id"), nobody),
            **dict.fromkeys(("connection_id", "delivery_id"), nobody),
        },
        people=people,
        tokens=held,
    )


async def _people(tx: Tx, shop: ProjectId, other: ProjectId) -> dict[str, User]:
    made: dict[str, User] = {}
    for who in (*ROLES, "operator", "spare", "stranger", "disabled", "ended"):
        email, is_admin = f"{who}@shelf.test", who in {"operator", "spare"}
        made[who] = await users.add(tx, ACTOR, users.parse_user(email, who, is_admin=is_admin))
    for who, role in ROLES.items():
        await users.set_role(tx, ACTOR, shop, made[who], role)
    for who in ("disabled", "ended"):
        await users.set_role(tx, ACTOR, shop, made[who], Role.ADMIN)
    await users.set_role(tx, ACTOR, other, made["stranger"], Role.ADMIN)
    await user_store.disable(tx, made["disabled"].id)
    return made


async def _tokens(tx: Tx, shop: ProjectId, other: ProjectId) -> dict[str, str]:
    uses = {who: (shop, tokens.TokenUse(who, {scope})) for who, scope in SCOPES.items()}
    uses["bearer"] = (shop, tokens.TokenUse("bearer"))
    uses["strange"] = (other, tokens.TokenUse("strange"))
    uses["expired"] = (shop, tokens.TokenUse("expired", lives=timedelta(seconds=-1)))
    uses["revoked"] = (shop, tokens.TokenUse("revoked"))
    made = {}
    for who, (project_id, use) in uses.items():
        token = mint(sha256(who.encode()).digest())
        token_id = await tokens.add_token(tx, project_id, use, token)
        if who == "revoked":
            assert await tokens.revoke(tx, project_id, token_id)
        made[who] = token.text
    return made


async def state_of(db: Database) -> Mapping[str, object]:
    """Return what a refused request must leave as it is: how much there is of everything."""
    counted = ("users", "members", "tokens", "builds", "jobs", "audit_events", "connections")
    async with db.transaction() as tx:
        found = {
            table: (await tx.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one()
            for table in counted
        }
        decided = await tx.execute(text("SELECT count(*) FROM snapshots WHERE decision = 'denied'"))
    return found | {"denied": decided.scalar_one()}


def is_hidden(answer: httpx.Response) -> bool:
    """Tell whether the project is kept from the caller, rather than something in it missing."""
    return answer.status_code == 404 and any(
        words in answer.text
        for words in ("can make you a member", "that the token belongs to this project")
    )
