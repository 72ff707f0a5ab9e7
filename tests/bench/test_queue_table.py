from bench.queue import report_of
from bench.queue_ratios import Rounds
from bench.queue_table import figures_table, ratios_table


def test_what_was_not_measured_of_a_queue_is_left_blank() -> None:
    rounds = Rounds()
    rounds.note("ours", 0, {"drain10_per_s": 1234.5, "tx_per_job": 0.12})
    rounds.note("pgqueuer", 0, {"drain10_per_s": 500.0})
    first, second = figures_table(rounds).splitlines()[1:]
    assert first.split() == ["drain,", "c=10,", "jobs/s", "1,234", "500"]
    assert second.split() == ["transactions", "a", "job", "0.12"]


def test_a_missed_bound_is_seen() -> None:
    told = ratios_table({"tx_vs_pgqueuer": 0.9, "wal_vs_pgqueuer": 0.4}).splitlines()
    assert [line.split()[-1] for line in told[1:]] == ["MISSED", "met"]


def test_the_last_line_tells_slow_flushes_beside_the_machines_own() -> None:
    rounds = Rounds()
    rounds.note("ours", 0, {"drain10_per_s": 10.0, "slow_flush_drain10_per_s": 8.0})
    rounds.note("pgqueuer", 0, {"drain10_per_s": 10.0, "slow_flush_drain10_per_s": 1.0})
    report = report_of(rounds, {"cores": 2})
    assert report.ratios == {"drain10_vs_pgqueuer": 1.0}
    assert report.figures["slow_flush_drain10_vs_pgqueuer"] == 8
