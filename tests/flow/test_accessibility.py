"""A new violation that no picture shows: it waits for a decision where it blocks."""

from pathlib import Path

import pytest

from tests.flow.product import Product, Published
from tests.tiny_storybook import TinyStory, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.timeout(300)]

LABELLED = "<input aria-label='Name' style='width: 200px'>"
SILENT = "<input style='width: 200px'>"  # the same pixels, and nothing for who cannot see them


def publish(product: Product, folder: Path, html: str, commit: str) -> Published:
    stories = {"form--name": TinyStory(html), "form--other": TinyStory("<p>fine</p>")}
    return product.publish(write_tiny_storybook(folder / commit, stories), commit)


def test_a_new_violation_is_decided_and_then_known(product: Product, tmp_path: Path) -> None:
    product.serve()
    product.make_project("forms")
    assert product.cli("project", "set", "forms", "accessibility=block").returncode == 0
    product.consume()

    first = publish(product, tmp_path, LABELLED, "c1")
    assert (first.exit_code, product.state_of(1)) == (0, "accepted")
    assert first.document["build"]["accessibility"] == {"violations": 0, "new": 0, "fixed": 0}

    silent = publish(product, tmp_path, SILENT, "c2")
    assert (silent.exit_code, product.state_of(2)) == (1, "pending")
    assert silent.document["build"]["accessibility"] == {"violations": 1, "new": 1, "fixed": 0}
    assert "It has 1 new accessibility violation." in str(silent.document)

    assert product.cli("accept", "2", "--all").returncode == 0
    known = publish(product, tmp_path, SILENT, "c3")
    assert (known.exit_code, product.state_of(3)) == (0, "passed")
    assert known.document["build"]["accessibility"] == {"violations": 1, "new": 0, "fixed": 0}

    mended = publish(product, tmp_path, LABELLED, "c4")
    assert (mended.exit_code, product.state_of(4)) == (0, "passed")
    assert mended.document["build"]["accessibility"] == {"violations": 0, "new": 0, "fixed": 1}
