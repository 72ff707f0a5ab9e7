import json

from bench.report import Report, table


def test_the_last_line_is_one_json_document_of_three_parts() -> None:
    line = Report("main_flow", {"ours_vs_theirs": 1.23456}, {"first": {"wall_s": 2}}).last_line()
    assert "\n" not in line
    assert json.loads(line) == {
        "bench": "main_flow",
        "ratios": {"ours_vs_theirs": 1.235},
        "figures": {"first": {"wall_s": 2}},
    }


def test_numbers_are_rounded_however_deep_they_lie() -> None:
    figures = json.loads(Report("b", {}, {"a": {"b": [0.12345, (1.00049,)]}}).last_line())
    assert figures["figures"] == {"a": {"b": [0.123, [1.0]]}}


def test_a_table_has_its_numbers_to_the_right() -> None:
    assert table(["", "first"], [["wall s", "1.5"], ["sum", "12.25"]]).splitlines() == [
        "        first",
        "wall s    1.5",
        "sum     12.25",
    ]
