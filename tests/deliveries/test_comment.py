"""The comment: what people call things stays text in it, whatever they call them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.deliveries.comment import code, comment_body, marker_of
from storyshelf.deliveries.connection import Forge
from storyshelf.deliveries.wish import CommentWish, from_json, to_json
from storyshelf.deliveries.wishes import wishes_of
from tests.deliveries.facts import counts, facts

ROOT = "https://shelf.test"
FORGE = Forge("https://api.test", "shelf/shop", "m4rk3r", checks_storybook=True)
HOSTILE = [
    "</code><script>alert(1)</script>",
    "@everyone please look",
    "`` ` ``` inner",
    "[click](javascript:alert(1))",
    "![x](https://evil.test/pixel.png)",
    "a | b | c",
    "-->",
    "<!-- storyshelf m4rk3r -->",
    "\n\n# Approved\n\nMerge it",
    "#1 closes #2",
    "\u202eevil",
]


def wish_of(**changes: object) -> CommentWish:
    said = wishes_of(FORGE, facts("pending", pull_request=12, **changes))
    (wish,) = [each for each in said if isinstance(each, CommentWish)]
    return wish


def body_of(**changes: object) -> str:
    return comment_body(wish_of(**changes), ROOT, FORGE.marker)


def test_a_comment_begins_with_its_marker() -> None:
    assert body_of().splitlines()[0] == marker_of("m4rk3r")


def test_a_comment_shows_what_there_is_in_a_table() -> None:
    counted = counts(undecided=3, changed=2, added=1, unchanged=40)
    lines = body_of(counts=counted).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert table == [
        "| snapshots | |",
        "|---|---:|",
        "| changed | 2 |",
        "| added | 1 |",
        "| unchanged | 40 |",
        "| to review | 3 |",
    ]


def test_a_comment_leads_to_the_build_and_its_storybook() -> None:
    body = body_of()
    assert "[Build 5](https://shelf.test/projects/shop/builds/5)" in body
    assert "[Storybook](https://shelf.test/projects/shop/builds/5/storybook)" in body


def test_what_is_not_sealed_has_no_storybook_to_lead_to() -> None:
    assert "Storybook" not in body_of(is_sealed=False)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("where", ["branch", "project_name", "reason", "commit"])
def test_no_text_of_others_is_markdown(text: str, where: str) -> None:
    changes = {where: text}
    body = body_of(**changes) if where != "reason" else failed_body(text)
    assert body.count(marker_of("m4rk3r")) <= 1 + (text == marker_of("m4rk3r"))
    outside = outside_of_code(body.removeprefix(marker_of("m4rk3r")))
    for part in ("<", "@", "javascript:", "evil", "#1", "Approved", "| b |"):
        assert part not in outside


def failed_body(reason: str) -> str:
    said = wishes_of(FORGE, facts("failed", pull_request=12, reason=reason))
    (wish,) = [each for each in said if isinstance(each, CommentWish)]
    return comment_body(wish, ROOT, FORGE.marker)


def outside_of_code(markdown: str) -> str:
    """The text without its code spans, found as CommonMark finds them."""
    return re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", markdown)


@given(st.text(max_size=200))
def test_a_code_span_is_one_whatever_it_holds(text: str) -> None:
    span = code(text)
    assert "\n" not in span
    assert outside_of_code(f"a {span} b") == "a  b"


def test_a_wish_comes_back_from_the_database_as_it_was() -> None:
    made = facts("pending", pull_request=12, counts=counts(changed=2, undecided=2))
    for wish in wishes_of(FORGE, made):
        assert from_json(to_json(wish)) == wish
