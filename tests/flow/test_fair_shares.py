"""A project that floods the queue with builds keeps nobody else waiting, and keeps to its cap."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from tests.flow.product import Product, wait_for
from tests.tiny_storybook import many_stories, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.timeout(400)]

FLOOD = (4, 400)  # builds, and stories of each
MOST_OF_IT = 1_000  # stories without a picture
STORIES = 24
CAP = 1
TWO_SLOTS = {"STORYSHELF_CAPTURE_SLOTS": "2", "STORYSHELF_SHARD_COST_S": "8"}
ATTEMPTS = """
SELECT a.started_at, a.ended_at FROM job_attempts AS a
JOIN (SELECT id, kind, project_id FROM jobs UNION ALL SELECT id, kind, project_id FROM jobs_done)
    AS j ON j.id = a.job_id
JOIN projects AS p ON p.id = j.project_id
WHERE j.kind = 'capture' AND p.slug = $1 ORDER BY a.started_at
"""
LEFT = """
SELECT count(*) AS left FROM snapshots AS s JOIN builds AS b ON b.id = s.build_id
JOIN projects AS p ON p.id = b.project_id
WHERE p.slug = 'flood' AND s.captured_at IS NULL
"""


@pytest.fixture
def flooded(product: Product, tmp_path: Path) -> Product:
    """A project with 1,600 captures before it, of which some are under way."""
    product.settings = TWO_SLOTS
    product.serve()
    product.make_project("quiet")
    quiet = product.token
    product.make_project("flood")
    builds, stories = FLOOD
    bundle = write_tiny_storybook(tmp_path / "flood", many_stories(stories))
    for number in range(builds):
        product.upload(bundle, f"c{number}", f"branch-{number}")
    product.token = quiet
    return product


def write_small(folder: Path) -> Path:
    return write_tiny_storybook(folder / "small", many_stories(STORIES))


def is_under_way(product: Product) -> bool:
    is_planned = product.rows(LEFT)[0]["left"] > MOST_OF_IT
    return is_planned and len(attempts_of(product, "flood")) > 1


def attempts_of(product: Product, slug: str) -> Sequence[tuple[datetime, datetime]]:
    return [(row["started_at"], row["ended_at"]) for row in product.rows(ATTEMPTS, slug)]


def most_at_once(attempts: Sequence[tuple[datetime, datetime]]) -> int:
    """Count how many of them ran at the fullest moment; one that ends gives its place away."""
    steps = sorted([(began, 1) for began, _ in attempts] + [(ended, -1) for _, ended in attempts])
    running = [sum(step for _, step in steps[: place + 1]) for place in range(len(steps))]
    return max(running, default=0)


def test_a_small_build_is_through_long_before_a_flood_that_came_first(
    flooded: Product, tmp_path: Path
) -> None:
    flooded.consume()
    wait_for(lambda: is_under_way(flooded), *flooded.started)
    published = flooded.publish(write_small(tmp_path), "c1")
    assert published.exit_code == 0, published.stderr
    ours, theirs = attempts_of(flooded, "quiet"), attempts_of(flooded, "flood")
    meanwhile = [began for began, _ in theirs if ours[0][0] < began < ours[-1][0]]
    assert len(ours) > 2
    assert len(meanwhile) <= len(ours), "each other place at most is the flood's"
    assert flooded.rows(LEFT)[0]["left"] > MOST_OF_IT, "the flood is not over by far"


def test_a_flood_with_a_cap_never_has_more_places_than_that(
    flooded: Product, tmp_path: Path
) -> None:
    done = flooded.cli("project", "set", "flood", f"max_running={CAP}")
    assert done.returncode == 0, done.stdout + done.stderr
    flooded.consume()
    wait_for(lambda: is_under_way(flooded), *flooded.started)
    published = flooded.publish(write_small(tmp_path), "c1")
    assert published.exit_code == 0, published.stderr
    theirs = attempts_of(flooded, "flood")
    assert most_at_once(theirs) == CAP
    assert most_at_once([*theirs, *attempts_of(flooded, "quiet")]) > CAP, "nobody else waits for it"
