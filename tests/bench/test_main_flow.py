import json
from pathlib import Path

from bench.main_flow import Beside, middle_of, report
from bench.plain_playwright import PeerRun, stories_of
from tests.bench.runs import a_run, at
from tests.tiny_storybook import many_stories, write_tiny_storybook


def beside(ended_s: float, peer_wall_s: float) -> Beside:
    return Beside(a_run(ended_at=at(ended_s)), PeerRun(stories=2, wall_s=peer_wall_s))


def test_the_ratio_is_our_stories_per_second_by_the_peers() -> None:
    assert beside(ended_s=4, peer_wall_s=8).ratio == 2


def test_the_peers_runs_before_and_after_a_build_count_as_one() -> None:
    both = PeerRun(stories=10, wall_s=2).and_then(PeerRun(stories=10, wall_s=8))
    assert both.stories_per_s == 2


def test_the_round_in_the_middle_stands_for_all() -> None:
    slow, usual, quick = beside(40, 20), beside(20, 20), beside(10, 20)
    assert middle_of([quick, slow, usual]) is usual


def test_the_last_line_has_a_ratio_for_each_build_and_figures_that_add_up() -> None:
    middle = {"first_build": beside(10.5, 21), "second_build": beside(10.5, 10.5)}
    said = json.loads(report(middle, {"cores": 2}).last_line())
    assert said["bench"] == "main_flow"
    assert said["ratios"] == {
        "first_build_vs_plain_playwright": 2.0,
        "second_build_vs_plain_playwright": 1.0,
    }
    first = said["figures"]["first_build"]
    assert abs(sum(first["split_s"].values()) - first["wall_s"]) < 0.01
    assert said["figures"]["machine"] == {"cores": 2}


def test_the_peer_shoots_the_stories_of_the_index(tmp_path: Path) -> None:
    stories = many_stories(3)
    assert list(stories_of(write_tiny_storybook(tmp_path, stories))) == list(stories)
