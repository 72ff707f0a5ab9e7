"""Which names a project may have in links and hosts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.projects.project import BadSlugError, parse_slug


@pytest.mark.parametrize("slug", ["a", "7", "shop", "design-system-2", "a" * 63, "a--b"])
def test_a_host_names_label_is_a_slug(slug: str) -> None:
    assert parse_slug(slug) == slug


@pytest.mark.parametrize(
    "text",
    ["", "Shop", "-shop", "shop-", "sh op", "shop/x", "..", "a" * 64, "schön", "shop\n", "٣"],
)
def test_anything_else_is_refused_with_the_rule(text: str) -> None:
    with pytest.raises(BadSlugError, match="Use 1 to 63 lower-case letters"):
        parse_slug(text)


@given(st.text(max_size=70))
def test_what_is_taken_is_safe_in_a_link_and_in_a_host(text: str) -> None:
    try:
        slug = parse_slug(text)
    except BadSlugError:
        return
    assert slug.isascii()
    assert slug.replace("-", "x").isalnum()
    assert slug == slug.lower().strip("-\n")
