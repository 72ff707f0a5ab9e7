"""All SQL of tokens."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import func, insert, or_, select, update

from storyshelf.auth.tokens import Caller, KeptToken, NewToken, UnknownTokenError
from storyshelf.db.engine import Tx
from storyshelf.db.tables import ProjectRow, TokenRow
from storyshelf.ids import ProjectId, TokenId


async def add_token(
    tx: Tx, project_id: ProjectId, name: str, token: NewToken, lives: timedelta | None = None
) -> TokenId:
    """Keep a new token's hash; without a time to live it is valid until it is revoked."""
    done = await tx.execute(
        insert(TokenRow)
        .values(
            project_id=project_id,
            name=name,
            hint=token.hint,
            secret_hash=token.secret_hash,
            expires_at=None if lives is None else func.now() + lives,
        )
        .returning(TokenRow.id)
    )
    return TokenId(done.scalar_one())


async def tokens_of(tx: Tx, project_id: ProjectId) -> Sequence[KeptToken]:
    """Return the project's tokens in order of their making, revoked ones included."""
    rows = await tx.execute(
        select(
            TokenRow.id,
            TokenRow.name,
            TokenRow.hint,
            TokenRow.created_at,
            TokenRow.last_used_at,
            TokenRow.expires_at,
            TokenRow.revoked_at,
        )
        .where(TokenRow.project_id == project_id)
        .order_by(TokenRow.id)
    )
    return [KeptToken(TokenId(row.id), *row[1:]) for row in rows]


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
    return Caller(TokenId(found.id), found.name, ProjectId(found.project_id), found.slug)
