"""Every request has an id, which its answer, its log lines and its build's jobs carry."""

from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
import structlog
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from structlog.testing import LogCapture

from storyshelf.db.engine import Database
from storyshelf.queue.job import Trace
from storyshelf.server import create_app
from storyshelf.web.request_id import RequestIds, trace_in, trace_of
from tests.app import PUBLIC_URL, parts_on

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


async def says_its_trace(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the trace of the request, after a line in the log."""
    structlog.get_logger().info("said")
    trace = trace_of(Request(scope))
    await PlainTextResponse(f"{trace.request_id} {trace.traceparent}")(scope, receive, send)


async def asked(headers: Sequence[tuple[str, str]] = ()) -> httpx.Response:
    transport = httpx.ASGITransport(RequestIds(says_its_trace))
    async with httpx.AsyncClient(transport=transport, base_url="http://shelf.test") as http:
        return await http.get("/", headers=list(headers))


async def test_the_id_of_the_caller_is_kept_and_answered() -> None:
    answer = await asked([("x-request-id", "ci-42/step:3"), ("traceparent", TRACE)])
    assert answer.headers["x-request-id"] == "ci-42/step:3"
    assert answer.text == f"ci-42/step:3 {TRACE}"


async def test_a_request_without_an_id_is_given_one_of_its_own() -> None:
    first, second = await asked(), await asked()
    assert first.text.split()[0] == first.headers["x-request-id"]
    assert first.headers["x-request-id"] != second.headers["x-request-id"]


@pytest.mark.parametrize(
    "given", ["", " ", "a b", "-x", "x" * 129, '"', "a\tb", "\u00e9", "<script>"]
)
def test_an_id_that_is_not_plain_is_not_believed(given: str) -> None:
    headers = Headers(raw=[(b"x-request-id", given.encode("latin-1"))])
    request_id = trace_in(headers).request_id
    assert request_id is not None
    assert request_id != given
    assert len(request_id) == 32


def test_of_two_ids_or_two_traces_none_is_believed() -> None:
    two = [(b"x-request-id", b"one"), (b"x-request-id", b"two")]
    traces = [(b"traceparent", TRACE.encode())] * 2
    found = trace_in(Headers(raw=[*two, *traces]))
    assert found.request_id not in {"one", "two"}
    assert found.traceparent is None


async def test_what_is_logged_on_the_way_names_the_request_and_nothing_later_does() -> None:
    lines = LogCapture()
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, lines])
    await asked([("x-request-id", "abc")])
    structlog.get_logger().info("later")
    assert [line.get("request") for line in lines.entries] == ["abc", None]


def test_a_request_that_did_not_come_through_has_no_trace() -> None:
    assert trace_of(Request({"type": "http"})) == Trace()


async def test_an_answer_to_a_fault_of_ours_has_an_id_and_its_log_line_too(
    db: Database, tmp_path: Path
) -> None:
    app = create_app(parts_on(db, tmp_path))

    @app.get("/health/breaks")
    async def breaks() -> None:
        raise RuntimeError

    lines = LogCapture()
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, lines])
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL) as http:
        answer = await http.get("/health/breaks", headers={"x-request-id": "abc"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "abc")
    (line,) = (line for line in lines.entries if line["event"] == "request.failed")
    assert line["request"] == "abc"
