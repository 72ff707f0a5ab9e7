"""A consumer that cannot capture says what to do and claims nothing; quiet and stop are heard."""

import signal
import socket
from pathlib import Path

import pytest

from consumer.processes import descendants, wait_gone
from tests.flow.product import Product, wait_for
from tests.tiny_storybook import many_stories, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.timeout(200)]


@pytest.fixture
def uploaded(product: Product, tmp_path: Path) -> int:
    product.serve()
    product.make_project("shop")
    return product.upload(write_tiny_storybook(tmp_path / "bundle", many_stories(4)), "c1")


def test_without_a_browser_it_ends_with_the_cure_and_claims_nothing(
    product: Product, uploaded: int
) -> None:
    unfit = product.start(*product.programs.consumer, STORYSHELF_BROWSER_PATH="/nowhere/chromium")
    assert wait_for(unfit.process.poll) == 3
    assert "/nowhere/chromium" in unfit.words
    assert product.rows("SELECT attempt FROM jobs") == [{"attempt": 0}]
    assert product.rows("SELECT id FROM consumers") == []


def test_a_quiet_consumer_still_beats_and_a_stopped_one_is_gone(
    product: Product, uploaded: int
) -> None:
    quiet = product.consume()
    product.wait_until_ended(uploaded)
    quiet.process.send_signal(signal.SIGTSTP)
    wait_for(lambda: "consumer.asked" in quiet.words, quiet)
    wait_for(lambda: product.rows("SELECT state FROM consumers") == [{"state": "quiet"}], quiet)
    assert quiet.stop() == 0
    assert product.rows("SELECT id FROM consumers") == []


def test_a_second_signal_to_stop_is_harmless(product: Product, uploaded: int) -> None:
    consumer = product.consume()
    consumer.process.send_signal(signal.SIGTERM)
    consumer.process.send_signal(signal.SIGTERM)
    assert wait_for(lambda: consumer.process.poll() is not None)
    assert consumer.process.returncode == 0


def test_a_stop_while_it_starts_ends_its_browser_and_leaves_nothing_behind(
    product: Product, uploaded: int
) -> None:
    starting = product.start(*product.programs.consumer)
    wait_for(lambda: "child.started" in starting.words, starting)  # the one it tries itself with
    below = descendants(starting.process.pid)
    assert starting.stop() == 0
    assert wait_gone(below, timeout_s=10) == frozenset()
    assert "consumer.started" not in starting.words
    assert list((product.folder / "scratch").iterdir()) == []


def test_a_health_port_that_is_taken_is_said_in_one_line(product: Product, uploaded: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        unfit = product.start(*product.programs.consumer, STORYSHELF_HEALTH_PORT=port)
        assert wait_for(unfit.process.poll) == 3
    assert f"STORYSHELF_HEALTH_PORT={port}" in unfit.words
    assert "Traceback" not in unfit.words


def test_a_boot_that_fails_at_its_very_last_step_gives_back_what_it_had_claimed(
    product: Product, uploaded: int
) -> None:
    with socket.socket() as quicker:
        quicker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        quicker.bind(("127.0.0.1", 0))
        port = quicker.getsockname()[1]
        late = product.start(*product.programs.consumer, STORYSHELF_HEALTH_PORT=str(port))
        wait_for(lambda: "child.started" in late.words, late)  # the port is taken, not listened on
        quicker.listen()
        below = descendants(late.process.pid)
        assert wait_for(late.process.poll) == 3
    assert f"STORYSHELF_HEALTH_PORT={port}" in late.words
    assert wait_gone(below, timeout_s=10) == frozenset()
    assert product.rows("SELECT id FROM consumers") == []
    assert {row["charged"] for row in product.rows("SELECT charged FROM jobs")} == {0}
    assert product.rows("SELECT id FROM jobs WHERE state = 'running'") == []
    assert list((product.folder / "scratch").iterdir()) == []
