"""However a child or its browser dies, the build ends right, and says what killed a story."""

import json
import os
import signal
import urllib.request
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from consumer import processes
from tests.flow.product import Product, Started, wait_for
from tests.tiny_storybook import TinyStory, many_stories, write_tiny_storybook

pytestmark = [pytest.mark.flow, pytest.mark.timeout(400)]

WELL = many_stories(4)
# What a test can see of a story in flight from outside is the memory that its page holds.
HELD_BYTES = 256 << 20
HOLD = f"const held = new Uint8Array({HELD_BYTES}).fill(7);"
STARES = TinyStory(
    "<p>thinking</p>",
    script=f"{HOLD} await new Promise((done) => setTimeout(done, 5000, held));",
)
HANGS_ON = TinyStory("<p>working</p>", script=f"{HOLD} await new Promise(() => held);")
HOARDS = TinyStory(
    "<p>hoarding</p>",
    script=(
        "const hoard = []; for (;;) { hoard.push(new Uint8Array(16 << 20).fill(7));"
        " await new Promise((done) => setTimeout(done, 50)); }"
    ),
)
HOARDS_WHILE_LOADING = """
const hoard = [];
for (;;) {
  hoard.push(new Uint8Array(16 << 20).fill(7));
  const until = performance.now() + 50;
  while (performance.now() < until);
}
"""
ONE_SLOT = {"STORYSHELF_CAPTURE_SLOTS": "1"}
PATIENT = {"STORYSHELF_LEASE_S": "60"}  # nothing of the test is about leases
SMALL = {"STORYSHELF_CHILD_MEMORY_MB": "600"}  # a browser and a page take 250


def uploaded(product: Product, folder: Path, *odd: TinyStory, **settings: str) -> int:
    """A build of the odd stories, which come first, and of some that are well."""
    product.settings = ONE_SLOT | settings
    product.serve()
    product.make_project("shop")
    stories = {f"a-{number}--odd": story for number, story in enumerate(odd)} | WELL
    return product.upload(write_tiny_storybook(folder, stories), "c1")


def in_mid_story(product: Product, consumer: Started) -> None:
    """Return once a page is open in which an odd story renders, and holds what it holds."""
    wait_for(partial(captures_running, product), consumer)
    wait_for(lambda: any(is_holding(pid) for pid in renderers_of(consumer)), consumer)


def captures_running(product: Product) -> Sequence[object]:
    return product.rows("SELECT id FROM jobs WHERE kind = 'capture' AND state = 'running'")


def is_holding(pid: int) -> bool:
    return processes.resident_bytes([pid]) > HELD_BYTES


def renderers_of(consumer: Started) -> frozenset[int]:
    return below(consumer, "--type=renderer")


def below(consumer: Started, word: str) -> frozenset[int]:
    """The processes under the consumer whose command line has this word."""
    found = processes.descendants(consumer.process.pid)
    return frozenset(pid for pid in found if word in command_of(pid))


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def children_of(consumer: Started) -> frozenset[int]:
    return below(consumer, "consumer.child")


def browsers_of(consumer: Started) -> frozenset[int]:
    """The main process of each browser."""
    return below(consumer, "--user-data-dir") - below(consumer, "--type=") - node_of(consumer)


def node_of(consumer: Started) -> frozenset[int]:
    return below(consumer, "run-driver") | children_of(consumer)


def kill(pids: frozenset[int], number: signal.Signals) -> None:
    assert pids, "there is something to kill"
    for pid in pids:
        os.kill(pid, number)


def verdicts(product: Product) -> dict[str, str]:
    rows = product.rows("SELECT story_id, verdict FROM snapshots ORDER BY story_id")
    return {row["story_id"]: row["verdict"] for row in rows}


def all_added(*odd: str) -> dict[str, str]:
    return dict.fromkeys(sorted([*odd, *WELL]), "added")


def the_error(product: Product, story: str) -> str:
    (row,) = product.rows("SELECT error FROM snapshots WHERE story_id = $1", story)
    return str(json.loads(row["error"])["message"])


def finalised_once(product: Product) -> bool:
    jobs = product.rows("SELECT kind, outcome, count(*) FROM jobs_done GROUP BY 1, 2")
    return {"kind": "finalise", "outcome": "completed", "count": 1} in jobs


def test_a_child_killed_in_mid_story_costs_time_only(product: Product, tmp_path: Path) -> None:
    number = uploaded(product, tmp_path / "bundle", STARES, STARES, **PATIENT)
    consumer = product.consume()
    in_mid_story(product, consumer)
    kill(children_of(consumer), signal.SIGKILL)
    assert product.wait_until_ended(number) == "accepted"
    assert verdicts(product) == all_added("a-0--odd", "a-1--odd")
    assert "signal SIGKILL" in consumer.words
    assert finalised_once(product)


def test_a_child_that_was_stopped_is_found_killed_and_replaced(
    product: Product, tmp_path: Path
) -> None:
    number = uploaded(product, tmp_path / "bundle", STARES, **PATIENT)
    consumer = product.consume()
    in_mid_story(product, consumer)
    stopped = children_of(consumer)
    kill(stopped, signal.SIGSTOP)
    assert product.wait_until_ended(number) == "accepted"
    assert verdicts(product) == all_added("a-0--odd")
    assert "no sign of life in 20 s" in consumer.words
    assert all(processes.is_dead(pid) for pid in stopped)


