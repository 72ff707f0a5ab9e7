"""A snapshot's accessibility on its page, and the sums of it on its build's."""

from dataclasses import replace

from storyshelf.snapshots.violations import Findings, Place, Violation, compare
from tests.builds.hand import Hand
from tests.review.test_violations import STORY, breaking, run
from tests.ui.test_snapshot import BUILD, HOSTILE, a_result, snapshot_page
from tests.ui.visitor import Visitor

RULE = "https://dequeuniversity.com/rules/axe/4.14/label"


def found(*targets: str, help_url: str = RULE) -> Findings:
    places = tuple(Place(target, f"<input id={target}>", HOSTILE) for target in targets)
    violation = Violation("label", "critical", "Form elements must have labels", help_url, places)
    return Findings("axe", "4.14.1", (violation,))


async def test_new_and_known_and_fixed_violations_stand_on_the_page_with_their_help(
    hand: Hand, visitor: Visitor
) -> None:
    await run(hand, found("old", "gone"))
    await run(hand, found("old", "new"))
    page = await snapshot_page(visitor, 2, "changed")
    for words in ("new 1 Form", "still there 1 Form", "fixed 1 Form", "critical", "<input id=new>"):
        assert words in page.text
    assert "Examined by axe 4.14.1." in page.text
    assert RULE in page.links
    assert HOSTILE in page.text
    assert len(page.all("script")) == 1
    build = await visitor.page(f"{BUILD}/2")
    assert "2 violations, 1 new, 1 fixed" in build.text
    assert "1 new violation" in build.text


async def test_what_there_is_nothing_to_say_of_is_said_too(hand: Hand, visitor: Visitor) -> None:
    await hand.run({STORY: "red"})
    many = found(*(f"n{number}" for number in range(25)), help_url="javascript:alert(1)")
    await a_result(hand, {STORY: "red"}, findings=replace(many, left_out=7))
    page = await snapshot_page(visitor, 2, "unchanged")
    assert "The baseline was not examined, so nothing is new or fixed." in page.text
    assert "and 5 more places" in page.text
    assert "7 more places left out" in page.text
    assert not [link for link in page.links if link.startswith("javascript:")]
    await a_result(hand, {STORY: "red"}, findings=Findings("axe", "", problem="axe was slow"))
    failed = await snapshot_page(visitor, 3, "unchanged")
    assert "It could not be examined." in failed.text
    assert "axe was slow" in failed.text
    clean = breaking()
    await a_result(hand, {STORY: "blue"}, findings=clean, standing=compare(clean, clean))
    assert "Accessibility The baseline" in (await snapshot_page(visitor, 4, "changed")).text
