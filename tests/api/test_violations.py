"""Accessibility in the API: sums of builds and snapshots, and each violation of one."""

from tests.api.client import Robo
from tests.api.test_builds import shown
from tests.api.test_snapshots import listed
from tests.builds.hand import Hand
from tests.review.test_violations import LOOK, run
from tests.ui.test_violations import RULE, found


async def test_the_api_tells_how_each_violation_stands(hand: Hand, robo: Robo) -> None:
    await run(hand, found("old", "gone"))
    await run(hand, found("old", "new"))
    build = await shown(robo, 2)
    assert build["accessibility"] == {"violations": 2, "new": 1, "fixed": 1}
    one, other = sorted(await listed(robo), key=lambda each: str(each["story_id"]))
    assert one["accessibility"] == {"violations": 2, "new": 1, "fixed": 1}
    assert (other["accessibility"], one["violations"]) == (None, None)
    alone = (await robo.get(f"{robo.builds}/2/snapshots/{one['id']}")).json()
    stand = {each["target"]: each["standing"] for each in alone["violations"]}
    assert stand == {"new": "new", "old": "still", "gone": "fixed"}
    assert alone["violations"][0]["help_url"] == RULE
    assert set(LOOK) == {one["story_id"], other["story_id"]}
