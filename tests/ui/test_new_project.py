"""`/new-project`: made with a first token, which is shown once."""

import re

import pytest

from storyshelf.auth import store as tokens
from storyshelf.auth.permissions import Scope
from storyshelf.projects import store as projects
from tests.builds.hand import Hand
from tests.ui.facts import audited, strange_scripts, typed_into
from tests.ui.visitor import Page, Visitor

FILLED = {"slug": "kit", "name": "Design system", "default_branch": "trunk"}


async def test_a_project_is_made_with_a_token_for_ci(hand: Hand, visitor: Visitor) -> None:
    assert typed_into(await visitor.page("/new-project"))["default_branch"] == "main"
    answer = await visitor.client.post("/new-project", data=FILLED)
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    page = Page(answer)
    assert len(set(re.findall(r"ssp_[A-Za-z0-9_-]{43}", page.text))) == 1
    assert {"/projects/kit", "/projects/kit/settings/members"} <= set(page.links)
    async with hand.db.transaction() as tx:
        project = await projects.by_slug(tx, "kit")
        (kept,) = await tokens.tokens_of(tx, project.id)
    assert (project.name, project.default_branch) == ("Design system", "trunk")
    assert kept.scopes == {Scope.UPLOAD}
    assert [actor for actor, _ in await audited(hand.db, "project.create")] == ["ada@shelf.test"]


async def test_without_a_name_it_is_called_by_its_slug(hand: Hand, visitor: Visitor) -> None:
    await visitor.client.post("/new-project", data=FILLED | {"name": ""})
    async with hand.db.transaction() as tx:
        assert (await projects.by_slug(tx, "kit")).name == "kit"


@pytest.mark.parametrize(
    ("field", "typed", "words"),
    [
        ("slug", "No Slug", "cannot be a project's slug"),
        ("slug", "shop", "A project of this slug exists already"),
        ("slug", "", "Use 1 to 63 lower-case letters"),
        ("name", "x" * 101, "1 to 100 characters"),
        ("default_branch", "", "no spaces"),
        ("slug", '"><script>alert(1)</script>', "cannot be a project's slug"),
    ],
)
async def test_wrong_input_comes_back_with_the_error_beside_it(
    hand: Hand, visitor: Visitor, field: str, typed: str, words: str
) -> None:
    page = Page(await visitor.client.post("/new-project", data=FILLED | {field: typed}))
    assert page.status == 422
    assert words in page.text
    assert typed_into(page) == FILLED | {field: typed}
    assert page.by_id(field)["aria-invalid"] == "true"
    assert strange_scripts(page) == []
