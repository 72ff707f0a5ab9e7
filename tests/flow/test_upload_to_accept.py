"""The main flow, as a team meets it: upload, first build, change, decision, next build, fault."""

from pathlib import Path

import pytest

from tests.flow.product import Product, Published
from tests.storybook_builds import BUILD_DEADLINE_S, Look, build_example

pytestmark = [pytest.mark.flow, pytest.mark.timeout(BUILD_DEADLINE_S + 300)]

BADGES = {
    "folio-badge--all-tones",
    "folio-badge--critical",
    "folio-badge--neutral",
    "folio-badge--positive",
    "folio-badge--warning",
    "folio-badge--with-count",
}
GROUP = "folio-avatar--group"


def stories_of(product: Product, build: int, verdict: str) -> set[str]:
    rows = product.rows(
        "SELECT story_id FROM snapshots JOIN builds ON builds.id = build_id"
        " WHERE number = $1 AND snapshots.generation = planned_generation AND verdict = $2",
        build,
        verdict,
    )
    return {row["story_id"] for row in rows}


def publish(product: Product, look: Look, commit: str) -> Published:
    return product.publish(build_example(look), commit)


def test_from_an_upload_to_an_accepted_change(product: Product) -> None:
    product.serve()
    product.make_project("folio")
    product.consume()

    first = publish(product, Look.CURRENT, "c1")
    assert (first.exit_code, product.state_of(1)) == (0, "accepted")
    assert first.document["build"]["rule"] == "first build"

    changed = publish(product, Look.NEXT, "c2")
    assert (changed.exit_code, product.state_of(2)) == (1, "pending")
    assert stories_of(product, 2, "changed") == BADGES

    assert product.cli("accept", "2", "--all").returncode == 0
    assert product.state_of(2) == "accepted"

    same = publish(product, Look.NEXT, "c3")
    assert (same.exit_code, product.state_of(3)) == (0, "passed")

    broken = publish(product, Look.NEXT_BROKEN, "c4")
    assert (broken.exit_code, product.state_of(4)) == (2, "broken")
    assert stories_of(product, 4, "errored") == {GROUP}
    assert "AvatarGroup needs a list of readers" in str(broken.document)


def test_one_changed_pixel_in_one_story_is_found(product: Product) -> None:
    product.serve()
    product.make_project("folio")
    product.consume()
    publish(product, Look.CURRENT, "c1")
    found = publish(product, Look.PIXEL, "c2")
    assert found.exit_code == 1
    assert stories_of(product, 2, "changed") == {"folio-table--loans"}
    assert len(stories_of(product, 2, "unchanged")) == 43


def test_a_folder_without_stories_is_refused_with_its_own_exit_code(
    product: Product, tmp_path: Path
) -> None:
    product.serve()
    product.make_project("folio")
    (tmp_path / "index.json").write_text('{"v": 5, "entries": {}}')
    (tmp_path / "iframe.html").write_text("<html></html>")
    done = product.cli("publish", str(tmp_path), "--commit", "c1", "--branch", "main")
    assert done.returncode == 4
    assert product.rows("SELECT 1 FROM builds") == []
