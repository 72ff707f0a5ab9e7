"""Style sheets and scripts, and the headers that bind a page to them."""

from pathlib import Path

import pytest

from storyshelf.ui.assets import MissingLibraryError, read_assets
from tests.ui.visitor import Visitor


async def test_a_page_links_assets_that_can_be_kept_for_ever(visitor: Visitor) -> None:
    page = await visitor.page("/")
    for link in [str(each["href"]) for each in page.all("link")]:
        asset = await visitor.client.get(link)
        assert asset.status_code == 200
        assert "immutable" in asset.headers["cache-control"]
        assert asset.headers["x-content-type-options"] == "nosniff"


def test_a_library_that_was_not_copied_is_named_with_its_cure(tmp_path: Path) -> None:
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "htmx.js").write_text("//")
    with pytest.raises(MissingLibraryError, match=r"idiomorph.js.*make setup"):
        read_assets(tmp_path)


async def test_an_asset_of_another_version_is_not_here(visitor: Visitor) -> None:
    page = await visitor.page("/static/000000000000/storyshelf.css", status=404)
    assert "There is nothing at this address" in page.text


async def test_a_path_out_of_the_folder_names_nothing(visitor: Visitor) -> None:
    for path in ("/static/..%2f..%2fserver.py", "/static/x/..%2fpages.py", "/static/x/%00"):
        assert (await visitor.client.get(path)).status_code == 404


async def test_every_page_allows_only_what_is_its_own(visitor: Visitor) -> None:
    for link, status in (("/", 200), ("/projects/nobody", 404), ("/nowhere", 404)):
        page = await visitor.page(link, status)
        assert page.answer.headers["content-security-policy"] == (
            "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
            "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
        )
        assert not page.all("style")
        assert not [
            each for tag in ("div", "p", "span") for each in page.all(tag) if "style" in each
        ]


async def test_a_page_for_a_foreign_name_says_which_name_to_use(visitor: Visitor) -> None:
    answer = await visitor.client.get("/", headers={"host": "rebound.example"})
    assert answer.status_code == 421
    assert "STORYSHELF_PUBLIC_URL" in answer.text
