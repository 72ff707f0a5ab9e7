"""Who may what: every route of the app, and what each kind of caller gets from it.

A row is a route with the line of LINES that says what comes of it, and the form or document that is
sent along where it takes one. To add a route, add its row; one that is missing fails the test. The
lines are written out, and not made of `auth.permissions`, which they are there to check.

    in      is led to the sign-in, or told to send a token
    no      is known, sees the project, and may not do this
    hidden  is told that there is no such project
    ok      gets past all of these
"""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Row(NamedTuple):
    """What is asked of one route, and what comes of it."""

    line: str
    sent: Mapping[str, Any] = {}
    at: Mapping[str, str] = {}  # parts of its path, where they are others than `World.named`
    headers: Mapping[str, str] = {}  # what it is asked with besides


PEOPLE_IN_ORDER = "nobody viewer developer reviewer admin  operator stranger disabled ended bearer"
LINES = {
    "open":        "ok     ok     ok        ok       ok     ok       ok       ok       ok    ok",
    "signed in":   "in     ok     ok        ok       ok     ok       ok       in       in    in",
    "view":        "in     ok     ok        ok       ok     ok       hidden   in       in    in",
    "run":         "in     no     ok        ok       ok     ok       hidden   in       in    in",
    "decide":      "in     no     no        ok       ok     ok       hidden   in       in    in",
    "manage":      "in     no     no        no       ok     ok       hidden   in       in    in",
    "operate":     "in     no     no        no       no     ok       no       in       in    in",
}  # fmt: skip
TOKENS_IN_ORDER = "nobody admin read   upload review strange expired revoked"
TOKEN_LINES = {
    "open":        "ok     ok    ok     ok     ok     ok      ok      ok",
    "a token":     "in     in    ok     ok     ok     ok      in      in",
    "view":        "in     in    ok     ok     ok     hidden  in      in",
    "upload":      "in     in    no     ok     no     hidden  in      in",
    "run":         "in     in    no     ok     no     hidden  in      in",
    "decide":      "in     in    no     no     ok     hidden  in      in",
}  # fmt: skip

