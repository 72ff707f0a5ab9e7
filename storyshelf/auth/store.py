"""All SQL of tokens."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Row, Select, func, insert, or_, select, update

from storyshelf.auth.permissions import Scope
from storyshelf.auth.tokens import (
    ALL_SCOPES,
    Caller,
    KeptToken,
    NewToken,
    UnknownTokenError,
    parse_scopes,
)
from storyshelf.db.engine import Tx
from storyshelf.db.tables import ProjectRow, TokenRow
from storyshelf.ids import ProjectId, TokenId


@dataclass(frozen=True, slots=True)
class TokenUse:
    """What a token is for and how long; without a time it is valid until it is revoked."""

    name: str
    scopes: Collection[Scope] = ALL_SCOPES
    lives: timedelta | None = None


async def add_token(tx: Tx, project_id: ProjectId, use: TokenUse, token: NewToken) -> TokenId:
    """Keep a new token's hash."""
    done = await tx.execute(
        insert(TokenRow)
        .values(
            project_id=project_id,
            name=use.name,
            hint=token.hint,
            secret_hash=token.secret_hash,
            scopes=sorted(use.scopes),
            expires_at=None if use.lives is None else func.now() + use.lives,
        )
        .returning(TokenRow.id)
    )
    return TokenId(done.scalar_one())


async def tokens_of(tx: Tx, project_id: ProjectId) -> Sequence[KeptToken]:
    """Return the project's tokens in order of their making, revoked ones included."""
    rows = await tx.execute(_tokens_of(project_id).order_by(TokenRow.id))
    return [_kept(row) for row in rows]


async def tokens_page(
    tx: Tx, project_id: ProjectId, *, before: int | None, limit: int
) -> Sequence[KeptToken]:
    """Return the project's tokens, the newest first, from before the given id."""
    wanted = _tokens_of(project_id).order_by(TokenRow.id.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(TokenRow.id < before)
    return [_kept(row) for row in await tx.execute(wanted)]


async def revoke(tx: Tx, project_id: ProjectId, token_id: TokenId) -> bool:
    """End a token for good; return whether the project had it and it was not revoked before."""
    done = await tx.execute(
        update(TokenRow)
        .where(
            TokenRow.id == token_id,
            TokenRow.project_id == project_id,
            TokenRow.revoked_at.is_(None),
        )
        .values(revoked_at=func.now())
    )
    return done.rowcount == 1


async def caller_of(tx: Tx, secret_hash: bytes) -> Caller:
    """Return whom the token speaks for, and remember that it was used (to the minute).

    Raises UnknownTokenError when there is no such token, or it is revoked or expired.
    """
    found = (
        await tx.execute(
            select(
                TokenRow.id,
                TokenRow.name,
                TokenRow.project_id,
                TokenRow.scopes,
                ProjectRow.slug,
                or_(
                    TokenRow.last_used_at.is_(None),
                    TokenRow.last_used_at < func.now() - func.make_interval(0, 0, 0, 0, 0, 1),
                ).label("is_stale"),
            )
            .join(ProjectRow, ProjectRow.id == TokenRow.project_id)
            .where(
                TokenRow.secret_hash == secret_hash,
                TokenRow.revoked_at.is_(None),
                ProjectRow.deleting_at.is_(None),
                or_(TokenRow.expires_at.is_(None), TokenRow.expires_at > func.now()),
            )
        )
    ).one_or_none()
    if found is None:
        raise UnknownTokenError("The project token is unknown, revoked or expired")
    if found.is_stale:
        await tx.execute(
            update(TokenRow).where(TokenRow.id == found.id).values(last_used_at=func.now())
        )
    scopes = parse_scopes(found.scopes)
    return Caller(TokenId(found.id), found.name, ProjectId(found.project_id), found.slug, scopes)


def _tokens_of(project_id: ProjectId) -> Select[*tuple[Any, ...]]:
    return select(
        *(TokenRow.id, TokenRow.name, TokenRow.hint, TokenRow.scopes, TokenRow.created_at),
        *(TokenRow.last_used_at, TokenRow.expires_at, TokenRow.revoked_at),
    ).where(TokenRow.project_id == project_id)


def _kept(row: Row[*tuple[Any, ...]]) -> KeptToken:
    return KeptToken(TokenId(row.id), row.name, row.hint, parse_scopes(row.scopes), *row[4:])
