"""What the database's own errors are to a caller: to be tried again, its own fault, or ours."""

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from storyshelf.db.engine import Database
from storyshelf.web.problems import add_handlers
from tests.api.client import problem


def app_on(db: Database) -> FastAPI:
    """An app whose one address has the database raise the error that is asked for."""
    app = FastAPI()
    add_handlers(app, lambda _, told: told.answer())

    @app.get("/raise/{code}")
    async def fail(code: str) -> None:
        raising = f"DO $$ BEGIN RAISE EXCEPTION 'as asked' USING ERRCODE = '{code}'; END $$"
        async with db.transaction() as tx:
            await tx.execute(text(raising))

    return app


async def answer_to(db: Database, code: str) -> httpx.Response:
    through = httpx.ASGITransport(app_on(db), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=through, base_url="http://test") as http:
        return await http.get(f"/raise/{code}")


@pytest.mark.parametrize(
    "code",
    [
        "57P03",  # it starts, or recovers from a crash
        "57P01",  # it is being stopped
        "53300",  # it has no connection left
        "40P01",  # two callers were in each other's way
    ],
)
async def test_what_passes_by_itself_is_to_be_tried_again(db: Database, code: str) -> None:
    answer = await answer_to(db, code)
    problem(answer, 503, "database-away")
    assert "retry-after" in answer.headers


async def test_a_value_that_cannot_be_stored_is_the_callers(db: Database) -> None:
    problem(await answer_to(db, "22P05"), 422, "malformed-request")


async def test_a_statement_that_is_wrong_is_ours(db: Database) -> None:
    problem(await answer_to(db, "42703"), 500, "database-error")
