"""Fonts that are installed under a running consumer: its build is captured whole, in one place."""

from pathlib import Path

import pytest

from tests.flow.product import Product, wait_for
from tests.tiny_storybook import many_stories, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.timeout(300)]

SETTINGS = {
    "STORYSHELF_CAPTURE_SLOTS": "1",
    "STORYSHELF_STORIES_PER_CHILD": "4",  # so that a browser is started anew in mid-build
    "STORYSHELF_UNSERVED_ALARM_S": "5",
    "STORYSHELF_LEASE_S": "60",
}


def with_fonts_of_its_own(product: Product) -> tuple[Path, str]:
    """A list of fonts to be changed, and a search path on which fontconfig tells that one."""
    fonts, programs = product.folder / "fonts", product.folder / "bin"
    fonts.write_text("Sans|Regular|1\n")
    programs.mkdir()
    told = programs / "fc-list"
    told.write_text(f"#!/bin/sh\ncat {fonts}\n")
    for path, mode in ((told, 0o755), (fonts, 0o644)):
        path.chmod(mode)
    return fonts, f"{programs}:{product.environment['PATH']}"


def test_a_consumer_whose_fonts_change_ends_and_its_build_is_planned_for_the_next_one(
    product: Product, tmp_path: Path
) -> None:
    product.settings = SETTINGS
    product.serve()
    product.make_project("shop")
    fonts, path = with_fonts_of_its_own(product)
    number = product.upload(write_tiny_storybook(tmp_path / "bundle", many_stories(24)), "c1")
    consumer = product.consume(PATH=path)
    wait_for(lambda: product.rows("SELECT 1 FROM snapshots WHERE verdict = 'added'"), consumer)
    fonts.write_text("Sans|Regular|2\n")
    wait_for(lambda: consumer.process.poll() is not None)
    assert (consumer.process.returncode, "environment.moved" in consumer.words) == (0, True)
    assert product.state_of(number) == "capturing"
    product.consume(PATH=path)
    assert product.wait_until_ended(number) == "accepted"
    outcomes = {row["outcome"] for row in product.rows("SELECT outcome FROM job_attempts")}
    assert outcomes <= {"completed", "released", "cancelled"}
