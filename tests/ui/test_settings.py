"""`/projects/{slug}/settings`: what a project is called and what it has set."""

from pathlib import Path

import httpx
import pytest

from storyshelf.auth.permissions import Role
from storyshelf.db.engine import Database
from storyshelf.projects import store as projects
from storyshelf.projects.project import Project
from tests.app import asking, parts_on
from tests.builds.hand import Hand
from tests.people import sign_in
from tests.ui.facts import audited, strange_scripts, typed_into
from tests.ui.visitor import Page, Visitor

SETTINGS = "/projects/shop/settings"
HOSTILE = '"><script>alert(1)</script>'
UNCHANGED = {
    "name": "Shop",
    "default_branch": "main",
    "viewports": "",
    "diff_threshold": "0.1",
    "padding": "16",
    "accepts_branches": "",
    "keep_builds": "",
    "keep_days": "",
    "max_running": "",
    "allowed_hosts": "",
    "story_tags": "",
    "accessibility": "addon",
    "isolation": "shared",
}


async def send(visitor: Visitor, **fields: str) -> httpx.Response:
    return await visitor.client.post(SETTINGS, data=UNCHANGED | fields)


async def project_now(hand: Hand) -> Project:
    async with hand.db.transaction() as tx:
        return await projects.by_slug(tx, "shop")


async def test_the_form_shows_what_is_there(hand: Hand, visitor: Visitor) -> None:
    await send(visitor, viewports="375, 1280x800", accepts_branches="main", keep_builds="7")
    page = await visitor.page(SETTINGS)
    assert typed_into(page)["name"] == "Shop"
    assert typed_into(page)["keep_builds"] == "7"
    assert "375px 1280x800" in page.text


async def test_what_is_sent_is_saved_and_told(hand: Hand, visitor: Visitor) -> None:
    answer = await send(
        visitor,
        name="The Shop",
        default_branch="trunk",
        viewports="375\r\n1280x800",
        accepts_branches="main\r\nrenovate/**",
        cancels_older_builds="yes",
        public_storybook="yes",
        keep_days="90",
        padding="0",
        allowed_hosts="Fonts.example.com\r\n*.example.org:8443",
        captures_docs="yes",
        story_tags="test\r\n!wip",
        accessibility="block",
        isolation="strict",
    )
    assert (answer.status_code, answer.headers["location"]) == (303, f"{SETTINGS}?done=saved")
    project = await project_now(hand)
    assert (project.name, project.default_branch) == ("The Shop", "trunk")
    assert project.options.to_json() == {
        "cancels_older_builds": True,
        "diff_threshold": 0.1,
        "padding": 0,
        "viewports": ["375px", "1280x800"],
        "accepts_branches": ["main", "renovate/**"],
        "public_storybook": True,
        "keep_builds": None,
        "keep_days": 90,
        "max_running": None,
        "allowed_hosts": ["fonts.example.com", "*.example.org:8443"],
        "captures_docs": True,
        "story_tags": ["test", "!wip"],
        "accessibility": "block",
        "isolation": "strict",
    }
    assert "The settings are saved" in (await visitor.page(f"{SETTINGS}?done=saved")).text


async def test_only_what_differs_is_written_and_audited(hand: Hand, visitor: Visitor) -> None:
    answer = await send(visitor)
    assert answer.headers["location"] == f"{SETTINGS}?done=same"
    assert await audited(hand.db, "project.set") == []
    await send(visitor, keep_builds="7")
    assert await audited(hand.db, "project.set") == [("ada@shelf.test", {"keep_builds": 7})]
    await send(visitor)
    assert (await project_now(hand)).options.keep_builds is None


@pytest.mark.parametrize(
    ("field", "typed", "words"),
    [
        ("name", "", "A project's name has 1 to 100 characters"),
        ("name", "x" * 101, "A project's name has 1 to 100 characters"),
        ("default_branch", "two words", "no spaces"),
        ("viewports", "wide", "'wide' is not a width"),
        ("diff_threshold", "2", "It has to be from 0 to 1"),
        ("accepts_branches", "[a]", "which means nothing"),
        ("keep_builds", "0", "a whole number from 1"),
        ("keep_days", "soon", "a whole number from 1"),
        ("allowed_hosts", "localhost", "'localhost' is not a host such as"),
    ],
)
async def test_wrong_input_comes_back_with_the_error_beside_it(
    hand: Hand, visitor: Visitor, field: str, typed: str, words: str
) -> None:
    answer = await send(
        visitor, **{field: typed, "keep_days": typed if field == "keep_days" else "5"}
    )
    assert answer.status_code == 422
    page = Page(answer)
    assert words in page.text
    assert page.by_id(field)["aria-invalid"] == "true"
    assert f"{field}-error" in (page.by_id(field)["aria-describedby"] or "")
    assert page.by_id(field).get("value", typed) == typed
    assert await audited(hand.db, "project.set") == []
    assert (await project_now(hand)).options.keep_days is None


async def test_what_is_typed_cannot_become_markup(hand: Hand, visitor: Visitor) -> None:
    for field in ("viewports", "diff_threshold", "accepts_branches", "keep_builds"):
        page = Page(await send(visitor, name="x" * 200, **{field: HOSTILE}))
        assert page.status == 422
        assert strange_scripts(page) == []
    await send(visitor, name=HOSTILE)
    assert (await project_now(hand)).name == HOSTILE
    for path in ("", "/tokens", "/members"):
        page = await visitor.page(f"{SETTINGS}{path}")
        assert strange_scripts(page) == []
        assert HOSTILE in page.text


@pytest.mark.parametrize("role", [Role.VIEWER, Role.DEVELOPER, Role.REVIEWER])
@pytest.mark.parametrize("path", ["", "/tokens", "/members"])
async def test_settings_are_for_admins_and_others_see_no_tab(
    db: Database, hand: Hand, tmp_path: Path, role: Role, path: str
) -> None:
    async with asking(parts_on(db, tmp_path)) as client:
        await sign_in(db, client, "cleo@shelf.test", roles={hand.project.id: role})
        visitor = Visitor(client)
        await visitor.page(f"{SETTINGS}{path}", status=403)
        assert (await client.post(f"{SETTINGS}{path}", data=UNCHANGED)).status_code == 403
        assert SETTINGS not in (await visitor.page("/projects/shop")).links


async def test_every_section_is_a_tab(hand: Hand, visitor: Visitor) -> None:
    page = await visitor.page(SETTINGS)
    wanted = {
        f"{SETTINGS}{path}" for path in ("", "/tokens", "/members", "/connections", "/delete")
    }
    assert wanted <= set(page.links)
    current = [each["href"] for each in page.all("a") if each.get("aria-current") == "page"]
    assert current == [SETTINGS, SETTINGS]
