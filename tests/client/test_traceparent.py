import pytest

from storyshelf.client.traceparent import MAX_CHARS, parse_traceparent, trace_headers

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.mark.parametrize("given", [TRACE, f" {TRACE} "])
def test_a_trace_context_is_read_as_it_is(given: str) -> None:
    assert parse_traceparent(given) == TRACE


def test_of_a_later_version_the_known_part_is_kept() -> None:
    assert parse_traceparent(f"cc{TRACE[2:]}-what-comes-later") == f"cc{TRACE[2:]}"


@pytest.mark.parametrize(
    "given",
    [
        "",
        "00",
        TRACE.upper(),
        TRACE[:-1],
        f"{TRACE}-more",
        f"ff{TRACE[2:]}",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-4bf92f3577b34da6a3ce929d0e0e4736-{'0' * 16}-01",
        f"{TRACE}\r\nSet-Cookie: a=b",
        f"cc{TRACE[2:]}-{'x' * MAX_CHARS}",
        TRACE.replace("4", "٤"),
    ],
)
def test_what_is_no_trace_context_is_nothing(given: str) -> None:
    assert parse_traceparent(given) is None


def test_the_trace_of_a_ci_run_is_passed_on() -> None:
    assert trace_headers({"TRACEPARENT": TRACE}) == {"traceparent": TRACE}


@pytest.mark.parametrize("environ", [{}, {"TRACEPARENT": "x\r\ny: z"}])
def test_without_a_trace_no_header_is_sent(environ: dict[str, str]) -> None:
    assert trace_headers(environ) == {}