def test_a_browser_killed_in_mid_story_costs_time_only(product: Product, tmp_path: Path) -> None:
    number = uploaded(product, tmp_path / "bundle", STARES, **PATIENT)
    consumer = product.consume()
    in_mid_story(product, consumer)
    kill(browsers_of(consumer), signal.SIGKILL)
    assert product.wait_until_ended(number) == "accepted"
    assert verdicts(product) == all_added("a-0--odd")
    assert finalised_once(product)


@pytest.mark.long
def test_a_page_that_crashed_is_opened_again(product: Product, tmp_path: Path) -> None:
    number = uploaded(product, tmp_path / "bundle", STARES, **PATIENT)
    consumer = product.consume()
    in_mid_story(product, consumer)
    kill(renderers_of(consumer), signal.SIGKILL)
    assert product.wait_until_ended(number) == "accepted"
    assert verdicts(product) == all_added("a-0--odd")


def test_a_story_that_kills_its_child_each_time_is_errored_and_the_others_are_captured(
    product: Product, tmp_path: Path
) -> None:
    number = uploaded(product, tmp_path / "bundle", HOARDS, **PATIENT, **SMALL)
    consumer = product.consume()
    assert product.wait_until_ended(number) == "broken"
    assert verdicts(product) == all_added("a-0--odd") | {"a-0--odd": "errored"}
    assert "died (out of memory)" in the_error(product, "a-0--odd")
    assert "over the ceiling of 600 MiB" in the_error(product, "a-0--odd")
    assert consumer.words.count("child.died") == 2
    assert finalised_once(product)


def test_a_bundle_that_kills_whoever_loads_it_fails_its_build_which_says_so(
    product: Product, tmp_path: Path
) -> None:
    product.settings = ONE_SLOT | PATIENT | SMALL
    product.serve()
    product.make_project("shop")
    bundle = write_tiny_storybook(tmp_path / "bundle", WELL)
    (bundle / "stories.js").write_text(HOARDS_WHILE_LOADING)
    number = product.upload(bundle, "c1")
    product.consume()
    assert product.wait_until_ended(number) == "failed"
    (build,) = product.rows("SELECT state_reason FROM builds")
    assert build["state_reason"].startswith("its plan job crashed: loading the bundle,")
    assert "died (out of memory)" in build["state_reason"]
    attempts = product.rows("SELECT outcome FROM job_attempts ORDER BY attempt")
    assert [row["outcome"] for row in attempts] == ["crashed", "crashed"]


@pytest.mark.long
def test_a_story_that_takes_its_consumer_along_costs_its_shard_and_the_build_ends(
    product: Product, tmp_path: Path
) -> None:
    number = uploaded(product, tmp_path / "bundle", HANGS_ON)
    for attempt in (1, 2, 3):
        consumer = product.consume()
        wait_for(partial(captures_in_attempt, product, attempt), consumer)
        in_mid_story(product, consumer)
        consumer.kill()
    product.consume()
    assert product.wait_until_ended(number) == "failed"
    outcomes = product.rows("SELECT outcome FROM job_attempts WHERE outcome = 'lost'")
    assert len(outcomes) == 3
    assert finalised_once(product)


def captures_in_attempt(product: Product, nth: int) -> Sequence[object]:
    return product.rows(
        "SELECT 1 FROM jobs WHERE kind = 'capture' AND state = 'running' AND attempt = $1", nth
    )


@pytest.mark.long
def test_a_browser_is_replaced_after_its_number_of_stories(
    product: Product, tmp_path: Path
) -> None:
    number = uploaded(product, tmp_path / "bundle", **PATIENT, STORYSHELF_STORIES_PER_CHILD="2")
    consumer = product.consume()
    assert product.wait_until_ended(number) == "accepted"
    assert consumer.words.count("stories=2") == 2


@pytest.mark.long
def test_what_a_killed_consumer_left_running_ends_when_the_next_one_starts(
    product: Product, tmp_path: Path
) -> None:
    uploaded(product, tmp_path / "bundle", STARES, **PATIENT)
    consumer = product.consume()
    in_mid_story(product, consumer)
    left = below(consumer, "--user-data-dir") - node_of(consumer)
    kill(left, signal.SIGSTOP)
    consumer.kill()
    assert processes.wait_gone(left, 1) != frozenset()
    product.consume()
    assert processes.wait_gone(left, 1) == frozenset()
    assert len(list((product.folder / "scratch").glob("storyshelf-children-*"))) <= 1


def test_a_build_cancelled_in_mid_story_frees_its_slot_within_a_second(
    product: Product, tmp_path: Path
) -> None:
    number = uploaded(product, tmp_path / "bundle", HANGS_ON, **PATIENT)
    consumer = product.consume()
    in_mid_story(product, consumer)
    cancel(product, number)
    wait_for(lambda: product.rows("SELECT 1 FROM job_attempts WHERE outcome = 'cancelled'"))
    (row,) = product.rows(
        "SELECT b.state, extract(epoch FROM a.ended_at - b.ended_at) AS took_s"
        " FROM builds b, job_attempts a WHERE a.outcome = 'cancelled'"
    )
    assert row["state"] == "cancelled"
    assert row["took_s"] < 1
    assert renderers_of(consumer) == frozenset()


def cancel(product: Product, number: int) -> None:
    request = urllib.request.Request(
        f"{product.url}/api/v1/projects/shop/builds/{number}/cancel",
        data=b"{}",
        headers={"Authorization": f"Bearer {product.token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200
