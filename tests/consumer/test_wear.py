from consumer.wear import LOOKS, Wear

LIMIT = 1_000


def test_a_child_that_keeps_too_much_over_several_stories_is_worn_and_says_so_once() -> None:
    wear = Wear(LIMIT)
    noted = [wear.note(LIMIT + 1, story) for story in range(LOOKS + 3)]
    assert noted.count(True) == 1
    assert wear.is_worn


def test_a_story_that_hoards_alone_wears_no_child() -> None:
    wear = Wear(LIMIT)
    assert [wear.note(LIMIT + 1, 7) for _ in range(10 * LOOKS)].count(True) == 0
    assert not wear.is_worn


def test_what_is_given_back_is_forgotten() -> None:
    wear = Wear(LIMIT)
    for story in range(10 * LOOKS):
        assert not wear.note(LIMIT + story % 2, story)
    assert not wear.is_worn
