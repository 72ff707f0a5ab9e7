"""Which violations are new, fixed or still there, beside those of a baseline."""

from dataclasses import replace

import pytest

from storyshelf.snapshots.violations import Findings, Place, Violation, all_new, compare

LABEL = "label"


def findings(*places: tuple[str, str], rule: str = LABEL) -> Findings:
    """Return findings of one rule, broken at these places: selector and markup."""
    broken = tuple(Place(target, html, "Fix it") for target, html in places)
    help_url = "https://dequeuniversity.com/rules/axe/4.14/label"
    return Findings("axe", "4.14.1", (Violation(rule, "critical", "Help", help_url, broken),))


def told(baseline: Findings, head: Findings) -> tuple[list[str], list[str], list[str]]:
    """Return the selectors of what is new, still there, and fixed."""
    standing = compare(baseline, head)
    assert standing is not None
    new, still, fixed = (
        [each.place.target for each in side]
        for side in (standing.new, standing.still, standing.fixed)
    )
    return new, still, fixed


A, B, C = ("li:nth-child(1) > a", "<a>A"), ("li:nth-child(2) > a", "<a>B"), ("#c", "<a>C")


@pytest.mark.parametrize(
    ("baseline", "head", "new", "still", "fixed"),
    [
        pytest.param([A, B], [A, B], [], [A[0], B[0]], [], id="the same"),
        pytest.param([A], [A, C], [C[0]], [A[0]], [], id="one more"),
        pytest.param([A, C], [A], [], [A[0]], [C[0]], id="one less"),
        pytest.param([A], [C], [C[0]], [], [A[0]], id="another"),
        pytest.param(
            [A, B],
            [("li:nth-child(1) > a", "<a>B"), ("li:nth-child(2) > a", "<a>A")],
            [],
            ["li:nth-child(1) > a", "li:nth-child(2) > a"],
            [],
            id="a list in another order",
        ),
        pytest.param(
            [A, B],
            [
                ("li:nth-child(1) > a", "<a>new"),
                ("li:nth-child(2) > a", "<a>A"),
                ("li:nth-child(3) > a", "<a>B"),
            ],
            ["li:nth-child(1) > a"],
            ["li:nth-child(2) > a", "li:nth-child(3) > a"],
            [],
            id="an entry before a list",
        ),
        pytest.param(
            [A, B],
            [(".box > li:nth-child(1) > a", "<a>A"), (".box > li:nth-child(2) > a", "<a>B")],
            [],
            [".box > li:nth-child(1) > a", ".box > li:nth-child(2) > a"],
            [],
            id="a list in a new box",
        ),
        pytest.param(
            [("#go", "<a class='one'>")],
            [("#go", "<a class='two'>")],
            [],
            ["#go"],
            [],
            id="other markup at the same place",
        ),
        pytest.param(
            [(r"#\:r3\:", '<input id=":r3:">')],
            [(r"#\:r12\:", '<input id=":r12:">')],
            [],
            [r"#\:r12\:"],
            [],
            id="a generated id",
        ),
        pytest.param([A, A], [A], [], [A[0]], [A[0]], id="each counts once"),
    ],
)
def test_places_are_known_again(
    baseline: list[tuple[str, str]],
    head: list[tuple[str, str]],
    new: list[str],
    still: list[str],
    fixed: list[str],
) -> None:
    assert told(findings(*baseline), findings(*head)) == (new, still, fixed)


def test_another_rule_at_the_same_place_is_new() -> None:
    assert told(findings(C), findings(C, rule="name")) == (["#c"], [], ["#c"])


def test_nothing_is_new_beside_what_is_not_known() -> None:
    found, failed = findings(C), replace(findings(), problem="axe failed")
    assert compare(None, found) is None
    assert compare(found, None) is None
    assert compare(found, failed) is None
    assert compare(failed, found) is None
    assert [each.place.target for each in all_new(found).new] == ["#c"]


def test_what_is_stored_is_read_again() -> None:
    found = replace(findings(A, C), left_out=3)
    assert Findings.parse(found.to_json()) == found
    assert found.total == 5
