"""The example by three consumers: another order, two children, a machine under load. Same bytes."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.flow.product import Product
from tests.storybook_builds import BUILD_DEADLINE_S, build_example

pytestmark = [pytest.mark.flow, pytest.mark.timeout(BUILD_DEADLINE_S + 400)]

SPIN = "while True: pass"


def pictures_of(product: Product, number: int) -> dict[tuple[str, str], str]:
    rows = product.rows(
        "SELECT story_id, mode, image_key FROM snapshots s JOIN builds b ON b.id = build_id"
        " WHERE number = $1",
        number,
    )
    return {(row["story_id"], row["mode"]): row["image_key"] for row in rows}


@contextmanager
def load(processes: int) -> Iterator[None]:
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in spinning:
            each.kill()
            each.wait()


def test_three_consumers_make_the_same_pictures_byte_for_byte(product: Product) -> None:
    bundle = build_example()
    product.serve()
    product.make_project("folio")

    alone = product.consume(STORYSHELF_CAPTURE_SLOTS="1")
    assert product.publish(bundle, "one").exit_code == 0
    alone.stop()

    with_two_children = product.consume(STORYSHELF_CAPTURE_SLOTS="2", STORYSHELF_SHARD_COST_S="3")
    assert product.publish(bundle, "two").exit_code == 0
    with_two_children.stop()

    with load(3):
        under_load = product.consume(STORYSHELF_CAPTURE_SLOTS="2", STORYSHELF_SHARD_COST_S="9")
        assert product.publish(bundle, "three").exit_code == 0
        under_load.stop()

    first = pictures_of(product, 1)
    assert len(first) == 44
    assert pictures_of(product, 2) == first
    assert pictures_of(product, 3) == first
