"""A story that another disturbs: never a false change, named with it, and kept apart in time."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.flow.product import Product
from tests.tiny_storybook import TinyStory, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.long, pytest.mark.timeout(600)]

LEAKS = "document.documentElement.style.filter = 'invert(1)';"
BOX = '<div style="width:200px;height:120px;background:#c04040"></div>'
LONG_AGO = "UPDATE order_dependences SET seen_at = seen_at - interval '31 days'"
SEEN = "In a page that had shown a--leaks it gave another picture"
KEPT_APART = "It is loaded by itself, because 2 times"


def bundle_of(folder: Path) -> Path:
    stories = {"a--leaks": TinyStory("<p>leaks</p>", script=LEAKS), "b--disturbed": TinyStory(BOX)}
    return write_tiny_storybook(folder / "bundle", stories)


def disturbed_in(product: Product, number: int) -> tuple[Any, ...]:
    """Return its verdict, where it was to be shown, and the beginning of what is said of it."""
    (row,) = product.rows(
        "SELECT verdict, options, s.warnings FROM snapshots s JOIN builds b ON b.id = s.build_id"
        " WHERE b.number = $1 AND story_id = 'b--disturbed'",
        number,
    )
    said = [warning["text"] for warning in json.loads(row["warnings"])]
    begins = [start for text in said for start in (SEEN, KEPT_APART) if text.startswith(start)]
    return row["verdict"], json.loads(row["options"])["isolation"], *begins


def test_a_disturbed_story_is_kept_apart_once_proven_and_tried_again_after_a_month(
    product: Product, tmp_path: Path
) -> None:
    bundle = bundle_of(tmp_path)
    product.serve()
    product.make_project("shop")
    product.consume(STORYSHELF_CAPTURE_SLOTS="1")
    ends = [product.publish(bundle, f"c{number}").exit_code for number in range(1, 5)]
    product.rows(LONG_AGO)
    ends.append(product.publish(bundle, "c5").exit_code)
    assert ends == [0] * 5
    assert [disturbed_in(product, number) for number in range(1, 6)] == [
        ("added", "shared"),
        ("unchanged", "shared", SEEN),
        ("unchanged", "shared", SEEN),
        ("unchanged", "strict", KEPT_APART),
        ("unchanged", "shared", SEEN),
    ]
