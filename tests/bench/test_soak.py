from typing import Any

from bench.queue_ratios import Rounds
from bench.report import Length
from bench.scale import report_of as scale_report
from bench.series import Point
from bench.soak import COURSES, LEAST, Course, Seen, progress, report_of

COURSE = Course(lasts_s=100, jobs_per_s=200, edge_s=20, every_s=10)
ENDED = {"fed": 10, "ended": 10, "unfinished": 0}


def seen(**changes: list[float]) -> Seen:
    looks = Seen()
    steady: dict[str, list[float]] = {name: [5.0] * 11 for name in (*LEAST, "jobs_done_mb")}
    totals = {"settled": [2000.0 * at for at in range(11)]}
    for name, values in (steady | totals | changes).items():
        for at, value in enumerate(values):
            looks.note(10.0 * at, {name: value})
    return looks


def figures(looks: Seen, **ended: int) -> dict[str, Any]:
    return dict(report_of(looks, ENDED | ended, COURSE, {}).figures)


def test_the_ratio_is_the_last_rate_by_the_first() -> None:
    slower = [0.0, 2000, 4000, *(4000.0 + 1000 * at for at in range(1, 9))]
    report = report_of(seen(settled=slower), ENDED, COURSE, {})
    assert report.ratios == {"rate_last_vs_first": 0.5}


def test_nothing_rises_where_all_is_level() -> None:
    assert figures(seen())["rising"] == []


def test_what_rises_is_named() -> None:
    assert figures(seen(memory_mb=[50.0 + 5 * at for at in range(11)]))["rising"] == ["memory_mb"]


def test_a_job_that_was_fed_and_never_ended_is_lost() -> None:
    assert figures(seen(), ended=8)["lost"] == 2


def test_a_quick_soak_ends_within_five_minutes() -> None:
    assert COURSES[Length.QUICK].lasts_s < 300


def test_progress_tells_the_rate_of_the_last_minute() -> None:
    assert "200 settled/s" in progress(seen())


def test_a_million_is_told_beside_a_thousand() -> None:
    rounds = Rounds()
    rounds.note("ours_many", 0, {"claim_ms": 1.1, "page_ms": 30.0})
    rounds.note("ours_few", 0, {"claim_ms": 1.0, "page_ms": 20.0})
    grown = [Point(at, 50 + at / 600) for at in range(60)]
    report = scale_report(rounds, grown, {})
    assert report.ratios == {"claim_1m_vs_1k": 1.1, "page_1m_vs_1k": 1.5}
    assert round(report.figures["mb_per_10min"], 3) == 1