SPARE_BUILD = "3"  # nothing else is asked of it
PROJECT = "/projects/{slug}"
BUILD = "/projects/{slug}/builds/{number}"
SETTINGS = "/projects/{slug}/settings"
CONNECTION = "/projects/{slug}/settings/connections/{connection_id}"
PAGES = {
    # the server
    "GET /": Row("signed in"),
    "GET /projects": Row("open"),
    "GET /health/live": Row("open"),
    "GET /health/ready": Row("open"),
    # To this machine; else by a token of its own.
    "GET /metrics": Row("open", headers={"host": "localhost", "origin": "http://localhost"}),
    "GET /static/{digest}/{name}": Row("open"),
    "GET /sign-in": Row("open"),
    "POST /sign-in": Row("open", {"email": "nobody@shelf.test", "password": "wrong"}),
    "GET /sign-in/{secret}": Row("open"),
    "POST /sign-in/{secret}": Row("open"),
    "POST /sign-out": Row("open"),
    "GET /account": Row("signed in"),
    "POST /account/password": Row("signed in", {"wanted": "short"}),
    "POST /account/sessions/{session_id}/revoke": Row("signed in"),
    "POST /account/sign-out-everywhere": Row("signed in"),
    "GET /new-project": Row("operate"),
    "POST /new-project": Row("operate", {"slug": "made-here", "name": "", "branch": "main"}),
    "GET /operations": Row("operate"),
    "GET /operations/audit": Row("operate"),
    "POST /operations/alarms": Row("operate", {"name": "none", "seen": "1"}),
    "POST /operations/consumers/{consumer_id}/{wish}": Row(
        "operate", at={"consumer_id": "nobody", "wish": "stop"}
    ),
    "GET /operations/jobs": Row("operate"),
    "GET /operations/jobs/{job_id}": Row("operate"),
    "POST /operations/jobs/{job_id}/cancel": Row("operate"),
    "POST /operations/jobs/{job_id}/release": Row("operate"),
    "POST /operations/jobs/{job_id}/retry": Row("operate"),
    "GET /operations/users": Row("operate"),
    "POST /operations/users": Row("operate", {"email": "somebody@shelf.test"}),
    "POST /operations/users/{user_id}": Row("operate", {"change": "disable"}),
    "POST /operations/users/{user_id}/link": Row("operate"),
    # a project
    f"GET {PROJECT}": Row("view"),
    f"GET {PROJECT}/branches": Row("view"),
    f"GET {PROJECT}/branches/{{branch:path}}/storybook": Row("view"),
    f"GET {PROJECT}/images/{{sha256}}": Row("view"),
    f"GET {PROJECT}/thumbnails/{{sha256}}": Row("view"),
    f"GET {PROJECT}/audit": Row("manage"),
    # a build
    f"GET {BUILD}": Row("view"),
    f"GET {BUILD}/live": Row("view"),
    f"GET {BUILD}/snapshots/{{snapshot_id}}": Row("view"),
    f"GET {BUILD}/snapshots/{{snapshot_id}}/trace": Row("view"),
    f"GET {BUILD}/snapshots/{{snapshot_id}}/trace.zip": Row("view"),
    f"POST {BUILD}/snapshots/{{snapshot_id}}/trace": Row("run"),
    f"GET {BUILD}/storybook": Row("view"),
    f"POST {BUILD}/cancel": Row("run"),
    f"POST {BUILD}/capture-again": Row("run"),
    f"POST {BUILD}/shards/{{shard}}/cancel": Row("run"),
    f"POST {BUILD}/shards/{{shard}}/retry": Row("run"),
    f"GET {BUILD}/delete": Row("manage"),
    f"POST {BUILD}/delete": Row("manage", at={"number": SPARE_BUILD}),
    f"POST {BUILD}/decisions": Row("decide", {"decision": "denied", "all": "1"}),
    # a project's settings
    f"GET {SETTINGS}": Row("manage"),
    f"POST {SETTINGS}": Row("manage", {"name": "Shop"}),
    f"GET {SETTINGS}/tokens": Row("manage"),
    f"POST {SETTINGS}/tokens": Row("manage", {"name": "made here", "scope": "read"}),
    f"POST {SETTINGS}/tokens/{{token_id}}/revoke": Row("manage"),
    f"GET {SETTINGS}/members": Row("manage"),
    f"POST {SETTINGS}/members": Row("manage", {"email": "spare@shelf.test", "role": "viewer"}),
    f"POST {SETTINGS}/members/{{user_id}}": Row("manage", {"role": "admin"}),
    f"POST {SETTINGS}/members/{{user_id}}/remove": Row("manage"),
    f"GET {SETTINGS}/delete": Row("manage"),
    f"POST {SETTINGS}/delete": Row("manage", {"slug": "another"}),
    f"GET {SETTINGS}/connections": Row("manage"),
    f"GET {SETTINGS}/connections/new/{{kind}}": Row("manage"),
    f"POST {SETTINGS}/connections/new/{{kind}}": Row("manage", {"name": ""}),
    f"POST {CONNECTION}/delete": Row("manage"),
    f"POST {CONNECTION}/deliveries/{{delivery_id}}/resend": Row("manage"),
    f"POST {CONNECTION}/disable": Row("manage"),
    f"POST {CONNECTION}/enable": Row("manage"),
    f"POST {CONNECTION}/resend": Row("manage"),
    f"POST {CONNECTION}/secret": Row("manage", {"secret": ""}),
    f"POST {CONNECTION}/test": Row("manage"),
}

API = "/api/v1"
API_BUILDS = "/api/v1/projects/{slug}/builds"
API_BUILD = "/api/v1/projects/{slug}/builds/{number}"
OPENING = {"idempotency_key": "key-of-a-row", "commit": "c0ffee", "branch": "main", "files": []}
TOKEN_ROUTES = {
    f"GET {API}/docs": Row("open"),
    f"GET {API}/openapi.json": Row("open"),
    f"GET {API}/limits": Row("open"),
    f"GET {API}/project": Row("a token"),
    f"GET {API}/projects/{{slug}}/images/{{sha256}}": Row("view"),
    f"GET {API_BUILDS}": Row("view"),
    f"POST {API_BUILDS}": Row("upload", OPENING),
    f"POST {API_BUILDS}/skip": Row("upload", {"commit": "c0ffee", "branch": "main"}),
    f"GET {API_BUILD}": Row("view"),
    f"PUT {API_BUILD}/blobs/{{sha256}}": Row("upload"),
    f"POST {API_BUILD}/seal": Row("upload"),
    f"POST {API_BUILD}/cancel": Row("run"),
    f"POST {API_BUILD}/capture-again": Row("run"),
    f"POST {API_BUILD}/decisions": Row("decide", {"decision": "denied", "all": True}),
    f"GET {API_BUILD}/shards": Row("view"),
    f"POST {API_BUILD}/shards/{{shard}}/cancel": Row("run"),
    f"POST {API_BUILD}/shards/{{shard}}/retry": Row("run"),
    f"GET {API_BUILD}/snapshots": Row("view"),
    "GET /api/v1/projects/{slug}/flakiest": Row("view"),
    f"GET {API_BUILD}/snapshots/{{snapshot_id}}": Row("view"),
}
