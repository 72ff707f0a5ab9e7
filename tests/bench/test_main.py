import pytest

from bench.__main__ import BENCHES, arguments, main
from bench.report import Length


def test_a_bench_is_chosen_by_its_name() -> None:
    asked = arguments(["main_flow"])
    assert (asked.name, asked.length) == ("main_flow", Length.FULL)


def test_quick_may_be_asked_for() -> None:
    assert arguments(["main_flow", "--quick"]).length is Length.QUICK


def test_a_name_that_is_none_is_answered_with_those_that_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["main_flo"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert all(name in told for name in BENCHES)


def test_no_name_is_answered_with_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "python -m bench" in capsys.readouterr().err


def test_help_tells_what_each_bench_measures(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert all(name in told and bench.says in told for name, bench in BENCHES.items())
