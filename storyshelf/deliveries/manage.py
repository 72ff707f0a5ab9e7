"""What people do with connections, each with its audit event, in the caller's transaction."""

from dataclasses import dataclass
from secrets import token_hex, token_urlsafe
from urllib.parse import urlsplit

from storyshelf.audit import store as audit
from storyshelf.auth.secrets import Secrets
from storyshelf.db.engine import Tx
from storyshelf.deliveries import store
from storyshelf.deliveries.connection import (
    Connection,
    ConnectionKind,
    Forge,
    NewConnection,
    checked_secret,
    forge_config,
    hook_config,
)
from storyshelf.deliveries.want import enqueue
from storyshelf.ids import ConnectionId, DeliveryId, ProjectId

MARKER_BYTES = 8
KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Typed:
    """A connection as a person describes it; the token of a forge, or the key of a webhook."""

    kind: ConnectionKind
    repository: str = ""
    url: str = ""  # of a webhook, or of a forge's API where it is one's own
    secret: str = ""
    comments: bool = True
    names_project: bool = False
    checks_storybook: bool = False


def read_typed(typed: Typed) -> NewConnection:
    """Check what was typed; a webhook without a key gets one. Raises BadConnectionError."""
    if typed.kind is ConnectionKind.WEBHOOK:
        hook = hook_config(typed.url)
        key = checked_secret("secret", typed.secret or token_urlsafe(KEY_BYTES))
        return NewConnection(typed.kind, urlsplit(hook.url).netloc, hook, key)
    forge = forge_config(
        typed.kind,
        typed.repository,
        typed.url,
        token_hex(MARKER_BYTES),
        comments=typed.comments,
        names_project=typed.names_project,
        checks_storybook=typed.checks_storybook,
    )
    token = checked_secret("secret", typed.secret)
    return NewConnection(typed.kind, forge.repository, forge, token)


@dataclass(frozen=True, slots=True)
class Desk:
    """Who does it, in which project, and the key that secrets are sealed with."""

    project_id: ProjectId
    actor: str
    secrets: Secrets

    async def connect(self, tx: Tx, new: NewConnection) -> ConnectionId:
        """Add a connection; from the next move of a build on it is told."""
        sealed = self.secrets.seal(new.secret)
        connection_id = await store.add(tx, self.project_id, new, sealed)
        where = new.config.api_url if isinstance(new.config, Forge) else new.config.url
        await self._record(tx, "create", connection_id, kind=new.kind, name=new.name, where=where)
        return connection_id

    async def replace_secret(self, tx: Tx, connection_id: int, secret: str) -> None:
        """Take another token or key, and say again what failed; raises BadConnectionError."""
        found = await self._found(tx, connection_id)
        sealed = self.secrets.seal(checked_secret("secret", secret))
        await store.replace_secret(tx, found.id, sealed)
        await self._record(tx, "secret", found.id)
        await enqueue(tx, await store.raise_again(tx, found.id))

    async def disable(self, tx: Tx, connection_id: int) -> None:
        """Have the connection say nothing from now on."""
        found = await self._found(tx, connection_id)
        await store.disable(tx, found.id)
        await self._record(tx, "disable", found.id)

    async def enable(self, tx: Tx, connection_id: int) -> None:
        """Have the connection speak again, also of what it could not say."""
        found = await self._found(tx, connection_id)
        await store.enable(tx, found.id)
        await self._record(tx, "enable", found.id)
        await enqueue(tx, await store.raise_again(tx, found.id))

    async def delete(self, tx: Tx, connection_id: int) -> None:
        """Forget the connection and its secret; what it said stays where it was said."""
        found = await self._found(tx, connection_id)
        await store.remove(tx, found.id)
        await self._record(tx, "delete", found.id, name=found.name)

    async def resend(self, tx: Tx, connection_id: int, *, only: DeliveryId | None = None) -> None:
        """Say one subject again, or all that failed."""
        found = await self._found(tx, connection_id)
        raised = await store.raise_again(tx, found.id, only=only)
        await self._record(tx, "resend", found.id, deliveries=len(raised))
        await enqueue(tx, raised)

    async def _found(self, tx: Tx, connection_id: int) -> Connection:
        return await store.connection(tx, self.project_id, connection_id)

    async def _record(
        self, tx: Tx, what: str, connection_id: ConnectionId, **detail: object
    ) -> None:
        event = audit.Event(
            self.actor,
            f"connection.{what}",
            self.project_id,
            detail={"connection": connection_id, **detail},
        )
        await audit.record(tx, event)
