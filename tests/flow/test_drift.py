"""What changes by a little from build to build is reported in the end, never inherited unseen."""

from pathlib import Path
from typing import Any

import pytest

from tests.flow.product import Product
from tests.tiny_storybook import TinyStory, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.timeout(400)]

BUILDS = 10
STEP_GREYS = 2  # of 255: as far as two neighbouring builds differ, and nobody sees that
FIRST_GREY = 200


def bundle_of(folder: Path, step: int) -> Path:
    grey = FIRST_GREY - step * STEP_GREYS
    box = f'<div style="width:200px;height:120px;background:rgb({grey},{grey},{grey})"></div>'
    return write_tiny_storybook(folder / f"bundle-{step}", {"card--plain": TinyStory(box)})


def story_in(product: Product, number: int) -> dict[str, Any]:
    (row,) = product.rows(
        "SELECT s.id, verdict, baseline_snapshot_id, effective_snapshot_id, diff"
        " FROM snapshots s JOIN builds b ON b.id = s.build_id WHERE b.number = $1",
        number,
    )
    return row


def test_ten_builds_each_a_step_below_the_threshold_do_not_drift_unseen(
    product: Product, tmp_path: Path
) -> None:
    product.serve()
    product.make_project("shop")
    product.consume()
    ends = [
        product.publish(bundle_of(tmp_path, step), f"c{step}").exit_code for step in range(BUILDS)
    ]
    first, *later = [story_in(product, number) for number in range(1, BUILDS + 1)]
    verdicts = [row["verdict"] for row in later]
    unseen = verdicts.count("unchanged")
    assert first["verdict"] == "added"
    assert 2 <= unseen < BUILDS - 1, "two steps are below the threshold, all of them are not"
    assert verdicts == ["unchanged"] * unseen + ["changed"] * (BUILDS - 1 - unseen)
    assert ends == [0] * (1 + unseen) + [1] * (BUILDS - 1 - unseen)
    # Whatever a build differs by, it is compared with what somebody accepted, and hands that on.
    assert {row["baseline_snapshot_id"] for row in later} == {first["id"]}
    assert {row["effective_snapshot_id"] for row in later} == {first["id"]}


def test_a_drift_that_was_accepted_is_what_the_next_build_is_compared_with(
    product: Product, tmp_path: Path
) -> None:
    product.serve()
    product.make_project("shop")
    product.consume()
    product.publish(bundle_of(tmp_path, 0), "c0")
    assert product.publish(bundle_of(tmp_path, BUILDS), "c1").exit_code == 1
    assert product.cli("accept", "2", "--all").returncode == 0
    assert product.publish(bundle_of(tmp_path, BUILDS + 1), "c2").exit_code == 0
    assert story_in(product, 3)["baseline_snapshot_id"] == story_in(product, 2)["id"]
