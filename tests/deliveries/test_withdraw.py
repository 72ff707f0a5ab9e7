"""What stays of a build's word once the build is gone."""

import pytest

from storyshelf.deliveries.connection import Forge, Hook
from storyshelf.deliveries.message import Check
from storyshelf.deliveries.wish import CommentWish, HookWish, StatusWish
from storyshelf.deliveries.wishes import wishes_of
from storyshelf.deliveries.withdraw import SAID, withdrawn
from tests.deliveries.facts import facts

FORGE = Forge("https://api.example", "shop/web", "m")
HOOK = Hook("https://hook.example/")


def test_a_check_and_a_comment_that_wait_are_cancelled() -> None:
    left = [withdrawn(each) for each in wishes_of(FORGE, facts("pending", pull_request=3))]
    status, comment = left
    assert isinstance(status, StatusWish)
    assert (status.check, status.description) == (Check.CANCELLED, SAID)
    assert isinstance(comment, CommentWish)
    assert (comment.check, comment.headline) == (Check.CANCELLED, SAID)
    assert comment.storybook_path is None


def test_a_receiver_is_told_that_nobody_will_decide() -> None:
    (told,) = (withdrawn(each) for each in wishes_of(HOOK, facts("pending")))
    assert isinstance(told, HookWish)
    assert (told.build["status"], told.build["reason"]) == ("CANCELLED", "the build was deleted")


@pytest.mark.parametrize("state", ["passed", "accepted", "denied", "broken", "cancelled"])
def test_a_verdict_stands(state: str) -> None:
    wishes = [*wishes_of(FORGE, facts(state, pull_request=3)), *wishes_of(HOOK, facts(state))]
    assert [withdrawn(each) for each in wishes] == [None] * 3
