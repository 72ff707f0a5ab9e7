"""All SQL of tokens."""

from sqlalchemy import func, insert, or_, select, update

from storyshelf.auth.tokens import Caller, NewToken, UnknownTokenError
from storyshelf.db.engine import Tx
from storyshelf.db.tables import ProjectRow, TokenRow
from storyshelf.ids import ProjectId, TokenId


async def add_token(tx: Tx, project_id: ProjectId, name: str, token: NewToken) -> TokenId:
    """Keep a new token's hash."""
    done = await tx.execute(
        insert(TokenRow)
        .values(project_id=project_id, name=name, hint=token.hint, secret_hash=token.secret_hash)
        .returning(TokenRow.id)
    )
    return TokenId(done.scalar_one())


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
