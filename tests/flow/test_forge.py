"""What a forge shows while people decide, consumers die and the forge itself is not well."""

import json
import socket
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pytest

from storyshelf.queue.failpoint import Place
from tests.deliveries.forge import SHOP, TOKEN, FakeForge, answers, running
from tests.flow.product import Product, Started, wait_for
from tests.tiny_storybook import many_stories, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.timeout(400)]

PULL = 12
TESTS, STORYBOOK = "UI Tests", "Storybook Publish"
RANK = {"pending": 0, "success": 1, "failure": 1, "error": 1}
UNSAID = "SELECT subject, error FROM deliveries WHERE state <> 'sent' OR sent_version < version"


@pytest.fixture
def forge() -> FakeForge:
    return FakeForge()


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def forge_url(forge: FakeForge, port: int) -> Iterator[str]:
    with running(forge, port) as url:
        yield url


@pytest.fixture
def shop(product: Product, port: int) -> Product:
    product.settings = {"STORYSHELF_WEBHOOKS_TO_PRIVATE": "true"}
    product.serve()
    product.settings = {**product.settings, "STORYSHELF_PUBLIC_URL": product.url}
    product.make_project("shop")
    options = ("--repository", SHOP, "--api-url", f"http://127.0.0.1:{port}", "--storybook-check")
    done = product.cli(
        "project", "connect", "shop", "github", *options, "--token-stdin", typed=f"{TOKEN}\n"
    )
    assert done.returncode == 0, done.stderr
    return product


def bundle(folder: Path, stories: int) -> Path:
    return write_tiny_storybook(folder / f"bundle-{stories}", many_stories(stories))


def upload(product: Product, files: Path, commit: str) -> int:
    """Upload as a CI's run for a pull request does."""
    run = {"BUILDKITE": "true", "BUILDKITE_COMMIT": commit, "BUILDKITE_BRANCH": "main"}
    done = product.cli("upload", str(files), "--json", **run, BUILDKITE_PULL_REQUEST=str(PULL))
    assert done.returncode == 0, done.stdout + done.stderr
    return int(json.loads(done.stdout)["build"]["number"])


def shown(forge: FakeForge, commit: str, *, wanted: str) -> None:
    wait_for(lambda: forge.effective(commit).get(TESTS) == wanted)


def wait_until_asked(forge: FakeForge, consumer: Started) -> None:
    """Return as soon as the forge has one more request than now."""
    before = len(forge.requests)
    wait_for(lambda: len(forge.requests) > before, consumer)


def states_of(forge: FakeForge, commit: str, context: str) -> Sequence[str]:
    """The states of a context as they came, those that came again left out."""
    said = [each.state for each in forge.statuses if (each.sha, each.context) == (commit, context)]
    return [state for state, _ in groupby(said)]


def assert_told(product: Product, forge: FakeForge, commits: Sequence[str]) -> None:
    """The ledger: every context resolved, in order, nothing left to say, and one comment."""
    wait_for(lambda: product.rows(UNSAID) == [])
    for commit in commits:
        assert forge.effective(commit) == {TESTS: "success", STORYBOOK: "success"}
        for context in (TESTS, STORYBOOK):
            ranks = [RANK[state] for state in states_of(forge, commit, context)]
            assert ranks == sorted(ranks), states_of(forge, commit, context)
    assert len(forge.bodies(PULL)) == 1
    # A job that another one has made needless waits for its next try to find that out.
    wait_for(lambda: product.rows("SELECT 1 FROM jobs WHERE kind = 'deliver'") == [])
    assert forge.effective(commits[-1]) == {TESTS: "success", STORYBOOK: "success"}


def test_the_forge_shows_what_reviewers_decide(
    shop: Product, forge: FakeForge, forge_url: str, tmp_path: Path
) -> None:
    shop.consume()
    first = upload(shop, bundle(tmp_path, 2), "c1")
    assert shop.wait_until_ended(first) == "accepted"
    shown(forge, "c1", wanted="success")

    changed = upload(shop, bundle(tmp_path, 3), "c2")
    assert shop.wait_until_ended(changed) == "pending"
    shown(forge, "c2", wanted="pending")
    for command, state in (("accept", "success"), ("deny", "failure"), ("undo", "pending")):
        assert shop.cli(command, str(changed), "many-0--story-2").returncode == 0
        shown(forge, "c2", wanted=state)
    assert shop.cli("accept", str(changed), "--all").returncode == 0
    shown(forge, "c2", wanted="success")

    same = upload(shop, bundle(tmp_path, 3), "c3")
    assert shop.wait_until_ended(same) == "passed"
    shown(forge, "c3", wanted="success")
    assert_told(shop, forge, ["c1", "c3"])
    assert f"{shop.url}/projects/shop/builds/{same}" in forge.bodies(PULL)[0]


@pytest.mark.parametrize("nth", [1, 3])
def test_a_consumer_killed_between_saying_and_settling(
    shop: Product, forge: FakeForge, forge_url: str, tmp_path: Path, nth: int
) -> None:
    number = upload(shop, bundle(tmp_path, 2), "c1")
    shop.consume_until(Place.AFTER_SAID, str(nth)).process.wait(timeout=120)
    shop.consume()
    assert shop.wait_until_ended(number) == "accepted"
    assert_told(shop, forge, ["c1"])


def test_a_forge_that_is_slow_tired_and_broken_while_consumers_die(
    shop: Product, forge: FakeForge, forge_url: str, tmp_path: Path
) -> None:
    forge.late_s = 1.0
    forge.troubles += [
        answers(502),
        answers(403, x_ratelimit_remaining="0", retry_after="2"),
        answers(429, retry_after="1"),
        answers(500, "Unicorn!"),
    ]
    number = upload(shop, bundle(tmp_path, 2), "c1")
    for _ in range(2):  # a plan is tried three times
        consumer = shop.consume()
        wait_until_asked(forge, consumer)
        consumer.kill()
    forge.late_s = 3.0  # longer than is waited for: done, and nobody knows
    consumer = shop.consume()
    assert shop.wait_until_ended(number) == "accepted"
    wait_until_asked(forge, consumer)
    forge.late_s = 0.0
    assert_told(shop, forge, ["c1"])


def test_a_forge_that_dies_and_comes_back(
    shop: Product, forge: FakeForge, port: int, tmp_path: Path
) -> None:
    consumer = shop.consume()
    with running(forge, port):
        first = upload(shop, bundle(tmp_path, 2), "c1")
        wait_for(lambda: forge.statuses, consumer)
    assert shop.wait_until_ended(first) == "accepted"
    failed = "SELECT 1 FROM deliveries WHERE error LIKE '%could not be asked%'"
    wait_for(lambda: shop.rows(failed), consumer)
    with running(forge, port):
        assert_told(shop, forge, ["c1"])


def test_a_wrong_token_is_told_and_mended(
    shop: Product, forge: FakeForge, forge_url: str, tmp_path: Path
) -> None:
    forge.token = "another"
    shop.consume()
    number = upload(shop, bundle(tmp_path, 2), "c1")
    assert shop.wait_until_ended(number) == "accepted"
    failed = "SELECT error FROM deliveries WHERE state = 'failed'"
    rows = wait_for(lambda: len(shop.rows(failed)) == 3 and shop.rows(failed))
    assert all("The token is not valid there" in row["error"] for row in rows)
    forge.token = TOKEN
    again = upload(shop, bundle(tmp_path, 2), "c2")
    assert shop.wait_until_ended(again) == "passed"
    wait_for(lambda: forge.effective("c2") == {TESTS: "success", STORYBOOK: "success"})
