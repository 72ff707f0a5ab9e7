from bench.queue_idle import CLAIMING_HALF, PROGRAM, readings


def test_the_programs_own_transactions_are_what_ours_is_compared_by() -> None:
    said = readings({"ours": 20.0, "pgqueuer": 90.0, PROGRAM: 40.0})
    assert said["ours"] == {"idle_tx_per_min": 40.0, CLAIMING_HALF: 20.0}
    assert said["pgqueuer"] == {"idle_tx_per_min": 90.0}


def test_without_a_browser_the_claiming_half_stands_for_the_program() -> None:
    assert readings({"ours": 20.0})["ours"]["idle_tx_per_min"] == 20
